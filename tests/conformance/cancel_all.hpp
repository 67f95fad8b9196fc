#pragma once

// The behaviour of what can withdraw all its waiters.

#include <conformance/fixture.hpp>

namespace weir::test {

WEIR_BEHAVIOUR(G11_cancel_all_withdraws_all_and_says_how_many) {
  for (int id = 0; id < 4; ++id) this->start_and_then(id, [this] { this->expect_waiting(0); });  // G6
  EXPECT_EQ(this->object().cancel_all(), 4u);
  this->way.expect(4);
  for (int id = 0; id < 4; ++id) this->expect_error(id, errc::cancelled);
  EXPECT_EQ(this->object().cancel_all(), 0u);
  this->start_plain(5);
  this->let_all_through();
  this->expect_let_through(5);
}

}  // namespace weir::test
