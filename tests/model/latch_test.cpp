// The races of latch.

#include <weir/latch.hpp>

#include <model/cases.hpp>

namespace weir::model {
namespace {

struct latch_subject {
  static constexpr bool consumes = false;
  static constexpr bool gives_back = false;

  auto wait() { return object.wait(); }
  int grant() { return object.count_down(), 1; }
  void put_back() {}
  int left() const { return 0; }

  latch object{1};
};

INSTANTIATE_TYPED_TEST_SUITE_P(latch, race, latch_subject);
INSTANTIATE_TYPED_TEST_SUITE_P(latch, death, latch_subject);

TEST(model_latch, the_last_two_arrive_and_wait_while_a_third_waits) {
  explore([] {
    latch gate(2);
    waited first;
    waited second;
    waited third;
    together([&] { first.note(gate.arrive_and_wait().as_result().wait()); },
             [&] { second.note(gate.arrive_and_wait().as_result().wait()); },
             [&] { third.note(gate.wait().as_result().wait()); });
    EXPECT_TRUE(first.got && second.got && third.got);
    EXPECT_EQ(gate.waiting(), 0u);
  });
}

TEST(model_latch, one_that_arrived_and_waited_destroys_it) {
  explore([] {
    std::optional<latch> gate(std::in_place, 2);
    waited came;
    together(
        [&] {
          came.note(gate->arrive_and_wait().as_result().wait());
          gate.reset();
        },
        [&] { gate->count_down(); });
    EXPECT_TRUE(came.got);
  });
}

}  // namespace
}  // namespace weir::model
