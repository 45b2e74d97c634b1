#!/usr/bin/env python3
"""What `permc bench -e` measures, beside NumPy and PyTorch on processors, or CuPy and PyTorch on a
GPU: a table in Markdown.

  python3 bench/tables.py --permc build/release/permc > bench/results/cpu.md            # 1 minute
  python3 bench/tables.py --permc build/release/permc --backend cuda > bench/results/gpu.md    # 6

Of each: the median of a call, its speed as a part of that of a copy, what `permc explain` predicts as
a part of what was measured, and how many times as long each peer takes. A peer that is not installed,
or fails, is left out. Processors: one thread of permc, NumPy and PyTorch. GPU: the device's clock;
peers in one CUDA graph of ten calls. Needs a machine that does nothing else. The last line counts
results that were not right.
"""
import argparse
import json
import platform
import statistics
import subprocess
import sys
import time

SERIES, SECONDS, GRAPH = 9, 0.03, 10


def optional(name):
    try:
        return __import__(name)
    except ImportError:
        return None


numpy, torch, cupy = optional("numpy"), optional("torch"), optional("cupy")

# ---- peers: a function of the size's exponent gives what is called, on random elements -----------


def elements(kind, n):
    if kind == "c64":
        return (numpy.random.default_rng(1).random(2 << n, "f4") - 0.5).view("c8")
    if kind.startswith("f"):
        return numpy.random.default_rng(1).random(1 << n, kind[0] + str(int(kind[1:]) // 8))
    return numpy.random.default_rng(1).integers(0, 1 << 7, 1 << n).astype(kind[0] + str(int(kind[1:]) // 8))


def with_numpy(call):
    return lambda kind, n: call(elements(kind, n), numpy.empty(1 << n, elements(kind, 0).dtype))


def with_torch(call):
    def make(kind, n):
        x = torch.from_numpy(elements(kind, n)).to(OPTIONS.device)
        return lambda: call(x)
    return make


def cufft(kind, n):
    x = cupy.asarray(elements(kind, n))
    plan, out = cupy.cuda.cufft.Plan1d(1 << n, cupy.cuda.cufft.CUFFT_C2C, 1), cupy.empty_like(x)
    return lambda: plan.fft(x, out, cupy.cuda.cufft.CUFFT_FORWARD)


def side(n):
    return 1 << n // 2, 1 << n - n // 2


fft = {"NumPy": with_numpy(lambda x, out: lambda: numpy.fft.fft(x)), "cuFFT": cufft,
       "PyTorch": with_torch(lambda x: torch.fft.fft(x))}
turned = {"NumPy": with_numpy(lambda x, out: lambda: numpy.copyto(
    out.reshape(-1, side(x.size.bit_length() - 1)[0]), x.reshape(side(x.size.bit_length() - 1)).T)),
          "PyTorch": with_torch(lambda x: x.view(side(x.numel().bit_length() - 1)).T.contiguous())}
scan = {"NumPy": with_numpy(lambda x, out: lambda: numpy.cumsum(x, dtype=x.dtype, out=out)),
        "PyTorch": with_torch(lambda x: torch.cumsum(x, 0, dtype=x.dtype))}
total = {"NumPy": with_numpy(lambda x, out: lambda: numpy.sum(x, dtype=x.dtype)),
         "PyTorch": with_torch(lambda x: torch.sum(x, dtype=x.dtype))}
most = {"NumPy": with_numpy(lambda x, out: lambda: numpy.max(x)),
        "PyTorch": with_torch(torch.amax)}
keys = {"PyTorch": with_torch(torch.sort if torch else None)}
mapped = {"NumPy": with_numpy(lambda x, out: lambda: numpy.exp(x, out=out)),
          "PyTorch": with_torch(torch.exp if torch else None)}

# expression, kind of elements, exponents on processors, on a GPU, shape of an exponent, peers
TABLE = [
    ("fft", "c64", (4, 10, 16, 20, 24), range(10, 29, 2), None, fft),
    ("bitrev", "u32", (10, 16, 20, 24), (20, 24, 28), None, {}),
    ("bitrev", "u8", (20, 24), (28,), None, {}),
    ("transpose", "i32", (10, 16, 20, 24), (20, 24, 28), side, turned),
    ("scan (+)", "i32", (10, 16, 20, 24), (20, 24, 28), None, scan),
    ("scan (+)", "i64", (20, 24), (20, 24), None, scan),
    ("sum", "f32", (10, 16, 20, 24), (20, 24), None, total),
    ("maximum", "f32", (20, 24), (20, 24), None, most),
    ("map exp", "f32", (10, 20, 24), (20, 24), None, mapped),
    ("sort", "i32", (), range(10, 29, 2), None, keys),  # on processors: bench/sorts.py
    ("sort", "i64", (), (10, 16, 20, 24, 28), None, keys),
    ("argsort", "i32", (), (20, 24), None, keys),
    ("map sort", "i32", (), (20, 24), lambda n: (1 << n - 10, 1 << 10), {}),
]

# ---- measuring -----------------------------------------------------------------------------------


def on_processor(call):
    """Seconds of a call: the least median of as many as fit in a series."""
    call()
    series = []
    for _ in range(SERIES):
        times, end = [], time.perf_counter() + SECONDS
        while not times or time.perf_counter() < end:
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        series.append(statistics.median(times))
    return min(series)


def on_gpu(call, of_cupy):
    """The same by the device's clock, of calls in one graph."""
    if of_cupy:
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            call()
            stream.begin_capture()
            for _ in range(GRAPH):
                call()
            graph = stream.end_capture()
            launch = lambda: graph.launch(stream)
            launch()
            return cupy_times(launch, stream)
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(GRAPH):
            call()
    graph.replay()
    times = []
    for _ in range(3 * SERIES):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3 / GRAPH)
    return statistics.median(times)


def cupy_times(launch, stream):
    times = []
    for _ in range(3 * SERIES):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record(stream)
        launch()
        end.record(stream)
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end) / 1e3 / GRAPH)
    return statistics.median(times)


def peer_seconds(name, make, kind, n):
    try:
        call = make(kind, n)
        return on_processor(call) if OPTIONS.device == "cpu" else on_gpu(call, name == "cuFFT")
    except Exception as why:  # not installed, no memory, nothing for these elements
        print(f"{name} {kind} 2^{n}: {why}", file=sys.stderr)
        return None


def permc_row(expression, types):
    command = [OPTIONS.permc, "bench", "-e", expression, "--arguments", types, "--json", "--seconds",
               str(OPTIONS.seconds)]
    command += ["--backend", "cuda"] if OPTIONS.device == "cuda" else ["--threads", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{expression} {types}: {done.stderr}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def show(seconds):
    for unit, scale in ("s", 1), ("ms", 1e3), ("us", 1e6):
        if seconds * scale >= 1 or unit == "us":
            return f"{seconds * scale:.3g} {unit}"


def main():
    wrong = 0
    names = ("cuFFT", "PyTorch") if OPTIONS.device == "cuda" else ("NumPy", "PyTorch")
    head = None
    for expression, kind, cpu, gpu, shape, peers in TABLE:
        for n in gpu if OPTIONS.device == "cuda" else cpu:
            types = "".join(f"[{d}]" for d in (shape(n) if shape else (1 << n,))) + kind
            report = permc_row(expression, types)
            if report is None:
                wrong += 1
                continue
            row = report["rows"][0]
            if head is None:
                head = f"{row.get('device') or report['processor']}; permc {report['permc']}, " \
                       f"{report['compiler']}; {report['system']}, {report['date']}, " \
                       f"Python {platform.python_version()}"
                print(f"{head}\n\n| program | a call | of copy | predicted | "
                      + " | ".join(names) + " |\n|---|---|---|---|" + "---|" * len(names))
            median = row["seconds"]["median"]
            copy = next((s["ratio"]["median"] for s in row["beside"] if s["name"] == "copy"), None)
            cells = [f"{expression} {kind} 2^{n}", show(median), f"{100 / copy:.0f} %" if copy else "",
                     f"{row['predicted'] / median:.2f}" if row["predicted"] else ""]
            for name in names:
                taken = peer_seconds(name, peers[name], kind, n) if name in peers else None
                cells.append(f"{show(taken)}, {taken / median:.2f} times" if taken else "")
            print("| " + " | ".join(cells) + " |", flush=True)
    print(f"\n{wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--permc", required=True)
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu", dest="device")
    parser.add_argument("--seconds", type=float, default=1, help="of permc, a row")
    OPTIONS = parser.parse_args()
    if torch:
        torch.set_num_threads(1)
    main()
