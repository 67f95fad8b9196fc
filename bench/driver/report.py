"""docs/performance.md, from the figures of a run."""
from . import names, plots, results, targets
from .compare import in_c, number, ordered, side_by_side
from .measure import ROOT, is_workload
from .peers import PEERS

PAGE = ROOT / "docs" / "performance.md"
FIGURES = ROOT / "bench" / "figures.json"  # of the run that the page shows, to write it again without measuring

HEAD = """# Performance

This page compares weir with eight other libraries on the same machine. `./dev bench report` measures everything and
writes the page; change the text in `bench/driver/report.py`, not here.
"""

READING = """## How the figures were taken

Each figure is the minimum of several fresh processes (the tables also show the median). Rows with one thread are pinned
to one core, the others to one core for each thread. *Cores* is CPU time divided by wall time in the fastest process: a
value near 1 in a two-thread row means that the threads did not really run in parallel. Do not compare nanoseconds of
different machines: compare ratios to **c**, the cost of an uncontended pair of compare-exchanges (CAS) in the same run.
"""

WORKLOADS = """### Workloads

| | |
|---|---|
| W1, W2 | acquire and release a semaphore of 10; lock and unlock a mutex. No other task wants them. *own maximum*: a semaphore constructed with `max_permits` |
| W3, W3y | 1,000 tasks, each with 1,000 short critical sections; in W3y the holder yields once inside, so that the others queue |
| W4 | 10 permits, 1,000 tasks that acquire 1,000 times each; the holder yields once |
| W5 | ints through a queue of capacity 64, with 1 producer and 1 consumer, and with 4 and 4 |
| W6 | two tasks alternate through two semaphores: one round trip. With two threads, each task has its own `run_loop` and core |
| W7 | 1,000,000 tasks are spawned and park: the time, the memory, and the time to release them |
| W8 | 100,000 waiters are cancelled from the last to the first: callbacks by their tickets, by stop token, by Asio cancellation slot; tasks by stop token, until they have ended |
| W9a, W9b | 100,000 tasks wait with a time limit: all are granted (W9a); all time out after 10 ms, total CPU time (W9b) |
| W10 | 1,000,000 trivial tasks, at most 64 of them at a time |
| idle | a `thread_pool` without work and a timer service with one armed limit: CPU time in 5 s |

Rows of weir: **weir** is `weir::task` on a `run_loop`, or on a `thread_pool` with several threads; **task on Asio** is
the same on an `io_context`; **awaitable on Asio** is `asio::awaitable` on an `io_context`. W10 uses `weir::pool`;
**semaphore on Asio** is W10 with awaitables as it is written for the other libraries, with a semaphore that each task
releases.
"""


def write(taken):
    compared, grown = plots.compare(taken), plots.grow(taken)
    groups = list(side_by_side(taken))
    parts = [HEAD, summary(taken, groups, compared), *charts(compared)]
    parts += [READING, machine(taken), WORKLOADS, notes(taken), tables(groups)]
    parts += [*growth(grown), own_targets(taken)]
    PAGE.write_text("\n".join(part for part in parts if part), encoding="utf-8")
    results.save(taken, str(FIGURES))
    drawn = "".join(f", docs/plots/{name}.svg" for name in [*compared, *grown])
    print(f"written: {PAGE.relative_to(ROOT)}, {FIGURES.relative_to(ROOT)}{drawn}")


def table(header, lines):
    rows = [header, ["---"] * len(header), *lines]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def summary(taken, groups, drawn):
    if not groups:
        return "## Summary\n\nThis run measured weir only. A plain `./dev bench report` measures the others too.\n"
    first = "".join(f"{chart(name, drawn[name])}\n" for name in FIRST if name in drawn)
    scales = "\nThe scales of the charts are logarithmic; less is better.\n\n" if first else "\n"
    parts = [scores(groups), provenance(taken.about), scales, first, leaders(groups), against_channel(taken), REPRODUCE]
    return "## Summary\n\n" + "".join(parts)


REPRODUCE = """
To reproduce, on a Debian 12 machine that is otherwise idle (about ten minutes):

```
./dev bench report                                # measures everything; writes this page and bench/figures.json
./dev bench report --json-in bench/figures.json   # writes the page again from those figures
./dev bench W4                                    # one workload, weir only
```

[Where the time goes](where_the_time_goes.md) explains the rows in which weir is slower. The last section lists
weir's own targets.
"""


def provenance(about):
    where = f"{about.get('commit', 'not known')}, {about.get('machine', 'machine not known')}"
    how = "each figure is the minimum of several [fresh, pinned processes](#how-the-figures-were-taken)"
    return f"\nMeasured {about['when']}, weir {where};\n{how}.\n"


def behind(groups):
    """The rows in which another library is first: [(row, its entries, weir's best)]."""
    for key, entries in groups:
        ours = next((figure for who, figure, _ in entries if who.startswith("weir")), None)
        if ours and not entries[0][0].startswith("weir"):
            yield key, entries[0], ours


def scores(groups):
    lost = len(list(behind(groups)))
    text = f"In {len(groups)} rows at least one other library does the same work as weir. weir is first in "
    return text + (f"{len(groups) - lost} of them, another\nlibrary in {lost}.\n" if lost else "all of them.\n")


def leaders(groups):
    lines = [
        [names.row(*key), names.library(who), f"{ours.min / best.min:.2f} ×"]
        for key, (who, best, _), ours in behind(groups)
    ]
    if not lines:
        return ""
    header = ["workload", "first", "weir's cost relative to the first"]
    return "The rows in which another library is first:\n\n" + table(header, lines)


# weir with asio::awaitable next to Asio's own channel: (workload, metric, what is compared)
CHANNEL = (
    ("W4", "ns_per_op", "a contended acquire"),
    ("W7", "release_ns", "releasing one of 1,000,000 waiters"),
    ("W7", "bytes_per_waiter", "memory of a parked waiter"),
    ("W9a", "ns_per_op", "a wait with a time limit"),
    ("W8", "ns_per_op", "cancelling one of 100,000 waiters"),
)


def against_channel(taken):
    lines = []
    for workload, metric, what in CHANNEL:
        ours = taken.min("weir", f"{workload}/asio_awaitable", 1, metric)
        theirs = taken.min("asio_channel", workload, 1, metric)
        if ours is not None and theirs is not None:
            unit = "bytes" if metric.startswith("bytes") else "ns"
            lines.append([f"{what} ({workload})", f"{number(ours)} {unit}", f"{number(theirs)} {unit}"])
    if not lines:
        return ""
    return "\nThe same `asio::awaitable` on one thread, with weir and with Asio's channel:\n\n" + table(
        ["", "weir", "Asio channel"], lines
    )


FIRST = ("compare_contended", "compare_many")  # in the summary

CHARTS = {
    "compare_contended": "Tasks compete for a semaphore or a mutex; the holder yields once, so that the others queue:",
    "compare_many": "A million parked tasks, and the cancellation of single waiters:",
    "compare_uncontended": "No other task uses the object:",
    "compare_queues": "Ints through a queue of capacity 64; 1 producer and 1 consumer, 4 producers and 4 consumers:",
    "compare_limits": "100,000 waits with a time limit; Boost.Fiber has 10,000, each with a stack:",
    "compare_tasks": "Starting a task, running it and freeing its slot; oneTBB's list of waiting work is unbounded:",
}


def chart(name, title):
    return f"{CHARTS[name]}\n\n![{title}: weir next to other libraries](plots/{name}.svg)\n"


def charts(drawn):
    rest = {name: title for name, title in drawn.items() if name not in FIRST}
    if rest:
        yield "## More charts\n"
    for name, title in rest.items():
        yield f"### {title}\n\n{chart(name, title)}"


def machine(taken):
    about = taken.about
    versions = ", ".join(f"{name} {version}" for name, version in about.get("versions", {}).items())
    lines = [
        ["date", about["when"]],
        ["weir", about.get("commit", "not known")],
        ["machine", about.get("machine", "not known")],
        ["load before", f"{about.get('load', 'not known')} (other load disturbs mainly the rows with several threads)"],
        ["processes for each row", str(about.get("repetitions", "not known"))],
        ["versions", versions or "not known"],
    ]
    return table(["", ""], lines)


def notes(taken):
    named = {peer for peer, workload, *_ in taken.figures if is_workload(workload)}
    if not named - {"weir"}:
        return ""
    lines = [[names.library(peer.name), peer.note] for peer in PEERS if peer.name in named]
    text = "### How the other libraries implement the workloads\n\n" + table(["", ""], lines)
    remarks = [
        [names.library(peer), workload, str(threads) if threads else "", why]
        for peer, workload, threads, why in taken.failed
    ]
    if remarks:
        text += "\nNot measured, or not like the rest:\n\n" + table(["", "workload", "threads", "reason"], remarks)
    return text


def tables(groups):
    """One for each workload, the numbers of threads (and the metrics of W7) next to each other."""
    if not groups:
        return ""
    workloads = {}
    for (what, threads, metric), entries in groups:
        workloads.setdefault(what, []).append((threads, metric, entries))
    text = "## All figures\n\nThe minimum, and the median in parentheses.\n"
    for what, columns in workloads.items():
        text += f"\n### {names.workload(what)}\n\n" + figures(columns)
    return text


def figures(columns):
    header, cells = [""], {}
    for threads, metric, entries in columns:
        header.append(names.column(threads, metric, entries[0][1].unit))
        busy = any(cores for _, _, cores in entries)
        if busy:
            header.append("cores")
        for who, figure, cores in entries:
            row = cells.setdefault(who, {})
            row[len(header) - 1 - busy] = f"{number(figure.min)} ({number(figure.median)})"
            if busy:
                row[len(header) - 1] = cores
    lines = [[library(who), *(row.get(at, "") for at in range(1, len(header)))] for who, row in cells.items()]
    return table(header, lines)


def library(who):
    return f"**{names.library(who)}**" if who.startswith("weir") else names.library(who)


TITLES = {
    "waiters": "Cost of an operation by the number of waiters in the queue",
    "timers": "Cost of a wait with a time limit by the number of armed timers",
    "threads": "Cost of an operation by the number of threads",
}


def growth(drawn):
    if drawn:
        yield "## How weir's costs grow\n"
    for name in drawn:
        yield f"{TITLES[name]}:\n\n![{TITLES[name]}](plots/{name}.svg)\n"


def own_targets(taken):
    """What weir's developers aim for. Nobody else needs to read it: it comes last."""
    reached_rows, relations = reached(taken), against(taken)
    if not reached_rows and not relations:
        return floor(taken)
    text = "## weir's own targets\n\nFor weir's developers. [Where the time goes](where_the_time_goes.md) explains the "
    return text + "missed ones.\n\n" + "\n".join(part for part in (reached_rows, relations, floor(taken)) if part)


def reached(taken):
    """The rows that have a target."""
    lines = []
    for key, figure in ordered(taken):
        verdict = targets.verdict(key, taken)
        if verdict:
            _, workload, threads, metric = key
            ours = in_c(figure, taken.c)
            met = ("yes" if verdict.met else "**no**") + verdict.note
            lines.append([workload, str(threads), metric, number(figure.min), ours, verdict.target, met])
    return table(["workload", "threads", "metric", "min", "c", "target", "met"], lines) if lines else ""


def against(taken):
    lines = [
        [each.what, each.reached, each.verdict.target, "yes" if each.verdict.met else "**no**"]
        for each in targets.relations(taken)
    ]
    return table(["ratio or growth", "measured", "target", "met"], lines) if lines else ""


def floor(taken):
    lines = [
        [workload, number(figure.min), number(figure.median), in_c(figure, taken.c)]
        for (peer, workload, _, metric), figure in ordered(taken)
        if peer == "floor" and metric == "ns_per_op"
    ]
    return "### Cost of basic operations on this machine\n\n" + table(["", "min, ns", "median, ns", "c"], lines)
