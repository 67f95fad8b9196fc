// says: a weir mutex is not locked by std::shared_lock: write auto guard = co_await m.scoped_lock_shared()
#include <shared_mutex>

#include <weir/shared_mutex.hpp>

void wrong(weir::shared_mutex& m) { const std::shared_lock guard(m); }
