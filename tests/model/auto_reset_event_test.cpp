// The races of auto_reset_event.

#include <weir/auto_reset_event.hpp>

#include <model/cases.hpp>

namespace weir::model {
namespace {

struct auto_reset_subject {
  static constexpr bool consumes = true;
  static constexpr bool gives_back = true;

  auto wait() { return object.wait(); }
  int grant() { return object.set(), 1; }
  void put_back() { object.set(); }
  int left() const { return object.is_set() ? 1 : 0; }

  auto_reset_event object;
};

INSTANTIATE_TYPED_TEST_SUITE_P(auto_reset_event, race, auto_reset_subject);
INSTANTIATE_TYPED_TEST_SUITE_P(auto_reset_event, death, auto_reset_subject);

TEST(model_auto_reset_event, two_sets_against_two_waits_of_which_one_gives_up) {
  explore([] {
    time clock;
    auto_reset_event ev;
    waited first;
    waited second;
    auto one = ev.wait().within(1s).start(first.callback());
    auto two = ev.wait().start(second.callback());
    together([&] { ev.set(); }, [&] { ev.set(); }, [&] { clock.pass(); });
    EXPECT_TRUE(got_or(first, errc::timed_out));
    EXPECT_TRUE(second.got);
    EXPECT_FALSE(ev.is_set() && first.got);
  });
}

}  // namespace
}  // namespace weir::model
