"""Random well-typed programs: each expression is made as its text and, beside it, what it computes.

The meaning of everything here is that of docs/language.md and docs/guide.md, not of the sources.
"""

import math
import random
from functools import reduce
from typing import Any, Callable, NamedTuple

import scalar as s


class TooLong(Exception):
    """An evaluation of more steps than a test should take."""


class Expr:
    """Text that can stand as an argument, and its value for the values of names."""

    steps = 0

    def __init__(self, text, evaluate):
        self.text, self.evaluate = text, evaluate

    def run(self, env):
        Expr.steps += 1
        if Expr.steps > 10000:
            raise TooLong
        return self.evaluate(env)


class Function(NamedTuple):
    text: str
    run: Callable  # of the values by name and the arguments


class Variable(NamedTuple):
    name: str
    type: Any
    static: bool = False


class Program(NamedTuple):
    text: str  # the definition of p0
    types: list  # of its arguments
    signature: list  # these as they stand in the signature
    result: Any
    arguments: list
    expected: Any


def array(n, t):
    return "array", n, t


def type_text(t):
    if t[0] == "tuple":
        return "(" + ", ".join(map(type_text, t[1:])) + ")"
    return f"[{t[1]}]{type_text(t[2])}" if t[0] == "array" else t


def is_plain(t):
    """A scalar, or a tuple of plain types: what a dynamic condition may choose between."""
    return all(map(is_plain, t[1:])) if t[0] == "tuple" else isinstance(t, str)


def is_ordered(t):
    return is_plain(t) and not any(u in s.COMPLEX for _, u in s.flat_types(t))


def blurred(x):
    """x after a sort that may exchange equal elements: NaN are equal, whatever their bits."""
    if isinstance(x, (list, tuple)):
        return type(x)(map(blurred, x))
    return s.Nan() if s.is_nan(x) else x


def power_of_two(n):
    return n > 0 and n & (n - 1) == 0


def parity(x):
    return bin(x).count("1") % 2


def parm(mask, f, xs):
    """f of the number of the half and the half."""
    places = [[i for i in range(len(xs)) if parity(i & mask) == half] for half in (0, 1)]
    result = [None] * len(xs)
    for half in (0, 1):
        for i, y in zip(places[half], f(half, [xs[i] for i in places[half]])):
            result[i] = y
    return result


def column(mask, f, xs):
    result = [None] * len(xs)
    top = 1 << (mask.bit_length() - 1)
    for i in range(len(xs)):
        if not i & top:
            result[i], result[i ^ mask] = f([xs[i], xs[i ^ mask]])
    return result


def moved(place, xs):
    """The element with index i moves to place(i)."""
    result = [None] * len(xs)
    for i, x in enumerate(xs):
        result[place(i)] = x
    return result


def tree(op, xs):
    while len(xs) > 1:
        xs = [op(xs[i], xs[i + 1]) for i in range(0, len(xs), 2)]
    return xs[0]


def rotated(x, k, n):
    k %= n or 1
    return (x << k | x >> (n - k)) & ((1 << n) - 1)


def reversed_bits(x, n, digit=1):
    return sum((x >> i & (1 << digit) - 1) << (n - digit - i) for i in range(0, n, digit))


def gray_code(x):
    return x ^ x >> 1


REORDERINGS = {
    "reverse": lambda n: lambda i: (1 << n) - 1 - i,
    "bitrev": lambda n: lambda i: reversed_bits(i, n),
    "shuffle": lambda n: lambda i: rotated(i, 1, n),
    "unshuffle": lambda n: lambda i: rotated(i, n - 1, n),
    "gray": lambda n: gray_code,
    "ungray": lambda n: {gray_code(i): i for i in range(1 << n)}.get,
}
SORTERS = ["sort", "balanced_sort", "periodic_sort", "bitonic_sort", "odd_even_sort"]


def random_float(rng, t):
    digits, top, code = s.FLOATS[t][:3]
    kind = rng.randrange(12)
    if kind == 0:  # NaN of any sign and payload
        bits = (1 << 8 * s.size(t)) - 1
        return s.Nan(
            bits >> 1 & ~((1 << digits - 1) - 1)
            | rng.randrange(1, 1 << digits - 1)
            | rng.randrange(2) << bits.bit_length() - 1
        )
    if kind < 4:
        big = rng.choice([1, 2]) * 2.0**top * (0.5 if kind == 2 else 1 - 2.0**-digits)
        return rng.choice([-1, 1]) * rng.choice(
            [0.0, math.inf, 2.0 ** (2 - top - digits), 2.0 ** (1 - top), big, 65520.0]
        )
    if kind < 8:
        return s.narrowed(rng.randrange(-40, 41) / rng.choice([1, 2, 4, 10, 3]), t)
    if kind == 8:
        return s.narrowed(rng.uniform(-1, 1) * 2.0 ** rng.choice([7, 8, 15, 16, 31, 32, 63, 64]), t)
    return s.narrowed(
        rng.uniform(1, 2) * rng.choice([-1, 1]) * 2.0 ** rng.randrange(-top - digits, top), t
    )


def random_value(rng, t):
    if t[0] == "array":
        return [random_value(rng, t[2]) for _ in range(t[1])]
    if t[0] == "tuple":
        return tuple(random_value(rng, u) for u in t[1:])
    if t == "bool":
        return rng.random() < 0.5
    if t in s.COMPLEX:
        return random_float(rng, s.COMPLEX[t]), random_float(rng, s.COMPLEX[t])
    if t in s.FLOATS:
        x = random_float(rng, t)
        return x if s.is_nan(x) or abs(x) == math.inf or x == 0 else s.narrowed(x, t)
    low, high = s.limits(t)
    return max(
        low,
        min(
            high,
            rng.choice(
                [0, 1, -1, low, high, low + 1, rng.randrange(-9, 70), rng.randint(low, high)]
            ),
        ),
    )


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.names = 0
        self.budget = self.rng.choice([8, 20, 50])
        base = self.pick(2, 4, 4, 8, 8, 16, 16, 32, 128)
        self.lengths = [base, base, base, base // 2, self.pick(0, 1, 3, 5, 6, 7, 9)]

    def pick(self, *choices):
        return self.rng.choice(choices)

    def chance(self, p):
        return self.rng.random() < p

    def name(self):
        self.names += 1
        return f"v{self.names}"

    # ---- types and static integers ----------------------------------------------------------------

    def scalar_type(self):
        return self.rng.choice(s.SCALARS)

    def element_type(self, depth=2):
        if depth and self.chance(0.25):
            return (
                "tuple",
                *(self.element_type(depth - 1) for _ in range(self.rng.randrange(2, 4))),
            )
        return self.scalar_type()

    def ordered_type(self):
        t = self.element_type()
        return t if is_ordered(t) else self.rng.choice(s.REALS)

    def array_type(self, depth=2):
        n = self.rng.choice(self.lengths) if depth == 2 else self.pick(0, 1, 2, 2, 3, 4)
        return array(
            n, self.array_type(depth - 1) if depth and self.chance(0.25) else self.element_type()
        )

    def static(self, n, depth=2):
        """Static arithmetic whose value is n."""
        same = [v for v in self.sizes if self.sizes[v] == n]
        if same and self.chance(0.7):
            return self.rng.choice(same)
        if depth == 0 or self.chance(0.6):
            return str(n) if n >= 0 else f"({n})"
        a, b = self.rng.randrange(-20, 90), self.rng.randrange(1, 9)
        left, right = self.static(a, depth - 1), self.static(b, depth - 1)
        text, value = self.rng.choice(
            [
                (f"{left} + {right}", a + b),
                (f"{left} * {right}", a * b),
                (f"{left} / {right}", a // b),
                (f"{left} % {right}", a % b),
                (f"2^{right}", 2**b),
                (f"{left} << {right}", a << b),
                (f"{left} >> {right}", a >> b),
                (f"{left} & {right}", a & b),
                (f"{left} xor {right}", a ^ b),
                (f"popcount {right}", bin(b).count("1")),
                (f"min {left} {right}", min(a, b)),
                (f"abs {left}", abs(a)),
                (f"ceil_log2 {right}", (b - 1).bit_length()),
                (f"(if {left} < {right} then {left} else {right})", min(a, b)),
                (f"length [{left}, {right}]", 2),
                (f"[{left}, {right}][1]", b),
                (f"-{left}", -a),
                (f"({left}, {right}).0", a),
            ]
        )
        return f"(({text}) - {self.static(value - n, 0)})"

    # ---- scalars ----------------------------------------------------------------------------------

    def literal(self, t):
        rng = self.rng
        if t == "bool":
            x = rng.random() < 0.5
            return Expr(str(x).lower(), lambda env: x)
        if t in s.COMPLEX:
            re, im = self.literal(s.COMPLEX[t]), self.literal(s.COMPLEX[t])
            return Expr(f"(complex {re.text} {im.text})", lambda env: (re.run(env), im.run(env)))
        if t[0] == "tuple":
            parts = [self.literal(u) for u in t[1:]]
            return Expr(
                "(" + ", ".join(p.text for p in parts) + ")",
                lambda env: tuple(p.run(env) for p in parts),
            )
        x = random_value(rng, t)
        if t in s.FLOATS:
            x = 1.5 if s.is_nan(x) or abs(x) == math.inf else x
            digits = repr(abs(x)).replace("e+", "e")
        else:
            digits = hex(x) if x >= 0 and self.chance(0.2) else str(abs(x))
        text = f"{digits}{t}"
        return Expr(
            f"(-{text})" if x < 0 or isinstance(x, float) and s.negative(x) else text, lambda env: x
        )

    def dynamic(self, t, scope):
        """A value of a plain type that is known only when the program runs."""
        if t[0] == "tuple":
            parts = [self.dynamic(u, scope) for u in t[1:]]
            return Expr(
                "(" + ", ".join(p.text for p in parts) + ")",
                lambda env: tuple(p.run(env) for p in parts),
            )
        found = []
        for v in scope:
            if v.type[0] != "array" and not v.static:
                self.components(Expr(v.name, lambda env, v=v: env[v.name]), v.type, found)
        equal = [e for e, u in found if u == t]
        if equal and self.chance(0.8):
            return self.rng.choice(equal)
        return self.converted(t, *self.rng.choice(found))

    def components(self, e, t, found):
        if t[0] == "tuple":
            for i, u in enumerate(t[1:]):
                short = len(t) == 3 and self.chance(0.2)
                self.components(
                    Expr(
                        f"({'fst snd'.split()[i]} {e.text})" if short else f"{e.text}.{i}",
                        lambda env, i=i: e.run(env)[i],
                    ),
                    u,
                    found,
                )
        elif t[0] != "array":
            found.append((e, t))

    def converted(self, to, e, t):
        if t == "bool" and to in s.COMPLEX:  # not a real number
            return self.converted(to, self.converted("i8", e, t), "i8")
        if t in s.COMPLEX and to not in s.COMPLEX and to != "bool":
            i = self.rng.randrange(2)
            return self.converted(
                to,
                Expr(f"({'re im'.split()[i]} {e.text})", lambda env: e.run(env)[i]),
                s.COMPLEX[t],
            )
        return e if t == to else Expr(f"({to} {e.text})", lambda env: s.convert(to, t, e.run(env)))

    def static_operation(self, t, wrong=False):
        """A static operation on integers of type t with its value, or one that is an error."""
        while True:
            op, (x, y) = self.pick("+", "-", "*", "/", "%", "^"), (
                random_value(self.rng, t) for _ in range(2)
            )
            if op == "^":
                y = self.rng.randrange(-1, 70)
                exact = x**y if y >= 0 else None
            elif op in "/%":
                exact = None if y == 0 else x // y if op == "/" else x % y
            else:
                exact = {"+": x + y, "-": x - y, "*": x * y}[op]
            value = None if exact is None else s.wrapped(exact, t)
            if (value is None or (t == "i64" and value != exact)) == wrong:
                texts = [self.number(x, t), self.number(y, t if op != "^" else "i64")]
                return Expr(f"({texts[0]} {op} {texts[1]})", lambda env: value)

    @staticmethod
    def number(x, t):
        return f"{x}{t}" if x >= 0 else f"(-{-x}{t})"

    def any_plain(self, t, scope, depth):
        """An expression of a plain type, dynamic or static."""
        static = [v.name for v in scope if v.static and v.type == t]
        if static and self.chance(0.4):
            name = self.rng.choice(static)
            return Expr(name, lambda env: env[name])
        if t in s.INTEGERS and self.chance(0.1):
            return self.static_operation(t)
        return self.literal(t) if self.chance(0.25) else self.plain(t, scope, depth)

    def plain(self, t, scope, depth):
        """A dynamic expression of a plain type."""
        self.budget -= 1
        if depth <= 0 or self.budget <= 0:
            return self.dynamic(t, scope)
        choice = self.rng.randrange(12)
        if choice == 0:
            c, x = self.plain("bool", scope, depth - 1), self.plain(t, scope, depth - 1)
            y = self.any_plain(t, scope, depth - 1)  # two equal static values would be static
            return Expr(
                f"(if {c.text} then {x.text} else {y.text})",
                lambda env: x.run(env) if c.run(env) else y.run(env),
            )
        if choice == 1:
            return self.binding(t, scope, depth)
        if choice == 2:
            f, u = self.function(None, t, scope, depth - 1)
            x = self.plain(u, scope, depth - 1)
            text = f"({x.text} |> {f.text})" if self.chance(0.3) else f"({f.text} {x.text})"
            return Expr(text, lambda env: f.run(env, x.run(env)))
        if choice == 3:
            return self.summary(t, scope, depth)
        if choice == 4 and is_ordered(t):
            x, y, name = (
                self.plain(t, scope, depth - 1),
                self.any_plain(t, scope, depth - 1),
                self.pick("min", "max"),
            )
            text = (
                f"({name} {x.text} {y.text})"
                if self.chance(0.5)
                else f"({x.text} `{name}` {y.text})"
            )
            return Expr(
                text,
                lambda env: (
                    lambda a, b: a if s.compare("<=" if name == "min" else ">=", t, a, b) else b
                )(x.run(env), y.run(env)),
            )
        if t[0] == "tuple":
            parts = [self.plain(u, scope, depth - 1) for u in t[1:]]
            text = "(" + ", ".join(p.text for p in parts) + ")"
            if len(parts) == 2 and self.chance(0.2):
                text = f"(swap ({parts[1].text}, {parts[0].text}))"
            return Expr(text, lambda env: tuple(p.run(env) for p in parts))
        return self.operation(t, scope, depth)

    def binding(self, t, scope, depth):
        u, name, static = self.element_type(), self.name(), self.chance(0.3)
        x = self.literal(u) if static else self.plain(u, scope, depth - 1)
        body = self.plain(t, scope + [Variable(name, u, static)], depth - 1)
        return Expr(
            f"(let {name} = {x.text} in {body.text})",
            lambda env: body.run({**env, name: x.run(env)}),
        )

    def operation(self, t, scope, depth):
        """An operation with a dynamic operand and a result of the scalar type t."""

        def any_operand(u):
            return self.any_plain(u, scope, depth - 1)

        def operand(u):
            return self.plain(u, scope, depth - 1)

        def infix(op, u, x, y, f):
            return Expr(f"({x.text} {op} {y.text})", lambda env: f(op, u, x.run(env), y.run(env)))

        def prefix(op, u, x, f):
            return Expr(f"({op} {x.text})", lambda env: f(op, u, x.run(env)))

        if t == "bool":
            kind = self.rng.randrange(6)
            u = self.ordered_type()
            if kind < 2:
                return infix(
                    self.pick("<", "<=", ">", ">="), u, operand(u), any_operand(u), s.compare
                )
            if kind == 2:
                u = self.rng.choice(s.REALS + [*s.COMPLEX])
                return infix(self.pick("==", "!="), u, operand(u), any_operand(u), s.compare)
            if kind == 3:
                x, y = operand(u), any_operand(u)
                return Expr(
                    f"(total_le {x.text} {y.text})", lambda env: s.total_le(x.run(env), y.run(env))
                )
            if kind == 4:
                op, x, y = self.pick("&&", "||", "&", "|", "xor"), operand(t), any_operand(t)
                return Expr(
                    f"({x.text} {op} {y.text})",
                    lambda env: s.bitwise(op[0] if op != "xor" else op, t, x.run(env), y.run(env)),
                )
            op = self.pick("isnan", "not", "even", "~")
            x = operand(
                self.rng.choice(
                    [*(s.FLOATS if op == "isnan" else s.INTEGERS if op == "even" else ["bool"])]
                )
            )
            return Expr(
                f"({op} {x.text})",
                lambda env: (
                    s.is_nan(x.run(env))
                    if op == "isnan"
                    else x.run(env) % 2 == 0 if op == "even" else not x.run(env)
                ),
            )
        if self.chance(0.2):
            u = self.scalar_type()
            return self.converted(t, operand(u), u)
        if t == "i64" and self.chance(0.2):
            u = self.rng.choice([*s.INTEGERS])
            return prefix(self.pick("popcount", "parity", "clz", "ctz"), u, operand(u), s.count)
        if t in s.COMPLEX:
            if self.chance(0.3):
                return prefix(self.pick("negate", "conj"), t, operand(t), s.unary)
            return infix(self.pick("+", "-", "*"), t, operand(t), any_operand(t), s.arithmetic)
        if self.chance(0.3):
            op = self.pick(
                "negate",
                "abs",
                "sign",
                *(["sqrt", "floor", "ceil", "trunc", "round"] if t in s.FLOATS else ["~"]),
            )
            return prefix(op, t, operand(t), s.unary)
        if t in s.FLOATS and self.chance(0.1):
            x, (name, turn) = operand(t), self.pick(("sinpi", 0), ("cospi", 1))
            return Expr(
                f"({name} (round {x.text} / 2) + 0)",
                lambda env: s.quarter_turns(t, x.run(env), turn),
            )
        if self.chance(0.1):
            k = self.rng.randrange(-1, 4) if t in s.FLOATS else self.rng.randrange(70)
            x = operand(t)
            return Expr(f"({x.text} ^ ({k}))", lambda env: s.power(x.run(env), k, t))
        if t in s.INTEGERS and self.chance(0.5):
            op = self.pick("&", "|", "xor", "<<", ">>", "`mulhi`")
            if op in ("<<", ">>"):
                width = s.INTEGERS[t]
                k = self.pick(
                    self.rng.randrange(width), min(width, s.limits(t)[1]), width - 1, s.limits(t)[1]
                )
                count = self.pick(Expr(f"{k}{t}", lambda env: k), any_operand(t))
                return infix(op, t, operand(t), count, s.shifted)
            return infix(op, t, operand(t), any_operand(t), s.bitwise)
        return infix(
            self.pick("+", "-", "*", "/", "%"), t, operand(t), any_operand(t), s.arithmetic
        )

    def summary(self, t, scope, depth):
        """A value of the plain type t made from an array."""
        n, rng = self.rng.choice(self.lengths), self.rng
        if t in s.INTEGERS and self.chance(0.5):
            xs, op = self.array(array(n, t), scope, depth - 1), self.pick("sum", "product")
            return Expr(
                f"({op} {xs.text})",
                lambda env: reduce(
                    lambda a, b: s.arithmetic("+*"[op == "product"], t, a, b),
                    xs.run(env),
                    int(op == "product"),
                ),
            )
        if t == "i64" and self.chance(0.4):
            u = self.scalar_type()
            f, xs = self.function(u, "bool", scope, depth - 1)[0], self.array(
                array(n, u), scope, depth - 1
            )
            return Expr(
                f"(count {f.text} {xs.text})", lambda env: sum(f.run(env, x) for x in xs.run(env))
            )
        if t == "bool":
            if self.chance(0.5):
                xs, op = self.array(array(n, t), scope, depth - 1), self.pick("all", "any")
                return Expr(
                    f"({op} {xs.text})", lambda env: {"all": all, "any": any}[op](xs.run(env))
                )
            u = self.ordered_type()
            xs = self.array(array(n, u), scope, depth - 1)
            return Expr(
                f"(is_sorted {xs.text})",
                lambda env: all(map(s.total_le, xs.run(env), xs.run(env)[1:])),
            )
        if is_ordered(t) and self.chance(0.5):
            xs, op = self.array(array(n, t), scope, depth - 1), self.pick("minimum", "maximum")
            return Expr(
                f"({op} {xs.text})",
                lambda env: blurred(
                    {"minimum": min, "maximum": max}[op](
                        xs.run(env),
                        key=s.total_key,
                        default=s.extreme("maxval" if op == "minimum" else "minval", t),
                    )
                ),
            )
        if t in s.FLOATS or t in s.COMPLEX or t in s.INTEGERS:
            xs, op = self.array(array(self.pick(1, 2, 4, 8), t), scope, depth - 1), self.pick(
                "+", "-", "*"
            )
            return Expr(
                (
                    f"(reduce ({op}) {xs.text})"
                    if op != "-"
                    else f"(reduce (\\a b -> a - b) {xs.text})"
                ),
                lambda env: tree(lambda a, b: s.arithmetic(op, t, a, b), xs.run(env)),
            )
        n = max(n, 1)
        xs, i = self.array(array(n, t), scope, depth - 1), rng.randrange(n)
        text, i = self.pick(
            (f"{xs.text}[{self.static(i)}]", i),
            (f"(head {xs.text})", 0),
            (f"(last {xs.text})", n - 1),
        )
        return Expr(f"({text})", lambda env: xs.run(env)[i])

    # ---- functions of one argument ----------------------------------------------------------------

    def pattern(self, t):
        """A pattern, its variables, and what binds them."""
        if (
            t[0] == "tuple"
            and self.chance(0.6)
            or t[0] == "array"
            and power_of_two(t[1])
            and t[1] <= 8
            and self.chance(0.4)
        ):
            types = t[1:] if t[0] == "tuple" else [t[2]] * t[1]
            parts = [self.pattern(u) for u in types]
            text = ", ".join(p[0] for p in parts)

            def bind(x):
                bound = {}
                for part, component in zip(parts, x):
                    bound.update(part[2](component))
                return bound

            return (
                (f"({text})" if t[0] == "tuple" else f"[{text}]"),
                [v for p in parts for v in p[1]],
                bind,
            )
        name = self.name()
        return name, [Variable(name, t)], lambda x: {name: x}

    def function(self, t, u, scope, depth):
        """A function from t, or from a type of its own choice, to u; and the type of its argument."""
        t = t or self.pick(u, self.element_type(), self.scalar_type())
        choice = self.rng.randrange(8)
        if choice == 0 and t == u and t in s.REALS:
            op, x = self.pick("+", "*", "/", "%"), self.any_plain(t, scope, depth - 1)
            if self.chance(0.5):
                return (
                    Function(f"({op} {x.text})", lambda env, y: s.arithmetic(op, t, y, x.run(env))),
                    t,
                )
            return (
                Function(f"({x.text} {op})", lambda env, y: s.arithmetic(op, t, x.run(env), y)),
                t,
            )
        if choice == 1 and t in s.REALS and u in s.SCALARS:
            return Function(u, lambda env, x: s.convert(u, t, x) if t != u else x), t
        if choice == 2 and depth > 0:
            middle = self.element_type()
            f, g = (
                self.function(middle, u, scope, depth - 1)[0],
                self.function(t, middle, scope, depth - 1)[0],
            )
            return Function(f"({f.text} . {g.text})", lambda env, x: f.run(env, g.run(env, x))), t
        text, variables, bind = self.pattern(t)
        if choice == 3 and is_plain(u) and depth > 0:  # guards
            c, f = self.plain("bool", scope + variables, depth - 1), self.name()
            y = self.plain(u, scope + variables, depth - 1)
            z = self.any_plain(u, scope + variables, depth - 1)
            return (
                Function(
                    f"(let {f} {text} | {c.text} = {y.text} | otherwise = {z.text} in {f})",
                    lambda env, x: (y if c.run({**env, **bind(x)}) else z).run({**env, **bind(x)}),
                ),
                t,
            )
        body = self.value(u, scope + variables, depth - 1)
        return (
            Function(f"(\\{text} -> {body.text})", lambda env, x: body.run({**env, **bind(x)})),
            t,
        )

    def value(self, t, scope, depth):
        if t[0] == "array":
            return self.array(t, scope, depth)
        if is_plain(t):
            return self.plain(t, scope, depth)
        parts = [self.value(u, scope, depth - 1) for u in t[1:]]
        return Expr(
            "(" + ", ".join(p.text for p in parts) + ")",
            lambda env: tuple(p.run(env) for p in parts),
        )

    # ---- arrays -----------------------------------------------------------------------------------

    def array(self, t, scope, depth):
        self.budget -= 1
        _, n, u = t
        same = [v for v in scope if v.type == t]
        if same and (depth <= 0 or self.budget <= 0 or self.chance(0.25)):
            v = self.rng.choice(same)
            return Expr(v.name, lambda env: env[v.name])
        if depth <= 0 or self.budget <= 0:
            return self.small_array(n, u, scope)
        makers = [self.mapped, self.mapped, self.mapped, self.zipped, self.sliced, self.iterated]
        makers += [self.listed, self.chosen]
        if power_of_two(n):
            makers += [self.reordered] * 3 + [self.joined, self.extended]
            makers += [self.sorted, self.sorted] if is_ordered(u) else []
            makers += (
                [self.split_in_halves] * 3 + [self.paired] * 3 + [self.recursive] * 2
                if n > 1
                else []
            )
            makers += [self.scanned] if u in s.INTEGERS else []
        elif n > 1:
            makers += [self.padded]
        if n > 1 and n % 2 == 0:
            makers += [self.called_twice] * 2
        if u[0] == "array":
            makers += [self.rows, self.rows]
        return self.rng.choice(makers)(n, u, scope, depth - 1)

    def small_array(self, n, u, scope):
        sources = [v for v in scope if v.type[0] == "array" and v.type[1] == n]
        if sources and self.chance(0.9):
            v = self.rng.choice(sources)
            if is_plain(v.type[2]) and is_plain(u):
                x = Variable(self.name(), v.type[2])
                body = self.dynamic(u, [x])
                return Expr(
                    f"(map (\\{x.name} -> {body.text}) {v.name})",
                    lambda env: [body.run({x.name: y}) for y in env[v.name]],
                )
        x = self.value(u, scope, 0)
        if u == "i64" and self.chance(0.3):
            return Expr(f"(iota {n})", lambda env: list(range(n)))
        return Expr(f"(replicate {n} {x.text})", lambda env: [x.run(env)] * n)

    def mapped(self, n, u, scope, depth):
        t = self.pick(u, self.element_type(), self.array_type(1))
        xs = self.array(array(n, t), scope, depth)
        if self.chance(0.3):  # the index is static if xs is a list
            i, (text, variables, bind) = Variable(self.name(), "i64", True), self.pattern(t)
            body = self.value(u, scope + [i, *variables], depth)
            return Expr(
                f"(mapi (\\{i.name} {text} -> {body.text}) {xs.text})",
                lambda env: [
                    body.run({**env, i.name: k, **bind(x)}) for k, x in enumerate(xs.run(env))
                ],
            )
        f = self.function(t, u, scope, depth)[0]
        return Expr(f"(map {f.text} {xs.text})", lambda env: [f.run(env, x) for x in xs.run(env)])

    def called_twice(self, n, u, scope, depth):
        """Calls of one function on both halves of an array, in any order."""
        t, half = self.pick(u, self.element_type()), n // 2
        xs, f = self.array(array(n, t), scope, depth), self.array_function(half, t, u, scope, depth)
        whole, g, x, exchanged = self.name(), self.name(), self.name(), self.chance(0.3)
        parts = [f"({g} (take {half} {whole}))", f"({g} (drop {half} {whole}))"]
        first, second = parts[::-1] if exchanged else parts
        return Expr(
            f"(let {whole} = {xs.text} in let {g} {x} = {f.text} {x} in concat {first} {second})",
            lambda env: (
                lambda low, high: high + low if exchanged else low + high
            )(*(lambda ys: (f.run(env, ys[:half]), f.run(env, ys[half:])))(xs.run(env))),
        )

    def zipped(self, n, u, scope, depth):
        t, v = self.element_type(), self.element_type()
        xs, ys = self.array(array(n, t), scope, depth), self.array(array(n, v), scope, depth)
        if u == ("tuple", t, v) or self.chance(0.3):
            pair = ("tuple", t, v)
            f = self.function(pair, u, scope, depth)[0]
            return Expr(
                f"(map {f.text} (zip {xs.text} {ys.text}))",
                lambda env: [f.run(env, p) for p in zip(xs.run(env), ys.run(env))],
            )
        if self.chance(0.3):  # one half of an array of pairs
            pairs, i = (
                self.array(
                    array(n, ("tuple", u, u) if is_plain(u) else ("tuple", u, t)), scope, depth
                ),
                0,
            )
            return Expr(f"((unzip {pairs.text}).{i})", lambda env: [p[i] for p in pairs.run(env)])
        (a, va, bind_a), (b, vb, bind_b) = self.pattern(t), self.pattern(v)
        body = self.value(u, scope + va + vb, depth)
        return Expr(
            f"(zip_with (\\{a} {b} -> {body.text}) {xs.text} {ys.text})",
            lambda env: [
                body.run({**env, **bind_a(x), **bind_b(y)})
                for x, y in zip(xs.run(env), ys.run(env))
            ],
        )

    def listed(self, n, u, scope, depth):
        if 0 < n <= 4 and self.chance(0.5):
            parts = [self.value(u, scope, depth) for _ in range(n)]
            return Expr(
                "[" + ", ".join(p.text for p in parts) + "]",
                lambda env: [p.run(env) for p in parts],
            )
        inner = self.pick(*(k for k in range(1, 5) if n % k == 0))
        t, x, i = (
            self.element_type(),
            Variable(self.name(), None),
            Variable(self.name(), "i64", True),
        )
        x = Variable(x.name, t)
        xs = self.array(array(n // inner, t), scope, depth)
        first, step = self.rng.randrange(0, 4), self.pick(1, 1, 2)
        body = self.value(u, scope + [x, i], depth)
        low, high = self.static(first), self.static(first + inner * step - 1)
        keep = f", {i.name} % 2 == {first % 2}" if step == 2 else ""
        return Expr(
            f"[{body.text} | {x.name} <- {xs.text}, {i.name} <- {low}..{high}{keep}]",
            lambda env: [
                body.run({**env, x.name: y, i.name: k})
                for y in xs.run(env)
                for k in range(first, first + inner * step, step)
            ],
        )

    def chosen(self, n, u, scope, depth):
        xs, ys = (self.array(array(n, u), scope, depth) for _ in range(2))
        a, b, (op, f) = (
            self.rng.randrange(9),
            self.rng.randrange(9),
            self.pick(("<", int.__lt__), ("==", int.__eq__), (">=", int.__ge__)),
        )
        return Expr(
            f"(if {self.static(a)} {op} {self.static(b)} then {xs.text} else {ys.text})",
            lambda env: (xs if f(a, b) else ys).run(env),
        )

    def extended(self, n, u, scope, depth):
        k = self.rng.randrange(n // 2 + 1, n + 1)
        xs, x = self.array(array(k, u), scope, depth), self.padding(u, scope)
        return Expr(
            f"(extended {x.text} {xs.text})", lambda env: xs.run(env) + [x.run(env)] * (n - k)
        )

    def sliced(self, n, u, scope, depth):
        extra = self.rng.randrange(0, 4)
        if self.chance(0.4):
            k = self.rng.randrange(n + 1)
            xs, ys = self.array(array(k, u), scope, depth), self.array(
                array(n - k, u), scope, depth
            )
            return Expr(f"(concat {xs.text} {ys.text})", lambda env: xs.run(env) + ys.run(env))
        xs = self.array(array(n + extra, u), scope, depth)
        if self.chance(0.5):
            return Expr(f"(take {self.static(n)} {xs.text})", lambda env: xs.run(env)[:n])
        return Expr(f"(drop {self.static(extra)} {xs.text})", lambda env: xs.run(env)[extra:])

    def array_function(self, n, t, u, scope, depth):
        """A function from arrays of n t to arrays of n u."""
        if t == u and power_of_two(n) and self.chance(0.4):
            if is_ordered(u) and self.chance(0.5):
                name = self.rng.choice(SORTERS)
                return Function(name, lambda env, xs: blurred(sorted(xs, key=s.total_key)))
            name, log = self.rng.choice([*REORDERINGS]), n.bit_length() - 1
            return Function(name, lambda env, xs: moved(REORDERINGS[name](log), xs))
        if self.chance(0.4):
            f = self.function(t, u, scope, depth)[0]
            return Function(f"(map {f.text})", lambda env, xs: [f.run(env, x) for x in xs])
        return self.function(array(n, t), array(n, u), scope, depth)[0]

    def iterated(self, n, u, scope, depth):
        f, xs, k = (
            self.array_function(n, u, u, scope, depth),
            self.array(array(n, u), scope, depth),
            self.rng.randrange(4),
        )
        return Expr(
            f"(iter {self.static(k)} {f.text} {xs.text})",
            lambda env: reduce(lambda x, _: f.run(env, x), range(k), xs.run(env)),
        )

    def padded(self, n, u, scope, depth):
        room = 1 << (n - 1).bit_length()
        t = self.pick(u, self.element_type())
        xs, x = self.array(array(n, t), scope, depth), self.padding(t, scope)
        g = self.function(t, u, scope, depth)[0]
        f = Function(f"(map {g.text})", lambda env, ys: [g.run(env, y) for y in ys])
        if t == u and is_ordered(u) and self.chance(0.5):  # padding that a sorter puts last
            x = Expr("maxval", lambda env: s.extreme("maxval", t))
            f = Function(
                self.rng.choice(SORTERS), lambda env, ys: blurred(sorted(ys, key=s.total_key))
            )
        return Expr(
            f"(padded {x.text} {f.text} {xs.text})",
            lambda env: f.run(env, xs.run(env) + [x.run(env)] * (room - n))[:n],
        )

    def padding(self, t, scope):
        if is_ordered(t) and self.chance(0.5):
            name = self.pick("minval", "maxval")
            return Expr(name, lambda env: s.extreme(name, t))
        return self.any_plain(t, scope, 1) if is_plain(t) else self.value(t, scope, 1)

    def rows(self, n, u, scope, depth):
        _, k, t = u
        if power_of_two(n) and power_of_two(k) and self.chance(0.6):
            if self.chance(0.5):
                xs = self.array(array(k, array(n, t)), scope, depth)
                return Expr(
                    f"(transpose {xs.text})", lambda env: [list(row) for row in zip(*xs.run(env))]
                )
        if power_of_two(k):
            xs = self.array(array(n * k, t), scope, depth)
            return Expr(
                f"(split {self.static(k.bit_length() - 1)} {xs.text})",
                lambda env: (lambda xs: [xs[i * k : i * k + k] for i in range(n)])(xs.run(env)),
            )
        return self.mapped(n, u, scope, depth)

    def joined(self, n, u, scope, depth):
        k = self.pick(*(1 << i for i in range(n.bit_length())))
        xs = self.array(array(n // k, array(k, u)), scope, depth)
        return Expr(f"(join {xs.text})", lambda env: [x for row in xs.run(env) for x in row])

    def split_in_halves(self, n, u, scope, depth):
        t, mask = self.pick(u, u, self.element_type()), self.rng.randrange(1, n)
        xs = self.array(array(n, t), scope, depth)
        if self.chance(0.3):
            half, v = Variable(self.name(), "i64"), Variable(self.name(), array(n // 2, t))
            body = self.array(array(n // 2, u), scope + [half, v], depth)
            return Expr(
                f"(parmi {self.static(mask)} (\\{half.name} {v.name} -> {body.text}) {xs.text})",
                lambda env: parm(
                    mask, lambda h, ys: body.run({**env, half.name: h, v.name: ys}), xs.run(env)
                ),
            )
        f = self.array_function(n // 2, t, u, scope, depth)
        names = [(f"parm {self.static(mask)}", mask), ("two", n // 2), ("ilv", 1)]
        text, mask = self.pick(*names, *([("que", 2), ("vee", 3)] if n > 2 else []))
        return Expr(
            f"({text} {f.text} {xs.text})",
            lambda env: parm(mask, lambda _, ys: f.run(env, ys), xs.run(env)),
        )

    def paired(self, n, u, scope, depth):
        t, mask = self.pick(u, u, self.element_type()), self.rng.randrange(1, n)
        if t == u and is_ordered(u) and self.chance(0.4):
            xs = self.array(array(n, t), scope, depth)
            text, mask = self.pick(
                ("vcolumn", n - 1), (f"column {self.static(mask)} compare_exchange", mask)
            )
            return Expr(
                f"({text} {xs.text})",
                lambda env: blurred(
                    column(mask, lambda p: sorted(p, key=s.total_key), xs.run(env))
                ),
            )
        xs, f = (
            self.array(array(n, t), scope, depth),
            self.function(array(2, t), array(2, u), scope, depth)[0],
        )
        return Expr(
            f"(column {self.static(mask)} {f.text} {xs.text})",
            lambda env: column(mask, lambda p: f.run(env, p), xs.run(env)),
        )

    def reordered(self, n, u, scope, depth):
        xs, log = self.array(array(n, u), scope, depth), n.bit_length() - 1
        kind = self.rng.randrange(6)
        if kind == 0:
            rows, c = [1 << i for i in range(log)], self.rng.randrange(n)
            for _ in range(3 * log if log > 1 else 0):
                i, j = self.rng.sample(range(log), 2)
                rows[i] ^= rows[j]
            self.rng.shuffle(rows)
            text = f"bmmc [{', '.join(self.static(r) for r in rows)}] {self.static(c)}"
            if not rows:
                return xs

            def place(i):
                return sum(parity(i & row) << b for b, row in enumerate(rows)) ^ c

        elif kind == 1:
            c = self.rng.randrange(n)
            text, place = f"flip_bits {self.static(c)}", lambda i: i ^ c
        elif kind == 2 and log:
            k = self.rng.randrange(log + 1)
            text, place = f"rotate_bits {self.static(k)}", lambda i: rotated(i, k, log)
        elif kind == 3 and log:
            bits = self.rng.sample(range(log), log)
            text, place = f"bit_permute {bits}", lambda i: sum(
                (i >> b & 1) << k for k, b in enumerate(bits)
            )
        elif kind == 4 and log:
            k = self.pick(*(k for k in range(1, log + 1) if log % k == 0))
            text, place = f"digitrev {self.static(k)}", lambda i: reversed_bits(i, log, k)
        else:
            text = self.rng.choice([*REORDERINGS])
            place = REORDERINGS[text](log)
        return Expr(f"({text} {xs.text})", lambda env: moved(place, xs.run(env)))

    def sorted(self, n, u, scope, depth):
        xs, kind = self.array(array(n, u), scope, depth), self.rng.randrange(7)
        if kind == 0:
            return Expr(
                f"(sort_desc {xs.text})",
                lambda env: blurred(sorted(xs.run(env), key=s.total_key, reverse=True)),
            )
        if kind == 1:
            key = self.ordered_type()
            f = self.function(u, key, scope, depth)[0]
            return Expr(
                f"(sort_stable_on {f.text} {xs.text})",
                lambda env: sorted(xs.run(env), key=lambda x: s.total_key(f.run(env, x))),
            )
        if kind == 2 and u == "i64":
            t, name = self.ordered_type(), self.pick("argsort", "ranks")
            ys = self.array(array(n, t), scope, depth)

            def order(env):
                keys = [s.total_key(y) for y in ys.run(env)]
                places = sorted(range(n), key=keys.__getitem__)
                return (
                    places
                    if name == "argsort"
                    else moved(places.__getitem__, range(n)) and [places.index(i) for i in range(n)]
                )

            return Expr(f"({name} {ys.text})", order)
        if kind == 3:
            name, down = self.pick(("top_k", True), ("bottom_k", False))
            ys = self.array(array(n + self.pick(0, 1, 3, n, 3 * n), u), scope, depth)
            return Expr(
                f"({name} {n} {ys.text})",
                lambda env: blurred(sorted(ys.run(env), key=s.total_key, reverse=down)[:n]),
            )
        if kind == 4 and n > 1:
            return Expr(
                f"(merge (two sort {xs.text}))",
                lambda env: blurred(sorted(xs.run(env), key=s.total_key)),
            )
        if kind == 5:
            k = self.rng.randrange(n + 1)
            ys, zs = (self.array(array(m, u), scope, depth) for m in (k, n - k))
            return Expr(
                f"(merge_sorted (padded maxval sort {ys.text}) (padded maxval sort {zs.text}))",
                lambda env: blurred(sorted(ys.run(env) + zs.run(env), key=s.total_key)),
            )
        return Expr(
            f"({self.rng.choice(SORTERS)} {xs.text})",
            lambda env: blurred(sorted(xs.run(env), key=s.total_key)),
        )

    def scanned(self, n, u, scope, depth):
        xs = self.array(array(n, u), scope, depth)
        op, f = self.pick(
            ("(+)", lambda a, b: s.arithmetic("+", u, a, b)),
            ("(*)", lambda a, b: s.arithmetic("*", u, a, b)),
            ("max", max),
            ("min", min),
            ("xor", lambda a, b: s.bitwise("xor", u, a, b)),
        )
        if self.chance(0.3):
            return Expr(
                f"(fwht {xs.text})",
                lambda env: (
                    lambda xs: [
                        reduce(
                            lambda a, j: s.arithmetic("+-"[parity(j & k)], u, a, xs[j]), range(n), 0
                        )
                        for k in range(n)
                    ]
                )(xs.run(env)),
            )
        if op == "xor":
            op = "(\\a b -> a xor b)"

        def run(env):
            ys = xs.run(env)
            return [reduce(f, ys[: i + 1]) for i in range(n)]

        return Expr(f"(scan {op} {xs.text})", run)

    def recursive(self, n, u, scope, depth):
        """A recursion over halves, each level with a column."""
        log, name, k = n.bit_length() - 1, self.name(), self.name()
        f = self.function(array(2, u), array(2, u), scope, depth)[0]
        xs, (half, low) = self.array(array(n, u), scope, depth), self.pick(
            ("two", False), ("ilv", True)
        )
        text_mask = self.pick(f"2^({k}-1)", f"2^{k} - 1", "1")

        def level(env, k, xs):
            if k == 0:
                return xs
            xs = column(
                {"1": 1}.get(text_mask, 2**k - 1 if text_mask.endswith("- 1") else 2 ** (k - 1)),
                lambda p: f.run(env, p),
                xs,
            )
            return parm(1 if low else 2 ** (k - 1), lambda _, ys: level(env, k - 1, ys), xs)

        column_text = f"(column ({text_mask}) {f.text} xs)"
        return Expr(
            f"(let {name} 0 xs = xs; {name} {k} xs = {half} ({name} ({k}-1)) {column_text} in {name} {log} {xs.text})",
            lambda env: level(env, log, xs.run(env)),
        )

    # ---- programs ---------------------------------------------------------------------------------

    def program(self):
        while True:
            try:
                Expr.steps = 0
                self.sizes = {}
                return self.try_program()
            except TooLong:
                pass

    def try_program(self):
        types = [self.scalar_type()] + [
            self.array_type() if self.chance(0.8) else self.element_type()
            for _ in range(self.rng.randrange(1, 4))
        ]
        result = (
            "tuple",
            *(
                self.array_type() if self.chance(0.8) else self.element_type()
                for _ in range(self.rng.randrange(2, 4))
            ),
        )
        scope = [Variable(f"a{i}", t) for i, t in enumerate(types)]
        signature = [self.signature(t, i) for i, t in enumerate(types)]
        bindings = []
        for i in range(self.rng.randrange(3)):
            t = self.array_type() if self.chance(0.7) else self.element_type()
            bindings.append((Variable(f"w{i}", t), self.value(t, scope, 3)))
            scope = scope + [bindings[-1][0]]
        body = self.value(result, scope, 5)
        arguments = [random_value(self.rng, t) for t in types]
        env = {f"a{i}": x for i, x in enumerate(arguments)}
        for v, x in bindings:
            env[v.name] = x.run(env)
        text = "".join(["p0", *(f" a{i}" for i in range(len(types)))]) + f" =\n  {body.text}"
        for i, (v, x) in enumerate(bindings):
            text += "\n  where " * (i == 0) + "\n        " * (i > 0) + f"{v.name} = {x.text}"
        return Program(text, types, signature, result, arguments, body.run(env))

    def signature(self, t, i):
        if t[0] != "array":
            return type_text(t)
        n, kind = t[1], self.pick("[{n}]", "[]", "[m{i}]", *["[2^n{i}]"] * power_of_two(t[1]))
        if kind == "[m{i}]":
            self.sizes[f"m{i}"] = n
        elif kind == "[2^n{i}]":
            self.sizes[f"n{i}"] = n.bit_length() - 1
        return kind.format(n=n, i=i) + type_text(t[2])
