// G10 (see publication.hpp): queue, oneshot, future and tasks.

#include <coroutine>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <stress/publication.hpp>

namespace weir::publication {
namespace {

// queue, oneshot

TEST(publication, G10_a_push_is_ordered_before_the_pop_of_its_item) {
  const auto push = [](queue<int>& items) { items.push(1).wait(); };
  const auto pop = [](queue<int>& items) { EXPECT_EQ(items.pop().wait(), 1); };
  const auto queued = [](const queue<int>& items) { return items.waiting_pop(); };
  published_first<queue<int>>(push, pop);
  published_later<queue<int>>(push, pop, queued);
  published_first<queue<int>>([](queue<int>& items) { EXPECT_TRUE(items.try_push(1)); },
                              [](queue<int>& items) { spin_until([&] { return items.try_pop().has_value(); }); });
  published_later<queue<int>>(push, [](queue<int>& items) { EXPECT_EQ(items.pop_many(4).wait().size(), 1U); }, queued);
}

TEST(publication, G10_every_push_is_ordered_before_the_pop_of_all_the_items) {
  published_by_two<queue<int>>([](queue<int>& items) { items.push(1).wait(); },
                               [](queue<int>& items) { EXPECT_EQ(items.pop_many(4).wait().size(), 2U); });
}

struct full_queue : queue<int> {
  full_queue() : queue<int>(1) { EXPECT_TRUE(try_push(1)); }
};

TEST(publication, G10_a_pop_is_ordered_before_the_push_that_it_makes_room_for) {
  const auto pop = [](queue<int>& items) { EXPECT_EQ(items.pop().wait(), 1); };
  const auto push = [](queue<int>& items) { items.push(2).wait(); };
  const auto queued = [](const queue<int>& items) { return items.waiting_push(); };
  published_first<full_queue>(pop, push);
  published_later<full_queue>(pop, push, queued);
  published_first<full_queue>(pop, [](queue<int>& items) { spin_until([&] { return items.try_push(2); }); });
}

TEST(publication, G10_a_close_is_ordered_before_the_pop_that_finds_the_queue_drained) {
  const auto close = [](queue<int>& items) { items.close(); };
  const auto pop = [](queue<int>& items) { EXPECT_FALSE(items.pop().wait()); };
  published_first<queue<int>>(close, pop);
  published_later<queue<int>>(close, pop, [](const queue<int>& items) { return items.waiting_pop(); });
}

TEST(publication, G10_a_send_is_ordered_before_the_receive) {
  for (int round = 0; round < rounds; ++round) {
    auto ends = make_oneshot<int>();
    int data = 0;
    const std::jthread sends([&] {
      data = 1;
      ends.sender.send(2);
    });
    EXPECT_EQ(ends.receiver.receive().wait(), 2);
    EXPECT_EQ(data, 1);
  }
}

// future, tasks

struct pair_of_ends {
  promise<std::string> made;
  future<std::string> given = made.get_future();
};

TEST(publication, G10_setting_a_promise_is_ordered_before_the_get_of_its_future) {
  const auto set = [](pair_of_ends& both) { both.made.set_value("a value that is too long to be stored in place"); };
  published_first<pair_of_ends>(set, [](pair_of_ends& both) { EXPECT_FALSE(both.given.get().wait().empty()); });
  published_first<pair_of_ends>(set, [](pair_of_ends& both) {
    spin_until([&] { return both.given.ready(); });
    EXPECT_FALSE(both.given.get().wait().empty());
  });
}

TEST(publication, G10_an_exception_of_a_promise_is_ordered_before_ready_returns_true) {
  const auto fail = [](pair_of_ends& both) {
    both.made.set_exception(std::make_exception_ptr(std::runtime_error("it failed")));
  };
  published_first<pair_of_ends>(fail, [](pair_of_ends& both) {
    spin_until([&] { return both.given.ready(); });
    EXPECT_TRUE(both.given.get().as_result().wait().exception());
  });
}

TEST(publication, G10_the_end_of_a_promise_is_ordered_before_ready_returns_true) {
  published_first<pair_of_ends>([](pair_of_ends& both) { const promise<std::string> gone(std::move(both.made)); },
                                [](pair_of_ends& both) { spin_until([&] { return both.given.ready(); }); });
}

/// One of its moves throws once it has written: the second, with which a promise stores what it has made of the value.
struct fragile {
  explicit fragile(int given, int succeed) : value(given), moves_left(succeed) {}
  fragile(fragile&& from) : value(from.value), moves_left(from.moves_left - 1) {  // NOLINT: it throws
    if (moves_left < 0) throw std::runtime_error("it broke");
  }

  int value;
  int moves_left;
};

TEST(publication, G10_a_set_that_has_failed_is_ordered_before_the_one_that_succeeds) {
  for (int round = 0; round < rounds; ++round) {
    promise<fragile> made;
    auto given = made.get_future();
    relaxed_count failed;
    const std::jthread fails([&] {
      try {
        made.set_value(fragile(1, 1));
      } catch (const std::runtime_error&) {
        failed.raise();
      }
    });
    const std::jthread succeeds([&] {
      failed.await();
      made.set_value(fragile(2, 100));
    });
    EXPECT_EQ(given.get().wait().value, 2);
  }
}

TEST(publication, G10_what_a_task_did_is_ordered_before_its_future_is_ready) {
  thread_pool threads(2);
  for (int round = 0; round < rounds; ++round) {
    int data = 0;
    const auto writes = [](int& into) -> task<> {
      into = 1;
      co_return;
    };
    auto made = spawn(threads, writes(data));
    if (round % 2 == 0) {
      spin_until([&] { return made.ready(); });
    } else {
      made.get().wait();
    }
    EXPECT_EQ(data, 1);
  }
}

task<> writes_elsewhere(int& into, event& opened, thread_pool& threads) {
  co_await opened.wait().resume_on(threads);
  into = 1;
}

TEST(publication, G10_what_every_child_of_when_all_did_is_ordered_before_its_parent_resumes) {
  thread_pool threads(2);
  event opened(true);
  const auto awaits = [](thread_pool& where, event& ready) -> task<int> {
    int data[3] = {};
    co_await when_all(writes_elsewhere(data[0], ready, where), writes_elsewhere(data[1], ready, where),
                      writes_elsewhere(data[2], ready, where));
    co_return data[0] + data[1] + data[2];
  };
  for (int round = 0; round < 4 * rounds; ++round) EXPECT_EQ(sync_wait(awaits(threads, opened)), 3);
}

TEST(publication, G10_what_a_child_did_on_another_thread_is_ordered_before_its_parent_resumes) {
  thread_pool threads(1);
  event opened(true);
  const auto awaits = [](thread_pool& where, event& ready) -> task<int> {
    int data = 0;
    co_await writes_elsewhere(data, ready, where);
    co_return data;
  };
  for (int round = 0; round < 4 * rounds; ++round) EXPECT_EQ(sync_wait(awaits(threads, opened)), 1);
}

/// Resumes on a thread of its own and waits until that has let go of the coroutine, which orders nothing.
class resumes_on_a_thread {
 public:
  resumes_on_a_thread(std::vector<std::jthread>& threads, relaxed_count& done) noexcept
      : threads_(threads), done_(done) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> owner) const {
    auto& done = done_;
    const auto expected = static_cast<int>(threads_.size()) + 1;
    threads_.emplace_back([&done, owner] {
      owner.resume();
      done.raise();
    });
    done.await(expected);
  }
  void await_resume() const noexcept {}

 private:
  std::vector<std::jthread>& threads_;
  relaxed_count& done_;
};

task<> writes_on_a_thread(int& into, std::vector<std::jthread>& threads, relaxed_count& done) {
  co_await resumes_on_a_thread(threads, done);
  into = 1;
}

TEST(publication, G10_what_a_child_did_that_ended_before_its_parent_suspends_is_ordered_before_that_continues) {
  const auto awaits = [](std::vector<std::jthread>& threads, relaxed_count& done) -> task<int> {
    int data = 0;
    co_await writes_on_a_thread(data, threads, done);
    co_return data;
  };
  relaxed_count done;
  std::vector<std::jthread> threads;
  for (int round = 0; round < rounds; ++round) EXPECT_EQ(sync_wait(awaits(threads, done)), 1);
}

TEST(publication, G10_what_children_of_when_all_did_that_ended_before_it_suspends_is_ordered_before_that_continues) {
  const auto awaits = [](std::vector<std::jthread>& threads, relaxed_count& done) -> task<int> {
    int data[2] = {};
    co_await when_all(writes_on_a_thread(data[0], threads, done), writes_on_a_thread(data[1], threads, done));
    co_return data[0] + data[1];
  };
  relaxed_count done;
  std::vector<std::jthread> threads;
  for (int round = 0; round < rounds; ++round) EXPECT_EQ(sync_wait(awaits(threads, done)), 2);
}

TEST(publication, G10_what_the_tasks_of_a_pool_did_is_ordered_before_join_and_before_the_next_in_the_slot) {
  thread_pool threads(2);
  int in_the_only_slot = 0;
  pool one_by_one(threads, 1);
  const auto counts = [](int& into) -> task<> {
    ++into;
    co_return;
  };
  for (int i = 0; i < 4 * rounds; ++i) std::ignore = one_by_one.submit(counts(in_the_only_slot)).wait();
  one_by_one.join().wait();
  EXPECT_EQ(in_the_only_slot, 4 * rounds);
}

TEST(publication, G10_what_threw_in_for_each_is_ordered_before_its_caller_resumes) {
  thread_pool threads(2);
  for (int round = 0; round < rounds; ++round) {
    const auto fails = [](int item) -> task<> {
      throw std::runtime_error("item " + std::to_string(item));
      co_return;
    };
    try {
      sync_wait(for_each(threads, std::vector{1, 2, 3, 4}, 2, fails));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& thrown) {
      EXPECT_EQ(std::string(thrown.what()).substr(0, 5), "item ");
    }
  }
}

}  // namespace
}  // namespace weir::publication
