#pragma once

// What tests note of what happens: who is granted in which order, and what is thrown.

#include <exception>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/core/result.hpp>
#include <weir/wait/operation.hpp>

namespace weir::test {

/// The order in which callbacks are granted, and how the others fail.
class notes {
 public:
  auto note(int id) {
    return [id, this](result<> outcome) {
      if (outcome) {
        granted.push_back(id);
      } else {
        failed.push_back(outcome.error());
      }
    };
  }
  std::vector<int> granted;
  std::vector<std::error_code> failed;
};

/// Starts an operation that notes its name in `order` once it is granted, or the name and a mark if it fails.
template <class Operation>
ticket note(Operation waits, std::string& order, char name) {
  return std::move(waits).start([&order, name](auto outcome) {
    order += name;
    if (!outcome) order += '!';
  });
}

/// The code of the std::system_error with which a call refuses a mistake, or none. Its message has to name the
/// function.
template <class Call>
std::error_code refusal_of(Call call, std::string_view function = "weir::") {
  try {
    call();
  } catch (const std::system_error& thrown) {
    EXPECT_NE(std::string(thrown.what()).find(function), std::string::npos);
    return thrown.code();
  }
  return {};
}

/// What the exception says that a call throws.
template <class Error = std::exception, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& thrown) {
    return thrown.what();
  }
  return "it was not thrown";
}

}  // namespace weir::test
