#!/usr/bin/env python3
"""oracle.py [--count N] [--seed S] [--batch N] [--backends LIST] [--all] [--print]

Random programs, what they compute by docs/language.md, and what permc makes of them, to the bit.
Nothing here shares code with permc, and nothing was taken from its sources. Programs are run many
at a time, as parts of one program, each batch on one of the backends in turn. A batch that differs
is run again one by one, and the programs that differ are printed. --all: 20,000 programs, each on
every backend. --print: one program and its data.
Environment: PERMC, PERMC_TMP, PERMC_SLOWER (how many times fewer programs).
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

import generate
import scalar as s


class Batch:
    """Programs as one: main has all their arguments and the tuple of their results."""

    def __init__(self, programs):
        self.programs = programs
        definitions, calls, names, types, self.data, self.expected = [], [], [], [], b"", []
        for i, p in enumerate(programs):
            name = f"p{i}"
            own = [f"x{i}_{j}" for j in range(len(p.types))]
            definitions.append(
                f"{name} : {' -> '.join([*p.signature, generate.type_text(p.result)])}\n"
                + re.sub(r"^p0\b", name, p.text)
            )
            calls.append(" ".join([name, *own]))
            names += own
            types += map(generate.type_text, p.types)
            self.data += b"".join(map(s.encode, p.types, p.arguments))
        results = ", ".join(generate.type_text(p.result) for p in programs)
        definitions.append(
            f"main : {' -> '.join(types)} -> (({results}, bool), bool)\n"
            f"main {' '.join(names)} =\n  ((" + ",\n    ".join(calls) + ", true), true)"
        )
        self.text = "\n\n".join(definitions) + "\n"

    def run(self, permc, folder, backend):
        """What permc printed, if it failed; else the number of the programs that differ, and how."""
        paths = [os.path.join(folder, name) for name in ("batch.perm", "batch.in", "batch.bin")]
        with open(paths[0], "w", encoding="utf-8") as f:
            f.write(self.text)
        with open(paths[1], "wb") as f:
            f.write(self.data)
        run = subprocess.run(
            [permc, "run", paths[0], "-i", paths[1], "-o", paths[2], "--backend", backend],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        if run.returncode or run.stderr:
            return f"status {run.returncode}: {run.stderr.decode(errors='replace')}", {}
        with open(paths[2], "rb") as f:
            data = f.read()
        wrong = {}
        for i, p in enumerate(self.programs):
            for (shape, t), scalars in zip(s.flat_types(p.result), s.flatten(p.result, p.expected)):
                start, data = data[: len(s.header(shape, t))], data[len(s.header(shape, t)) :]
                if start != s.header(shape, t):
                    wrong[i] = f"the header is {start!r}, not {s.header(shape, t)!r}"
                    return None, wrong
                size = s.size(t)
                for k, x in enumerate(scalars):
                    if not s.same_bits(t, x, data[k * size : (k + 1) * size]):
                        found = s.decode_scalar(t, data[k * size : (k + 1) * size])
                        wrong.setdefault(i, f"element {k} of a {t} array is {found!r}, not {x!r}")
                data = data[size * len(scalars) :]
        return None, wrong


def accepted(permc, seed):
    """The text of a static operation that is an error, if permc does not say so."""
    generator = generate.Generator(seed)
    text = generator.static_operation(generator.pick(*s.INTEGERS), wrong=True).text
    run = subprocess.run(
        [permc, "run", "-e", text],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    return None if run.returncode == 1 and b"error: " in run.stderr else text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=25)
    parser.add_argument("--backends", default="interp,portable,cpu")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    options.all = options.all or "PERMC_ALL" in os.environ
    options.count = options.count or (20000 if options.all else 320)
    permc = os.environ.get("PERMC", "build/release/permc")
    folder = os.environ.get("PERMC_TMP") or tempfile.mkdtemp()
    count = options.count // int(os.environ.get("PERMC_SLOWER", "1"))
    if options.print:
        batch = Batch([generate.Generator(options.seed).program()])
        print(batch.text, batch.programs[0].arguments, batch.programs[0].expected, sep="\n")
        return
    backends = options.backends.split(",")
    passed, failed = 0, 0
    for first in range(options.seed, options.seed + count, options.batch):
        seeds = range(first, min(first + options.batch, options.seed + count))
        programs = [generate.Generator(seed).program() for seed in seeds]
        bad = set()
        text = accepted(permc, first)
        if text:
            bad.add(first)
            print(f"FAIL seed {first}: no error in {text}")
        turn = (first - options.seed) // options.batch % len(backends)
        for backend in backends if options.all else [backends[turn]]:
            message, wrong = Batch(programs).run(permc, folder, backend)
            if not message and not wrong:
                continue
            for seed, program in zip(seeds, programs):
                single = Batch([program])
                message, wrong = single.run(permc, folder, backend)
                if message or wrong:
                    bad.add(seed)
                    print(f"FAIL seed {seed} on {backend}: {message or wrong[0]}\n{single.text}")
        passed, failed = passed + len(programs) - len(bad), failed + len(bad)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


main()
