#include <stop_token>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/core/context.hpp>
#include <weir/event.hpp>
#include <weir/run/sync_wait.hpp>
#include <weir/run/task.hpp>
#include <weir/run/this_task.hpp>
#include <weir/spawn.hpp>

#include <support/foreign.hpp>
#include <support/manual_executor.hpp>

namespace {

using weir::owner_id;
using weir::task;
using weir::test::manual_executor;

task<owner_id> who() {
  const auto me = co_await weir::this_task();
  co_return me.owner;
}

task<std::vector<owner_id>> along_the_chain(int levels) {
  std::vector<owner_id> all;
  if (levels > 0) all = co_await along_the_chain(levels - 1);
  all.push_back(co_await who());
  co_await weir::yield();
  const auto me = co_await weir::this_task();
  all.push_back(me.owner);
  co_return all;
}

TEST(this_task, the_owner_is_the_same_along_a_chain_of_awaited_children) {
  manual_executor executor;
  auto all = weir::spawn(executor, along_the_chain(5));
  executor.run_all();
  const auto owners = all.get().wait();
  EXPECT_EQ(owners, std::vector(12, owners.front()));
  EXPECT_TRUE(static_cast<bool>(owners.front()));
}

TEST(this_task, every_spawned_task_is_an_owner_of_its_own) {
  manual_executor executor;
  auto a = weir::spawn(executor, who());
  auto b = weir::spawn(executor, who());
  executor.run_all();
  const owner_id first = a.get().wait();
  const owner_id second = b.get().wait();
  EXPECT_TRUE(static_cast<bool>(first));
  EXPECT_NE(first, second);
  EXPECT_NE(first, owner_id::this_thread());
  EXPECT_NE(second, owner_id::this_thread());
}

task<std::pair<owner_id, owner_id>> spawns_a_child(manual_executor& executor) {
  auto child = weir::spawn(executor, who());
  const owner_id childs = co_await child.get();
  const owner_id own = co_await who();
  co_return std::pair(own, childs);
}

TEST(this_task, a_spawned_child_is_not_part_of_its_spawners_chain) {
  manual_executor executor;
  auto parent = weir::spawn(executor, spawns_a_child(executor));
  executor.run_all();
  const auto [own, childs] = parent.get().wait();
  EXPECT_NE(own, childs);
}

TEST(this_task, under_sync_wait_the_owner_is_the_thread) { EXPECT_EQ(weir::sync_wait(who()), owner_id::this_thread()); }

task<std::stop_token> token() {
  const auto me = co_await weir::this_task();
  co_return me.stop;
}

task<std::stop_token> token_of_a_child() {
  co_await weir::yield();
  auto childs = co_await token();
  co_return childs;
}

TEST(this_task, finds_the_stop_token_that_was_given_to_spawn_also_in_its_children) {
  manual_executor executor;
  std::stop_source stop;
  auto own = weir::spawn(executor, token(), stop.get_token());
  auto childs = weir::spawn(executor, token_of_a_child(), stop.get_token());
  executor.run_all();
  EXPECT_EQ(own.get().wait(), stop.get_token());
  EXPECT_EQ(childs.get().wait(), stop.get_token());
}

TEST(this_task, without_a_stop_token_finds_one_that_never_stops) {
  manual_executor executor;
  auto none = weir::spawn(executor, token());
  executor.run_all();
  EXPECT_FALSE(none.get().wait().stop_possible());
  EXPECT_FALSE(weir::sync_wait(token()).stop_possible());
}

task<bool> asks_again_after(weir::event& gate) {
  const auto before = co_await weir::this_task();
  const bool stopped_before = before.stop.stop_requested();
  co_await gate.wait();
  const auto after = co_await weir::this_task();
  co_return !stopped_before && after.stop.stop_requested() && before.owner == after.owner;
}

TEST(this_task, sees_a_stop_that_was_requested_meanwhile_and_is_not_stopped_by_it) {
  manual_executor executor;
  weir::event gate;
  std::stop_source stop;
  auto asked = weir::spawn(executor, asks_again_after(gate), stop.get_token());
  executor.run_all();
  stop.request_stop();
  EXPECT_EQ(gate.waiting(), 1U);
  gate.set();
  executor.run_all();
  EXPECT_TRUE(asked.get().wait());
}

weir::test::foreign asks_from_outside(owner_id& owner, std::stop_token& stop) {
  const auto me = co_await weir::this_task();
  owner = me.owner;
  stop = me.stop;
}

TEST(this_task, a_foreign_coroutine_is_nobody_known) {
  owner_id owner = owner_id::make();
  std::stop_source source;
  std::stop_token stop = source.get_token();
  const auto outside = asks_from_outside(owner, stop);
  EXPECT_TRUE(outside.done());
  EXPECT_EQ(owner, owner_id());
  EXPECT_FALSE(stop.stop_possible());
}

}  // namespace
