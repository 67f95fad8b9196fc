// says: a guard that is discarded unlocks at once: auto guard = co_await m.scoped_lock()
#include <weir/mutex.hpp>
#include <weir/task.hpp>

weir::task<> wrong(weir::mutex& m) { co_await m.scoped_lock(); }
