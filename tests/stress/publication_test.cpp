// G10: what happened before a release is visible after the wait that it satisfied. The data of these tests is not
// atomic, and the flags with which one thread lets the other one start are relaxed: only the synchronizer orders the
// two sides. ThreadSanitizer reports an order that is missing.

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

constexpr int rounds = 40;

/// Says that something has happened, and orders nothing: all accesses are relaxed.
class relaxed_count {
 public:
  void raise() noexcept { value_.fetch_add(1, std::memory_order_relaxed); }
  void await(int at_least = 1) const noexcept {
    while (value_.load(std::memory_order_relaxed) < at_least) std::this_thread::yield();
  }

 private:
  std::atomic<int> value_{0};
};

/// Waits for a condition whose evaluation orders nothing, or is what the test is about.
template <class Condition>
void spin_until(Condition holds) {
  while (!holds()) std::this_thread::yield();
}

/// `publish` runs on another thread, before the wait begins.
template <class Subject, class Publish, class Wait>
void published_first(Publish publish, Wait wait) {
  for (int round = 0; round < rounds; ++round) {
    Subject subject{};
    int data = 0;
    relaxed_count published;
    const std::jthread publishes([&] {
      data = round + 1;
      publish(subject);
      published.raise();
    });
    published.await();
    wait(subject);
    EXPECT_EQ(data, round + 1);
  }
}

/// `publish` runs on another thread, once the wait is queued.
template <class Subject, class Publish, class Wait, class Queued>
void published_later(Publish publish, Wait wait, Queued queued) {
  for (int round = 0; round < rounds; ++round) {
    Subject subject{};
    int data = 0;
    const std::jthread publishes([&] {
      spin_until([&] { return queued(subject) != 0; });
      data = round + 1;
      publish(subject);
    });
    wait(subject);
    EXPECT_EQ(data, round + 1);
  }
}

constexpr auto waiting = [](const auto& subject) { return subject.waiting(); };

/// Two threads publish, one after the other, and one wait is satisfied by both.
template <class Subject, class Publish, class Wait>
void published_by_two(Publish publish, Wait wait) {
  for (int round = 0; round < rounds; ++round) {
    Subject subject{};
    int first = 0;
    int second = 0;
    relaxed_count published;
    const std::jthread one([&] {
      first = 1;
      publish(subject);
      published.raise();
    });
    const std::jthread two([&] {
      published.await(1);
      second = 2;
      publish(subject);
      published.raise();
    });
    published.await(2);
    wait(subject);
    EXPECT_EQ(first + second, 3);
  }
}

/// The same, while the wait is queued.
template <class Subject, class Publish, class Wait>
void published_by_two_later(Publish publish, Wait wait) {
  for (int round = 0; round < rounds; ++round) {
    Subject subject{};
    int first = 0;
    int second = 0;
    const auto publishes = [&](int& data, int value) {
      spin_until([&] { return subject.waiting() != 0; });
      data = value;
      publish(subject);
    };
    const std::jthread one([&] { publishes(first, 1); });
    const std::jthread two([&] { publishes(second, 2); });
    wait(subject);
    EXPECT_EQ(first + second, 3);
  }
}

// semaphore

struct empty_semaphore : semaphore {
  empty_semaphore() : semaphore(0) {}
};

TEST(publication, G10_a_release_is_ordered_before_the_acquire_that_it_satisfies) {
  const auto release = [](semaphore& sem) { sem.release(); };
  const auto acquire = [](semaphore& sem) { sem.acquire().wait(); };
  published_first<empty_semaphore>(release, acquire);
  published_later<empty_semaphore>(release, acquire, waiting);
  published_later<empty_semaphore>(
      release, [](semaphore& sem) { EXPECT_TRUE(sem.acquire().within(1h).wait()); }, waiting);
}

TEST(publication, G10_every_release_is_ordered_before_the_acquire_that_needs_them_all) {
  const auto release = [](semaphore& sem) { sem.release(); };
  const auto acquire = [](semaphore& sem) { sem.acquire(2).wait(); };
  published_by_two<empty_semaphore>(release, acquire);
  published_by_two_later<empty_semaphore>(release, acquire);
}

TEST(publication, G10_a_release_is_ordered_before_a_try_acquire_that_succeeds) {
  const auto release = [](semaphore& sem) { sem.release(); };
  published_first<empty_semaphore>(release, [](semaphore& sem) { spin_until([&] { return sem.try_acquire(); }); });
}

TEST(publication, G10_a_release_is_ordered_before_available_returns_what_it_added) {
  const auto release = [](semaphore& sem) { sem.release(); };
  published_first<empty_semaphore>(release, [](semaphore& sem) { spin_until([&] { return sem.available() == 1; }); });
}

TEST(publication, G10_the_end_of_a_permit_is_ordered_before_the_acquire_that_it_satisfies) {
  for (int round = 0; round < rounds; ++round) {
    semaphore sem(1);
    int data = 0;
    const std::jthread holds([&, held = sem.try_scoped_acquire()]() mutable {
      data = 1;
      held.release();
    });
    const auto next = sem.scoped_acquire().wait();
    EXPECT_EQ(data, 1);
  }
}

// mutex, recursive_mutex, guarded, condition

struct locked_mutex : mutex {
  locked_mutex() { std::ignore = try_lock(); }
};

TEST(publication, G10_an_unlock_is_ordered_before_the_next_lock) {
  const auto unlock = [](mutex& m) { m.unlock(); };
  published_first<locked_mutex>(unlock, [](mutex& m) { const auto held = m.scoped_lock().wait(); });
  published_later<locked_mutex>(unlock, [](mutex& m) { const auto held = m.scoped_lock().wait(); }, waiting);
  published_first<locked_mutex>(unlock, [](mutex& m) {
    spin_until([&] { return m.try_lock(); });
    m.unlock();
  });
}

TEST(publication, G10_an_unlock_is_ordered_before_a_reading_that_finds_the_mutex_unlocked) {
  published_first<locked_mutex>([](mutex& m) { m.unlock(); },
                                [](mutex& m) { spin_until([&] { return !m.locked(); }); });
}

TEST(publication, G10_the_last_unlock_of_a_recursive_mutex_is_ordered_before_the_next_lock) {
  for (int round = 0; round < rounds; ++round) {
    recursive_mutex m;
    int data = 0;
    const auto enters = [&] {
      m.lock().wait();
      m.lock().wait();
      ++data;
      m.unlock();
      ++data;
      m.unlock();
    };
    {
      const std::jthread one(enters);
      const std::jthread two(enters);
      const std::jthread tries([&] {
        spin_until([&] { return m.try_lock(); });
        data += 2;
        m.unlock();
      });
    }
    EXPECT_EQ(data, 6);
  }
}

TEST(publication, G10_a_notification_is_ordered_before_the_wait_that_it_ends) {
  for (int round = 0; round < rounds; ++round) {
    mutex m;
    condition changed;
    int data = 0;
    const std::jthread notifies([&] {
      spin_until([&] { return changed.waiting() != 0; });
      data = 1;
      changed.notify_one();
    });
    auto held = m.scoped_lock().wait();
    changed.wait(held).wait();
    EXPECT_EQ(data, 1);
  }
}

TEST(publication, G10_the_predicate_of_a_condition_reads_what_was_written_under_the_mutex) {
  for (int round = 0; round < rounds; ++round) {
    mutex m;
    condition changed;
    int data = 0;
    const std::jthread notifies([&] {
      for (int i = 0; i < 3; ++i) {
        {
          const auto held = m.scoped_lock().wait();
          ++data;
        }
        changed.notify_all();
      }
    });
    auto held = m.scoped_lock().wait();
    changed.wait(held, [&] { return data == 3; }).wait();
    EXPECT_EQ(data, 3);
  }
}

// shared_mutex

TEST(publication, G10_the_unlock_of_a_writer_is_ordered_before_the_reader_that_enters_next) {
  struct held : shared_mutex {
    held() { std::ignore = try_lock(); }
  };
  const auto unlock = [](shared_mutex& m) { m.unlock(); };
  published_first<held>(unlock, [](shared_mutex& m) { const auto in = m.scoped_lock_shared().wait(); });
  published_later<held>(unlock, [](shared_mutex& m) { const auto in = m.scoped_lock_shared().wait(); }, waiting);
  published_first<held>(unlock, [](shared_mutex& m) {
    spin_until([&] { return m.try_lock_shared(); });
    m.unlock_shared();
  });
  published_later<held>(unlock, [](shared_mutex& m) { const auto in = m.scoped_lock().wait(); }, waiting);
}

TEST(publication, G10_a_downgrade_is_ordered_before_the_reader_that_it_lets_in) {
  struct held : shared_mutex {
    held() { std::ignore = try_lock(); }
  };
  const auto downgrade = [](shared_mutex& m) { m.downgrade(); };
  const auto read = [](shared_mutex& m) {
    m.lock_shared().wait();
    m.unlock_shared();
    m.unlock_shared();  // also for the other thread
  };
  published_first<held>(downgrade, read);
  published_later<held>(downgrade, read, waiting);
}

TEST(publication, G10_the_unlock_of_every_reader_is_ordered_before_the_writer_that_enters_next) {
  struct read_by_two : shared_mutex {
    read_by_two() {
      std::ignore = try_lock_shared();
      std::ignore = try_lock_shared();
    }
  };
  const auto unlock = [](shared_mutex& m) { m.unlock_shared(); };
  const auto lock = [](shared_mutex& m) { const auto in = m.scoped_lock().wait(); };
  published_by_two<read_by_two>(unlock, lock);
  published_by_two_later<read_by_two>(unlock, lock);
  published_by_two<read_by_two>(unlock, [](shared_mutex& m) {
    spin_until([&] { return m.try_lock(); });
    m.unlock();
  });
}

TEST(publication, G10_the_unlock_of_every_other_reader_is_ordered_before_an_upgrade) {
  struct read_by_three : shared_mutex {
    read_by_three() {
      for (int i = 0; i < 3; ++i) std::ignore = try_lock_shared();
    }
  };
  const auto unlock = [](shared_mutex& m) { m.unlock_shared(); };
  const auto upgrade = [](shared_mutex& m) {
    m.upgrade().wait();
    m.unlock();
  };
  published_by_two<read_by_three>(unlock, upgrade);
  published_by_two_later<read_by_three>(unlock, upgrade);
}

// event, auto_reset_event, latch, wait_group, barrier

TEST(publication, G10_a_set_is_ordered_before_the_wait_that_it_lets_through) {
  const auto set = [](event& e) { e.set(); };
  const auto wait = [](event& e) { e.wait().wait(); };
  published_first<event>(set, wait);
  published_later<event>(set, wait, waiting);
  published_later<event>([](event& e) { e.notify_all(); }, wait, waiting);
  published_later<event>([](event& e) { e.notify_one(); }, wait, waiting);
}

TEST(publication, G10_a_set_of_an_event_that_is_set_is_ordered_before_the_next_wait_too) {
  published_by_two<event>([](event& e) { e.set(); }, [](event& e) { e.wait().wait(); });
}

TEST(publication, G10_a_set_is_ordered_before_is_set_returns_true) {
  const auto set = [](event& e) { e.set(); };
  published_first<event>(set, [](event& e) { spin_until([&] { return e.is_set(); }); });
  published_by_two<event>(set, [](event& e) { spin_until([&] { return e.is_set(); }); });
}

TEST(publication, G10_a_set_of_an_auto_reset_event_is_ordered_before_the_wait_that_uses_it) {
  const auto set = [](auto_reset_event& e) { e.set(); };
  const auto wait = [](auto_reset_event& e) { e.wait().wait(); };
  published_first<auto_reset_event>(set, wait);
  published_later<auto_reset_event>(set, wait, waiting);
  published_first<auto_reset_event>(set, [](auto_reset_event& e) { spin_until([&] { return e.is_set(); }); });
}

TEST(publication, G10_a_second_set_of_an_auto_reset_event_is_ordered_before_the_one_wait_that_both_let_through) {
  published_by_two<auto_reset_event>([](auto_reset_event& e) { e.set(); },
                                     [](auto_reset_event& e) { e.wait().wait(); });
}

struct latch_of_one : latch {
  latch_of_one() : latch(1) {}
};
struct latch_of_two : latch {
  latch_of_two() : latch(2) {}
};

TEST(publication, G10_every_count_down_of_a_latch_is_ordered_before_the_wait) {
  const auto count_down = [](latch& all) { all.count_down(); };
  const auto wait = [](latch& all) { all.wait().wait(); };
  published_first<latch_of_one>(count_down, wait);
  published_later<latch_of_one>(count_down, wait, waiting);
  published_by_two<latch_of_two>(count_down, wait);
  published_by_two_later<latch_of_two>(count_down, wait);
}

TEST(publication, G10_every_count_down_of_a_latch_is_ordered_before_try_wait_returns_true) {
  published_by_two<latch_of_two>([](latch& all) { all.count_down(); },
                                 [](latch& all) { spin_until([&] { return all.try_wait(); }); });
}

TEST(publication, G10_every_arrival_at_a_latch_is_ordered_before_all_that_arrive_and_wait) {
  for (int round = 0; round < rounds; ++round) {
    latch all(3);
    int data[3] = {};
    std::vector<std::jthread> threads;
    for (int& mine : data) {
      threads.emplace_back([&] {
        mine = 1;
        all.arrive_and_wait().wait();
        EXPECT_EQ(data[0] + data[1] + data[2], 3);
      });
    }
  }
}

struct group_of_one : wait_group {
  group_of_one() { add(); }
};
struct group_of_two : wait_group {
  group_of_two() { add(2); }
};

TEST(publication, G10_every_done_of_a_wait_group_is_ordered_before_the_wait) {
  const auto done = [](wait_group& group) { group.done(); };
  const auto wait = [](wait_group& group) { group.wait().wait(); };
  published_first<group_of_one>(done, wait);
  published_later<group_of_one>(done, wait, waiting);
  published_by_two<group_of_two>(done, wait);
  published_by_two_later<group_of_two>(done, wait);
}

TEST(publication, G10_every_arrival_at_a_barrier_is_ordered_before_its_function_and_that_before_all_waits) {
  constexpr int phases = 20;
  constexpr int threads_in_all = 3;
  int data[threads_in_all] = {};
  int sum = 0;
  barrier meets(threads_in_all, [&] { sum = data[0] + data[1] + data[2]; });
  std::vector<std::jthread> threads;
  for (int& mine : data) {
    threads.emplace_back([&] {
      for (int phase = 1; phase <= phases; ++phase) {
        mine = phase;
        meets.arrive_and_wait().wait();
        EXPECT_EQ(sum, threads_in_all * phase);
        meets.arrive_and_wait().wait();  // nobody writes while another thread still reads
      }
    });
  }
}

TEST(publication, G10_an_arrival_that_does_not_wait_or_leaves_is_ordered_before_those_that_wait) {
  for (int round = 0; round < rounds; ++round) {
    barrier meets(3);
    int first = 0;
    int second = 0;
    const std::jthread arrives([&] {
      first = 1;
      std::ignore = meets.arrive();
    });
    const std::jthread leaves([&] {
      second = 2;
      meets.arrive_and_drop();
    });
    meets.arrive_and_wait().wait();
    EXPECT_EQ(first + second, 3);
  }
}

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

// Other ways of waiting, and other ends of a wait.

TEST(publication, G10_a_release_is_ordered_before_the_callback_and_that_before_done_returns_true) {
  for (int round = 0; round < rounds; ++round) {
    semaphore sem(0);
    int data = 0;
    int seen = 0;
    const auto waits = sem.acquire().start([&](const result<>&) { seen = data; });
    const std::jthread releases([&] {
      data = 1;
      sem.release();
    });
    spin_until([&] { return waits.done(); });
    EXPECT_EQ(data, 1);
  }
}

TEST(publication, G10_a_release_is_ordered_before_the_select_that_it_decides) {
  for (int round = 0; round < rounds; ++round) {
    semaphore first(0);
    semaphore second(0);
    int data = 0;
    const std::jthread releases([&] {
      spin_until([&] { return second.waiting() != 0; });
      data = 1;
      (round % 2 == 0 ? first : second).release();
    });
    const auto won = select(first.acquire(), second.acquire()).wait();
    EXPECT_EQ(won.index(), static_cast<std::size_t>(round % 2));
    EXPECT_EQ(data, 1);
  }
}

TEST(publication, G10_a_release_is_ordered_before_a_task_that_it_resumes) {
  thread_pool threads(1);
  for (int round = 0; round < rounds; ++round) {
    semaphore sem(0);
    int data = 0;
    const auto reads = [](semaphore& wanted, const int& from) -> task<int> {
      co_await wanted.acquire();
      co_return from;
    };
    auto made = spawn(threads, reads(sem, data));
    spin_until([&] { return sem.waiting() != 0; });
    data = 1;
    sem.release();
    EXPECT_EQ(made.get().wait(), 1);
  }
}

/// Posts to a thread, and lets others act before it returns.
class slow_executor {
 public:
  slow_executor(relaxed_count& posted, const relaxed_count& acted) noexcept : posted_(posted), acted_(acted) {}
  void post(work& item) noexcept {
    threads_.post(item);
    posted_.raise();
    acted_.await();
  }

 private:
  relaxed_count& posted_;
  const relaxed_count& acted_;
  thread_pool threads_{1};
};

TEST(publication, G10_a_notification_that_comes_while_the_wait_is_being_started_is_ordered_before_its_end) {
  for (int round = 0; round < rounds; ++round) {
    mutex m;
    condition changed;
    int data = 0;
    relaxed_count posted;
    relaxed_count notified;
    slow_executor slow(posted, notified);
    auto held = m.scoped_lock().wait();
    std::ignore = m.lock().resume_on(slow).start([&](const result<>&) { m.unlock(); });
    const std::jthread notifies([&] {
      posted.await();
      data = 1;
      changed.notify_one();
      notified.raise();
    });
    changed.wait(held).wait();  // hands the mutex over once it is queued, and so meets the executor
    EXPECT_EQ(data, 1);
  }
}

TEST(publication, what_ends_a_wait_without_a_grant_is_ordered_before_its_owner_resumes) {
  const auto fails_with = [](errc expected) {
    return [expected](semaphore& sem) { EXPECT_EQ(sem.acquire().as_result().wait().error(), expected); };
  };
  published_later<empty_semaphore>([](semaphore& sem) { sem.cancel_all(); }, fails_with(errc::cancelled), waiting);
  published_later<empty_semaphore>([](semaphore& sem) { sem.close(); }, fails_with(errc::closed), waiting);
  published_first<empty_semaphore>([](semaphore& sem) { sem.close(); }, fails_with(errc::closed));
  published_first<empty_semaphore>([](semaphore& sem) { sem.close(); },
                                   [](semaphore& sem) { spin_until([&] { return sem.closed(); }); });
}

TEST(publication, a_stop_and_a_clock_that_end_a_wait_are_ordered_before_its_owner_resumes) {
  manual_timers clock;
  const use_timers by_hand(clock);
  for (int round = 0; round < rounds; ++round) {
    semaphore sem(0);
    std::stop_source stop;
    int data = 0;
    const std::jthread ends([&] {
      spin_until([&] { return sem.waiting() != 0; });
      data = 1;
      if (round % 2 == 0) {
        stop.request_stop();
      } else {
        clock.advance(2ms);
      }
    });
    const auto outcome = sem.acquire().within(1ms).stop_on(stop.get_token()).wait();
    EXPECT_EQ(outcome.error(), round % 2 == 0 ? errc::cancelled : errc::timed_out);
    EXPECT_EQ(data, 1);
  }
}

}  // namespace
}  // namespace weir
