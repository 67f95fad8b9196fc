// The races of event.

#include <weir/event.hpp>

#include <model/cases.hpp>

namespace weir::model {
namespace {

struct event_subject {
  static constexpr bool consumes = false;
  static constexpr bool gives_back = false;

  auto wait() { return object.wait(); }
  int grant() { return object.set(), 1; }
  void put_back() {}
  int left() const { return 0; }

  event object;
};

INSTANTIATE_TYPED_TEST_SUITE_P(event, race, event_subject);
INSTANTIATE_TYPED_TEST_SUITE_P(event, death, event_subject);

TEST(model_event, notify_one_against_a_stop_of_the_first_of_two) {
  explore([] {
    platform::stop_source stop;
    event ev;
    waited head;
    waited behind;
    std::size_t woken = 0;
    auto first = ev.wait().stop_on(stop.get_token()).start(head.callback());
    auto second = ev.wait().start(behind.callback());
    together([&] { woken = ev.notify_one(); }, [&] { stop.request_stop(); });
    EXPECT_EQ(woken, 1u);
    EXPECT_EQ(head.times, 1);
    EXPECT_NE(head.got, behind.got);
    EXPECT_EQ(ev.cancel_all(), behind.got ? 0u : 1u);
  });
}

TEST(model_event, set_and_reset_against_a_time_out) {
  explore([] {
    time clock;
    event ev;
    waited came;
    auto ticket = ev.wait().within(1s).start(came.callback());
    together(
        [&] {
          ev.set();
          ev.reset();
        },
        [&] { clock.pass(); });
    EXPECT_TRUE(got_or(came, errc::timed_out));
    EXPECT_EQ(ev.waiting(), 0u);
    EXPECT_FALSE(ev.is_set());
  });
}

}  // namespace
}  // namespace weir::model
