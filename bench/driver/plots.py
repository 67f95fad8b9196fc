"""The plots of the report, made by gnuplot."""
import re
import subprocess

from .measure import ROOT

PLACE = ROOT / "docs" / "plots"


def growing(taken, prefix):
    """[(how many, ns)] of weir's rows prefix_1, prefix_10, …"""
    points = []
    for (peer, workload, _, metric), figure in taken.figures.items():
        found = re.fullmatch(re.escape(prefix) + r"_(\d+)", workload)
        if peer == "weir" and found and metric == "ns_per_op":
            points.append((int(found[1]), figure.min))
    return sorted(points)


def over_threads(taken, workload):
    points = [(threads, taken.min("weir", workload, threads, "ns_per_op")) for threads in (1, 2, 4)]
    return [(threads, value) for threads, value in points if value is not None]


def curves_of(taken):
    """name: (title of x, logarithmic?, {curve: points})"""
    return {
        "waiters": ("waiters", True, {what: growing(taken, f"{what}/waiters") for what in ("W4", "W8")}),
        "timers": (
            "armed timers",
            True,
            {"W9a, alone": growing(taken, "W9a/armed"), "W9a, with its task": growing(taken, "W9a/timers")},
        ),
        "threads": (
            "threads",
            False,
            {what: over_threads(taken, what) for what in ("W3", "W3y", "W4", "W5/4x4", "W10")},
        ),
    }


def draw(taken):
    """The names of the plots that there is something for."""
    drawn = []
    PLACE.mkdir(parents=True, exist_ok=True)
    for name, (axis, logarithmic, curves) in curves_of(taken).items():
        curves = {what: points for what, points in curves.items() if len(points) > 1}
        if curves:
            plot(PLACE / f"{name}.svg", axis, logarithmic, curves)
            drawn.append(name)
    return drawn


def plot(file, axis, logarithmic, curves):
    lines = [
        'set terminal svg size 720,400 dynamic background "white"',
        f'set output "{file.relative_to(ROOT)}"',
        f'set xlabel "{axis}"',
        'set ylabel "ns per operation"',
        "set key outside right top",
        "set grid",
        "set yrange [0:]",
        'set logscale x; set format x "10^{%T}"' if logarithmic else "set xtics (1, 2, 4)",
    ]
    for index, points in enumerate(curves.values()):
        lines += [f"$curve{index} << END", *(f"{x} {y:.6g}" for x, y in points), "END"]
    parts = [f'$curve{index} with linespoints lw 2 title "{what}"' for index, what in enumerate(curves)]
    lines.append("plot " + ", ".join(parts))
    subprocess.run(["gnuplot"], input="\n".join(lines) + "\n", check=True, text=True, cwd=ROOT)
