// says: a weir mutex is not locked by std::lock_guard, std::unique_lock or std::scoped_lock: write auto guard =
// co_await m.scoped_lock()
#include <mutex>

#include <weir/recursive_mutex.hpp>

void wrong(weir::recursive_mutex& m) { const std::unique_lock<weir::recursive_mutex> guard(m); }
