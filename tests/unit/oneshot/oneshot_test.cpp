#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/oneshot.hpp>
#include <weir/select.hpp>
#include <weir/task.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

TEST(oneshot, what_is_sent_is_received) {
  auto [tx, rx] = make_oneshot<int>();
  EXPECT_FALSE(rx.ready());
  tx.send(42);
  EXPECT_TRUE(rx.ready());
  EXPECT_EQ(rx.receive().wait(), 42);
}

TEST(oneshot, a_receiver_waits_for_its_sender) {
  auto [tx, rx] = make_oneshot<std::unique_ptr<int>>();
  std::jthread sends([sender = std::move(tx)]() mutable { sender.send(std::make_unique<int>(7)); });
  EXPECT_EQ(*rx.receive().wait(), 7);
}

TEST(oneshot, of_void_sends_only_that_it_has_happened) {
  auto [tx, rx] = make_oneshot<void>();
  tx.send();
  rx.receive().wait();
}

TEST(oneshot, G11_dropping_the_sender_gives_closed) {
  auto [tx, rx] = make_oneshot<int>();
  {
    auto dropped = std::move(tx);
  }
  EXPECT_EQ(rx.receive().as_result().wait().error(), errc::closed);
}

TEST(oneshot, G2_a_receive_that_timed_out_has_taken_nothing) {
  auto [tx, rx] = make_oneshot<int>();
  EXPECT_EQ(rx.receive().within(0s).wait().error(), errc::timed_out);
  tx.send(1);
  EXPECT_EQ(rx.receive().wait(), 1);
}

TEST(oneshot, a_lost_select_leaves_the_value_where_it_is) {
  auto [tx, rx] = make_oneshot<int>();
  event first(true);
  tx.send(1);
  EXPECT_EQ(select(first.wait(), rx.receive()).wait().index(), 0u);
  EXPECT_EQ(rx.receive().wait(), 1);
}

TEST(oneshot, G12_sending_twice_throws_and_changes_nothing) {
  auto [tx, rx] = make_oneshot<int>();
  tx.send(1);
  try {
    tx.send(2);
    FAIL() << "it did not throw";
  } catch (const std::logic_error& thrown) {
    EXPECT_NE(std::string(thrown.what()).find("weir::oneshot_sender::send"), std::string::npos);
  }
  EXPECT_EQ(rx.receive().wait(), 1);
  EXPECT_THROW(rx.receive().wait(), std::logic_error) << "the value is there once";
}

TEST(oneshot, sending_to_nobody_is_no_error) {
  auto [tx, rx] = make_oneshot<int>();
  {
    auto dropped = std::move(rx);
  }
  tx.send(1);
}

}  // namespace
}  // namespace weir
