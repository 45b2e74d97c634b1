"""What the cases of a suite are given, and what their results must be. Nothing here sorts, moves or
transforms as permc does.

    given = make(case)                  a list of arrays: of a pair, both parts
    why = check(case, given, found)     "sorted, same elements", or Wrong: "row 3 is not in order"
"""
import numpy as np

from suites import PAIR, operation_of


class Wrong(Exception):
    pass


# ---- data ---------------------------------------------------------------------------------------


def dtype(kind):
    return np.dtype(kind[0] + str(int(kind[1:]) // 8))


def random(shape, kind, seed=1):
    """Numbers of all bits; floats from 0 to 1."""
    draw, count, type = np.random.default_rng(seed), int(np.prod(shape)), dtype(kind)
    if kind[0] == "c":
        numbers = draw.random(2 * count, f"f{type.itemsize // 2}").view(type)
    elif kind[0] == "f":
        numbers = draw.random(count, type)
    else:
        numbers = np.frombuffer(draw.bytes(count * type.itemsize), type)
    return numbers.reshape(shape)


def images(map, count):
    """Where each element goes by the rows of a matrix over F_2, and what is added."""
    rows, added = map
    places = np.array([added], np.uint32)
    for i in range(count.bit_length() - 1):
        column = sum((row >> i & 1) << k for k, row in enumerate(rows))
        places = np.concatenate([places, places ^ np.uint32(column)])
    return places


def permutation(name, count, seed=1):
    """Those of the HMM paper (section IV), whose count is 2^n; and random ones."""
    n = count.bit_length() - 1
    if name == "random":
        return np.random.default_rng(seed).permutation(count).astype(np.uint32)
    image = {"identical": lambda i: i, "shuffle": lambda i: (i + 1) % n,
             "bit-reversal": lambda i: n - 1 - i, "transpose": lambda i: (i + n // 2) % n}[name]
    source = {image(i): i for i in range(n)}  # bit i of an index goes to bit image(i)
    return images(([1 << source[k] for k in range(n)], 0), count)


def offsets(lengths, rows, elements):
    """Of rows as long as numbers drawn at random (uniform), or as 1, 1/2, 1/3, ... in an order drawn
    at random (zipf). The same on every machine."""
    draw = np.random.default_rng(5)
    weights = draw.random(rows) if lengths == "uniform" else draw.permutation(1 / np.arange(1, rows + 1))
    sums = np.concatenate([[0], np.cumsum(weights)])
    return np.append((sums[:-1] / sums[-1] * elements).astype(np.int64), elements)


def make(case, seed=1):
    given = []
    for number, (shape, kind) in enumerate(case.arguments):
        if number == 0 and case.permutation:
            given.append(permutation(case.permutation, *shape, seed))
        elif number == 0 and case.lengths:
            given.append(offsets(case.lengths, shape[0] - 1, case.elements))
        else:
            given += [random(shape, part, seed + number + i)
                      for i, part in enumerate(kind.strip("()").split(", "))]
    return given


# ---- checks: of arguments and results, parts of pairs by themselves -----------------------------


def order_key(keys):
    """Integers in the total order of the keys: of floats -0.0 before 0.0, NaN last."""
    if keys.dtype.kind != "f":
        return keys
    bits = keys.view(f"i{keys.itemsize}")
    most = np.iinfo(bits.dtype).max
    return np.where(np.isnan(keys), most, np.where(bits < 0, bits ^ most, bits))


def mixed(parts):
    """A hash of each element, of all its parts: a value that has left its key changes it."""
    total = np.zeros(parts[0].size, np.uint64)
    for part in parts:
        total += part.reshape(-1).view(f"u{part.itemsize}").astype(np.uint64)
        total = (total + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
        total = (total ^ total >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        total ^= total >> np.uint64(31)
    return total


def sorted_rows(given, found, starts):
    """Rows from `starts`, the last of which is the end. Sums over the elements of a row in any order:
    equal sums of two rows that differ have probability 2^-64."""
    first, last = starts[0], starts[-1]
    keys = order_key(found[0].reshape(-1))
    falls = np.flatnonzero(keys[first + 1:last] < keys[first:last - 1]) + first + 1
    inside = falls[~np.isin(falls, starts)]
    if inside.size:
        row = np.searchsorted(starts, inside[0], "right") - 1
        raise Wrong(f"row {row} is not in order at {inside[0] - starts[row]}")
    sums = [np.append(np.uint64(0), np.cumsum(mixed(each), dtype=np.uint64))[starts]
            for each in (given, found)]
    other = np.flatnonzero(np.diff(sums[0]) != np.diff(sums[1]))
    if other.size:
        raise Wrong(f"row {other[0]} has other elements than it was given")


def check_sorted(case, given, found):
    sorted_rows(given, found, np.arange(0, given[0].size + 1, max(1, given[0].shape[-1])))
    return "sorted, same elements"


def check_ragged(case, given, found):
    sorted_rows(given[1:], found, given[0])
    return "sorted, same elements"


def in_place(given, found, places):
    for a, b in zip(given, found, strict=True):
        a, b = (x.reshape(-1).view(f"u{min(x.itemsize, 8)}").reshape(x.size, -1) for x in (a, b))
        if not np.array_equal(b[places], a):
            raise Wrong("an element is not in its place")
    return "each element in its place"


def check_moved(case, given, found):
    return in_place(given, found, images(case.map, given[0].size))


def check_permuted(case, given, found):
    return in_place(given[1:], found, given[0])


def check_transposed(case, given, found):
    turned = [np.ascontiguousarray(f.T) for f in found]
    return in_place(given, turned, slice(None))


TRANSFORMS = {"fft": np.fft.fft, "fft2": np.fft.fft2, "rfft": np.fft.rfft, "irfft": np.fft.irfft,
              "convolve": lambda x, y: np.fft.ifft(np.fft.fft(x) * np.fft.fft(y))}


def wide(x):
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def check_fourier(case, given, found):
    """The norms L2 and L infinity of benchFFT (Frigo and Johnson, www.fftw.org/accuracy). Rounding
    errors of a transform in f32 are some 2e-7 of the coefficients, as root mean squares."""
    right = TRANSFORMS[operation_of(case.expression)](*map(wide, given))
    errors, sizes = np.abs(found[0] - right), np.abs(right)
    mean, largest = (np.linalg.norm(errors) / np.linalg.norm(sizes), errors.max() / sizes.max())
    if not mean <= (1e-6 if found[0].dtype in (np.complex64, np.float32) else 1e-14):
        raise Wrong(f"the error of coefficients is {mean:.2g}")
    return f"error {mean:.1e}, largest {largest:.1e}"


def check_sums(case, given, found):
    """Of integers modulo 2^bits; of floats but for rounding."""
    given, found = given[0], found[0]
    scan = found.size > 1
    exact = given.dtype if given.dtype.kind != "f" else np.float64
    fold = (lambda x: np.cumsum(x, -1, dtype=exact)) if scan else (lambda x: np.sum(x, dtype=exact))
    slack = 1e-5 * fold(np.abs(given)) if given.dtype.kind == "f" else 0
    if not (np.abs(found - fold(given)) <= slack).all():
        raise Wrong("an element is not the sum up to it" if scan else "it is not the sum")
    return "sums"


def check_maximum(case, given, found):
    if found[0] != given[0].max():
        raise Wrong("it is not the greatest element")
    return "maximum"


CHECKS = {"sorted": check_sorted, "ragged": check_ragged, "moved": check_moved,
          "permuted": check_permuted, "transposed": check_transposed, "fourier": check_fourier,
          "sums": check_sums, "maximum": check_maximum}


def check(case, given, found):
    return CHECKS[case.check](case, given, found)
