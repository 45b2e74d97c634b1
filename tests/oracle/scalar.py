"""Scalar operations as docs/language.md defines them, on exact integers and fractions.

An integer is an int, a bool a bool, a float a Python float that is exact in its format, or a Nan; a
complex number is a pair of these. Tuples are tuples and arrays lists. Types: a name, ("tuple", t...)
or ("array", n, t).
"""

import math
import struct
from fractions import Fraction

SIGNED = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
UNSIGNED = {"u8": 8, "u16": 16, "u32": 32, "u64": 64}
INTEGERS = {**SIGNED, **UNSIGNED}
FLOATS = {
    "f16": (11, 15, "H", "e"),
    "bf16": (8, 127, "H", "f"),  # the upper half of its f32
    "f32": (24, 127, "I", "f"),
    "f64": (53, 1023, "Q", "d"),
}
SMALL = ("f16", "bf16")  # whose operations are those of f32, rounded once more
COMPLEX = {"c64": "f32", "c128": "f64"}
REALS = [*INTEGERS, *FLOATS]
SCALARS = ["bool", *REALS, *COMPLEX]


class Nan:
    """A NaN: with its bits if it was only moved, without if it was computed."""

    def __init__(self, bits=None):
        self.bits = bits

    def __repr__(self):
        return "nan" if self.bits is None else f"nan:{self.bits:#x}"


class StaticError(Exception):
    """What the reference calls an error of static arithmetic."""


def is_nan(x):
    return isinstance(x, Nan)


def negative(x):
    return math.copysign(1, x) < 0


def rounded(x, t):
    """The float of type t nearest to the fraction x that is not 0, ties to even."""
    digits, top = FLOATS[t][:2]
    exponent = abs(x).numerator.bit_length() - abs(x).denominator.bit_length()
    if Fraction(2) ** exponent > abs(x):
        exponent -= 1
    last = max(exponent, 1 - top) - digits + 1
    units = round(abs(x) / Fraction(2) ** last)  # of a Fraction: halves to the even one
    if units * Fraction(2) ** last >= Fraction(2) ** (top + 1):
        return math.inf if x > 0 else -math.inf
    nearest = math.ldexp(units, last)
    return nearest if x > 0 else -nearest


def narrowed(x, t):
    """A float of any type as one of type t."""
    if is_nan(x):
        return Nan()
    return x if x == 0 or math.isinf(x) else rounded(Fraction(x), t)


def wrapped(x, t):
    x &= (1 << INTEGERS[t]) - 1
    return x - (1 << INTEGERS[t]) if t in SIGNED and x >> (INTEGERS[t] - 1) else x


def limits(t):
    return (
        (-(1 << (SIGNED[t] - 1)), (1 << (SIGNED[t] - 1)) - 1)
        if t in SIGNED
        else (0, (1 << UNSIGNED[t]) - 1)
    )


# ---- arithmetic -----------------------------------------------------------------------------------


def float_sum(x, y, t):
    if is_nan(x) or is_nan(y) or math.isinf(x) and math.isinf(y) and x != y:
        return Nan()
    if math.isinf(x) or math.isinf(y):
        return x if math.isinf(x) else y
    total = Fraction(x) + Fraction(y)
    if total:
        return rounded(total, t)
    return -0.0 if negative(x) and negative(y) else 0.0


def float_product(x, y, t):
    if is_nan(x) or is_nan(y) or (math.isinf(x) or math.isinf(y)) and (x == 0 or y == 0):
        return Nan()
    sign = math.copysign(1, x) * math.copysign(1, y)
    if math.isinf(x) or math.isinf(y):
        return sign * math.inf
    return rounded(Fraction(x) * Fraction(y), t) if x and y else sign * 0.0


def float_quotient(x, y, t):
    if is_nan(x) or is_nan(y) or math.isinf(x) and math.isinf(y) or x == 0 and y == 0:
        return Nan()
    sign = math.copysign(1, x) * math.copysign(1, y)
    if math.isinf(x) or y == 0:
        return sign * math.inf
    return rounded(Fraction(x) / Fraction(y), t) if x and not math.isinf(y) else sign * 0.0


def float_remainder(x, y, t):
    """x - y floor(x / y), computed exactly and rounded once; with the sign of y."""
    if is_nan(x) or is_nan(y) or math.isinf(x) or y == 0:
        return Nan()
    if math.isinf(y):
        return (
            x
            if x == 0 and negative(x) == negative(y)
            else math.copysign(0.0, y) if x == 0 else (x if negative(x) == negative(y) else y)
        )
    exact = Fraction(x) - Fraction(y) * (Fraction(x) // Fraction(y))
    return rounded(exact, t) if exact else math.copysign(0.0, y)


def float_root(x, t):
    if is_nan(x) or x < 0:
        return Nan()
    if x == 0 or math.isinf(x):
        return x
    n, d = Fraction(x).as_integer_ratio()  # d is a power of two
    scale = 256 + (d.bit_length() - 1) % 2
    n <<= scale  # n / (d << scale), whose denominator is an even power of two, up to a sticky bit
    root = math.isqrt(n)
    half = (scale + d.bit_length() - 1) // 2
    return rounded(Fraction(2 * root + (root * root != n), 2 << half), t)


def power(x, k, t):
    """x to the power k: of an integer exact and wrapped, of a float for -1 <= k <= 3."""
    if t in INTEGERS:
        if k < 0:
            return x ** (k & 1) if abs(x) == 1 else 0
        return wrapped(pow(x, k, 1 << INTEGERS[t]), t)
    result = 1.0
    for _ in range(abs(k)):
        result = arithmetic("*", t, result, x)
    return result if k >= 0 else arithmetic("/", t, 1.0, result)


def arithmetic(op, t, x, y):
    if t in SMALL:
        return narrowed(arithmetic(op, "f32", x, y), t)
    if t in FLOATS:
        if op == "-":
            op, y = "+", y if is_nan(y) else -y
        return {"+": float_sum, "*": float_product, "/": float_quotient, "%": float_remainder}[op](
            x, y, t
        )
    if t in COMPLEX:
        part = COMPLEX[t]
        if op == "*":
            product = [
                arithmetic("*", part, a, b)
                for a, b in ((x[0], y[0]), (x[1], y[1]), (x[0], y[1]), (x[1], y[0]))
            ]
            return arithmetic("-", part, *product[:2]), arithmetic("+", part, *product[2:])
        return tuple(arithmetic(op, part, a, b) for a, b in zip(x, y))
    if op in "/%":
        return 0 if y == 0 else wrapped(x // y if op == "/" else x % y, t)
    return wrapped({"+": x + y, "-": x - y, "*": x * y}[op], t)


def bitwise(op, t, x, y):
    if op == "`mulhi`":
        return x * y >> INTEGERS[t]
    result = {"&": x & y, "|": x | y, "xor": x ^ y}[op]
    return result if t == "bool" else wrapped(result, t)


def shifted(op, t, x, k):
    if not 0 <= k < INTEGERS[t]:  # a negative count is a large one
        return 0 if op == "<<" or x >= 0 else -1
    return wrapped(x << k if op == "<<" else x >> k, t)


def unary(op, t, x):
    if op in ("negate", "abs", "sign") and t in INTEGERS:
        return wrapped({"negate": -x, "abs": abs(x), "sign": (x > 0) - (x < 0)}[op], t)
    if op == "~":
        return not x if t == "bool" else wrapped(~x, t)
    if t in COMPLEX:
        second = unary("negate", COMPLEX[t], x[1])
        return (x[0] if op == "conj" else unary("negate", COMPLEX[t], x[0])), second
    if is_nan(x):
        if t in SMALL and x.bits is not None and op in ("negate", "abs"):  # keep the other bits
            return Nan(x.bits ^ 0x8000 if op == "negate" else x.bits & 0x7FFF)
        return Nan()
    if op == "sqrt":
        return narrowed(float_root(x, "f32"), t) if t in SMALL else float_root(x, t)
    if op in ("negate", "abs"):
        return -x if op == "negate" else abs(x)
    if op == "sign":
        return 0.0 if x == 0 else math.copysign(1.0, x)
    whole = (
        x
        if math.isinf(x)
        else {"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "round": round}[op](x)
    )
    return math.copysign(float(whole), x)


def quarter_turns(t, x, turn):
    """sinpi (round x / 2) + 0, cospi with turn = 1: exact at these places."""
    if is_nan(x) or math.isinf(x):
        return Nan()
    return (0.0, 1.0, 0.0, -1.0)[(round(x) + turn) % 4] if abs(x) < 2**60 else float(turn)


def count(op, t, x):
    bits = bin(x & (1 << INTEGERS[t]) - 1)[2:]
    if op in ("popcount", "parity"):
        return bits.count("1") % (2 if op == "parity" else 128)
    if x == 0:
        return INTEGERS[t]
    return INTEGERS[t] - len(bits) if op == "clz" else len(bits) - len(bits.rstrip("0"))


# ---- comparisons, conversions ---------------------------------------------------------------------


def equal(x, y):
    return not is_nan(x) and not is_nan(y) and x == y


def compare(op, t, x, y):
    if op in ("==", "!="):
        same = all(map(equal, x, y)) if t in COMPLEX else equal(x, y)
        return same == (op == "==")
    if op in (">", ">="):
        return compare("<" + op[1:], t, y, x)
    if t[0] == "tuple":
        for component, a, b in zip(t[1:], x, y):
            if (
                compare("<", component, a, b)
                if component[0] == "tuple"
                else not is_nan(a) and not is_nan(b) and a < b
            ):
                return True
            if not (compare("<=", component, a, b) if component[0] == "tuple" else equal(a, b)):
                return False
        return op == "<="
    return not is_nan(x) and not is_nan(y) and (x < y if op == "<" else x <= y)


def total_key(x):
    """A key by which Python orders as total_le does."""
    if isinstance(x, tuple):
        return tuple(map(total_key, x))
    if is_nan(x):
        return 1, 0, 0
    return 0, x, isinstance(x, float) and not negative(x)


def total_le(x, y):
    return total_key(x) <= total_key(y)


def extreme(name, t):
    if t[0] == "tuple":
        return tuple(extreme(name, u) for u in t[1:])
    if t == "bool":
        return name == "maxval"
    if t in FLOATS:
        return Nan() if name == "maxval" else -math.inf
    return limits(t)[name == "maxval"]


def convert(to, t, x):
    if to == "bool":
        return compare("!=", t, x, (0.0, 0.0) if t in COMPLEX else 0)
    if to in COMPLEX:
        re, im = x if t in COMPLEX else (x, 0.0)
        part = COMPLEX.get(t, t)
        return convert(COMPLEX[to], part, re), convert(
            COMPLEX[to], part if t in COMPLEX else "f64", im
        )
    if to in FLOATS:
        if to == t:
            return x
        if t in FLOATS:
            return narrowed(x, to)
        return rounded(Fraction(int(x)), to) if x else 0.0
    if t in FLOATS:
        if is_nan(x):
            return 0
        low, high = limits(to)
        return max(low, min(high, math.trunc(x))) if not math.isinf(x) else (high if x > 0 else low)
    return wrapped(int(x), to)


# ---- values as bytes: the Futhark binary format -----------------------------------------------------


def flat_types(t, shape=()):
    """The arrays that a value of type t consists of, as (shape, scalar type)."""
    if t[0] == "tuple":
        return [part for u in t[1:] for part in flat_types(u, shape)]
    return flat_types(t[2], shape + (t[1],)) if t[0] == "array" else [(shape, t)]


def flatten(t, x):
    """The scalars of each of these arrays."""
    if t[0] == "tuple":
        return [part for u, component in zip(t[1:], x) for part in flatten(u, component)]
    if t[0] == "array":
        rows = [flatten(t[2], row) for row in x]
        return [sum((row[i] for row in rows), []) for i in range(len(flat_types(t)))]
    return [[x]]


def encode_scalar(t, x):
    if t in COMPLEX:
        return b"".join(encode_scalar(COMPLEX[t], part) for part in x)
    if t in FLOATS:
        return (
            struct.pack("<" + FLOATS[t][2], x.bits)
            if is_nan(x)
            else struct.pack("<" + FLOATS[t][3], x)[-size(t) :]
        )
    return int(x).to_bytes(INTEGERS.get(t, 8) // 8, "little", signed=t in SIGNED)


def header(shape, t):
    return (
        b"b\x02"
        + bytes([len(shape)])
        + t.rjust(4).encode()
        + b"".join(n.to_bytes(8, "little") for n in shape)
    )


def encode(t, x):
    return b"".join(
        header(shape, u) + b"".join(encode_scalar(u, s) for s in scalars)
        for (shape, u), scalars in zip(flat_types(t), flatten(t, x))
    )


def decode_scalar(t, data):
    if t in COMPLEX:
        half = len(data) // 2
        return decode_scalar(COMPLEX[t], data[:half]), decode_scalar(COMPLEX[t], data[half:])
    if t in FLOATS:
        wide = data.rjust(4, b"\0") if t == "bf16" else data
        x = struct.unpack("<" + FLOATS[t][3], wide)[0]
        return Nan(int.from_bytes(data, "little")) if x != x else x
    x = int.from_bytes(data, "little", signed=t in SIGNED)
    return x == 1 if t == "bool" else x


def same_bits(t, expected, data):
    """Whether the bytes are the expected scalar; any NaN is a computed one."""
    if t in COMPLEX:
        half = len(data) // 2
        return all(
            same_bits(COMPLEX[t], part, data[i * half : (i + 1) * half])
            for i, part in enumerate(expected)
        )
    if is_nan(expected) and expected.bits is None:
        return is_nan(decode_scalar(t, data))
    return encode_scalar(t, expected) == data


def size(t):
    floats = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "c64": 8, "c128": 16}
    return 1 if t == "bool" else floats.get(t) or INTEGERS[t] // 8
