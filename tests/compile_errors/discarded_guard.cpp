// says: a guard that is discarded unlocks at once: auto guard = co_await m.scoped_lock()
#include <weir/mutex.hpp>

void wrong(weir::mutex& m) { m.scoped_lock().wait(); }
