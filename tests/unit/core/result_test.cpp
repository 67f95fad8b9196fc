#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include <gtest/gtest.h>

#include <weir/core/errc.hpp>
#include <weir/core/result.hpp>

namespace {

using weir::errc;
using weir::result;

template <class Function>
std::error_code thrown_by(Function function) {
  try {
    function();
  } catch (const std::system_error& thrown) {
    return thrown.code();
  }
  return {};
}

std::exception_ptr an_exception(const char* what) { return std::make_exception_ptr(std::runtime_error(what)); }

struct only_from_int {
  explicit only_from_int(int number) : value(number) {}
  int value;
};

TEST(result, holds_a_value) {
  result<int> r = 7;
  EXPECT_TRUE(r.has_value());
  EXPECT_TRUE(static_cast<bool>(r));
  EXPECT_EQ(*r, 7);
  EXPECT_EQ(r.value(), 7);
  EXPECT_EQ(r.error(), std::error_code());
  EXPECT_EQ(r.exception(), nullptr);
}

TEST(result, its_value_can_be_changed_in_place) {
  result<std::string> r = "a";
  *r += "b";
  EXPECT_EQ(r->size(), 2U);
  r->push_back('c');
  EXPECT_EQ(*std::as_const(r), "abc");
  EXPECT_EQ(std::as_const(r)->size(), 3U);
}

TEST(result, reading_the_value_of_a_copyable_leaves_it_there) {
  result<std::string> r = std::string("stays");
  EXPECT_EQ(r.value(), "stays");
  EXPECT_EQ(r.value(), "stays");
  EXPECT_EQ(std::move(r).value(), "stays");
}

TEST(result, holds_an_error) {
  result<int> r = errc::timed_out;
  EXPECT_FALSE(r.has_value());
  EXPECT_FALSE(static_cast<bool>(r));
  EXPECT_EQ(r.error(), errc::timed_out);
  EXPECT_EQ(r.error(), std::errc::timed_out);
  EXPECT_EQ(r.exception(), nullptr);
}

TEST(result, holds_an_error_of_another_category) {
  result<int> r = std::make_error_code(std::errc::no_space_on_device);
  EXPECT_EQ(r.error(), std::errc::no_space_on_device);
  EXPECT_EQ(thrown_by([&] { r.value(); }), std::errc::no_space_on_device);
}

TEST(result, the_value_of_an_error_throws_its_code) {
  for (const errc code : {errc::timed_out, errc::cancelled, errc::closed, errc::would_deadlock, errc::not_owner}) {
    result<int> r = code;
    EXPECT_EQ(thrown_by([&] { r.value(); }), code);
    EXPECT_EQ(thrown_by([&] { std::move(r).value(); }), code);
  }
}

TEST(result, holds_an_exception) {
  const auto thrown = an_exception("boom");
  auto r = result<int>::failure(thrown);
  EXPECT_FALSE(r.has_value());
  EXPECT_EQ(r.error(), errc::failed);
  EXPECT_EQ(r.exception(), thrown);
}

TEST(result, the_value_of_an_exception_rethrows_that_very_exception) {
  auto r = result<int>::failure(an_exception("boom"));
  try {
    r.value();
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& thrown) {
    EXPECT_STREQ(thrown.what(), "boom");
  }
}

TEST(result, a_failure_needs_no_default_constructible_value) {
  auto r = result<only_from_int>::failure(an_exception("boom"));
  EXPECT_THROW(r.value(), std::runtime_error);
  result<only_from_int> other = only_from_int(3);
  EXPECT_EQ(other->value, 3);
}

TEST(result, gives_a_move_only_value_away) {
  result<std::unique_ptr<int>> r = std::make_unique<int>(5);
  auto taken = std::move(r).value();
  EXPECT_EQ(*taken, 5);
  result<std::unique_ptr<int>> other = std::make_unique<int>(6);
  EXPECT_EQ(*other.value(), 6);
  result<std::unique_ptr<int>> third = std::make_unique<int>(7);
  EXPECT_EQ(*std::unique_ptr<int>(*std::move(third)), 7);
}

TEST(result, moves_with_what_it_holds) {
  result<std::unique_ptr<int>> from = std::make_unique<int>(5);
  result<std::unique_ptr<int>> to = std::move(from);
  EXPECT_EQ(**to, 5);
  to = errc::closed;
  EXPECT_EQ(to.error(), errc::closed);
  to = std::make_unique<int>(6);
  EXPECT_EQ(**to, 6);
}

TEST(result, of_nothing_holds_success_or_an_error_or_an_exception) {
  result<> good;
  EXPECT_TRUE(good.has_value());
  EXPECT_EQ(good.error(), std::error_code());
  EXPECT_NO_THROW(good.value());
  EXPECT_NO_THROW(result<>().value());

  result<> bad = errc::cancelled;
  EXPECT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error(), errc::cancelled);
  EXPECT_EQ(thrown_by([&] { bad.value(); }), errc::cancelled);

  auto thrown = result<>::failure(an_exception("boom"));
  EXPECT_EQ(thrown.error(), errc::failed);
  EXPECT_THROW(thrown.value(), std::runtime_error);
}

TEST(result, of_an_optional_without_a_value_is_a_success) {
  result<std::optional<int>> r = std::optional<int>();
  EXPECT_TRUE(r.has_value());
  EXPECT_EQ(*r, std::nullopt);
}

TEST(result, says_what_it_would_hold) {
  static_assert(std::is_same_v<result<>::value_type, void>);
  static_assert(std::is_same_v<result<int>::value_type, int>);
  static_assert(std::is_same_v<decltype(std::declval<result<int>&>().value()), int>);
  static_assert(std::is_same_v<decltype(std::declval<result<>&>().value()), void>);
  static_assert(!std::is_default_constructible_v<result<int>>);
  static_assert(!std::is_convertible_v<result<int>, bool>);
}

}  // namespace
