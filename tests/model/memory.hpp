#pragma once

// The memory of one schedule: what is allocated while it is open comes from one block, in order, and is not used again
// before the next schedule. So what is freed can be watched, and what is not freed is found.

namespace weir::model::memory {

void open() noexcept;
void close() noexcept;

/// While it lives, what is allocated is somebody's outside, and may stay.
class aside {
 public:
  aside() noexcept;
  aside(const aside&) = delete;
  aside& operator=(const aside&) = delete;
  ~aside();
};

/// After close(): what is wrong, or null. Something was not freed, or was written to after it was freed.
[[nodiscard]] const char* complaint() noexcept;

/// What was allocated stays for ever: somebody outside has it.
void keep() noexcept;

}  // namespace weir::model::memory
