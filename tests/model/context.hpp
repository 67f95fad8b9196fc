#pragma once

// A place in the program that can be left and come back to, with a stack of its own.

#include <cstddef>
#include <memory>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace weir::model {

class context {
 public:
  /// Where the program is: filled in when it is left.
  context() noexcept = default;

  /// The beginning of entry(), which does not return. Its stack is kept from one beginning to the next.
  void begin_at(void (*entry)());

  /// Leaves `from`, goes on at `to`.
  static void change(context& from, context& to) noexcept;

 private:
  static constexpr std::size_t stack_size = 256 * 1024;

  std::unique_ptr<std::byte[]> stack_;
#if defined(__x86_64__)
  void* stack_pointer_ = nullptr;
#else
  ucontext_t saved_;
#endif
};

}  // namespace weir::model
