#!/usr/bin/env python3
"""What calls from Python take, beside numpy.sort, torch.sort and cupy.sort in one process: the table
of bench/results/python.md. Run with the package permc on PYTHONPATH; what is not installed, and a
GPU that is not there, is left out. Each line is the median of 9 series and their least and
greatest, in microseconds a call; every result is compared with the peer's.

On a GPU, too: which copies of memory the profiler of PyTorch saw in a call, and whether a call that
a graph captured sorts new data when it is replayed. The last line counts what was wrong.
"""
import statistics
import sys
import time

import numpy
import permc

try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
except ImportError:
    cupy = None

SERIES = 9
SERIES_SECONDS = 0.05
wrong = 0


def check(good, what):
    global wrong
    if not good:
        wrong += 1
        print(f"WRONG: {what}")


def measure(call, wait=lambda: None):
    """Microseconds a call: the median of the series, the least and the greatest."""
    for _ in range(3):
        call()
    wait()
    start = time.perf_counter()
    call()
    wait()
    calls = max(1, int(SERIES_SECONDS / (time.perf_counter() - start)))
    found = []
    for _ in range(SERIES):
        wait()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        wait()
        found.append((time.perf_counter() - start) / calls * 1e6)
    return statistics.median(found), min(found), max(found)


def line(what, figures, peer):
    print(f"{what:32} {figures[0]:10.2f} ({figures[1]:.2f} to {figures[2]:.2f})  "
          f"peer {peer[0]:10.2f} ({peer[1]:.2f} to {peer[2]:.2f})  {peer[0] / figures[0]:.2f} times",
          flush=True)


def random(shape, dtype="i4"):
    made = numpy.random.default_rng(7).integers(-2**31, 2**31, shape, "i4")
    return made if dtype == "i4" else (made / 2**12).astype(dtype)


def numpy_arrays():
    for threads in (0, 1):
        sort = permc.compile("sort", backend="cpu", threads=threads)
        for n in (16, 2**10, 2**20, 2**24):
            xs = random(n)
            check((sort(xs) == numpy.sort(xs)).all(), f"numpy, {n}")
            line(f"numpy, {threads or 'all'} threads, {n}", measure(lambda: sort(xs)),
                 measure(lambda: numpy.sort(xs)))


def graph_time(call, stream):
    """Microseconds of the kernels of 20 calls, by a graph that has them; a 20th of it."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(20):
            call()
    return [each / 20 for each in measure(graph.replay, torch.cuda.synchronize)]


def torch_tensors():
    sort, rows = permc.compile("sort"), permc.compile("map sort")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for n in (2**10, 2**16, 2**20, 2**24):
            xs = torch.from_numpy(random(n)).cuda()
            check(torch.equal(sort(xs), xs.sort()[0]), f"torch, {n}")
            call = measure(lambda: sort(xs), torch.cuda.synchronize)
            line(f"torch, {n}", call, measure(lambda: xs.sort(), torch.cuda.synchronize))
            kernels = graph_time(lambda: sort(xs), stream)
            print(f"{'':32} its kernels {kernels[0]:.2f}; a call is {call[0] - kernels[0]:.2f} more, "
                  f"{(call[0] / kernels[0] - 1) * 100:.1f} %")
        for dtype in ("f4", "i4"):
            xs = torch.from_numpy(random((2**14, 2**10), dtype)).cuda()
            check(torch.equal(rows(xs), xs.sort(dim=-1)[0]), f"torch, rows of {dtype}")
            line(f"torch, 2^14 rows of 2^10 {dtype}", measure(lambda: rows(xs), torch.cuda.synchronize),
                 measure(lambda: xs.sort(dim=-1), torch.cuda.synchronize))

        xs = torch.from_numpy(random(2**20)).cuda()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU,
                                                torch.profiler.ProfilerActivity.CUDA]) as profile:
            out = sort(xs)
            torch.cuda.synchronize()
        names = [e.key for e in profile.key_averages()]
        copies = [each for each in names if "memcpy" in each.lower() or "copy_" in each]
        print(f"profiled: {len(names)} names, copies: {copies or 'none'}")
        check(not copies, "a call copies")

        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            sort(xs, out=out)
        for seed in range(3):
            xs.random_(-2**31, 2**31 - 1)
            graph.replay()
            check(torch.equal(out, xs.sort()[0]), f"a replayed graph, {seed}")
    torch.cuda.synchronize()


def cupy_arrays():
    sort = permc.compile("sort")
    with cupy.cuda.Stream(non_blocking=True) as stream:
        wait = stream.synchronize
        for n in (2**10, 2**16, 2**20, 2**24):
            xs = cupy.asarray(random(n))
            check(bool((sort(xs) == cupy.sort(xs)).all()), f"cupy, {n}")
            line(f"cupy, {n}", measure(lambda: sort(xs), wait), measure(lambda: cupy.sort(xs), wait))


print(f"permc {permc.__version__}, Python {sys.version.split()[0]}, NumPy {numpy.__version__}, PyTorch "
      f"{torch.__version__ if torch else 'none'}, CuPy {cupy.__version__ if cupy else 'none'}")
numpy_arrays()
if cupy and cupy.cuda.is_available():
    cupy_arrays()
if torch and torch.cuda.is_available():  # last: launches take longer once a profiler was there
    print(torch.cuda.get_device_name())
    torch_tensors()
print(f"{wrong} wrong")
sys.exit(wrong != 0)
