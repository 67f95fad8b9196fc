#include <array>
#include <set>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

#include <weir/core/errc.hpp>

namespace {

using weir::errc;

constexpr std::array all = {errc::timed_out,      errc::cancelled, errc::closed,
                            errc::would_deadlock, errc::not_owner, errc::failed};

TEST(errc, starts_at_one_so_that_no_failure_is_a_zero_code) {
  EXPECT_EQ(static_cast<int>(errc::timed_out), 1);
  for (const errc code : all) EXPECT_TRUE(static_cast<bool>(make_error_code(code)));
}

TEST(errc, converts_to_a_code_of_its_own_category) {
  const std::error_code code = errc::closed;
  EXPECT_EQ(code.value(), static_cast<int>(errc::closed));
  EXPECT_EQ(&code.category(), &weir::error_category());
  EXPECT_STREQ(code.category().name(), "weir");
}

TEST(errc, every_code_has_a_message_of_its_own) {
  std::set<std::string> messages;
  for (const errc code : all) {
    const std::string message = make_error_code(code).message();
    EXPECT_FALSE(message.empty());
    EXPECT_EQ(message.find("unknown"), std::string::npos) << message;
    messages.insert(message);
  }
  EXPECT_EQ(messages.size(), all.size());
}

TEST(errc, an_unknown_code_says_its_number) {
  EXPECT_NE(weir::error_category().message(4711).find("4711"), std::string::npos);
}

TEST(errc, equals_the_standard_condition_of_the_same_meaning) {
  EXPECT_EQ(make_error_code(errc::timed_out), std::errc::timed_out);
  EXPECT_EQ(make_error_code(errc::cancelled), std::errc::operation_canceled);
  EXPECT_EQ(make_error_code(errc::would_deadlock), std::errc::resource_deadlock_would_occur);
  EXPECT_EQ(make_error_code(errc::not_owner), std::errc::operation_not_permitted);
}

TEST(errc, equals_no_standard_condition_of_another_meaning) {
  EXPECT_NE(make_error_code(errc::timed_out), std::errc::operation_canceled);
  EXPECT_NE(make_error_code(errc::cancelled), std::errc::timed_out);
  for (const errc own : {errc::closed, errc::failed}) {
    for (const auto other : {std::errc::timed_out, std::errc::operation_canceled,
                             std::errc::resource_deadlock_would_occur, std::errc::operation_not_permitted}) {
      EXPECT_NE(make_error_code(own), other);
    }
    EXPECT_EQ(make_error_code(own).default_error_condition().category(), weir::error_category());
  }
}

TEST(errc, codes_compare_with_the_enum_and_with_one_another) {
  for (const errc one : all) {
    for (const errc other : all) EXPECT_EQ(make_error_code(one) == other, one == other);
  }
}

TEST(errc, a_code_of_another_category_with_the_same_number_is_another_code) {
  EXPECT_NE(std::error_code(static_cast<int>(errc::closed), std::generic_category()), make_error_code(errc::closed));
}

}  // namespace
