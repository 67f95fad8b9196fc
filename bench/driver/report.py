"""docs/performance.md, from the figures of a run."""
from . import plots, targets
from .compare import in_c, number, ordered, side_by_side
from .measure import ROOT, is_workload
from .peers import PEERS

PAGE = ROOT / "docs" / "performance.md"

HEAD = """# Performance

Written by `./dev bench report`: do not edit it, run that again. It takes some ten minutes, on a machine that does nothing else;
`./dev bench report --json-in FILE` writes it from what `./dev bench --json FILE` or `./dev bench peers --json FILE` has saved.

Each figure comes from fresh processes, pinned: rows with one thread to one core, the others to as many as they have threads (weir's workers,
the threads of an io_context and of the peers that block threads each to a core of its own). Shown are the least and the median. **c** is an
uncontended pair of CASes in the same run: compare ratios to it, never bare numbers of different machines. *Cores* is CPU time by wall time, in
the process that was fastest: about 1 or less means that a row with two threads really ran on one core, that its threads slept for each other, or
that somebody else had the second core.
"""

WORKLOADS = """## The workloads

| | |
|---|---|
| W1, W2 | acquire and release a semaphore of 10, lock and unlock a mutex, that nobody else wants; `own_max`: a semaphore with a maximum of its own |
| W3, W3y | 1,000 tasks with 1,000 short critical sections each; in W3y the holder yields once inside, so that the rest queue |
| W4 | 10 permits, 1,000 tasks that acquire 1,000 times each; the holder yields once |
| W5 | ints through a queue of 64, with 1 producer and 1 consumer, and with 4 and 4 |
| W6 | two tasks hand the turn to each other through two semaphores: a round trip. With two threads each task has a run_loop and a core of its own |
| W7 | 1,000,000 tasks are spawned and park; the memory they take; they are let through |
| W8 | 100,000 waiters are cancelled from the last to the first: callbacks by their tickets, by `stop_token`, by `asio_slot`; `task`: tasks by stop token, until they have ended |
| W9a, W9b | 100,000 tasks wait with a time limit: all are let through; all time out after 10 ms, the CPU time in all |
| W10 | 1,000,000 trivial tasks through a limit of 64 |
| idle | a `thread_pool` with nothing to do and a timer service with a limit to wait for, 5 s long: the CPU time that they take |

`weir` is `weir::task` on a `run_loop`, with several threads on a `thread_pool`; `weir asio_task` is `weir::task` on an io_context, `weir asio_awaitable` is
`asio::awaitable` on an io_context. Its W10 uses a `pool`; `weir asio_semaphore` is W10 as others do it, a semaphore that each task gives back.
"""


def write(taken):
    drawn = plots.draw(taken)
    parts = [HEAD, machine(taken), floor(taken), WORKLOADS, reached(taken), against(taken), *growth(drawn)]
    parts += [beside_others(taken), notes(taken)]
    PAGE.write_text("\n".join(part for part in parts if part), encoding="utf-8")
    print(f"written: {PAGE.relative_to(ROOT)}" + "".join(f", docs/plots/{name}.svg" for name in drawn))


def table(header, lines):
    rows = [header, ["---"] * len(header), *lines]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def machine(taken):
    about = taken.about
    versions = ", ".join(f"{name} {version}" for name, version in about.get("versions", {}).items())
    lines = [
        ["when", about["when"]],
        ["weir", about.get("commit", "not known")],
        ["machine", about.get("machine", "not known")],
        ["load before", f"{about.get('load', 'not known')} (others at work disturb above all the rows with several threads)"],
        ["repetitions", str(about.get("repetitions", "not known"))],
        ["versions", versions or "not known"],
    ]
    return table(["", ""], lines)


def floor(taken):
    lines = [
        [workload, number(figure.min), number(figure.median), in_c(figure, taken.c)]
        for (peer, workload, _, metric), figure in ordered(taken)
        if peer == "floor" and metric == "ns_per_op"
    ]
    return "## The floor\n\n" + table(["", "min, ns", "median, ns", "c"], lines)


def reached(taken):
    """The rows that something is asked of."""
    lines = []
    for key, figure in ordered(taken):
        verdict = targets.verdict(key, taken)
        if verdict:
            _, workload, threads, metric = key
            ours = in_c(figure, taken.c)
            met = ("yes" if verdict.met else "**no**") + verdict.note
            lines.append([workload, str(threads), metric, number(figure.min), ours, verdict.target, met])
    if not lines:
        return ""
    header = ["workload", "threads", "metric", "min", "c", "wanted", "reached"]
    return "## What was wanted, and what is reached\n\n" + table(header, lines)


def against(taken):
    lines = [
        [each.what, each.reached, each.verdict.target, "yes" if each.verdict.met else "**no**"]
        for each in targets.relations(taken)
    ]
    return table(["one against the other", "", "wanted", "reached"], lines) if lines else ""


TITLES = {
    "waiters": "Cost against the number of waiters: an acquisition (W4), a cancellation (W8)",
    "timers": "Cost against the number of armed timers: a wait with a limit, alone and with its task's start and end (W9a)",
    "threads": "Cost against the number of threads",
}


def growth(drawn):
    if drawn:
        yield "## Growth\n"
    for name in drawn:
        yield f"{TITLES[name]}:\n\n![{TITLES[name]}](plots/{name}.svg)\n"


def beside_others(taken):
    groups = list(side_by_side(taken))
    if not groups:
        return "## Beside others\n\nNot part of this run: `./dev bench peers`.\n"
    text = "## Beside others\n\n" + leaders(groups)
    for (what, threads, metric), entries in groups:
        text += f"\n### {what}, {threads} thread{'s' if threads > 1 else ''}, {metric}\n\n"
        lines = [line(taken, *entry) for entry in entries]
        text += table(["", "min", "median", "unit", "c", "cores"], lines)
    return text


def line(taken, who, figure, cores):
    name = f"**{who}**" if who.startswith("weir") else who
    return [name, number(figure.min), number(figure.median), figure.unit, in_c(figure, taken.c), cores]


def leaders(groups):
    """The rows where somebody else is the first."""
    behind = []
    for (what, threads, metric), entries in groups:
        ours = next((figure for who, figure, _ in entries if who.startswith("weir")), None)
        first, best, _ = entries[0]
        if ours and not first.startswith("weir"):
            times = f"{ours.min / best.min:.2f}"
            behind.append([what, str(threads), metric, first, times])
    if not behind:
        return "weir leads in every row.\n"
    header = ["workload", "threads", "metric", "who leads", "weir takes so many times as much"]
    return f"Somebody else leads in {len(behind)} of {len(groups)} rows:\n\n" + table(header, behind)


def notes(taken):
    named = {peer for peer, workload, *_ in taken.figures if is_workload(workload)}
    text = "## How the others say it\n\n" + table(["", ""], [[peer.name, peer.note] for peer in PEERS if peer.name in named])
    remarks = [[peer, workload, str(threads) if threads else "", why] for peer, workload, threads, why in taken.failed]
    if remarks:
        text += "\nNot measured as the rest:\n\n" + table(["", "workload", "threads", "why"], remarks)
    return text if named - {"weir"} else ""
