"""permc for Python: programs of a combinator language over arrays, on NumPy arrays and on tensors.

    import numpy, permc
    f = permc.compile("sort")
    f(numpy.array([3, 1, 2]))              # array([1, 2, 3])

A program is compiled once for each combination of types and shapes that it is called with. Arrays
are used where they are: what is contiguous is not copied. See docs/embedding.md.
"""

import atexit
import ctypes
import functools
import importlib.util
import operator
import os
import pathlib
import re
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypedDict, Unpack

from . import _permc, _ranks
from ._arrays import (HOST, Foreign, library_of, note_writes, spelled, torch_operator,
                      without_columns)
from ._ranks import Whole

__version__: str = _permc.version
__all__ = ["compile", "load", "Settings", "Error", "ProgramError", "ArgumentError", "LayoutError",
           "DeviceError", "MissingError", "Interrupted", "FileError", "NoFileError", "RankError",
           "Program", "Function", "Whole"]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


# ---- errors -------------------------------------------------------------------------------------


class Error(Exception):
    """What went wrong. `code`: a permc_code of permc.h."""

    code = 0


class ProgramError(Error):
    """The program, or what it does with these elements, is wrong. The message has the place."""

    code = 1


class ArgumentError(Error, TypeError):
    """The program takes no such arguments: their number, type or lengths."""

    code = 2


class LayoutError(Error, ValueError):
    """The memory of an array: read-only, overlapping, not aligned."""

    code = 3


class DeviceError(Error):
    """Arrays of several devices; or CUDA failed."""

    code = 4


class MissingError(Error):
    """What a backend needs is not here."""

    code = 5


class Interrupted(Error):
    """A call was ended from elsewhere. (Ctrl-C is KeyboardInterrupt.)"""

    code = 7


class FileError(Error, OSError):
    """A file cannot be read, or holds something else."""

    code = 8


class RankError(Error):
    """A rank has failed, or is gone: the message names it."""

    code = 9


class NoFileError(FileError, FileNotFoundError):
    """There is no such file."""


_error_types = {t.code: t for t in (ProgramError, ArgumentError, LayoutError, DeviceError,
                                    MissingError, Interrupted, FileError, RankError)}


# Hints of the language and of the command line in the words of Python.
_hints = (
    (re.compile(r"no conversion is implicit: (\w+) x is the number x as .*"),
     lambda found: f"no conversion is implicit: a.astype({spelled(found[1])}) has that type; "
                   "or the program's signature names another"),
    (re.compile(r"give its value in place of its type, such as --arguments .*"),
     "a number of Python is known before the program runs, numbers and arrays of NumPy are data: "
     "int(k)"),
)


def _make_error(code, message):
    for written, here in _hints if code in (ArgumentError.code, ProgramError.code) else ():
        message = written.sub(here, message)
    return _error_types.get(code, Error)(message)


_permc.set_error_type(_make_error)


# ---- programs -----------------------------------------------------------------------------------


_BACKENDS = (None, "auto", "interp", "portable", "cpu", "cuda")


class Settings(TypedDict, total=False):
    """Keywords of compile and load."""

    backend: str | None   # "cpu", "portable", "cuda" or "interp"; None: what is best
    threads: int          # of a call on the processor, at most; 0: one for each core
    strategy: str | None  # how elements move: docs/running.md, "Strategies"
    allow_extern: bool    # the program may call functions of C
    untrusted: bool       # the program is somebody else's: docs/running.md
    fast_floats: bool     # a product and its sum may be rounded once, not twice
    externs: Mapping[str, Any]  # for its `extern` names: see Program
    ranks: Any            # what shares the arrays of calls: docs/embedding.md, "Ranks in Python"


class Program:
    """A loaded program. `entries` are its entry points, as {name: type}; `program.name` or
    `program["name"]` is the Function of one. externs: C functions for its `extern` names, each a
    function of ctypes, a cfunc of numba, or an address. What is pickled is the source."""

    def __init__(self, *, backend: str | None = None, threads: int = 0,
                 strategy: str | None = None, allow_extern: bool = False, untrusted: bool = False,
                 fast_floats: bool = False, externs: Mapping[str, Any] = {},
                 ranks: Any = None) -> None:
        self._context = _permc.Context()
        self._lock = threading.RLock()
        _programs[id(self)] = self
        # The number of this process, of how many that have parts of arrays; None: all is whole here
        self._ranks = None
        if ranks is not None:
            place = self._context.use_ranks(*_ranks.connect(ranks))
            self._ranks = None if isinstance(ranks, int) else place
        with self._told():
            if backend not in _BACKENDS:
                raise MissingError(f"there is no backend '{backend}'; " + (
                    "did you mean 'cuda'?" if backend == "gpu" else
                    f"there are {', '.join(_BACKENDS[1:])}"))
            self._context.settings(allow_extern, untrusted, threads, fast_floats, strategy)
            self._externs = dict(externs)  # they live as long as what calls them
            for name, function in self._externs.items():
                self._context.define_extern(name, *_c_function(name, function))
        self.backend = backend
        self._origin = None  # what _load made it of
        self._text = None    # that of a file
        self._second = None  # see _beside

    def _told(self):
        """Around what this process may find wrong before the others come."""
        return _ranks.told(self._context)

    def __reduce__(self):
        return _load, self._origin

    def _load_file(self, path):
        try:
            with open(path, encoding="utf-8", newline="") as file:
                text = file.read()
        except FileNotFoundError:
            try:
                return self._context.load(path)
            except FileError as error:
                raise NoFileError(error) from None
        except (OSError, ValueError):  # permc says what is wrong
            return self._context.load(path)
        self._context.load_text(path, text)
        self._text = text

    def _beside(self):
        """The same program in a context of its own, where a compiler makes nobody wait. Itself, if
        it imports files, which may have changed."""
        settings, how, *source = self._origin
        text = self._text or source[-1]
        if "import" in text or how == "load" and self._text is None:
            return self
        with self._lock:
            if self._second is None:
                how = "load_text" if how == "load" else how
                self._second = _load(settings, how, *source, *([self._text] if self._text else []))
            return self._second

    def __repr__(self) -> str:
        return f"<permc program of {', '.join(self)}>"

    @property
    def entries(self) -> dict[str, str]:
        with self._lock:
            return self._context.entries()

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __getitem__(self, entry: str) -> "Function":
        if entry not in self.entries:
            names = list(self)
            there = ", ".join(f"'{name}'" for name in names)
            raise ArgumentError(
                f"the program has no entry point '{entry}'; "
                + (f"there is {there} (choose one, as in entry='{names[0]}')" if names else
                   "it has none: main is one, and so is a function with a signature"))
        kind = RankedFunction if self._ranks is not None else \
            CallingFunction if self._externs else Function
        return kind(self, entry)

    def __getattr__(self, entry: str) -> "Function":
        if entry.startswith("_") or entry not in self.entries:
            raise AttributeError(f"the program has no entry point '{entry}'")
        return self[entry]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *filter(str.isidentifier, self)]


def _c_function(name, function):
    """The type, if that is known, and the address of what is to be a C function."""
    if isinstance(function, int):
        return None, function
    function = getattr(function, "ctypes", function)  # a cfunc of numba has it
    if not isinstance(function, ctypes._CFuncPtr):
        raise ArgumentError(f"extern '{name}': a function of ctypes, a cfunc of numba or an "
                            f"address is needed, not {type(function).__name__}")
    address = ctypes.cast(function, ctypes.c_void_p).value
    if function.argtypes is None:
        return None, address
    types = (*function.argtypes, function.restype)
    return " -> ".join(_element_type(name, t) for t in types), address


def _element_type(name, t):
    code = getattr(t, "_type_", None)
    kind = next((kind for kind, codes in _ctypes_kinds.items()
                 if isinstance(code, str) and code in codes), None)
    if kind is None:
        raise ArgumentError(f"extern '{name}' takes or returns {getattr(t, '__name__', t)}, which is "
                            "no element")
    return kind if kind == "bool" else f"{kind}{8 * ctypes.sizeof(t)}"


_ctypes_kinds = {"bool": "?", "i": "bhilq", "u": "BHILQ", "f": "fd"}


class Function:
    """An entry point. Called with arrays it is compiled for their types and shapes, once, and
    run."""

    def __init__(self, program: Program, entry: str) -> None:
        self._program, self._entry = program, entry
        self._ready = {}  # callers, by types, shapes and devices of arguments
        self._fast = _permc.Ready()  # the same for tensors of libraries that C can call
        self.__name__ = self.__qualname__ = program._label if entry == EXPRESSION else entry

    def __reduce__(self):
        return operator.getitem, (self._program, self._entry)

    def _source(self):
        """What it is made of: two of the same source and settings do the same."""
        return self._program._origin, self._program._text, self._entry

    @property
    def entries(self) -> dict[str, str]:
        """The entry points of its program, as {name: type}."""
        return self._program.entries

    @property
    def type(self) -> str:
        """The type, as the language writes it: '[2^n]a -> [2^n]a'."""
        return self._program.entries[self._entry]

    def __repr__(self) -> str:
        return f"<permc function {self.__name__} : {self.type}>"

    def __call__(self, *arguments: Any, out: Any = None) -> Any:
        """Runs it. out: an array, or a tuple of them, that the results are written to."""
        if out is not None:
            note_writes(out)
        made = self._fast(arguments, out)
        if made is not NotImplemented:
            return made
        arguments = without_columns(arguments)
        library = library_of(arguments)
        if library is Foreign:
            return Foreign.run(self, arguments, out)
        key = library.key(arguments)
        call = self._ready.get(key)
        return (call or self._prepare(library, key, arguments))(arguments, out)

    def _hint_for_numbers(self, library, arguments):
        """Where numbers of Python do not fit, and would as elements of the first array's type."""
        like = library.first(arguments)
        numbers = [a for a in arguments if type(a) in (int, float)]
        if like is None or not numbers:
            return ""
        word = library._element(like.dtype)
        types = [word if type(a) in (int, float) else library.type_of(a) for a in arguments]
        try:
            self._program._context.compile(self._entry, "interp", " ".join(types), HOST)
        except Error:
            return ""
        return (f"\nhint: a number of Python is an i64 or an f64; {spelled(word)}({numbers[0]}) "
                f"is of type {word}")

    def _prepare(self, library, key, arguments):
        try:
            return self._compile(library, key, arguments)
        except ArgumentError as error:
            with self._program._lock:
                hint = self._hint_for_numbers(library, arguments)
            if not hint:
                raise
            raise ArgumentError(f"{error}{hint}") from None

    def _compile(self, library, key, arguments):
        types = " ".join([library.type_of(a) for a in arguments])
        device, backend = library.device_of(arguments), self._program.backend
        with self._program._lock:
            call = self._ready.get(key)
            if call is not None:
                return call
            if backend is None and device == HOST:
                compiled = _Growing(self._program, self._entry, types)
            else:
                backend = "cuda" if backend is None else backend
                compiled = self._program._context.compile(self._entry, backend, types, device)
            call = self._keep(key, library.caller(compiled, arguments))
            call.program = compiled
            if isinstance(compiled, _permc.Program):
                _add_fast(self._fast, library, arguments, compiled)
            else:
                likes = library.likes(compiled)
                _add_fast(self._fast, library, likes, compiled.now, COMPILING)
                compiled.grown = functools.partial(_add_fast, self._fast, library, likes)
            return call

    def _keep(self, key, call):
        self._ready[key] = call
        if len(self._ready) > MOST_READY:
            del self._ready[next(iter(self._ready))]
        return call

    def backend(self, *arguments: Any) -> str:
        """What runs it for such arguments now: "portable", "cpu", "cuda", ..."""
        return self._program_for(arguments).backend()[0]

    def results(self, *arguments: Any) -> list[tuple[tuple[str, tuple[int, ...]], ...]]:
        """The types and shapes of the results for such arguments; of each its components."""
        return self._program_for(arguments).results()

    def _program_for(self, arguments):
        arguments = without_columns(arguments)
        library = library_of(arguments)
        key = library.key(arguments)
        return (self._ready.get(key) or self._prepare(library, key, arguments)).program

    def torch_operator(self, name: str) -> Callable[..., Any]:
        """The same as an operator of PyTorch, on tensors: torch.compile keeps permc::name."""
        return torch_operator(self, name)

    def explain(self, *arguments: Any, target: str | None = None, rules: bool = False,
                dump: str | None = None) -> str:
        """How it will run for such arguments, as text: passes over memory with their bytes and
        times. dump: instead a form of the program ("plan", "cuda", ...), a picture ("picture",
        "network.svg", ...), or "html"."""
        types, program = self._types_of(arguments), self._program
        ranks = program._ranks[1] if program._ranks and dump is None else 0
        with program._lock:
            return program._context.explain(self._entry, types, target, dump, rules, ranks)

    def _types_of(self, arguments):
        arguments = without_columns(arguments)
        library = library_of(arguments)
        return " ".join(library.type_of(a) for a in arguments)

    def draw(self, *arguments: Any, what: str = "picture") -> "Picture":
        """Its picture for such arguments, which notebooks show. what: "network" or "matrix"; if not
        given, a network of what computes, a matrix of what only moves."""
        pictures = ("picture", "network", "matrix")
        if what not in pictures:
            raise ArgumentError(f"there is no picture {what!r}, but {', '.join(pictures)}")
        picture = Picture(self.explain(*arguments, dump=what + ".svg"))
        picture.shown = self.explain(*arguments, dump=what).rstrip("\n")
        return picture


class RankedFunction(Function):
    """One that all processes call together, each with its parts of arrays."""

    def __call__(self, *arguments: Any, out: Any = None) -> Any:
        """Runs it; out: this process's parts of the results."""
        if out is not None:
            note_writes(out)
        return _ranks.call(self, arguments, out)

    def _program_for(self, arguments):
        return _ranks.program_for(self, arguments)

    def _types_of(self, arguments):
        return _ranks.words_for(self, arguments)


class CallingFunction(Function):
    """One that may call functions of Python. What these raise ctypes tells sys.unraisablehook alone,
    and goes on with any value: then the call raises it. (Of calls at once each does.)"""

    def __call__(self, *arguments: Any, out: Any = None) -> Any:
        """Runs it, as Function does."""
        _hook_callbacks()
        raised = []
        _in_call[id(raised)] = raised
        try:
            made = super().__call__(*arguments, out=out)
        finally:
            del _in_call[id(raised)]
        if raised:
            raise raised[0]
        return made


_in_call = {}  # of each call in progress of a CallingFunction, by id: what was raised in it


def _hook_callbacks():
    earlier = sys.unraisablehook
    if getattr(earlier, "of_permc", False):
        return

    def note(told):
        if _in_call and "ctypes callback" in (told.err_msg or ""):
            for raised in list(_in_call.values()):
                raised.append(told.exc_value)
        else:
            earlier(told)

    note.of_permc = True
    sys.unraisablehook = note


class Picture(str):
    """The text of an SVG picture. A session without pictures has it in letters."""

    shown = ""

    def __repr__(self) -> str:
        return self.shown

    def _repr_svg_(self) -> str:
        return str(self)


def load_ipython_extension(shell: Any) -> None:
    """%load_ext permc: a cell that begins with %%permc NAME is a program, the Program NAME."""
    def permc(line, cell):
        shell.user_ns[line.strip() or "program"] = _load({}, "load_text", "cell", cell)

    shell.register_magic_function(permc, "cell")


def _add_fast(fast, library, arguments, program, seconds=float("inf")):
    """Has C call the program with such arguments, for as many seconds of calls."""
    results = program.results()
    fast.add(library.array, library.refused(arguments, results), arguments, program,
             library.makers(results), seconds)


class _Growing:
    """A program for the processor that begins uncompiled, so that nobody waits for a C compiler.
    When its calls have taken as long as one would, it is compiled beside them."""

    def __init__(self, program, entry, types):
        self._program, self._entry, self._types = program, entry, types
        try:
            self.now = program._context.compile(entry, "portable", types, HOST)
        except MissingError:
            self.now = program._context.compile(entry, None, types, HOST)
        self._left = COMPILING  # seconds
        self._begun = threading.Lock()  # held by who compiles it

    def arguments(self):
        return self.now.arguments()

    def results(self):
        return self.now.results()

    def backend(self):
        return self.now.backend()

    def workspace_bytes(self):
        return 0  # it has its own

    def call(self, arguments, results):
        if self._left <= 0:
            return self.now.call(arguments, results)
        begin = time.perf_counter()
        self.now.call(arguments, results)
        self._left -= time.perf_counter() - begin
        if self._left <= 0 and self._begun.acquire(blocking=False):
            thread = threading.Thread(target=self._compile, daemon=True, name="permc compiles")
            _compiling[thread] = self._program._context
            thread.start()

    def _compile(self):
        try:
            program = self._program._beside()
            _compiling[threading.current_thread()] = program._context
            with program._lock:
                self.now = program._context.compile(self._entry, "cpu", self._types, HOST)
        except Interrupted:
            self._left = COMPILING  # it was not meant, but a call beside it
            self._begun.release()
        except Exception:
            pass  # it goes on as it is
        finally:
            self.grown(self.now)
            del _compiling[threading.current_thread()]


EXPRESSION = "-e"  # the entry point that an expression is
COMPILING = 0.1   # seconds that the C compiler takes, about
MOST_READY = 256  # programs that a function keeps
_compiling = {}   # threads: the contexts that they compile in


@atexit.register
def _stop_compiling():
    for thread in list(_compiling):
        while thread.is_alive():  # an interrupt is for what is in progress
            context = _compiling.get(thread)
            if context:
                context.interrupt()
            thread.join(0.01)


_programs = weakref.WeakValueDictionary()  # all, by id
_held = []                                 # those whose locks a fork has taken


def _before_fork():
    """A program in the middle of compilation would stay so in the child."""
    for thread in list(_compiling):
        if thread.is_alive():  # else it is yet to start, and waits for the lock of its program
            thread.join()
    held = [program for ref in _programs.valuerefs() if (program := ref()) is not None]
    for program in held:
        program._lock.acquire()
    _held.append(held)


def _after_fork():
    for program in _held.pop():
        program._lock.release()


def _after_fork_in_child():
    _after_fork()
    _permc.set_main_thread(threading.get_ident())


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork,
                    after_in_child=_after_fork_in_child)


def _load(settings, how, *source):
    """The Program that the method `how` of a context makes of the source."""
    for name in settings.keys() - Settings.__annotations__.keys():
        raise TypeError(f"there is no setting {name!r}, but {', '.join(Settings.__annotations__)}; "
                        "what is computed is in the program: map sort sorts each row")
    program = Program(**settings)
    with program._told():
        if how == "load":
            program._load_file(*source)
        else:
            getattr(program._context, how)(*source)
    program._origin = settings, how, *source
    program._label = source[0]
    return program


def load(path: str | os.PathLike[str], **settings: Unpack[Settings]) -> Program:
    """The program in a file. settings: backend, threads and others, which permc.Settings lists."""
    return _load(settings, "load", os.fsdecode(path))


def compile(source: str | os.PathLike[str], *, entry: str | None = None,
            **settings: Unpack[Settings]) -> Function:
    """A Function: of an expression ("sort", "map (+ 1)"), of a program's text, or of a file
    (a path, or text that ends in .perm). entry: of a text or a file; "main" if not given. settings:
    backend, threads and others, which permc.Settings lists."""
    text = os.fsdecode(source)
    if isinstance(source, os.PathLike) or text.endswith(".perm"):
        program, entry = load(text, **settings), entry or "main"
    elif entry is not None or "\n" in text:
        program, entry = _load(settings, "load_text", "text", text), entry or "main"
    else:
        program, entry = _load(settings, "define", text), EXPRESSION
    with program._told():
        return program[entry]


def _find_nvrtc():
    """That of a wheel (the extras nvrtc and nvrtc13), where the library does not look by itself."""
    for package in ("nvidia.cu13", "nvidia.cuda_nvrtc"):
        try:
            found = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            continue
        for folder in found.submodule_search_locations if found else ():
            for path in pathlib.Path(folder).glob("lib/libnvrtc.so.1[23]"):
                os.environ.setdefault("PERMC_NVRTC", str(path))


_find_nvrtc()
_permc.set_main_thread(threading.main_thread().ident)
