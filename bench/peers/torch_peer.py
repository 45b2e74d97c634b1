#!/usr/bin/env python3
"""PyTorch on a GPU, with the protocol of peer.h: moves of elements, and torch.sort.

  torch --operation transpose --count 16777216          figures as JSON
  torch --operation sort --type f32 --turns             for each line of input one turn, its
                                                        seconds as a line

Times are the device's: ten runs into an array that is there before, recorded as one graph where
PyTorch can be recorded, after as many that are not counted. torch.sort also writes the places that
the elements came from, as int64: it has no other form. i32 stand for u32.
"""

import argparse
import json
import math
import sys

RUNS = 10
LEAST_ROUNDS = 11


def fail(message):
    lines = str(message).strip().splitlines()
    print("torch: " + (lines[0] if lines else "it fails"), file=sys.stderr)
    sys.exit(1)


def positive(word):
    number = int(word)
    if number < 1:
        raise ValueError
    return number


def read_options():
    parser = argparse.ArgumentParser(prog="torch", allow_abbrev=False)
    parser.add_argument("--operation", choices=sorted(OPERATIONS), default="sort")
    parser.add_argument("--count", type=positive, default=1 << 20)
    parser.add_argument("--row", type=positive, default=0)
    parser.add_argument("--rows", type=positive, default=0, help="of a matrix, for transpose")
    parser.add_argument("--columns", type=positive, default=0)
    parser.add_argument("--width", type=positive, choices=[1, 2, 4, 8, 16], default=4)
    parser.add_argument("--threads", type=positive, default=1)
    parser.add_argument("--type", choices=["u32", "f32"], default="u32")
    parser.add_argument("--turns", action="store_true")
    given = parser.parse_args()
    given.row = min(given.row or given.count, given.count)
    if given.count % given.row:
        fail("the rows do not fill the input")
    return given


# ---- operations: each gives what is timed, and whether its result is right ----------------------


def bits_of(count):
    if count & (count - 1):
        fail("the count is no power of two")
    return count.bit_length() - 1


def random_elements(given):
    if given.width == 16:
        return torch.randn((given.count,), dtype=torch.complex128, device="cuda")
    kind = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[given.width]
    ends = torch.iinfo(kind)
    return torch.randint(ends.min // 2, ends.max // 2, (given.count,), dtype=kind, device="cuda")


def permutation_from(places):
    """The place that each element of the result comes from, of the places where they go."""
    inverse = torch.empty_like(places)
    inverse[places] = torch.arange(places.numel(), device="cuda")
    return inverse


def moving(given, source, result, work, come_from):
    """come_from(i): the places of the elements of the result from i on, in parts that fit."""

    def check():
        part = 1 << 24
        flat = result.reshape(-1)
        for start in range(0, given.count, part):
            places = torch.arange(start, min(start + part, given.count), device="cuda")
            if not torch.equal(flat[start : start + part], source[come_from(places)]):
                return "an element is not in its place"
        return None

    return work, check, result


def transpose(given):
    rows, columns = given.rows, given.columns
    if rows * columns == 0:
        bits = bits_of(given.count)
        rows, columns = 1 << (bits - bits // 2), 1 << (bits // 2)
    given.count = rows * columns
    source = random_elements(given)
    result = torch.empty((columns, rows), dtype=source.dtype, device="cuda")
    turned = source.view(rows, columns).t()
    return moving(given, source, result, lambda: result.copy_(turned),
                  lambda i: i % rows * columns + i // rows)


def bit_reversal(given):
    bits = bits_of(given.count)
    source = random_elements(given)
    result = torch.empty([2] * bits, dtype=source.dtype, device="cuda")
    turned = source.view([2] * bits).permute(list(range(bits))[::-1])

    def come_from(places):
        reversed_places = torch.zeros_like(places)
        for _ in range(bits):
            reversed_places = reversed_places * 2 + places % 2
            places = places // 2
        return reversed_places

    return moving(given, source, result, lambda: result.copy_(turned), come_from)


def index_select(given):
    source = random_elements(given)
    places = torch.randperm(given.count, device="cuda")
    result = torch.empty_like(source)
    return moving(given, source, result,
                  lambda: torch.index_select(source, 0, places, out=result), lambda i: places[i])


def scatter(given):
    source = random_elements(given)
    places = torch.randperm(given.count, device="cuda")
    come_from = permutation_from(places)
    result = torch.empty_like(source)
    return moving(given, source, result, lambda: result.scatter_(0, places, source),
                  lambda i: come_from[i])


def sort(given):
    rows = given.count // given.row
    if given.type == "f32":
        source = torch.rand((rows, given.row), device="cuda")
    else:
        source = torch.randint(-(1 << 31), 1 << 31, (rows, given.row), dtype=torch.int32,
                               device="cuda")
    result = torch.empty_like(source)
    places = torch.empty(source.shape, dtype=torch.int64, device="cuda")

    def check():
        if not bool((result[:, 1:] >= result[:, :-1]).all()):
            return "a row is not sorted"
        if not torch.equal(result, torch.gather(source, 1, places)):
            return "an element is not from where its place says"
        seen = torch.zeros(source.shape, dtype=torch.bool, device="cuda").scatter_(1, places, True)
        return None if bool(seen.all()) else "an element is missing"

    return lambda: torch.sort(source, dim=1, out=(result, places)), check, result


OPERATIONS = {"transpose": transpose, "bit-reversal": bit_reversal, "index-select": index_select,
              "scatter": scatter, "sort": sort}

# ---- turns --------------------------------------------------------------------------------------


def record(work):
    """Ten runs as a graph; None where PyTorch cannot record them."""
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            for _ in range(RUNS):
                work()
        graph.replay()
        torch.cuda.synchronize()
        return graph
    except RuntimeError:
        torch.cuda.synchronize()
        return None


def turn_of(work):
    side = torch.cuda.Stream()  # as PyTorch asks for: first runs outside of the one that records
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = record(work)
    first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def run_ten():
        if graph:
            graph.replay()
            return
        for _ in range(RUNS):
            work()

    def turn():
        run_ten()
        first.record()
        run_ten()
        last.record()
        last.synchronize()
        return first.elapsed_time(last) / 1e3 / RUNS

    return turn


def figures_of(samples):
    """As bench_figures_of: the interval holds the median with a probability of 95 %."""
    samples.sort()
    count, rank, below, term = len(samples), 0, 0.0, 0.5 ** len(samples)
    while 2 * (below + term) <= 0.05:
        below += term
        term *= (count - rank) / (rank + 1)
        rank += 1
    rank = max(rank, 1)
    middle = (samples[(count - 1) // 2] + samples[count // 2]) / 2
    return {"runs": count, "median": middle, "least": samples[0], "low": samples[rank - 1],
            "high": samples[count - rank]}


def measure(given, turn):
    for _ in range(2):
        turn()
    samples = [turn() for _ in range(LEAST_ROUNDS)]
    width = 4 if given.operation == "sort" else given.width
    print(json.dumps({"suite": "", "series": "torch", "name": "torch, " + given.operation,
                      "verified": "by itself", "x": given.row, "elements": given.count,
                      "bytes": 2 * given.count * width, "threads": 1,
                      "seconds": figures_of(samples), "beside": []}))


def main():
    given = read_options()
    global torch
    try:
        import torch
    except ImportError as why:
        fail("there is no PyTorch: %s" % why)
    if not torch.cuda.is_available():
        fail("PyTorch finds no GPU")
    try:
        torch.manual_seed(1)
        work, check, result = OPERATIONS[given.operation](given)
        turn = turn_of(work)
        result.zero_()
        if given.turns:
            for _ in sys.stdin:
                seconds = turn()
                if not math.isfinite(seconds) or seconds <= 0:
                    fail("the clock stands still")
                print("%.9g" % seconds, flush=True)
        else:
            measure(given, turn)
        wrong = check()
    except (RuntimeError, TypeError) as why:  # out of memory, too many dimensions, no such kernel
        fail(why)
    if wrong:
        fail(wrong)


if __name__ == "__main__":
    main()
