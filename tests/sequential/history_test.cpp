// That the search finds the order where there is one, and none where there is none.

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <sequential/history.hpp>
#include <sequential/permits.hpp>

namespace weir::sequential {
namespace {

using semaphores = semaphore_model;  // one permit at the start, three at most

record call_of(int id, int verb, int number, int returned) {
  record made;
  made.asked = {id, verb, number};
  made.returned = returned;
  return made;
}

record wait_of(int id, int number, fate how) {
  record made;
  made.asked = {id, semaphores::acquire, number};
  made.came = {how};
  return made;
}

record cancel_of(int id, bool withdrawn) {
  record made;
  made.cancels = id;
  made.returned = withdrawn ? 1 : 0;
  return made;
}

using events = std::vector<std::pair<moment, std::uint8_t>>;
constexpr auto begins = moment::begins;
constexpr auto stands = moment::stands;
constexpr auto ends = moment::ends;

bool explained(std::vector<record> records, events in_order) {
  return linearization<semaphores>::exists({std::move(records), std::move(in_order)});
}

TEST(linearization, of_what_overlaps_any_order_may_explain_it) {
  const auto taken = call_of(0, semaphores::try_acquire, 2, 1);
  const auto given = call_of(1, semaphores::release, 1, 0);
  EXPECT_TRUE(explained({taken, given}, {{begins, 0}, {begins, 1}, {ends, 1}, {ends, 0}}));
  EXPECT_TRUE(explained({taken, given}, {{begins, 1}, {ends, 1}, {begins, 0}, {ends, 0}}));
}

TEST(linearization, what_ended_before_another_began_is_before_it) {
  const auto taken = call_of(0, semaphores::try_acquire, 2, 1);
  const auto given = call_of(1, semaphores::release, 1, 0);
  EXPECT_FALSE(explained({taken, given}, {{begins, 0}, {ends, 0}, {begins, 1}, {ends, 1}}));
}

TEST(linearization, a_time_out_that_has_taken_a_permit_is_not_explained) {
  const auto failed = wait_of(0, 1, fate::timed_out);
  const auto refused_one = call_of(1, semaphores::try_acquire, 1, 0);
  EXPECT_FALSE(explained({failed, refused_one}, {{begins, 0}, {ends, 0}, {begins, 1}, {ends, 1}}));
}

TEST(linearization, a_time_out_holds_up_those_behind_it_until_it_ends) {
  const auto failed = wait_of(0, 2, fate::timed_out);
  const auto refused_one = call_of(1, semaphores::try_acquire, 1, 0);
  EXPECT_TRUE(explained({failed, refused_one}, {{begins, 0}, {begins, 1}, {ends, 1}, {ends, 0}}));
  EXPECT_FALSE(explained({failed, refused_one}, {{begins, 0}, {ends, 0}, {begins, 1}, {ends, 1}}));
}

TEST(linearization, a_grant_out_of_turn_is_not_explained) {
  const auto first = wait_of(0, 2, fate::cancelled);
  const auto second = wait_of(1, 1, fate::granted);
  const auto cancel = cancel_of(0, true);
  EXPECT_FALSE(explained({first, second, cancel},
                         {{begins, 0}, {stands, 0}, {begins, 1}, {ends, 1}, {begins, 2}, {ends, 2}, {ends, 0}}));
  EXPECT_TRUE(explained({first, second, cancel},
                        {{begins, 0}, {stands, 0}, {begins, 1}, {begins, 2}, {ends, 1}, {ends, 2}, {ends, 0}}));
}

TEST(linearization, a_wake_up_that_never_came_is_not_explained) {
  const auto waits = wait_of(0, 2, fate::cancelled);
  const auto given = call_of(1, semaphores::release, 1, 0);
  const auto cancel = cancel_of(0, true);
  EXPECT_FALSE(explained({waits, given, cancel},
                         {{begins, 0}, {stands, 0}, {begins, 1}, {ends, 1}, {begins, 2}, {ends, 0}, {ends, 2}}));
  EXPECT_TRUE(explained({waits, given, cancel},
                        {{begins, 0}, {stands, 0}, {begins, 1}, {begins, 2}, {ends, 1}, {ends, 0}, {ends, 2}}))
      << "until it is let through it may give up";
}

}  // namespace
}  // namespace weir::sequential
