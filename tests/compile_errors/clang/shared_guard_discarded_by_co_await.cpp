// says: a guard that is discarded unlocks at once
#include <weir/shared_mutex.hpp>
#include <weir/task.hpp>

weir::task<> wrong(weir::shared_mutex& m) { co_await m.scoped_lock_shared(); }
