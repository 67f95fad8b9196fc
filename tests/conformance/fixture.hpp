#pragma once

// What every behaviour of the suite stands on: a synchronizer (cases.hpp), a way of waiting (ways.hpp) and a clock that
// the test moves. A file for each synchronizer defines WEIR_CASE and WEIR_SUITE, the name of its suite, and includes
// the behaviours that it has: one_by_one.hpp or together.hpp (each with common.hpp), and cancel_all.hpp.

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <conformance/cases.hpp>
#include <conformance/ways.hpp>

namespace weir::test {

using namespace std::chrono_literals;

/// Whether the synchronizer lets its waiters through one by one, or all at once.
template <class Case>
inline constexpr bool one_by_one = requires(Case& sync) { sync.let_one(); };

template <class Case, class Way>
class conformance : public testing::Test {
 protected:
  /// Also in a test that has failed nobody waits longer than his way is there.
  void TearDown() override { sync.destroy(); }

  auto& object() { return sync.object(); }

  /// Starts to wait for what `make` makes. What it won is kept where the case has a place for it; then, still in the
  /// completion, `and_then` is called.
  template <class Make, class AndThen>
  void start(int id, Make make, AndThen and_then) {
    way.start(object(), id, make, [this, and_then](auto& outcome) {
      if constexpr (requires { sync.keep(std::move(*outcome)); }) {
        if (outcome) sync.keep(std::move(*outcome));
      }
      and_then();
    });
  }
  template <class Make>
  void start(int id, Make make) {
    start(id, make, [] {});
  }
  template <class AndThen>
  void start_and_then(int id, AndThen and_then) {
    start(id, [this] { return sync.wait().as_result(); }, and_then);
  }
  void start_plain(int id) {
    start_and_then(id, [] {});
  }
  void start_within(int id, core::duration longest) {
    start(id, [this, longest] { return sync.wait().within(longest); });
  }
  void start_stoppable(int id, std::stop_token token) {
    start(id, [this, token] { return sync.wait().stop_on(token); });
  }

  /// 0, 1 and 2 wait, one of them gives up.
  void start_three_and_stop(int which) {
    std::stop_source stop;
    for (int id = 0; id < 3; ++id) start_stoppable(id, id == which ? stop.get_token() : std::stop_token());
    stop.request_stop();
    way.expect(1);
    EXPECT_EQ(way.error_of(which), errc::cancelled);
    expect_waiting(2);
  }

  /// All that wait now, as the synchronizer does it.
  void let_all_through() {
    const std::size_t ended = way.ended();
    const std::size_t all = ended + object().waiting();
    if constexpr (one_by_one<Case>) {
      for (std::size_t next = ended + 1; next <= all; ++next) {
        sync.let_one();
        way.expect(next);
      }
    } else {
      sync.make_ready();
      way.expect(all);
    }
    expect_waiting(0);
  }

  void expect_waiting(std::size_t queued) {
    EXPECT_EQ(object().waiting(), queued);
    EXPECT_TRUE(object().check_invariants());
  }
  void expect_let_through(int id) {
    const auto error = way.error_of(id);
    EXPECT_TRUE(Case::is_success(error)) << "wait " << id << ": " << error.message();
  }
  void expect_error(int id, std::error_code error) { EXPECT_EQ(way.error_of(id), error) << "wait " << id; }
  void expect_closed(int id) { expect_error(id, Case::closed_error()); }
  void expect_order(const std::vector<int>& ids) {
    if (Way::in_order || one_by_one<Case>) {
      EXPECT_EQ(way.order(), ids);
    }
  }

  manual_timers clock;
  use_timers by_hand{clock};
  Case sync;
  Way way;  // destroyed first: its threads end before what they wait for
};

template <class Way>
class WEIR_SUITE : public conformance<WEIR_CASE, Way> {};

using ways = testing::Types<coroutine_way, task_way, callback_way, posted_callback_way, thread_way>;

#define WEIR_TYPED_TEST(suite, name) TYPED_TEST(suite, name)
#define WEIR_BEHAVIOUR(name) WEIR_TYPED_TEST(WEIR_SUITE, name)
#define WEIR_OVER_WAYS(suite) TYPED_TEST_SUITE(suite, ways)
WEIR_OVER_WAYS(WEIR_SUITE);

}  // namespace weir::test
