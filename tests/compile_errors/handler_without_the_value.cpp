// says: no handler that fits: a handler of this operation has to have the signature void(error_code, value)
#include <asio/bind_executor.hpp>
#include <weir/asio.hpp>
#include <weir/semaphore.hpp>

void wrong(asio::io_context& io, weir::semaphore& sem) {
  sem.async_scoped_acquire(asio::bind_executor(io, [](asio::error_code) {}));
}
