// says: no handler that fits: a handler of this operation has to have the signature void(error_code)
#include <boost/asio/bind_executor.hpp>
#include <weir/boost_asio.hpp>
#include <weir/semaphore.hpp>

void wrong(boost::asio::io_context& io, weir::semaphore& sem) {
  sem.acquire()(boost::asio::bind_executor(io, [](int) {}));
}
