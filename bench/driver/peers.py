"""The other libraries: their Debian packages, how they are built, and how they implement the workloads."""
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from .measure import BUILD, ROOT, last_line, rows_of

SOURCES = ROOT / "bench" / "peers"
PLACE = BUILD / "peers"


@dataclass(frozen=True)
class Peer:
    name: str
    packages: tuple
    note: str  # how it implements the workloads
    make: Callable  # builds it, and returns the command that runs it


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
        "W8 cancels every hundredth of 100,000 waiters, since each cancellation searches the whole queue.",
        compiled(),
    ),
    Peer(
        "std",
        ("g++",),
        "The waiters are threads: W3 has two instead of 1,000 tasks; W5 is a mutex, two conditions and a deque.",
        compiled(),
    ),
    Peer(
        "boost_fiber",
        ("libboost-fiber-dev",),
        "Fibers stay on one thread. There is no semaphore, so a `buffered_channel` holds the permits. "
        "W9a has 10,000 waiters, each with a stack.",
        compiled("-lboost_fiber", "-lboost_context"),
    ),
    Peer(
        "tbb",
        ("libtbb-dev",),
        "W5 is a `concurrent_bounded_queue` between threads; W10 is a `function_node` that runs at most 64 at a time "
        "and keeps the rest in an unbounded list.",
        compiled("-ltbb"),
    ),
    Peer(
        "moodycamel",
        ("libconcurrentqueue-dev",),
        "The waiters are threads. The queue is unbounded, so one of the library's semaphores counts the free places.",
        compiled(),
    ),
    Peer(
        "go",
        ("golang-go", "golang-golang-x-sync-dev"),
        "A semaphore is a channel; in the x/sync rows, W8 and W9 it is x/sync's. In W3 and W3y, `sync.Mutex` is not "
        "FIFO.",
        go,
    ),
    Peer(
        "asyncio",
        ("python3",),
        "Fewer rounds, as each takes longer; W7 parks 100,000 tasks; W8 cancels every hundredth of 100,000.",
        script,
    ),
    Peer(
        "tokio",
        ("librust-tokio-dev", "librust-libc-dev", "cargo", "rustc"),
        "The `current_thread` runtime with one thread, the multi-thread runtime with two. The bounded channel has one "
        "receiver, so there is no 4×4 queue. W8 aborts tasks.",
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
