#include <asio/bind_executor.hpp>
#include <asio/io_context.hpp>
#include <weir/asio.hpp>
#include <weir/semaphore.hpp>

int main() {
  asio::io_context io;
  weir::semaphore sem(1);
  bool called = false;
  sem.async_acquire(asio::bind_executor(io, [&](asio::error_code error) { called = !error; }));
  io.run();
  return called ? 0 : 1;
}
