"""The charts of the report."""
import re
from dataclasses import dataclass

from . import names, svg
from .compare import number, side_by_side
from .measure import ROOT

PLACE = ROOT / "docs" / "plots"

# name: (title, the panels: (workload, threads, metric))
COMPARISONS = {
    "compare_uncontended": ("No contention", (("W1", 1, "ns_per_op"), ("W2", 1, "ns_per_op"))),
    "compare_contended": (
        "Contention",
        (("W4", 1, "ns_per_op"), ("W4", 2, "ns_per_op"), ("W3y", 1, "ns_per_op"), ("W3y", 2, "ns_per_op")),
    ),
    "compare_queues": ("Queues", (("W5/1x1", 2, "ns_per_op"), ("W5/4x4", 2, "ns_per_op"))),
    "compare_many": (
        "Very many waiters",
        (("W7", 1, "park_ns"), ("W7", 1, "release_ns"), ("W7", 1, "bytes_per_waiter"), ("W8", 1, "ns_per_op")),
    ),
    "compare_limits": ("Time limits", (("W9a", 1, "ns_per_op"), ("W9b", 1, "cpu_ms"))),
    "compare_tasks": ("Tasks with a concurrency limit", (("W10", 1, "ns_per_op"), ("W10", 2, "ns_per_op"))),
}

# Titles that fit above half a chart.
PANELS = {
    "W1": "Uncontended semaphore (W1)",
    "W2": "Uncontended mutex (W2)",
    "W3y": "Contended mutex (W3y)",
    "W4": "Contended semaphore (W4)",
    "W5/1x1": "Queue, 1 to 1 (W5)",
    "W5/4x4": "Queue, 4 to 4 (W5)",
    "W8": "Cancel one of 100,000 waiters (W8)",
    "W9a": "Wait with a time limit (W9a)",
    "W9b": "100,000 timeouts, CPU time (W9b)",
    "W10": "1,000,000 small tasks (W10)",
}


def compare(taken):
    """Charts of weir next to others; the names of those that were drawn, with their titles."""
    groups = dict(side_by_side(taken))
    drawn = {}
    for name, (title, keys) in COMPARISONS.items():
        panels = [panel(key, groups[key]) for key in keys if key in groups]
        if panels:
            write(name, svg.panels_chart(title, panels))
            drawn[name] = title
    return drawn


def panel(key, entries):
    workload, threads, metric = key
    title = PANELS.get(workload) or names.workload(workload, metric)
    if workload in ("W3y", "W4", "W5/1x1", "W5/4x4", "W10"):
        title += f", {threads} thread{'s' if threads > 1 else ''}"
    rows = [(names.library(who), figure.min, number(figure.min), who.startswith("weir")) for who, figure, _ in entries]
    return title, entries[0][1].unit, rows


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


@dataclass(frozen=True)
class Plot:
    axis: str  # the title of x
    logarithmic: bool
    curves: dict  # name: points


def plots_of(taken):
    return {
        "waiters": Plot(
            "waiters in the queue",
            True,
            {"acquire, suspended (W4)": growing(taken, "W4/waiters"), "cancel (W8)": growing(taken, "W8/waiters")},
        ),
        "timers": Plot(
            "armed timers",
            True,
            {
                "wait with a limit (W9a)": growing(taken, "W9a/armed"),
                "the same with its task (W9a)": growing(taken, "W9a/timers"),
            },
        ),
        "threads": Plot(
            "threads",
            False,
            {
                "mutex (W3)": over_threads(taken, "W3"),
                "mutex, holder yields (W3y)": over_threads(taken, "W3y"),
                "semaphore (W4)": over_threads(taken, "W4"),
                "queue, 4×4 (W5)": over_threads(taken, "W5/4x4"),
                "tasks, limit of 64 (W10)": over_threads(taken, "W10"),
            },
        ),
    }


def grow(taken):
    """The names of the curves that there is something for."""
    drawn = []
    for name, plot in plots_of(taken).items():
        curves = {what: points for what, points in plot.curves.items() if len(points) > 1}
        if curves:
            write(name, svg.curves_chart(f"Cost by number of {plot.axis}", plot.axis, plot.logarithmic, curves))
            drawn.append(name)
    return drawn


def write(name, drawing):
    PLACE.mkdir(parents=True, exist_ok=True)
    (PLACE / f"{name}.svg").write_text(drawing, encoding="utf-8")
