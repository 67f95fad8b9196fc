// Whatever holds something gives it back exactly once, however it was moved about before.

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/barrier.hpp>
#include <weir/future.hpp>
#include <weir/guarded.hpp>
#include <weir/mutex.hpp>
#include <weir/oneshot.hpp>
#include <weir/recursive_mutex.hpp>
#include <weir/semaphore.hpp>
#include <weir/shared_mutex.hpp>
#include <weir/task.hpp>

namespace weir {
namespace {

constexpr std::size_t many = 6;

// What is held: take() holds one more, held() counts what is held now.

struct permits {
  using holder = permit;
  holder take() { return kept.try_scoped_acquire(); }
  [[nodiscard]] std::size_t held() const { return many - kept.available(); }
  semaphore kept{many, many};
};

/// Several objects, each to be held by one.
template <class Object, class Holder>
struct locks {
  using holder = Holder;
  holder take() { return lock(kept.at(next++)); }
  [[nodiscard]] std::size_t held() const {
    std::size_t count = 0;
    for (const Object& each : kept) count += is_held(each) ? 1 : 0;
    return count;
  }

  static holder lock(auto& free) {
    if constexpr (std::same_as<Holder, shared_mutex::shared_guard>) {
      return free.try_scoped_lock_shared();
    } else if constexpr (requires { free.try_scoped_lock(); }) {
      return free.try_scoped_lock();
    } else {
      return free.try_lock();
    }
  }
  static bool is_held(const Object& object) {
    if constexpr (requires { object.readers(); }) {
      return object.locked() || object.readers() != 0;
    } else {
      return object.locked();
    }
  }

  std::array<Object, many> kept;
  std::size_t next = 0;
};

/// The levels of one lock.
struct levels {
  using holder = recursive_mutex::guard;
  holder take() { return kept.try_scoped_lock(name); }
  /// Found by unlocking all, and locking again.
  [[nodiscard]] std::size_t held() {
    std::size_t depth = 0;
    for (; kept.locked(); ++depth) kept.unlock();
    for (std::size_t i = 0; i < depth; ++i) EXPECT_TRUE(kept.try_lock(name));
    return depth;
  }
  recursive_mutex kept;
  owner_id name = owner_id::make();
};

template <class Case>
class moving : public testing::Test, public Case {};

using holders =
    testing::Types<permits, locks<mutex, mutex::guard>, locks<recursive_mutex, recursive_mutex::guard>,
                   locks<shared_mutex, shared_mutex::guard>, locks<shared_mutex, shared_mutex::shared_guard>,
                   locks<guarded<int>, guarded<int>::reference>, levels>;
TYPED_TEST_SUITE(moving, holders);

TYPED_TEST(moving, constructs_one_that_holds_what_the_other_held) {
  using type = typename TypeParam::holder;
  static_assert(!std::copyable<type> && std::is_nothrow_move_constructible_v<type> &&
                std::is_nothrow_move_assignable_v<type>);
  auto other = this->take();
  {
    auto from = this->take();
    {
      type to(std::move(from));
      EXPECT_TRUE(to);
      EXPECT_FALSE(from);
      EXPECT_EQ(this->held(), 2u);
    }
    EXPECT_EQ(this->held(), 1u);
    type nothing(std::move(from));
    EXPECT_FALSE(nothing);
  }
  EXPECT_EQ(this->held(), 1u) << "given back twice";
  EXPECT_TRUE(other);
}

TYPED_TEST(moving, by_assignment_gives_back_what_was_held_at_once) {
  auto other = this->take();
  auto to = this->take();
  auto from = this->take();
  EXPECT_EQ(this->held(), 3u);
  to = std::move(from);
  EXPECT_EQ(this->held(), 2u);
  EXPECT_TRUE(to);
  EXPECT_FALSE(from);
  to = std::move(from);
  EXPECT_EQ(this->held(), 1u) << "an empty one was assigned";
  EXPECT_FALSE(to);
  to = {};
  EXPECT_EQ(this->held(), 1u);
  from = this->take();
  EXPECT_TRUE(from);
  EXPECT_EQ(this->held(), 2u);
  EXPECT_TRUE(other);
}

TYPED_TEST(moving, to_an_empty_one_holds_on) {
  typename TypeParam::holder to;
  EXPECT_FALSE(to);
  auto from = this->take();
  to = std::move(from);
  EXPECT_TRUE(to);
  EXPECT_FALSE(from);
  EXPECT_EQ(this->held(), 1u);
  to = {};
  EXPECT_EQ(this->held(), 0u);
}

TYPED_TEST(moving, to_itself_changes_nothing) {
  auto other = this->take();
  {
    auto self = this->take();
    auto& same = self;
    self = std::move(same);
    EXPECT_TRUE(self);
    EXPECT_EQ(this->held(), 2u);
    typename TypeParam::holder empty;
    auto& same_empty = empty;
    empty = std::move(same_empty);
    EXPECT_FALSE(empty);
  }
  EXPECT_EQ(this->held(), 1u);
}

TYPED_TEST(moving, in_a_swap_gives_nothing_back) {
  auto a = this->take();
  typename TypeParam::holder empty;
  {
    auto b = this->take();
    std::swap(a, b);
    EXPECT_TRUE(a);
    EXPECT_TRUE(b);
    EXPECT_EQ(this->held(), 2u);
    std::swap(b, empty);
    EXPECT_FALSE(b);
    EXPECT_TRUE(empty);
  }
  EXPECT_EQ(this->held(), 2u);
  a = std::move(empty);
  EXPECT_EQ(this->held(), 1u);
}

TYPED_TEST(moving, within_a_vector_gives_back_what_is_erased) {
  std::vector<typename TypeParam::holder> all;
  for (std::size_t i = 0; i < many; ++i) all.push_back(this->take());  // also moves them when it grows
  EXPECT_EQ(this->held(), many);
  all.erase(all.begin() + 1);
  EXPECT_EQ(this->held(), many - 1);
  all.erase(all.begin(), all.begin() + 2);
  EXPECT_EQ(this->held(), many - 3);
  for (const auto& each : all) EXPECT_TRUE(each);
  all.clear();
  EXPECT_EQ(this->held(), 0u);
}

TEST(moved_permit, keeps_its_count) {
  semaphore sem(5, 5);
  permit three = sem.try_scoped_acquire(3);
  permit two = sem.try_scoped_acquire(2);
  two = std::move(three);
  EXPECT_EQ(two.count(), 3u);
  EXPECT_EQ(three.count(), 0u);
  EXPECT_EQ(sem.available(), 2u);
  permit& same = two;
  two = std::move(same);
  EXPECT_EQ(two.count(), 3u);
  two.merge(std::move(same));
  EXPECT_EQ(two.count(), 3u);
  permit all = two.split(3);
  EXPECT_FALSE(two);
  EXPECT_EQ(all.count(), 3u);
  EXPECT_EQ(sem.available(), 2u);
}

TEST(moved_permit, of_another_semaphore_gives_back_to_its_own) {
  semaphore one(2, 2);
  semaphore other(2, 2);
  permit held = one.try_scoped_acquire(2);
  held = other.try_scoped_acquire(1);
  EXPECT_EQ(one.available(), 2u);
  EXPECT_EQ(other.available(), 1u);
  held.release();
  EXPECT_EQ(other.available(), 2u);
}

TEST(moved_guard, keeps_its_mutex_for_release_and_unlock) {
  mutex a;
  mutex b;
  auto first = a.try_scoped_lock();
  auto second = b.try_scoped_lock();
  first = std::move(second);
  EXPECT_EQ(first.mutex(), &b);
  EXPECT_EQ(second.mutex(), nullptr);
  EXPECT_EQ(second.release(), nullptr);
  EXPECT_THROW(second.unlock(), std::system_error);
  first.unlock();
  EXPECT_FALSE(b.locked());
}

TEST(moved_guard, hands_what_it_gives_up_to_the_next) {
  mutex a;
  bool granted = false;
  auto held = a.try_scoped_lock();
  auto waits = a.lock().start([&](const result<>& outcome) { granted = outcome.has_value(); });
  held = {};
  EXPECT_TRUE(granted);
  a.unlock();
}

TEST(moved_reference, leads_to_the_value_it_came_with) {
  guarded<int> one(1);
  guarded<int> two(2);
  auto ref = one.try_lock();
  ref = two.try_lock();
  EXPECT_EQ(*ref, 2);
  EXPECT_FALSE(one.locked());
  auto& same = ref;
  ref = std::move(same);
  EXPECT_EQ(*ref, 2);
  auto moved = std::move(ref);
  EXPECT_EQ(*moved, 2);
  EXPECT_FALSE(ref);
}

TEST(moved_promise, assigned_over_one_that_is_unset_closes_the_others_future_at_once) {
  promise<int> to;
  promise<int> from;
  auto abandoned = to.get_future();
  auto kept = from.get_future();
  to = std::move(from);
  EXPECT_FALSE(from.pending());
  EXPECT_TRUE(to.pending());
  ASSERT_TRUE(abandoned.ready());
  EXPECT_EQ(abandoned.get().as_result().wait().error(), errc::closed);
  EXPECT_FALSE(kept.ready());
  EXPECT_THROW(from.set_value(1), std::logic_error);
  EXPECT_THROW((void)from.get_future(), std::logic_error);
  EXPECT_THROW((void)to.get_future(), std::logic_error) << "its future has been given out";
  to.set_value(2);
  EXPECT_EQ(kept.get().wait(), 2);
}

TEST(moved_promise, assigned_over_one_that_is_set_leaves_the_others_value) {
  promise<int> to;
  auto first = to.get_future();
  to.set_value(1);
  to = promise<int>();
  EXPECT_EQ(first.get().wait(), 1);
  EXPECT_TRUE(to.pending());
  auto second = to.get_future();  // this one's has not been given out
  to.set_value(2);
  EXPECT_EQ(second.get().wait(), 2);
}

TEST(moved_promise, assigned_to_itself_can_still_be_set) {
  promise<int> self;
  auto made = self.get_future();
  promise<int>& same = self;
  self = std::move(same);
  EXPECT_FALSE(made.ready());
  EXPECT_TRUE(self.pending());
  EXPECT_THROW((void)self.get_future(), std::logic_error);
  self.set_value(3);
  EXPECT_EQ(made.get().wait(), 3);
}

TEST(moved_promise, constructed_from_another_takes_its_future_along) {
  promise<> from;
  auto made = from.get_future();
  {
    promise<> to(std::move(from));
    EXPECT_FALSE(from.pending());
    EXPECT_THROW((void)to.get_future(), std::logic_error);
    EXPECT_FALSE(made.ready());
  }
  EXPECT_EQ(made.get().as_result().wait().error(), errc::closed);
}

TEST(moved_promise, swapped_with_another_sets_the_others_future) {
  promise<int> a;
  promise<int> b;
  auto of_a = a.get_future();
  auto of_b = b.get_future();
  std::swap(a, b);
  a.set_value(1);
  EXPECT_FALSE(of_a.ready());
  EXPECT_EQ(of_b.get().wait(), 1);
  b.set_value(2);
  EXPECT_EQ(of_a.get().wait(), 2);
}

TEST(moved_future, is_empty_and_what_it_was_assigned_to_detaches) {
  promise<int> one;
  promise<int> two;
  auto to = one.get_future();
  auto from = two.get_future();
  to = std::move(from);
  EXPECT_FALSE(from.valid());
  EXPECT_FALSE(from.ready());
  EXPECT_THROW((void)from.get(), std::logic_error);
  one.set_value(1);  // nobody is left to have it
  EXPECT_FALSE(to.ready());
  two.set_value(2);
  auto& same = to;
  to = std::move(same);
  ASSERT_TRUE(to.valid());
  EXPECT_EQ(to.get().wait(), 2);
}

TEST(moved_future, frees_the_value_that_nobody_takes) {
  const auto witness = std::make_shared<int>(0);
  promise<std::shared_ptr<int>> one;
  auto made = one.get_future();
  one.set_value(witness);
  EXPECT_EQ(witness.use_count(), 2);
  made = {};
  EXPECT_EQ(witness.use_count(), 2) << "its promise keeps it";
  one = promise<std::shared_ptr<int>>();
  EXPECT_EQ(witness.use_count(), 1);
}

task<int> keeps(std::shared_ptr<int> kept) { co_return *kept; }

TEST(moved_task, destroys_what_it_is_assigned_over_once) {
  const auto first = std::make_shared<int>(1);
  const auto second = std::make_shared<int>(2);
  auto to = keeps(first);
  auto from = keeps(second);
  to = std::move(from);
  EXPECT_FALSE(from);
  EXPECT_TRUE(to);
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_EQ(second.use_count(), 2);
  auto& same = to;
  to = std::move(same);
  EXPECT_TRUE(to);
  EXPECT_EQ(second.use_count(), 2);
  auto other = keeps(first);
  std::swap(to, other);
  EXPECT_EQ(sync_wait(std::move(to)), 1);
  EXPECT_EQ(sync_wait(std::move(other)), 2);
  EXPECT_FALSE(to);
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_EQ(second.use_count(), 1);
}

TEST(moved_sender, assigned_over_one_that_has_not_sent_closes_the_others_receiver) {
  auto [tx, rx] = make_oneshot<int>();
  auto [other_tx, other_rx] = make_oneshot<int>();
  tx = std::move(other_tx);
  ASSERT_TRUE(rx.ready());
  EXPECT_EQ(rx.receive().as_result().wait().error(), errc::closed);
  EXPECT_FALSE(other_rx.ready());
  EXPECT_THROW(other_tx.send(1), std::logic_error);
  auto& same = tx;
  tx = std::move(same);
  tx.send(2);
  EXPECT_EQ(other_rx.receive().wait(), 2);
}

TEST(moved_receiver, receives_what_was_sent_to_the_one_it_came_from) {
  auto [tx, rx] = make_oneshot<std::unique_ptr<int>>();
  auto [other_tx, other_rx] = make_oneshot<std::unique_ptr<int>>();
  rx = std::move(other_rx);
  EXPECT_THROW((void)other_rx.receive(), std::logic_error);
  EXPECT_FALSE(other_rx.ready());
  tx.send(std::make_unique<int>(1));
  EXPECT_FALSE(rx.ready());
  other_tx.send(std::make_unique<int>(2));
  auto& same = rx;
  rx = std::move(same);
  EXPECT_EQ(*rx.receive().wait(), 2);
}

TEST(moved_token, waits_for_the_phase_of_its_own_arrival) {
  barrier meets(2);
  auto first = meets.arrive();
  std::ignore = meets.arrive();  // ends the phase of the first
  auto second = meets.arrive();
  EXPECT_TRUE(meets.wait(first).within(std::chrono::seconds(0)).wait());
  EXPECT_FALSE(meets.wait(second).within(std::chrono::seconds(0)).wait());
  first = std::move(second);
  EXPECT_FALSE(meets.wait(first).within(std::chrono::seconds(0)).wait()) << "of the phase that has not ended";
  EXPECT_THROW((void)meets.wait(second), std::invalid_argument);
  auto& same = first;
  first = std::move(same);
  EXPECT_FALSE(meets.wait(first).within(std::chrono::seconds(0)).wait());
  auto moved(std::move(first));
  EXPECT_THROW((void)meets.wait(first), std::invalid_argument);
  std::ignore = meets.arrive();
  EXPECT_TRUE(meets.wait(moved).within(std::chrono::seconds(0)).wait());
}

TEST(moved_token, of_another_barrier_is_refused_by_the_first) {
  barrier one(1);
  barrier other(2);
  auto token = one.arrive();
  token = other.arrive();
  EXPECT_THROW((void)one.wait(token), std::invalid_argument);
  EXPECT_FALSE(other.wait(token).within(std::chrono::seconds(0)).wait());
}

}  // namespace
}  // namespace weir
