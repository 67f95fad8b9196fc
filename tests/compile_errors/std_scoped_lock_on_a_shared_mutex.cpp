// says: a weir mutex is not locked by std::lock_guard, std::unique_lock or std::scoped_lock: write auto guard =
// co_await m.scoped_lock()
#include <mutex>

#include <weir/shared_mutex.hpp>

void wrong(weir::shared_mutex& m) { const std::scoped_lock guard(m); }
