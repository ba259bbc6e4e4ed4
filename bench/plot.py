#!/usr/bin/env python3
"""plot: draws what `ricci bench --json` wrote: rates over size, speed-ups over a peer, rates over batch counts.

    bench/plot.py rate batched.json --out rate.png              with the roofline, and the report's first peer dashed
    bench/plot.py speedup batched.json --peer cublas --out speedup.pdf
    bench/plot.py batch counts.json --unit percent --out batch.png
    bench/plot.py rate fem.json --unit dof --peer unfused --out fem.png
    bench/plot.py speedup conv.json --peer cudnn --out conv.png

Several files are drawn into one figure. What differs between the rows has lines of its own, heights and batches too;
where that were too many, as of a random sample, each row is a point. Needs matplotlib. Exit codes: 0 done, 1 an option
or a file is wrong, 2 the machine does not do it.
"""

import argparse
import json
import os
import sys

UNITS = {"dof": "MDOF/s", "gf": "GF/s", "gb": "GB/s", "percent": "% of the bandwidth or peak measured in the run"}
SUFFIXES = (".png", ".pdf", ".svg")
MOST_LINES = 24  # that can be told apart


def refuse(message, code=1):
    print(f"plot: {message}", file=sys.stderr)
    sys.exit(code)


def best(row, peer):
    """A peer's fastest result within the error bound, else its fastest; None where there is none."""
    timed = [r for r in row["results"] if r["peer"] == peer and "seconds" in r]
    key = lambda r: (r.get("check", {}).get("wrong", 0) > 0, r["seconds"])
    return min(timed, key=key, default=None)


def size_of(row):
    """What a row is drawn over: the order of an operator, the name of a layer, n of n x n x n, the width of a
    tall-skinny product, n of an n x n factorization, else the cube root of m*n*k."""
    if row["kind"] == "fem":
        return row["order"]
    if "right_hand_sides" in row:  # `bench factor`
        return (row["m"] * row["n"]) ** 0.5
    if row["kind"] == "conv":
        return row["layer"]
    m, n, k = row["m"], row["n"], row["k"]
    if row["kind"] == "atb":
        return (m * n) ** 0.5
    if row["kind"] == "ab":
        return (n * k) ** 0.5
    return n if m == n == k else (m * n * k) ** (1 / 3)


def size_name(row):
    return size_of(row) if row["kind"] == "conv" else f"size {size_of(row):.3g}"


def height_of(row):
    """The long side of a tall-skinny product."""
    return {"atb": row["k"], "ab": row["m"]}.get(row["kind"])


# What rows that are drawn as one line have in common, apart from types, and how a line's name says it.
KEYS = {
    "kind": lambda row: row["kind"],
    "operator": lambda row: row.get("operator"),
    "form": lambda row: row.get("form"),
    "algorithm": lambda row: row.get("algorithm"),
    "scatter": lambda row: row.get("scatter"),
    "operations": lambda row: row["operations"],
    "accumulate": lambda row: "+=" if row["accumulate"] else "=",
    "layout": lambda row: row["layout"],
    "padding": lambda row: f"ld+{row['padding']}",
    "offset": lambda row: f"@{row['offset']}",
    "height": lambda row: height_of(row) and f"height {height_of(row)}",
    "math": lambda row: row.get("math", "full"),
    "sides": lambda row: row.get("right_hand_sides") and f"rhs {row['right_hand_sides']}",
    "batch": lambda row: f"batch {row['batch']}",
    "file": lambda row: row["file"],
}


def differing(rows, by_batch):
    """The keys that tell lines apart. The batch follows from the size in most reports, and files may each have some of
    the sizes: they do so only where rows are equal but for them."""
    keys = [key for key in KEYS if key not in ("batch", "file") and len({KEYS[key](row) for row in rows}) > 1]
    for key in ["file"] if by_batch else ["file", "batch"]:
        found = {}
        for row in rows:
            same = tuple(KEYS[other](row) for other in keys + by_batch * ["batch"])
            same += tuple(row.get(other) for other in ("types", "m", "n", "k", "order", "layer"))
            found.setdefault(same, set()).add(KEYS[key](row))
        if any(len(values) > 1 for values in found.values()):
            keys.append(key)
    return keys


def grouped(rows, by_size=False):
    """The rows by the names of their lines, in order of appearance; of each size apart, if asked."""
    def by(keys):
        out = {}
        for row in rows:
            words = [row["types"]] + [KEYS[key](row) for key in keys]
            name = " ".join(word for word in words if word) + (f", {size_name(row)}" if by_size else "")
            out.setdefault(name, []).append(row)
        return out

    keys = differing(rows, by_size)
    lines = by(keys)
    return lines if len(lines) <= MOST_LINES or "batch" not in keys else by([key for key in keys if key != "batch"])


def read(files):
    """The rows of all files that have a time of ricci, a title, and the peers, the first first."""
    rows, titles, peers = [], [], []
    for name in files:
        try:
            with open(name, encoding="utf-8") as file:
                report = json.load(file)
            header = report["header"]
            found = [row for row in report["rows"] if best(row, "ricci")]
            triad = header["bandwidth"]["triad_gb_per_s"]
            titles.append(f"{header['chip']}, {header['date'][:10]}, triad {triad:.0f} GB/s")
            peers += [peer["name"] for peer in header["peers"]]
            for row in found:
                row["file"] = os.path.splitext(os.path.basename(name))[0]
                grouped([row]), size_of(row), row["ratio"], row["bytes"], row["flops"], row["percent_of"]
            rows += found
        except OSError as problem:
            refuse(f"{name} cannot be read: {problem.strerror}")
        except (ValueError, KeyError, TypeError, AttributeError):
            refuse(f"{name} is no report that `ricci bench --json` wrote")
    if not rows:
        refuse("there is no row with a time in " + ", ".join(files))
    return rows, "; ".join(dict.fromkeys(titles)), list(dict.fromkeys(peers))


def peers_to_draw(asked, known, rows):
    """Those asked for, each of which must have a time; else the first that has one."""
    has_time = lambda peer: any(best(row, peer) for row in rows)
    for peer in asked or []:
        if not has_time(peer):
            there = ", ".join(filter(has_time, known))
            refuse(f"no row has a time of {peer}; " + (f"there are {there}" if there else "there is no other peer's"))
    return asked or list(filter(has_time, known))[:1]


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


def is_line(group, place):
    """Whether the rows have a place each; a line through others would go up and down at one."""
    return len({place(row) for row in group}) == len(group)


def draw_lines(axes, rows, place, options, by_size=False):
    for name, group in grouped(rows, by_size).items():
        group = sorted(group, key=place)
        style = {"solid": "-", "dashed": "--"} if is_line(group, place) else {"solid": "", "dashed": ""}
        (line,) = axes.plot([place(r) for r in group], [value(r, best(r, "ricci"), options.unit) for r in group],
                            marker=".", linestyle=style["solid"], label=name)
        for peer in options.peer:
            theirs = [(place(r), value(r, best(r, peer), options.unit)) for r in group if best(r, peer)]
            if theirs:
                axes.plot(*zip(*theirs), linestyle=style["dashed"], marker="" if style["dashed"] else "x",
                          linewidth=1, color=line.get_color(), label=f"{name}, {peer}")
        axes.plot([place(r) for r in group], [roof(r, options.unit) for r in group], linewidth=1,
                  linestyle=":" if style["solid"] else "", marker="" if style["solid"] else "_",
                  color=line.get_color())
    axes.plot([], [], linestyle=":", color="gray", label="roofline")
    axes.set_ylabel(UNITS[options.unit])
    axes.set_ylim(bottom=0)


def layers_in(rows):
    """The names of layers, in order of appearance; empty where a row is none."""
    return list(dict.fromkeys(row["layer"] for row in rows)) if all(row["kind"] == "conv" for row in rows) else []


def draw_rate(axes, rows, options):
    layers = layers_in(rows)
    if layers:
        draw_lines(axes, rows, lambda row: layers.index(row["layer"]), options)
        axes.set_xticks(range(len(layers)), layers, rotation=30, ha="right")
        return
    draw_lines(axes, rows, size_of, options)
    axes.set_xlabel("order" if all(row["kind"] == "fem" for row in rows) else "size")
    axes.xaxis.get_major_locator().set_params(integer=True)


def draw_batch(axes, rows, options):
    draw_lines(axes, rows, lambda r: r["batch"], options, by_size=True)
    axes.set_xscale("log")
    axes.set_xlabel("products in the batch")


def draw_speedup(axes, rows, options):
    if len(options.peer) != 1:
        refuse("a speed-up is over one peer: give one --peer" if options.peer else "no row has a time of a peer")
    peer = options.peer[0]
    groups = grouped([row for row in rows if peer in row["ratio"]])
    if not groups:
        refuse(f"no row has a time of {peer}")
    layers = layers_in(rows)
    sizes = layers or sorted({size_of(row) for group in groups.values() for row in group})
    places = {size: n for n, size in enumerate(sizes)}
    width = 0.8 / len(groups)
    for number, (name, group) in enumerate(groups.items()):
        shift = (number - (len(groups) - 1) / 2) * width
        at, ratios = [places[size_of(r)] + shift for r in group], [r["ratio"][peer] for r in group]
        if is_line(group, size_of):
            axes.bar(at, ratios, width, label=name)
        else:  # bars would hide each other
            axes.plot(at, ratios, linestyle="", marker=".", label=name)
    step = max(1, len(places) // 32)
    names = layers or [f"{size:.3g}" for size in places]
    axes.set_xticks(list(places.values())[::step], names[::step], **({"rotation": 30, "ha": "right"} if layers else {}))
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xlabel("layer" if layers else "size")
    axes.set_ylabel(f"time of {peer} / time of ricci")


class one_line_parser(argparse.ArgumentParser):
    def error(self, message):
        refuse(message)


def save(figure, out):
    """The picture appears whole or not at all."""
    unfinished = os.path.join(os.path.dirname(out), f".{os.getpid()}-{os.path.basename(out)}")
    try:
        figure.savefig(unfinished, dpi=150)
        os.replace(unfinished, out)
    except OSError as problem:
        try:
            os.remove(unfinished)
        except OSError:
            pass
        refuse(f"{out} cannot be written: {problem.strerror}", 2)


def main():
    parser = one_line_parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figure", choices=["rate", "speedup", "batch"])
    parser.add_argument("files", nargs="+", metavar="FILE.json")
    parser.add_argument("--out", required=True, help="the picture: .png, .pdf or .svg")
    parser.add_argument("--peer", action="append",
                        help="drawn too; may be repeated (default the report's first that has a time)")
    parser.add_argument("--unit", choices=UNITS, default="gf")
    parser.add_argument("--types", help="only rows of these, as f64,f32")
    options = parser.parse_args()
    if not options.out.endswith(SUFFIXES):
        refuse(f"--out {options.out}: a picture is .png, .pdf or .svg")
    rows, title, peers = read(options.files)
    if options.types:
        rows = [row for row in rows if row["types"] in options.types.split(",")]
        if not rows:
            refuse("no row has these types")
    if len({row["kind"] == "conv" for row in rows}) > 1:
        refuse("layers and other points do not go into one figure")
    if options.unit == "dof" and not all("unknowns" in row for row in rows):
        refuse("--unit dof is for what `ricci bench fem` wrote")
    options.peer = peers_to_draw(options.peer, peers, rows)
    try:
        import matplotlib
    except ImportError:
        refuse("matplotlib is not there: pip install matplotlib, or apt install python3-matplotlib", 2)
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
    {"rate": draw_rate, "speedup": draw_speedup, "batch": draw_batch}[options.figure](axes, rows, options)
    axes.set_title(title, fontsize="small")
    axes.set_axisbelow(True)
    axes.grid(True, linewidth=0.3)
    axes.legend(fontsize="small")
    save(figure, options.out)


if __name__ == "__main__":
    main()
