#!/usr/bin/env python3
"""hosts.py TRANSPORT_TEST PERMC
Ranks on two hosts: network namespaces with a TUN device each, whose packets this script hands over
after DELAY seconds, except for those that it loses. Open MPI starts two ranks on each. Checks

  that the time of an exchange is one delay, however many messages it has
  that the bytes that cross are those that the ranks have counted
  that transforms by permc have the results of a run alone, and send over the network what permc
  explain predicts
  with --all (PERMC_ALL) the same of a permutation and two sorts, that all take as long as predicted,
  and the laws and faults of transport_test, with delay and loss

Skipped without root, /dev/net/tun, ip (iproute2) or mpirun.openmpi.
"""
import ctypes
import fcntl
import filecmp
import heapq
import json
import os
import random
import select
import shutil
import signal
import struct
import subprocess
import sys
import time

DELAY = 0.02
HOSTS = ["10.77.0.1", "10.77.0.2"]
SPACES = [f"permc_{os.getpid()}_{i}" for i in range(2)]


def everything():
    return "PERMC_ALL" in os.environ


def run(*words):
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)


libc = ctypes.CDLL(None, use_errno=True)


def mount_apart():
    """What `ip netns` mounts in /run goes with this process."""
    CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000
    if (libc.unshare(CLONE_NEWNS) or libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None)
            or libc.mount(b"tmpfs", b"/run", b"tmpfs", 0, None)):
        raise OSError(ctypes.get_errno(), "a mount namespace")


def make_host(i):
    """A namespace with a TUN device; the file whose reads are what its programs send."""
    TUNSETIFF, IFF_TUN, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 1, 0x1000, 0x40000000
    run("ip", "netns", "add", SPACES[i])
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{SPACES[i]}", os.O_RDONLY)
    if libc.setns(there, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH14x", b"tun0", IFF_TUN | IFF_NO_PI))
    libc.setns(home, CLONE_NEWNET)
    os.close(home)
    os.close(there)
    run("ip", "-n", SPACES[i], "addr", "add", HOSTS[i] + "/24", "dev", "tun0")
    run("ip", "-n", SPACES[i], "link", "set", "tun0", "mtu", "60000", "up")
    run("ip", "-n", SPACES[i], "link", "set", "lo", "up")
    return device


def relay(devices, process, loss):
    """Hands packets over until the process ends. The bytes that each host has sent."""
    other = {devices[0]: devices[1], devices[1]: devices[0]}
    sent, waiting, count, rng = dict.fromkeys(devices, 0), [], 0, random.Random(1)
    end = time.monotonic() + 300
    while process.poll() is None:
        now = time.monotonic()
        if now > end:
            process.kill()
        while waiting and waiting[0][0] <= now:
            _, _, to, packet = heapq.heappop(waiting)
            os.write(to, packet)
        rest = max(0.0, waiting[0][0] - now) if waiting else 0.05
        for device in select.select(devices, [], [], min(rest, 0.05))[0]:
            packet = os.read(device, 65536)
            sent[device] += len(packet)
            if rng.random() >= loss:
                count += 1
                heapq.heappush(waiting, (time.monotonic() + DELAY, count, other[device], packet))
    return [sent[d] for d in devices]


def ranks(devices, loss, *words):
    """Runs a program as two ranks on each host. What they wrote, and the bytes that crossed."""
    agent = os.path.join(os.environ["PERMC_TMP"], "agent")
    with open(agent, "w") as f:
        f.write("#!/bin/sh\nshift\n" f'exec ip netns exec {SPACES[1]} sh -c "$*"\n')
    os.chmod(agent, 0o755)
    net = ["btl", "self,tcp", "btl_tcp_if_include", "tun0", "oob_tcp_if_include", "tun0"]
    net += ["btl_tcp_eager_limit", "1048576"]  # one delay a message
    options = [w for i in range(0, len(net), 2) for w in ("--mca", net[i], net[i + 1])]
    command = ["ip", "netns", "exec", SPACES[0], "mpirun.openmpi", "--allow-run-as-root", "-q"]
    command += ["--mca", "plm_rsh_agent", agent, *options]
    command += ["--host", ",".join(h + ":2" for h in HOSTS), "-n", "4", *words]
    with open(agent + ".out", "w") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        sent = relay(devices, process, loss)
    with open(agent + ".out") as out:
        return out.read(), sent


def check_laws(devices, test, _):
    results = os.path.join(os.environ["PERMC_TMP"], "laws")
    out, _ = ranks(devices, 0.01, test, "--mpi", results)
    for rank in range(4):
        with open(f"{results}.{rank}") as f:
            found = f.read()
        if found != "done\n":
            raise AssertionError(f"rank {rank}: {found}{out}")


def check_times(devices, test, _):
    for attempt in range(3):  # others may be at work on this machine
        out, crossed = ranks(devices, 0, test, "--mpi-times")
        wrong = problem_of_times(out, sum(crossed))
        if wrong is None:
            return
    raise AssertionError(wrong + "\n" + out)


def problem_of_times(out, crossed):
    """Of lines `BYTES SECONDS` (of a message to each rank, of an exchange) and `crossing BYTES`."""
    lines = [line.split() for line in out.splitlines() if line.strip()]
    times = {int(w[0]): float(w[1]) for w in lines if w[0].isdigit()}
    for size, seconds in times.items():
        if not 0.8 * DELAY <= seconds <= 2 * DELAY:  # ranks do not begin at the same time
            return f"an exchange of {size} bytes to each rank took {seconds} s"
    sent = sum(int(w[1]) for w in lines if w[0] == "crossing")
    if not times or not sent <= crossed <= 1.1 * sent + 500000:
        return f"{crossed} bytes crossed, {sent} were sent"
    return None


REVERSAL = "bmmc [" + ", ".join(f"2^{14 - i}" for i in range(15)) + "] 0"
PROGRAMS = [("map (+ 1)", "[2^15]u32"), (REVERSAL, "[2^15]u32"), ("sort_network", "[2^15]u32"),
            ("radix_sort", "[2^15]u32"), ("fft", "[2^15]c64"), ("fft . fft", "[2^15]c64")]


def predicted(permc, program, types):
    """Bytes over the network, of all ranks, and seconds."""
    target = os.path.join(os.environ["PERMC_TMP"], "hosts.target")
    with open(target, "w") as f:
        f.write(f"base = baseline\npeers = 2\npeer_latency = 0\nnetwork_latency = {DELAY}\n"
                "network_bytes_per_second = 1e8\nnetwork_half_bytes = 0\n")
    words = ["explain", "-e", program, "--arguments", types, "--ranks", "4", "--target", target]
    out = subprocess.run([permc, *words, "--json"], check=True, capture_output=True).stdout
    sums = json.loads(out)["ranks"]["sum"]
    return sums["all"]["network"]["bytes"], sums["seconds"]


def check_programs(devices, _, permc):
    folder = os.environ["PERMC_TMP"]
    alone, shared = (os.path.join(folder, name) for name in ("alone.npy", "shared.npy"))
    os.environ["PERMC_CACHE"] = os.path.join(folder, "cache")
    start = 0  # what a run takes without an exchange: connections, agreement
    for program, types in PROGRAMS if everything() else PROGRAMS[-1:]:
        words = ["run", "-e", f"{program}", "--random", types, "--target-isa", "baseline", "-o"]
        subprocess.run([permc, *words, alone], check=True)
        for attempt in range(3):  # others may be at work on this machine
            out, crossed = ranks(devices, 0, permc, *words, shared, "--time")
            if not filecmp.cmp(alone, shared, shallow=False):
                raise AssertionError(f"{program}: another result\n{out}")
            took = max(float(line.split()[2]) for line in out.splitlines() if ": run" in line)
            start = start or took
            wrong = problem_of_run(took - start, sum(crossed), *predicted(permc, program, types))
            if wrong is None:
                break
        if wrong is not None:
            raise AssertionError(f"{program}: {wrong}\n{out}")


def problem_of_run(took, crossed, sent, seconds):
    """Ranks do not begin at the same time: the first exchange may hide behind that."""
    if everything() and not seconds - 1.5 * DELAY <= took <= seconds + 2 * DELAY:
        return f"exchanges took {took} s, {seconds} s were predicted"
    if not sent <= crossed <= 1.1 * sent + 500000:
        return f"{crossed} bytes crossed, {sent} were predicted"
    return None


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # no namespace stays
    needed = shutil.which("ip") and shutil.which("mpirun.openmpi") and os.getuid() == 0
    devices = []
    try:
        if needed:
            mount_apart()
        devices = [make_host(i) for i in range(2)] if needed else []
    except (OSError, subprocess.CalledProcessError) as why:
        print(f"no namespaces: {why}")
    try:
        if len(devices) < 2:
            print("0 passed, 0 failed, 1 skipped")
            return
        checks = [check_times, check_programs]
        checks += [check_laws] if everything() else []
        for check in checks:
            check(devices, *sys.argv[1:])
        print(f"{len(checks)} passed, 0 failed, 0 skipped")
    except AssertionError as wrong:
        print(wrong)
        print("0 passed, 1 failed, 0 skipped")
        sys.exit(1)
    finally:
        for space in SPACES:
            if os.path.exists(f"/run/netns/{space}"):
                run("ip", "netns", "del", space)


main()
