#!/usr/bin/env python3
"""Arrays larger than memory, by `permc run --memory`: the figures of bench/results/files.md.

    bench/files.py --permc build/release/permc --folder /mnt/disk [--size 34] [--memory 30]

--size and --memory are powers of two, of bytes. Each case: the bytes that the kernel counted as
read and written (getrusage), the rate beside what fio moves right after it, with direct requests
of the case's size, half of them reads and half writes; the result is verified. Then 2^28 u32 are
sorted by a quarter of their bytes, beside DuckDB (package duckdb) and GNU sort, where these are
installed. Needs numpy, room for three arrays, and a machine that does nothing else. The last line
counts what was wrong.
"""
import argparse
import json
import os
import shutil
import subprocess
import time

import numpy
from numpy.lib.format import open_memmap

try:
    import duckdb
except ImportError:
    duckdb = None

PIECE = 1 << 23  # elements in memory at a time
wrong = 0


def check(good, what):
    global wrong
    if not good:
        wrong += 1
        print(f"WRONG: {what}", flush=True)


# ---- inputs and what results must be ----------------------------------------------------------


def apart(work, *arguments):
    """In a process of its own: what it has in memory counts as that of processes it starts."""
    global wrong
    child = os.fork()
    if child == 0:
        work(*arguments)
        os._exit(min(wrong, 100))
    wrong += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def make(path, dtype, count):
    """Its elements begin with a page, as permc's do: else each stretch is read with a page more."""
    random = numpy.random.default_rng(1)
    text = f"{{'descr': '{numpy.dtype(dtype).str}', 'fortran_order': False, 'shape': ({count},), }}"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + (4096 - 10).to_bytes(2, "little"))
        out.write(text.encode().ljust(4096 - 11) + b"\n")
        for first in range(0, count, PIECE):
            some = min(PIECE, count - first)
            if dtype == "complex64":
                random.standard_normal(2 * some, "f4").tofile(out)
            else:
                random.integers(0, 1 << 32, some, dtype).tofile(out)


def reversed_bits(places, bits):
    out = numpy.zeros_like(places)
    for b in range(bits):
        out |= (places >> b & 1) << (bits - 1 - b)
    return out


def check_bitrev(given, found):
    bits = len(given).bit_length() - 1
    places = numpy.random.default_rng(2).integers(0, len(given), 20000)
    check((found[places] == given[reversed_bits(places, bits)]).all(), "bitrev: an element")


def check_sort(given, found):
    sums, last = [0, 0], 0
    for first in range(0, len(given), PIECE):
        piece = numpy.asarray(found[first : first + PIECE])
        check(piece[0] >= last and (piece[:-1] <= piece[1:]).all(), "sort: the order")
        last = piece[-1]
        for i, array in enumerate((given, found)):
            sums[i] += int(array[first : first + PIECE].sum(dtype="u8"))
    check(sums[0] == sums[1], "sort: the sum")


def check_fft(given, found):
    """Some coefficients, from their definition."""
    count, wanted = len(given), [0, 1, len(given) // 3]
    sums = [0j] * len(wanted)
    for first in range(0, count, PIECE):
        piece = numpy.asarray(given[first : first + PIECE], "complex128")
        places = numpy.arange(first, first + len(piece))
        for i, k in enumerate(wanted):
            turns = (places * k % count).astype("f8") / count
            sums[i] += (piece * numpy.exp(-2j * numpy.pi * turns)).sum()
    for k, value in zip(wanted, sums):
        check(abs(found[k] - value) < 1e-4 * count**0.5 * 10, f"fft: coefficient {k}")


# name, program, type, bytes of a request, passes that the issue of files allows, check
CASES = [
    ("bitrev", "bitrev", "uint64", 32 << 10, 1, check_bitrev),
    ("fft", "fft", "complex64", 32 << 10, 3, check_fft),
    ("sort", "sort", "uint64", 1 << 20, 4, check_sort),
]


# ---- measuring ---------------------------------------------------------------------------------


def run(command):
    """Seconds, bytes read, bytes written, bytes of memory at most."""
    start = time.monotonic()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - start
    check(process.returncode == 0, " ".join(map(str, command)))
    return seconds, usage.ru_inblock * 512, usage.ru_oublock * 512, usage.ru_maxrss * 1024


def fio(folder, block, seconds=20):
    """Bytes a second that requests of so many bytes move, at any places, read and written."""
    path = os.path.join(folder, "fio")
    order = "randrw" if block < 1 << 20 else "rw"
    command = ["fio", "--name=mix", f"--filename={path}", "--size=4G", f"--rw={order}",
               f"--bs={block}", "--rwmixread=50", "--direct=1", "--ioengine=io_uring",
               "--iodepth=16", "--time_based", f"--runtime={seconds}", "--output-format=json"]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    job = json.loads(out[out.index("{") :])["jobs"][0]
    os.remove(path)
    return job["read"]["bw_bytes"] + job["write"]["bw_bytes"]


def measure(options, name, program, dtype, block, passes, verify):
    given, found = (os.path.join(options.folder, n) for n in ("in.npy", "out.npy"))
    size = 1 << options.size
    apart(make, given, dtype, size // numpy.dtype(dtype).itemsize)
    os.sync()
    seconds, read, written, memory = run(
        [options.permc, "run", "-e", program, "-i", given, "-o", found, "--quiet",
         "--memory", str(1 << options.memory)])
    limit = fio(options.folder, block)
    rate = (read + written) / seconds
    print(f"{name}: {seconds:.1f} s, read {read / size:.3f} and written {written / size:.3f} times "
          f"the array, {rate / 1e9:.2f} GB/s, fio {limit / 1e9:.2f} ({rate / limit:.0%}), "
          f"{memory / 1e6:.0f} MB of memory", flush=True)
    check(max(read, written) < (passes + 0.02) * size, f"{name}: {passes} passes")
    apart(verify, open_memmap(given, mode="r"), open_memmap(found, mode="r"))
    os.remove(given)
    os.remove(found)


# ---- beside others -----------------------------------------------------------------------------


def sort_by_permc(options, given, memory):
    found = os.path.join(options.folder, "out.npy")
    seconds = run([options.permc, "run", "-e", "sort", "-i", given, "-o", found, "--quiet",
                   "--memory", str(memory)])[0]
    apart(check_sort, open_memmap(given, mode="r"), open_memmap(found, mode="r"))
    os.remove(found)
    return seconds


def sort_by_duckdb(options, given, memory):
    path = os.path.join(options.folder, "duck.db")
    db = duckdb.connect(path, config={"memory_limit": f"{memory >> 20}MiB", "threads": 2,
                                      "temp_directory": os.path.join(options.folder, "duck.tmp")})
    db.execute("CREATE TABLE keys (x UINTEGER)")
    array = open_memmap(given, mode="r")
    for first in range(0, len(array), PIECE):
        x = numpy.asarray(array[first : first + PIECE])
        db.execute("INSERT INTO keys SELECT * FROM x")
    db.execute("CHECKPOINT")
    start = time.monotonic()
    db.execute("CREATE TABLE sorted AS SELECT x FROM keys ORDER BY x")
    db.execute("CHECKPOINT")
    seconds = time.monotonic() - start
    db.close()
    os.remove(path)
    shutil.rmtree(os.path.join(options.folder, "duck.tmp"), ignore_errors=True)
    return seconds


def sort_by_gnu(options, given, memory):
    lines, found = (os.path.join(options.folder, n) for n in ("lines", "sorted"))
    array = open_memmap(given, mode="r")
    with open(lines, "w") as out:
        for first in range(0, len(array), PIECE):
            out.write("\n".join(map(str, array[first : first + PIECE].tolist())) + "\n")
    seconds = run(["env", "LC_ALL=C", "sort", "-n", f"--buffer-size={memory}b", "--parallel=2",
                   "-T", options.folder, "-o", found, lines])[0]
    os.remove(lines)
    os.remove(found)
    return seconds


def compare(options):
    given = os.path.join(options.folder, "in.npy")
    count = 1 << (options.size - 6)
    memory = count  # a quarter of its bytes
    apart(make, given, "uint32", count)
    os.sync()
    own = [sort_by_permc(options, given, memory) for _ in range(3)]
    print(f"sort of {count} u32 by {memory >> 20} MiB: permc {min(own):.1f} to {max(own):.1f} s",
          flush=True)
    peers = [("DuckDB", sort_by_duckdb, duckdb), ("GNU sort", sort_by_gnu, shutil.which("sort"))]
    for name, sort, there in peers:
        if there:
            seconds = sort(options, given, memory)
            print(f"{name}: {seconds:.1f} s, {seconds / max(own):.1f} times", flush=True)
    os.remove(given)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--permc", default="build/release/permc")
    parser.add_argument("--folder", required=True)
    parser.add_argument("--size", type=int, default=34)
    parser.add_argument("--memory", type=int, default=30)
    options = parser.parse_args()
    for case in CASES:
        measure(options, *case)
    compare(options)
    print(f"{wrong} wrong")


if __name__ == "__main__":
    main()
