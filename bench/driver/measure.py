"""Runs rows in fresh processes, pinned, again and again, with the floor in between."""
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

from . import results

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "bench"
LIMIT = 30  # seconds for one process
SLOW = 10  # what takes longer is not run again
BETWEEN = 8  # rows between two looks at the floor


@dataclass(frozen=True)
class Row:
    peer: str
    workload: str
    threads: int
    command: tuple  # of the program; workload and threads are its arguments


def rows_of(peer, command):
    """What a program lists."""
    listed = subprocess.run([*command, "list"], check=True, capture_output=True, text=True).stdout
    return [Row(peer, word, int(threads), tuple(command)) for word, threads in map(str.split, listed.splitlines())]


def weir_rows():
    """Of weir and the floor."""
    command = (str(BUILD / "bench" / "weir_bench"),)
    rows = rows_of("weir", command)
    return [row if is_workload(row.workload) else replace(row, peer="floor") for row in rows]


def is_workload(name):
    return name == "idle" or re.match(r"W\d", name) is not None


def identity(workload):
    """W4/asio_task: W4. The two sizes of W5 are workloads of their own."""
    parts = workload.split("/")
    return "/".join(parts[:2]) if parts[0] == "W5" else parts[0]


def comparable(rows):
    """Those that others can be put beside: not the growth rows, not more threads than two."""
    return [row for row in rows if row.threads <= 2 and not re.search(r"_\d+$", row.workload)]


def choose(rows, words):
    """Those that a word names, as W4, W4/asio_task or W9 (W9a and W9b); and the words that name nothing."""
    if not words:
        return rows, []
    identities = {row.workload.split("/")[0] for row in rows}

    def names(word, workload):
        first = workload.split("/")[0]
        if word == workload or workload.startswith(word + "/"):
            return True
        return word not in identities and re.fullmatch(re.escape(word) + "[a-z]", first) is not None

    unknown = [word for word in words if not any(names(word, row.workload) for row in rows)]
    return [row for row in rows if any(names(word, row.workload) for word in words)], unknown


def run(rows, repetitions):
    taken = results.Results()
    floor = next(row for row in weir_rows() if row.workload == "cas_pair")
    rows = [row for row in rows if row != floor]
    done = set()
    for repetition in range(repetitions):
        for index, row in enumerate(rows):
            if index % BETWEEN == 0:
                run_once(floor, taken)
            progress(f"{repetition + 1}/{repetitions} {index + 1}/{len(rows)} {row.peer} {row.workload} {row.threads}")
            if row not in done and not run_once(row, taken):
                done.add(row)
        run_once(floor, taken)
    progress("")
    taken.pair_cores()
    return taken


def progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def pinned(threads):
    """One thread to one core, more to all that there are; the first core serves the machine's interrupts."""
    cores = sorted(os.sched_getaffinity(0))
    cores = cores[-1:] if threads == 1 else cores[-threads:]
    return ["taskset", "-c", ",".join(map(str, cores))]


def run_once(row, taken):
    """False: it need not be run again, and why is kept."""
    command = [*pinned(row.threads), *row.command, row.workload, str(row.threads)]
    began = time.monotonic()
    why = ""
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT)
        taken.add(row.peer, [json.loads(line) for line in done.stdout.splitlines()])
        if time.monotonic() - began > SLOW:
            why = f"measured only once: it took more than {SLOW} s"
    except subprocess.TimeoutExpired:
        why = f"not within {LIMIT} s"
    except subprocess.CalledProcessError as error:
        why = last_line(error.stderr) or f"ended with {error.returncode}"
    if why:
        taken.failed.append([row.peer, row.workload, row.threads, why])
    return not why


def last_line(text):
    return (text.strip().splitlines() or [""])[-1]


def output(*command):
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT).stdout.strip()
