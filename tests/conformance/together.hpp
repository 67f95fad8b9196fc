#pragma once

// The behaviours of what lets all its waiters through at once, with those that are common to all.

#include <conformance/common.hpp>

namespace weir::test {

WEIR_BEHAVIOUR(G1_whoever_comes_later_is_let_through_too) {
  this->start_plain(0);
  this->let_all_through();
  for (int id = 1; id < 4; ++id) this->start_plain(id);
  this->way.expect(4);
  for (int id = 0; id < 4; ++id) this->expect_let_through(id);
}

WEIR_BEHAVIOUR(G3_all_are_told_at_once_in_the_order_in_which_they_came) {
  for (int id = 0; id < 5; ++id) this->start_plain(id);
  EXPECT_FALSE(this->sync.now_or_never());
  this->expect_waiting(5);
  this->sync.make_ready();
  this->expect_waiting(0);
  this->way.expect(5);
  this->expect_order({0, 1, 2, 3, 4});
  for (int id = 0; id < 5; ++id) this->expect_let_through(id);
}

WEIR_BEHAVIOUR(G6_a_completion_that_closes_the_object_takes_nothing_from_those_that_were_told) {
  this->start_and_then(1, [this] { this->object().close(); });
  this->start_plain(2);
  this->start_within(3, 1h);
  this->sync.make_ready();
  this->way.expect(3);
  this->start_plain(4);
  this->way.expect(4);
  for (int id = 1; id <= 3; ++id) this->expect_let_through(id);
  this->expect_closed(4);
}

}  // namespace weir::test
