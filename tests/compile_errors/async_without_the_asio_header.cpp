// says: this is no completion token here: include <weir/asio.hpp> or <weir/boost_asio.hpp>
#include <asio/detached.hpp>
#include <weir/queue.hpp>

void wrong(weir::queue<int>& numbers) { numbers.async_pop(asio::detached); }
