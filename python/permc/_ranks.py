"""Functions that processes call together, each with its part of the arrays: `ranks=` of compile and
load.

    sort = permc.compile("sort", ranks=MPI.COMM_WORLD)
    sort(keys)                               # of all processes' keys, as many as this one has given

An array that is given is a part, along the first dimension; the whole array has the parts of all
processes, in order of ranks. What connects the processes is a row of `_connections`.
"""

import atexit
import contextlib
import datetime
import os
import re

import numpy

from ._arrays import (HOST, Library, Torch, _shown, _wrong, _wrong_layout, library_of,
                      numpy_type)


class Whole:
    """An array that each process has all of, the same on all: an argument that is no part."""

    def __init__(self, array):
        self.array = array


# ---- what connects processes --------------------------------------------------------------------


def _mpi4py(comm):
    from mpi4py import MPI
    return "mpi", 0, MPI._handleof(comm), 0, None


def _torch(group):
    """Messages as tensors of bytes; `group` is of processes that exchange tensors of the host."""
    import torch

    def tensor(memory):
        return torch.frombuffer(memory, dtype=torch.uint8)

    def carry(sends, receives):
        works = []
        for begin, transfers in ((group.recv, receives), (group.send, sends)):
            for rank, memory in transfers:
                with _messages_of(rank):
                    works.append((rank, begin([tensor(memory)], rank, 0)))
        for rank, work in works:
            with _messages_of(rank):
                work.wait()

    return None, group.size(), 0, group.rank(), carry


def _is_late(error):
    return re.search("timed? ?out", str(error), re.IGNORECASE)


@contextlib.contextmanager
def _messages_of(rank):
    """What PyTorch raises, as elsewhere."""
    from . import RankError
    try:
        yield
    except RuntimeError as error:
        raise RankError(f"rank {rank} " + ("did not come in time" if _is_late(error) else
                                           "ended before the others")) from error


def connect_torchrun(seconds):
    """What carries messages among the processes that torchrun has started."""
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "FATAL")  # what it prints is raised, too
    import torch.distributed
    try:
        torch.distributed.init_process_group("gloo", timeout=datetime.timedelta(seconds=seconds))
    except RuntimeError as error:
        raise TimeoutError(f"not all came within {seconds:g} s") if _is_late(error) else error
    atexit.register(torch.distributed.destroy_process_group)
    return _torch(torch.distributed.group.WORLD)[-1]


_connections = {"mpi4py": _mpi4py, "torch": _torch}


def connect(ranks):
    """The arguments of Context.use_ranks."""
    if isinstance(ranks, str):
        return ranks, 0, 0, 0, None
    if isinstance(ranks, int) and not isinstance(ranks, bool) and 0 < ranks < 2**31:
        return "threads", ranks, 0, 0, None
    for base in type(ranks).__mro__:
        known = _connections.get(base.__module__.partition(".")[0])
        if known:
            return known(ranks)
    try:
        return None, ranks.size, 0, ranks.rank, ranks.carry
    except AttributeError:
        raise _wrong("ranks: a number of threads, \"mpi\", a communicator of mpi4py, a process group "
                     "of PyTorch, or an object with rank, size and carry(sends, receives) is "
                     f"expected, not {ranks!r}") from None


# ---- parts --------------------------------------------------------------------------------------


def _is_part(a):
    return isinstance(a, numpy.ndarray) and a.ndim > 0


def _map(a, change):
    """An argument with its parts changed."""
    if isinstance(a, tuple):
        return tuple(_map(inner, change) for inner in a)
    if isinstance(a, Whole):
        return a.array
    return change(a) if _is_part(a) else a


def _types(arguments, lengths):
    """Arrays as the arguments, without memory: the first dimensions of parts are `lengths`."""
    lengths = iter(lengths)
    return [_map(a, lambda part: numpy.broadcast_to(numpy.zeros((), part.dtype),
                                                    (next(lengths), *part.shape[1:])))
            for a in arguments]


def _memory_of(array, first):
    """For the C module: the memory of a part whose first row is row `first`."""
    rows = array.size // len(array) if len(array) else 0
    return _numpy.pointer(array), first * rows, array.size


def _components(a, firsts):
    """The memory of the components of an argument; `firsts` are the first rows of the parts."""
    if isinstance(a, tuple):
        return [component for inner in a for component in _components(inner, firsts)]
    if isinstance(a, Whole):
        return _numpy._parts(a.array, None)
    if not _is_part(a):
        return _numpy._parts(a, None)
    first = next(firsts)
    return [_memory_of(component, first) for component in _numpy._parts(a, None)]


_numpy = Library()

# ---- calls --------------------------------------------------------------------------------------


class _Call:
    """A call by all processes. `lengths` are the rows of the parts of arguments and `out`, each of
    which has its place: (first row, rows of all)."""

    def __init__(self, function, arguments, out):
        self.program, self.entry = function._program, function._entry
        self.arguments = arguments
        self.out = [] if out is None else list(out) if isinstance(out, tuple) else [out]
        self.lengths = []
        for a in (*arguments, *self.out):
            _map(a, lambda part: self.lengths.append(len(part)))
        types = [_numpy.type_of(a) for a in _types(arguments, [0] * len(self.lengths))]
        self.line = f"{function.__name__} of {' '.join(types) or 'nothing'}".replace("\n", " ")
        self.line += f" to {len(self.out)} of out" if self.out else ""

    def place(self):
        """By all processes, which compare what they call: a line for people, and the program."""
        _, how, *source = self.program._origin
        text = "" if how == "define" else self.program._text or source[-1]  # it is in the line
        what = f"{self.line}\n{self.entry}\n{text}"
        self.places = self.program._context.place(what, self.lengths)
        self.types = _types(self.arguments, [whole for _, whole in self.places])
        return self

    def words(self):
        """The types of the whole arguments."""
        return " ".join(_numpy.type_of(a) for a in self.types)

    def compiled(self, function):
        """The program for such arguments."""
        key = _numpy.key(self.types)
        return function._ready.get(key) or function._keep(key, self.program._context.compile(
            self.entry, self.program.backend, self.words(), HOST))

    def _rows_of(self, length):
        """The first row and the rows that this process gets of a result: as of the first argument that
        is as long, else an equal share."""
        for own, (first, whole) in zip(self.lengths, self.places):
            if whole == length:
                return first, own
        rank, ranks = self.program._ranks
        first = length * rank // ranks
        return first, length * (rank + 1) // ranks - first

    def _new(self, word, shape):
        first, rows = self._rows_of(shape[0]) if shape else (0, 0)
        array = numpy.empty((rows, *shape[1:]) if shape else (), numpy_type(word))
        return array, first

    def _given(self, array, word, shape, places):
        """A part of `out` where that is for such a result."""
        if not isinstance(array, numpy.ndarray) or not array.dtype.isnative or not (
                array.flags.c_contiguous and array.flags.aligned):
            raise _wrong_layout("out must be an array of NumPy that is row-major without gaps, aligned, "
                                "and of this machine's byte order")
        first, rows = next(places) if array.ndim else (0, 0)
        found, = _types([array], [rows])
        if (found.dtype, found.shape) != (numpy_type(word), shape):
            raise _wrong(f"out has parts of {_numpy.type_of(found)}, and the result is of type "
                         + "".join(f"[{n}]" for n in shape) + word)
        return array, first

    def _lists(self, compiled):
        """The memory of arguments and results, and these."""
        results = compiled.results()
        firsts = iter([first for first, _ in self.places])
        given = [_components(a, firsts) for a in self.arguments]
        wanted = [part for parts in results for part in parts]
        if self.out and len(self.out) != len(wanted):
            raise _wrong(f"out has {len(self.out)} arrays, and the results are {len(wanted)}")
        places = iter(self.places[len(self.places) - sum(map(_is_part, self.out)):])
        made = iter([self._given(array, *part, places) for array, part in zip(self.out, wanted)]
                    if self.out else [self._new(*part) for part in wanted])
        made = [[next(made) for _ in parts] for parts in results]
        return given, [[_memory_of(a, first) if a.ndim else _numpy.pointer(a) for a, first in parts]
                       for parts in made], made

    def run(self, function):
        with told(self.program._context):
            compiled = self.compiled(function)
            given, memory, made = self._lists(compiled)
        compiled.call(given, memory)
        names = next((a.dtype.names for a in self.types
                      if isinstance(a, numpy.ndarray) and a.dtype.names), None)
        shown = [_shown([a for a, _ in parts], names) for parts in made]
        return shown[0] if len(shown) == 1 else tuple(shown)


@contextlib.contextmanager
def told(context):
    """What this process raises here, before it comes to the others, they are told when they meet:
    they raise RankError then, and all can go on."""
    try:
        yield
    except Exception as error:
        with contextlib.suppress(Exception):  # the first one is what is wrong
            context.refuse(str(error) or type(error).__name__)
        raise


def call(function, arguments, out):
    """What a call of a Function on ranks does. Every process makes the same calls in the same order."""
    with function._program._lock:
        with told(function._program._context):
            library = library_of(arguments)
            tensors = isinstance(library, Torch) and library.device_of(arguments) == HOST
            if not tensors and library is not library_of(()):
                raise _wrong("on ranks arrays are NumPy's, or PyTorch's in the memory of the "
                             "processor")
            this = (_TorchCall if tensors else _Call)(function, arguments, out)
        made = this.place().run(function)
        return made if out is None else out


def _place(function, arguments):
    with told(function._program._context):
        this = _Call(function, arguments, None)
        this.line = f"what is asked of {this.line}"
    return this.place()


def program_for(function, arguments):
    """The compiled program for such arguments, by all processes."""
    with function._program._lock:
        return _place(function, arguments).compiled(function)


def words_for(function, arguments):
    """The types of whole arguments, by all processes."""
    with function._program._lock:
        return _place(function, arguments).words()


class _TorchCall(_Call):
    """The same with tensors, which are arrays of NumPy as well."""

    def __init__(self, function, arguments, out):
        import torch

        def come(a):
            if isinstance(a, tuple):
                return tuple(come(inner) for inner in a)
            if isinstance(a, Whole):
                return Whole(come(a.array))
            if isinstance(a, torch.Tensor) and a.dtype == torch.bfloat16:
                return a.view(torch.int16).numpy().view(numpy_type("bf16"))
            return a.numpy() if isinstance(a, torch.Tensor) else a

        super().__init__(function, come(tuple(arguments)), come(out))

    def run(self, function):
        import torch

        def go(a):
            if isinstance(a, tuple):
                return tuple(go(inner) for inner in a)
            a = numpy.asarray(a)
            return (torch.from_numpy(a.view(numpy.int16)).view(torch.bfloat16)
                    if a.dtype.kind == "V" else torch.from_numpy(a))

        return go(super().run(function))
