#include <support/exhaustion.hpp>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

#include <support/build.hpp>

namespace {

constexpr std::size_t never = static_cast<std::size_t>(-1);
thread_local std::size_t left = never;  // allocations until the one that fails
thread_local bool failed = false;
std::atomic<bool> threads_fail{false};

bool fails_now() noexcept {
  if (left == never) return false;
  if (left-- != 0) return false;
  failed = true;  // and `left` is `never` again: once
  return true;
}

void* allocate(std::size_t size) {
  if (!fails_now()) {
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  }
  throw std::bad_alloc();
}

}  // namespace

namespace weir::test {

failing_allocation::failing_allocation(std::size_t succeed) noexcept {
  left = succeed;
  failed = false;
}
failing_allocation::~failing_allocation() { left = never; }
bool failing_allocation::has_failed() noexcept { return failed; }

no_threads::no_threads() noexcept { threads_fail = true; }
no_threads::~no_threads() { threads_fail = false; }

}  // namespace weir::test

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return fails_now() ? nullptr : std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) {
  void* memory = nullptr;
  return !fails_now() && posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}

#if !defined(WEIR_TEST_SANITIZED)  // a sanitizer has to see every thread: it has a pthread_create of its own

#include <dlfcn.h>
#include <pthread.h>

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) {
  using function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "pthread_create"));
  return threads_fail ? EAGAIN : real(thread, attributes, start, argument);
}

#endif
