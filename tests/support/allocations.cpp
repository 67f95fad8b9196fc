#include <support/allocations.hpp>

#include <cstdlib>
#include <new>

#include <support/build.hpp>

namespace {
thread_local std::size_t count = 0;
}

std::size_t weir::test::allocations() noexcept { return count; }

#if defined(WEIR_TEST_SANITIZED)

// A sanitizer has an operator new of its own, and tells us when it is used.

extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, std::size_t),
                                                         void (*on_free)(const volatile void*));

namespace {
const int installed = __sanitizer_install_malloc_and_free_hooks([](const volatile void*, std::size_t) { ++count; },
                                                                [](const volatile void*) {});
}  // namespace

#else

namespace {
void* allocate(std::size_t size) {
  ++count;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

#endif
