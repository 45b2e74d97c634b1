"""The suites of bench/run.py: their cases, the checks of results, rounds and intervals, peers, tables.
PERMC names the program; the first argument is bench/peers/memcpy.c, built. The last line counts: N
passed, N failed, N skipped. Nothing here looks at how long something takes."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ModuleNotFoundError as missing:
    print(f"skipped: {missing}")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
sys.path.insert(0, str(ROOT / "bench/peers"))
import arrays
import contest
import data
import page
import run
import suites
from suites import Case, cases

PERMC = os.environ.get("PERMC") or str(ROOT / "build/release/permc")
MEMCPY = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else None


def named(suite, gpus, name):
    return next((case for case in cases(suite, gpus) if case.name == name), None)


def first_words(option):
    said = subprocess.run([PERMC, "run", option, "help"], capture_output=True, text=True).stdout
    return [line.split()[0] for line in said.splitlines() if line[:1].strip()]


class Suites(unittest.TestCase):
    def test_all_have_cases(self):
        for suite in suites.SUITES:
            for gpus in (0, 1, 4):
                found = cases(suite, gpus)
                self.assertEqual(bool(found), gpus > 0 or suite not in ("hmm", "links"), suite)
                self.assertEqual(len({case.name for case in found}), len(found))
                self.assertFalse(gpus == 0 and any(case.strategy or case.gpu_only for case in found))
                for peer in sum((case.peers for case in found), []):
                    name, *words = peer.split()
                    if name in run.LIBRARIES:
                        self.assertRegex(" ".join(words), r"^[a-z]+2? (\[\d+\])+[uifc]\d+$")
                        self.assertIn(words[0], arrays.EXPECTED)

    def test_cases_for_a_gpu(self):
        # Suite, name, types, expression, first peer, second, also on processors, on a GPU only.
        table = [("sort", "sort u32 2^26", "[67108864]u32", "sort",
                  "cub --count 67108864 --type u32", "cccl", True, False),
                 ("sort", "sort f32 2^10", "[1024]f32", "sort", "cub --count 1024 --type f32", "cccl",
                  False, False),
                 ("sort", "sort (u32, u32) 2^12", "[4096](u32, u32)", "sort_on fst",
                  "cub --count 4096 --type u32pair", "cccl", False, False),
                 ("sort", "sort u32 2^28", "[268435456]u32", "sort",
                  "cub --count 268435456 --type u32", "cccl", False, True),
                 ("rows", "sort rows of 2^10 f32", "[16384][1024]f32", "map sort",
                  "cub --count 16777216 --row 1024 --type f32", "torch", False, False),
                 ("rows", "sort rows of 2^10 (u32, u32)", "[16384][1024](u32, u32)",
                  "map (sort_on fst)", "cub --count 16777216 --row 1024 --type u32pair", None, False,
                  False),
                 ("ragged", "zipf rows of 2^10 u32", "[16385]i64 [16777216]u32", "sort_ragged",
                  "cub --count 16777216 --row 1024 --offsets $0 --type u32", None, True, False),
                 ("bmmc", "transpose u32 2^30", "[32768][32768]u32", "transpose",
                  "cuda_memcpy --count 1073741824 --width 4", "torch", False, True),
                 ("bmmc", "bit reversal (u32, u32) 2^28", "[268435456](u32, u32)", "bitrev",
                  "cuda_memcpy --count 268435456 --width 8", "torch", False, True),
                 ("fft", "fft c64 2^10", "[1024]c64", "fft", "cupy fft [1024]c64", None, True, False),
                 ("fft", "irfft f32 2^22", "[2097153]c64", "irfft 4194304", "cupy irfft [2097153]c64",
                  None, False, False),
                 ("fft", "convolve c64 2^20", "[1048576]c64 [1048576]c64", "convolve",
                  "cupy convolve [1048576]c64", None, True, False),
                 ("padded", "padded sort of 10^7", "[10000000]u32", "padded maxval sort", None, None,
                  True, False),
                 ("paper", "the paper's sorter u32 2^14", "[16384]u32",
                  "\\xs -> paper_sort (log2 (length xs)) xs", None, None, True, False)]
        for suite, name, types, expression, peer, second, everywhere, gpu_only in table:
            case = named(suite, 1, name)
            self.assertIsNotNone(case, name)
            peers = case.peers + [None, None]
            self.assertEqual((suites.types_of(case.arguments), case.expression, peers[0],
                              peers[1] and peers[1].split()[0], case.gpu_only),
                             (types, expression, peer, second, gpu_only))
            self.assertEqual(named(suite, 0, name) is not None, everywhere, name)

    def test_peers_on_processors(self):
        for suite, name, first, second in (
                ("sort", "sort u32 2^20", "std_sort --count 1048576", "x86_simd_sort"),
                ("rows", "sort rows of 2^5 u32", "std_sort --count 16777216 --row 32", "x86_simd_sort"),
                ("bmmc", "bit reversal u32 2^20", "memcpy --count 1048576 --width 4", "bit_reversal"),
                ("bmmc", "random BMMC c128 2^24", "memcpy --count 16777216 --width 16", None),
                ("fft", "fft c64 2^10", "pyfftw fft [1024]c64", "torch")):
            peers = named(suite, 0, name).peers + [None]
            self.assertEqual((peers[0], peers[1] and peers[1].split()[0]), (first, second))

    def test_several_gpus(self):
        """Sizes are those of one GPU; random maps differ, and are the same on every machine."""
        self.assertEqual(len(cases("links", 1)), len(cases("links", 4)))
        one, four = named("links", 1, "random BMMC 0 u32 2^28"), named("links", 4, "random BMMC 0 u32 2^30")
        self.assertEqual((one.elements, four.elements), (1 << 28, 1 << 30))
        self.assertEqual(four.peers[0], "nccl --count 1073741824 --row 268435456 --algorithm alltoall")
        self.assertNotEqual(four.map, named("links", 4, "random BMMC 1 u32 2^30").map)
        self.assertEqual(suites.random_bmmc(4), ([15, 5, 3, 4], 8))
        self.assertEqual(suites.random_bpc(4), ([1, 2, 8, 4], 15))

    def test_strategies(self):
        """Each strategy that moves elements has cases of its own; the paper has no iterations for any
        matrix. A layout, too."""
        known = set(first_words("--strategy"))
        self.assertLessEqual(set(suites.WAYS + suites.HMM_WAYS), known)
        self.assertEqual(suites.LAYOUTS, first_words("--layout"))
        for way in suites.WAYS:
            for series in page.PERMUTATIONS:
                for n in range(20, 31, 2):
                    case, plain = (named("bmmc", 1, f"{series} u32 2^{n}{by}") for by in (f" by {way}", ""))
                    if (series, way) == ("random BMMC", "tile+banks+iters"):
                        self.assertIsNone(case)
                        continue
                    self.assertEqual((case.strategy, case.gpu_only, case.peers), (way, True, []))
                    self.assertEqual((case.map, case.arguments, case.expression),
                                     (plain.map, plain.arguments, plain.expression))

    def test_permutations(self):
        """Each number once; of random ones half of the first half are below the middle."""
        for name in suites.HMM_PERMUTATIONS:
            count = 1 << 16 if name != "random" else (1 << 16) - 77
            places = data.permutation(name, count)
            self.assertTrue((np.sort(places) == np.arange(count)).all())
            if name == "random":
                self.assertLess(abs((places[:count // 2] < count // 2).sum() - count / 4), 1000)
        self.assertEqual(data.permutation("shuffle", 8).tolist(), [0, 2, 4, 6, 1, 3, 5, 7])
        self.assertEqual(data.permutation("bit-reversal", 8).tolist(), [0, 4, 2, 6, 1, 5, 3, 7])
        self.assertEqual(data.permutation("transpose", 16)[:6].tolist(), [0, 4, 8, 12, 1, 5])

    def test_lengths_of_rows(self):
        for name, least, most in (("uniform", 180, 220), ("zipf", 12000, 14500)):
            offsets = data.offsets(name, 1000, 100000)
            self.assertEqual((offsets.size, offsets[0], offsets[-1]), (1001, 0, 100000))
            self.assertTrue((np.diff(offsets) >= 0).all())
            self.assertTrue(least <= np.diff(offsets).max() <= most)


class Checks(unittest.TestCase):
    """What is right, and what is wrong by one element."""

    def right(self, check, given, found, expression="", **more):
        case = Case("", expression, [((), "u32")], check, **more)
        try:
            data.check(case, [np.array(each) for each in given], [np.array(each) for each in found])
            return True
        except data.Wrong:
            return False

    def test_sorted(self):
        given = [[3, 1, 2], [7, 7, 0]]
        for found, right in (([[1, 2, 3], [0, 7, 7]], True), ([[1, 3, 2], [0, 7, 7]], False),
                             ([[1, 2, 3], [0, 0, 7]], False), ([[0, 1, 2], [3, 7, 7]], False)):
            self.assertEqual(self.right("sorted", [given], [found]), right)
        self.assertTrue(self.right("sorted", [[3, 1, 2, 7, 7, 0]], [[0, 1, 2, 3, 7, 7]]))

    def test_sorted_floats(self):
        """In the total order, to the bit: both zeros and two NaN."""
        def floats(bits):
            return np.array(bits, np.uint32).view(np.float32)

        nan, other_nan, zero, minus_zero, one = 0x7fc00001, 0xffc00002, 0, 0x80000000, 0x3f800000
        found = [0xc0000000, minus_zero, zero, one, one, 0x7f800000, nan, other_nan]
        given = floats([found[i] for i in (6, 3, 2, 7, 1, 0, 5, 4)])
        self.assertTrue(self.right("sorted", [given], [floats(found)]))
        for i in range(8):
            self.assertFalse(self.right("sorted", [given],
                                        [floats(found[:i] + [found[i] ^ 1] + found[i + 1:])]))
            swapped = list(found)
            swapped[i], swapped[(i + 1) % 8] = swapped[(i + 1) % 8], swapped[i]
            self.assertEqual(self.right("sorted", [given], [floats(swapped)]), i in (3, 6))

    def test_sorted_widths(self):
        for ordered in (np.array([-128, -1, 0, 127], "i1"), np.array([0, 255, 256, 65535], "u2"),
                        np.array([-2**63, -1, 0, 2**63 - 1], "i8"),
                        np.array([-np.inf, -1e-300, 0, np.nan], "f8")):
            swapped = ordered[[1, 0, 2, 3]]
            self.assertTrue(self.right("sorted", [swapped], [ordered]))
            self.assertFalse(self.right("sorted", [swapped], [swapped]))

    def test_sorted_pairs(self):
        """By the key alone; each key keeps its value, also where keys are equal."""
        keys, values, ordered = [5, 2, 5, 1], [10, 20, 30, 40], [1, 2, 5, 5]
        for moved, right in (([40, 20, 10, 30], True), ([40, 20, 30, 10], True),
                             ([20, 40, 10, 30], False), ([10, 20, 30, 40], False),
                             ([40, 20, 10, 10], False), ([40, 10, 20, 30], False)):
            self.assertEqual(self.right("sorted", [keys, values], [ordered, moved]), right)
        self.assertFalse(self.right("sorted", [keys, values], [keys, values]))

    def test_ragged(self):
        """Each row by itself; elements of no row are not looked at."""
        offsets, keys = [1, 1, 4, 6], [9, 3, 1, 2, 7, 0, 5]
        for found, right in (([9, 1, 2, 3, 0, 7, 5], True), ([9, 1, 3, 2, 0, 7, 5], False),
                             ([9, 0, 1, 2, 3, 7, 5], False), (keys, False)):
            self.assertEqual(self.right("ragged", [offsets, keys], [found]), right)

    def by_one(self, check, given, found, **more):
        """Right as it is, and wrong where any element is another."""
        self.assertTrue(self.right(check, given, [found], **more))
        for i in range(found.size):
            other = found.copy()
            other.reshape(-1)[i] += 1
            self.assertFalse(self.right(check, given, [other], **more))

    def test_moves(self):
        given, map = np.arange(100, 108, dtype="u2"), (suites.bit_reversal(3)[0], 1)
        found = np.empty_like(given)
        for i in range(8):
            found[int(f"{i:03b}"[::-1], 2) ^ 1] = given[i]
        self.by_one("moved", [given], found, map=map)
        self.by_one("moved", [given.astype("c16")], found.astype("c16"), map=map)
        self.by_one("permuted", [np.array([2, 0, 1]), np.array([7, 8, 9])], np.array([8, 9, 7]))
        self.by_one("transposed", [np.arange(6).reshape(2, 3)], np.arange(6).reshape(2, 3).T.copy())

    def test_folds(self):
        for kind in ("i4", "i8", "f4"):
            given = np.arange(1, 9, dtype=kind)
            self.by_one("sums", [given], np.cumsum(given, dtype=kind))
            self.by_one("sums", [given.reshape(2, 4)], np.cumsum(given.reshape(2, 4), 1, dtype=kind))
            self.by_one("sums", [given], np.array([36], kind))
            self.by_one("maximum", [given[::-1]], np.array(8, kind))
        self.by_one("sums", [np.full(4, 1 << 30, "i4")], np.array(0, "i4"))

    def test_fourier(self):
        square = data.random((8, 8), "c64")
        self.by_one("fourier", [square], np.fft.fft2(square).astype(np.complex64), expression="fft2")
        reals = data.random((64,), "f32")
        self.by_one("fourier", [reals], np.fft.rfft(reals).astype(np.complex64), expression="rfft")
        half = data.random((33,), "c64")
        self.by_one("fourier", [half], np.fft.irfft(half).astype("f4"), expression="irfft 64")
        both = [data.random((64,), "c64", seed) for seed in (1, 2)]
        product = np.fft.ifft(np.fft.fft(both[0]) * np.fft.fft(both[1])).astype(np.complex64)
        self.by_one("fourier", both, product, expression="convolve")
        given = data.random((64,), "c64")
        found = np.fft.fft(given).astype(np.complex64)
        self.by_one("fourier", [given], found, expression="map fft")
        case = Case("", "fft", [((64,), "c64")], "fourier")
        self.assertRegex(data.check(case, [given], [found]), r"error [1-9].*e-08, largest .*e-0[789]")


class Rounds(unittest.TestCase):
    def test_intervals(self):
        """Ranks as tables of the sign test have them."""
        for count, rank in ((5, 0), (6, 1), (8, 1), (9, 2), (12, 3), (20, 6), (50, 18), (100, 40)):
            self.assertEqual(contest.interval_rank(count), rank)
        f = contest.figures([9, 1, 8, 2, 7, 3, 6, 4, 5])
        self.assertEqual([f[k] for k in ("runs", "median", "mean", "least", "greatest", "low", "high")],
                         [9, 5, 5, 1, 9, 2, 8])
        self.assertEqual(contest.figures([4, 1])["median"], 2.5)
        self.assertEqual(contest.spread(f), 3 / 5)

    def test_turns(self):
        """In turn, and until the first one's median is known."""
        said = []

        class Clock:
            elements = 1

            def __init__(self, name, seconds):
                self.name, self.seconds, self.samples = name, seconds, []

            def turn(self):
                said.append(self.name)
                return self.seconds

        a, b = Clock("a", 1.0), Clock("b", 2.0)
        contest.play([a, b], 3600)
        self.assertEqual((len(a.samples), len(b.samples)), (contest.LEAST, contest.LEAST))
        self.assertEqual("".join(said[:8]), "abbaabba")
        self.assertEqual(contest.side(a, b)["ratio"]["median"], 0.5)
        b.elements = 4
        self.assertEqual((contest.side(a, b)["ratio"]["median"], contest.side(a, b)["elements"]), (2, 4))


class Program(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.folder = pathlib.Path(room.name)
        (self.folder / "peers").mkdir()

    def peer(self, name, text):
        path = self.folder / "peers" / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)

    def run_suite(self, suite, *options, status=0):
        """Rows by name; self.out and self.err are what is printed."""
        command = [sys.executable, str(ROOT / "bench/run.py"), suite, "--seconds", "0", "--permc", PERMC,
                   "--peers", str(self.folder / "peers"), "--to", str(self.folder), *options]
        done = subprocess.run(command, capture_output=True, text=True)
        self.out, self.err = done.stdout, done.stderr
        self.assertEqual(done.returncode, status, done.stderr)
        files = list(self.folder.glob("*.json"))
        return page.by_name(json.loads(files[0].read_text())["rows"]) if files else {}

    def test_every_check(self):
        """A small case of each kind; pairs come in two files and go to two."""
        options = argparse.Namespace(permc=PERMC, peers="none", backend="cpu", devices=None, ranks=1,
                                     threads=2, seconds=0, strategy=None, gpus=0)
        row, pairs = ((16, 64), "u32"), ((1024,), suites.PAIR)
        map, offsets = suites.random_bmmc(10), ((17,), "i64")
        for expression, arguments, check, more in (
                ("map sort", [row], "sorted", {}), ("sort_on fst", [pairs], "sorted", {}),
                ("sort_ragged", [offsets, ((1000,), "f32")], "ragged", {"lengths": "zipf"}),
                ("sort_ragged_on fst", [offsets, pairs], "ragged", {"lengths": "uniform"}),
                (suites.bmmc_text(*map), [pairs], "moved", {"map": map}),
                ("fft", [((1024,), "c64")], "fourier", {}), ("transpose", [row], "transposed", {}),
                ("map (scan (+))", [row], "sums", {}), ("sum", [((99,), "f32")], "sums", {}),
                ("maximum", [((99,), "f32")], "maximum", {}), ("map (map (+ 1))", [row], "interp", {}),
                ("permute", [((64,), "u32"), ((64,), "u64")], "permuted", {"permutation": "random"}),
                ("permute", [((64,), "u32")] * 2, "permuted", {"permutation": "random", "draws": 3}),
                ("reverse", [((8,), "u8")], "moved", {"map": ([1, 2, 4], 0)})):
            case = Case(f"{expression} 2^3", expression, arguments, check, **more)
            if expression == "reverse":
                self.assertRaisesRegex(data.Wrong, "not in its place", run.measure, case, options)
                continue
            row_found = run.measure(case, options)[1]
            self.assertTrue(row_found["verified"])
            self.assertEqual(row_found["seconds"]["runs"], contest.LEAST if not case.draws else 1)
            self.assertIsNotNone(page.beside(row_found, "copy"))

    def test_suites_run(self):
        for suite, only in (("paper", "2^14"), ("layouts", "32 x 32 u32 by optimal"),
                            ("scaling", "2^10, 2"), ("calls", "fft c64 2^10")):
            row = next(iter(self.run_suite(suite, "--only", only).values()))
            self.assertEqual((row["suite"], row["seconds"]["runs"]), (suite, contest.LEAST))
            (self.folder / f"{suite}.json").unlink()
            self.assertIn(row["name"].partition(" by ")[0], (self.folder / f"{suite}.md").read_text())

    def test_references(self):
        row = self.run_suite("padded", "--only", "10^6")["padded sort of 10^6"]
        self.assertEqual(page.beside(row, "reference")["elements"], 1 << 20)
        self.assertIn("times per element", self.out)

    def test_peers(self):
        self.peer("std_sort", 'echo "$*" >"$(dirname "$0")/said"\nwhile read -r _; do echo 1000; done\n')
        row = self.run_suite("sort", "--only", "2^10", "--threads", "2")["sort u32 2^10"]
        self.assertEqual(page.beside(row, "std_sort")["seconds"]["median"], 1000)
        self.assertIsNone(page.beside(row, "x86_simd_sort"))
        self.assertEqual((self.folder / "peers/said").read_text(), "--threads 2 --count 1024\n")

    def test_peers_that_fail(self):
        """One that does not begin is left out; one that is wrong at its end leaves no figures."""
        self.peer("x86_simd_sort", "read -r _; echo it hurts\n")
        self.peer("vqsort", "exit 1\n")
        row = self.run_suite("sort", "--only", "2^10")["sort u32 2^10"]
        self.assertEqual([each["name"] for each in row["beside"]], ["copy"])
        self.assertIn("left out: x86_simd_sort: it hurts", self.err)
        self.assertIn("left out: vqsort: the process has ended", self.err)
        self.peer("std_sort", "while read -r _; do echo 1000; done; exit 1\n")
        (self.folder / "sort.json").unlink()
        self.assertEqual(self.run_suite("sort", "--only", "2^10", status=1), {})
        self.assertIn("no figures for sort u32 2^10: std_sort: it ends with 1", self.err)

    @unittest.skipUnless(MEMCPY, "no peer is built")
    def test_a_real_peer(self):
        os.symlink(MEMCPY, self.folder / "peers/memcpy")
        row = self.run_suite("bmmc", "--only", "bit reversal u32 2^20")["bit reversal u32 2^20"]
        self.assertEqual([each["name"] for each in row["beside"]], ["copy", "memcpy"])

    def test_peers_in_python(self):
        for operation, types in (("fft", "[64]c64"), ("convolve", "[64]c64"), ("irfft", "[33]c64"), ("transpose", "[8][4]u16"), ("scan", "[99]i32"),
                                 ("sum", "[99]f32"), ("maximum", "[99]i64"), ("exp", "[9]f32"),
                                 ("sort", "[3][9]u32"), ("gather", "[64]u32")):
            player = contest.Player("numpy", [sys.executable, str(ROOT / "bench/peers/arrays.py"), "numpy",
                                              operation, types, "cpu", "1"], 1)
            self.assertGreater(player.turn(), 0)
            self.assertEqual(player.end(), "")

    def test_without_a_gpu(self):
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        self.assertEqual(self.run_suite("bmmc", "--backend", "cuda", "--only", "2^20 by tile", status=1), {})
        self.assertEqual(self.err.count("this case needs a GPU"), 8)
        self.run_suite("bmmc", "--backend", "cuda", "--only", "bit reversal u32 2^20", "--strategy", "tile",
                       status=1)
        self.assertIn("no figures for bit reversal u32 2^20:", self.err)
        self.assertNotIn("by naive", self.err)
        del os.environ["CUDA_VISIBLE_DEVICES"]
        self.run_suite("hmm", status=1)
        self.assertIn("has no such case here", self.err)


def row_of(name, seconds, suite="bmmc", **more):
    case = {"suite": suite, "name": name, "series": name, "x": 1 << 20, "elements": 1 << 20, "bytes": 8 << 20,
            "columns": 0, "passes": 1, "threads": 2, "predicted": 0, "device": "NVIDIA H200",
            "backend": "cuda", "strategy": name.rpartition(" by ")[2], "verified": "",
            "seconds": contest.figures([seconds] * 6)}
    copy = {"name": "copy", "seconds": contest.figures([1e-5] * 6), "ratio": contest.figures([seconds / 1e-5] * 6)}
    return case | {"beside": [copy]} | more


class Pages(unittest.TestCase):
    def text(self, rows):
        return page.text_of({"permc": "1", "processor": "Abacus", "compiler": "cc", "system": "s", "date": "d",
                             "rows": rows})

    def test_bmmc(self):
        text = self.text([row_of("bit reversal u32 2^20 by naive", 4e-5),
                          row_of("bit reversal u32 2^20 by tile+banks+iters", 2e-5),
                          row_of("random BMMC u32 2^20 by naive", 9e-5),
                          row_of("random BMMC u32 2^20 by tile+banks", 3e-5, passes=2)])
        self.assertIn("| naive | 0.04 ms, 4.00x a copy |  | 0.09 ms, 9.00x a copy |", text)
        self.assertIn("| all | 419 |  | 559 |", text)
        self.assertIn("| 2^20 | 2.00x |  |  |  | 3.00x |  |", text)

    def test_hmm(self):
        rows = [row_of(f"identical u32 2^16 by {way}", (i + 1) * 1e-6, "hmm")
                for i, way in enumerate(suites.HMM_WAYS)]
        rows.append(row_of("1000 random of 2^22 u32 by tiled", 2e-5, "hmm"))
        text = self.text(rows)
        self.assertIn("| identical | 2^8 | 0.86 | 0.86 | 3.87 | 1 us | 2 us | 3 us | 4 us | 10 us |", text)
        self.assertIn("| tiled | 6 | 20 us | 20 us | 20 us |", text)

    def test_rows(self):
        text = self.text([row_of("sort u32 2^20", 2e-5, "sort"), row_of("sort u32 2^10", 1, "sort", beside=[])])
        self.assertIn("NVIDIA H200; permc 1, cc; s, d\n", text)
        self.assertIn("| sort u32 2^20 | 20 us | 0.0 % | 419 | 50 % |  |\n", text)
        text = self.text([row_of(f"sort u32 2^20 by {name}", 1e-3, "layouts") for name in ("raw", "optimal")])
        self.assertIn("| optimal | 1 ms |\n", text)

    def test_results_are_as_written(self):
        """Tables in bench/results are made of the figures beside them."""
        for path in (ROOT / "bench/results").glob("*.json"):
            self.assertEqual(path.with_suffix(".md").read_text(), page.text_of(json.loads(path.read_text())))

    @unittest.skipUnless(run.importlib.util.find_spec("matplotlib"), "Matplotlib is missing")
    def test_plots(self):
        with tempfile.TemporaryDirectory() as folder:
            for i, rows in enumerate([[row_of("sort u32 2^20", 1, "sort"), row_of("sort u32 2^10", 1, "sort")],
                                      [row_of("bit reversal u32 2^20 by naive", 1), row_of("Gray code u32 2^20", 1)]]):
                path = pathlib.Path(folder) / f"{i}.svg"
                page.draw({"rows": rows}, path)
                self.assertIn("</svg>", path.read_text())


if __name__ == "__main__":
    result = unittest.main(exit=False, argv=sys.argv).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, "
          f"{len(result.skipped)} skipped")
    sys.exit(failed != 0)
