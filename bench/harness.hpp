#pragma once

// What every program of the bench shares, weir's and the peers': a program is a list of rows, runs one of them in a
// process of its own (`PROGRAM list`, `PROGRAM W4 2`), and prints a line of JSON for each thing it has measured.
// `bench/run` starts the processes, pins them and compares.

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

struct timing {
  double wall = 0;  // seconds
  double cpu = 0;   // seconds of all threads

  timing& operator+=(timing more) {
    wall += more.wall;
    cpu += more.cpu;
    return *this;
  }
};

class stopwatch {
 public:
  [[nodiscard]] timing elapsed() const { return {wall() - wall_, cpu() - cpu_}; }

 private:
  static double wall() { return std::chrono::duration<double>(clock::now().time_since_epoch()).count(); }
  static double cpu() {
    std::timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
  }

  using clock = std::chrono::steady_clock;
  double cpu_ = cpu();
  double wall_ = wall();
};

template <class Body>
timing timed(Body&& body) {
  const stopwatch watch;
  body();
  return watch.elapsed();
}

/// One row while it runs: where its figures are told.
class run {
 public:
  run(std::string workload, int threads) : workload_(std::move(workload)), threads_(threads) {}

  [[nodiscard]] int threads() const { return threads_; }

  void tell(const char* metric, double value, const char* unit) const {
    std::printf(R"({"workload":"%s","threads":%d,"metric":"%s","value":%.6g,"unit":"%s"})"
                "\n",
                workload_.c_str(), threads_, metric, value, unit);
  }

  /// With several threads also how many cores were at work: a row that quietly ran on one says so.
  void tell_each(timing took, double operations, const char* metric = "ns_per_op") const {
    tell(metric, took.wall * 1e9 / operations, "ns");
    if (threads_ > 1) tell("cpu_per_wall", took.cpu / took.wall, "cores");
  }

  void tell_total(timing took) const {
    tell("cpu_ms", took.cpu * 1e3, "ms");
    tell("wall_ms", took.wall * 1e3, "ms");
  }

 private:
  std::string workload_;
  int threads_;
};

struct row {
  std::string workload;
  int threads;
  std::function<void(const run&)> body;
};
using rows = std::vector<row>;

/// Keeps the compiler from seeing through `value`.
template <class T>
void keep(T& value) {
  asm volatile("" : "+m"(value) : : "memory");
}

/// If this fails the row measures something else than it says.
inline void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "not as expected: %s\n", what);
  std::exit(1);
}

/// Bytes of memory that this process has resident.
inline double resident() {
  std::ifstream statm("/proc/self/statm");
  double whole = 0;
  double pages = 0;
  statm >> whole >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// The cores that this process may use, as it was started.
inline const std::vector<std::size_t>& cores() {
  static const std::vector<std::size_t> all = [] {
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    std::vector<std::size_t> found;
    for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &allowed)) found.push_back(core);
    }
    return found;
  }();
  return all;
}

/// This thread runs on the `index`-th of the cores, counted round and round.
inline void pin_this_thread(int index) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cores()[static_cast<std::size_t>(index) % cores().size()], &one);
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

/// The main function of a program of rows.
inline int serve(int argc, char** argv, const rows& all) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (word == "list" && argc == 2) {
    for (const row& each : all) std::printf("%s %d\n", each.workload.c_str(), each.threads);
    return 0;
  }
  const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
  for (const row& each : all) {
    if (each.workload != word || each.threads != threads) continue;
    each.body(run(word, threads));
    return 0;
  }
  std::fprintf(stderr, "usage: %s list, or %s WORKLOAD THREADS as listed\n", argv[0], argv[0]);
  return 2;
}

}  // namespace bench
