"""Instructions of one fast-path pair, counted by callgrind: they do not depend on who else uses the machine."""
import json
import re
import subprocess

from .measure import BUILD, ROOT, output

BASELINE = ROOT / "bench" / "instructions.json"
PROGRAM = str(BUILD / "bench" / "weir_count")
ROUNDS = (1000, 11000)  # what does not belong to a round is the same in both
GROWTH = 1.05


def executed(name, rounds):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", PROGRAM, name, str(rounds)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return int(re.search(r"Collected : (\d+)", told)[1])


def counted():
    few, many = ROUNDS
    names = output(PROGRAM, "list").split()
    return {name: round((executed(name, many) - executed(name, few)) / (many - few), 1) for name in names}


def compare(store):
    """1: one of them has grown."""
    now = counted()
    before = {} if store or not BASELINE.exists() else json.loads(BASELINE.read_text(encoding="utf-8"))
    grown = [name for name in now if name in before and now[name] > before[name] * GROWTH]
    for name, count in now.items():
        was = f"was {before[name]:g}" if name in before else "not known before"
        print(f"{name:12} {count:8g} instructions a pair, {was}{', GROWN by more than 5 %' if name in grown else ''}")
    if store:
        BASELINE.write_text(json.dumps(now, indent=2) + "\n", encoding="utf-8")
        print(f"stored in {BASELINE.relative_to(ROOT)}")
    return 1 if grown else 0
