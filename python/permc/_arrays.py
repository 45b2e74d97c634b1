"""Arrays of other libraries as permc takes them: their types in words, their memory, new ones for
results. A library is a row of `_libraries`; NumPy's is also that of Python's numbers.

    library = library_of([keys])
    library.type_of(keys)                    # "[4]u32"
    library.caller(compiled, [keys])         # a function of the arguments that runs the program
"""

import numpy

_words = {"bool": "bool", "int8": "i8", "uint8": "u8", "int16": "i16", "uint16": "u16",
          "int32": "i32", "uint32": "u32", "int64": "i64", "uint64": "u64", "float16": "f16",
          "float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128"}
_names = {word: name for name, word in _words.items()}
HOST = -1


def _wrong(message):
    from . import ArgumentError
    return ArgumentError(message)


def _word_of(name):
    try:
        return _words[name]
    except KeyError:
        raise _wrong(f"permc has no elements of type {name}") from None


class Library:
    """NumPy: arrays, structured arrays, tuples of arrays, and Python's numbers."""

    name = "numpy"

    # ---- types ----------------------------------------------------------------------------------

    def key(self, arguments):
        """What a program is compiled for: types and shapes, and the value of a Python int."""
        return tuple([self._key(a) for a in arguments])

    def _key(self, a):
        if isinstance(a, numpy.ndarray):
            return a.dtype, a.shape
        if isinstance(a, tuple):
            return self.key(a)
        return type(a), a

    def type_of(self, a):
        """The type in the language's words: "[8](u8, f64)"; of a Python int its value."""
        if isinstance(a, tuple):
            return "(" + ", ".join(self.type_of(part) for part in a) + ")"
        if isinstance(a, bool):
            return "bool"
        if isinstance(a, int):
            return str(a)
        if isinstance(a, float):
            return "f64"
        if isinstance(a, complex):
            return "c128"
        if not hasattr(a, "dtype"):
            raise _wrong(f"an argument is no array and no number, but of type {type(a).__name__}")
        return "".join(f"[{n}]" for n in a.shape) + self._element(a.dtype)

    def _element(self, dtype):
        if dtype.names:
            return "(" + ", ".join(self._element(dtype[name]) for name in dtype.names) + ")"
        return _word_of(dtype.name)

    def on_gpu(self, arguments):
        return False

    # ---- memory ---------------------------------------------------------------------------------

    def held(self, a, components):
        """The arrays of an argument's components, contiguous: copies where they are not."""
        if isinstance(a, tuple):
            parts = []
            for part in a:
                parts.extend(self.held(part, components[len(parts):]))
            return parts
        if not isinstance(a, numpy.ndarray):
            return [numpy.array(a, _names[components[0][0]])]
        if a.dtype.names:
            return [m for name in a.dtype.names for m in self.held(a[name], components)]
        if not a.dtype.isnative:
            a = a.astype(a.dtype.newbyteorder("="))
        return [numpy.ascontiguousarray(a)]

    def pointer(self, a):
        """Its memory for the C module: an object with a buffer, or (address, device)."""
        return a

    def new(self, word, shape, like):
        return numpy.empty(shape, _names[word])

    def stream(self, arguments):
        return 0

    # ---- calls ----------------------------------------------------------------------------------

    def caller(self, compiled, arguments):
        """A function of the arguments, and of arrays for the results or None, that runs it."""
        given, made = compiled.arguments(), compiled.results()
        names = next((a.dtype.names for a in arguments
                      if isinstance(a, numpy.ndarray) and a.dtype.names), None)

        def call(values, out):
            held = [self.held(a, components) for a, components in zip(values, given)]
            results = (self._outputs(out, made) if out is not None else
                       [[self.new(word, shape, values) for word, shape in parts] for parts in made])
            compiled.call([[self.pointer(part) for part in parts] for parts in held],
                          [[self.pointer(part) for part in parts] for parts in results],
                          self.stream(values))
            shown = [self._shown(parts, names) for parts in results]
            return shown[0] if len(shown) == 1 else tuple(shown)

        simple = (type(self) is Library and len(made) == len(made[0]) == 1 and made[0][0][1] and
                  all(isinstance(a, numpy.ndarray) and not a.dtype.names and a.dtype.isnative
                      for a in arguments))
        if not simple:
            return call
        shape, dtype = made[0][0][1], numpy.dtype(_names[made[0][0][0]])

        def call_simply(values, out):  # the same for arrays of numbers and one result, in less time
            if out is not None:
                return call(values, out)
            result = numpy.empty(shape, dtype)
            compiled.call([numpy.ascontiguousarray(a) for a in values], [result], 0)
            return result

        return call_simply

    @staticmethod
    def _outputs(out, made):
        given = out if isinstance(out, tuple) and len(made) > 1 else (out,)
        if len(given) != len(made):
            raise _wrong(f"out has {len(given)} arrays, and there are {len(made)} results")
        results = [list(o) if isinstance(o, tuple) else [o] for o in given]
        for arrays, parts in zip(results, made):
            for array, (word, shape) in zip(arrays, parts):
                if tuple(array.shape) != shape or str(array.dtype).split(".")[-1] != _names[word]:
                    raise _wrong(f"out has an array of {tuple(array.shape)} {array.dtype}, and the "
                                 f"result is one of {shape} {_names[word]}")
        return results

    def _shown(self, parts, names):
        """An array; of several components a structured array if an argument was one, else a tuple."""
        if len(parts) == 1 or names is None or len({p.shape for p in parts}) > 1:
            shown = tuple(p if p.ndim or out_of_numpy(p) else p[()] for p in parts)
            return shown[0] if len(shown) == 1 else shown
        if len(names) != len(parts):
            names = [f"f{i}" for i in range(len(parts))]
        whole = numpy.empty(parts[0].shape, [(n, p.dtype) for n, p in zip(names, parts)])
        for name, part in zip(names, parts):
            whole[name] = part
        return whole


def out_of_numpy(a):
    return not isinstance(a, numpy.ndarray)


class TorchLibrary(Library):
    """PyTorch: contiguous tensors, of the processor or of a GPU on its current stream."""

    name = "torch"

    def _key(self, a):
        if hasattr(a, "data_ptr"):
            return a.dtype, tuple(a.shape), a.device
        return super()._key(a)

    def type_of(self, a):
        if not hasattr(a, "data_ptr"):
            return super().type_of(a)
        return "".join(f"[{n}]" for n in a.shape) + _word_of(str(a.dtype).split(".")[-1])

    def on_gpu(self, arguments):
        return any(a.is_cuda for a in arguments if hasattr(a, "is_cuda"))

    def held(self, a, components):
        return [a.contiguous()] if hasattr(a, "data_ptr") else super().held(a, components)

    def pointer(self, a):
        if not hasattr(a, "data_ptr"):
            return a
        return a.data_ptr(), a.device.index if a.is_cuda else HOST

    def new(self, word, shape, like):
        import torch
        device = next(a.device for a in like if hasattr(a, "data_ptr"))
        return torch.empty(shape, dtype=getattr(torch, _names[word]), device=device)

    def stream(self, arguments):
        import torch
        for a in arguments:
            if getattr(a, "is_cuda", False):
                return torch.cuda.current_stream(a.device).cuda_stream
        return 0


_numpy = Library()
_libraries = {"numpy": _numpy, "torch": TorchLibrary()}


def library_of(arguments):
    """That of the first array which is not NumPy's, else NumPy."""
    for a in arguments:
        if not isinstance(a, numpy.ndarray):
            own = _libraries.get(type(a).__module__.partition(".")[0])
            if own is not None:
                return own
    return _numpy
