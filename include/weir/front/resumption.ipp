// The record of one wake-up that is posted to a context, and the memory that Asio uses for its handler.

#include <cstddef>
#include <memory>

#include <weir/core/executor.hpp>
#include <weir/core/work.hpp>

namespace weir::front::inline WEIR_FRONT {

class service;

/// The record of one wake-up posted to the context, where it is one Asio handler. The record is recycled, and with it
/// the memory that Asio uses for the handler.
struct resumption {
  resumption* next = nullptr;
  resumption* prev = nullptr;
  work* item = nullptr;          // null if retracted
  core::tenant* wait = nullptr;  // the wait that opened it; null: it serves any posted work
  service* from = nullptr;
  alignas(void*) std::byte memory[48];  // as much as Asio 1.22 to 1.38 allocates
};

/// Resumptions that are allocated together, so that the start of a wait seldom allocates.
struct resumption_batch {
  resumption_batch* next = nullptr;
  resumption all[16];
};

/// The allocator of a posted handler: uses the memory of its resumption, if that is large enough.
template <class T>
class resumption_allocator {
 public:
  using value_type = T;

  explicit resumption_allocator(resumption& posted) noexcept : memory_(posted.memory) {}
  template <class U>
  resumption_allocator(const resumption_allocator<U>& other) noexcept : memory_(other.memory_) {}

  T* allocate(std::size_t count) {
    if (fits(count)) return reinterpret_cast<T*>(memory_);
    return std::allocator<T>().allocate(count);
  }
  void deallocate(T* allocated, std::size_t count) noexcept {
    if (!fits(count)) std::allocator<T>().deallocate(allocated, count);
  }

  template <class U>
  bool operator==(const resumption_allocator<U>& other) const noexcept {
    return memory_ == other.memory_;
  }

 private:
  template <class>
  friend class resumption_allocator;

  static bool fits(std::size_t count) noexcept {
    return alignof(T) <= alignof(void*) && count * sizeof(T) <= sizeof(resumption::memory);
  }

  std::byte* memory_;
};

}  // namespace weir::front::inline WEIR_FRONT
