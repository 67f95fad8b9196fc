"""Readable names of workloads, metrics and libraries, for the report and its charts."""

WORKLOADS = {
    "W1": "Uncontended semaphore: acquire and release",
    "W2": "Uncontended mutex: lock and unlock",
    "W3": "Contended mutex, short critical sections",
    "W3y": "Contended mutex, the holder yields",
    "W4": "Contended semaphore, 1,000 tasks share 10 permits",
    "W5/1x1": "Bounded queue, 1 producer and 1 consumer",
    "W5/4x4": "Bounded queue, 4 producers and 4 consumers",
    "W6": "Round trip between two tasks",
    "W7": "1,000,000 parked waiters",
    "W8": "Cancel one of 100,000 waiters",
    "W9a": "Wait with a time limit, 100,000 at a time",
    "W9b": "CPU time for 100,000 timeouts",
    "W10": "1,000,000 small tasks, at most 64 at a time",
}

# The metrics of W7 are three different questions.
METRICS = {
    ("W7", "park_ns"): "Spawn and park one of 1,000,000 waiters",
    ("W7", "bytes_per_waiter"): "Memory of a parked waiter",
    ("W7", "release_ns"): "Release one of 1,000,000 waiters",
}

COLUMNS = {"park_ns": "spawn and park", "bytes_per_waiter": "memory", "release_ns": "release"}

LIBRARIES = {
    "weir own_max": "weir, own maximum",
    "weir asio_task": "weir, task on Asio",
    "weir asio_awaitable": "weir, awaitable on Asio",
    "weir asio_semaphore": "weir, semaphore on Asio",
    "weir stop_token": "weir, stop token",
    "weir asio_slot": "weir, Asio slot",
    "weir task": "weir, task, stop token",
    "asio_channel": "Asio channel",
    "std": "std (threads)",
    "boost_fiber": "Boost.Fiber",
    "tbb": "oneTBB (threads)",
    "moodycamel": "moodycamel (threads)",
    "go": "Go",
    "go x_sync": "Go x/sync",
    "asyncio": "Python asyncio",
    "tokio": "tokio",
}


def column(threads, metric, unit):
    """'2 threads, ns'."""
    return f"{COLUMNS.get(metric) or f'{threads} thread' + 's' * (threads > 1)}, {unit}"


def workload(name, metric=None):
    """'Round trip between two tasks (W6)'."""
    number = name.split("/")[0]
    return f"{METRICS.get((name, metric)) or WORKLOADS.get(name, name)} ({number})"


def row(name, threads, metric):
    """The same with the number of threads."""
    return f"{workload(name, metric)}, {threads} thread{'s' if threads > 1 else ''}"


def library(label):
    return LIBRARIES.get(label, label)
