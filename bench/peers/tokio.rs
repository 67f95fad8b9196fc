//! tokio: current_thread with one thread, its multi-thread runtime with two.
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, Mutex, Semaphore};
use tokio::task::{yield_now, JoinHandle};
use tokio::time::timeout;

struct Run {
    workload: String,
    threads: usize,
}

impl Run {
    fn tell(&self, metric: &str, value: f64, unit: &str) {
        println!(
            r#"{{"workload":"{}","threads":{},"metric":"{}","value":{},"unit":"{}"}}"#,
            self.workload, self.threads, metric, value, unit
        );
    }

    fn tell_each(&self, took: Timing, count: usize, metric: &str) {
        self.tell(metric, took.wall * 1e9 / count as f64, "ns");
        if self.threads > 1 {
            self.tell("cpu_per_wall", took.cpu / took.wall, "cores");
        }
    }

    fn runtime(&self) -> Runtime {
        match self.threads {
            1 => Builder::new_current_thread().enable_time().build().unwrap(),
            n => Builder::new_multi_thread().worker_threads(n).enable_time().build().unwrap(),
        }
    }
}

struct Timing {
    wall: f64,
    cpu: f64,
}

/// The seconds of all threads.
fn cpu() -> f64 {
    let mut used = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut used) };
    used.tv_sec as f64 + used.tv_nsec as f64 * 1e-9
}

fn resident() -> f64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() * 4096.0
}

async fn timed<F: Future<Output = ()>>(body: F) -> Timing {
    let (before, began) = (cpu(), Instant::now());
    body.await;
    let wall = began.elapsed().as_secs_f64();
    Timing { wall, cpu: cpu() - before }
}

async fn join(tasks: Vec<JoinHandle<()>>) {
    for task in tasks {
        task.await.unwrap();
    }
}

/// Runs so many tasks `make(i)` to their end.
fn together<F, T>(run: &Run, count: usize, make: F) -> Timing
where
    F: Fn(usize) -> T,
    T: Future<Output = ()> + Send + 'static,
{
    run.runtime().block_on(timed(async {
        join((0..count).map(|i| tokio::spawn(make(i))).collect()).await;
    }))
}

fn w1(run: &Run) {
    let rounds = 5_000_000;
    let permits = Arc::new(Semaphore::new(10));
    let took = together(run, 1, |_| {
        let permits = permits.clone();
        async move {
            for _ in 0..rounds {
                drop(permits.acquire().await.unwrap());
            }
        }
    });
    run.tell_each(took, rounds, "ns_per_op");
}

/// So many tasks and rounds with a mutex; the holder yields or not.
fn locked(run: &Run, tasks: usize, rounds: usize, yields: bool) {
    let mutex = Arc::new(Mutex::new(0));
    let took = together(run, tasks, |_| {
        let mutex = mutex.clone();
        async move {
            for _ in 0..rounds {
                let mut counted = mutex.lock().await;
                *counted += 1;
                if yields {
                    yield_now().await;
                }
            }
        }
    });
    run.tell_each(took, tasks * rounds, "ns_per_op");
}

fn w4(run: &Run) {
    let permits = Arc::new(Semaphore::new(10));
    let took = together(run, 1000, |_| {
        let permits = permits.clone();
        async move {
            for _ in 0..1000 {
                let _permit = permits.acquire().await.unwrap();
                yield_now().await;
            }
        }
    });
    run.tell_each(took, 1_000_000, "ns_per_op");
}

/// Its bounded channel has one receiver: 1x1 only.
fn w5(run: &Run) {
    let items = 2_000_000;
    let took = run.runtime().block_on(timed(async {
        let (sender, mut receiver) = mpsc::channel::<i32>(64);
        let producer = tokio::spawn(async move {
            for i in 0..items {
                sender.send(i).await.unwrap();
            }
        });
        let consumer = tokio::spawn(async move { while receiver.recv().await.is_some() {} });
        join(vec![producer, consumer]).await;
    }));
    run.tell_each(took, items as usize, "ns_per_op");
}

fn w6(run: &Run) {
    let rounds = 500_000;
    let turns = [Arc::new(Semaphore::new(1)), Arc::new(Semaphore::new(0))];
    let took = together(run, 2, |i| {
        let (mine, other) = (turns[i].clone(), turns[1 - i].clone());
        async move {
            for _ in 0..rounds {
                mine.acquire().await.unwrap().forget();
                other.add_permits(1);
            }
        }
    });
    run.tell_each(took, rounds, "ns_per_op");
}

/// Spawns so many that wait at the gate, and lets them begin.
async fn park(gate: &Arc<Semaphore>, count: usize) -> Vec<JoinHandle<()>> {
    let tasks = (0..count).map(|_| {
        let gate = gate.clone();
        tokio::spawn(async move { gate.acquire().await.unwrap().forget() })
    });
    let tasks = tasks.collect();
    settle().await;
    tasks
}

/// Until all that is spawned has begun: one thread begins them in the order of their spawning.
async fn settle() {
    tokio::spawn(async {}).await.unwrap();
}

fn w7(run: &Run) {
    let waiters = 1_000_000;
    let gate = Arc::new(Semaphore::new(0));
    run.runtime().block_on(async {
        let mut tasks = Vec::new();
        let before = resident();
        let parked = timed(async { tasks = park(&gate, waiters).await }).await;
        let after = resident();
        let released = timed(async {
            gate.add_permits(waiters);
            join(tasks).await;
        });
        let released = released.await;
        run.tell_each(parked, waiters, "park_ns");
        run.tell("bytes_per_waiter", (after - before) / waiters as f64, "bytes");
        run.tell_each(released, waiters, "release_ns");
    });
}

/// Tasks that are aborted, until the last has ended.
fn w8(run: &Run) {
    let waiters = 100_000;
    let gate = Arc::new(Semaphore::new(0));
    run.runtime().block_on(async {
        let tasks = park(&gate, waiters).await;
        let took = timed(async {
            tasks.iter().rev().for_each(|task| task.abort());
            for task in tasks {
                assert!(task.await.unwrap_err().is_cancelled());
            }
        });
        run.tell_each(took.await, waiters, "ns_per_op");
    });
}

async fn wait_within(gate: Arc<Semaphore>, limit: Duration, passes: bool) {
    let passed = timeout(limit, gate.acquire()).await;
    assert_eq!(passed.is_ok(), passes);
    if let Ok(permit) = passed {
        permit.unwrap().forget();
    }
}

fn w9a(run: &Run) {
    let waiters = 100_000;
    let gate = Arc::new(Semaphore::new(0));
    let took = run.runtime().block_on(timed(async {
        let wait = |_| tokio::spawn(wait_within(gate.clone(), Duration::from_secs(60), true));
        let tasks = (0..waiters).map(wait).collect();
        settle().await;
        gate.add_permits(waiters);
        join(tasks).await;
    }));
    run.tell_each(took, waiters, "ns_per_op");
}

fn w9b(run: &Run) {
    let gate = Arc::new(Semaphore::new(0));
    let took = together(run, 100_000, |_| wait_within(gate.clone(), Duration::from_millis(10), false));
    run.tell("cpu_ms", took.cpu * 1e3, "ms");
    run.tell("wall_ms", took.wall * 1e3, "ms");
}

fn w10(run: &Run) {
    let count = 1_000_000;
    let slots = Arc::new(Semaphore::new(64));
    let took = together(run, 1, |_| {
        let slots = slots.clone();
        async move {
            for _ in 0..count {
                let slot = slots.clone().acquire_owned().await.unwrap();
                tokio::spawn(async move { drop(slot) });
            }
            slots.acquire_many(64).await.unwrap().forget();
        }
    });
    run.tell_each(took, count, "ns_per_op");
}

type Row = (&'static str, usize, fn(&Run));

const ROWS: &[Row] = &[
    ("W1", 1, w1),
    ("W2", 1, |run| locked(run, 1, 5_000_000, false)),
    ("W3", 2, |run| locked(run, 1000, 1000, false)),
    ("W3y", 1, |run| locked(run, 1000, 1000, true)),
    ("W3y", 2, |run| locked(run, 1000, 1000, true)),
    ("W4", 1, w4),
    ("W4", 2, w4),
    ("W5/1x1", 1, w5),
    ("W5/1x1", 2, w5),
    ("W6", 1, w6),
    ("W6", 2, w6),
    ("W7", 1, w7),
    ("W8", 1, w8),
    ("W9a", 1, w9a),
    ("W9b", 1, w9b),
    ("W10", 1, w10),
    ("W10", 2, w10),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words == ["list"] {
        ROWS.iter().for_each(|(workload, threads, _)| println!("{workload} {threads}"));
        return;
    }
    let asked = ROWS.iter().find(|row| words == [row.0.to_string(), row.1.to_string()]);
    match asked {
        Some((workload, threads, body)) => body(&Run { workload: workload.to_string(), threads: *threads }),
        None => {
            eprintln!("usage: list, or WORKLOAD THREADS as listed");
            std::process::exit(2);
        }
    }
}
