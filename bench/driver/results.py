"""The figures of a run, and the files that keep them."""
import json
import statistics
from dataclasses import dataclass, field

C = ("floor", "cas_pair", 1, "ns_per_op")  # what every figure is compared with
AT_MIN = "cpu_per_wall_at_min"


@dataclass
class Figure:
    """One thing that was measured: every value of it, one from each process."""

    unit: str
    values: list = field(default_factory=list)

    @property
    def min(self):
        return min(self.values)

    @property
    def median(self):
        return statistics.median(self.values)


@dataclass
class Results:
    figures: dict = field(default_factory=dict)  # (peer, workload, threads, metric): Figure
    failed: list = field(default_factory=list)  # [peer, workload, threads, why]: not measured, or not as the rest
    about: dict = field(default_factory=dict)  # when, where, with what

    def add(self, peer, lines):
        """What one process has told."""
        for line in lines:
            key = (peer, line["workload"], line["threads"], line["metric"])
            self.figures.setdefault(key, Figure(line["unit"])).values.append(line["value"])

    def pair_cores(self):
        """Of rows with several threads: how many cores were at work in the fastest process, whose time is the least."""
        for (*row, metric), cores in list(self.figures.items()):
            fastest = self.figures.get((*row, "ns_per_op"))
            if metric == "cpu_per_wall" and fastest:
                busy = cores.values[fastest.values.index(fastest.min)]
                self.figures[(*row, AT_MIN)] = Figure(cores.unit, [busy])

    def cores(self, peer, workload, threads):
        """The same, None with one thread."""
        return self.min(peer, workload, threads, AT_MIN)

    def min(self, *key):
        """None: not measured."""
        return self.figures[key].min if key in self.figures else None

    @property
    def lost(self):
        """Those that failed and left no figure."""
        measured = {key[:3] for key in self.figures}
        return [row for row in self.failed if tuple(row[:3]) not in measured]

    @property
    def c(self):
        return self.figures[C].min


KEYS = ("peer", "workload", "threads", "metric")


def save(taken, name):
    rows = [
        dict(zip(KEYS, key), min=figure.min, median=figure.median, unit=figure.unit)
        for key, figure in taken.figures.items()
    ]
    with open(name, "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    with open(name + ".about", "w", encoding="utf-8") as file:
        json.dump({**taken.about, "failed": taken.failed}, file, indent=1)
        file.write("\n")


def load(name):
    taken = Results()
    with open(name, encoding="utf-8") as file:
        for row in json.load(file):
            # The least and the median of three are the least and the median of what was measured.
            values = [row["min"], row["median"], row["median"]]
            taken.figures[tuple(row[key] for key in KEYS)] = Figure(row["unit"], values)
    if C not in taken.figures:
        raise ValueError("the floor's cas_pair is missing")
    try:
        with open(name + ".about", encoding="utf-8") as file:
            taken.about = json.load(file)
    except FileNotFoundError:
        taken.about = {"when": "not known: the figures came without their .about file"}
    taken.failed = taken.about.pop("failed", [])
    return taken
