#pragma once

// Explores the interleavings of a small scenario. The scenario is a function that is called once for each schedule: it
// builds its objects, runs fibers with together(), and checks with EXPECT_… what has come of it.
//
//   TEST(semaphore, a_grant_races_a_time_out) {
//     model::explore([] {
//       semaphore sem(0);
//       model::together([&] { … }, [&] { sem.release(); });
//       EXPECT_…
//     });
//   }
//
// All schedules with at most so many preemptions are run, depth first: a switch away from a fiber that could go on is
// one; a switch because it has blocked, spins or has ended is none. Found are failed EXPECTs, deadlock, livelock, uses
// and writes after destruction, memory that is left over. The first that is found is printed with the command that
// replays it, step by step.

#include <cstdint>
#include <type_traits>

#include <model/scheduler.hpp>

namespace weir::model {

struct options {
  int preemptions = 3;
  std::uint64_t random = 0;  // so many schedules at random, with priorities (PCT), instead of all
  std::uint64_t seed = 1;
  int drops = 3;    // how often a random schedule lowers the priority of the one that runs
  int program = 0;  // one of many that a test explores: its number, for the replay (WEIR_MODEL_PROGRAM), and no report
};

/// How many schedules.
std::uint64_t explore(function scenario, void* object, options how);

/// For a test that has explored several programs.
void report(std::uint64_t schedules);

/// Until all that were spawned have ended.
void join() noexcept;

template <class Callable>
void call(void* object) {
  (*static_cast<Callable*>(object))();
}

template <class Scenario>
std::uint64_t explore(Scenario scenario, options how = {}) {
  return explore(&call<Scenario>, &scenario, how);
}

/// Runs them as fibers and returns when all have ended. Once or several times in a scenario; most_fibers - 1 in all.
template <class... Body>
void together(Body&&... bodies) {
  (spawn(&call<std::remove_reference_t<Body>>, const_cast<void*>(static_cast<const void*>(&bodies))), ...);
  join();
}

/// A step of the scenario's own: others may go on here.
inline void point() noexcept { step("point", nullptr); }

}  // namespace weir::model
