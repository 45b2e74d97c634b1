#!/usr/bin/env python3
"""What `permc explain --ranks` predicts for GPUs of one host and of many: a table in Markdown.

  python3 bench/scale.py --permc build/release/permc > bench/results/scale.md

As many elements on each GPU whatever their number (weak scaling). Nothing is run.
"""
import argparse
import json
import subprocess

EACH, PEERS = 28, 8  # 2^28 elements on each GPU; GPUs of a host
PROGRAMS = [("bit reversal, u32", "bitrev", "u32"), ("FWHT, f32", "fwht", "f32"),
            ("FFT, c64", "fft", "c64"), ("sort, u32", "sort", "u32")]


def seconds(permc, expression, kind, bits):
    command = [permc, "explain", "-e", expression, "--arguments", f"[2^{EACH + bits}]{kind}",
               "--target", "gpu", "--json"] + (["--ranks", str(1 << bits)] if bits else [])
    report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return report["ranks"]["sum"]["seconds"] if bits else report["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--permc", required=True)
    permc = parser.parse_args().permc
    print(f"2^{EACH} elements on each GPU, {PEERS} GPUs a host, by the model alone:\n")
    print("| GPUs | hosts | " + " | ".join(name for name, _, _ in PROGRAMS) + " |")
    print("|---" * (2 + len(PROGRAMS)) + "|")
    for bits in (0, 1, 2, 3, 4, 6, 8, 10):
        times = [1e3 * seconds(permc, text, kind, bits) for _, text, kind in PROGRAMS]
        print(f"| {1 << bits:,} | {max(1, (1 << bits) // PEERS)} | "
              + " | ".join(f"{t:.2g} ms" if t < 100 else f"{t:.0f} ms" for t in times) + " |")


if __name__ == "__main__":
    main()
