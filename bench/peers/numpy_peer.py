#!/usr/bin/env python3
"""NumPy on one thread, with the protocol of peer.h: cumsum, sum, max; a copy of a transposed matrix, and
take with random indices.

  numpy --operation cumsum --count 16777216 --type i64     figures as JSON
  numpy --operation sum --turns                            for each line of input one turn, its
                                                           seconds as a line

Times are the mean of as many calls as take 5 ms, on data that is there before; cumsum writes to an
array that is there before.
"""

import argparse
import json
import sys
import time

LEAST_ROUNDS = 11


def fail(message):
    print("numpy: %s" % message, file=sys.stderr)
    sys.exit(1)


def random_elements(count, width):
    if width == 16:
        return np.random.default_rng(1).random(2 * count).view(np.complex128)
    return np.random.default_rng(1).integers(0, 127, count * width, np.uint8).view("u%d" % width)


def movement_of(given):
    source = random_elements(given.count, given.width)
    if given.operation == "take":
        places = np.random.default_rng(2).permutation(given.count)
        result = np.empty_like(source)
        return lambda: np.take(source, places, out=result, mode="clip")
    turned = source.reshape(given.rows, given.columns).T
    result = np.empty(turned.shape, source.dtype)
    return lambda: np.copyto(result, turned)


def work_of(given):
    kind = {"i32": np.int32, "i64": np.int64, "f32": np.float32}[given.type]
    random = np.random.default_rng(1)
    if given.type == "f32":
        source = random.random(given.count, dtype=np.float32)
    else:
        source = random.integers(-(1 << 31), 1 << 31, given.count).astype(kind)
    if given.operation == "cumsum":
        result = np.zeros(given.count, kind)
        return lambda: np.cumsum(source, dtype=kind, out=result)
    if given.operation == "sum":
        return lambda: np.sum(source, dtype=kind)
    return lambda: np.max(source)


def turn_of(work):
    def turn():
        calls, start = 0, time.perf_counter()
        while True:
            work()
            calls += 1
            seconds = time.perf_counter() - start
            if seconds >= 0.005:
                return seconds / calls

    return turn


def main():
    parser = argparse.ArgumentParser(prog="numpy", allow_abbrev=False)
    parser.add_argument("--operation", choices=["cumsum", "sum", "max", "transpose", "take"],
                        default="cumsum")
    parser.add_argument("--count", type=int, default=1 << 20)
    parser.add_argument("--rows", type=int, default=0, help="of a matrix, for transpose")
    parser.add_argument("--columns", type=int, default=0)
    parser.add_argument("--width", type=int, choices=[1, 2, 4, 8, 16], default=4)
    parser.add_argument("--type", choices=["i32", "i64", "f32"], default="i64")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", action="store_true")
    given = parser.parse_args()
    if given.count < 1:
        fail("--count must be at least 1")
    global np
    try:
        import numpy as np
    except ImportError as why:
        fail("there is no NumPy: %s" % why)
    moves = given.operation in ("transpose", "take")
    if given.operation == "transpose":
        given.count = given.rows * given.columns
        if given.count < 1:
            fail("--rows and --columns must be at least 1")
    turn = turn_of(movement_of(given) if moves else work_of(given))
    if given.turns:
        for _ in sys.stdin:
            print("%.9g" % turn(), flush=True)
        return
    samples = sorted(turn() for _ in range(LEAST_ROUNDS))
    width = given.width if moves else 8 if given.type == "i64" else 4
    figures = {"runs": len(samples), "median": samples[len(samples) // 2], "least": samples[0],
               "low": samples[1], "high": samples[-2]}
    print(json.dumps({"suite": "", "series": "numpy", "name": "numpy, " + given.operation,
                      "verified": "", "x": given.count, "elements": given.count,
                      "bytes": 2 * given.count * width, "threads": 1, "seconds": figures,
                      "beside": []}))


if __name__ == "__main__":
    main()
