#include <model/memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>

namespace weir::model::memory {
namespace {

constexpr std::size_t size = std::size_t{1} << 20;
constexpr std::size_t blocks = 64;  // one is lost with each failure that is kept
constexpr unsigned char freed_byte = 0xdd;

struct alignas(16) header {
  std::size_t length;
  bool freed;
};

alignas(header) std::byte region[blocks][size];
std::size_t kept = 0;
std::byte* block = region[0];
std::size_t used = 0;
bool is_open = false;

bool owns(const void* at) noexcept {
  const std::less<const void*> before;
  return !before(at, region) && before(at, region + blocks);
}

void* allocate(std::size_t length) {
  if (!is_open) {
    if (void* made = std::malloc(length == 0 ? 1 : length)) return made;
    throw std::bad_alloc();
  }
  length = (length + 15) & ~std::size_t{15};
  if (used + sizeof(header) + length > size) std::abort();
  auto* made = new (block + used) header{length, false};
  used += sizeof(header) + length;
  return made + 1;
}

void release(void* at) noexcept {
  if (!owns(at)) {
    std::free(at);
  } else if (is_open) {
    header& freed = static_cast<header*>(at)[-1];
    if (freed.freed) std::abort();
    freed.freed = true;
    std::memset(at, freed_byte, freed.length);
  }
}

}  // namespace

void open() noexcept {
  block = region[kept];
  used = 0;
  is_open = true;
}

void close() noexcept { is_open = false; }

aside::aside() noexcept { is_open = false; }
aside::~aside() { is_open = true; }

const char* complaint() noexcept {
  for (std::size_t at = 0; at < used;) {
    const auto& each = *reinterpret_cast<const header*>(block + at);
    if (!each.freed) return "memory was not freed: an operation never ended";
    const auto* bytes = reinterpret_cast<const unsigned char*>(&each + 1);
    if (bytes[0] != freed_byte || std::memcmp(bytes, bytes + 1, each.length - 1) != 0) {
      return "memory was written to after it was freed";
    }
    at += sizeof(header) + each.length;
  }
  return nullptr;
}

void keep() noexcept { kept = std::min(kept + 1, blocks - 1); }

}  // namespace weir::model::memory

void* operator new(std::size_t length) { return weir::model::memory::allocate(length); }
void operator delete(void* at) noexcept { weir::model::memory::release(at); }
void operator delete(void* at, std::size_t) noexcept { weir::model::memory::release(at); }
