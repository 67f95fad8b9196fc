"""The others: what Debian has of them, how they are built, and how the workloads are said in their terms."""
import os
import subprocess
from dataclasses import dataclass

from .measure import BUILD, ROOT, last_line, rows_of

SOURCES = ROOT / "bench" / "peers"
PLACE = BUILD / "peers"


@dataclass(frozen=True)
class Peer:
    name: str
    packages: tuple
    note: str  # how the workloads are said in its terms
    make: object  # builds it, and gives the command that runs it


def compiled(*libraries):
    def make(name):
        program = str(PLACE / name)
        flags = ["-std=c++20", "-O3", "-DNDEBUG", "-pthread"]
        call("g++", *flags, str(SOURCES / f"{name}.cpp"), "-o", program, *libraries)
        return (program,)

    return make


def go(name):
    program = str(PLACE / name)
    debian = {"GO111MODULE": "off", "GOPATH": "/usr/share/gocode", "GOCACHE": str(PLACE / "go-cache"), "GOFLAGS": ""}
    call("go", "build", "-o", program, str(SOURCES / "go.go"), more=debian)
    return (program,)


def script(name):
    return ("/usr/bin/python3", str(SOURCES / f"{name}_bench.py"))


CARGO_TOML = """[package]
name = "tokio_bench"
version = "0.0.0"
edition = "2021"

[[bin]]
name = "tokio_bench"
path = "{source}"

[dependencies]
libc = "0.2"
tokio = {{ version = "1", features = ["rt-multi-thread", "sync", "time"] }}
"""

CARGO_CONFIG = """[source.crates-io]
replace-with = "debian"

[source.debian]
directory = "/usr/share/cargo/registry"
"""


def cargo(name):
    """With Debian's cargo and crates only: nothing is fetched, and another toolchain in the path is not asked."""
    place = PLACE / f"{name}_crate"
    (place / ".cargo").mkdir(parents=True, exist_ok=True)
    (place / "Cargo.toml").write_text(CARGO_TOML.format(source=SOURCES / f"{name}.rs"), encoding="utf-8")
    (place / ".cargo" / "config.toml").write_text(CARGO_CONFIG, encoding="utf-8")
    debian = {"CARGO_HOME": str(place / "home"), "RUSTC": "/usr/bin/rustc", "RUSTUP_TOOLCHAIN": ""}
    call("/usr/bin/cargo", "build", "--release", "--offline", "--quiet", where=place, more=debian)
    return (str(place / "target" / "release" / "tokio_bench"),)


PEERS = (
    Peer(
        "asio_channel",
        ("libasio-dev",),
        "A semaphore is a channel that holds its permits; with one thread `channel`, with two `concurrent_channel`. "
        "W8 cancels every hundredth of 100,000, since each looks through all that wait.",
        compiled(),
    ),
    Peer(
        "std",
        ("g++",),
        "Whoever waits is a thread: W3 has two threads instead of 1,000 tasks, W5 a mutex, two conditions and a deque.",
        compiled(),
    ),
    Peer(
        "boost_fiber",
        ("libboost-fiber-dev",),
        "Fibers keep to one thread. It has no semaphore, so a `buffered_channel` holds the permits. "
        "W9a has 10,000 waiters, each with a stack.",
        compiled("-lboost_fiber", "-lboost_context"),
    ),
    Peer(
        "tbb",
        ("libtbb-dev",),
        "W5 is `concurrent_bounded_queue` between threads; W10 a `function_node` that runs at most 64 at once, and "
        "keeps the rest in a list without a bound.",
        compiled("-ltbb"),
    ),
    Peer(
        "moodycamel",
        ("libconcurrentqueue-dev",),
        "Whoever waits is a thread. Its queue is unbounded, so a semaphore of its own counts the room.",
        compiled(),
    ),
    Peer(
        "go",
        ("golang-go", "golang-golang-x-sync-dev"),
        "A semaphore is a channel; in the `x_sync` rows, W8 and W9 it is that of x/sync. W3, W3y: `sync.Mutex` lets "
        "others overtake.",
        go,
    ),
    Peer(
        "asyncio",
        ("python3",),
        "Fewer rounds, as each takes longer; W7 parks 100,000; W8 cancels every hundredth of 100,000.",
        script,
    ),
    Peer(
        "tokio",
        ("librust-tokio-dev", "librust-libc-dev", "cargo", "rustc"),
        "With one thread `current_thread`, with two the multi-thread runtime. Its bounded channel has one receiver: no "
        "W5/4x4. W8 aborts tasks.",
        cargo,
    ),
)


def call(*command, where=ROOT, more=None):
    subprocess.run(command, check=True, capture_output=True, text=True, cwd=where, env={**os.environ, **(more or {})})


def build():
    """The rows of all that can be built, and why the rest cannot."""
    PLACE.mkdir(parents=True, exist_ok=True)
    rows, failed = [], []
    for peer in PEERS:
        try:
            rows += rows_of(peer.name, peer.make(peer.name))
        except FileNotFoundError as error:
            failed.append([peer.name, "all", 0, f"not built: there is no {error.filename}"])
        except subprocess.CalledProcessError as error:
            failed.append([peer.name, "all", 0, f"not built: {reason(error.stderr)}"])
    return rows, failed


def reason(told):
    """The first error of a compiler or linker, or its last line."""
    errors = [line.strip() for line in told.splitlines() if "error" in line or "cannot find" in line]
    return errors[0] if errors else last_line(told)
