#pragma once

// G10: what happened before a release is visible after the wait that it satisfied. The data of these tests is not
// atomic, and the flags with which one thread lets the other one start are relaxed: only the synchronizer orders the
// two sides. ThreadSanitizer reports an order that is missing.

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace weir::publication {

inline constexpr int rounds = 40;

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

inline constexpr auto waiting = [](const auto& subject) { return subject.waiting(); };

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

}  // namespace weir::publication
