"""weir's own targets, and whether they are met. c is an uncontended pair of CASes in the same run."""
from dataclasses import dataclass

EACH = "ns_per_op"

# (workload, threads, metric): the most c.
IN_C = {
    ("W1", 1, EACH): 1.4,
    ("W1/own_max", 1, EACH): 1.8,
    ("W2", 1, EACH): 1.3,
    ("W3", 2, EACH): 8,
    ("W3y", 1, EACH): 3.5,
    ("W3y", 2, EACH): 13,
    ("W4", 1, EACH): 4,
    ("W4", 2, EACH): 19,
    ("W5/1x1", 1, EACH): 2.1,
    ("W5/1x1", 2, EACH): 3.7,
    ("W5/4x4", 1, EACH): 2.6,
    ("W5/4x4", 2, EACH): 6,
    ("W6", 1, EACH): 5,
    ("W6", 2, EACH): 40,
    ("W7", 1, "park_ns"): 13,
    ("W7", 1, "release_ns"): 5,
    ("W8", 1, EACH): 2.5,
    ("W8/stop_token", 1, EACH): 10,
    ("W8/asio_slot", 1, EACH): 10,
    ("W9a", 1, EACH): 25,
    ("W10", 1, EACH): 6.5,
    ("W10", 2, EACH): 14,
}

# The same: the largest value, in the unit of the metric.
AT_MOST = {("W7", 1, "bytes_per_waiter"): 176, ("W9b", 1, "cpu_ms"): 40, ("idle", 2, "cpu_ms"): 1}

# The smallest median.
AT_LEAST = {("W3", 2, "cpu_per_wall"): 1.5}


ONE_CORE = 1.2  # with fewer cores the threads did not really run in parallel


@dataclass
class Verdict:
    target: str
    met: bool
    note: str = ""

    def __str__(self):
        return f"{self.target} {'met' if self.met else 'NOT met'}{self.note}"


def verdict(key, taken):
    """None: the row has no target."""
    figure, (peer, *row) = taken.figures[key], key
    row = tuple(row)
    if peer != "weir":
        return None
    if row in IN_C:
        cores = taken.cores(*key[:3])
        note = f" (with {cores:.1f} cores at work)" if cores is not None and cores < ONE_CORE else ""
        return Verdict(f"≤ {IN_C[row]:g} c", figure.min <= IN_C[row] * taken.c, note)
    if row in AT_MOST:
        return Verdict(f"≤ {AT_MOST[row]:g} {figure.unit}", figure.min <= AT_MOST[row])
    if row in AT_LEAST:
        return Verdict(f"≥ {AT_LEAST[row]:g}", figure.median >= AT_LEAST[row])
    return None


@dataclass
class Relation:
    """One figure compared with another."""

    what: str
    reached: str
    verdict: Verdict


def relations(taken):
    """The targets that compare two figures, if both were measured."""
    for build in (cancelling_many, on_an_io_context, growth, beside_the_channel):
        yield from (relation for relation in build(taken) if relation is not None)


def weir(taken, workload, metric=EACH, threads=1):
    return taken.min("weir", workload, threads, metric)


def ratio(value):
    return f"{value:.2f}" if value >= 0.1 else f"{value:.1g}"


def times(what, first, second, most):
    """The target: first is at most `most` times second."""
    if first is None or second is None:
        return None
    return Relation(what, f"{ratio(first / second)} ×", Verdict(f"≤ {most:g} ×", first <= most * second))


def cancelling_many(taken):
    for name, many, few in (
        ("ticket", "W8/waiters_100000", "W8/waiters_1000"),
        ("stop token", "W8/stop_token", "W8/stop_token_1000"),
        ("slot", "W8/asio_slot", "W8/asio_slot_1000"),
    ):
        yield times(f"W8 by {name}: 100,000 against 1,000 waiters", weir(taken, many), weir(taken, few), 2)


# Rows on a run_loop, and their metrics; the row asio_task is the same under Asio.
ON_ASIO = (
    ("W4", EACH),
    ("W7", "park_ns"),
    ("W7", "release_ns"),
    ("W8/task", EACH),
    ("W9a", EACH),
    ("W9b", "cpu_ms"),
    ("W10", EACH),
)


def on_an_io_context(taken):
    for row, metric in ON_ASIO:
        under_asio = weir(taken, row.partition("/")[0] + "/asio_task", metric)
        what = f"{row} {metric}: weir::task on an io_context against the run_loop"
        yield times(what, under_asio, weir(taken, row, metric), 2)


def growth(taken):
    for what, row in (
        ("W4", "W4/waiters"),
        ("W8", "W8/waiters"),
        ("W9a, the wait alone", "W9a/armed"),
        ("W9a, with its task's start and end", "W9a/timers"),
    ):
        few, many = weir(taken, f"{row}_1000"), weir(taken, f"{row}_1000000")
        if few is None or many is None:
            continue
        more = (many - few) / taken.c
        yield Relation(f"{what}: growth from 1,000 to 1,000,000", f"{more:+.1f} c", Verdict("≤ 5 c", more <= 5))


def beside_the_channel(taken):
    """asio::awaitable with weir compared with Asio's own channel."""
    for (peer, workload, threads, metric), figure in taken.figures.items():
        if peer != "asio_channel" or metric.startswith("cpu_per_wall") or metric == "wall_ms":
            continue
        most = 0.01 if workload == "W8" else 1
        for way, called in (("asio_awaitable", ""), ("asio_semaphore", " and semaphore")):
            ours = weir(taken, f"{workload}/{way}", metric, threads)
            what = f"{workload} {metric}, threads {threads}: asio::awaitable{called} against Asio's channel"
            yield times(what, ours, figure.min, most)
