#pragma once

// Work is what an executor runs: an intrusive node that lives in the coroutine frame or operation state it
// belongs to, so that scheduling allocates nothing.

#include <weir/core/ring.hpp>

namespace weir {

/// From post() until run() is entered the links belong to the executor. run() may destroy the work.
class work {
 public:
  using function = void (*)(work&) noexcept;

  work() = default;
  explicit work(function entry) noexcept : run_(entry) {}

  void run() noexcept { run_(*this); }

  work* next = nullptr;
  work* prev = nullptr;

 protected:
  function run_ = nullptr;
};

using work_list = core::ring<work>;

}  // namespace weir
