// says: the items of a weir::queue are moved under its lock: their move constructor must be noexcept
#include <weir/queue.hpp>

struct item {
  item() = default;
  item(item&&) noexcept(false) {}
};

weir::queue<item> wrong;
