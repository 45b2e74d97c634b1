"""The Python package (python/permc): arrays in and out, errors, threads. Run with its folder on
PYTHONPATH. The last line counts: N passed, N failed, N skipped."""

import concurrent.futures
import contextlib
import copy
import ctypes
import gc
import importlib.util
import inspect
import io
import multiprocessing
import os
import pathlib
import pickle
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import tomllib
import unittest
import unittest.mock

try:
    import numpy
    import permc
except ModuleNotFoundError as missing:
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

    def test_bools_of_any_bytes(self):
        xs = numpy.array([0, 255, 2, 1] * 300, "u1").view(bool)
        right = xs.view("u1") != 0
        pairs = numpy.zeros(len(xs), [("a", bool), ("b", "i4")])
        pairs["a"] = xs
        for backend in ("interp", "portable", None):
            for source, each, part in (
                    ("id", xs, lambda a: a), ("reverse", xs, lambda a: a[::-1]),
                    ("map id", pairs, lambda a: a["a"]), ("fst", (xs, xs), lambda a: a)):
                found = part(permc.compile(source, backend=backend)(each))
                numpy.testing.assert_array_equal(found.view("u1"), right)
            self.assertEqual(permc.compile("sum . map i32", backend=backend)(xs), 900)
            self.assertEqual(permc.compile("i32", backend=backend)(xs[1]), 1)

    def test_strides_and_byte_orders_are_copied(self):
        xs = numpy.arange(20, dtype=">i4")[::-2]
        numpy.testing.assert_array_equal(permc.compile("sort")(xs), numpy.sort(xs))
        eye = numpy.eye(4)
        numpy.testing.assert_array_equal(permc.compile("join")(eye.T), eye.ravel())

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

    def test_structured_out(self):
        goods = numpy.array([(3, 1), (1, 2)], "i4, u8")
        out = numpy.zeros(2, "i4, u8")
        self.assertIs(permc.compile("sort_on fst")(goods, out=out), out)
        self.assertEqual(out.tolist(), [(1, 2), (3, 1)])
        self.assertEqual(permc.compile("id")(goods[0]), (3, 1))

    def test_empty(self):
        self.assertEqual(permc.compile("sort")(numpy.empty(0)).shape, (0,))

    def test_texts_and_files(self):
        f = permc.compile("twice : [m]i64 -> [m]i64\ntwice = map (* 2)\n", entry="twice")
        numpy.testing.assert_array_equal(f(numpy.arange(3)), [0, 2, 4])
        self.assertEqual(f.type, "[m]i64 -> [m]i64")
        self.assertIn("passes", f.explain(numpy.arange(3)))
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "two.perm"
            path.write_text("up : [m]i64 -> [m]i64\nup = sort\ndown : [m]i64 -> [m]i64\n"
                            "down = reverse . up\n")
            program = permc.load(path)
            self.assertEqual(list(program.entries), ["up", "down"])
            numpy.testing.assert_array_equal(program.down(numpy.array([1, 3, 2])), [3, 2, 1])
            numpy.testing.assert_array_equal(permc.compile(path, entry="up")(numpy.array([2, 1])),
                                             [1, 2])
            with self.assertRaises(AttributeError):
                program.across
            self.assertEqual((list(program), "up" in program), (["up", "down"], True))
            self.assertLessEqual({"up", "down"}, set(dir(program)))

    def test_copies(self):
        sort = permc.compile("sort", backend="portable")
        for same in (copy.copy(sort), copy.deepcopy(sort), pickle.loads(pickle.dumps(sort))):
            numpy.testing.assert_array_equal(same(numpy.array([2, 1])), [1, 2])
            self.assertEqual((repr(same), same.backend(numpy.arange(2))), (repr(sort), "portable"))
        self.assertEqual((sort.__name__, sort.entries), ("sort", {"-e": sort.type}))


class Externs(unittest.TestCase):
    xs = numpy.arange(8.0)

    def test_python_functions(self):
        kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int32)
        for backend in ("portable", "interp", None):
            f = permc.compile("map (\\x -> scaled x 3i32)", backend=backend,
                              externs={"scaled": kind(lambda x, k: x * k)})
            gc.collect()  # f alone holds the function
            for _ in range(3):
                numpy.testing.assert_array_equal(f(self.xs), 3 * self.xs)

    def test_functions_that_raise(self):
        kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
        for backend in ("portable", "interp", None):
            f = permc.compile("map f", backend=backend, externs={"f": kind(lambda x: 1 / (x - 3))})
            for _ in range(2):
                with self.assertRaises(ZeroDivisionError):
                    f(self.xs)
                numpy.testing.assert_array_equal(f(self.xs[4:]), 1 / (self.xs[4:] - 3))

    def test_functions_of_libraries(self):
        cbrt = ctypes.CDLL(None).cbrt
        text = 'extern "" root : f64 -> f64\nmain : [m]f64 -> [m]f64\nmain = map root\n'
        address = ctypes.cast(cbrt, ctypes.c_void_p).value
        for function in (cbrt, address):  # without a type: the program's
            f = permc.compile(text, externs={"root": function})
            numpy.testing.assert_allclose(f(self.xs), numpy.cbrt(self.xs), rtol=1e-15)
        cbrt.argtypes, cbrt.restype = [ctypes.c_float], ctypes.c_float
        with self.assertRaisesRegex(permc.ProgramError, "is declared as f64 -> f64, .* f32 -> f32"):
            permc.compile(text, externs={"root": cbrt})(self.xs)

    def test_no_functions(self):
        for function, why in (
                (abs, "a function of ctypes"), (0, "an address"),
                (ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(len), "c_char_p"),
                (ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int))(len), "LP_c_int"),
                (ctypes.CFUNCTYPE(None, ctypes.c_int)(print), "None"),
                (ctypes.CFUNCTYPE(ctypes.c_int)(int), "takes and returns")):
            with self.assertRaisesRegex(permc.ArgumentError, why):
                permc.compile("map f", externs={"f": function})

    def test_threads(self):
        f = permc.compile("map half", externs={
            "half": ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: x / 2)})
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for result in pool.map(f, [self.xs] * 40):
                numpy.testing.assert_array_equal(result, self.xs / 2)

    @unittest.skipUnless(importlib.util.find_spec("numba"), "no numba")
    def test_numba(self):
        import numba
        above = numba.cfunc("boolean(float64, float64)")(lambda x, y: x > y)
        f = permc.compile("map (\\x -> above x 2.5)", externs={"above": above})
        numpy.testing.assert_array_equal(f(self.xs), self.xs > 2.5)


class Notebooks(unittest.TestCase):
    def test_pictures(self):
        self.assertIn("<svg", permc.compile("sort_network").draw(numpy.arange(8))._repr_svg_())

    def test_magic(self):
        shell = unittest.mock.Mock(user_ns={})
        permc.load_ipython_extension(shell)
        magic, kind = shell.register_magic_function.call_args.args
        self.assertEqual((magic.__name__, kind), ("permc", "cell"))
        magic("two", "up : [m]i64 -> [m]i64\nup = sort\n")
        self.assertEqual(list(shell.user_ns["two"].entries), ["up"])


    @unittest.skipUnless(importlib.util.find_spec("IPython"), "no IPython")
    def test_session(self):
        from IPython.core.interactiveshell import InteractiveShell

        shell = InteractiveShell.instance(history_load_length=0)
        shell.run_line_magic("load_ext", "permc")
        result = shell.run_cell("%%permc two\nup : [m]i64 -> [m]i64\nup = padded maxval sort_network\n")
        result.raise_error()
        with contextlib.redirect_stdout(io.StringIO()):
            result = shell.run_cell("import numpy; two.up.draw(numpy.arange(4))")
            wrong = shell.run_cell("%%permc wrong\nup : [m]i64 -> [m]i64\nup = sort +\n")
        shapes, _ = shell.display_formatter.format(result.result)
        self.assertIn("<svg", shapes["image/svg+xml"])
        self.assertIsInstance(wrong.error_in_exec, permc.ProgramError)


class Wrapped:
    """An array of a library that permc does not know, but for DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **words):
        return self.array.__dlpack__(**words)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __array_namespace__(self):
        return Wrapped

    @staticmethod
    def from_dlpack(array):
        return Wrapped(numpy.from_dlpack(array))


class WrappedBits(Wrapped):
    """One of bf16, as JAX has it: an array of NumPy, as which DLPack does not bring it."""

    def __array__(self, dtype=None, copy=None):
        return self.array

    @staticmethod
    def asarray(array):
        return Wrapped(array)

    def __array_namespace__(self):
        return WrappedBits


class Elsewhere(Wrapped):
    """One that says that it is on a GPU."""

    def __dlpack__(self, **words):
        capsule = self.array.__dlpack__()
        point = ctypes.pythonapi.PyCapsule_GetPointer
        point.restype, point.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        tensor = ctypes.cast(point(capsule, b"dltensor"), ctypes.POINTER(ctypes.c_int32))
        tensor[2] = 2  # behind the address: the device
        return capsule


class Series:
    """As those of pandas, polars and pyarrow, by their module."""
    __module__ = "pandas"

    def __init__(self, items, dtype=numpy.dtype("i8"), **more):
        self.items, self.dtype, self.missing = numpy.array(items), dtype, numpy.zeros(len(items), bool)
        vars(self).update(more)

    def isna(self):
        return self.missing

    def to_numpy(self, dtype=None):
        return self.items if dtype is None else self.items.astype(dtype)


class Foreign(unittest.TestCase):
    def test_dlpack(self):
        xs = numpy.arange(20.0)[::-2]
        result = permc.compile("sort")(Wrapped(xs))
        numpy.testing.assert_array_equal(result.array, numpy.sort(xs))
        least, most = permc.compile(r"\p -> (fst p, snd p)")((Wrapped(xs), xs))
        self.assertIsInstance(most, Wrapped)
        out = Wrapped(numpy.zeros(10))
        if numpy.lib.NumpyVersion(numpy.__version__) < "2.1.0":  # DLPack without a flag for it
            with self.assertRaises(permc.LayoutError):
                permc.compile("sort")(Wrapped(xs), out=out)
        else:
            self.assertIs(permc.compile("sort")(Wrapped(xs), out=out), out)
            numpy.testing.assert_array_equal(out.array, numpy.sort(xs))
        for name in ("i1", "u2", "f2", "u8", "c8", "c16"):
            xs = numpy.arange(12).reshape(3, 4).astype(name)
            result = permc.compile("transpose")(Wrapped(xs))
            numpy.testing.assert_array_equal(result.array, xs.T)
            self.assertEqual(result.array.dtype, xs.dtype)
        numpy.testing.assert_array_equal(permc.compile("sum")(Wrapped(numpy.ones(3))).array, 3)

    @unittest.skipUnless(importlib.util.find_spec("ml_dtypes"), "no ml_dtypes")
    def test_bf16(self):
        import ml_dtypes
        xs = numpy.arange(-20, 20).astype(ml_dtypes.bfloat16)[::-3]
        for _ in range(3):
            found = permc.compile("sort")(xs)
            self.assertEqual(found.dtype, xs.dtype)
            numpy.testing.assert_array_equal(found, numpy.sort(xs))
        self.assertEqual(permc.compile("sum")(xs), xs.sum())
        self.assertEqual(permc.compile(r"\c xs -> map (* c) xs")(xs.dtype.type(2), xs)[3], xs[3] * 2)
        both = permc.compile("sort_on fst")(numpy.array([(2, 1.5), (1, 2.5)], [("a", "i4"),
                                                                             ("b", xs.dtype)]))
        self.assertEqual(both["b"].tolist(), [2.5, 1.5])
        wrapped = WrappedBits(xs)
        wrapped.dtype = "bfloat16"
        result = permc.compile("reverse")(wrapped)
        self.assertIsInstance(result, Wrapped)
        numpy.testing.assert_array_equal(result.array, xs[::-1])

    def test_bf16_without_its_package(self):
        with unittest.mock.patch.dict(sys.modules, {"ml_dtypes": None}):
            with self.assertRaisesRegex(permc.MissingError, "ml_dtypes"):
                permc.compile("map bf16")(numpy.ones(3))

    def test_what_is_no_array(self):
        sort = permc.compile("sort")
        for wrong in (numpy.ndarray, Foreign):
            with self.assertRaises(permc.ArgumentError):
                sort(wrong)
        sort(Wrapped(numpy.arange(3)))
        with self.assertRaises(permc.ArgumentError):
            sort(Wrapped)  # of the same module as the last
        column = unittest.mock.Mock(spec=["dtype", "shape"], dtype=numpy.dtype(int), shape=(3,))
        with self.assertRaisesRegex(permc.ArgumentError, "asarray"):
            sort(column)
        nameless = unittest.mock.Mock(spec=["__dlpack__"])
        with self.assertRaisesRegex(permc.ArgumentError, "__array_namespace__"):
            sort(nameless)

    def test_columns_of_tables(self):
        add = permc.compile("zip_with (+)")
        numpy.testing.assert_array_equal(add(Series([3, 1]), numpy.array([1, 2])), [4, 3])
        self.assertEqual(permc.compile(r"\p -> sum p.0")((Series([3, 1]), Series([1, 2]))), 4)
        self.assertIn("[2]i64", add.explain(Series([3, 1]), Series([3, 1])))
        for nulls in (2, lambda: 2):  # of pyarrow and of polars
            with self.assertRaisesRegex(permc.ArgumentError, "a Series has 2 missing values"):
                add(Series([3, 1], null_count=nulls), Series([3, 1]))
        masked = Series([3, 1], dtype=type("Int64", (), {"numpy_dtype": numpy.dtype("i4")})())
        self.assertEqual(add(masked, masked).dtype, numpy.dtype("i4"))
        with self.assertRaisesRegex(permc.ArgumentError, "a Series has 1 missing value,"):
            masked.missing[0] = True
            add(masked, masked)
        with self.assertRaisesRegex(permc.ArgumentError, "its columns one by one"):
            add(Series([1], columns=["x"]), Series([1]))

    def test_gpus_by_way_of_another_library(self):
        class OnGpu(Wrapped):
            def __dlpack_device__(self):
                return 2, 0

        way = unittest.mock.Mock()
        way.module.from_dlpack = lambda a: a.array
        with unittest.mock.patch("permc._arrays._way_to_gpu", lambda: way):
            result = permc.compile("sort")(OnGpu(numpy.array([3, 1, 2])))
            self.assertEqual(list(result.array), [1, 2, 3])
            way.wait.assert_not_called()
            out = OnGpu(numpy.zeros(3, int))
            self.assertIs(permc.compile("sort")(OnGpu(numpy.array([3, 1, 2])), out=out), out)
            self.assertEqual(list(out.array), [1, 2, 3])
            way.wait.assert_called_once()
        with unittest.mock.patch("permc._arrays._rows", {"no_such_module": None}):
            with self.assertRaises(permc.MissingError):
                permc.compile("sort")(OnGpu(numpy.array([3])))

    def test_capsules(self):
        with self.assertRaisesRegex((BufferError, RuntimeError), "device"):  # NumPy's
            permc.compile("sort")(Elsewhere(numpy.arange(3)))
        deleted = Wrapped(unittest.mock.Mock())
        deleted.array.__dlpack__ = unittest.mock.Mock(side_effect=RuntimeError("deleted"))
        deleted.array.__dlpack_device__ = lambda: (1, 0)
        with self.assertRaisesRegex(RuntimeError, "deleted"):
            permc.compile("sort")(deleted)


def functions_of(arrays):
    """DLPack's functions in C of a library whose arrays are Wrapped i4 of rank 1, as a capsule, and
    what has to live as long. `arrays`: of all that are made, by address."""
    i32, i64, p, u8 = ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p, ctypes.c_uint8

    class Tensor(ctypes.Structure):
        _fields_ = [("data", p), ("device", i32 * 2), ("rank", i32), ("kind", u8), ("bits", u8),
                    ("lanes", ctypes.c_uint16), ("dims", ctypes.POINTER(i64)), ("strides", p),
                    ("offset", ctypes.c_uint64)]

    class Managed(ctypes.Structure):
        _fields_ = [("version", i32 * 2), ("owner", p), ("deleter", p), ("flags", ctypes.c_uint64),
                    ("tensor", Tensor)]

    def describe(wrapped, out):
        a, wrapped.dims = wrapped.array, (i64 * 1)(len(wrapped.array))
        out[0] = Tensor(a.ctypes.data, (1, 0), 1, 0, 32, 1, wrapped.dims, None, 0)
        return 0

    def allocate(like, out, _, fail):
        made = Exchanged(numpy.empty(like[0].dims[0], "i4"))
        made.managed = Managed((1, 0))
        describe(made, ctypes.pointer(made.managed.tensor))
        arrays[ctypes.addressof(made.managed)] = made
        out[0] = ctypes.pointer(made.managed)
        return 0

    def to_object(managed, out):
        made = arrays.pop(ctypes.addressof(managed[0]))
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
        out[0] = id(made)
        return 0

    f, to = ctypes.PYFUNCTYPE, ctypes.POINTER
    calls = (f(i32, to(Tensor), to(to(Managed)), p, p)(allocate), f(i32, p, p)(lambda *_: -1),
             f(i32, to(Managed), to(p))(to_object), f(i32, ctypes.py_object, to(Tensor))(describe),
             f(i32, i32, i32, to(p))(lambda *_: -1))
    table = (p * 7)(1 | 3 << 32, None, *(ctypes.cast(call, p) for call in calls))
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (p, ctypes.c_char_p, p)
    return new(ctypes.addressof(table), b"dlpack_exchange_api", None), (calls, table)


class Exchanged(Wrapped):
    arrays, odd = {}, False
    __dlpack_c_exchange_api__, _ = functions_of(arrays)


class Ready(unittest.TestCase):
    """Calls on tensors whose library has DLPack's functions in C."""

    def setUp(self):
        context = permc._permc.Context()
        context.define(r"\xs -> (sort xs, map (+ 1) xs)")
        self.ready = permc._permc.Ready()
        self.xs = Exchanged(numpy.array([3, 1, 2, 9], "i4"))
        self.assertIs(self.ready((self.xs,), None), NotImplemented)
        self.ready.add(Exchanged, ("odd",), (self.xs,),
                       context.compile("-e", "portable", "[4]i32", permc._arrays.HOST), (),
                       float("inf"))

    def test_numpy(self):
        context, ready = permc._permc.Context(), permc._permc.Ready()
        context.define("sort")
        xs = numpy.array([3, 1, 2, 9])
        for seconds in (1e-12, 10.0):
            self.assertIs(ready((xs,), None), NotImplemented)
            ready.add(numpy.ndarray, (), (xs,),
                      context.compile("-e", "portable", "[4]i64", permc._arrays.HOST),
                      (lambda: numpy.empty(4, "i8"),), seconds)
            for _ in range(2):
                result = ready((xs,), None)
        self.assertEqual((list(result), result.dtype), ([1, 2, 3, 9], xs.dtype))
        xs.flags.writeable = False
        self.assertEqual(list(ready((xs,), None)), [1, 2, 3, 9])
        for other in (xs[::-1], xs[:3], xs.astype(">i8"), xs.view("u8"), xs.astype("?"),
                      xs.view([("x", "i8")]), xs.reshape(2, 2), 4, xs[0],
                      numpy.frombuffer(bytes(33), "i8", 4, 1)):
            self.assertIs(ready((other,), None), NotImplemented)
        self.assertIs(ready((xs,), numpy.empty(4, "i8")), NotImplemented)

    def test_calls(self):
        for _ in range(3):
            ordered, more = self.ready((self.xs,), None)
            self.assertEqual((list(ordered.array), list(more.array)), ([1, 2, 3, 9], [4, 2, 3, 10]))
        self.assertEqual(Exchanged.arrays, {})
        out = more, ordered
        self.assertIs(self.ready((self.xs,), out)[0], more)
        self.assertEqual(list(more.array), [1, 2, 3, 9])
        with self.assertRaises(permc.LayoutError):
            self.ready((self.xs,), (more, more))

    def test_others_go_the_long_way(self):
        odd = Exchanged(self.xs.array)
        odd.odd = True
        for arguments, out in (((odd,), None), ((Exchanged(self.xs.array[:3]),), None),
                               ((self.xs, self.xs), None), ((), None), ((self.xs.array,), None),
                               ((self.xs,), self.xs), ((self.xs,), (self.xs, 3)),
                               ((self.xs,), (self.xs, Exchanged(self.xs.array[1:])))):
            self.assertIs(self.ready(arguments, out), NotImplemented)


@unittest.skipUnless(importlib.util.find_spec("torch"), "no PyTorch")
class Tensors(unittest.TestCase):
    def test_tensors(self):
        import torch
        sort, xs = permc.compile("sort"), torch.randint(0, 1000, (1001,))
        for each in (xs, xs[1:], xs[::2], xs.to(torch.float16), xs.to(torch.bfloat16)):
            self.assertTrue(torch.equal(sort(each), torch.sort(each)[0]))
        out = torch.empty_like(xs)
        self.assertIs(sort(xs, out=out), out)
        self.assertTrue(torch.equal(out, torch.sort(xs)[0]))
        total, rest = permc.compile(r"\c xs -> (sum xs, map (* c) xs)")(2.0, xs.double())
        self.assertTrue(total.item() == xs.sum() and torch.equal(rest, xs * 2.0))
        turned = (torch.arange(5.0) * 1j).conj()
        for backend in (None, "portable"):  # the second is called by C from the second call on
            reverse = permc.compile("reverse", backend=backend)
            for each in (turned.resolve_conj(), turned.resolve_conj() + 1, turned):
                self.assertTrue(torch.equal(reverse(each), each.flip(0)))
        derived = type("Derived", (torch.Tensor,), {})
        self.assertTrue(torch.equal(sort(xs.as_subclass(derived)), torch.sort(xs)[0]))
        freed = torch.arange(3)
        freed.untyped_storage().resize_(0)
        for wrong in (torch.randn(4, requires_grad=True), torch.zeros(3).to_sparse(), freed,
                      torch.zeros(3, device="meta"), torch.zeros(3, dtype=torch.float8_e5m2)):
            with self.assertRaises(permc.ArgumentError):
                sort(wrong)
        with self.assertRaisesRegex(permc.ArgumentError, "nested"):
            sort(torch.nested.nested_tensor([torch.arange(2), torch.arange(3)]))
        with self.assertRaisesRegex(permc.ArgumentError, "torch.vmap"):
            torch.vmap(sort)(torch.zeros(2, 3))
        with self.assertRaises(permc.ArgumentError):
            sort(xs.numpy(), out=out)
        with self.assertRaises(permc.LayoutError):
            sort(xs, out=torch.empty((1001, 2), dtype=torch.int64)[:, 0])

    def test_bf16(self):
        import torch
        bits = torch.arange(65536, dtype=torch.int32).to(torch.int16)  # every bf16
        xs = bits.view(torch.bfloat16)
        numbers = xs[~xs.isnan()]
        narrow = permc.compile("map bf16")
        for backend in ("portable", None):  # the second is called by C from the second call on
            half = permc.compile(r"map (\x -> x * x + x / 3)", backend=backend)
            wide, double = permc.compile("map f32", backend=backend), permc.compile("map (* 2)")
            for _ in range(3):
                self.assertTrue(torch.equal(wide(numbers), numbers.float()))
                self.assertTrue(torch.equal(double(numbers).view(torch.int16),
                                            (numbers * 2).view(torch.int16)))
                found, expected = half(numbers), numbers * numbers + numbers / 3
                self.assertTrue(torch.equal(found.nan_to_num(7), expected.nan_to_num(7)))
            out = torch.empty_like(numbers)
            self.assertIs(half(numbers, out=out), out)
            middle = numbers.float() * (1 + 2**-8)  # of two of them, and beside it
            for each in (middle, middle.nextafter(torch.tensor(9e99)), -middle):
                self.assertTrue(torch.equal(narrow(each), each.bfloat16()))

    def test_writes_are_counted(self):
        import torch
        sort, both = permc.compile("sort"), permc.compile(r"\xs -> (sort xs, reverse xs)")
        xs = torch.tensor([3.0, 1.0, 2.0])
        for write in (lambda y: sort(xs, out=y), lambda y: sort(xs, out=y),  # then by C
                      lambda y: both(xs, out=(torch.empty(3), y))):
            w = torch.ones(3, requires_grad=True)
            y = w * 2
            z = (y * y).sum()
            write(y.detach())
            with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
                z.backward()

    def test_operators_of_one_name(self):
        import torch
        xs = torch.tensor([2, 1])
        up = permc.compile("sort").torch_operator("one_name")
        self.assertIs(permc.compile("sort").torch_operator("one_name"), up)
        for other in (permc.compile("reverse"), permc.compile("sort", backend="portable")):
            with self.assertRaisesRegex(permc.ArgumentError, "permc::one_name is the operator"):
                other.torch_operator("one_name")
        self.assertEqual(up(xs).tolist(), [1, 2])

    def test_operator(self):
        import torch
        both = permc.compile(r"\xs -> (sort xs, sum xs)").torch_operator("both")
        sort = permc.compile("sort").torch_operator("sort_test")

        def model(x):
            least, total = both(x * 2)
            return sort(-least) + total

        x = torch.randperm(64).double()
        compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
        self.assertTrue(torch.equal(compiled(x), model(x)))
        torch.library.opcheck(torch.ops.permc.both.default, ([x],))


class Mistakes(unittest.TestCase):
    def check(self, kind, words, call):
        with self.assertRaises(kind) as raised:
            call()
        self.assertIn(words, str(raised.exception))

    def test_programs(self):
        self.check(permc.ProgramError, "-e:1:", lambda: permc.compile("sort +"))
        for text in ("sort\0", "sort\ud800", "main = 1\n-- \ud800"):
            self.check(permc.Error, "", lambda: permc.compile(text))
        self.check(permc.ArgumentError, "without NUL", lambda: permc.load("a\0.perm"))
        self.check(permc.ProgramError, "power of two",
                   lambda: permc.compile("bitrev")(numpy.arange(3)))
        self.check(permc.FileError, "absent.perm", lambda: permc.compile("absent.perm"))
        self.check(permc.FileError, "absent", lambda: permc.compile(pathlib.Path("absent")))
        self.check(FileNotFoundError, "absent.perm", lambda: permc.load("absent.perm"))
        self.check(permc.FileError, "a folder", lambda: permc.load("."))
        self.check(permc.ArgumentError, "there is 'up'", lambda: permc.compile(
            "up : [m]a -> [m]a\nup xs = xs\n", entry="down"))
        self.check(permc.ArgumentError, "it has none: main is one",
                   lambda: permc.compile("f x = x", entry="g"))
        for name, words in ("gpu", "did you mean 'cuda'?"), ("tpu", "there are auto, interp"):
            self.check(permc.MissingError, words, lambda: permc.compile("sort", backend=name))
        for words in ({"threads": -1}, {"threads": "2"}, {"bakend": "cpu"}):
            self.check(TypeError, "", lambda: permc.compile("sort", **words))
        self.check(TypeError, "no setting 'axis'", lambda: permc.compile("sort", axis=1))

    def test_arguments(self):
        sort, xs = permc.compile("sort"), numpy.arange(3)
        self.check(permc.ArgumentError, "type str", lambda: sort("xs"))
        self.check(permc.ArgumentError, "elements of type", lambda: sort(numpy.array(["a"])))
        for array, words in ((numpy.array([1.0], object), "if these are numbers"),
                             (numpy.array(["a"]), "unique"), (numpy.zeros(1, "M8[D]"), '"i8"'),
                             (numpy.zeros(1, "c32"), "complex128"),
                             (numpy.zeros(1, [("a", "f4", 3)]), "complex numbers")):
            with self.assertRaises(permc.ArgumentError) as raised:
                sort(array)
            self.assertIn(words, str(raised.exception))
        self.assertTrue(str(raised.exception).endswith("complex numbers"))  # nothing helps
        first = permc.compile("main : int -> [m]f64 -> []f64\nmain = take")
        self.check(permc.ProgramError, "int(k)", lambda: first(numpy.int64(2), numpy.ones(3)))
        self.check(permc.ArgumentError, "a.astype(numpy.float64)",
                   lambda: first(2, numpy.zeros(2, numpy.float32)))
        self.check(permc.ArgumentError, "1 parameter", lambda: sort())
        self.check(permc.ArgumentError, "1 parameter", lambda: sort(xs, xs))
        self.check(TypeError, "axis", lambda: sort(xs, axis=0))
        self.check(permc.ArgumentError, "i64", lambda: sort(2**70))
        self.check(permc.ArgumentError, "must be []t1, but the data is i64", lambda: sort(3))
        self.check(permc.ArgumentError, "must be []t1, but", lambda: sort.explain(3))
        self.check(permc.ArgumentError, "i64", lambda: sort((2**70, xs)))
        halves, scale = numpy.ones(3, "f2"), permc.compile(r"\c xs -> map (* c) xs")
        for number in (2, 2.0):
            self.check(permc.ArgumentError, f"numpy.float16({number}) is of type f16",
                       lambda: scale(number, halves))
        self.assertEqual(scale(numpy.float16(2), halves).tolist(), [2, 2, 2])
        with self.assertRaises(permc.ArgumentError) as raised:  # no number would do
            scale(2, numpy.ones((2, 2)))
        self.assertNotIn("numpy.", str(raised.exception))
        self.check(permc.ArgumentError, "dimensions", lambda: sort(numpy.zeros((1,) * 17)))
        self.check(permc.ArgumentError, "mask", lambda: sort(numpy.ma.array(xs, mask=xs > 1)))
        for wrong in (None, [3, 1], (), ([1], 2), b"xs", (3, 1), numpy.array(3), 1j,
                      *(numpy.zeros(3, name) for name in
                        ("O", "M8[s]", "m8[s]", "S1", "V3", "g", "3i4, f4"))):
            with self.subTest(repr(wrong)):
                self.check(permc.ArgumentError, "", lambda: sort(wrong))
        self.check(permc.ArgumentError, "out has", lambda: sort(xs, out=numpy.zeros(4, int)))
        for wrong in ([0], 5, (xs, xs), numpy.zeros(3), numpy.zeros(3, "i8, i8"), Wrapped(xs)):
            self.check(permc.ArgumentError, "", lambda: sort(xs, out=wrong))
        self.check(permc.LayoutError, "byte order", lambda: sort(xs, out=numpy.zeros(3, ">i8")))
        self.check(permc.LayoutError, "overlaps", lambda: sort(xs, out=xs))
        fixed = numpy.zeros(3, int)
        fixed.flags.writeable = False
        self.check(permc.LayoutError, "read-only", lambda: sort(xs, out=fixed))
        self.check(permc.LayoutError, "row-major", lambda: sort(xs, out=numpy.zeros(6, int)[::2]))
        numpy.testing.assert_array_equal(sort(xs), xs)  # and all goes on

    def test_data(self):
        gather = permc.compile("gather")
        self.check(permc.ProgramError, "7", lambda: gather(numpy.array([0, 7]), numpy.arange(3)))
        numpy.testing.assert_array_equal(gather(numpy.array([0, 2]), numpy.arange(3)), [0, 2])


class Annotations(unittest.TestCase):
    def test_all_have_them(self):
        public = [getattr(permc, name) for name in permc.__all__]
        functions = [f for f in public if inspect.isfunction(f)] + [
            f for c in (permc.Program, permc.Function) for name, f in vars(c).items()
            if inspect.isfunction(f) and (name == "__call__" or name[0] != "_")]
        self.assertGreater(len(functions), 6)
        for f in functions:
            with self.subTest(f.__qualname__):
                self.assertTrue(f.__doc__)
                words = inspect.get_annotations(f)
                self.assertEqual(set(words),
                                 {"return", *inspect.signature(f).parameters} - {"self"})

    def test_names(self):
        self.assertEqual(dir(permc), sorted([*permc.__all__, "__version__"]))

    def test_version(self):
        text = (pathlib.Path(__file__).parents[2] / "pyproject.toml").read_text()
        self.assertEqual(tomllib.loads(text)["project"]["version"], permc.__version__)

    def test_settings(self):
        self.assertEqual(set(permc.Settings.__annotations__),
                         set(inspect.signature(permc.Program).parameters))


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

    def test_compiles_at_once(self):
        wrong = []

        def work(seed):
            xs = numpy.random.default_rng(seed).integers(0, 1000, 50 + seed % 3)
            for f in (shared, permc.compile(r"\xs -> (sort xs, maximum xs)")):
                if f(xs)[1] != xs.max():
                    wrong.append(seed)

        shared = permc.compile(r"\xs -> (sort xs, maximum xs)")
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_others_run(self):
        slow = permc.compile("map (* 3) . sort", backend="interp")
        xs = numpy.random.default_rng(1).random(1 << 16)
        slow(xs)

        def counted():  # milliseconds, about, that this thread has run beside a call
            thread, count = threading.Thread(target=slow, args=(xs,)), 0
            thread.start()
            while thread.is_alive():
                thread.join(0.001)
                count += 1
            return count

        self.assertTrue(any(counted() > 3 for _ in range(5)))

    def test_fork(self):
        f, xs = permc.compile("sort . map (* 5)"), numpy.arange(100_000)[::-1].copy()
        with unittest.mock.patch("permc.COMPILING", 1e-9):
            f(xs)  # a thread begins to compile it
        child = multiprocessing.get_context("fork").Process(
            target=lambda: sys.exit(int(f(xs)[1] != 5 or f(xs[:7])[6] != xs[0] * 5)))
        child.start()
        child.join(60)
        child.kill()
        self.assertEqual(child.exitcode, 0)
        numpy.testing.assert_array_equal(f(xs), xs[::-1] * 5)

    def test_fork_in_calls(self):
        sort, xs, ended = permc.compile("sort"), numpy.arange(16)[::-1].copy(), threading.Event()

        def work():
            while not ended.is_set():
                sort(xs)

        def compile_all():
            for i in range(10**6):
                if ended.is_set():
                    return
                programs[i % 2](xs[:1 + i // 2 % 10])

        programs = [permc.compile("sort . reverse"), permc.compile("sort_on (* 3)", backend="cpu")]
        threads = [threading.Thread(target=work), threading.Thread(target=compile_all)]
        for thread in threads:
            thread.start()
        status = []
        for i in range(20):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                os._exit(int(any(f(xs)[0] or f(xs[i % 5:])[0] for f in (sort, *programs))))
            status.append(os.waitpid(child, 0)[1])
        ended.set()
        for thread in threads:
            thread.join()
        self.assertEqual(status, [0] * 20)

    def test_compiled_beside_the_calls(self):
        xs, f = numpy.arange(100)[::-1], permc.compile("sort_on (* 3)")
        with unittest.mock.patch("permc.COMPILING", 1e-9):
            numpy.testing.assert_array_equal(f(xs), xs[::-1])
            for thread in list(permc._compiling):
                thread.join()
        self.assertIn(f.backend(xs), ("cpu", "portable"))  # without a C compiler: portable
        numpy.testing.assert_array_equal(f(xs), xs[::-1])

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_nobody_waits_for_a_compiler(self):
        with tempfile.TemporaryDirectory() as folder:
            go, program = pathlib.Path(folder) / "go", pathlib.Path(folder) / "p.perm"
            slow = pathlib.Path(folder) / "slow"
            slow.write_text('#!/bin/sh\nif [ "$1" != --version ]; then\n'
                            f'  until [ -e "{go}" ]; do sleep 0.02; done\nfi\nexec cc "$@"\n')
            slow.chmod(0o755)
            program.write_text("main : [m]i64 -> [m]i64\nmain = reverse . map (* 7)\n")
            environment = {"PERMC_CC": str(slow), "PERMC_CACHE": folder}
            with unittest.mock.patch("permc.COMPILING", 1e-9), \
                    unittest.mock.patch.dict(os.environ, environment):
                f = permc.compile(program)
                f(numpy.arange(4))
                program.write_text("main : [m]i64 -> [m]i64\nmain = id\n")  # f stays what it was
                threads = list(permc._compiling)
                numpy.testing.assert_array_equal(f(numpy.arange(3)), [14, 7, 0])
                self.assertTrue(threads and all(thread.is_alive() for thread in threads))
                go.touch()
                for thread in list(permc._compiling):
                    thread.join()
            self.assertEqual(f.backend(numpy.arange(4)), "cpu")
            numpy.testing.assert_array_equal(f(numpy.arange(4)), [21, 14, 7, 0])

    def test_interrupt(self):
        slow = permc.compile("map (* 3) . sort . map (* 5)", backend="interp")
        xs = numpy.random.default_rng(1).random(1 << 21)
        slow(xs[:8])
        signal.signal(signal.SIGINT, signal.default_int_handler)  # as notebooks do
        main = threading.main_thread().ident
        threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            for _ in range(100):
                slow(xs)
        numpy.testing.assert_array_equal(slow(xs[:8]), numpy.sort(xs[:8] * 5) * 3)

        heard, xs = [], xs[:1 << 15]  # a handler that raises nothing: the call comes to its end
        signal.signal(signal.SIGINT, lambda *signal: heard.append(signal))
        threading.Timer(0.01, signal.pthread_kill, (main, signal.SIGINT)).start()
        while not heard:
            numpy.testing.assert_array_equal(slow(xs), numpy.sort(xs * 5) * 3)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def test_memory_stays(self):
        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        xs, count = numpy.arange(1000), 10_000 if os.environ.get("PERMC_ALL") else 30
        for i in range(2 * count):
            if i == count:
                before = peak()
            permc.compile("sort")(xs)
        self.assertLess(peak() - before, 3000)  # KiB, of 30 contexts or more


class Transforms(unittest.TestCase):
    """Errors that stdlib/fft.perm and dct.perm state; NumPy is the judge, in long double where it can."""

    def test_errors(self):
        wide = numpy.complex128 if numpy.fft.fft(numpy.ones(1, numpy.clongdouble)).dtype == "c16" else numpy.clongdouble
        draw = numpy.random.default_rng(1)
        for length, bounds in ((2**14, (3e-7, 5e-16)), (2**3 * 3**3 * 7 * 13, (3e-7, 5e-16)), (1009, (4e-7, 1e-15))):
            xs = draw.standard_normal(length) + 1j * draw.standard_normal(length)
            for kind, real, bound in zip("c8 c16".split(), "f4 f8".split(), bounds):
                zs, reals, half = xs.astype(kind), xs.real.astype(real), xs[: length // 2 + 1].astype(kind)
                for source, data, right in (
                        ("fft", zs, numpy.fft.fft(zs.astype(wide))), ("ifft", zs, numpy.fft.ifft(zs.astype(wide))),
                        ("rfft", reals, numpy.fft.fft(reals.astype(wide))[: length // 2 + 1]),
                        (f"irfft {length}", half, numpy.fft.irfft(half.astype(wide), length))):
                    found = permc.compile(source, backend="portable")(data)
                    self.assertEqual((found.shape, found.dtype), (right.shape, real if "irfft" in source else kind))
                    self.assertLess(numpy.linalg.norm(found - right), bound * numpy.linalg.norm(right), (source, length))

    def test_examples(self):
        examples = pathlib.Path(__file__).parents[2] / "examples"
        with tempfile.TemporaryDirectory() as folder:
            def run(script, *words):
                process = subprocess.run([sys.executable, examples / script, *words], cwd=folder, text=True, capture_output=True)
                self.assertEqual((process.returncode, process.stderr), (0, ""))
                return process.stdout

            self.assertEqual(run("product.py", "3000"), "3000 digits by 3000: 1000 digits to the base 1000000, right\n")
            self.assertIn("right", run("product.py"))
            self.assertEqual(run("wav_spectrum.py"), "  440.0 Hz   -8.0 dB\n  550.0 Hz  -12.0 dB\n  660.0 Hz  -16.5 dB\n")
            self.assertIn("<polyline", pathlib.Path(folder, "spectrum.svg").read_text())


if __name__ == "__main__":
    done = unittest.main(exit=False).result
    bad = len(done.failures) + len(done.errors)
    skipped = len(done.skipped)
    print(f"{done.testsRun - bad - skipped} passed, {bad} failed, {skipped} skipped")
    sys.exit(bad != 0)
