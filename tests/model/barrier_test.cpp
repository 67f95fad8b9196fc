// The races of barrier.

#include <weir/barrier.hpp>

#include <model/cases.hpp>

namespace weir::model {
namespace {

struct barrier_subject {
  static constexpr bool consumes = false;
  static constexpr bool gives_back = false;

  auto wait() { return object.wait(arrived); }
  int grant() { return static_cast<void>(object.arrive()), 1; }
  void put_back() {}
  int left() const { return 0; }

  barrier object{2};
  barrier::token arrived = object.arrive();
};

INSTANTIATE_TYPED_TEST_SUITE_P(barrier, race, barrier_subject);
INSTANTIATE_TYPED_TEST_SUITE_P(barrier, death, barrier_subject);

TEST(model_barrier, three_meet_and_the_completion_runs_once_before_anybody_goes_on) {
  explore([] {
    int completed = 0;
    waited came[3];
    barrier meeting(3, [&] { ++completed; });
    const auto meet = [&](waited& mine) {
      mine.note(meeting.arrive_and_wait().as_result().wait());
      EXPECT_EQ(completed, 1);
    };
    together([&] { meet(came[0]); }, [&] { meet(came[1]); }, [&] { meet(came[2]); });
    EXPECT_EQ(completed, 1);
    EXPECT_TRUE(came[0].got && came[1].got && came[2].got);
  });
}

TEST(model_barrier, two_meet_twice) {
  explore([] {
    int completed = 0;
    barrier meeting(2, [&] { ++completed; });
    const auto meet = [&] {
      for (int phase = 1; phase <= 2; ++phase) {
        EXPECT_TRUE(meeting.arrive_and_wait().as_result().wait());
        EXPECT_GE(completed, phase);
      }
    };
    together(meet, meet);
    EXPECT_EQ(completed, 2);
  });
}

TEST(model_barrier, one_that_times_out_has_arrived) {
  explore([] {
    time clock;
    barrier meeting(2);
    waited first;
    waited second;
    together([&] { first.note(meeting.arrive_and_wait().within(1s).wait()); },
             [&] { second.note(meeting.arrive_and_wait().as_result().wait()); }, [&] { clock.pass(); });
    EXPECT_TRUE(got_or(first, errc::timed_out));
    EXPECT_TRUE(second.got);
  });
}

/// With no completion function there is no moment between the last arrival and the next phase.
TEST(model_barrier, an_arrival_is_never_one_too_many_between_two_phases) {
  explore([] {
    barrier meets(2);
    together(
        [&] {
          meets.arrive();
          meets.arrive();
        },
        [&] { meets.arrive(); });
    EXPECT_TRUE(meets.check_invariants());
  });
}

}  // namespace
}  // namespace weir::model
