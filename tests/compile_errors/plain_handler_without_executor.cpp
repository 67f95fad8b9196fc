// says: give it one with bind_executor(executor, handler), or say resume_on(executor) of the operation
#include <weir/asio.hpp>
#include <weir/semaphore.hpp>

void wrong(weir::semaphore& sem) {
  sem.acquire()([](asio::error_code) {});
}
