#!/usr/bin/env python3
"""Measures programs of users beside NumPy, SciPy and pandas, and on a GPU beside CuPy, in
turn, and compares the results.

  python3 bench/programs.py                        to bench/results/programs.md
  python3 bench/programs.py --backend cuda         to bench/results/programs-gpu.md
  python3 bench/programs.py join 'page rank'       prints these

Needs NumPy, SciPy and pandas, with cuda CuPy. One thread computes on processors. Arguments are in
memory before the clock starts, on the device with cuda; CuPy's time is that until the device has
ended. permc takes its turns as in bench/run.py.
"""
import argparse
import os
import pathlib
import sys
import tempfile
import time

for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[name + "_NUM_THREADS"] = "1"

import numpy as np

import page
from contest import Failed, Player, figures, play, report_of, side

HERE = pathlib.Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
draw = np.random.default_rng(1)

# ---- programs: (text or file, expression), arguments, and what the library does with them --------
# The library's function takes the array module (NumPy or CuPy) and the arguments.


def links():
    """1,000,000 links of 100,000 pages, sorted by the page that they lead to."""
    pages, count = 100_000, 1_000_000
    targets = np.sort(np.concatenate([np.arange(pages), draw.integers(0, pages, count - pages)]))
    sources = np.concatenate([np.arange(pages), draw.integers(0, pages, count - pages)])
    degrees = np.bincount(sources, minlength=pages).astype(float)
    return np.searchsorted(targets, np.arange(pages + 1)), sources, degrees


def sparse(xp, offsets, columns, values, shape):
    if xp is np:
        from scipy.sparse import csr_matrix
    else:
        from cupyx.scipy.sparse import csr_matrix
    return csr_matrix((values, columns.astype("i4"), offsets.astype("i4")), shape=shape)


def sparse_product(xp, offsets, columns, values, v):
    matrix = sparse(xp, offsets, columns, values, (len(offsets) - 1, len(v)))
    return lambda: matrix @ v


def page_rank(xp, offsets, sources, degrees):
    pages = len(degrees)
    matrix = sparse(xp, offsets, sources, 1 / degrees[sources], (pages, pages))

    def call():
        ranks = xp.full(pages, 1 / pages)
        for _ in range(20):
            ranks = 0.15 / pages + 0.85 * (matrix @ ranks)
        return ranks
    return call


def life(xp, cells):
    def call():
        now = cells
        for _ in range(100):
            rows = now + xp.roll(now, 1, 0) + xp.roll(now, -1, 0)
            nine = rows + xp.roll(rows, 1, 1) + xp.roll(rows, -1, 1)
            now = ((nine == 3) | ((now == 1) & (nine == 4))).astype(xp.uint8)
        return now
    return call


def edit_distance(xp, a, b):
    """By the anti-diagonals of the table, as permc's program."""
    p, q = len(a), len(b)

    def call():
        i, padded = xp.arange(p + 1), xp.concatenate([xp.zeros(1, a.dtype), a])
        one, two = xp.ones(p + 1, int), xp.zeros(p + 1, int)
        for d in range(2, p + q + 1):
            same = padded == b[xp.clip(d - i - 1, 0, q - 1)]
            now = xp.minimum(xp.minimum(one, xp.concatenate([one[:1], one[:-1]])) + 1,
                             xp.concatenate([two[:1], two[:-1]]) + ~same)
            now = xp.where(same, xp.concatenate([two[:1], two[:-1]]), now)
            now[0] = d
            if d <= p:
                now[d] = d
            one, two = now, one
        return one[-1]
    return call


def k_means(xp, points, centers):
    def call():
        distances = ((points * points).sum(1)[:, None] - 2 * points @ centers.T
                     + (centers * centers).sum(1))
        nearest = distances.argmin(1)
        counts = xp.bincount(nearest, minlength=len(centers))
        sums = xp.stack([xp.bincount(nearest, points[:, i], len(centers))
                         for i in range(points.shape[1])], 1)
        return sums / counts[:, None]
    return call


def sums_by_key(xp, keys, values):
    if xp is np:
        import pandas
        frame = pandas.DataFrame({"key": keys, "value": values})
        return lambda: frame.groupby("key", sort=False).value.sum()
    def call():
        kept, places = xp.unique(keys, return_inverse=True)
        return xp.bincount(places, values, len(kept))
    return call


def distinct(xp, keys):
    return lambda: xp.unique(keys)


def join(xp, keys, values, ids, shelves):
    """Rows whose key is in stock, with its shelf."""
    if xp is np:
        import pandas
        orders = pandas.DataFrame({"item": keys, "price": values})
        stock = pandas.DataFrame({"item": ids, "shelf": shelves})
        return lambda: orders.merge(stock, on="item").shelf.to_numpy()
    def call():
        order = xp.argsort(ids)
        sorted_ids = ids[order]
        places = xp.minimum(xp.searchsorted(sorted_ids, keys), len(ids) - 1)
        return shelves[order[places[sorted_ids[places] == keys]]]
    return call


def viterbi(xp, moves, seen):
    def call():
        scores = [seen[0]]
        for now in seen[1:]:
            scores.append((scores[-1][:, None] + moves).max(0) + now)
        path = [scores[-1].argmax()]
        for best in scores[-2::-1]:
            path.append((best + moves[:, path[-1]]).argmax())
        return xp.stack(path[::-1])
    return call


def batcher(xp, keys):
    return lambda: xp.sort(keys)


def mandelbrot(xp, points):
    def call():
        z, count = xp.zeros_like(points), xp.zeros(points.shape, np.int64)
        for _ in range(100):
            inside = z.real * z.real + z.imag * z.imag <= 4
            count += inside
            z = xp.where(inside, z * z + points, z)
        return count
    return call


def quantiles(xp, values):
    return lambda: xp.quantile(values, xp.asarray([0, 0.25, 0.5, 0.75, 1]))


def plane():
    x = np.linspace(-2, 0.5, 1000)
    return x[None, :] + 1j * np.linspace(-1.25, 1.25, 1000)[:, None]


GUIDE = (HERE.parent / "docs/guide.md").read_text()


def of_guide(name):
    """The text of a program in the guide's cookbook: `name = permc.compile(r\"\"\" ... \"\"\")`."""
    return GUIDE.split(f'\n{name} = permc.compile(r"""\n')[1].split('"""')[0]


ROWS = 1_000_000


def csr():
    rows, count = 131_072, 2**20
    offsets = np.sort(np.concatenate([[0, count], draw.integers(0, count + 1, rows - 1)]))
    return offsets, draw.integers(0, rows, count).astype("i4"), draw.random(count), draw.random(rows)


def states():
    return np.log(draw.random((64, 64), "f4")), np.log(draw.random((200, 64), "f4"))


# name: (program, expression, arguments, library's function). A number among the arguments is static.
PROGRAMS = {
    "sparse product": ("sparse_product.perm", "main", csr, sparse_product),
    "page rank": (of_guide("page_rank"), "main 20", links, page_rank),
    "life": (of_guide("life"), "main 100", lambda: [draw.integers(0, 2, (512, 512), np.uint8)], life),
    "edit distance": ("edit_distance.perm", "main",
                      lambda: draw.integers(97, 101, (2, 500), np.uint8), edit_distance),
    "k-means step": ("k_means.perm", "main", lambda: (draw.random((2**17, 4)), draw.random((16, 4))),
                     k_means),
    "sums by key": ("tables.perm", "\\ks xs -> sums (zip ks xs)",
                    lambda: (draw.integers(0, 50_000, ROWS), draw.random(ROWS)), sums_by_key),
    "distinct": ("tables.perm", "items", lambda: [draw.integers(0, 50_000, ROWS)], distinct),
    "join": ("tables.perm", "\\ks xs is ss -> joined (zip ks xs) (zip is ss)",
             lambda: (draw.integers(0, 100_000, ROWS), draw.random(ROWS),
                      2 * draw.permutation(50_000), np.arange(50_000)), join),
    "Viterbi": ("viterbi.perm", "main", states, viterbi),
    "Batcher of 1000": ("merge_exchange.perm", "main",
                        lambda: [draw.integers(0, 2**32, 1000, np.uint32)], batcher),
    "the same, padded": ("main : [m]u32 -> [m]u32\nmain = padded maxval sort_network", "main",
                         lambda: [draw.integers(0, 2**32, 1000, np.uint32)], batcher),
    "Mandelbrot": ("mandelbrot.perm", "main", lambda: [plane()], mandelbrot),
    "quantiles": ("tables.perm", "quartiles", lambda: [draw.random(ROWS)], quantiles),
}

# Those whose first result is as long as its second says; of records the last field is compared.
COUNTED = ("sums by key", "distinct", "join")


# ---- turns --------------------------------------------------------------------------------------


class Library:
    """Takes turns as a Player does, in this process."""

    def __init__(self, name, call, wait, elements):
        self.name, self.call, self.wait, self.elements, self.samples = name, call, wait, elements, []

    def turn(self):
        runs, start = 0, time.perf_counter()
        while runs == 0 or time.perf_counter() - start < 0.005:
            self.result = self.call()
            self.wait()
            runs += 1
        return (time.perf_counter() - start) / runs


def lines_of(text):
    """Of a program without its comments and tests."""
    return sum(1 for line in text.splitlines() if line.strip() and not line.startswith("--"))


def check(name, found, library, xp):
    expected = np.asarray(xp.asnumpy(library) if xp is not np else library)
    if name in COUNTED:
        found, expected = found[0][:int(found[1])], np.sort(expected)
        found = np.sort(found[found.dtype.names[-1]] if found.dtype.names else found)
    else:
        found = found[0]
    if found.shape != expected.shape or not np.allclose(found, expected, rtol=1e-9):
        raise Failed("the results differ")


def measure(name, o):
    """A row of the table."""
    program, expression, arguments, library = PROGRAMS[name]
    is_file, given = program.endswith(".perm"), arguments()
    text = (EXAMPLES / program).read_text() if is_file else program
    with tempfile.TemporaryDirectory(prefix="permc-bench-") as folder:
        path = os.path.join(folder, "program.perm")
        pathlib.Path(path).write_text(text)
        command = [str(o.permc), "bench", "--turns", path, "-e", expression, "--threads", "1",
                   "--backend", o.backend, "--quiet"]
        for i, array in enumerate(given):
            np.save(os.path.join(folder, f"given{i}.npy"), array)
            command += ["-i", os.path.join(folder, f"given{i}.npy")]
        outputs = [os.path.join(folder, f"found{i}.npy") for i in range(1 + (name in COUNTED))]
        for output in outputs:
            command += ["-o", output]
        xp, wait, shown = np, lambda: None, "NumPy"
        if o.backend == "cuda":
            import cupy
            xp, wait, shown = cupy, cupy.cuda.runtime.deviceSynchronize, "CuPy"
        first = Player("permc", command, len(given[0]))
        try:
            other = Library(shown, library(xp, *map(xp.asarray, given)), wait, len(given[0]))
            play([first, other], o.seconds)
            report, row = report_of(first.end())
        except BaseException:
            first.kill()
            raise
        check(name, [np.load(output) for output in outputs], other.result, xp)
    ratio = side(first, other)["ratio"]
    times = [page.show_seconds(figures(each.samples)["median"]) for each in (first, other)]
    shown_ratio = [f"{1 / ratio[key]:.3g}" for key in ("median", "high", "low")]
    cells = [name, str(lines_of(text)) if not text.count("-- entry") else "", str(row["passes"]), *times,
             "{} ({} to {})".format(*shown_ratio)]
    print(*cells, sep="  ", flush=True)
    return cells, page.machine_of(report, row)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    parser.add_argument("--permc", default=HERE.parent / "build/release/permc")
    parser.add_argument("--backend", default="cpu", choices=["cpu", "portable", "cuda"])
    parser.add_argument("--seconds", type=float, default=2, help="of a program, at most (but 11 rounds)")
    parser.add_argument("--to", metavar="FOLDER", type=pathlib.Path, default=HERE / "results")
    o = parser.parse_args()
    rows, good = [], True
    for name in o.programs or PROGRAMS:
        try:
            cells, where = measure(name, o)
            rows.append(cells)
        except Exception as why:
            print(f"bench: no figures for {name}: {why}", file=sys.stderr, flush=True)
            good = False
    if rows and not o.programs:
        library = "CuPy" if o.backend == "cuda" else "NumPy, SciPy or pandas"
        head = ["program", "lines", "passes", "permc", library, "times as fast as it"]
        path = o.to / f"programs{'-gpu' if o.backend == 'cuda' else ''}.md"
        path.write_text(f"# Programs beside libraries\n\n{where}\n\n" + page.table(head, rows) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
