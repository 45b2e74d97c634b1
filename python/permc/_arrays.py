"""Arrays of other libraries as permc takes them: their types in words, their memory, new ones for
results. A library is a row of `_libraries`; NumPy's is also that of Python's numbers. Arrays of
others come and go by DLPack as NumPy's.

    library = library_of([keys])
    library.type_of(keys)                    # "[4]u32"
    library.caller(program, [keys])          # a function of the arguments that runs the program
"""

import functools
import importlib
import sys

import numpy


_words = {"bool": "bool", "int8": "i8", "uint8": "u8", "int16": "i16", "uint16": "u16",
          "int32": "i32", "uint32": "u32", "int64": "i64", "uint64": "u64", "float16": "f16",
          "bfloat16": "bf16",
          "float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128"}
_names = {word: name for name, word in _words.items()}
_order = ": numpy.unique(a, return_inverse=True)[1] numbers them in their order"
_count = ': a.astype("i8") counts in their unit'
# What makes arrays for permc of others, by NumPy's letter for their kind.
_helps = {"f": ": a.astype(numpy.float64)", "c": ": a.astype(numpy.complex128)",
          "O": ": a.astype(numpy.float64), if these are numbers",
          "U": _order, "S": _order, "T": _order, "M": _count, "m": _count}
HOST = -1
CUDA = 2        # what DLPack calls the device of memory of a GPU
ALIGNMENT = 16  # of the memory of a GPU


def _wrong(message):
    from . import ArgumentError
    return ArgumentError(message)


def _wrong_layout(message):
    from . import LayoutError
    return LayoutError(message)


def _word_of(name, kind=""):
    try:
        return _words[name]
    except KeyError:
        raise _wrong(f"permc has no elements of type {name}, but bool, integers, floats and complex "
                     "numbers" + _helps.get(kind, "")) from None


def numpy_type(word):
    """NumPy's type of that word in the language; bf16 is one of the package ml_dtypes."""
    if word == "bf16":
        try:
            import ml_dtypes
        except ImportError:
            from . import MissingError
            raise MissingError("NumPy has bf16 by the package ml_dtypes, which is not installed: "
                               "python3 -m pip install ml_dtypes, or take tensors of PyTorch, or "
                               "f32 for results: map f32") from None
        return numpy.dtype(ml_dtypes.bfloat16)
    return numpy.dtype(_names[word])


def spelled(word):
    """The type of that word as a Python program writes it."""
    return ("ml_dtypes." if word == "bf16" else "numpy.") + _names[word]


class Library:
    """NumPy: arrays, structured arrays, tuples of arrays, and Python's numbers."""

    array = numpy.ndarray

    # ---- types ----------------------------------------------------------------------------------

    def key(self, arguments):
        """What a program is compiled for: types and shapes, and the value of a Python int."""
        return tuple([self._key_of_array(a) if isinstance(a, self.array) else
                      self.key(a) if isinstance(a, tuple) else
                      (type(a), a) if isinstance(a, int) else
                      (getattr(a, "dtype", type(a)), getattr(a, "shape", ())) for a in arguments])

    def _key_of_array(self, a):
        return a.dtype, a.shape

    def type_of(self, a):
        """The type in the language's words: "[8](u8, f64)"; of a Python int its value."""
        if isinstance(a, tuple) and a:
            return "(" + ", ".join(self._type_inside(part) for part in a) + ")"
        if isinstance(a, (bool, float, complex)):
            return _word_of(numpy.asarray(a).dtype.name)
        if isinstance(a, int):
            return str(int(a))
        if not hasattr(a, "dtype") or isinstance(a, type):
            raise _wrong("an array or a number is expected, and not something of type "
                         f"{type(a).__name__}; numpy.asarray makes an array of a list")
        return "".join(f"[{n}]" for n in a.shape) + self._element(a.dtype)

    def _type_inside(self, part):
        """That of a part of a tuple, where a Python int is any."""
        if type(part) is not int:
            return self.type_of(part)
        if not -2**63 <= part < 2**63:
            raise _wrong(f"{part} is outside of i64")
        return "i64"

    def _element(self, dtype):
        if getattr(dtype, "names", None):
            return "(" + ", ".join(self._element(dtype[name]) for name in dtype.names) + ")"
        kind = getattr(dtype, "kind", "")
        name = None if kind == "V" else getattr(dtype, "name", None)
        return _word_of(name or str(dtype).split(".")[-1], kind)

    def refused(self, arguments, results):
        """Attributes and methods that must be false where C reads such arrays."""
        return ()

    def note_write(self, a):
        """Tells the library that an array is written to."""

    # ---- memory ---------------------------------------------------------------------------------

    def device(self, a):
        """HOST, or the number of the GPU whose memory an array is in."""
        return HOST

    def held(self, a):
        """An array as permc can read it: itself; a copy if it is not contiguous or not aligned."""
        if not a.dtype.isnative:
            a = a.astype(a.dtype.newbyteorder("="))
        return numpy.ascontiguousarray(a) if a.flags.aligned else a.copy()

    def pointer(self, a):
        """Its memory for the C module: an object with a buffer, or (address, device)."""
        return a if a.dtype.kind != "V" else a.view(numpy.uint16)  # bf16, which buffers do not have

    def maker(self, word, shape, like):
        """A function that makes an array for a result, where the array `like` is."""
        dtype = numpy_type(word)
        return lambda: numpy.empty(shape, dtype)

    def makers(self, results):
        """Functions of nothing that make arrays for the results of C's calls; (): C makes them."""
        return tuple([functools.partial(numpy.empty, shape, numpy_type(word))
                      for parts in results for word, shape in parts])

    def likes(self, program):
        """Arrays such as the arguments, without elements of note; (): C cannot call with them."""
        return tuple([numpy.empty(shape, numpy_type(word))
                      for parts in program.arguments() for word, shape in parts])

    def number(self, value, like):
        """A Python number as an array of the type that type_of says."""
        return numpy.array(value)

    def key_like(self, word, shape, like):
        """The key of such an array where `like` is."""
        return numpy_type(word), shape

    # ---- calls ----------------------------------------------------------------------------------

    def first(self, arguments):
        """The first of the library's arrays; None: there are numbers only."""
        for a in arguments:
            found = self.first(a) if isinstance(a, tuple) else a
            if isinstance(found, self.array):
                return found
        return None

    def device_of(self, arguments):
        like = self.first(arguments)
        return HOST if like is None else self.device(like)

    def _parts(self, a, like):
        """The memory of the components of an argument."""
        if isinstance(a, tuple):
            return [part for inner in a for part in self._parts(inner, like)]
        if isinstance(a, (numpy.ndarray, numpy.void)):
            names = a.dtype.names
            return ([part for name in names for part in self._parts(a[name], like)] if names else
                    [Library.held(self, a)])
        if isinstance(a, self.array):
            return [self.held(a)]
        if isinstance(a, int) and not isinstance(a, bool):
            return [numpy.array(a, numpy.int64)]  # known to the program, which reads it on the host
        return [self.number(a, like)]

    def caller(self, program, arguments):
        """A function of the arguments, and of arrays for the results or None, that runs it."""
        names = next((a.dtype.names for a in arguments
                      if isinstance(a, numpy.ndarray) and a.dtype.names), None)
        like, results = self.first(arguments), program.results()
        makers = [[self.maker(word, shape, like) for word, shape in parts] for parts in results]
        held, pointer, key = self.held, self.pointer, self._key_of_array
        run = self._run(program, like)

        def any_call(values, out):
            structured = isinstance(out, numpy.ndarray) and out.dtype.names
            like = self.first(values)
            given = [self._parts(a, like) for a in values]
            made = (self._outputs(out, results) if out is not None and not structured else
                    [[make() for make in parts] for parts in makers])
            run([[self._memory(part) for part in parts] for parts in given],
                [[self._memory(part) for part in parts] for parts in made])
            shown = [_shown(parts, names) for parts in made]
            shown = shown[0] if len(shown) == 1 else tuple(shown)
            return self._fill(out, shown) if structured else shown

        if names or len(results) > 1 or len(results[0]) > 1 or not results[0][0][1] or not all(
                isinstance(a, self.array) for a in arguments):
            return any_call
        make, wanted = makers[0][0], self.key_like(*results[0][0], like)

        def array_call(values, out):  # the same for arrays of numbers and one result, in less time
            if out is None:
                out = make()
            elif not isinstance(out, self.array) or key(out) != wanted or held(out) is not out:
                return any_call(values, out)
            given = [held(a) for a in values]  # copies have to live until the call
            run([pointer(a) for a in given], [pointer(out)])
            return out

        return array_call

    def _run(self, program, like):
        """A function that runs it, on lists of memory: where the library works on `like`."""
        call, size = program.call, program.workspace_bytes()
        if like is None or self.device(like) == HOST:
            return call
        stream, space = self.streams(like), self.maker("u8", (size,), like)
        if not size:
            return lambda given, made: call(given, made, stream())

        def run(given, made):
            workspace = space()
            call(given, made, stream(), self.pointer(workspace)[0], size)

        return run

    def _memory(self, part):
        return (self if isinstance(part, self.array) else _numpy).pointer(part)

    def _outputs(self, out, results):
        given = out if isinstance(out, tuple) and len(results) > 1 else (out,)
        made = [list(o) if isinstance(o, tuple) else [o] for o in given]
        if [len(arrays) for arrays in made] != [len(parts) for parts in results]:
            raise _wrong(f"out has {sum(map(len, made))} arrays, and the results are "
                         f"{sum(map(len, results))}")
        for arrays, parts in zip(made, results):
            for array, (word, shape) in zip(arrays, parts):
                if not isinstance(array, (self.array, numpy.ndarray)):
                    raise _wrong(f"out has something of type {type(array).__name__}, which is no "
                                 "array of the library that the arguments are of")
                wanted = "".join(f"[{n}]" for n in shape) + word
                if self.type_of(array) != wanted:
                    raise _wrong(f"out has an array of type {self.type_of(array)}, and the result "
                                 f"is of type {wanted}")
                if isinstance(array, numpy.ndarray):  # what else may be wrong is found by the call
                    if not array.dtype.isnative:
                        raise _wrong_layout("out has an array of another byte order")
                elif self.held(array) is not array:
                    raise _wrong_layout("out has an array that is not row-major without gaps, or "
                                        "not aligned")
        return made

    def _fill(self, out, made):
        """The structured array `out` with what has been made."""
        if self.type_of(out) != self.type_of(made):
            raise _wrong(f"out is of type {self.type_of(out)}, and the result of type "
                         f"{self.type_of(made)}")
        if not out.flags.writeable:
            raise _wrong_layout("out is read-only")
        out[...] = made
        return out


def _shown(parts, names):
    """A result of several components: a structured array if an argument was one, else a tuple."""
    if len(parts) == 1 or names is None or len({p.shape for p in parts}) > 1:
        shown = tuple(p[()] if isinstance(p, numpy.ndarray) and not p.ndim else p for p in parts)
        return shown[0] if len(shown) == 1 else shown
    if len(names) != len(parts):
        names = [f"f{i}" for i in range(len(parts))]
    whole = numpy.empty(parts[0].shape, [(n, p.dtype) for n, p in zip(names, parts)])
    for name, part in zip(names, parts):
        whole[name] = part
    return whole


class Torch(Library):
    """PyTorch: tensors of the processor, or of a GPU on its current stream."""

    def __init__(self, torch):
        self.module = self.torch = torch
        self.array = torch.Tensor

    def _key_of_array(self, a):
        if a.requires_grad and self.torch.is_grad_enabled():
            raise _wrong("a tensor requires a gradient, which permc does not make: use x.detach()")
        if a.is_nested:
            raise _wrong("a nested tensor is no array: use x.to_padded_tensor(0)")
        return a.dtype, a.shape, a.device

    def device(self, a):
        return a.device.index if a.is_cuda else HOST

    def held(self, a):
        if a.layout is not self.torch.strided:
            raise _wrong(f"a tensor of the layout {a.layout} is no array: use x.to_dense()")
        if a.is_conj() or a.is_neg():
            a = a.resolve_conj().resolve_neg()
        if not a.is_contiguous():
            a = a.contiguous()
        try:
            return a.clone() if a.data_ptr() % ALIGNMENT else a
        except RuntimeError:
            raise _wrong("a tensor has no memory, as those inside of torch.vmap: call permc on the "
                         "whole batch (map)") from None

    def note_write(self, a):  # autograd refuses what it has saved and is changed
        self.torch.autograd.graph.increment_version(a)

    def pointer(self, a):
        return a.data_ptr(), a.get_device()

    def maker(self, word, shape, like):
        dtype, empty = getattr(self.torch, _names[word]), self.torch.empty
        device = None if like is None else like.device
        return lambda: empty(shape, dtype=dtype, device=device)

    def key_like(self, word, shape, like):
        return getattr(self.torch, _names[word]), shape, like.device

    def number(self, value, like):
        dtype = getattr(self.torch, numpy.asarray(value).dtype.name)
        return self.torch.tensor(value, dtype=dtype, device=like.device)

    def likes(self, program):
        return ()

    def refused(self, arguments, results):
        words = [word for parts in results for word, _ in parts]
        words += [self._element(a.dtype) for a in arguments if isinstance(a, self.array)]
        kinds = {word[0] for word in words if word != "bool"}  # of bf16: b
        return (("requires_grad", "is_neg") if kinds & {"f", "b", "c"} else ()) + (
            ("is_conj",) if "c" in kinds else ())

    def wait(self, like):
        self.torch.cuda.current_stream(like.device).synchronize()

    def streams(self, like):
        device, raw = like.device, getattr(self.torch._C, "_cuda_getCurrentRawStream", None)
        if raw:  # the same as below without an object, which takes 3 us
            return lambda: raw(device.index)
        return lambda: self.torch.cuda.current_stream(device).cuda_stream


_operators = {}  # by name: what each is of, and the function that calls it


def torch_operator(function, name):
    """The operator permc::name of PyTorch, on tensors, as a function."""
    import torch

    what, known = function._source(), _operators.get(name)
    if known:
        if known[0] == what:
            return known[1]
        raise _wrong(f"permc::{name} is the operator of another function: choose another name")

    def run(arguments):
        made = function(*arguments)
        return list(made) if isinstance(made, tuple) else [made]

    def make_like(arguments):  # lengths may be symbols; a program is for certain ones
        arguments = [a.new_empty([int(n) for n in a.shape]) for a in arguments]
        return [torch.empty(shape, dtype=getattr(torch, _names[word]), device=arguments[0].device)
                for parts in function.results(*arguments) for word, shape in parts]

    operator = torch.library.custom_op(f"permc::{name}", run, mutates_args=(),
                                       schema="(Tensor[] arguments) -> Tensor[]")
    operator.register_fake(make_like)

    def call(*arguments):
        made = operator(list(arguments))
        return made[0] if len(made) == 1 else tuple(made)

    _operators[name] = what, call
    return call


class CuPy(Library):
    """CuPy: arrays of a GPU, on its current stream."""

    def __init__(self, cupy):
        self.module = self.cupy = cupy
        self.array = cupy.ndarray
        self.single = cupy.cuda.runtime.getDeviceCount() == 1  # then it is the current one

    def _key_of_array(self, a):
        return a.dtype, a.shape, a.data.device_id

    def device(self, a):
        return a.data.device_id

    def held(self, a):
        a = self.cupy.ascontiguousarray(a)
        return a.copy() if a.data.ptr % ALIGNMENT else a

    def pointer(self, a):
        return a.data.ptr, a.data.device_id

    def likes(self, program):
        return ()

    def maker(self, word, shape, like):
        dtype, new, device = numpy_type(word), self.array, like.device

        def make():
            with device:
                return new(shape, dtype)

        return (lambda: new(shape, dtype)) if self.single else make

    def number(self, value, like):
        with like.device:
            return self.cupy.array(value)

    def key_like(self, word, shape, like):
        return numpy_type(word), shape, like.data.device_id

    def wait(self, like):
        self.cupy.cuda.get_current_stream(like.device.id).synchronize()

    def streams(self, like):
        current, device = self.cupy.cuda.get_current_stream, like.device.id
        return (lambda: current().ptr) if self.single else lambda: current(device).ptr


def _way_to_gpu():
    """The row of PyTorch or CuPy: that which is in use, or is there."""
    for name in sorted(_rows, key=lambda name: name not in sys.modules):
        try:
            importlib.import_module(name)
            return _row(name)
        except ImportError:
            pass
    from . import MissingError
    raise MissingError("arrays of a GPU, but for PyTorch's and CuPy's, need one of these two")


class Foreign:
    """Any other library: its arrays come by DLPack as NumPy's, and results go back by it. Those of a
    GPU come as PyTorch's or CuPy's, which have its streams wait for each other."""

    @staticmethod
    def run(function, arguments, out):
        spaces = []  # the namespaces of the arrays' libraries
        ways = []    # the rows of the libraries that those of a GPU have come by

        def come(a):
            if isinstance(a, tuple):
                return tuple(come(part) for part in a)
            if not hasattr(a, "__dlpack__") or isinstance(a, numpy.ndarray):
                return a
            if not hasattr(a, "__array_namespace__"):
                raise _wrong(f"a result cannot be a {type(a).__name__}, which has no "
                             "__array_namespace__")
            spaces.append(a.__array_namespace__())
            if a.__dlpack_device__()[0] == CUDA:
                ways.append(_way_to_gpu())
                return ways[0].module.from_dlpack(a)
            if str(getattr(a, "dtype", None)).endswith("bfloat16"):  # NumPy has none by DLPack
                return numpy.asarray(a)
            return numpy.from_dlpack(a)

        def go(a):
            if isinstance(a, tuple):
                return tuple(go(part) for part in a)
            a = a if ways else numpy.asarray(a)
            bf16 = not ways and a.dtype.kind == "V"
            return (spaces[0].asarray if bf16 else spaces[0].from_dlpack)(a)

        arguments = [come(a) for a in arguments]
        if out is None:
            return go(function(*arguments))
        taken = come(out)
        function(*arguments, out=taken)
        if ways:  # the library of `out` does not know that it has to
            ways[0].wait(taken[0] if isinstance(taken, tuple) else taken)
        return out


_numpy = Library()
_rows = {"torch": Torch, "cupy": CuPy}


@functools.cache
def _row(name):
    return _rows[name](sys.modules[name])


@functools.cache
def _row_of(kind):
    """That of a type of arrays, by the module of it or of what it is derived from."""
    modules = (base.__module__.partition(".")[0] for base in kind.__mro__)
    return next((_row(name) for name in modules if name in _rows), None)


def note_writes(out):
    """Tells libraries that the arrays of `out` are written to, as their own functions do."""
    for a in out if isinstance(out, tuple) else (out,):
        if isinstance(a, tuple):
            note_writes(a)
        elif (library := _row_of(type(a))) is not None and isinstance(a, library.array):
            library.note_write(a)


# ---- columns of tables ----------------------------------------------------------------------------

@functools.cache
def _is_column(kind):
    """Whether it is of a library of tables, such as a Series of pandas or polars."""
    return any(base.__module__.partition(".")[0] in ("pandas", "polars", "pyarrow")
               for base in kind.__mro__)


def _count_nulls(a):
    """The elements that are missing; a NaN of a dtype of NumPy's is a number."""
    if not hasattr(a, "null_count"):
        return 0 if isinstance(a.dtype, numpy.dtype) else int(a.isna().sum())
    return a.null_count() if callable(a.null_count) else a.null_count


def _array_of_column(a):
    name = type(a).__name__
    if hasattr(a, "columns"):
        raise _wrong(f"a {name} is no array: give its columns one by one, as by df[\"x\"]; as rows "
                     "of one type, df.to_numpy()")
    if not hasattr(a, "to_numpy"):
        raise _wrong(f"a {name} is no array")
    nulls = _count_nulls(a)
    if nulls:
        raise _wrong(f"a {name} has {nulls} missing value{'s'[:nulls > 1]}, which permc does not "
                     "have: drop or fill them, as by dropna and fillna of pandas, drop_nulls and "
                     "fill_null of polars")
    dtype = getattr(getattr(a, "dtype", None), "numpy_dtype", None)  # of pandas' Int64 and others
    return a.to_numpy() if dtype is None else a.to_numpy(dtype=dtype)


def without_columns(arguments):
    """The arguments with an array of NumPy in place of each Series; without its index."""
    if not any(_is_column(type(a)) or isinstance(a, tuple) for a in arguments):
        return arguments
    return tuple(without_columns(a) if isinstance(a, tuple) else
                 _array_of_column(a) if _is_column(type(a)) else a for a in arguments)


def library_of(arguments):
    """That of the first array which is not NumPy's, else NumPy; Foreign: none of these."""
    for a in arguments:
        if type(a) is numpy.ndarray or isinstance(a, (int, float)):
            continue
        own = _row_of(type(a))
        if own is not None:
            return own
        if isinstance(a, tuple):
            own = library_of(a)
            if own is not _numpy:
                return own
            continue
        if isinstance(a, numpy.ma.MaskedArray):
            raise _wrong("permc would not see the mask of an array: use x.filled() or "
                         "x.compressed()")
        own = _row_of(type(a))
        if own is not None:
            return own
        if isinstance(a, (numpy.ndarray, numpy.generic, type)):
            continue
        if hasattr(a, "__dlpack__"):
            return Foreign
        if hasattr(a, "dtype"):
            raise _wrong(f"a {type(a).__name__} is no array; numpy.asarray may make one of it")
    return _numpy
