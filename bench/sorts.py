#!/usr/bin/env python3
"""Sorts, as Python calls them, beside NumPy in one process: a table in Markdown.

  python3 bench/sorts.py > bench/results/sorts.md        with the package permc on PYTHONPATH
  python3 bench/sorts.py --cpu --types u64 --sizes 10,20   processor time: where others work, too

Of each: NumPy's microseconds a call, the best of calls in turn; permc's on one thread and on all, and
how many times as fast; seconds until the first result; and what `permc explain` predicts for all
threads, as a part of what was measured. Stable sorts are compared with stable ones.
Results are compared, and the last line counts those that differ.
"""
import argparse
import json
import os
import platform
import subprocess
import sys
import time

import numpy
import permc

TYPES = {"u8": "u1", "i16": "i2", "u32": "u4", "i32": "i4", "f32": "f4", "i64": "i8", "u64": "u8", "f64": "f8"}
TOP, SECONDS = 16, 0.2
wrong = 0


def rows_of(bits):
    return lambda x: x.reshape(-1, 1 << min(bits, x.size.bit_length() - 1))


def sorted_pairs(k, v):
    order = numpy.argsort(k, kind="stable")
    return k[order], v[order]


# name, function, NumPy's, arguments of an array; sorts of rows take the least of these lengths
SORTS = [
    ("sort", "sort", numpy.sort, lambda x: (x,)),
    ("argsort", "argsort", lambda x: numpy.argsort(x, kind="stable"), lambda x: (x,)),
    ("sort_on fst", r"\ks vs -> unzip (sort_stable_on fst (zip ks vs))", sorted_pairs,
     lambda x: (x, numpy.arange(x.size, dtype="u4"))),
    (f"top_k {TOP}", f"top_k {TOP}",
     lambda x: numpy.sort(numpy.partition(x, x.size - TOP)[-TOP:])[::-1], lambda x: (x,)),
] + [(f"rows of 2^{bits}", "map sort", lambda x: numpy.sort(x, axis=1),
      lambda x, bits=bits: (rows_of(bits)(x),)) for bits in (4, 8, 12)]


def elements(word, count):
    random = numpy.random.default_rng(1)
    if word.startswith("f"):
        return random.standard_normal(count).astype(TYPES[word])
    return numpy.frombuffer(random.bytes(count * numpy.dtype(TYPES[word]).itemsize), TYPES[word])


def measure(calls, clock):
    """Seconds of each, the best of as many turns as there is time for."""
    repeats, best = [], [float("inf")] * len(calls)
    for call in calls:
        start = time.perf_counter()
        call()
        repeats.append(max(1, int(1e-4 / (time.perf_counter() - start))))
    end, turns = time.perf_counter() + SECONDS * len(calls), 0
    while turns < 5 or time.perf_counter() < end:
        for i, call in enumerate(calls):
            start = clock()
            for _ in range(repeats[i]):
                call()
            best[i] = min(best[i], (clock() - start) / repeats[i])
        turns += 1
    return best


def first_call(text, threads, arguments):
    start = time.perf_counter()
    function = permc.compile(text, threads=threads)
    result = function(*arguments)
    ready = time.perf_counter() - start
    while function.backend(*arguments) == "portable" and time.perf_counter() - start < 1:
        function(*arguments)  # until it is compiled
    return function, result, ready


def same(a, b):
    a, b = (x if isinstance(x, tuple) else (x,) for x in (a, b))
    return len(a) == len(b) and all(numpy.array_equal(x, y) for x, y in zip(a, b))


def predicted(text, word, arguments):
    """What `permc explain` says of a call by what auto takes for many, in seconds."""
    names = {numpy.dtype(v): k for k, v in TYPES.items()}
    types = " ".join("".join(f"[{n}]" for n in a.shape) + names[a.dtype] for a in arguments)
    command = [sys.executable, "-m", "permc", "explain", "-e", text, "--arguments", types, "--json"]
    said = subprocess.run(command, capture_output=True, text=True)
    auto = json.loads(said.stdout)["auto"] if said.returncode == 0 else {}
    return auto["predicted"][auto["often"]] if auto else float("nan")


def line(sort, word, bits, given):
    global wrong
    name, text, peer, arguments_of = sort
    arguments = arguments_of(elements(word, 1 << bits))
    one, result, _ = first_call(text, 1, arguments)
    many, _, ready = first_call(text, 0, arguments)
    wrong += not same(result, peer(*arguments))
    clock = time.process_time if given.cpu else time.perf_counter
    calls = [lambda: peer(*arguments), lambda: one(*arguments)]
    if not given.cpu:
        calls.append(lambda: many(*arguments))
    times = measure(calls, clock)
    said = predicted(text, word, arguments)
    shown = [f"{t * 1e6:.2f}" for t in times] + [f"{times[0] / t:.2f}" for t in times[1:]]
    print("|", " | ".join([name, word, f"2^{bits}", *shown, f"{ready:.3f}",
                           f"{said / times[-1]:.2f}"]), "|", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--types", default=",".join(TYPES))
    parser.add_argument("--sizes", default=",".join(map(str, range(4, 25, 2))), help="their log2")
    parser.add_argument("--sorts", default="", help="those whose names begin so, by commas")
    parser.add_argument("--cpu", action="store_true", help="processor time, of one thread only")
    given = parser.parse_args()
    print(f"permc {permc.__version__}, NumPy {numpy.__version__}, Python {platform.python_version()}, "
          f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}\n")
    head = ["sort", "type", "n", "NumPy us", "one us"] + ["all us"] * (not given.cpu)
    head += ["one, times"] + ["all, times"] * (not given.cpu) + ["ready s", "predicted"]
    print("|", " | ".join(head), "|\n|" + "---|" * len(head))
    for sort in SORTS:
        if sort[0].startswith(tuple(given.sorts.split(","))):
            for word in given.types.split(","):
                for bits in map(int, given.sizes.split(",")):
                    line(sort, word, bits, given)
    print(f"\n{wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
