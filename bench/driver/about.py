"""When, where and with what a run is made."""
import datetime
import os
import re
from pathlib import Path

from .measure import output
from .peers import PEERS


def describe(repetitions):
    return {
        "when": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": output("git", "describe", "--always", "--dirty"),
        "repetitions": repetitions,
        "load": round(os.getloadavg()[0], 1),
        "machine": f"{processor()}, {os.cpu_count()} cores, Linux {os.uname().release}",
        "versions": versions(),
    }


def processor():
    model = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return model[1] if model else os.uname().machine


def versions():
    """Of Debian's packages, as far as they are installed."""
    names = sorted({name for peer in PEERS for name in peer.packages})
    listed = output("dpkg-query", "-W", "-f=${Package} ${Version} ${db:Status-Status}\n", *names)
    return {name: version for name, version, status in map(str.split, listed.splitlines()) if status == "installed"}
