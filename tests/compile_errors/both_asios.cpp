// says: include either <weir/asio.hpp> or <weir/boost_asio.hpp>: a program has one Asio
#include <weir/asio.hpp>
#include <weir/boost_asio.hpp>
