#pragma once

// What a behaviour sees: a synchronizer that nobody can have yet (case.hpp) and one way of waiting for it (ways.hpp),
// behind one face. So a behaviour is compiled once, and for each synchronizer and way only the waits are.

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <variant>
#include <vector>

#include <weir/core/timer.hpp>

namespace weir::test {

/// Those that within() is asked with: the clock's, and two that the clock cannot count.
using any_duration = std::variant<core::duration, std::chrono::hours, std::chrono::duration<double>>;

/// A wait that a behaviour has asked for.
struct asked {
  int id = 0;
  std::function<void()> and_then = {};  // called in the completion, before the log is written
  any_duration longest = {};
  core::time_point latest = {};
  std::stop_token token = {};
  bool other_order = false;  // of two limits, the one that is said first
};

/// The limits of a wait: each kind is an operation of another type.
enum class limits { none, within, until, stop_on, within_and_stop_on, within_and_until };

class subject {
 public:
  subject();
  subject(const subject&) = delete;
  subject& operator=(const subject&) = delete;
  virtual ~subject();

  // Waits. Each returns when it is queued or has ended.

  void start_plain(int id, std::function<void()> and_then = {});
  void start_within(int id, core::duration longest, std::function<void()> and_then = {});
  void start_within_hours(int id, std::chrono::hours longest);
  void start_within_seconds(int id, std::chrono::duration<double> longest);
  void start_until(int id, core::time_point latest);
  void start_stoppable(int id, std::stop_token token);
  void start_stoppable_within(int id, std::stop_token token, core::duration longest);
  void start_within_stoppable(int id, core::duration longest, std::stop_token token);
  void start_within_until(int id, core::duration longest, core::time_point latest);
  void start_until_within(int id, core::time_point latest, core::duration longest);

  // The log of who has ended, in which order, with which error.

  /// Lets everything happen that can: n waits have ended in all.
  void expect(std::size_t n);
  [[nodiscard]] std::size_t ended();
  [[nodiscard]] std::vector<int> order();
  /// Of the one that has ended with this id, exactly once.
  [[nodiscard]] std::error_code error_of(int id);

  // The way.

  /// Whether those that are told at once go on in order.
  [[nodiscard]] virtual bool in_order() const = 0;
  /// How many waits are many.
  [[nodiscard]] virtual int many() const = 0;

  // The synchronizer.

  [[nodiscard]] virtual std::size_t waiting() = 0;
  [[nodiscard]] virtual bool closed() = 0;
  virtual void close() = 0;
  [[nodiscard]] virtual bool check_invariants() = 0;
  /// Only where there is one.
  virtual std::size_t cancel_all() = 0;
  /// Whether it lets its waiters through one by one, or all at once.
  [[nodiscard]] virtual bool one_by_one() const = 0;
  /// Lets exactly one through: the first that waits. Only where they go one by one.
  virtual void let_one() = 0;
  /// What is waited for is there: for the first that waits, or for all.
  virtual void make_ready() = 0;
  /// Whether one that asks now would be let through, without waiting; takes it if so.
  [[nodiscard]] virtual bool now_or_never() = 0;
  /// The object is no more: at the latest at the end of the test, once more does nothing.
  virtual void destroy() = 0;
  /// What a wait gets when the object is closed.
  [[nodiscard]] virtual std::error_code closed_error() const = 0;
  /// Whether a wait that ended with this was let through.
  [[nodiscard]] virtual bool is_success(std::error_code error) const = 0;

 protected:
  /// In the completion of the wait.
  void end(const asked& wait, std::error_code error) noexcept;

 private:
  struct ending {
    int id;
    std::error_code error;
  };

  virtual void start(limits said, const asked& wait) = 0;
  virtual void let_happen(std::size_t n) = 0;
  [[nodiscard]] std::vector<ending> all();

  std::deque<asked> asked_;  // where a wait finds what it was asked for, until the test has ended
  std::mutex mutex_;
  std::vector<ending> endings_;
};

}  // namespace weir::test
