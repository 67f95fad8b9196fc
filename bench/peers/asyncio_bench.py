"""asyncio, which has one thread. Fewer rounds than elsewhere: each takes longer."""
import asyncio
import json
import os
import resource
import sys
import time


class Run:
    def __init__(self, workload):
        self.workload = workload

    def tell(self, metric, value, unit):
        print(json.dumps({"workload": self.workload, "threads": 1, "metric": metric, "value": value, "unit": unit}))

    def tell_each(self, seconds, count, metric="ns_per_op"):
        self.tell(metric, seconds * 1e9 / count, "ns")


def resident():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


async def timed(awaited):
    began = time.perf_counter()
    await awaited
    return time.perf_counter() - began


async def together(count, body):
    """The seconds of so many tasks body(i)."""
    tasks = [asyncio.create_task(body(i)) for i in range(count)]
    return await timed(asyncio.gather(*tasks))


async def settle():
    """Until all tasks have begun."""
    await asyncio.sleep(0)
    await asyncio.sleep(0)


async def w1(run):
    rounds, permits = 200_000, asyncio.Semaphore(10)

    async def work(_):
        for _ in range(rounds):
            await permits.acquire()
            permits.release()

    run.tell_each(await together(1, work), rounds)


async def w2(run):
    rounds, mutex = 200_000, asyncio.Lock()

    async def work(_):
        for _ in range(rounds):
            await mutex.acquire()
            mutex.release()

    run.tell_each(await together(1, work), rounds)


async def contended(run, tasks, rounds, lock):
    async def work(_):
        for _ in range(rounds):
            await lock.acquire()
            await asyncio.sleep(0)
            lock.release()

    run.tell_each(await together(tasks, work), tasks * rounds)


async def w3y(run):
    await contended(run, 1000, 100, asyncio.Lock())


async def w4(run):
    await contended(run, 1000, 100, asyncio.Semaphore(10))


async def w5(run, pairs):
    items, queue = 200_000, asyncio.Queue(64)

    async def work(task):
        for i in range(items // pairs):
            await (queue.put(i) if task % 2 == 0 else queue.get())

    run.tell_each(await together(2 * pairs, work), items)


async def w6(run):
    rounds, turns = 50_000, (asyncio.Semaphore(1), asyncio.Semaphore(0))

    async def work(mine):
        for _ in range(rounds):
            await turns[mine].acquire()
            turns[1 - mine].release()

    run.tell_each(await together(2, work), rounds)


async def park(count, waiting):
    tasks = [asyncio.create_task(waiting()) for _ in range(count)]
    await settle()
    return tasks


async def w7(run):
    """100,000 instead of a million."""
    waiters, gate = 100_000, asyncio.Event()
    before, began = resident(), time.perf_counter()
    tasks = await park(waiters, gate.wait)
    parked = time.perf_counter() - began
    after = resident()
    gate.set()
    released = await timed(asyncio.gather(*tasks))
    run.tell_each(parked, waiters, "park_ns")
    run.tell("bytes_per_waiter", (after - before) / waiters, "bytes")
    run.tell_each(released, waiters, "release_ns")


async def w8(run):
    """Each looks through all that wait, so only every hundredth of the 100,000 is cancelled."""
    waiters, step, gate = 100_000, 100, asyncio.Semaphore(0)
    tasks = await park(waiters, gate.acquire)
    cancelled = tasks[::-step]
    began = time.perf_counter()
    for task in cancelled:
        task.cancel()
    await asyncio.gather(*cancelled, return_exceptions=True)
    run.tell_each(time.perf_counter() - began, len(cancelled))
    sys.stdout.flush()
    os._exit(0)  # pylint: disable=protected-access  # what still waits is not of interest


async def w9a(run):
    waiters, gate = 100_000, asyncio.Event()
    began = time.perf_counter()
    tasks = await park(waiters, lambda: asyncio.wait_for(gate.wait(), 60))
    gate.set()
    await asyncio.gather(*tasks)
    run.tell_each(time.perf_counter() - began, waiters)


async def w9b(run):
    waiters, gate = 100_000, asyncio.Event()
    began, before = time.perf_counter(), time.process_time()
    tasks = await park(waiters, lambda: asyncio.wait_for(gate.wait(), 0.01))
    await asyncio.gather(*tasks, return_exceptions=True)
    run.tell("cpu_ms", (time.process_time() - before) * 1e3, "ms")
    run.tell("wall_ms", (time.perf_counter() - began) * 1e3, "ms")


async def w10(run):
    count, slots = 100_000, asyncio.Semaphore(64)

    async def trivial():
        slots.release()

    began, running = time.perf_counter(), set()
    for _ in range(count):
        await slots.acquire()
        task = asyncio.create_task(trivial())
        running.add(task)
        task.add_done_callback(running.discard)
    await asyncio.gather(*running)
    run.tell_each(time.perf_counter() - began, count)


ROWS = {
    "W1": w1,
    "W2": w2,
    "W3y": w3y,
    "W4": w4,
    "W5/1x1": lambda run: w5(run, 1),
    "W5/4x4": lambda run: w5(run, 4),
    "W6": w6,
    "W7": w7,
    "W8": w8,
    "W9a": w9a,
    "W9b": w9b,
    "W10": w10,
}


def main(words):
    if words == ["list"]:
        print("\n".join(f"{name} 1" for name in ROWS))
    elif len(words) == 2 and words[0] in ROWS and words[1] == "1":
        asyncio.run(ROWS[words[0]](Run(words[0])))
    else:
        sys.exit("usage: list, or WORKLOAD THREADS as listed")


if __name__ == "__main__":
    main(sys.argv[1:])
