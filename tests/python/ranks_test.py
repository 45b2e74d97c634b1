"""Functions of the Python package that processes call together (ranks=): forked ones, connected by
pipes; those of mpirun, with mpi4py where it is installed; a process group of PyTorch, likewise. Run
with the package's folder on PYTHONPATH. The last line counts: N passed, N failed, N skipped.

    mpirun -n 4 python3 ranks_test.py --mpi [mpi4py]       what each process of mpirun does
"""

import importlib.util
import multiprocessing
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

try:
    import numpy
    import permc
except ModuleNotFoundError as missing:
    print(f"skipped: {missing}")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)


class Pipes:
    """Ranks that are connected by pipes, one for each two of them and direction."""

    def __init__(self, rank, size, ends):
        self.rank, self.size, self.ends = rank, size, ends

    def carry(self, sends, receives):
        def send():
            for rank, memory in sends:
                self.ends[self.rank, rank][1].send_bytes(memory)

        sender = threading.Thread(target=send)
        sender.start()
        for rank, memory in receives:
            self.ends[rank, self.rank][0].recv_bytes_into(memory)
        sender.join()


def on_ranks(size, work):
    """What work(ranks) gives in each of the processes, or what it raises."""
    fork = multiprocessing.get_context("fork")
    ends = {(a, b): fork.Pipe(duplex=False) for a in range(size) for b in range(size)}
    answers = [fork.Pipe(duplex=False) for _ in range(size)]

    def run(rank):
        try:
            answer = work(Pipes(rank, size, ends))
        except BaseException as error:
            answer = type(error).__name__, str(error)
        answers[rank][1].send(answer)

    processes = [fork.Process(target=run, args=(rank,)) for rank in range(size)]
    for process in processes:
        process.start()
    found = [answer[0].recv() for answer in answers]
    for process in processes:
        process.join()
    return found


def parts_of(whole, size):
    """In other proportions than equal ones, and process 1 of 4 has none."""
    ends = [len(whole) * rank * rank // size**2 for rank in range(size + 1)]
    if size > 2:
        ends[2] = ends[1]
    return [whole[a:b] for a, b in zip(ends, ends[1:])]


class Ranks(unittest.TestCase):
    def check(self, source, arguments, expected, size=4, **settings):
        """A function of whole arrays, of which each process has its part."""
        parts = [parts_of(a, size) if isinstance(a, numpy.ndarray) and a.ndim else [a] * size
                 for a in arguments]

        def work(ranks):
            function = permc.compile(source, ranks=ranks, **settings)
            own = [part[ranks.rank] for part in parts]
            function(*own)
            return function(*own)

        found = on_ranks(size, work)
        for result in found:
            self.assertNotIsInstance(result, tuple, result)
        whole = numpy.concatenate(found) if found[0].ndim else found[0]
        numpy.testing.assert_array_equal(whole, expected)
        if found[0].ndim and len(expected) == len(arguments[-1]):
            self.assertEqual([len(part) for part in found], [len(part) for part in parts[-1]])

    def test_parts(self):
        xs = numpy.random.default_rng(1).integers(0, 99, 1000)
        for size in (1, 2, 4):
            self.check("sort", [xs], numpy.sort(xs), size)
        self.check("scan (+)", [xs], numpy.cumsum(xs), backend="portable")
        self.check("take 100", [xs], xs[:100])
        self.check("sum", [xs], numpy.sum(xs))

    def test_rows(self):
        rows = numpy.random.default_rng(2).random((37, 8))
        self.check("map sort", [rows], numpy.sort(rows))
        self.check("transpose", [rows], rows.T)
        self.check("map sum", [rows[:, ::2]], permc.compile("map sum")(rows[:, ::2]))

    def test_numbers_and_structures(self):
        xs = numpy.arange(64, dtype="f4")
        self.check(r"\k y xs -> map (* y) (rotate k xs)", [3, numpy.float32(2), xs],
                   numpy.roll(xs, -3) * 2)
        goods = numpy.array([(i * 7 % 50, i) for i in range(50)], "i4, f8")
        self.check("sort_on fst", [goods], numpy.sort(goods, order="f0"))

    def test_whole_arguments_and_tuples(self):
        xs, table = numpy.arange(100) % 10, numpy.arange(10) ** 2

        def work(ranks):
            own = parts_of(xs, 2)[ranks.rank]
            squares = permc.compile("gather", ranks=ranks)(own, permc.Whole(table))
            firsts, seconds = permc.compile(r"\p -> (fst p, map (+ 1) (snd p))",
                                            ranks=ranks)((own, own))
            return (squares == own**2).all() and (firsts == own).all() and (seconds == own + 1).all()

        self.assertEqual(on_ranks(2, work), [True, True])

    def test_out(self):
        xs = numpy.arange(10)[::-1].copy()

        def work(ranks):
            own = parts_of(xs, 2)[ranks.rank]
            out = numpy.zeros(7 if ranks.rank == 0 else 3, int)
            sort = permc.compile("sort", ranks=ranks)
            same = sort(own, out=out) is out
            try:
                sort(own, out=numpy.zeros(4, int))
            except permc.ArgumentError as error:
                return same, list(out), str(error)

        for found, expected in zip(on_ranks(2, work), ([0, 1, 2, 3, 4, 5, 6], [7, 8, 9])):
            self.assertEqual(found[:2], (True, expected))
            self.assertIn("out has parts of [8]i64, and the result is of type [10]i64", found[2])

    def test_tensors(self):
        try:
            import torch
        except ImportError:
            self.skipTest("there is no PyTorch")
        xs = torch.arange(16).flip(0)

        def work(ranks):
            return permc.compile("sort", ranks=ranks)(xs[ranks.rank::2]).tolist()

        self.assertEqual(on_ranks(2, work), [list(range(8)), list(range(8, 16))])

    def test_explain_is_of_whole_arrays(self):
        def work(ranks):
            function = permc.compile("sort_network", ranks=ranks)
            own = numpy.arange(512, dtype="u4")
            return (function.explain(own), function.explain(own, dump="plan"), function.backend(own),
                    function.results(own))

        text, plan, backend, results = on_ranks(2, work)[0]
        self.assertIn("on ranks", text)
        self.assertIn("1024", plan)
        self.assertIn(backend, ("portable", "cpu"))
        self.assertEqual(results, [(("u32", (1024,)),)])

    def test_threads(self):
        xs = numpy.random.default_rng(3).integers(0, 99, 1000)
        numpy.testing.assert_array_equal(permc.compile("sort", ranks=4)(xs), numpy.sort(xs))
        with self.assertRaisesRegex(permc.RankError, "3 ranks are no power of two"):
            permc.compile("sort", ranks=3)

    def test_others_are_called(self):
        def work(ranks):
            xs = numpy.arange(8, dtype="i8" if ranks.rank != 1 else "i4")
            return permc.compile("sort", ranks=ranks)(xs)

        def programs(ranks):
            return permc.compile("sort" if ranks.rank != 1 else "reverse", ranks=ranks)(
                numpy.arange(8))

        line = "permc: rank 1 differs from rank 0 in its call: "
        for found in on_ranks(4, work):
            self.assertEqual(found, ("RankError", line + "sort of [0]i32, not sort of [0]i64"))
        for found in on_ranks(2, programs):
            self.assertEqual(found, ("RankError", line + "reverse of [0]i64, not sort of [0]i64"))

    def test_others_are_told_what_one_finds_wrong(self):
        xs, apart = numpy.arange(8)[::-1].copy(), numpy.zeros(16, int)[::2]
        fixed = numpy.zeros(8, int)
        fixed.flags.writeable = False
        calls = {  # what process 1 does instead, and what it finds wrong
            "": lambda f: f("keys"),
            "row-major": lambda f: f(xs, out=apart),
            "read-only": lambda f: f(xs, out=fixed),
            "they cannot": lambda f: f(Wrong()),
        }

        class Wrong(numpy.ndarray):
            def __new__(cls):
                return numpy.arange(8).view(cls)

            def __len__(self):
                raise ValueError("they cannot be counted")

        def work(ranks):
            sort, found = permc.compile("sort", ranks=ranks), []
            for call in calls.values():
                try:
                    call(sort) if ranks.rank == 1 else sort(xs, out=numpy.zeros(8, int))
                except Exception as error:
                    found.append((type(error).__name__, str(error)))
            found.append(sort(xs).tolist())
            return found

        found = on_ranks(4, work)
        for i, line in enumerate(calls):
            for rank in (0, 2, 3):
                self.assertEqual(found[rank][i][0], "RankError")
                self.assertEqual(found[rank][i][1].removeprefix("permc: "), "rank 1: " +
                                 found[1][i][1].removeprefix("permc: ").partition("\n")[0])
            self.assertNotEqual(found[1][i][0], "RankError")
            self.assertIn(line, found[1][i][1])
        self.assertEqual([rank[-1] for rank in found],
                         [[r * 2 + i // 4 for i in range(8)] for r in range(4)])

    def test_others_are_told_that_one_has_no_such_program(self):
        def work(ranks):
            source = "sort" if ranks.rank == 0 else "srot"
            return permc.compile(source, ranks=ranks)(numpy.arange(8)).tolist()

        def settings(ranks):
            return permc.compile("sort", ranks=ranks, strategy=None if ranks.rank else "none")(
                numpy.arange(8)).tolist()

        def entries(ranks):
            return permc.compile("main xs = xs\n", entry="main" if ranks.rank else "other",
                                 ranks=ranks)(numpy.arange(8)).tolist()

        for wrong, work in ((1, work), (0, settings), (0, entries)):
            found = on_ranks(2, work)
            self.assertNotEqual(found[wrong][0], "RankError")
            self.assertEqual(found[1 - wrong][0], "RankError", found)
            self.assertIn(f"rank {wrong}: ", found[1 - wrong][1])

    def test_wrong_programs_are_refused_by_all(self):
        def work(ranks):
            sort = permc.compile("sort", ranks=ranks)
            try:
                sort("keys")
            except permc.ArgumentError:
                pass
            try:
                permc.compile("map (+ 1.5)", ranks=ranks)(numpy.arange(8))
            except permc.Error:
                return sort(numpy.arange(4)[::-1]).tolist()

        self.assertEqual(on_ranks(2, work), [[0, 0, 1, 1], [2, 2, 3, 3]])

    def test_what_carries_raises(self):
        class Broken:
            rank, size = 0, 2

            def carry(self, sends, receives):
                raise OSError("the line is cut")

        sort = permc.compile("sort", ranks=Broken())
        with self.assertRaisesRegex(OSError, "the line is cut"):
            sort(numpy.arange(4))
        with self.assertRaisesRegex(permc.RankError, "rank 0: the line is cut"):
            sort(numpy.arange(4))

    def test_no_ranks(self):
        for wrong in ([1, 2], 0, -4, 2**40, 2.5, True, False):
            with self.assertRaisesRegex(permc.ArgumentError, "ranks: .* is expected, not "):
                permc.compile("sort", ranks=wrong)
        with self.assertRaisesRegex(permc.MissingError, r"there is no transport 'pigeons' "
                                    r"\(known transports: threads, mpi\)"):
            permc.compile("sort", ranks="pigeons")


# ---- mpirun -------------------------------------------------------------------------------------


def other_calls(ranks, rank):
    """Processes that call different functions hear of it at once, and so of what one finds wrong;
    then all go on."""
    sort, total = permc.compile("sort", ranks=ranks), permc.compile("sum", ranks=ranks)
    xs = numpy.arange(8)
    for call, line in (
            (lambda: (total if rank == 1 else sort)(xs),
             "rank 1 differs from rank 0 in its call: sum of [0]i64, not sort of [0]i64"),
            (lambda: permc.compile("sum", ranks=ranks) if rank == 1 else sort(xs),
             "rank 1 differs from rank 0 in its step: the start of a program, not a call"),
            (lambda: sort.results(xs) if rank == 1 else sort(xs),
             "in its call: what is asked of sort of [0]i64, not sort of [0]i64"),
            (lambda: sort(xs, out=numpy.zeros((8, 2))[:, 0] if rank == 1 else numpy.zeros(8, int)),
             "out must be an array of NumPy that is row-major")):
        try:
            call()
        except permc.Error as error:
            assert line in str(error), error
            assert isinstance(error, permc.RankError) or rank == 1, error
        else:
            assert False, "it has not failed"
    assert total(xs) == 28 * sort._program._ranks[1]


def of_mpi(with_mpi4py):
    """By each process: all together, and, by mpi4py, the halves of them."""
    def check(ranks, rank, size):
        xs = numpy.random.default_rng(size).integers(0, 99, 1000)
        own = permc.compile("sort", ranks=ranks)(parts_of(xs, size)[rank])
        numpy.testing.assert_array_equal(own, parts_of(numpy.sort(xs), size)[rank])

    sort = permc.compile("sort", ranks="mpi")
    rank, size = sort._program._ranks
    check("mpi", rank, size)
    several = [permc.compile("sum", ranks="mpi") for _ in range(3)]
    begin = time.monotonic()
    while several:  # which end in another order on each
        del several[rank % len(several)]
    other_calls("mpi", rank)
    assert time.monotonic() - begin < 30
    if with_mpi4py:
        from mpi4py import MPI
        check(MPI.COMM_WORLD, rank, size)
        half = MPI.COMM_WORLD.Split(rank >= size // 2, rank)
        check(half, half.Get_rank(), half.Get_size())
        # Others get the number of a communicator that is gone
        kept = []
        for i in range(8):
            some = MPI.COMM_WORLD.Split((rank >> i % 2) % 2, rank)
            kept.append(permc.compile("sum", ranks=some))
            assert kept[-1](numpy.arange(1)) == 0
            check(some, some.Get_rank(), some.Get_size())
            some.Free()
        page = (pathlib.Path(__file__).resolve().parents[2] / "docs/embedding.md").read_text()
        script, = (text for text in re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
                   if "mpi4py" in text)
        exec(compile(script, "docs/embedding.md", "exec"), {})
    print("done")


class Mpi(unittest.TestCase):
    def check(self, mpi, *words):
        if not shutil.which(f"mpirun.{mpi}"):
            self.skipTest(f"there is no mpirun.{mpi}")
        environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1",
                       "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_btl": "self,vader",
                       "OMPI_MCA_rmaps_base_oversubscribe": "1",
                       "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
        done = subprocess.run([f"mpirun.{mpi}", "-n", "4", sys.executable, __file__, "--mpi",
                               *words], env=environment, capture_output=True, text=True, timeout=100)
        self.assertEqual(done.stdout.count("done"), 4, done.stdout + done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_open_mpi(self):
        self.check("openmpi")

    def test_mpich(self):
        self.check("mpich")

    def test_mpi4py(self):
        if not importlib.util.find_spec("mpi4py"):
            self.skipTest("there is no mpi4py")
        self.check("openmpi", "mpi4py")


# ---- PyTorch ------------------------------------------------------------------------------------


class ProcessGroups(unittest.TestCase):
    def on_group(self, work):
        """What work(torch, group) gives in each of two processes."""
        try:
            import torch.distributed
        except ImportError:
            self.skipTest("there is no PyTorch")
        with tempfile.TemporaryDirectory() as folder:  # PyTorch may remove the file itself
            def run(ranks):
                torch.distributed.init_process_group(
                    "gloo", init_method=f"file://{folder}/store", rank=ranks.rank,
                    world_size=ranks.size)
                found = work(torch, torch.distributed.group.WORLD)
                torch.distributed.destroy_process_group()
                return found

            return on_ranks(2, run)

    def test_gloo(self):
        def work(torch, group):
            rank = group.rank()
            xs = torch.arange(100).flip(0)[50 * rank:50 * (rank + 1)]
            found = permc.compile("sort", ranks=group)(xs).tolist()
            torch.distributed.barrier()
            return found

        self.assertEqual(self.on_group(work), [list(range(50)), list(range(50, 100))])

    def test_a_rank_ends(self):
        for calls in (0, 1):  # in the first one, permc compiles
            def work(torch, group):
                sort, xs = permc.compile("sort", ranks=group), torch.arange(10)
                for _ in range(calls + 1 - group.rank()):
                    sort(xs)

            name, line = self.on_group(work)[0]
            self.assertEqual(name, "RankError")
            self.assertIn("rank 1 ended before the others", line)


if __name__ == "__main__":
    if "--mpi" in sys.argv:
        of_mpi("mpi4py" in sys.argv)
        sys.exit(0)
    result = unittest.main(exit=False, argv=sys.argv).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, "
          f"{len(result.skipped)} skipped")
    sys.exit(failed != 0)
