"""The Python package (python/permc): arrays in and out, errors, threads. Run with its folder on
PYTHONPATH. The last line counts: N passed, N failed, N skipped."""

import doctest
import pathlib
import sys
import threading
import unittest

try:
    import numpy
    import permc
except ImportError as missing:
    print(f"skipped: {missing}")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)


class Calls(unittest.TestCase):
    def test_array(self):
        for name in ("bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"):
            xs = (numpy.arange(37) * 17 % 23).astype(name)
            result = permc.compile("sort")(xs)
            self.assertEqual(result.dtype, xs.dtype)
            numpy.testing.assert_array_equal(result, numpy.sort(xs))

    def test_complex_and_rows(self):
        xs = numpy.random.default_rng(1).random((4, 8)) + 1j
        numpy.testing.assert_allclose(permc.compile("map fft")(xs), numpy.fft.fft(xs), rtol=1e-12)

    def test_strides_and_byte_orders_are_copied(self):
        xs = numpy.arange(20, dtype=">i4")[::-2]
        numpy.testing.assert_array_equal(permc.compile("sort")(xs), numpy.sort(xs))
        numpy.testing.assert_array_equal(permc.compile("join")(numpy.eye(4).T), numpy.eye(4).ravel())

    def test_scalars_and_tuples(self):
        xs = numpy.arange(6)
        numpy.testing.assert_array_equal(permc.compile(r"\k xs -> rotate k xs")(2, xs),
                                         numpy.roll(xs, -2))
        total, most = permc.compile(r"\xs -> (sum xs, maximum xs)")(xs)
        self.assertEqual((total, most), (15, 5))
        firsts, seconds = permc.compile(r"\p -> (fst p, snd p)")((xs, xs[::-1]))
        numpy.testing.assert_array_equal(seconds, xs[::-1])
        self.assertEqual(permc.compile("sum")(xs), 15)

    def test_structured(self):
        goods = numpy.array([(3, 1.5), (1, 2.5), (2, 0.5)], [("count", "i4"), ("weight", "f8")])
        by_weight = permc.compile("sort_on snd")(goods)
        self.assertEqual(by_weight.dtype.names, ("count", "weight"))
        numpy.testing.assert_array_equal(by_weight, numpy.sort(goods, order="weight"))

    def test_out(self):
        xs, out = numpy.array([3, 1, 2]), numpy.zeros(3, int)
        self.assertIs(permc.compile("sort")(xs, out=out), out)
        numpy.testing.assert_array_equal(out, [1, 2, 3])

    def test_empty(self):
        self.assertEqual(permc.compile("sort")(numpy.empty(0)).shape, (0,))

    def test_texts_and_files(self):
        f = permc.compile("twice : [m]i64 -> [m]i64\ntwice = map (* 2)\n", entry="twice")
        numpy.testing.assert_array_equal(f(numpy.arange(3)), [0, 2, 4])
        self.assertEqual(f.type, "[m]i64 -> [m]i64")
        self.assertIn("passes", f.explain(numpy.arange(3)))


class Mistakes(unittest.TestCase):
    def check(self, kind, words, call):
        with self.assertRaises(kind) as raised:
            call()
        self.assertIn(words, str(raised.exception))

    def test_programs(self):
        self.check(permc.ProgramError, "-e:1:", lambda: permc.compile("sort +"))
        self.check(permc.ProgramError, "power of two",
                   lambda: permc.compile("bitrev")(numpy.arange(3)))
        self.check(permc.FileError, "absent.perm", lambda: permc.compile("absent.perm"))

    def test_arguments(self):
        sort, xs = permc.compile("sort"), numpy.arange(3)
        self.check(permc.ArgumentError, "type str", lambda: sort("xs"))
        self.check(permc.ArgumentError, "elements of type", lambda: sort(numpy.array(["a"])))
        self.check(permc.Error, "", lambda: sort())
        self.check(permc.ArgumentError, "out has", lambda: sort(xs, out=numpy.zeros(4, int)))
        self.check(permc.LayoutError, "overlaps", lambda: sort(xs, out=xs))
        fixed = numpy.zeros(3, int)
        fixed.flags.writeable = False
        self.check(ValueError, "read-only", lambda: sort(xs, out=fixed))
        numpy.testing.assert_array_equal(sort(xs), xs)  # and all goes on

    def test_data(self):
        gather = permc.compile("gather")
        self.check(permc.ProgramError, "7", lambda: gather(numpy.array([0, 7]), numpy.arange(3)))
        numpy.testing.assert_array_equal(gather(numpy.array([0, 2]), numpy.arange(3)), [0, 2])


class Manual(unittest.TestCase):
    def test_examples(self):
        page = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
        text = "".join(line for line in page.read_text().splitlines(True) if line[:3] != "```")
        examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        self.assertEqual(runner.run(examples).failed, 0)
        self.assertGreater(len(examples.examples), 12)


class Threads(unittest.TestCase):
    def test_one_function(self):
        sort, wrong = permc.compile("sort"), []

        def work(seed):
            rng = numpy.random.default_rng(seed)
            for _ in range(50):
                xs = rng.integers(0, 1000, 257)
                if not numpy.array_equal(sort(xs), numpy.sort(xs)):
                    wrong.append(seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    done = unittest.main(exit=False).result
    bad = len(done.failures) + len(done.errors)
    print(f"{done.testsRun - bad - len(done.skipped)} passed, {bad} failed, {len(done.skipped)} skipped")
    sys.exit(bad != 0)
