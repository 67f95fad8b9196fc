"""What gdb prints of weir's objects, and who waits for one of them.

    (gdb) source tools/gdb/weir.py
    (gdb) print connections
    $1 = weir::semaphore = {available = 0, max = 3, waiting = 2}
    (gdb) weir waiters connections

It reads the state word of each class as its header documents it. docs/debugging.md shows it at work.
"""
import re

import gdb
import gdb.printing
import gdb.types

LOCKED, QUEUED, CLOSED = 1, 2, 4  # core/synchronizer.hpp
OWN_SHIFT = 3
UNBOUNDED = 2**64 - 1  # of a queue, and the most permits of a semaphore: nothing was said, and nothing is printed
MOST_PERMITS = UNBOUNDED >> 4


def atomic(value):
    """What a std::atomic of libstdc++ holds."""
    return value["_M_i"]


def first_word(address):
    """Of what has a function, or a table of them, as its first member."""
    return address.cast(gdb.lookup_type("long").pointer()).dereference()


def symbol_at(address):
    """The full name of a function or table; empty if it has none."""
    found = re.match(r"(.*?)( \+ \d+)? in section ", gdb.execute(f"info symbol {int(address)}", to_string=True))
    return found[1] if found else ""


class SynchronizerPrinter:
    """The name of the class, then what it says of itself, then what all of them have."""

    def __init__(self, value):
        self.value = value
        self.state = int(atomic(value["state_"]))
        self.own = self.state >> OWN_SHIFT

    def to_string(self):
        return str(gdb.types.get_basic_type(self.value.type))

    def children(self):
        yield from self.says()
        yield "waiting", self.waiting()
        if self.state & CLOSED:
            yield "closed", gdb.Value(True)
        if self.state & LOCKED:
            yield "being_changed", gdb.Value(True)  # by a thread that is between two steps of a member function

    def waiting(self):
        return atomic(self.value["queue_"]["size_"])

    def says(self):
        return ()


class Semaphore(SynchronizerPrinter):
    def says(self):
        yield "available", self.own >> 1
        if self.own & 1:
            yield "owed", self.value["debt_"]
        if int(self.value["max_permits_"]) != MOST_PERMITS:
            yield "max", self.value["max_permits_"]


def owner(value):
    """Nothing, if nobody is known."""
    if int(value["value_"]) != 0:
        yield "owner", value


class Mutex(SynchronizerPrinter):
    def says(self):
        yield "locked", gdb.Value(bool(self.own & 1))
        yield from owner(atomic(self.value["owner_"]))


class RecursiveMutex(SynchronizerPrinter):
    def says(self):
        yield "depth", self.own
        yield from owner(self.value["owner_"])


class SharedMutex(SynchronizerPrinter):
    def says(self):
        yield "written", gdb.Value(bool(self.own & 1))
        yield "readers", self.own >> 1
        node = gdb.lookup_type("weir::shared_mutex::node").pointer()
        first = next(waiters(self.value), None)  # an upgrade is at the head
        if first is not None and str(first.cast(node)["wanted"]).endswith("::upgraded"):
            yield "upgrade_waits", gdb.Value(True)


class Event(SynchronizerPrinter):
    def says(self):
        yield "set", gdb.Value(bool(self.own & 1))


class Counter(SynchronizerPrinter):
    """latch, wait_group."""

    def says(self):
        yield "left", self.own


class Barrier(SynchronizerPrinter):
    def says(self):
        yield "phase", self.own
        yield "left", self.value["left_"]
        yield "size", self.value["size_"]


class Queue(SynchronizerPrinter):
    """By its I1 those who wait are of one kind."""

    def says(self):
        capacity, dropped = self.value["capacity_"], atomic(self.value["dropped_"])
        yield "size", self.items()["count_"]
        if int(capacity) != UNBOUNDED:
            yield "capacity", capacity
        if int(dropped) != 0:
            yield "dropped", dropped

    def items(self):
        return self.value["items_"]

    def children(self):
        for name, value in super().children():
            if name == "waiting" and int(value) != 0:
                name = "waiting_pop" if int(self.items()["count_"]) == 0 else "waiting_push"
            yield name, value
        first, block = int(self.items()["first_"]), self.items()["block_"]
        for index in range(int(self.items()["count_"])):
            place = (first + index) & (int(block["size_"]) - 1)
            yield f"[{index}]", (block["items_"] + place).dereference()


class Owner:
    """owner_id: a number that means nothing but who is the same."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        number = int(self.value["value_"])
        return f"#{number}" if number else "nobody"


class Result:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return str(gdb.types.get_basic_type(self.value.type))

    def children(self):
        optional = self.value["value_"]["_M_payload"]
        if bool(optional["_M_engaged"]):
            yield "value", optional["_M_payload"]["_M_value"]
        elif self.of_weir():
            yield "error", self.value["code_"].cast(gdb.lookup_type("weir::errc"))
        else:
            yield "error", self.value["code_"]
            yield "category", self.value["category_"]
        if int(self.value["thrown_"]["_M_exception_object"]) != 0:
            yield "exception", self.value["thrown_"]["_M_exception_object"]

    def of_weir(self):
        return symbol_at(first_word(self.value["category_"])) == "vtable for weir::core::error_category"


PRINTERS = {
    "semaphore": Semaphore,
    "mutex": Mutex,
    "recursive_mutex": RecursiveMutex,
    "shared_mutex": SharedMutex,
    "condition": SynchronizerPrinter,
    "event": Event,
    "auto_reset_event": Event,
    "latch": Counter,
    "wait_group": Counter,
    "barrier": Barrier,
    "queue<.*>": Queue,
    "owner_id": Owner,
    "result<.*>": Result,
}


# Who waits. The claim of a wait says by a function how its owner is told (core/claim.hpp): its name tells what the
# owner is.

DECIDED = {0: "", 1: "timed out", 2: "cancelled", 3: "closed", 4: "would deadlock", 5: "not owner", 7: "granted"}


def waiters(synchronizer):
    """From the head of the queue."""
    head = synchronizer["queue_"]["waiters_"]["head_"]
    at = head
    while at != 0:
        yield at
        at = at["next"]
        if at == head:
            return


def coroutine_of(claim, told):
    """The coroutine that an operation will resume; empty if its type is not known here."""
    for name in (told, re.sub(r"\b(\d+)u\b", r"\1", told)):  # g++ and clang write the limits differently
        try:
            operation = gdb.lookup_type(name[: name.rindex("::told(")])
        except gdb.error:
            continue
        resumes = symbol_at(first_word(claim.cast(operation.pointer())["owner_"]))
        resumes = re.sub(r" \[clone.*", "", resumes)  # clang: f(int) [clone .resume]
        return re.sub(r"^(.*?)\((\1\(.*\))::\S*\.Frame\*\)$", r"\2", resumes)  # g++: f(f(int)::….Frame*)
    return ""


def who(claim):
    told = symbol_at(claim["run_"])
    if "::block()" in told:
        return "a thread, blocked"
    if "::told(" in told:
        name = coroutine_of(claim, told)
        return f"a coroutine, {name}" if name else "a coroutine"
    if "callback_wait<" in told:
        return "a callback"
    if "handler_wait<" in told:
        return "a handler of Asio's"
    return told or "unknown"


def wants(waiter, synchronizer):
    """What its node knows besides its place."""
    try:
        node = gdb.lookup_type(f"{gdb.types.get_basic_type(synchronizer.type)}::node")
    except gdb.error:
        return ""
    known = waiter.cast(node.pointer()).dereference()
    return ", ".join(f"{field.name} = {known[field]}" for field in node.fields() if not field.is_base_class)


class WeirCommand(gdb.Command):
    """What weir's objects know: weir waiters EXPRESSION."""

    def __init__(self):
        super().__init__("weir", gdb.COMMAND_DATA, prefix=True)


class WaitersCommand(gdb.Command):
    """weir waiters EXPRESSION: who waits for a synchronizer, the first in line first.

    A wait that was decided and has not left the queue yet is shown with its outcome."""

    def __init__(self):
        super().__init__("weir waiters", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, _from_tty):
        value = gdb.parse_and_eval(argument)
        if value.type.strip_typedefs().code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF):
            value = value.referenced_value()
        number = 0
        for number, waiter in enumerate(waiters(value), 1):
            claim = waiter["wait"]
            verdict = DECIDED.get(int(atomic(claim["word_"])) & 0xFF, "")
            parts = (who(claim), wants(waiter, value), verdict)
            print(f"{number}  {'; '.join(part for part in parts if part)}")
        if number == 0:
            print("nobody waits")


def register():
    printers = gdb.printing.RegexpCollectionPrettyPrinter("weir")
    for name, printer in PRINTERS.items():
        printers.add_printer(name, f"^weir::{name}$", printer)
    gdb.printing.register_pretty_printer(gdb.current_objfile(), printers, replace=True)
    WeirCommand()
    WaitersCommand()


register()
