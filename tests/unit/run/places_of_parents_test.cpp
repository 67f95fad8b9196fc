// Where a parent resumes after its children (api.md §7), wherever they end.

#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <unit/run/stage.hpp>

namespace weir {
namespace {

using test::does_nothing;
using test::moves_to;
using test::moves_to_a_thread;
using test::stage;
using test::stays;

task<> leaves(stage& places) { co_await moves_to(places.other); }

task<> leaves_by_resume_on(stage& places) {
  event set(true);
  co_await set.wait().resume_on(places.other);
}

task<> awaits_a_child_that_leaves(stage& places, task<> child) {
  co_await std::move(child);
  places.note();
  event set(true);
  co_await set.wait();
  places.note();
}

TEST(places, a_child_that_ended_elsewhere_leaves_its_parent_there_until_the_next_wait) {
  stage places;
  std::ignore = spawn(places.home, awaits_a_child_that_leaves(places, leaves(places)));
  places.run();
  EXPECT_EQ(places.seen, "other home ");
  std::ignore = spawn(places.home, awaits_a_child_that_leaves(places, leaves_by_resume_on(places)));
  places.run();
  EXPECT_EQ(places.seen, "other home other home ");
}

task<> waits_behind_a_child_that_does_nothing(stage& places) {
  co_await moves_to(places.other);
  co_await does_nothing();
  places.note();
  event set(true);
  co_await set.wait();
  places.note();
}

TEST(places, a_child_that_never_waits_does_not_make_its_parent_forget_that_it_is_away) {
  stage places;
  std::ignore = spawn(places.home, waits_behind_a_child_that_does_nothing(places));
  places.run();
  EXPECT_EQ(places.seen, "other home ");
}

task<> ends_on_a_thread() { co_await moves_to_a_thread(); }

/// Its parent has not yet suspended when the child ends, and so stays where it is.
task<> awaits_one_that_ends_on_a_thread(stage& places, bool leaves_first) {
  if (leaves_first) co_await moves_to(places.other);
  const auto here = std::this_thread::get_id();
  co_await ends_on_a_thread();
  EXPECT_EQ(std::this_thread::get_id(), here);
  places.note();
  event set(true);
  co_await set.wait();
  places.note();
}

TEST(places, a_parent_that_stays_while_its_child_ends_elsewhere_knows_where_it_is) {
  for (const bool leaves_first : {false, true}) {
    stage places;
    const auto made = spawn(places.home, awaits_one_that_ends_on_a_thread(places, leaves_first));
    const auto ran = places.run();
    EXPECT_TRUE(made.ready());
    EXPECT_EQ(places.seen, leaves_first ? "other home " : "home home ");
    EXPECT_EQ(ran, leaves_first ? 3U : 1U) << "one that is at home is not suspended by a wait that is ready";
  }
}

task<> awaits_all(stage& places, event& opened, bool leaver_is_last) {
  if (leaver_is_last) {
    co_await when_all(stays(places, opened), leaves(places));
  } else {
    co_await when_all(leaves(places), stays(places, opened));
  }
  places.note();
  event set(true);
  co_await set.wait();
  places.note();
}

TEST(places, when_all_leaves_its_parent_where_the_last_child_ended_and_the_next_wait_brings_it_home) {
  stage places;
  event opened(true);
  const auto made = spawn(places.home, awaits_all(places, opened, true));
  places.run();
  EXPECT_TRUE(made.ready());
  EXPECT_EQ(places.seen, "home other home ");
}

TEST(places, a_child_of_when_all_that_left_does_not_take_a_parent_along_that_another_one_resumes_at_home) {
  stage places;
  event opened;
  const auto made = spawn(places.home, awaits_all(places, opened, false));
  places.run();
  EXPECT_EQ(places.seen, "");
  opened.set();
  EXPECT_EQ(places.run(), 1U);
  EXPECT_TRUE(made.ready());
  EXPECT_EQ(places.seen, "home home home ");
}

task<> awaits_all_of_some(stage& places, std::vector<task<>> some) {
  co_await moves_to(places.other);
  co_await when_all(std::move(some));
  places.note();
  event set(true);
  co_await set.wait();
  places.note();
}

TEST(places, when_all_of_children_that_never_wait_leaves_a_parent_that_is_away_where_it_is) {
  stage places;
  std::vector<task<>> some;
  for (int i = 0; i < 2; ++i) some.push_back(does_nothing());
  std::ignore = spawn(places.home, awaits_all_of_some(places, std::move(some)));
  places.run();
  EXPECT_EQ(places.seen, "other home ");
}

TEST(places, children_of_a_parent_that_is_away_come_home_with_their_first_wait) {
  stage places;
  event opened(true);
  std::vector<task<>> some;
  for (int i = 0; i < 2; ++i) some.push_back(stays(places, opened));
  std::ignore = spawn(places.home, awaits_all_of_some(places, std::move(some)));
  places.run();
  EXPECT_EQ(places.seen, "home home home home ");
}

TEST(places, children_of_when_all_that_end_on_a_thread_before_their_parent_suspends_leave_it_where_it_is) {
  for (const bool leaves_first : {false, true}) {
    stage places;
    const auto awaits = [](stage& where, bool first_leaves) -> task<> {
      if (first_leaves) co_await moves_to(where.other);
      co_await when_all(ends_on_a_thread(), ends_on_a_thread());
      where.note();
      event set(true);
      co_await set.wait();
      where.note();
    };
    const auto made = spawn(places.home, awaits(places, leaves_first));
    places.run();
    EXPECT_TRUE(made.ready());
    EXPECT_EQ(places.seen, leaves_first ? "other home " : "home home ");
  }
}

}  // namespace
}  // namespace weir
