#pragma once

// The behaviours of what lets its waiters through one by one, with those that are common to all.

#include <cstddef>

#include <conformance/common.hpp>

namespace weir::test {

WEIR_BEHAVIOUR(G3_waiters_are_let_through_in_the_order_in_which_they_came) {
  for (int id = 0; id < 5; ++id) this->start_plain(id);
  this->expect_waiting(5);
  for (std::size_t ended = 1; ended <= 5; ++ended) {
    this->sync.let_one();
    this->way.expect(ended);
    this->expect_waiting(5 - ended);
  }
  this->expect_order({0, 1, 2, 3, 4});
}

WEIR_BEHAVIOUR(G3_a_newcomer_that_asks_now_does_not_overtake_a_waiter) {
  this->start_plain(1);
  EXPECT_FALSE(this->sync.now_or_never());
  this->sync.let_one();
  this->way.expect(1);
  EXPECT_FALSE(this->sync.now_or_never()) << "what was handed to the waiter was had by a second one";
}

WEIR_BEHAVIOUR(G6_a_completion_may_let_the_next_through) {
  for (int id = 0; id < 4; ++id) this->start_and_then(id, [this] { this->sync.let_one(); });
  this->start_plain(4);
  this->sync.let_one();
  this->way.expect(5);
  this->expect_waiting(0);
  for (int id = 0; id < 5; ++id) this->expect_let_through(id);
  if (TypeParam::in_order) this->expect_order({0, 1, 2, 3, 4});
}

WEIR_BEHAVIOUR(G6_a_completion_may_close_the_object_on_those_behind_it) {
  this->start_and_then(1, [this] { this->object().close(); });
  this->start_plain(2);
  this->start_plain(3);
  this->sync.let_one();
  this->way.expect(3);
  this->expect_let_through(1);
  this->expect_closed(2);
  this->expect_closed(3);
}

}  // namespace weir::test
