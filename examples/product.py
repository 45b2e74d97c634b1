"""The product of two integers of a million decimal digits each, by examples/product.perm.

    python examples/product.py [DIGITS]

It is checked against Python: up to 20,000 digits all of it, else modulo three primes.
"""
import os
import random
import sys

import numpy
import permc

BASE = 10**6


def remainder(digits, prime):
    value = 0
    for digit in reversed(digits):
        value = (value * BASE + digit) % prime
    return value


def main(count):
    multiply = permc.compile(os.path.join(os.path.dirname(os.path.abspath(__file__)), "product.perm"))
    draw = random.Random(1)
    places = -(-count // 6)
    xs, ys = ([draw.randrange(BASE) for _ in range(places)] for _ in range(2))
    product = multiply(numpy.array(xs, numpy.uint64), numpy.array(ys, numpy.uint64)).tolist()
    if count <= 20_000:
        x, y, z = (sum(digit * BASE**place for place, digit in enumerate(number)) for number in (xs, ys, product))
        right = x * y == z
    else:
        right = all(remainder(xs, prime) * remainder(ys, prime) % prime == remainder(product, prime)
                    for prime in (2**61 - 1, 2**89 - 1, 10**18 + 9))
    print(f"{count} digits by {count}: {len(product)} digits to the base {BASE}, {'right' if right else 'WRONG'}")
    return not right


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10**6))
