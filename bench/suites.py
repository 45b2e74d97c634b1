"""The suites of bench/run.py: each a function that gives its cases.

    case = cases("bmmc", gpus=0)[0]
    case.name                             "bit reversal u32 2^20"
    case.series                           "bit reversal u32"
    case.expression                       "bitrev"
    case.arguments                        [((1048576,), "u32")]

`gpus` is the number of GPUs, a power of two, or 0 for processors: sizes, strategies and peers depend
on it. The cases are the same on every machine, the random matrices as well.
"""
import math
import re
from dataclasses import dataclass, field

PAIR = "(u32, u32)"
BYTES = {"u8": 1, "u16": 2, "u32": 4, "i32": 4, "f32": 4, "u64": 8, "i64": 8, "c64": 8, PAIR: 8,
         "c128": 16}
LARGEST = 26  # 2^n elements: larger ones are for GPUs only
LAYOUTS = ("raw padding RAS RAP 1P R1P 3P w2P 1Pw2R fixed-xor bit-vector bit-vector-xor "
           "bitwise-givargis bitwise-mih bitwise-xor-givargis bitwise-xor-mih optimal").split()
WAYS = "naive tile tile+banks tile+banks+iters onepass online ulp".split()  # by which elements move
HMM_WAYS = ["d-designated", "s-designated", "scheduled", "tiled"]
HMM_PERMUTATIONS = ["identical", "shuffle", "random", "bit-reversal", "transpose"]

# The sorter of the BMMC paper, section 7.1: even and odd indices by themselves, then merged.
PAPER_SORTER = """paper_sort 0 xs = xs
paper_sort n xs = paper_merge n (parm 1 (paper_sort (n-1)) xs)

paper_merge 0 xs = xs
paper_merge n xs = parm (2^(n-1)) (paper_merge (n-1)) (paper_column n xs)

paper_column 0 xs = xs
paper_column 1 [x1, x2] = if x1 <= x2 then [x1, x2] else [x2, x1]
paper_column n xs = parm 3 (paper_column (n-1)) xs
"""


@dataclass
class Case:
    name: str
    expression: str
    arguments: list  # of (shape, type)
    check: str  # a function of data.py, or "interp"
    peers: list = field(default_factory=list)  # "cub --count 1024", "numpy sum [1024]f32"
    map: tuple = None  # rows over F_2, and what is added: check "moved"
    columns: int = 0  # of comparators or butterflies, on each element; 0: not counted
    threads: int = 0  # 0: as asked for
    beside: tuple = None  # (expression, arguments) of a program measured in the same rounds
    program: str = None  # a text in whose scope the expression is
    strategy: str = None
    layout: str = None
    permutation: str = None  # of the first argument
    lengths: str = None  # of rows, whose offsets are the first argument
    draws: int = 0  # that many runs, each of another random permutation
    gpu_only: bool = False  # no other backend does it instead of a GPU
    series: str = None  # a curve of a plot; else the name without its size
    x: int = 0  # where a plot has it; else the number of elements
    suite: str = ""

    def __post_init__(self):
        self.elements = math.prod(self.arguments[-1][0])
        self.bytes = sum(math.prod(shape) * BYTES[kind] for shape, kind in self.arguments)
        self.series = self.series or re.sub(r"( of)? 2\^\d+", "", self.name, count=1)
        self.x = self.x or self.elements


def types_of(arguments):
    return " ".join("".join(f"[{d}]" for d in shape) + kind for shape, kind in arguments)


# ---- maps over F_2 ------------------------------------------------------------------------------


def words(state):
    """SplitMix64 (Steele, Lea and Flood 2014), as core/random.h."""
    mask = (1 << 64) - 1
    while True:
        state = state + 0x9E3779B97F4A7C15 & mask
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        yield z ^ z >> 31


def is_invertible(rows):
    rows = list(rows)
    for _ in range(len(rows)):
        pivot = max(rows)
        if pivot == 0:
            return False
        rows.remove(pivot)
        rows = [min(r, r ^ pivot) for r in rows]
    return True


def bit_reversal(n):
    return [1 << n - 1 - i for i in range(n)], 0


def transposition(n):
    """[2^a][2^b] to [2^b][2^a], a the larger half: the low b bits become the high ones."""
    return [1 << (i + n // 2) % n for i in range(n)], 0


def gray_code(n):
    return [(3 << i) & (1 << n) - 1 for i in range(n)], 0


def random_bpc(n, number=0):
    """Bit-permute/complement: a permutation of the index bits, some of them flipped."""
    draw, order = words(1000000 * number + 3000 + n), list(range(n))
    for i in range(n, 1, -1):
        k = next(draw) % i
        order[i - 1], order[k] = order[k], order[i - 1]
    return [1 << i for i in order], next(draw) & (1 << n) - 1


def random_bmmc(n, number=0):
    """Bit-matrix-multiply/complement: any invertible matrix."""
    draw, mask = words(1000000 * number + 4000 + n), (1 << n) - 1
    while True:
        rows = [next(draw) & mask for _ in range(n)]
        if is_invertible(rows):
            return rows, next(draw) & mask


def bmmc_text(rows, added):
    return f"bmmc {rows} {added}"


# ---- suites -------------------------------------------------------------------------------------


def halves(n):
    return 1 << n - n // 2, 1 << n // 2


def network(n):
    return n * (n + 1) // 2


def sorts_beside(arguments):
    return [f"{peer} {arguments}" for peer in ("std_sort", "x86_simd_sort", "vqsort")]


def cub_type(kind):
    return "u32pair" if kind == PAIR else kind


def sort(gpus):
    for kind in ("u32", "f32", "u64", PAIR) if gpus else ("u32",):
        for n in range(10, 29 if gpus else 27, 2):
            cub = f"--count {1 << n} --type {cub_type(kind)}"
            torch = [f"torch sort [{1 << n}]{kind}"] if kind in ("u32", "f32") else []
            yield Case(f"sort {kind} 2^{n}", "sort_on fst" if kind == PAIR else "sort",
                       [((1 << n,), kind)], "sorted", columns=network(n),
                       peers=[f"cub {cub}", f"cccl {cub}"] + torch if gpus
                       else sorts_beside(f"--count {1 << n}"))


def rows(gpus):
    kinds = [("u32", range(5, 15))] + [("f32", [10]), (PAIR, [10])] * bool(gpus)
    for kind, sizes in kinds:
        for n in sizes:
            shape = (1 << 24 - n, 1 << n)
            torch = [f"torch sort {types_of([(shape, kind)])}"] if kind != PAIR else []
            cub = f"cub --count 16777216 --row {1 << n} --type {cub_type(kind)}"
            yield Case(f"sort rows of 2^{n} {kind}",
                       "map (sort_on fst)" if kind == PAIR else "map sort", [(shape, kind)],
                       "sorted", x=1 << n, columns=network(n), peers=[cub] + torch if gpus
                       else sorts_beside(f"--count 16777216 --row {1 << n}"))


def ragged(gpus):
    for kind in ("u32", PAIR) if gpus else ("u32",):
        for lengths in ("uniform", "zipf"):
            for n in range(4, 15):
                offsets = (((1 << 24 - n) + 1,), "i64")
                cub = f"cub --count 16777216 --row {1 << n} --offsets $0 --type {cub_type(kind)}"
                yield Case(f"{lengths} rows of 2^{n} {kind}",
                           "sort_ragged_on fst" if kind == PAIR else "sort_ragged",
                           [offsets, ((1 << 24,), kind)], "ragged", x=1 << n, lengths=lengths,
                           peers=[cub] if gpus else [])


def moved(series, kind, n, gpus, map, expression=None, shape=None, other=None, torch=None, **more):
    count, shape = f"--count {1 << n} --width {BYTES[kind]}", shape or (1 << n,)
    copy = f"{'cuda_memcpy' if gpus else 'memcpy'} {count}"
    torch = f"torch {torch} {types_of([(shape, 'u64' if kind == PAIR else kind)])}"
    second = torch if gpus else other and f"{other} {count}"
    return Case(f"{series} {kind} 2^{n}", expression or bmmc_text(*map), [(shape, kind)],
                "moved", map=map, peers=[copy] + [second] * bool(second),
                **more)


def bmmc(gpus):
    for n in range(20, 31 if gpus else 27, 2):
        yield moved("bit reversal", "u32", n, gpus, bit_reversal(n), "bitrev", torch="bitrev",
                    other="bit_reversal")
        yield moved("transpose", "u32", n, gpus, transposition(n), "transpose", halves(n),
                    torch="transpose")
        yield moved("random BPC", "u32", n, gpus, random_bpc(n), torch="scatter")
        yield moved("random BMMC", "u32", n, gpus, random_bmmc(n), torch="gather")
        yield moved("Gray code", "u32", n, gpus, gray_code(n), "gray", torch="gather")
    for kind in ("u8", "u16", "u64", "c128") + (PAIR,) * bool(gpus):
        for n in [28] if kind == PAIR else range(24, 29 if gpus else 25, 2):
            yield moved("bit reversal", kind, n, gpus, bit_reversal(n), "bitrev", torch="bitrev")
            yield moved("random BMMC", kind, n, gpus, random_bmmc(n), torch="gather")
    # The permutations of the paper's figures 9 to 11; it has no iterations for any matrix.
    for way in WAYS if gpus else ():
        for n in range(20, 31, 2):
            for series, map, text in (("bit reversal", bit_reversal(n), "bitrev"),
                                      ("random BPC", random_bpc(n), None),
                                      ("random BMMC", random_bmmc(n), None)):
                if (series, way) != ("random BMMC", "tile+banks+iters"):
                    yield Case(f"{series} u32 2^{n} by {way}", text or bmmc_text(*map),
                               [((1 << n,), "u32")], "moved", map=map, strategy=way)


def operation_of(expression):
    """"map fft": fft; "irfft 1000": irfft."""
    return expression.removeprefix("map ").split()[0]


def transform(gpus, name, expression, shape, kind, columns=0, count=1):
    """Beside the libraries' call of the same name: by rows where it is mapped. On a GPU that is
    cuFFT, which PyTorch calls, too."""
    types = types_of([(shape, kind)])
    libraries = ("cupy",) if gpus else ("pyfftw", "torch", "numpy", "scipy")
    return Case(name, expression, [(shape, kind)] * count, "fourier", columns=columns,
                peers=[f"{each} {operation_of(expression)} {types}" for each in libraries])


def fft(gpus):
    all = 24 if gpus else 22  # log2 of the elements of rows
    for n in range(10, 27 if gpus else 25, 2):
        yield transform(gpus, f"fft c64 2^{n}", "fft", (1 << n,), "c64", n)
    for n in range(4, 17):
        yield transform(gpus, f"fft of rows c64 2^{n}", "map fft", (1 << all - n, 1 << n), "c64", n)
    for n in (20, 22, 24, 26) if gpus else (16, 20, 24):
        yield transform(gpus, f"fft c128 2^{n}", "fft", (1 << n,), "c128", n)
    for n in (10, 16, 20, 22, 24) if gpus else (10, 16, 20):
        yield transform(gpus, f"rfft f32 2^{n}", "rfft", (1 << n,), "f32", n)
        yield transform(gpus, f"irfft f32 2^{n}", f"irfft {1 << n}", ((1 << n) // 2 + 1,), "c64", n)
    for n in (10, 11, 12, 13) if gpus else (10, 12):
        yield transform(gpus, f"fft2 c64 2^{n}", "fft2", (1 << n, 1 << n), "c64", 2 * n)
    for words, count in (("1000", 1000), ("1009", 1009), ("3 2^20", 3 << 20), ("10^6", 10**6),
                         ("2^20 + 7", (1 << 20) + 7)):
        yield transform(gpus, f"fft c64 of {words}", "fft", (count,), "c64")
    for n in (20, 22, 24) if gpus else (16, 20):
        yield transform(gpus, f"convolve c64 2^{n}", "convolve", (1 << n,), "c64", count=2)


def padded(gpus):
    for words, count, near in (("2^19 + 1", 524289, 1 << 20), ("3 2^18", 786432, 1 << 20),
                               ("10^6", 10**6, 1 << 20), ("2^20", 1 << 20, 1 << 20),
                               ("2^20 + 1", 1048577, 1 << 20), ("10^7", 10**7, 1 << 23)):
        yield Case(f"padded sort of {words}", "padded maxval sort", [((count,), "u32")],
                   "sorted", series="padded sort", columns=network((count - 1).bit_length()),
                   beside=("sort", [((near,), "u32")]))


def paper(gpus):
    for n in range(14, 27, 2):
        yield Case(f"the paper's sorter u32 2^{n}", r"\xs -> paper_sort (log2 (length xs)) xs",
                   [((1 << n,), "u32")], "sorted", program=PAPER_SORTER, columns=network(n),
                   beside=("sort", [((1 << n,), "u32")]))


def layouts(gpus):
    table = [("bit reversal u32 2^24", "bitrev", (1 << 24,), "u32", "moved", bit_reversal(24)),
             ("transpose u32 2^24", "transpose", halves(24), "u32", "moved", transposition(24)),
             ("transposes of 32 x 32 u32", "map transpose", (1024, 32, 32), "u32", "interp", None),
             ("sort u32 2^20", "sort", (1 << 20,), "u32", "sorted", None),
             ("sort rows of 2^10 u32", "map sort", (1 << 14, 1 << 10), "u32", "sorted", None),
             ("fft c64 2^20", "fft", (1 << 20,), "c64", "fourier", None)]
    for series, text, shape, kind, check, map in table:
        for layout in LAYOUTS:
            peers = [f"shared_transpose --count 1048576 --algorithm {a} --type {layout}"
                     for a in ("crsw", "srcw", "drdw") if gpus and text == "map transpose"]
            yield Case(f"{series} by {layout}", text, [(shape, kind)], check, map=map,
                       layout=layout, peers=peers)


def scan(gpus):
    folds = [("scan (+)", "sums", "scan"), ("sum", "sums", "sum"),
             ("maximum", "maximum", "maximum")]
    for text, check, name in folds:
        for kind in ("i32", "f32", "i64"):
            for n in (20, 24, 28) if gpus else (20, 24):
                count = f"--count {1 << n}"
                yield Case(f"{text} {kind} 2^{n}", text, [((1 << n,), kind)], check, threads=1,
                           peers=[f"cub_scan --algorithm {name} {count} --type {kind}",
                                  f"cuda_memcpy {count} --width 4"] if gpus
                           else [f"numpy {name} [{1 << n}]{kind}"])
    yield Case("scans of rows of 2^10 i32", "map (scan (+))", [((1 << 14, 1 << 10), "i32")],
               "sums", peers=["cuda_memcpy --count 16777216 --width 4"] * bool(gpus))


def permuted(name, kind, n, which, **more):
    return Case(name, "permute", [((1 << n,), "u32"), ((1 << n,), kind)], "permuted",
                permutation=which, **more)


def permute(gpus):
    for kind in ("u32", "u64"):
        for n in range(20, 29 if gpus else 25, 2):
            types = f"[{1 << n}]{kind}"
            yield permuted(f"permute {kind} 2^{n}", kind, n, "random",
                           peers=[f"torch gather {types}", f"torch scatter {types}",
                                  f"cuda_memcpy --count {1 << n} --width {BYTES[kind]}"] if gpus
                           else [])
    for way in HMM_WAYS if gpus else ():
        for n in range(20, 29, 2):
            yield permuted(f"permute u32 2^{n} by {way}", "u32", n, "random", strategy=way)


def hmm(gpus):
    """Tables II and III of the HMM paper."""
    for kind in ("u32", "u64") if gpus else ():
        for which in HMM_PERMUTATIONS:
            for way in HMM_WAYS:
                for n in range(16, 29, 2):
                    yield permuted(f"{which} {kind} 2^{n} by {way}", kind, n, which,
                                   strategy=way)
    for way in ("d-designated", "s-designated", "tiled") if gpus else ():
        yield permuted(f"1000 random of 2^22 u32 by {way}", "u32", 22, "random", strategy=way,
                       draws=1000)


def transpose(gpus):
    """Of lengths that are no powers of two."""
    table = [((16383, 4097), "u32"), ((16383, 16385), "u8")]
    table += [((16383, 16385), kind) for kind in ("u16", "u32", "u64", "c128")] * bool(gpus)
    for shape, kind in table + [((10**7, 7), "u32"), ((7, 10**7), "u32")]:
        types = types_of([(shape, kind)])
        count = f"--count {math.prod(shape)} --width {BYTES[kind]}"
        yield Case(f"transpose {types}".replace("]u", "] u").replace("]c", "] c"), "transpose",
                   [(shape, kind)], "transposed",
                   peers=[f"cuda_memcpy {count}", f"torch transpose {types}",
                          f"cutensor {count} --row {shape[1]}"] if gpus
                   else [f"memcpy {count}", f"numpy transpose {types}"])


def links(gpus):
    """16 MiB and 1 GiB of u32, 32 MiB and 2 GiB of c64 on each GPU."""
    for n in [each + gpus.bit_length() - 1 for each in (22, 28)] if gpus else ():
        row = f"nccl --count {1 << n} --row {(1 << n) // gpus} --algorithm"
        peers = [f"{row} alltoall", f"{row} permutes"]
        for number in range(20):
            map = random_bmmc(n, number)
            yield Case(f"random BMMC {number} u32 2^{n}", bmmc_text(*map),
                       [((1 << n,), "u32")], "moved", map=map, peers=peers)
        for text, map, shape in (("bitrev", bit_reversal(n), (1 << n,)),
                                 ("transpose", transposition(n), halves(n))):
            series = "bit reversal u32" if text == "bitrev" else "transpose u32"
            yield Case(f"{series} 2^{n}", text, [(shape, "u32")], "moved", map=map, peers=peers)
        for series, text, kind, check in (("fft", "fft", "c64", "fourier"),
                                          ("permuted fft", r"\xs -> bitrev (fft xs)", "c64", "interp"),
                                          ("fwht", "fwht", "f32", "interp"),
                                          ("sort", "sort", "u32", "sorted")):
            yield Case(f"{series} {kind} 2^{n}", text, [((1 << n,), kind)], check)


def scaling(gpus):
    for threads in (1, 2):
        series = f"{threads} thread{'s' * (threads > 1)}"
        for n in range(10, 27):
            yield Case(f"sort_network u32 2^{n}, {series}", "sort_network",
                       [((1 << n,), "u32")], "sorted", threads=threads, columns=network(n))


def calls(gpus):
    """Calls of one thread, or of the GPU, beside NumPy, PyTorch and cuFFT: bench/README.md."""
    libraries = ("cupy", "torch") if gpus else ("numpy", "torch")
    table = [("fft", "c64", (4, 10, 16, 20, 24), range(10, 29, 2), "fft", "fourier"),
             ("bitrev", "u32", (10, 16, 20, 24), (20, 24, 28), None, "moved"),
             ("bitrev", "u8", (20, 24), (28,), None, "moved"),
             ("transpose", "i32", (10, 16, 20, 24), (20, 24, 28), "transpose", "transposed"),
             ("scan (+)", "i32", (10, 16, 20, 24), (20, 24, 28), "scan", "sums"),
             ("scan (+)", "i64", (20, 24), (20, 24), "scan", "sums"),
             ("sum", "f32", (10, 16, 20, 24), (20, 24), "sum", "sums"),
             ("maximum", "f32", (20, 24), (20, 24), "maximum", "maximum"),
             ("map exp", "f32", (10, 20, 24), (20, 24), "exp", "interp"),
             ("sort", "i32", (), range(10, 29, 2), "sort", "sorted"),  # else bench/sorts.py
             ("sort", "i64", (), (10, 16, 20, 24, 28), "sort", "sorted"),
             ("argsort", "i32", (), (20, 24), "sort", "interp"),
             ("map sort", "i32", (), (20, 24), None, "sorted")]
    for text, kind, sizes, on_gpu, operation, check in table:
        for n in on_gpu if gpus else sizes:
            shape = {"transpose": halves(n), "map sort": ((1 << n) >> 10, 1 << 10)}.get(text, (1 << n,))
            types = types_of([(shape, kind)])
            yield Case(f"{text} {kind} 2^{n}", text, [(shape, kind)], check, threads=1,
                       map=bit_reversal(n) if text == "bitrev" else None,
                       peers=[f"{each} {operation} {types}" for each in libraries
                              if operation and (each != "cupy" or operation == "fft")])


@dataclass
class Suite:
    cases: object  # a function of the number of GPUs
    summary: str
    x: str = "elements"
    axis: str = "bytes per second, arguments and results"


KEYS = "elements per second"
SUITES = {
    "sort": Suite(sort, "sorting keys", "keys", KEYS),
    "rows": Suite(rows, "sorting the rows of 2^24 keys", "keys in a row", KEYS),
    "ragged": Suite(ragged, "sorting rows of unequal length, 2^24 keys", "keys in a row", KEYS),
    "bmmc": Suite(bmmc, "permutations that are affine in the index bits"),
    "fft": Suite(fft, "Fourier transforms", "elements", KEYS),
    "padded": Suite(padded, "sorting numbers of keys that are no powers of two", "keys", KEYS),
    "paper": Suite(paper, "the sorter of the BMMC paper beside sort", "keys", KEYS),
    "layouts": Suite(layouts, "exchanges by every bank layout"),
    "scan": Suite(scan, "scans, sums and maxima"),
    "permute": Suite(permute, "random permutations by schedules"),
    "hmm": Suite(hmm, "the permutations of the HMM paper by each strategy"),
    "transpose": Suite(transpose, "transposes of lengths that are no powers of two"),
    "links": Suite(links, "permutations and networks on several GPUs, as much on each as on one"),
    "scaling": Suite(scaling, "time per element and column of a sorting network", "keys",
                     "seconds per element and column"),
    "calls": Suite(calls, "calls beside NumPy, PyTorch and cuFFT"),
}


def cases(suite, gpus):
    found = list(SUITES[suite].cases(gpus))
    for case in found:
        case.suite = suite
        large = case.elements > 1 << LARGEST
        case.gpu_only = gpus > 0 and bool(large or case.strategy or suite == "links")
    return found
