#!/usr/bin/env python3
"""Bank conflicts of the suite `layouts`, case by case and layout by layout: what a memory machine
predicts for the plan (`permc machine hmm`), beside what the GPU's counters report while it runs
(with --counters, which needs NVIDIA's ncu: turns at the banks of loads and stores of shared
memory), and the times of `bench/run.py layouts --backend cuda`. A turn is what an access of a warp
takes at the banks, one if it is free of conflicts. PEER is the program shared_transpose
(bench/peers), which predicts its own. Prints a Markdown table.
"""

import argparse
import concurrent.futures
import csv
import json
import shlex
import subprocess
import sys
import tempfile

# Name in the suite; expression and types, smaller than in the suite where counting would take long.
PLANS = [
    ("bit reversal u32 2^24", "bitrev", "[2^20]u32"),
    ("transpose u32 2^24", "transpose", "[2^10][2^10]u32"),
    ("transposes of 32 x 32 u32", "map transpose", "[1024][32][32]u32"),
    ("sort u32 2^20", "sort", "[2^16]u32"),
    ("sort rows of 2^10 u32", "map sort", "[2^8][2^10]u32"),
    ("fft c64 2^20", "fft", "[2^14]c64"),
]
TRANSPOSES = [("crsw",), ("srcw",), ("drdw",)]
COUNTERS = [
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
]


def run(command, given=None):
    done = subprocess.run(command, capture_output=True, text=True, input=given)
    if done.returncode:
        sys.exit("%s\n%s%s" % (" ".join(command), done.stdout[-400:], done.stderr[-400:]))
    return done.stdout


def layouts(permc):
    if OPTIONS.layouts:
        return OPTIONS.layouts.split(",")
    return [line.split()[0] for line in run([permc, "run", "--layout", "help"]).splitlines()]


def chosen(cases):
    """Of a table, the rows whose first column has OPTIONS.only in it."""
    return [case for case in cases if OPTIONS.only in case[0]]


def predicted(permc, expression, types, layout):
    """Turns and accesses of the plan's exchanges."""
    report = json.loads(run([permc, "machine", "hmm", "-e", expression, "--arguments", types,
                             "--layout", layout, "--json"]))
    rounds = [r for p in report["passes"] for r in p["rounds"] if r["memory"] == "shared"]
    return sum(r["stages"] for r in rounds), sum(r["accesses"] for r in rounds)


def counted(commands):
    """Turns of each kernel that each command launches, as the GPU's counters have them."""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:  # compile first
        list(pool.map(run, commands))
    lines = "".join("echo | %s >/dev/null || exit 1\n" % shlex.join(command) for command in commands)
    with tempfile.NamedTemporaryFile("w", suffix=".sh") as script:
        script.write(lines)
        script.flush()
        out = run(["ncu", "--csv", "--target-processes", "all", "--metrics", ",".join(COUNTERS),
                   "sh", script.name])
    processes = {}
    for row in csv.DictReader(line for line in out.splitlines() if line.startswith('"')):
        kernels = processes.setdefault(row["Process ID"], {})
        turns = int(float(row["Metric Value"].replace(",", "")))
        kernels[row["ID"]] = kernels.get(row["ID"], 0) + turns
    if len(processes) != len(commands):
        sys.exit("%d commands, %d of them with kernels" % (len(commands), len(processes)))
    return [list(kernels.values()) for kernels in processes.values()]


def show(turns, accesses):
    return "%.3f" % (turns / accesses) if accesses else "-"


def plan_rows(permc):
    for name, expression, types in chosen(PLANS):
        for layout in layouts(permc):
            command = [permc, "run", "-e", expression, "--backend", "cuda", "--layout", layout,
                       "--random", types, "-o", "/dev/null"]
            yield (name, layout) + predicted(permc, expression, types, layout) + (command,)


def transpose_rows(permc, peer):
    """256 transposes of one matrix, which comes and goes by rows. The peer says its turns."""
    for (algorithm,) in chosen(TRANSPOSES):
        for layout in layouts(permc):
            command = [peer, "--algorithm", algorithm, "--type", layout, "--count", "1024"]
            said = run(command, "\n").split()  # "0.0012 shared_transpose, crsw, 16448 turns"
            yield (algorithm, layout, int(said[-2]), 256 * 64 + 64, command)


def main():
    permc, peer = OPTIONS.permc, OPTIONS.peer
    times = {}
    if OPTIONS.times:
        with open(OPTIONS.times) as report:
            for row in json.load(report)["rows"]:
                times[row["name"]] = row["seconds"]["median"]
    rows = list(plan_rows(permc)) + list(transpose_rows(permc, peer))
    found = counted([row[4] for row in rows]) if OPTIONS.counters else None
    equal = 0
    print("| case | layout | turns per access, predicted | counted | time in the suite |")
    print("|---|---|---|---|---|")
    for number, (name, layout, turns, accesses, command) in enumerate(rows):
        seconds = times.get("%s by %s" % (name, layout))
        counts = "-"
        if found:
            # A plan's kernels together; of the transposes each run is the same.
            all_turns = sum(found[number]) if command[0] == permc else found[number][-1]
            counts = show(all_turns, accesses)
            equal += all_turns == turns
        print("| %s | %s | %s | %s | %s |" % (name, layout, show(turns, accesses), counts,
                                            "%.4g us" % (1e6 * seconds) if seconds else "-"))
    if found:
        print("\nthe counts are equal in %d of %d rows" % (equal, len(rows)))


def options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("permc")
    parser.add_argument("peer")
    parser.add_argument("--times", metavar="TIMES.json", help="of the suite: bench/results/layouts-gpu.json")
    parser.add_argument("--counters", action="store_true", help="ask the GPU's, too")
    parser.add_argument("--layouts", metavar="A,B,...", help="only these")
    parser.add_argument("--only", metavar="TEXT", default="", help="cases with TEXT in the name")
    return parser.parse_args()


if __name__ == "__main__":
    OPTIONS = options()
    main()
