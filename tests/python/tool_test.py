"""The tool in Python: `python -m permc` beside the program `permc`, and what torchrun starts, by
PyTorch where that is installed, and by what stands for it (stand_in/torch). Run with the package's
folder on PYTHONPATH; PERMC names the program. The last line counts: N passed, N failed, N skipped."""

import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import numpy
    import permc
except ModuleNotFoundError as missing:
    print(f"skipped: {missing}")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = os.environ.get("PERMC") or str(pathlib.Path(sys.executable).parent / "permc")
TOOL = [sys.executable, "-m", "permc"]
KEYS = numpy.random.default_rng(1).integers(0, 1000, 5000)


def environment(*paths, **variables):
    """That of a process which finds packages in these folders first."""
    before = os.environ.get("PYTHONPATH")
    paths = [str(path) for path in paths] + ([before] if before else [])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **variables}


def run(command, given="", env=None):
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=100,
                          env=env)
    return done.returncode, done.stdout, done.stderr


class Repl(unittest.TestCase):
    """`python -m permc repl`: what is said to each line."""

    def said(self, *lines, file=()):
        status, out, err = run([*TOOL, "repl", *file], "\n".join([*lines, ":quit", ""]))
        self.assertEqual((status, err), (0, ""))
        return out.replace("permc> ", "").replace("  ...> ", "")

    def test_definitions(self):
        self.assertEqual(self.said("f 0 = 1", "f n = n * f (n - 1)", "f 5", "f 0 = 2", "f 3"),
                         "120i64\n12i64\n")
        self.assertEqual(self.said("g : [2^n]a -> [2^n]a", "g = reverse", "g [1, 2]", ":list"),
                         "[2i64, 1i64]\ng : [2^n]a -> [2^n]a\ng = reverse\n")
        self.assertIn("'h' is not defined", self.said("h = 3", ":forget h", "h"))

    def test_a_mistake_defines_nothing(self):
        said = self.said("f x = x + 1", "f x = y", "f 1", "f (", "[1, \\", "2]", "1 == 2")
        self.assertIn("'y' is not defined", said)
        self.assertIn("\n2i64\n", said)
        self.assertTrue(said.endswith("[1i64, 2i64]\nfalse\n"), said)

    def test_commands(self):
        self.assertEqual(self.said(":type map (* 2)"), "[]t1 -> []t1\n")
        self.assertIn("passes ", self.said(":explain fft : [2^10]c64"))
        self.assertIn("─●─", self.said(":draw sort_network : [2^2]u32"))
        self.assertIn("permc: run ", self.said(":time sum [1, 2]"))
        self.assertIn("head : []a -> a", self.said(":help head"))
        self.assertIn("there is no :typ", self.said(":typ 1"))

    def test_expressions_with_bars_are_no_definitions(self):
        self.assertEqual(self.said("sum [i | i <- 0..3]", "abs (6 | 1)", "f x | x > 2 = 1", "f _ = 0",
                                   "g [x, y] = x", "f 3"), "6i64\n7i64\n1i64\n")

    def test_bytes_that_are_no_text(self):
        given = b"f x = x + 1\nsum [1, \0]\ng x = x -- caf\xe9\n-- \xe9\nf (g 1)\n"
        for variables in ({"PYTHONUTF8": "0", "LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}):
            done = subprocess.run([*TOOL, "repl"], input=given, capture_output=True, timeout=100,
                                  env={**os.environ, **variables})
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertIn(b"unexpected character", done.stdout)
            self.assertTrue(done.stdout.endswith(b"2i64\npermc> "), done.stdout)

    def test_an_interrupt_ends_the_line_alone(self):
        process = subprocess.Popen([*TOOL, "repl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)
        process.stdin.write("f x = x + 1\nlength [i * j | i <- 0..9999, j <- 0..9999]\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.read(14), "permc> permc> ")
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        self.assertEqual(process.communicate("f 1\n", timeout=100),
                         ("interrupted\npermc> 2i64\npermc> ", ""))

    def test_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.perm"
            path.write_text("twice x = x + x\n")
            self.assertEqual(self.said("twice 4", file=[str(path)]), "8i64\n")


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.keys, self.sorted = self.folder / "keys.npy", self.folder / "sorted.npy"
        numpy.save(self.keys, KEYS)


class Tool(Folder):
    def test_as_the_program(self):
        for words, given in (([], ""), (["--version"], ""), (["--help"], ""), (["rum"], ""),
                             (["run", "--help"], ""), (["run", "-e", "sort", "--rank"], ""),
                             (["run", "-e", "sort"], "[3, 1, 2]"), (["run", "-e", "sort +"], ""),
                             (["run", "-e", "iota 2000"], ""), (["run", "-e", "sort"], "[3, 1"),
                             (["explain", "-e", "sort", "--arguments", "[8]u32", "--dump", "c"], ""),
                             (["check", "absent.perm"], ""), (["fmt", "-"], "f  x=x")):
            expected = run([PROGRAM, *words], given)
            for tool in (TOOL, [sys.executable, "-u", "-m", "permc"]):
                self.assertEqual(run([*tool, *words], given), expected, words)

    def test_words_and_files_of_any_bytes(self):
        keys = self.keys.rename(self.folder / os.fsdecode(b"keys\xff.npy"))
        self.assertEqual(run([*TOOL, "run", "-e", "sort", "-i", keys, "-o", self.sorted]),
                         (0, "", ""))
        numpy.testing.assert_array_equal(numpy.load(self.sorted), numpy.sort(KEYS))

    def test_a_reader_that_is_gone(self):
        process = subprocess.Popen([*TOOL, "run", "-e", "iota 100000"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdout.close()
        self.assertEqual((process.stderr.read(), process.wait()), (b"", -signal.SIGPIPE))
        process.stderr.close()

    def test_signals(self):
        os.mkfifo(self.folder / "late")
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([*TOOL, "run", "-e", "sort", "-i", self.folder / "late"],
                                       stderr=subprocess.PIPE)
            with open(self.folder / "late", "wb"):  # when the tool reads
                process.send_signal(number)
                self.assertEqual(process.communicate()[1], b"permc: interrupted\n")
            self.assertEqual(process.returncode, 128 + number)

    def test_the_program_is_none_of_torchrun(self):
        words = ["run", "-e", "sort", "-i", self.keys, "-o", self.sorted]
        several = environment(RANK="1", WORLD_SIZE="4")
        self.assertEqual(run([PROGRAM, *words], env=several), (
            1, "", "permc: torchrun has started this as rank 1 of 4, and this program cannot reach "
            "the others; use torchrun -m permc run ... (permc run --ranks 1 runs it alone)\n"))
        for alone in ([PROGRAM, *words, "--ranks", "1"], [*TOOL, *words, "--ranks", "1"]):
            self.assertEqual(run(alone, env=several), (0, "", ""))
        for tool in ([PROGRAM], TOOL):
            self.assertEqual(run([*tool, *words], env=environment(RANK="0", WORLD_SIZE="1")),
                             (0, "", ""))


# ---- what torchrun starts -----------------------------------------------------------------------


class Ranks(Folder):
    def start(self, rank, size, words, package=HERE / "stand_in"):
        (self.folder / "ranks").mkdir(exist_ok=True)
        return subprocess.Popen(
            [*TOOL, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment(package, RANK=str(rank), WORLD_SIZE=str(size),
                            MASTER_ADDR=str(self.folder / "ranks")))

    def end(self, *processes):
        found = [process.communicate(timeout=100) for process in processes]
        for socket in (self.folder / "ranks").iterdir():
            socket.unlink()
        return [(process.returncode, *texts) for process, texts in zip(processes, found)]

    def check(self, size, words, expected):
        found = self.end(*[self.start(rank, size, words) for rank in range(size)])
        self.assertEqual(found, expected)

    def test_files_and_what_is_printed(self):
        self.check(4, ["run", "-e", "sort", "-i", self.keys, "-o", self.sorted], [(0, "", "")] * 4)
        numpy.testing.assert_array_equal(numpy.load(self.sorted), numpy.sort(KEYS))
        self.check(2, ["run", "-e", "sum", "-i", self.keys, "--ranks", "2"],
                   [(0, f"{KEYS.sum()}i64\n", ""), (0, "", "")])

    def test_other_verbs_are_of_each_alone(self):
        self.check(2, ["--version"], [(0, f"permc {permc.__version__}\n", "")] * 2)

    def test_numbers_of_ranks(self):
        words = ["run", "-e", "sort", "-i", self.keys, "-o", self.sorted]
        line = "permc: 3 ranks are no power of two; take 2, 4, 8, ...\n"
        self.check(3, words, [(1, "", line), (1, "", ""), (1, "", "")])
        line = ("permc: 4 ranks were asked for, and there are 2; start as many "
                "(torchrun --nproc-per-node 4)\n")
        self.check(2, [*words, "--ranks", "4"], [(1, "", line)] * 2)

    def test_a_rank_fails(self):
        words = ["run", "-e", "sort", "-o", self.sorted, "-i"]
        found = self.end(self.start(0, 2, [*words, self.keys]),
                         self.start(1, 2, [*words, "absent"]))
        self.assertEqual(found, [(1, "", ""),
                                 (1, "", "permc: rank 1: absent: No such file or directory\n")])
        found = self.end(*[self.start(rank, 2, ["run", "-e", expression, "-i", self.keys])
                           for rank, expression in enumerate(("sort", "reverse"))])
        line = "permc: rank 1 differs from rank 0 in its program text: reverse, not sort\n"
        self.assertEqual(found, [(1, "", line), (1, "", "")])
        self.assertFalse(self.sorted.exists())

    def test_a_rank_dies_or_hangs(self):
        os.mkfifo(self.folder / "late")
        words = ["run", "-e", "sort", "-o", self.sorted, "--timeout", "2", "-i"]
        for dies, line in ((True, "ended before the others"), (False, "did not come in time")):
            first, second = (self.start(0, 2, [*words, self.keys]),
                             self.start(1, 2, [*words, self.folder / "late"]))
            with open(self.folder / "late", "wb"):  # when it reads; the other waits for it
                if dies:
                    second.kill()
                self.assertEqual(first.communicate(timeout=100)[1],
                                 f"permc: rank 0: rank 1 {line}\n")
                self.assertEqual(first.returncode, 1)
                second.kill()
            self.end(second)
        self.assertFalse(self.sorted.exists())

    def test_a_rank_does_not_come(self):
        found = self.end(self.start(0, 2, ["run", "-e", "sort", "-i", self.keys, "--timeout", "1"]))
        self.assertEqual(found, [(1, "", "permc: rank 0: PyTorch has not connected the 2 ranks of "
                                  "torchrun: not all came within 1 s\n")])

    def test_no_pytorch(self):
        (self.folder / "torch.py").write_text("raise ImportError(\"No module named 'torch'\")\n")
        found = self.end(self.start(1, 2, ["run", "-e", "sort", "-i", self.keys], self.folder))
        self.assertEqual(found, [(1, "", "permc: rank 1: PyTorch has not connected the 2 ranks of "
                                  "torchrun: No module named 'torch'\n")])


@unittest.skipUnless(importlib.util.find_spec("torch"), "there is no PyTorch")
class Torchrun(Folder):
    def torchrun(self, *command):
        return run([sys.executable, "-m", "torch.distributed.run", "--standalone",
                    "--nproc-per-node", "2", *command], env=environment(OMP_NUM_THREADS="1"))

    def test_files_and_what_is_printed(self):
        words = ["-m", "permc", "run", "-i", self.keys, "-e"]
        self.assertEqual(self.torchrun(*words, "sort", "-o", self.sorted)[0], 0)
        numpy.testing.assert_array_equal(numpy.load(self.sorted), numpy.sort(KEYS))
        self.assertEqual(self.torchrun(*words, "sum")[:2], (0, f"{KEYS.sum()}i64\n"))

    def test_the_program_is_refused(self):
        status, _, lines = self.torchrun("--no-python", PROGRAM, "run", "-e", "sort", "-i",
                                         self.keys)
        self.assertEqual((status, lines.count("use torchrun -m permc run")), (1, 2), lines)

    def test_a_rank_dies(self):
        words = "run -e sort -i %s --timeout 20" % self.keys
        status, _, lines = self.torchrun("--no-python", "sh", "-c", (
            "[ $RANK = 1 ] && exec %s -c 'import permc._ranks; permc._ranks.connect_torchrun(20)'; "
            "exec %s -m permc %s" % (sys.executable, sys.executable, words)))
        self.assertEqual((status, lines.count("permc: rank 0: rank 1 ended before the others\n")),
                         (1, 1), lines)


if __name__ == "__main__":
    result = unittest.main(exit=False, argv=sys.argv).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, "
          f"{len(result.skipped)} skipped")
    sys.exit(failed != 0)
