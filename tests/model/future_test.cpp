// The races of promise and future.

#include <stdexcept>

#include <weir/future.hpp>

#include <model/scenario.hpp>

namespace weir::model {
namespace {

TEST(model_future, a_value_against_a_time_out) {
  explore([] {
    time clock;
    promise<int> makes;
    auto waits = makes.get_future();
    waited came;
    together([&] { came.note(waits.get().within(1s).wait()); }, [&] { makes.set_value(1); }, [&] { clock.pass(); });
    EXPECT_TRUE(got_or(came, errc::timed_out));
    if (came.got) return;
    waited again;
    again.note(waits.get().as_result().wait());
    EXPECT_TRUE(again.got) << "a wait that gave up has taken nothing";
  });
}

/// Made of a negative number it throws.
struct picky {
  explicit picky(int number) {
    point();
    if (number < 0) throw std::runtime_error("negative");
  }
};

TEST(model_future, a_value_that_cannot_be_made_keeps_nobody_from_setting_another) {
  explore([] {
    promise<picky> makes;
    auto waits = makes.get_future();
    together(
        [&] {
          try {
            makes.set_value(-1);
          } catch (const std::exception&) {  // negative, or set already
          }
        },
        [&] { makes.set_value(1); });
    EXPECT_TRUE(waits.ready());
  });
}

TEST(model_future, a_value_against_two_that_wait) {
  explore([] {
    promise<int> makes;
    auto waits = makes.get_future();
    waited first;
    waited second;
    auto ticket = waits.get().start(first.callback());
    together([&] { second.note(waits.get().as_result().wait()); }, [&] { makes.set_value(1); });
    EXPECT_EQ(first.times + second.times, 2);
    EXPECT_NE(first.got, second.got) << "it can be had once";
  });
}

TEST(model_future, the_future_is_dropped_while_the_value_comes) {
  explore([] {
    std::optional<promise<int>> makes(std::in_place);
    std::optional<future<int>> waits(makes->get_future());
    waited came;
    auto ticket = waits->get().start(came.callback());
    together(
        [&] {
          makes->set_value(1);
          makes.reset();
        },
        [&] { waits.reset(); }, [&] { ticket.cancel(); });
    EXPECT_TRUE(got_or(came, errc::cancelled));
  });
}

TEST(model_future, the_promise_is_dropped_while_one_times_out) {
  explore([] {
    time clock;
    std::optional<promise<int>> makes(std::in_place);
    auto waits = makes->get_future();
    waited came;
    together([&] { came.note(waits.get().within(1s).wait()); }, [&] { makes.reset(); }, [&] { clock.pass(); });
    EXPECT_FALSE(came.got);
    EXPECT_TRUE(got_or(came, errc::timed_out, errc::closed));
  });
}

}  // namespace
}  // namespace weir::model
