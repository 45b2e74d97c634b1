#!/usr/bin/env python3
"""Measures suites of programs (bench/suites.py), each case in turn with a copy of as many bytes and
with other people's code for the same task, and verifies every result.

  python3 bench/run.py sort fft                  to bench/results/sort.json, .md, .svg; fft....
  python3 bench/run.py bmmc --backend cuda --only ' by '       to bench/results/bmmc-gpu.json, ...
  python3 bench/run.py links --devices 0-3
  python3 bench/run.py                           lists the suites

Needs NumPy, a machine that does nothing else, and
  cmake --preset release && cmake --build --preset release --target permc
for other peers than NumPy and PyTorch: -D PERMC_BENCH_PEERS=ON, --target bench_peers. Plots need
Matplotlib. A case that fails is a line on standard error, and the exit status is 1.
"""
import argparse
import dataclasses
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    sys.exit("bench/run.py: NumPy is missing (package python3-numpy)")

import data
import page
from contest import Failed, Player, figures, play, play_round, report_of, side
from suites import BYTES, PAIR, SUITES, cases

HERE = pathlib.Path(__file__).parent
LIBRARIES = ("numpy", "scipy", "pyfftw", "torch", "cupy")  # peers by bench/peers/arrays.py


def read_options():
    root = HERE.parent
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="*", metavar="SUITE")
    parser.add_argument("--permc", default=root / "build/release/permc")
    parser.add_argument("--peers", metavar="FOLDER", default=root / "build/release/peers")
    parser.add_argument("--backend", default="auto", choices=["auto", "interp", "cpu", "portable", "cuda"])
    parser.add_argument("--devices", metavar="LIST", help="GPUs that share the work, such as 0-3")
    parser.add_argument("--ranks", type=int, default=1, help="with --backend cuda a GPU each")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=2, help="of a case, at most (but 11 rounds)")
    parser.add_argument("--only", metavar="TEXT", default="", help="cases with TEXT in their names")
    parser.add_argument("--strategy", help="of cases that name none; those of others are left out")
    parser.add_argument("--to", metavar="FOLDER", type=pathlib.Path, default=HERE / "results")
    o = parser.parse_args()
    for name in o.suites:
        if name not in SUITES:
            parser.error(f"there is no suite {name}, but {', '.join(SUITES)}")
    o.backend = "cuda" if o.devices else o.backend
    first, _, last = (o.devices or "0").split(",")[-1].partition("-")
    listed = int(last or first) - int(first) + 1 + (o.devices or "").count(",")
    o.gpus = max(o.ranks, listed) if o.backend == "cuda" else 0
    return o


# ---- contestants --------------------------------------------------------------------------------


class Inputs:
    """The files of a case's arguments, in a folder that goes."""

    def __init__(self, folder, o):
        self.folder, self.o = folder, o

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, given, is_schedule, prefix):
        paths = [self.path(f"{prefix}{i}.npy") for i in range(len(given))]
        for path, array in zip(paths, given):
            np.save(path, array)
        if is_schedule:  # so that nobody checks at each call that it is a permutation
            schedule = self.path(prefix + "0.sched")
            subprocess.run([self.o.permc, "run", "-e", r"\x -> x", "-i", paths[0], "-o", schedule,
                            "--quiet"], check=True)
            paths[0] = schedule
        return paths


def permc_player(name, case, paths, inputs):
    """With -o for results that are checked here; pairs come in two files and go to two."""
    o, expression, outputs = inputs.o, case.expression, []
    is_pair = case.arguments[-1][1] == PAIR
    if is_pair:
        names, rank = " ".join("xy"[:len(case.arguments)]), len(case.arguments[-1][0])
        first, second = (f"{'map (' * (rank - 1)}map {part}{')' * (rank - 1)} r"
                         for part in ("fst", "snd"))
        expression = f"\\{names} -> let r = ({expression}) {names} in ({first}, {second})"
    if case.check != "interp":
        outputs = [inputs.path(f"{name}{i}.npy") for i in range(1 + is_pair)]
    command = [o.permc, "bench", "--turns", "--backend", o.backend, "--quiet",
               "--threads", case.threads or o.threads,
               *(["--devices", o.devices] if o.devices else ["--ranks", o.ranks])]
    if case.program:
        program = inputs.path("suite.perm")
        pathlib.Path(program).write_text(case.program)
        command.append(program)
    command += ["-e", expression]
    for option, values in (("-i", paths), ("-o", outputs),
                           ("--strategy", [case.strategy or o.strategy]), ("--layout", [case.layout])):
        for value in filter(None, values):
            command += [option, value]
    return Player(name, [str(word) for word in command], case.elements), outputs


def peer_player(spec, elements, threads, first_path, o):
    """None: it is not there."""
    name, *words = [word.replace("$0", first_path) for word in spec.split()]
    if name in LIBRARIES:
        if not importlib.util.find_spec(name):
            return None
        command = [sys.executable, str(HERE / "peers/arrays.py"), name, *words,
                   "cuda" if o.gpus else "cpu", str(threads)]
    else:
        command = [os.path.join(o.peers, name), "--threads", str(threads), *words]
        if not os.access(command[0], os.X_OK):
            return None
    return Player(name, command, elements)


# ---- a case -------------------------------------------------------------------------------------


def check_memory(case):
    """Before it is asked for: the system promises more than it has."""
    with open("/proc/meminfo") as file:
        free = next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable:"))
    if 2 * case.bytes > free:
        raise Failed(f"argument and result need {2 * case.bytes / 2**30:.1f} GiB of memory, "
                     f"{free / 2**30:.1f} GiB are available")


def contest(case, inputs, seed, rounds):
    """Plays a case; `rounds` (players) takes the turns. Gives the report, the row and the players."""
    given = data.make(case, seed)
    paths = inputs.write(given, bool(case.permutation), "given")
    first, outputs = permc_player("permc", case, paths, inputs)
    players = [first]
    try:
        players.append(Player("copy", None, first.elements, "copy", first))
        if case.beside:
            expression, arguments = case.beside
            other = dataclasses.replace(case, expression=expression, arguments=arguments,
                                        program=None, beside=None)
            paths_beside = inputs.write(data.make(other), False, "beside")
            players.append(permc_player("reference", other, paths_beside, inputs)[0])
        for spec in case.peers:
            peer = peer_player(spec, first.elements, case.threads or inputs.o.threads, paths[0], inputs.o)
            try:
                if peer:
                    peer.turn()
                    players.append(peer)
            except Failed as why:
                print(f"bench: {case.name}: left out: {why}", file=sys.stderr)
                peer.kill()
        rounds(players)
        report, row = report_of(first.end())
        for player in players[1:]:
            if not player.other:
                player.end()
    except BaseException:
        for player in players:
            player.kill()
        raise
    if case.gpu_only and not row["device"]:
        raise Failed("this case needs a GPU, which cannot run it")
    if outputs:
        row["verified"] = data.check(case, given, [np.load(path) for path in outputs])
    return report, row, players


def measure(case, o):
    """The report around a case's row, and the row."""
    check_memory(case)
    with tempfile.TemporaryDirectory(prefix="permc-bench-") as folder:
        inputs, end = Inputs(folder, o), time.monotonic() + o.seconds
        if not case.draws:
            report, row, players = contest(case, inputs, 1, lambda all: play(all, o.seconds))
        else:
            samples = []
            while len(samples) < case.draws and (not samples or time.monotonic() < end):
                report, row, players = contest(
                    case, inputs, len(samples) + 1,
                    lambda all: samples.append([play_round(all, i) for i in range(2)][1]))
            for player, taken in zip(players, zip(*samples)):
                player.samples = list(taken)
    first, *others = players
    row |= {"suite": case.suite, "series": case.series, "name": case.name, "x": case.x,
            "columns": case.columns, "seconds": figures(first.samples),
            "beside": [side(first, player) for player in others]}
    return report, row


def has_gpu(o):
    command = [o.permc, "bench", "-e", "map (+ 1)", "--arguments", "[16]i32", "--backend", "cuda",
               "--seconds", "0", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode == 0 and json.loads(done.stdout)["rows"][0]["device"] != ""


def measure_suite(suite, o):
    """Whether all cases have figures."""
    report, rows, good, gpu = None, [], True, o.gpus and has_gpu(o)
    for case in cases(suite, o.gpus):
        if o.only not in case.name or (o.strategy and case.strategy not in (None, o.strategy)):
            continue
        try:
            if case.gpu_only and not gpu:
                raise Failed("this case needs a GPU")
            head, row = measure(case, o)
        except (Failed, data.Wrong, OSError, subprocess.CalledProcessError) as why:
            print(f"bench: no figures for {case.name}: {why}", file=sys.stderr, flush=True)
            good = False
            continue
        report = report or head
        rows.append(row)
        print(page.line(row), flush=True)
    if rows:
        o.to.mkdir(parents=True, exist_ok=True)
        path = o.to / f"{suite}{'-gpu' if o.gpus else ''}.json"
        path.write_text(json.dumps(report | {"rows": rows}, indent=1) + "\n")
        page.write(path)
    elif good:
        print(f"bench: the suite {suite} has no such case here", file=sys.stderr)
    return good and bool(rows)


def main():
    o = read_options()
    if not o.suites:
        for name, suite in SUITES.items():
            print(f"{name:10} {suite.summary}")
    return 0 if all([measure_suite(suite, o) for suite in o.suites]) else 1


if __name__ == "__main__":
    sys.exit(main())
