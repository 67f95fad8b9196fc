// The value of each operation is the one that the reference shows: the compiler checks value_types.def.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

namespace weir::test {

using namespace std::chrono_literals;

using T = std::string;  // any value

/// A front, such as Asio's, can run it as a task.
struct like_a_task {
  friend task<T> as_task(core::front_tag, like_a_task) { return {}; }
};

/// What the calls of value_types.def are made on.
struct objects_of_the_reference {
  semaphore& permits;
  mutex& plain;
  mutex::guard& held;
  recursive_mutex& recursive;
  owner_id owner;
  shared_mutex& shared;
  shared_mutex::shared_guard& reads;
  guarded<T>& data;
  condition& changed;
  bool (&holds)();
  event& opened;
  auto_reset_event& signalled;
  latch& all;
  wait_group& group;
  barrier& phases;
  barrier::token& arrived;
  queue<T>& items;
  T& item;
  oneshot_receiver<T>& receives;
  future<T>& given;
  pool& jobs;
  std::chrono::steady_clock::time_point latest;

#define VALUE(owner, declaration, call, ...)                             \
  static_assert(std::is_same_v<decltype(call)::value_type, __VA_ARGS__>, \
                "the value of " #owner "::" #declaration " is not " #__VA_ARGS__);
#include <promises/value_types.def>
#undef VALUE
};

TEST(value_types, are_those_that_the_reference_shows) { SUCCEED(); }

}  // namespace weir::test
