// The program, two libraries that it is linked with and a plugin: weir is in all four, and each is compiled with
// -fvisibility=hidden. docs/platforms.md says what they share.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

#include "library.hpp"
#include "plugin.hpp"

extern "C" const weir::test::library* shared_one();
extern "C" const weir::test::library* shared_two();

namespace weir::test {
namespace {

using namespace std::chrono_literals;

const library& one = *shared_one();
const library& two = *shared_two();

void in_a_thread(auto call) { std::thread(call).join(); }

TEST(owners, made_by_different_libraries_are_different) {
  std::set<std::uint64_t> seen;
  for (const auto make : {one.makes_an_owner, two.makes_an_owner, +[] { return owner_id::make(); }}) {
    in_a_thread([&] {
      for (int i = 0; i < 10; ++i) EXPECT_TRUE(seen.insert(make().value()).second);
    });
  }
}

TEST(owners, a_thread_is_the_same_one_in_every_library) {
  in_a_thread([] {
    one.makes_an_owner();  // so that two counters would differ
    EXPECT_EQ(one.owner_of_this_thread(), two.owner_of_this_thread());
    EXPECT_EQ(one.owner_of_this_thread(), owner_id::this_thread());
  });
}

TEST(recursive_mutexes, exclude_threads_that_come_through_different_libraries) {
  recursive_mutex contended;
  in_a_thread([&] { EXPECT_FALSE(one.locks_again(contended)); });
  in_a_thread([&] { EXPECT_EQ(two.locks_again(contended), errc::timed_out); });
  contended.unlock();
}

TEST(recursive_mutexes, are_locked_again_through_another_library) {
  recursive_mutex mine;
  one.makes_an_owner();  // so that two counters would differ
  EXPECT_FALSE(one.locks_again(mine));
  EXPECT_FALSE(two.locks_again(mine));
  mine.unlock();
  mine.unlock();
}

TEST(mutexes, refuse_only_their_owner) {
  mutex contended;
  in_a_thread([&] {
    EXPECT_FALSE(one.locks(contended));
    EXPECT_EQ(two.locks(contended), errc::would_deadlock);
  });
  in_a_thread([&] { EXPECT_EQ(two.locks(contended), errc::timed_out); });
  contended.unlock();
}

TEST(errors, are_known_in_every_library) {
  for (const auto times_out : {one.times_out, two.times_out}) {
    EXPECT_TRUE(one.knows_as_timed_out(times_out()));
    EXPECT_TRUE(two.knows_as_timed_out(times_out()));
    EXPECT_TRUE(times_out() == errc::timed_out);
  }
  EXPECT_TRUE(one.knows_as_timed_out(errc::timed_out));
}

TEST(tasks, run_on_an_executor_of_another_library) {
  thread_pool* const workers = one.makes_a_pool();
  mutex locked;
  std::vector<future<bool>> refused;
  for (int i = 0; i < 10; ++i) refused.push_back((i % 2 == 0 ? one : two).spawns(*workers, locked));
  for (auto& each : refused) EXPECT_TRUE(each.get().wait());
  one.ends_pool(workers);
}

TEST(tasks, run_as_awaitables_in_a_pool_that_another_library_made) {
  asio::io_context io;
  pool* const jobs = one.makes_a_pool_on(io);
  auto made = two.submits_an_awaitable(*jobs);
  io.run();
  EXPECT_EQ(made.get().wait(), 1);
  one.ends_pool_on(jobs);
}

TEST(timers, that_one_library_replaces_measure_the_limits_of_all) {
  manual_timers by_hand;
  int passed = 0;
  semaphore none(0);
  {
    const use_timers replaced(by_hand);
    for (const library* each : {&one, &two}) {
      each->starts_to_wait(none, [](void* count) { ++*static_cast<int*>(count); }, &passed);
    }
  }
  by_hand.advance(2h);
  EXPECT_EQ(passed, 2);
}

std::thread::id thread_of_timers(const library& asked) {
  struct {
    called done;
    std::thread::id thread;
  } seen;
  asked.calls_after_a_limit(
      [](void* argument) {
        auto& here = *static_cast<decltype(seen)*>(argument);
        here.thread = std::this_thread::get_id();
        called::call(&here.done);
      },
      &seen);
  seen.done.wait();
  return seen.thread;
}

TEST(timers, have_one_thread_for_all_libraries) { EXPECT_EQ(thread_of_timers(one), thread_of_timers(two)); }

/// Each link's callback belongs to one library, and lets another library set the next event.
struct chain {
  struct link {
    chain* all;
    event set;
  };

  static void runs(void* argument) {
    auto& here = *static_cast<link*>(argument);
    auto& [depth, deepest, ran, links] = *here.all;
    deepest = std::max(deepest, ++depth);
    ++ran;
    if (ran < links.size()) (ran % 2 == 0 ? one : two).sets(links[ran].set);
    --depth;
  }

  int depth = 0;
  int deepest = 0;
  std::size_t ran = 0;
  std::vector<link> links{100};
};

TEST(the_flat_loop, is_the_same_one_in_every_library) {
  chain all;
  for (std::size_t i = 0; i < all.links.size(); ++i) {
    all.links[i].all = &all;
    (i % 3 == 0 ? one : two).on(all.links[i].set, chain::runs, &all.links[i]);
  }
  all.links[0].set.set();
  EXPECT_EQ(all.ran, all.links.size());
  EXPECT_EQ(all.deepest, 1);
}

TEST(static_destructors, use_limits_and_errors) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto exits = [] {
    for (const library* each : {&one, &two}) {
      each->uses_limits_at_exit();
      each->times_out();
    }
    const plugin loaded(PLUGIN, RTLD_LOCAL);
    loaded->uses_limits_at_exit();
    std::exit(0);
  };
  EXPECT_EXIT(exits(), testing::ExitedWithCode(0), "");
}

class plugins : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(scope, plugins, testing::Values(RTLD_LOCAL, RTLD_GLOBAL),
                         [](const auto& scope) { return scope.param == RTLD_LOCAL ? "local" : "global"; });

TEST_P(plugins, share_owners_errors_and_timers) {
  const plugin loaded(PLUGIN, GetParam());
  recursive_mutex contended;
  in_a_thread([&] { EXPECT_FALSE(one.locks_again(contended)); });
  in_a_thread([&] { EXPECT_EQ(loaded->locks_again(contended), errc::timed_out); });
  contended.unlock();
  EXPECT_TRUE(one.knows_as_timed_out(loaded->times_out()));
  EXPECT_TRUE(loaded->knows_as_timed_out(two.times_out()));
  EXPECT_EQ(thread_of_timers(*loaded.operator->()), thread_of_timers(one));
}

TEST_P(plugins, that_use_limits_are_closed_and_opened_again) {
  for (int i = 0; i < 3; ++i) use_limits(plugin(PLUGIN, GetParam()));
  EXPECT_TRUE(plugin::is_loaded(PLUGIN));  // else the timer thread might return into code that is gone
  sleep_for(40ms).wait();                  // by now the limit that was not needed has passed
  EXPECT_EQ(one.times_out(), errc::timed_out);
}

TEST_P(plugins, without_limits_are_unloaded) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(plugin(PLUGIN_WITHOUT_LIMITS, GetParam()).find<bool()>("locks")());
    EXPECT_FALSE(plugin::is_loaded(PLUGIN_WITHOUT_LIMITS));
  }
}

}  // namespace
}  // namespace weir::test
