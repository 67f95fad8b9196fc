// The races of wait_group.

#include <weir/wait_group.hpp>

#include <model/cases.hpp>

namespace weir::model {
namespace {

struct wait_group_subject {
  static constexpr bool consumes = false;
  static constexpr bool gives_back = false;

  wait_group_subject() { object.add(); }
  auto wait() { return object.wait(); }
  int grant() { return object.done(), 1; }
  void put_back() {}
  int left() const { return 0; }

  wait_group object;
};

INSTANTIATE_TYPED_TEST_SUITE_P(wait_group, race, wait_group_subject);
INSTANTIATE_TYPED_TEST_SUITE_P(wait_group, death, wait_group_subject);

TEST(model_wait_group, two_are_done_while_one_waits) {
  explore([] {
    wait_group group;
    waited came;
    group.add(2);
    together([&] { came.note(group.wait().as_result().wait()); }, [&] { group.done(); }, [&] { group.done(); });
    EXPECT_TRUE(came.got);
    EXPECT_EQ(group.waiting(), 0u);
  });
}

}  // namespace
}  // namespace weir::model
