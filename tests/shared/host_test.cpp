// A program that has no weir in it until it loads a plugin, which is then the first to use it.

#include <chrono>
#include <thread>

#include "plugin.hpp"

namespace weir::test {
namespace {

using namespace std::chrono_literals;

class host : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(scope, host, testing::Values(RTLD_LOCAL, RTLD_GLOBAL),
                         [](const auto& scope) { return scope.param == RTLD_LOCAL ? "local" : "global"; });

TEST_P(host, closes_and_opens_a_plugin_that_uses_limits) {
  for (int i = 0; i < 3; ++i) {
    use_limits(plugin(PLUGIN, GetParam()));
    std::this_thread::sleep_for(40ms);  // by then the limit that was not needed has passed
  }
  const plugin loaded(PLUGIN, GetParam());
  EXPECT_TRUE(loaded->knows_as_timed_out(loaded->times_out()));
}

TEST(host_with_asio, closes_a_plugin_before_the_context_that_it_has_used) {
  asio::io_context io;
  {
    const plugin loaded(PLUGIN, RTLD_LOCAL);
    // In a thread of its own: as long as it lives, thread-locals of Asio's would keep the plugin loaded.
    std::thread([&] { EXPECT_EQ(loaded->runs_an_awaitable(io), 1); }).join();
  }
  EXPECT_TRUE(plugin::is_loaded(PLUGIN));  // the context will call it
}

}  // namespace
}  // namespace weir::test
