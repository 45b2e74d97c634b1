#!/usr/bin/env python3
"""Calls at once on one GPU, each result compared with the processor's: by two streams, two threads,
two contexts, a captured graph beside calls, and two graphs, of every program of the library whose
kernels keep something between their blocks. Needs PyTorch and the package permc on PYTHONPATH.

    bench/streams.py                          10,000 calls on each of two streams, of 2^16 elements
    bench/streams.py --bits 24 --calls 100 scan sort
    bench/streams.py --device cpu --calls 2   tries the script itself where there is no GPU

A line says how many results were wrong, and how long a call took with its comparison. The exit
status is 1 if any was.
"""
import argparse
import contextlib
import sys
import threading
import time

import numpy
import torch

import permc

# The expression, the types of its arguments, and whether it checks its data, so that no graph can
# hold it. A row of rows: 2^10 elements each.
PROGRAMS = [
    ("scan (+)", ["int32"], False),
    ("scan (+)", ["int64"], False),
    ("scan max", ["float32"], False),
    ("scan_segments (+)", ["bool", "int32"], False),
    ("\\xs ys -> (scan (+) xs, scan_back (+) ys)", ["int32", "int64"], False),
    ("sort", ["int32"], False),
    ("sort", ["float64"], False),
    ("sort", ["uint8"], False),
    ("argsort", ["float32"], False),
    ("\\xs ys -> sort_on fst (zip xs ys)", ["int64", "int32"], False),
    ("map sort", ["rows int32"], False),
    ("map argsort", ["rows float32"], False),
    ("sort_ragged (map (\\i -> 100 * i) (iota 300))", ["int32"], True),
    ("compact odd", ["int32"], False),
    ("bucket 3 (\\x -> x & 7)", ["int32"], False),
    ("histogram 8 id", ["uint8"], False),
    ("top_k 100", ["float32"], False),
    ("shuffle_random 3", ["int32"], False),
]


def draw(kind, count, generator):
    rows, kind = kind.startswith("rows "), kind.split()[-1]
    values = generator.integers(0, 1 << 20, count)
    values = values < 1 << 14 if kind == "bool" else values.astype(kind)
    return values.reshape(-1, 1024) if rows else values


def listed(results):
    return list(results) if isinstance(results, tuple) else [results]


class Work:
    """A function on arguments of its own, on a stream of its own."""

    def __init__(self, function, kinds, seed, o):
        generator = numpy.random.default_rng(seed)
        given = [draw(kind, 1 << o.bits, generator) for kind in kinds]
        self.function, self.graph = function, None
        self.arguments = [torch.from_numpy(a).to(o.device) for a in given]
        self.expected = [torch.as_tensor(a).to(o.device) for a in listed(o.reference(*given))]
        self.wrong = torch.zeros((), dtype=torch.int64, device=o.device)
        self.stream = torch.cuda.Stream() if o.device == "cuda" else None
        if self.stream:
            torch.cuda.synchronize()

    def on_stream(self):
        return torch.cuda.stream(self.stream) if self.stream else contextlib.nullcontext()

    def call(self):
        return listed(self.function(*self.arguments))

    def capture(self):
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=self.stream):
            self.found = self.call()

    def replay(self):
        for found in self.found:
            found.zero_()
        self.graph.replay()
        return self.found

    def step(self):
        with self.on_stream():
            found = self.replay() if self.graph else self.call()
            for a, b in zip(found, self.expected, strict=True):
                self.wrong += torch.ne(a, b).any()


def in_turn(works, calls):
    for _ in range(calls):
        for work in works:
            work.step()


def in_threads(works, calls):
    threads = [threading.Thread(target=in_turn, args=([work], calls)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# How the two are called, whether each has a context of its own, and how many are captured.
MODES = {
    "streams": (in_turn, False, 0),
    "threads": (in_threads, False, 0),
    "contexts": (in_threads, True, 0),
    "graph": (in_turn, False, 1),
    "graphs": (in_turn, False, 2),
}


def run(mode, expression, kinds, o):
    """How many results were wrong, and seconds."""
    how, apart, captured = MODES[mode]
    functions = [permc.compile(expression, backend=o.backend) for _ in range(1 + apart)]
    works = [Work(functions[i * apart], kinds, 7 + i, o) for i in range(2)]
    in_turn(works, 2)  # compiles
    for work in works[:captured]:
        work.capture()
    start = time.perf_counter()
    how(works, o.calls)
    wrong = sum(int(work.wrong) for work in works)  # waits
    return wrong, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("programs", nargs="*", help="those that have one of these in their text")
    parser.add_argument("--calls", type=int, default=10000)
    parser.add_argument("--bits", type=int, default=16, help="2^BITS elements")
    parser.add_argument("--modes", nargs="*", default=list(MODES), choices=list(MODES))
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    o = parser.parse_args()
    o.backend = "cuda" if o.device == "cuda" else "portable"
    total = 0
    for expression, kinds, checks in PROGRAMS:
        if o.programs and not any(p in expression for p in o.programs):
            continue
        o.reference = permc.compile(expression, backend="portable")
        for mode in o.modes:
            captured = MODES[mode][2]
            if captured and (checks or o.device == "cpu"):
                continue
            wrong, seconds = run(mode, expression, kinds, o)
            total += wrong
            print(f"{expression:45} {' '.join(kinds):14} {mode:9} {2 * o.calls:6} calls"
                  f" {seconds / o.calls / 2 * 1e6:8.1f} us {wrong:6} wrong", flush=True)
    print(f"{total} wrong")
    return total > 0


sys.exit(main())
