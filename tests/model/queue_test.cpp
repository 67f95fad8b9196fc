// The races of queue.

#include <weir/queue.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include <model/cases.hpp>

namespace weir::model {
namespace {

struct pop_subject {
  static constexpr bool consumes = true;
  static constexpr bool gives_back = true;

  auto wait() { return object.pop(); }
  int grant() { return object.try_push(1) ? 1 : 0; }
  void put_back() { object.try_push(1); }
  int left() const { return static_cast<int>(object.size()); }

  queue<int> object;
};

struct push_subject {
  static constexpr bool consumes = true;
  static constexpr bool gives_back = false;

  push_subject() { object.try_push(0); }

  auto wait() { return object.push(item); }
  int grant() { return object.try_pop() ? 1 : 0; }
  void put_back() { object.try_pop(); }
  int left() const { return 1 - static_cast<int>(object.size()); }

  queue<int> object{1};
  const int item = 1;
};

INSTANTIATE_TYPED_TEST_SUITE_P(queue_pop, race, pop_subject);
INSTANTIATE_TYPED_TEST_SUITE_P(queue_pop, sum, pop_subject);
INSTANTIATE_TYPED_TEST_SUITE_P(queue_pop, death, pop_subject);
INSTANTIATE_TYPED_TEST_SUITE_P(queue_push, race, push_subject);
INSTANTIATE_TYPED_TEST_SUITE_P(queue_push, death, push_subject);

TEST(model_queue, two_push_and_one_pops_in_order_through_one_place) {
  explore([] {
    queue<int> q(1);
    std::vector<int> popped;
    popped.reserve(4);
    together(
        [&] {
          for (int i : {1, 2}) EXPECT_TRUE(q.push(i).as_result().wait());
        },
        [&] { EXPECT_TRUE(q.push(10).as_result().wait()); },
        [&] {
          for (int i = 0; i < 3; ++i) popped.push_back(**q.pop().as_result().wait());
        });
    EXPECT_EQ(popped.size(), 3u);
    EXPECT_LT(std::find(popped.begin(), popped.end(), 1), std::find(popped.begin(), popped.end(), 2));
    EXPECT_TRUE(q.empty());
    EXPECT_EQ(q.waiting(), 0u);
  });
}

/// "close leaves blocked senders pending", and an item is in one place.
TEST(model_queue, close_against_a_push_and_a_pop) {
  explore([] {
    queue<int> q(1);
    waited pushed;
    waited popped;
    q.try_push(1);
    together([&] { pushed.note(q.push(2).as_result().wait()); }, [&] { popped.note(q.pop().as_result().wait()); },
             [&] { q.close(); });
    EXPECT_TRUE(got_or(pushed, errc::closed));
    EXPECT_TRUE(popped.got);
    EXPECT_EQ(q.size(), pushed.got ? 1u : 0u);
  });
}

TEST(model_queue, stop_against_a_push_and_a_pop) {
  explore([] {
    queue<int> q(1);
    waited pushed;
    waited popped;
    std::size_t dropped = 0;
    q.try_push(1);
    together([&] { pushed.note(q.push(2).as_result().wait()); }, [&] { popped.note(q.pop().as_result().wait()); },
             [&] { dropped = q.stop(); });
    EXPECT_EQ(dropped + (popped.got ? 1u : 0u), pushed.got ? 2u : 1u);
    EXPECT_TRUE(q.empty());
  });
}

/// "The losing branch of a wait-for-any has already taken its message."
TEST(model_queue, select_of_two_queues_takes_one_item) {
  explore([] {
    queue<int> left;
    queue<int> right;
    waited came;
    together([&] { came.note(select(left.pop(), right.pop()).as_result().wait()); }, [&] { left.try_push(1); },
             [&] { right.try_push(2); });
    EXPECT_TRUE(came.got);
    EXPECT_EQ(left.size() + right.size(), 1u);
    EXPECT_EQ(left.waiting() + right.waiting(), 0u);
  });
}

TEST(model_queue, pop_many_against_two_pushes) {
  explore([] {
    queue<int> q(2);
    std::size_t got = 0;
    together([&] { got = q.pop_many(2).as_result().wait()->size(); }, [&] { q.push(1).wait(); },
             [&] { q.push(2).wait(); });
    EXPECT_GE(got, 1u);
    EXPECT_EQ(got + q.size(), 2u);
  });
}

TEST(model_queue, is_destroyed_while_a_pop_many_that_was_granted_takes_more) {
  explore([] {
    executor where;
    std::optional<queue<int>> q(std::in_place);
    std::size_t taken = 0;
    EXPECT_TRUE(q->try_push(1));
    EXPECT_TRUE(q->try_push(2));
    const auto waits = q->pop_many(2).resume_on(where).start([&](const auto& outcome) { taken = outcome->size(); });
    together([&] { where.run_all(); }, [&] { q.reset(); });
    EXPECT_TRUE(taken == 1 || taken == 2);
  });
}

}  // namespace
}  // namespace weir::model
