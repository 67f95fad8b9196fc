#pragma once

// Small tasks that many tests run.

#include <memory>
#include <stdexcept>

#include <weir/run/task.hpp>

namespace weir::test {

struct boom : std::runtime_error {
  boom() : runtime_error("boom") {}
};

inline task<int> number(int value) { co_return value; }

inline task<> notes_that_it_ran(bool& ran) {
  ran = true;
  co_return;
}

inline task<std::unique_ptr<int>> boxed(int value) { co_return std::make_unique<int>(value); }

inline task<int> throws() {
  throw boom();
  co_return 0;
}

}  // namespace weir::test
