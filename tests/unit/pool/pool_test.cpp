#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/mutex.hpp>
#include <weir/pool.hpp>
#include <weir/select.hpp>
#include <weir/task.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>
#include <support/notes.hpp>
#include <support/stopping.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;
using test::foreign;
using test::manual_executor;
using test::message_of;

task<int> gives(int value) { co_return value; }
task<> throws(const char* what) {
  throw std::runtime_error(what);
  co_return;
}
task<int> gives_after(event& opened, int value) {
  co_await opened.wait();
  co_return value;
}

TEST(pool, a_submitted_task_runs_and_its_future_has_the_value) {
  thread_pool threads(2);
  pool jobs(threads, 2);
  auto made = jobs.submit(gives(42)).wait();
  EXPECT_EQ(made.get().wait(), 42);
  EXPECT_EQ(jobs.running(), 0u) << "when a future is ready its slot is free";
  EXPECT_EQ(jobs.completed(), 1u) << "and counted";
  EXPECT_EQ(jobs.limit(), 2u);
}

TEST(pool, G14_when_a_future_is_ready_its_slot_is_free_and_counted) {
  manual_executor executor;
  pool jobs(executor, 1);
  auto made = jobs.submit(gives(1)).wait();
  bool told = false;
  auto waits = made.get().start([&](result<int>) {
    told = true;
    EXPECT_EQ(jobs.running(), 0u);
    EXPECT_EQ(jobs.completed(), 1u);
  });
  executor.run_all();
  EXPECT_TRUE(told);
}

TEST(pool, G14_an_exception_reaches_the_future_and_not_the_pool) {
  manual_executor executor;
  pool jobs(executor, 1);
  auto made = jobs.submit(throws("bad")).wait();
  executor.run_all();
  EXPECT_EQ(jobs.failed(), 1u);
  EXPECT_EQ(jobs.completed(), 0u);
  EXPECT_THROW(made.get().wait(), std::runtime_error);
  auto next = jobs.submit(gives(1)).wait();
  executor.run_all();
  EXPECT_EQ(next.get().wait(), 1);
}

TEST(pool, submitting_waits_for_a_free_slot) {
  manual_executor executor;
  pool jobs(executor, 2);
  event open;
  auto first = jobs.submit(gives_after(open, 1)).wait();
  auto second = jobs.submit(gives_after(open, 2)).wait();
  std::optional<future<int>> third;
  auto waits = jobs.submit(gives(3)).start([&](result<future<int>> granted) { third = std::move(*granted); });
  executor.run_all();
  EXPECT_EQ(jobs.running(), 2u);
  EXPECT_EQ(jobs.waiting(), 1u);
  EXPECT_FALSE(third);
  EXPECT_TRUE(jobs.check_invariants());
  open.set();
  executor.run_all();
  ASSERT_TRUE(third);
  EXPECT_EQ(third->get().wait(), 3);
  EXPECT_EQ(jobs.peak(), 2u);
  EXPECT_EQ(jobs.running(), 0u);
}

TEST(pool, slots_go_to_submits_in_the_order_in_which_they_came_and_try_submit_does_not_overtake) {
  manual_executor executor;
  pool jobs(executor, 1);
  event open;
  auto first = jobs.submit(gives_after(open, 0)).wait();
  std::vector<int> order;
  std::vector<ticket> waits;
  for (int id = 1; id <= 3; ++id) {
    waits.push_back(jobs.submit(gives(id)).start([&order, id](result<future<int>>) { order.push_back(id); }));
  }
  auto late = gives(4);
  EXPECT_FALSE(jobs.try_submit(std::move(late)));
  EXPECT_TRUE(late) << "the task is still its owner's";
  open.set();
  executor.run_all();
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
  EXPECT_TRUE(jobs.try_submit(std::move(late)));
  EXPECT_FALSE(late);
  executor.run_all();
  EXPECT_EQ(jobs.completed(), 5u);
}

TEST(pool, G2_a_submit_that_times_out_has_queued_nothing_and_its_task_is_destroyed_unstarted) {
  manual_executor executor;
  pool jobs(executor, 1);
  event open;
  auto first = jobs.submit(gives_after(open, 0)).wait();
  bool started = false;
  auto witness = std::make_shared<int>(0);
  auto notes = [](bool& ran, std::shared_ptr<int>) -> task<> {
    ran = true;
    co_return;
  };
  EXPECT_EQ(jobs.submit(notes(started, witness)).within(0s).wait().error(), errc::timed_out);
  EXPECT_EQ(witness.use_count(), 1);
  EXPECT_EQ(jobs.waiting(), 0u);
  open.set();
  executor.run_all();
  EXPECT_FALSE(started);
  EXPECT_EQ(jobs.completed(), 1u);
}

TEST(pool, an_own_promise_gets_what_the_task_comes_to) {
  manual_executor executor;
  pool jobs(executor, 1);
  promise<int> into;
  auto made = into.get_future();
  jobs.submit(gives(5), std::move(into)).wait();
  executor.run_all();
  EXPECT_EQ(made.get().wait(), 5);
  promise<> failing;
  auto fails = failing.get_future();
  jobs.submit(throws("bad"), std::move(failing)).wait();
  executor.run_all();
  EXPECT_THROW(fails.get().wait(), std::runtime_error);
  EXPECT_EQ(jobs.completed(), 1u);
  EXPECT_EQ(jobs.failed(), 1u);
}

TEST(pool, an_own_promise_of_a_submit_that_failed_gives_closed) {
  manual_executor executor;
  pool jobs(executor, 1);
  jobs.request_stop();
  promise<int> into;
  auto made = into.get_future();
  EXPECT_EQ(jobs.submit(gives(5), std::move(into)).as_result().wait().error(), errc::closed);
  EXPECT_EQ(made.get().as_result().wait().error(), errc::closed);
}

TEST(pool, join_waits_until_nothing_runs_and_all_futures_are_ready) {
  manual_executor executor;
  pool jobs(executor, 1);
  EXPECT_TRUE(jobs.join().within(0s).wait()) << "nothing runs";
  event open;
  auto first = jobs.submit(gives_after(open, 1)).wait();
  std::optional<future<int>> second;
  auto submits = jobs.submit(gives(2)).start([&](result<future<int>> granted) { second = std::move(*granted); });
  bool joined = false;
  auto joins = jobs.join().start([&](result<> outcome) {
    joined = outcome.has_value();
    EXPECT_TRUE(first.ready());
    EXPECT_TRUE(second && second->ready());
  });
  executor.run_all();
  EXPECT_FALSE(joined);
  open.set();
  executor.run_all();
  EXPECT_TRUE(joined);
}

task<bool> runs_until_it_is_stopped(event& started) {
  const auto self = co_await this_task();
  event never;
  started.set();
  co_return (co_await never.wait().stop_on(self.stop)).error() == errc::cancelled;
}

TEST(pool, request_stop_refuses_new_work_and_reaches_the_running_tasks) {
  thread_pool threads(2);
  pool jobs(threads, 1);
  event started;
  auto runs = jobs.submit(runs_until_it_is_stopped(started)).wait();
  started.wait().wait();
  std::optional<std::error_code> refused;
  auto waits = jobs.submit(gives(1)).start([&](result<future<int>> granted) { refused = granted.error(); });
  EXPECT_FALSE(refused);
  jobs.request_stop();
  EXPECT_EQ(refused, errc::closed);
  EXPECT_TRUE(runs.get().wait());
  EXPECT_THROW((void)jobs.submit(gives(1)).wait(), std::system_error);
  EXPECT_FALSE(jobs.try_submit(gives(1)));
  jobs.join().wait();
}

TEST(pool, its_destructor_does_not_wait_and_tasks_may_outlive_it) {
  manual_executor executor;
  event open;
  std::optional<pool> jobs(std::in_place, executor, 1);
  auto first = jobs->submit(gives_after(open, 1)).wait();
  std::optional<std::error_code> refused;
  std::optional<std::error_code> joined;
  auto waits = jobs->submit(gives(2)).start([&](result<future<int>> granted) { refused = granted.error(); });
  auto joins = jobs->join().start([&](result<> outcome) { joined = outcome.error(); });
  executor.run_all();
  jobs.reset();
  EXPECT_EQ(refused, errc::closed);
  EXPECT_EQ(joined, errc::closed);
  open.set();
  executor.run_all();
  EXPECT_EQ(first.get().wait(), 1);
}

TEST(pool, dropping_a_future_stops_nothing) {
  manual_executor executor;
  pool jobs(executor, 1);
  {
    auto dropped = jobs.submit(gives(1)).wait();
  }
  executor.run_all();
  EXPECT_EQ(jobs.completed(), 1u);
}

TEST(pool, G14_shrinking_while_full_never_starts_one_too_many) {
  manual_executor executor;
  pool jobs(executor, 3);
  std::vector<std::unique_ptr<event>> gates;
  std::vector<future<int>> made;
  std::vector<ticket> waits;
  for (int id = 0; id < 6; ++id) {
    gates.push_back(std::make_unique<event>());
    waits.push_back(jobs.submit(gives_after(*gates.back(), id)).start([&](result<future<int>> granted) {
      made.push_back(std::move(*granted));
    }));
  }
  executor.run_all();
  EXPECT_EQ(jobs.running(), 3u);
  jobs.resize(1);
  EXPECT_EQ(jobs.limit(), 1u);
  EXPECT_EQ(jobs.running(), 3u) << "those that run go on";
  gates[0]->set();
  executor.run_all();
  EXPECT_EQ(jobs.running(), 2u);
  gates[1]->set();
  executor.run_all();
  EXPECT_EQ(jobs.running(), 1u);
  EXPECT_EQ(made.size(), 3u);
  gates[2]->set();
  executor.run_all();
  EXPECT_EQ(jobs.running(), 1u);
  EXPECT_EQ(made.size(), 4u);
  jobs.resize(2);
  executor.run_all();
  EXPECT_EQ(jobs.running(), 2u) << "growing starts those that wait";
  for (auto& gate : gates) gate->set();
  executor.run_all();
  EXPECT_EQ(jobs.completed(), 6u);
  EXPECT_EQ(jobs.peak(), 3u);
}

TEST(pool, each_task_has_an_owner_of_its_own) {
  manual_executor executor;
  pool jobs(executor, 2);
  mutex m;
  auto locks = [](mutex& wanted) -> task<std::error_code> {
    auto outcome = co_await wanted.lock().as_result();
    if (!outcome) co_return outcome.error();
    co_await yield();
    wanted.unlock();
    co_return std::error_code();
  };
  auto one = jobs.submit(locks(m)).wait();
  auto two = jobs.submit(locks(m)).wait();
  executor.run_all();
  EXPECT_EQ(one.get().wait(), std::error_code());
  EXPECT_EQ(two.get().wait(), std::error_code());
}

TEST(pool, a_submit_is_a_branch_of_a_select) {
  manual_executor executor;
  pool jobs(executor, 1);
  event open;
  event enough(true);
  auto first = jobs.submit(gives_after(open, 0)).wait();
  EXPECT_EQ(select(jobs.submit(gives(1)), enough.wait()).wait().index(), 1u);
  EXPECT_EQ(jobs.waiting(), 0u);
  open.set();
  executor.run_all();
  auto granted = select(jobs.submit(gives(1)), enough.wait()).wait();
  ASSERT_EQ(granted.index(), 0u);
  executor.run_all();
  EXPECT_EQ(std::get<0>(granted).get().wait(), 1);
}

TEST(pool, G2_a_granted_submitter_that_is_destroyed_gives_its_slot_back) {
  manual_executor executor;
  pool jobs(executor, 1);
  event open;
  auto first = jobs.submit(gives_after(open, 0)).wait();
  executor.run_all();
  auto submits = [](pool& into, manual_executor& where) -> foreign {
    auto made = co_await into.submit(gives(1)).resume_on(where);
    ADD_FAILURE() << "resumed";
  };
  manual_executor elsewhere;
  auto waits = submits(jobs, elsewhere);
  open.set();
  executor.run_all();
  EXPECT_EQ(jobs.running(), 1u) << "granted";
  waits.destroy();
  EXPECT_EQ(jobs.running(), 0u);
  EXPECT_EQ(jobs.completed(), 1u);
  EXPECT_TRUE(jobs.join().within(0s).wait());
}

TEST(pool, G12_bad_arguments_are_refused_where_they_are_made) {
  manual_executor executor;
  EXPECT_EQ(message_of<std::invalid_argument>([&] { pool none(executor, 0); }),
            "weir::pool: a limit of 0 would never run a task");
  pool jobs(executor, 1);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { jobs.resize(0); }),
            "weir::pool::resize: a limit of 0 would never run a task");
  EXPECT_EQ(jobs.limit(), 1u);
  task<int> moved = gives(1);
  auto kept = std::move(moved);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { (void)jobs.submit(std::move(moved)); }),
            "weir::pool::submit: the task is empty: it was moved away");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { (void)jobs.try_submit(std::move(moved)); }),
            "weir::pool::submit: the task is empty: it was moved away");
  promise<int> used;
  used.set_value(1);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { (void)jobs.submit(std::move(kept), std::move(used)); }),
            "weir::pool::submit: the promise was set or moved away already");
  EXPECT_EQ(jobs.running(), 0u);
}

TEST(pool, what_request_stop_ends_may_destroy_it) {
  inline_executor here;
  event never;
  event let_through;
  std::optional<pool> jobs(std::in_place, here, 2);
  std::ignore = jobs->try_submit(test::waits_until_stopped(let_through));
  std::ignore = jobs->try_submit(test::waits_until_stopped_then_sets(never, let_through));
  std::ignore = jobs->join().start([&](const result<>&) { jobs.reset(); });
  jobs->request_stop();
  EXPECT_FALSE(jobs);
}

TEST(pool, G2_a_submit_that_failed_lets_go_of_its_task_and_promise_though_its_ticket_is_kept) {
  manual_executor executor;
  pool jobs(executor, 1);
  auto witness = std::make_shared<int>(0);
  const auto keeps = [](std::shared_ptr<int>) -> task<int> { co_return 0; };
  auto first = jobs.submit(gives(1)).wait();
  promise<int> into;
  auto made = into.get_future();
  std::optional<std::error_code> told;
  auto kept = jobs.submit(keeps(witness), std::move(into)).start([&](const result<>& ended) {
    told = ended.error();
    EXPECT_EQ(witness.use_count(), 1);
  });
  EXPECT_TRUE(kept.cancel());
  EXPECT_EQ(told, errc::cancelled);
  ASSERT_TRUE(made.ready());
  EXPECT_EQ(made.get().as_result().wait().error(), errc::closed);
  executor.run_all();
}

}  // namespace
}  // namespace weir
