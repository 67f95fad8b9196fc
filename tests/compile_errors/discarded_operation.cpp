// says: an operation does nothing until it is waited on: co_await it, or call wait() or start()
#include <weir/semaphore.hpp>

void wrong(weir::semaphore& sem) { sem.acquire(); }
