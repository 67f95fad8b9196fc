// When memory runs out, in every call that allocates: it is reported, and nothing is lost.

#include <chrono>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <support/exhaustion.hpp>

namespace weir::test {
namespace {

/// Whether a result holds std::bad_alloc.
template <class T>
bool holds_bad_alloc(const result<T>& outcome) {
  try {
    if (outcome.exception()) std::rethrow_exception(outcome.exception());
  } catch (const std::bad_alloc&) {
    return true;
  }
  return false;
}

/// Runs the call, whose memory may run out. Whether it has thrown std::bad_alloc.
template <class Run, class Call>
bool throws_bad_alloc(Run run, Call call) {
  try {
    run(call);
  } catch (const std::bad_alloc&) {
    return true;
  }
  return false;
}

std::vector<int> drained(queue<int>& items) {
  std::vector<int> all;
  while (const auto item = items.try_pop()) all.push_back(*item);
  return all;
}

/// A queue whose memory is used up: the next item needs more.
class full_block {
 public:
  full_block() {
    while (true) {
      const failing_allocation next_fails(0);
      try {
        items.try_push(next);
      } catch (const std::bad_alloc&) {
        return;
      }
      ++next;
    }
  }
  queue<int> items;
  int next = 0;
};

TEST(memory, a_try_push_throws_and_takes_nothing) {
  const auto allocations = with_each_allocation_failing([](auto run) {
    full_block full;
    const bool threw = throws_bad_alloc(run, [&] { EXPECT_TRUE(full.items.try_push(full.next)); });
    EXPECT_EQ(drained(full.items).size(), static_cast<std::size_t>(full.next) + (threw ? 0 : 1));
  });
  EXPECT_GT(allocations, 0u);
}

TEST(memory, a_push_throws_and_takes_nothing) {
  const auto allocations = with_each_allocation_failing([](auto run) {
    full_block full;
    const bool threw = throws_bad_alloc(run, [&] { full.items.push(full.next).wait(); });
    EXPECT_EQ(drained(full.items).size(), static_cast<std::size_t>(full.next) + (threw ? 0 : 1));
  });
  EXPECT_GT(allocations, 0u);
}

TEST(memory, a_push_by_callback_reports_it_and_takes_nothing) {
  const auto allocations = with_each_allocation_failing([](auto run) {
    full_block full;
    std::optional<bool> pushed;
    const auto pushes = [&] {
      std::ignore = full.items.push(full.next).start([&](const result<>& outcome) {
        pushed = outcome.has_value();
        EXPECT_TRUE(outcome || holds_bad_alloc(outcome));
      });
    };
    const bool threw = throws_bad_alloc(run, pushes);
    EXPECT_NE(threw, pushed.has_value()) << "it is reported once: by start() or by the callback";
    EXPECT_EQ(drained(full.items).size(), static_cast<std::size_t>(full.next) + (pushed.value_or(false) ? 1 : 0));
  });
  EXPECT_GT(allocations, 1u);
}

TEST(memory, a_pop_many_throws_and_the_items_keep_their_order) {
  const auto allocations = with_each_allocation_failing([](auto run) {
    queue<int> items;
    for (int i = 0; i < 4; ++i) items.try_push(i);
    std::vector<int> popped;
    const bool threw = throws_bad_alloc(run, [&] { popped = items.pop_many(3).wait(); });
    EXPECT_EQ(popped, threw ? std::vector<int>{} : (std::vector{0, 1, 2}));
    EXPECT_EQ(drained(items), threw ? (std::vector{0, 1, 2, 3}) : std::vector{3});
  });
  EXPECT_GT(allocations, 0u);
}

TEST(memory, a_pop_many_by_callback_reports_it_and_the_items_keep_their_order) {
  const auto allocations = with_each_allocation_failing([](auto run) {
    queue<int> items;
    for (int i = 0; i < 4; ++i) items.try_push(i);
    std::optional<std::size_t> popped;
    const auto pops = [&] {
      std::ignore = items.pop_many(3).start([&](const result<std::vector<int>>& outcome) {
        popped = outcome ? outcome->size() : 0;
        EXPECT_TRUE(outcome || holds_bad_alloc(outcome));
      });
    };
    const bool threw = throws_bad_alloc(run, pops);
    EXPECT_NE(threw, popped.has_value()) << "it is reported once: by start() or by the callback";
    EXPECT_EQ(items.size(), 4 - popped.value_or(0));
    EXPECT_EQ(items.try_pop(), static_cast<int>(popped.value_or(0)));
  });
  EXPECT_GT(allocations, 1u);
}

TEST(memory, a_start_throws_and_nothing_has_started) {
  const auto allocations = with_each_allocation_failing([](auto run) {
    semaphore sem(1);
    event never;
    ticket waits;
    bool granted = false;
    const bool threw = throws_bad_alloc(run, [&] {
      waits = never.wait().start([](const result<>&) {});
      std::ignore = sem.acquire().start([&](const result<>& outcome) { granted = outcome.has_value(); });
    });
    EXPECT_EQ(granted, !threw);
    EXPECT_EQ(sem.available(), granted ? 0u : 1u);
    EXPECT_EQ(never.waiting(), waits.id() != 0 ? 1u : 0u);
  });
  EXPECT_EQ(allocations, 2u);
}

task<int> gives(int value) { co_return value; }

TEST(memory, a_spawn_throws_and_destroys_its_task) {
  const auto allocations = with_each_allocation_failing([](auto run) {
    run_loop loop;
    std::optional<future<int>> made;
    const bool threw = throws_bad_alloc(run, [&] {
      made = spawn(loop, gives(1));  // the frame, and what runs it
    });
    loop.finish();
    loop.run();
    EXPECT_EQ(made.has_value(), !threw);
    EXPECT_TRUE(threw || made->get().wait() == 1);
  });
  EXPECT_EQ(allocations, 2u);
}

TEST(memory, a_submit_throws_and_its_slot_is_free_again) {
  const auto allocations = with_each_allocation_failing([](auto run) {
    run_loop loop;
    pool jobs(loop, 1);
    std::optional<future<int>> made;
    auto body = gives(1);
    const bool threw = throws_bad_alloc(run, [&] { made = jobs.submit(std::move(body)).wait(); });
    EXPECT_EQ(jobs.running(), threw ? 0u : 1u);
    EXPECT_TRUE(!threw || jobs.try_submit(gives(2)).has_value()) << "the slot is lost";
    loop.finish();
    loop.run();
    EXPECT_EQ(jobs.completed(), 1u);
    EXPECT_TRUE(jobs.join().within(std::chrono::seconds(0)).wait());
  });
  EXPECT_EQ(allocations, 1u);
}

TEST(memory, a_submit_by_callback_reports_it_and_its_slot_is_free_again) {
  const auto allocations = with_each_allocation_failing([](auto run) {
    run_loop loop;
    pool jobs(loop, 1);
    auto body = gives(1);
    std::optional<bool> submitted;
    const auto submits = [&] {
      std::ignore = jobs.submit(std::move(body)).start([&](const result<future<int>>& outcome) {
        submitted = outcome.has_value();
        EXPECT_TRUE(outcome || holds_bad_alloc(outcome));
      });
    };
    const bool threw = throws_bad_alloc(run, submits);
    EXPECT_NE(threw, submitted.has_value()) << "it is reported once: by start() or by the callback";
    EXPECT_EQ(jobs.running(), submitted.value_or(false) ? 1u : 0u);
    loop.finish();
    loop.run();
    EXPECT_TRUE(jobs.join().within(std::chrono::seconds(0)).wait());
  });
  EXPECT_EQ(allocations, 2u);
}

TEST(memory, a_submit_with_a_promise_throws_and_the_promise_is_broken) {
  const auto allocations = with_each_allocation_failing([](auto run) {
    run_loop loop;
    pool jobs(loop, 1);
    promise<int> into;
    auto made = into.get_future();
    auto body = gives(1);
    const bool threw = throws_bad_alloc(run, [&] { jobs.submit(std::move(body), std::move(into)).wait(); });
    loop.finish();
    loop.run();
    EXPECT_EQ(made.get().as_result().wait().error(), threw ? make_error_code(errc::closed) : std::error_code());
    EXPECT_EQ(jobs.running(), 0u);
  });
  EXPECT_EQ(allocations, 1u);
}

TEST(memory, a_try_submit_throws_and_the_task_is_still_the_callers) {
  const auto allocations = with_each_allocation_failing([](auto run) {
    run_loop loop;
    pool jobs(loop, 1);
    auto body = gives(1);
    std::optional<future<int>> made;
    const bool threw = throws_bad_alloc(run, [&] { made = jobs.try_submit(std::move(body)); });
    EXPECT_EQ(static_cast<bool>(body), threw);
    EXPECT_EQ(jobs.running(), threw ? 0u : 1u);
    loop.finish();
    loop.run();
  });
  EXPECT_EQ(allocations, 1u);
}

TEST(memory, a_when_all_throws_whatever_part_of_it_has_none) {
  const auto allocations = with_each_allocation_failing([](auto run) {
    std::optional<int> sum;
    const auto adds = []() -> task<int> {
      auto [one, two] = co_await when_all(gives(1), gives(2));
      std::vector<task<int>> more;
      more.push_back(gives(3));
      more.push_back(gives(4));
      const auto rest = co_await when_all(std::move(more));
      co_return one + two + rest[0] + rest[1];
    };
    const bool threw = throws_bad_alloc(run, [&] { sum = sync_wait(adds()); });
    EXPECT_EQ(sum.has_value(), !threw);
    EXPECT_EQ(sum.value_or(10), 10);
  });
  EXPECT_GT(allocations, 6u);
}

TEST(memory, a_for_each_and_a_map_throw_and_wait_for_what_runs) {
  const auto allocations = with_each_allocation_failing([](auto run) {
    std::optional<std::vector<int>> squares;
    int seen = 0;
    const auto maps = [](int& count) -> task<std::vector<int>> {
      inline_executor here;
      const auto square = [](int value) -> task<int> { co_return value* value; };
      const auto counts = [&count](int) -> task<> {
        ++count;
        co_return;
      };
      std::vector<int> items{1, 2, 3};
      co_await for_each(here, items, 2, counts);
      co_return co_await map(here, items, 2, square);
    };
    const bool threw = throws_bad_alloc(run, [&] { squares = sync_wait(maps(seen)); });
    EXPECT_EQ(squares.has_value(), !threw);
    EXPECT_TRUE(!squares || *squares == (std::vector{1, 4, 9}));
  });
  EXPECT_GT(allocations, 10u);
}

TEST(memory, a_promise_and_a_oneshot_throw) {
  const auto allocations = with_each_allocation_failing([](auto run) {
    throws_bad_alloc(run, [] {
      promise<int> made;
      auto pair = make_oneshot<int>();
    });
  });
  EXPECT_EQ(allocations, 2u);
}

}  // namespace
}  // namespace weir::test
