#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weir/future.hpp>
#include <weir/task.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

TEST(future, gets_the_value_that_was_set) {
  promise<std::string> made;
  auto gets = made.get_future();
  EXPECT_FALSE(gets.ready());
  made.set_value("there");
  EXPECT_TRUE(gets.ready());
  EXPECT_EQ(gets.get().wait(), "there");
}

TEST(future, waits_for_the_value) {
  promise<std::unique_ptr<int>> made;
  auto gets = made.get_future();
  int seen = 0;
  auto waits = gets.get().start([&](result<std::unique_ptr<int>> value) { seen = **value; });
  made.set_value(std::make_unique<int>(7));
  EXPECT_EQ(seen, 7);
}

TEST(future, a_void_promise_has_nothing_but_the_moment) {
  promise<> made;
  auto gets = made.get_future();
  made.set_value();
  gets.get().wait();
}

TEST(future, rethrows_the_exception_or_holds_it_in_a_result) {
  promise<int> made;
  auto gets = made.get_future();
  made.set_exception(std::make_exception_ptr(std::runtime_error("broken")));
  auto outcome = gets.get().as_result().wait();
  EXPECT_EQ(outcome.error(), errc::failed);
  EXPECT_TRUE(outcome.exception());
  EXPECT_THROW((void)std::move(outcome).value(), std::runtime_error);

  promise<int> again;
  auto throws = again.get_future();
  again.set_exception(std::make_exception_ptr(std::runtime_error("broken")));
  EXPECT_THROW((void)throws.get().wait(), std::runtime_error);
}

TEST(future, G11_a_dropped_promise_gives_closed) {
  std::optional<promise<int>> made(std::in_place);
  auto gets = made->get_future();
  std::error_code seen;
  auto waits = gets.get().start([&](result<int> outcome) { seen = outcome.error(); });
  made.reset();
  EXPECT_EQ(seen, errc::closed);
  EXPECT_TRUE(gets.ready());
  EXPECT_EQ(gets.get().as_result().wait().error(), errc::closed);
}

TEST(future, G2_a_get_that_timed_out_has_taken_nothing_and_can_be_called_again) {
  promise<int> made;
  auto gets = made.get_future();
  EXPECT_EQ(gets.get().within(0s).wait().error(), errc::timed_out);
  made.set_value(3);
  EXPECT_EQ(gets.get().wait(), 3);
}

TEST(future, G12_mistakes_are_told) {
  promise<int> made;
  auto gets = made.get_future();
  EXPECT_THROW((void)made.get_future(), std::logic_error);
  made.set_value(1);
  EXPECT_THROW(made.set_value(2), std::logic_error);
  EXPECT_THROW(made.set_exception(nullptr), std::logic_error);
  EXPECT_EQ(gets.get().wait(), 1);
  EXPECT_THROW((void)gets.get().wait(), std::logic_error) << "the value can be had once";
  EXPECT_EQ(gets.get().as_result().wait().error(), errc::failed);
  future<int> empty;
  EXPECT_THROW((void)empty.get(), std::logic_error);
  EXPECT_FALSE(empty.ready());
}

TEST(future, G12_no_exception_is_refused_and_changes_nothing) {
  promise<> done;
  promise<int> made;
  auto ends = done.get_future();
  auto gets = made.get_future();
  EXPECT_THROW(done.set_exception(nullptr), std::invalid_argument);
  EXPECT_THROW(made.set_exception(nullptr), std::invalid_argument);
  EXPECT_FALSE(ends.ready() || gets.ready());
  done.set_value();
  made.set_value(1);
  EXPECT_TRUE(ends.get().as_result().wait().has_value());
  EXPECT_EQ(gets.get().wait(), 1);
}

TEST(future, may_be_dropped_while_its_get_waits) {
  promise<int> made;
  int seen = 0;
  auto waits = made.get_future().get().start([&](result<int> value) { seen = *value; });
  made.set_value(5);
  EXPECT_EQ(seen, 5);
}

/// Its move throws when it is told to.
struct heavy {
  explicit heavy(bool* throws) : throws_(throws) {}
  heavy(heavy&& from) : throws_(from.throws_) {
    if (*throws_) throw std::runtime_error("too heavy to move");
  }
  bool* throws_;
};

TEST(promise, a_value_whose_move_throws_leaves_it_unset) {
  bool throws = true;
  std::optional<promise<heavy>> made(std::in_place);
  auto gets = made->get_future();
  EXPECT_THROW(made->set_value(heavy(&throws)), std::runtime_error);
  EXPECT_FALSE(gets.ready());
  made.reset();
  EXPECT_EQ(gets.get().as_result().wait().error(), errc::closed);
}

task<heavy> returns_heavy(bool& throws) { co_return heavy(&throws); }

TEST(promise, a_value_that_is_made_but_cannot_be_moved_in_leaves_it_unset) {
  struct moves_badly {
    explicit moves_badly(bool& fail) : fails(&fail) {}
    moves_badly(const moves_badly& from) noexcept(false) : fails(from.fails) {}
    moves_badly(moves_badly&& from) : fails(from.fails) {  // NOLINT: may throw
      if (*fails) throw std::runtime_error("cannot be moved");
    }
    bool* fails;
  };
  bool fails = true;
  promise<moves_badly> into;
  auto made = into.get_future();
  const moves_badly value(fails);
  EXPECT_THROW(into.set_value(value), std::runtime_error);
  EXPECT_TRUE(into.pending());
  EXPECT_FALSE(made.ready());
  fails = false;
  into.set_value(value);
  EXPECT_TRUE(made.ready());
  EXPECT_EQ(made.get().wait().fails, &fails);
}

TEST(promise, a_task_whose_result_cannot_be_moved_gives_that_exception) {
  bool throws = false;
  run_loop loop;
  auto gets = spawn(loop, returns_heavy(throws));
  auto finish = [](run_loop& where, bool& from_now_on) -> task<> {
    from_now_on = true;
    where.finish();
    co_return;
  };
  (void)spawn(loop, finish(loop, throws));
  loop.run();
  EXPECT_THROW((void)gets.get().wait(), std::runtime_error);
}

TEST(promise, may_be_dropped_by_who_it_tells) {
  auto made = std::make_unique<promise<int>>();
  auto gets = made->get_future();
  auto waits = gets.get().start([&](result<int>) { made.reset(); });
  made->set_value(1);
  EXPECT_FALSE(made);
}

}  // namespace
}  // namespace weir
