// The races of promise and future.

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
