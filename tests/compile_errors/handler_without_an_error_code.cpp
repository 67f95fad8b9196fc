// says: no handler that fits: a handler of this operation has to have the signature void(error_code)
#include <asio/bind_executor.hpp>
#include <weir/asio.hpp>
#include <weir/semaphore.hpp>

void wrong(asio::io_context& io, weir::semaphore& sem) {
  sem.acquire()(asio::bind_executor(io, [](int) {}));
}
