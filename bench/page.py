#!/usr/bin/env python3
"""Tables in Markdown and plots of what bench/run.py has measured.

  python3 bench/page.py bench/results/sort.json ...      writes sort.md, and sort.svg by Matplotlib
"""
import json
import pathlib
import statistics
import sys

from suites import HMM_PERMUTATIONS, HMM_WAYS, LAYOUTS, SUITES, WAYS

# ---- words --------------------------------------------------------------------------------------


def show_seconds(seconds):
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)):
        if seconds * scale >= 0.9995 or unit == "ns":
            return f"{seconds * scale:.3g} {unit}" if seconds * scale < 999.5 else \
                f"{seconds * scale:.0f} {unit}"


def beside(row, name):
    return next((s for s in row["beside"] if s["name"] == name), None)


def show_side(side):
    """How many times as fast as the other permc is."""
    ratio = side["ratio"]["median"]
    return f"{show_seconds(side['seconds']['median'])}, {1 / ratio:.3g} times" + \
        (" per element" if "elements" in side else "")


def part_of_copy(row):
    copy = beside(row, "copy")
    return f"{100 / copy['ratio']['median']:.0f} %" if copy else ""


def line(row):
    """A row as it is printed when it has been measured."""
    f = row["seconds"]
    peers = "".join(f"  {s['name']} {show_side(s)}" for s in row["beside"] if s["name"] != "copy")
    where = row["device"] or f"{row['threads']} threads"
    return (f"{row['name']:36} {show_seconds(f['median']):>9} {show_seconds(f['least']):>9} "
            f"{50 * (f['high'] - f['low']) / f['median']:5.1f}% {row['bytes'] / f['median'] / 1e9:7.2f} "
            f"{part_of_copy(row):>6}{peers}  ({row['backend']}, {where}, {row['verified']})")


def table(head, rows):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


# ---- tables -------------------------------------------------------------------------------------


def rows_table(rows):
    """How many times as long as permc's each other's run takes, in the same rounds."""
    names = list(dict.fromkeys(s["name"] for row in rows for s in row["beside"] if s["name"] != "copy"))
    lines = []
    for row in rows:
        f, sides = row["seconds"], [beside(row, name) for name in names]
        lines.append([row["name"], show_seconds(f["median"]),
                      f"{50 * (f['high'] - f['low']) / f['median']:.1f} %",
                      f"{row['bytes'] / f['median'] / 1e9:.3g}", part_of_copy(row),
                      f"{row['predicted'] / f['median']:.2f}" if row["predicted"] else ""]
                     + [show_side(s) if s else "" for s in sides])
    return table(["program", "a run", "+-", "GB/s", "of copy", "predicted"] + names, lines)


def by_name(rows):
    return {row["name"]: row for row in rows}


def layouts_table(rows):
    """Microseconds of each program by each layout, and of the peer's transposes beside them."""
    found = by_name(rows)
    series = list(dict.fromkeys(row["name"].rpartition(" by ")[0] for row in rows))
    cells = [[layout] + [show_seconds(found[f"{s} by {layout}"]["seconds"]["median"])
                         if f"{s} by {layout}" in found else "" for s in series]
             for layout in LAYOUTS]
    return table(["layout"] + series, cells)


PERMUTATIONS = ["bit reversal", "random BPC", "random BMMC"]


class Figures:
    """Figures 9 to 11 of the BMMC paper, of the cases that name a strategy."""

    def __init__(self, rows):
        self.found = {}
        for row in rows:
            for p in PERMUTATIONS:
                if row["name"].startswith(f"{p} u32 2^") and " by " in row["name"]:
                    self.found[row["x"].bit_length() - 1, p, row["strategy"]] = row
        self.sizes = sorted({n for n, _, _ in self.found})
        self.n = self.sizes[-1] if self.sizes else 0
        copies = [beside(row, "copy") for (n, _, _), row in self.found.items() if n == self.n]
        self.copy = statistics.median(c["seconds"]["median"] for c in copies if c) if copies else 0

    def row(self, p, method, n=None):
        """`all`: all optimisations of the paper, which has no iterations for any matrix."""
        method = {"all": "tile+banks" if p == "random BMMC" else "tile+banks+iters"}.get(method, method)
        return self.found.get((n or self.n, p, method))

    def milliseconds(self, p, way):
        row = self.row(p, way)
        return 1e3 * row["seconds"]["median"] if row else 0

    def bandwidth(self, p, method):
        """GB/s of what all passes read and write, as the paper counts them."""
        row = self.row(p, method)
        return max(1, row["passes"]) * row["bytes"] / row["seconds"]["median"] / 1e9 if row else 0

    def speedup(self, p, method, n):
        naive, row = self.row(p, "naive", n), self.row(p, method, n)
        return naive["seconds"]["median"] / row["seconds"]["median"] if naive and row else 0

    def copy_bandwidth(self):
        return next(iter(self.found.values()))["bytes"] / self.copy / 1e9 \
            * 2**self.n / 2**next(iter(self.found))[0]

    def tables(self):
        def cell(form, number):
            return form.format(number) if number else ""

        times = [[way] + [cell("{:.4g} ms", t) + cell(", {:.2f}x a copy", t / 1e3 / self.copy)
                          for t in (self.milliseconds(p, way) for p in PERMUTATIONS)] for way in WAYS]
        moved = [["copy"] + [f"{self.copy_bandwidth():.0f}"] * 3] + [
            [m] + [cell("{:.0f}", self.bandwidth(p, m)) for p in PERMUTATIONS]
            for m in ("naive", "all", "onepass")]
        faster = [[f"2^{n}"] + [cell("{:.2f}x", self.speedup(p, m, n))
                                for p in PERMUTATIONS for m in ("all", "onepass")] for n in self.sizes]
        return "\n\n".join([
            f"Figure 9: times of 2^{self.n} u32; a copy takes {show_seconds(self.copy)}",
            table(["strategy"] + PERMUTATIONS, times),
            f"Figure 10: GB/s that the passes read and write, 2^{self.n} u32",
            table([""] + PERMUTATIONS, moved),
            "Figure 11: times faster than naive: all optimisations, and onepass",
            table([""] + [f"{p}, {m}" for p in PERMUTATIONS for m in ("all", "onepass")], faster)])


# Table II of the HMM paper, milliseconds of a GTX 680 on 2^16, 2^18, ..., 2^24 elements:
# D-designated, S-designated, scheduled. It has no 2^24 of u64.
PUBLISHED = {
    "u32": {
        "identical": "0.86 0.86 3.87, 2.48 2.49 11.7, 9.06 9.13 46.9, 33.2 33.1 173, 130 129 780",
        "shuffle": "0.94 0.84 3.87, 3.05 2.47 11.7, 11.5 9.09 46.9, 44.7 33.6 174, 186 133 780",
        "random": "1.55 3.3 3.87, 15.1 15.7 11.7, 93.9 89.8 47, 425 398 173, 1756 1644 780",
        "bit-reversal": "1.6 3.12 3.87, 15.6 20.8 11.7, 95.3 96.6 47, 459 414 173, 2328 1870 780",
        "transpose": "1.44 2.72 3.87, 21.2 17.8 11.7, 127 87 46.9, 636 370 173, 2850 2037 780"},
    "u64": {
        "identical": "1.07 1.07 5.07, 3.57 3.6 16.9, 13.5 13.8 66.6, 54.6 54.6 275",
        "shuffle": "1.44 1.08 5.09, 5.14 3.57 17, 19.7 13.6 66.7, 82.2 54.6 275",
        "random": "2.98 3.4 5.09, 21.6 21.3 17, 104 100 66.6, 452 424 275",
        "bit-reversal": "3 3.36 5.09, 22 25 17, 108 104 66.6, 559 498 275",
        "transpose": "2.07 2.99 5.12, 22.2 15.4 17, 134 80.3 66.6, 638 358 275"}}


def hmm_tables(rows):
    """Tables II and III of the HMM paper."""
    found, parts = by_name(rows), []
    for kind, published in PUBLISHED.items():
        lines = []
        for which in HMM_PERMUTATIONS:
            theirs = [line.split() for line in published[which].split(", ")]
            for i, n in enumerate(range(16, 29, 2)):
                ours = [found.get(f"{which} {kind} 2^{n} by {way}") for way in HMM_WAYS]
                copies = [beside(row, "copy")["seconds"]["median"] for row in ours if row]
                if copies:
                    lines.append([which, f"2^{n // 2}"] + (theirs[i] if i < len(theirs) else [""] * 3)
                                 + [show_seconds(row["seconds"]["median"]) if row else "" for row in ours]
                                 + [show_seconds(min(copies))])
        if lines:
            head = [f"{kind}, Table II", "root of n", "D, GTX 680, ms", "S", "scheduled"]
            parts.append(table(head + HMM_WAYS + ["copy"], lines))
    drawn = [[row["strategy"], str(row["seconds"]["runs"])]
             + [show_seconds(row["seconds"][each]) for each in ("least", "mean", "greatest")]
             for row in rows if row["name"].startswith("1000 random")]
    if drawn:
        parts.append(table(["Table III: 2^22 u32", "permutations", "least", "mean", "greatest"], drawn))
    return "\n\n".join(parts)


def machine_of(report, row):
    return (f"{row['device'] or report['processor']}; permc {report['permc']}, {report['compiler']}; "
            f"{report['system']}, {report['date']}")


def text_of(report):
    rows = report["rows"]
    suite, head = rows[0]["suite"], machine_of(report, rows[0])
    tables = {"layouts": layouts_table, "hmm": hmm_tables}.get(suite, rows_table)(rows)
    if suite == "bmmc" and Figures(rows).found:
        tables += "\n\n" + Figures(rows).tables()
    return f"# {SUITES[suite].summary[0].upper()}{SUITES[suite].summary[1:]}\n\n{head}\n\n{tables}\n"


# ---- plots --------------------------------------------------------------------------------------


def height(row, axis, seconds, elements):
    if axis.startswith("bytes"):
        return row["bytes"] / row["elements"] * elements / seconds
    return elements / seconds if axis.startswith("elements") else seconds / elements / row["columns"]


def draw_series(axes, rows, suite):
    """A curve for each series, and for what is beside it: dotted, in the same colour. Bytes are bytes:
    there a copy is drawn once."""
    curves = {}
    for row in rows:
        n = row["elements"]
        curves.setdefault((row["series"], ""), []).append(
            (row["x"], height(row, suite.axis, row["seconds"]["median"], n)))
        for s in row["beside"] if not suite.axis.startswith("seconds") else []:
            series = "" if s["name"] == "copy" and suite.axis.startswith("bytes") else row["series"]
            curves.setdefault((series, s["name"]), []).append(
                (s.get("elements", row["x"]), height(row, suite.axis, s["seconds"]["median"],
                                                     s.get("elements", n))))
    colours = {}
    for (series, other), points in curves.items():
        points = sorted(dict(reversed(points)).items())
        drawn, = axes.loglog(*zip(*points), "o:" if other else "o-", markersize=3,
                             color=colours.get(series), label=", ".join(filter(None, (other, series))))
        colours.setdefault(series, drawn.get_color())
    axes.set(xlabel=suite.x, ylabel=suite.axis, title=suite.summary)
    axes.set_xscale("log", base=2)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=7)


def draw_figures(panels, figures):
    times, moved, faster = panels
    for i, p in enumerate(PERMUTATIONS):
        times.bar([k + 0.25 * i for k in range(len(WAYS))],
                  [figures.milliseconds(p, way) for way in WAYS], 0.25, label=p)
        for method, style in (("all", "o-"), ("onepass", "s--")):
            faster.plot(figures.sizes, [figures.speedup(p, method, n) for n in figures.sizes], style,
                        color=f"C{i}", label=f"{p}, {method}")
    for i, method in enumerate(("naive", "all", "onepass")):
        moved.bar([k + 0.25 * i for k in range(3)],
                  [figures.bandwidth(p, method) for p in PERMUTATIONS], 0.25, label=method)
    times.axhline(1e3 * figures.copy, color="k", linestyle="--", label="copy")
    moved.axhline(figures.copy_bandwidth(), color="k", linestyle="--", label="copy")
    times.set(yscale="log", ylabel="ms", title=f"Figure 9: times of 2^{figures.n} u32")
    times.set_xticks([k + 0.25 for k in range(len(WAYS))], WAYS)
    moved.set(ylabel="GB/s", title="Figure 10: what the passes read and write")
    moved.set_xticks([k + 0.25 for k in range(3)], PERMUTATIONS)
    faster.set(xlabel="log2 n", title="Figure 11: times faster than naive")
    for axes in panels:
        axes.legend(fontsize=7)


def draw(report, path):
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    rows = report["rows"]
    suite = SUITES[rows[0]["suite"]]
    figures = Figures(rows) if rows[0]["suite"] == "bmmc" else None
    series = [row for row in rows if not figures or row not in figures.found.values()]
    extra = 3 if figures and figures.found else 0
    count = bool(series) + extra
    picture, panels = pyplot.subplots(count, figsize=(9, 4 * count), squeeze=False, layout="constrained")
    panels = list(panels[:, 0])
    if series:
        draw_series(panels[0], series, suite)
    if extra:
        draw_figures(panels[-3:], figures)
    picture.savefig(path)
    pyplot.close(picture)


def write(path):
    path = pathlib.Path(path)
    report = json.loads(path.read_text())
    path.with_suffix(".md").write_text(text_of(report))
    try:
        draw(report, path.with_suffix(".svg"))
    except ImportError:
        print("bench: no plot without Matplotlib", file=sys.stderr)


if __name__ == "__main__":
    for each in sys.argv[1:]:
        write(each)
