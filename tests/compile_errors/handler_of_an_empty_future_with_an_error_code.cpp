// says: no handler that fits: a handler of this operation has to have the signature void(std::exception_ptr)
#include <asio/bind_executor.hpp>
#include <weir/asio.hpp>
#include <weir/future.hpp>

void wrong(asio::io_context& io, weir::future<>& made) {
  made.get()(asio::bind_executor(io, [](asio::error_code) {}));
}
