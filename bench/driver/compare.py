"""Tables of figures, on the terminal."""
import re

from . import targets
from .measure import identity, is_workload
from .results import AT_MIN


def order(key):
    """The floor, then W1, W2, W3, W3y, …, W10, each with its variants and numbers of threads."""
    _, workload, threads, _ = key
    found = re.match(r"W(\d+)([a-z]?)", workload)
    if not found:
        return (0,)
    size = re.search(r"_(\d+)$", workload)
    return (int(found[1]), found[2], re.sub(r"_\d+$", "", workload), int(size[1]) if size else 0, threads)


def ordered(taken):
    return sorted(taken.figures.items(), key=lambda item: order(item[0]))


def number(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}" if value >= 20 else f"{value:.2f}"


def in_c(figure, c):
    return number(figure.min / c) if figure.unit == "ns" else ""


def print_table(header, lines):
    """The first column to the left, the rest to the right, the last as it comes."""
    widths = [max(len(line[i]) for line in [header, *lines]) for i in range(len(header))]
    for line in [header, *lines]:
        cells = [line[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(line[1:-1], widths[1:-1])]
        print("  ".join([*cells, line[-1]]).rstrip())


def print_figures(taken):
    lines = []
    for key, figure in ordered(taken):
        peer, workload, threads, metric = key
        if metric == AT_MIN:
            continue
        busy = cores(taken, peer, workload, threads) if metric == "ns_per_op" else ""
        cells = (number(figure.min), number(figure.median), figure.unit, in_c(figure, taken.c), busy)
        lines.append((workload, str(threads), metric, *cells, str(targets.verdict(key, taken) or "")))
    print_table(("workload", "threads", "metric", "min", "median", "unit", "/ c", "cores", "target"), lines)
    print_relations(taken)
    print_remarks(taken)


def print_relations(taken):
    lines = [(each.what, each.reached, str(each.verdict)) for each in targets.relations(taken)]
    if lines:
        print()
        print_table(("one against the other", "reached", "target"), lines)


def print_remarks(taken):
    """What was not measured as it should be, and why."""
    if taken.failed:
        print()
        print_table(("not as the rest", "workload", "threads", "why"), [tuple(map(str, row)) for row in taken.failed])
    if taken.about.get("load", 0) > 0.5:
        print(f"\nThe machine had other work (load {taken.about['load']}): do not trust rows with several threads.")


def label(peer, workload):
    """weir's W4/asio_task beside others' W4: weir asio_task."""
    return f"{peer} {workload[len(identity(workload)):].strip('/')}".strip()


def side_by_side(taken):
    """(workload, threads, metric): [(who, figure)], the best first."""
    groups = {}
    for (peer, workload, threads, metric), figure in ordered(taken):
        plain = threads <= 2 and not re.search(r"_\d+$", workload)
        if plain and is_workload(workload) and not metric.startswith("cpu_per_wall") and metric != "wall_ms":
            groups.setdefault((identity(workload), threads, metric), []).append((peer, workload, figure))
    for (what, threads, metric), entries in groups.items():
        if len({peer for peer, _, _ in entries}) < 2:
            continue
        yield (what, threads, metric), [
            (label(peer, workload), figure, cores(taken, peer, workload, threads))
            for peer, workload, figure in sorted(entries, key=lambda entry: entry[2].min)
        ]


def cores(taken, peer, workload, threads):
    """How many cores were at work, in a row with several threads."""
    busy = taken.cores(peer, workload, threads)
    return "" if busy is None else f"{busy:.1f}"


def print_side_by_side(taken):
    lines = []
    for (what, threads, metric), entries in side_by_side(taken):
        for who, figure, busy in entries:
            cells = (number(figure.min), number(figure.median), figure.unit, in_c(figure, taken.c), busy)
            lines.append((what, str(threads), metric, *cells, who))
    print_table(("workload", "threads", "metric", "min", "median", "unit", "/ c", "cores", "who"), lines)
    print_relations(taken)
    print_remarks(taken)
