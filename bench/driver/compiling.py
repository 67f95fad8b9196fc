"""What including a header costs whoever compiles: processor time of the compiler, and lines that it has to read."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .compare import print_table
from .measure import ROOT, progress

HEADERS = ("weir/semaphore.hpp", "weir/weir.hpp", "asio.hpp", "weir/asio.hpp")
MODES = ("-O0 -fsyntax-only", "-O2 -c")
JUDGED, AGAINST, MOST = "weir/semaphore.hpp", "asio.hpp", 1 / 3  # what it adds to an empty file


def compiler(source, *options):
    return ["g++", "-std=c++20", f"-I{ROOT / 'include'}", *options, str(source)]


def seconds(command):
    """The processor's time, which depends less on who else uses the machine than the clock's."""
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"this failed: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime


def lines(source):
    """After the preprocessor, without empty ones."""
    read = subprocess.run(compiler(source, "-E", "-P"), check=True, capture_output=True, text=True).stdout
    return sum(1 for line in read.splitlines() if line.strip())


def write(folder, header):
    source = Path(folder, (header or "nothing").replace("/", "_") + ".cpp")
    source.write_text(f"#include <{header}>\n" if header else "", encoding="utf-8")
    return source


def measured(repetitions):
    """{header: {mode: seconds, "lines": lines}}; the header None is an empty file."""
    with tempfile.TemporaryDirectory() as folder:
        sources = {header: write(folder, header) for header in (None, *HEADERS)}
        costs = {header: {"lines": lines(source)} for header, source in sources.items()}
        for repetition in range(repetitions):
            for header, source in sources.items():
                for mode in MODES:
                    progress(f"{repetition + 1}/{repetitions} {header or 'nothing'} {mode}")
                    took = seconds(compiler(source, *mode.split(), "-o", os.devnull))
                    costs[header][mode] = min(took, costs[header].get(mode, took))
    progress("")
    return costs


def share(costs, mode):
    """What the judged header adds to an empty file, of what the other adds."""
    return (costs[JUDGED][mode] - costs[None][mode]) / (costs[AGAINST][mode] - costs[None][mode])


def compare(repetitions):
    """1: the judged header costs too much."""
    costs = measured(repetitions)
    rows = [
        (f"<{header}>" if header else "nothing", *(f"{cost[mode] * 1000:.0f} ms" for mode in MODES), f"{cost['lines']:>7,}")
        for header, cost in costs.items()
    ]
    print_table(("including", *MODES, "  lines"), rows)
    shares = {mode: share(costs, mode) for mode in MODES}
    print(f"\n<{JUDGED}> adds of what <{AGAINST}> adds: {', '.join(f'{each:.0%} ({mode})' for mode, each in shares.items())};")
    met = max(shares.values()) <= MOST
    print(f"at most a third is wanted: {'met' if met else 'NOT met'}")
    return 0 if met else 1
