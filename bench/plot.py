#!/usr/bin/env python3
"""plot: draws what `ricci bench --json` wrote: rates over size, speed-ups over a peer, rates over batch counts.

    bench/plot.py rate batched.json --out rate.png              with the roofline, and cuBLAS dashed
    bench/plot.py speedup batched.json --peer cublas --out speedup.pdf
    bench/plot.py batch counts.json --unit percent --out batch.png
    bench/plot.py rate fem.json --unit dof --peer unfused --out fem.png

Several files are drawn into one figure. Needs matplotlib.
"""

import argparse
import json
import sys

UNITS = {"dof": "MDOF/s", "gf": "GF/s", "gb": "GB/s", "percent": "% of the bandwidth or peak measured in the run"}


def best(row, peer):
    """A peer's fastest result within the error bound, else its fastest; None where there is none."""
    timed = [r for r in row["results"] if r["peer"] == peer and "seconds" in r]
    key = lambda r: (r.get("check", {}).get("wrong", 0) > 0, r["seconds"])
    return min(timed, key=key, default=None)


def size_of(row):
    """What a row is drawn over: the order of an operator, n of n x n x n, the width of a tall-skinny product, else
    the cube root of m*n*k."""
    if row["kind"] == "fem":
        return row["order"]
    m, n, k = row["m"], row["n"], row["k"]
    if row["kind"] == "atb":
        return (m * n) ** 0.5
    if row["kind"] == "ab":
        return (n * k) ** 0.5
    return n if m == n == k else (m * n * k) ** (1 / 3)


def series_of(row, differing):
    """The name of the line that a row belongs to: what differs between the rows."""
    words = [row["types"]]
    if "math" in differing:
        words.append(row.get("math", "full"))
    if "kind" in differing:
        words.insert(0, row["kind"])
    words += [row[key] for key in ("operator", "form", "scatter") if key in differing and key in row]
    if "operations" in differing and row["operations"]:
        words.append(row["operations"])
    if "accumulate" in differing:
        words.append("+=" if row["accumulate"] else "=")
    words += [str(row[key]) for key in ("layout",) if key in differing]
    words += [f"ld+{row['padding']}" for key in ("padding",) if key in differing]
    words += [f"@{row['offset']}" for key in ("offset",) if key in differing]
    return " ".join(words)


def read(files):
    """The rows of all files that have a time of ricci, and a title."""
    rows, titles = [], []
    for name in files:
        with open(name, encoding="utf-8") as file:
            report = json.load(file)
        header = report["header"]
        rows += [row for row in report["rows"] if best(row, "ricci")]
        triad = header["bandwidth"]["triad_gb_per_s"]
        titles.append(f"{header['chip']}, {header['date'][:10]}, triad {triad:.0f} GB/s")
    if not rows:
        sys.exit("plot: there is no row with a time in " + ", ".join(files))
    return rows, "; ".join(dict.fromkeys(titles))


def grouped(rows, by_size=False):
    """The rows by series, in order of appearance; of each size apart, if asked."""
    keys = ("kind", "operator", "form", "scatter", "math", "operations", "accumulate", "layout", "padding", "offset")
    differing = {key for key in keys if len({row.get(key) for row in rows}) > 1}
    out = {}
    for row in rows:
        name = series_of(row, differing) + (f", size {size_of(row):.3g}" if by_size else "")
        out.setdefault(name, []).append(row)
    return out


def value(row, result, unit):
    if unit == "dof":
        return result.get("dof_per_s", 0) * 1e-6
    return result[{"gf": "gf_per_s", "gb": "gb_per_s", "percent": "percent"}[unit]]


def roof(row, unit):
    """What the measured bandwidth allows a row, or the peak one that stays in the caches."""
    if row["percent_of"] == "peak":
        peak = row["yardstick_gf_per_s"]
        return {"gf": peak, "gb": peak * row["bytes"] / row["flops"], "percent": 100,
                "dof": 1e3 * peak * row.get("unknowns", 0) / row["flops"]}[unit]
    bandwidth = row["yardstick_gb_per_s"]
    return {"gf": bandwidth * row["flops"] / row["bytes"], "gb": bandwidth, "percent": 100,
            "dof": 1e3 * bandwidth * row.get("unknowns", 0) / row["bytes"]}[unit]


def draw_lines(axes, rows, place, options, by_size=False):
    for name, group in grouped(rows, by_size).items():
        group = sorted(group, key=place)
        (line,) = axes.plot([place(r) for r in group], [value(r, best(r, "ricci"), options.unit) for r in group],
                            marker=".", label=name)
        for peer in options.peer:
            theirs = [(place(r), value(r, best(r, peer), options.unit)) for r in group if best(r, peer)]
            if theirs:
                axes.plot(*zip(*theirs), linestyle="--", linewidth=1, color=line.get_color(), label=f"{name}, {peer}")
        axes.plot([place(r) for r in group], [roof(r, options.unit) for r in group], linestyle=":", linewidth=1,
                  color=line.get_color())
    axes.plot([], [], linestyle=":", color="gray", label="roofline")
    axes.set_ylabel(UNITS[options.unit])
    axes.set_ylim(bottom=0)


def draw_rate(axes, rows, options):
    draw_lines(axes, rows, size_of, options)
    axes.set_xlabel("order" if all(row["kind"] == "fem" for row in rows) else "size")
    axes.xaxis.get_major_locator().set_params(integer=True)


def draw_batch(axes, rows, options):
    draw_lines(axes, rows, lambda r: r["batch"], options, by_size=True)
    axes.set_xscale("log")
    axes.set_xlabel("products in the batch")


def draw_speedup(axes, rows, options):
    if len(options.peer) != 1:
        sys.exit("plot: a speed-up is over one peer: give one --peer")
    peer = options.peer[0]
    groups = {name: [r for r in group if peer in r["ratio"]] for name, group in grouped(rows).items()}
    groups = {name: group for name, group in groups.items() if group}
    if not groups:
        sys.exit(f"plot: no row has a time of {peer}")
    places = {size: n for n, size in enumerate(sorted({size_of(r) for group in groups.values() for r in group}))}
    width = 0.8 / len(groups)
    for number, (name, group) in enumerate(groups.items()):
        shift = (number - (len(groups) - 1) / 2) * width
        axes.bar([places[size_of(r)] + shift for r in group], [r["ratio"][peer] for r in group], width, label=name)
    step = max(1, len(places) // 32)
    axes.set_xticks(list(places.values())[::step], [f"{size:.3g}" for size in places][::step])
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xlabel("size")
    axes.set_ylabel(f"time of {peer} / time of ricci")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figure", choices=["rate", "speedup", "batch"])
    parser.add_argument("files", nargs="+", metavar="FILE.json")
    parser.add_argument("--out", required=True, help="the picture: .png, .pdf or .svg")
    parser.add_argument("--peer", action="append", help="drawn too; may be repeated (default cublas)")
    parser.add_argument("--unit", choices=UNITS, default="gf")
    parser.add_argument("--types", help="only rows of these, as f64,f32")
    options = parser.parse_args()
    options.peer = options.peer or ["cublas"]
    try:
        import matplotlib
    except ImportError:
        sys.exit("plot: matplotlib is not there: pip install matplotlib, or apt install python3-matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows, title = read(options.files)
    if options.types:
        rows = [row for row in rows if row["types"] in options.types.split(",")]
        if not rows:
            sys.exit("plot: no row has these types")
    figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
    {"rate": draw_rate, "speedup": draw_speedup, "batch": draw_batch}[options.figure](axes, rows, options)
    axes.set_title(title, fontsize="small")
    axes.set_axisbelow(True)
    axes.grid(True, linewidth=0.3)
    axes.legend(fontsize="small")
    figure.savefig(options.out, dpi=150)


if __name__ == "__main__":
    main()
