// says: a weir mutex is not locked by std::lock_guard, std::unique_lock or std::scoped_lock: write auto guard =
// co_await m.scoped_lock()
#include <mutex>

#include <weir/mutex.hpp>

void wrong(weir::mutex& m) { const std::lock_guard guard(m); }
