#!/usr/bin/env python3
"""NumPy, SciPy, FFTW, PyTorch or CuPy (cuFFT), with the protocol of peer.h: for each line of input one turn, its
seconds as a line; at the end the result is compared with NumPy's.

  python3 arrays.py numpy scan '[16777216]i64' cpu 1
  python3 arrays.py torch sort '[1024][1024]f32' cuda 1
  python3 arrays.py cupy fft '[1048576]c64' cuda 1

On processors a turn is the mean of as many calls as take 5 ms. On a GPU it is the device's time of ten
calls, recorded as one graph where they can be, after as many that are not counted. Data, plans and,
where a call takes one, its result are there before. torch.sort also writes the places that the
elements came from, as i64: it has no other form; its keys are i32 where permc's are u32, as all of
PyTorch's elements of 2 to 8 bytes. Its bit reversal is a copy of a permuted view of 2 x 2 x ... x 2; gather and scatter have places of i64.
"""
import pathlib
import re
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import data

RUNS = 10  # in a graph


def places_of(count):
    return np.random.default_rng(2).permutation(count)


def bits_of(x):
    return [2] * (x.size.bit_length() - 1)


def scattered(x):
    out = np.empty_like(x)
    out[places_of(x.size)] = x
    return out


# What each operation makes of an array, or of two.
EXPECTED = {
    **{name: lambda *xs, call=call: call(*map(data.wide, xs))
       for name, call in data.TRANSFORMS.items()},
    "transpose": lambda x: x.T,
    "bitrev": lambda x: x.reshape(bits_of(x)).T.reshape(-1),
    "scan": lambda x: np.cumsum(x, dtype=x.dtype),
    "sum": lambda x: np.sum(x, dtype=np.float64 if x.dtype.kind == "f" else x.dtype),
    "maximum": np.max,
    "exp": np.exp,
    "sort": lambda x: np.sort(x, -1),
    "gather": lambda x: x[places_of(x.size)],
    "scatter": scattered,
}


def other_of(x):
    """What x is convolved with."""
    return data.random(x.shape, f"{x.dtype.kind}{8 * x.itemsize}", 2).copy()


def convolution(fft, x, y, **more):
    return lambda: fft.ifft(fft.fft(x, **more) * fft.fft(y, **more), **more)


# Of each library: a function of the array and the operation gives what is called.
def numpy_call(x, operation, device):
    if operation == "convolve":
        return convolution(np.fft, x, other_of(x))
    turned = np.empty(x.shape[::-1], x.dtype)
    out, places = np.empty_like(x), places_of(x.size) if operation == "gather" else None
    return {**{name: lambda call=call: call(x) for name, call in data.TRANSFORMS.items()},
            "transpose": lambda: np.copyto(turned, x.T) or turned,
            "scan": lambda: np.cumsum(x, dtype=x.dtype, out=out),
            "sum": lambda: np.sum(x, dtype=x.dtype),
            "maximum": lambda: np.max(x),
            "exp": lambda: np.exp(x, out=out),
            "sort": lambda: np.sort(x, -1),
            "gather": lambda: np.take(x, places, out=out, mode="clip")}[operation]


def scipy_call(x, operation, device):
    import scipy.fft
    if operation == "convolve":
        return convolution(scipy.fft, x, other_of(x), workers=THREADS)
    return lambda: getattr(scipy.fft, operation)(x, workers=THREADS)


def pyfftw_call(x, operation, device):
    """FFTW, plans by measure, which are there before."""
    import pyfftw.builders as builders
    how = {"threads": THREADS, "planner_effort": "FFTW_MEASURE"}
    if operation != "convolve":
        plan = getattr(builders, operation)(x.copy(), **how)
        plan.input_array[:] = x
        # (An inverse of reals overwrites what it is given.)
        return (lambda: plan(x)) if operation == "irfft" else lambda: plan.execute() or plan.output_array
    there, back, y = builders.fft(x.copy(), **how), builders.ifft(x.copy(), **how), other_of(x)
    return lambda: back(there(x).copy() * there(y))


def torch_call(x, operation, device):
    import torch
    torch.set_num_threads(THREADS)
    if operation == "convolve":
        return convolution(torch.fft, *(torch.from_numpy(z).to(device) for z in (x, other_of(x))))
    x = torch.from_numpy(x).to(device)
    out = torch.empty_like(x)
    if operation in ("gather", "scatter"):
        places = torch.from_numpy(places_of(x.numel())).to(device)
    if operation == "transpose":
        turned = torch.empty(x.shape[::-1], dtype=x.dtype, device=device)
        return lambda: turned.copy_(x.t())
    if operation == "bitrev":
        view = x.view(bits_of(np.empty(x.shape, "u1")))
        target, view = torch.empty_like(view), view.permute(list(range(view.dim()))[::-1])
        return lambda: target.copy_(view).view(-1)
    if operation == "sort":
        order = torch.empty(x.shape, dtype=torch.int64, device=device)
        return lambda: torch.sort(x, dim=-1, out=(out, order))[0]
    return {"fft": lambda: torch.fft.fft(x, out=out),
            "fft2": lambda: torch.fft.fft2(x, out=out),
            "rfft": lambda: torch.fft.rfft(x),
            "irfft": lambda: torch.fft.irfft(x),
            "scan": lambda: torch.cumsum(x, 0, dtype=x.dtype, out=out),
            "sum": lambda: torch.sum(x, dtype=x.dtype),
            "maximum": lambda: torch.amax(x),
            "exp": lambda: torch.exp(x, out=out),
            "gather": lambda: torch.index_select(x, 0, places, out=out),
            "scatter": lambda: out.scatter_(0, places, x)}[operation]


def cupy_call(x, operation, device):
    """cuFFT's own calls, which do not scale; a convolution has a kernel for product and scale."""
    import cupy
    from cupyx.scipy.fft import get_fft_plan
    cufft, x, y = cupy.cuda.cufft, cupy.asarray(x), other_of(x) if operation == "convolve" else None
    count = 2 * (x.shape[-1] - 1) if operation == "irfft" else x.shape[-1]
    kind = {"rfft": "R2C", "irfft": "C2R"}.get(operation, "C2C")
    plan = get_fft_plan(x, shape=(count,) if kind == "C2R" else None,
                        axes=(-2, -1) if operation == "fft2" else -1, value_type=kind)
    shape = (*x.shape[:-1], count // 2 + 1) if kind == "R2C" else (count,) if kind == "C2R" else x.shape
    out = cupy.empty(shape, "f4" if kind == "C2R" else np.result_type(x.dtype, np.complex64))
    if operation != "convolve":
        direction = cufft.CUFFT_INVERSE if kind == "C2R" else cufft.CUFFT_FORWARD
        return lambda: plan.fft(x, out, direction) or out
    y, parts = cupy.asarray(y), [cupy.empty_like(x) for _ in range(2)]
    product = cupy.ElementwiseKernel("T a, T b", "T c", f"c = a * b * T({1 / count!r})")

    def convolve():
        plan.fft(x, parts[0], cufft.CUFFT_FORWARD)
        plan.fft(y, parts[1], cufft.CUFFT_FORWARD)
        product(*parts, parts[0])
        plan.fft(parts[0], out, cufft.CUFFT_INVERSE)
        return out

    return convolve


# ---- clocks -------------------------------------------------------------------------------------


def on_processor(call):
    def turn():
        calls, start = 0, time.perf_counter()
        while True:
            call()
            calls += 1
            seconds = time.perf_counter() - start
            if seconds >= 0.005:
                return seconds / calls

    return turn


def run_ten(call):
    for _ in range(RUNS):
        call()


def torch_turn(call):
    import torch
    side = torch.cuda.Stream()  # as PyTorch asks for: first runs outside of the one that records
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        run_ten(call)
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph, run = torch.cuda.CUDAGraph(), lambda: run_ten(call)
    try:
        with torch.cuda.graph(graph):
            run_ten(call)
        run = graph.replay
    except RuntimeError:  # PyTorch cannot record it
        torch.cuda.synchronize()
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def turn():
        run()
        first.record()
        run()
        last.record()
        last.synchronize()
        return first.elapsed_time(last) / 1e3 / RUNS

    return turn


def cupy_turn(call):
    import cupy
    stream = cupy.cuda.Stream(non_blocking=True)
    first, last = cupy.cuda.Event(), cupy.cuda.Event()
    with stream:
        call()
        stream.begin_capture()
        run_ten(call)
        graph = stream.end_capture()

    def turn():
        graph.launch(stream)
        first.record(stream)
        graph.launch(stream)
        last.record(stream)
        last.synchronize()
        return cupy.cuda.get_elapsed_time(first, last) / 1e3 / RUNS

    return turn


# ---- the program --------------------------------------------------------------------------------


def is_right(found, expected):
    found = np.asarray(found.cpu() if hasattr(found, "cpu") else found.get() if hasattr(found, "get")
                       else found)
    if found.dtype.kind in "fc" and OPERATION in (*data.TRANSFORMS, "scan", "sum", "exp"):
        return np.linalg.norm(found - expected) <= 1e-4 * np.linalg.norm(expected)
    return np.array_equal(found.reshape(expected.shape), expected)


def main(library, operation, types, device, threads):
    global OPERATION, THREADS
    OPERATION, THREADS = operation, int(threads)
    *shape, kind = re.findall(r"\w+", types)
    if library == "torch":
        kind = re.sub(r"^u(16|32|64)$", r"i\1", kind)
    x = data.random([int(d) for d in shape], kind).copy()
    call = globals()[library + "_call"](x, operation, device)
    turn = on_processor(call) if device == "cpu" else globals()[library + "_turn"](call)
    for _ in sys.stdin:
        print(f"{turn():.9g}", flush=True)
    expected = EXPECTED[operation](*[x] + [other_of(x)] * (operation == "convolve"))
    if library == "cupy" and operation == "irfft":
        expected *= expected.size
    if not is_right(call(), expected):
        sys.exit(f"{library}: the result of {operation} is wrong")


if __name__ == "__main__":
    main(*sys.argv[1:])
