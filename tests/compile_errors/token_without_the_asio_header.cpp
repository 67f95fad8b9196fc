// says: this is no completion token here: include <weir/asio.hpp> or <weir/boost_asio.hpp>
#include <asio/use_future.hpp>
#include <weir/semaphore.hpp>

void wrong(weir::semaphore& sem) { sem.acquire()(asio::use_future); }
