// Every function of weir that is no template, whether used or not (see CMakeLists.txt), and the templates that have
// state of their own. symbols.cmake compares their static and thread-local variables with docs/platforms.md.

#include <weir/asio.hpp>
#include <weir/weir.hpp>

template weir::core::timer_source& weir::timers<weir::timer_thread>();

weir::executor_ref refers_to(weir::front::target& host) { return weir::executor_ref(host); }
