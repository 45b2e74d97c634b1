#!/usr/bin/env python3
"""NumPy's cumsum, sum and max on one thread, with the protocol of peer.h.

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
    parser.add_argument("--operation", choices=["cumsum", "sum", "max"], default="cumsum")
    parser.add_argument("--count", type=int, default=1 << 20)
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
    turn = turn_of(work_of(given))
    if given.turns:
        for _ in sys.stdin:
            print("%.9g" % turn(), flush=True)
        return
    samples = sorted(turn() for _ in range(LEAST_ROUNDS))
    width = 8 if given.type == "i64" else 4
    figures = {"runs": len(samples), "median": samples[len(samples) // 2], "least": samples[0],
               "low": samples[1], "high": samples[-2]}
    print(json.dumps({"suite": "", "series": "numpy", "name": "numpy, " + given.operation,
                      "verified": "", "x": given.count, "elements": given.count,
                      "bytes": 2 * given.count * width, "threads": 1, "seconds": figures,
                      "beside": []}))


if __name__ == "__main__":
    main()
