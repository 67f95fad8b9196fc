// G13: tickets, timers and stop requests race the destructor. Every callback is called exactly once, nothing is used
// after it is gone (AddressSanitizer), nothing races (ThreadSanitizer).

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/mutex.hpp>
#include <weir/semaphore.hpp>
#include <weir/shared_mutex.hpp>
#include <weir/task.hpp>

namespace weir {
namespace {

using namespace std::chrono_literals;

constexpr int many_rounds = 2'000;
constexpr int few_rounds = 300;  // each makes threads

/// Each round: `prepare` on this thread, then `here` and `there` at once on two.
void race(int rounds, const std::function<void()>& prepare, const std::function<void()>& here,
          const std::function<void()>& there) {
  std::barrier<> together(2);
  std::jthread other([&] {
    for (int round = 0; round < rounds; ++round) {
      together.arrive_and_wait();
      there();
      together.arrive_and_wait();
    }
  });
  for (int round = 0; round < rounds; ++round) {
    prepare();
    together.arrive_and_wait();
    here();
    together.arrive_and_wait();
  }
}

/// How the waits of all rounds ended.
struct tally {
  std::atomic<int> closed{0}, given_up{0}, other{0};

  auto count() {
    return [this](const result<>& outcome) {
      if (outcome.error() == errc::closed) {
        ++closed;
      } else if (outcome.error() == errc::cancelled || outcome.error() == errc::timed_out) {
        ++given_up;
      } else {
        ++other;
      }
    };
  }
  void check(int waits) const {
    EXPECT_EQ(closed + given_up, waits);
    EXPECT_EQ(other, 0);
  }
};

template <class Object>
auto wait_on(Object& object) {
  if constexpr (requires { object.acquire(); }) {
    return object.acquire();
  } else if constexpr (requires { object.lock(); }) {
    return object.lock();
  } else {
    return object.wait();
  }
}

template <class Mutex>
struct held : Mutex {
  held() { (void)this->try_lock(); }
  ~held() {
    this->close();
    this->unlock();
  }
};
struct held_against_readers : held<shared_mutex> {
  auto acquire() { return lock_shared(); }
};
struct held_by_readers : shared_mutex {
  held_by_readers() {
    (void)try_lock_shared();
    (void)try_lock_shared();
  }
  ~held_by_readers() {
    close();
    unlock_shared();
    unlock_shared();
  }
  auto acquire() { return upgrade(); }
};
struct empty_semaphore : semaphore {
  empty_semaphore() : semaphore(0) {}
};

template <class Object>
constexpr int waits_per_round = 4;
template <>
constexpr int waits_per_round<held_by_readers> = 1;  // a second upgrade would be refused

template <class Object>
class destructor_race : public testing::Test {
 protected:
  static constexpr int waits = waits_per_round<Object>;
};
using objects =
    testing::Types<empty_semaphore, held<mutex>, event, held<shared_mutex>, held_against_readers, held_by_readers>;
TYPED_TEST_SUITE(destructor_race, objects);

TYPED_TEST(destructor_race, G13_against_tickets) {
  tally ended;
  std::optional<TypeParam> object;
  std::vector<ticket> tickets;
  race(
      many_rounds,
      [&] {
        object.emplace();
        tickets.clear();
        for (int i = 0; i < this->waits; ++i) tickets.push_back(wait_on(*object).start(ended.count()));
      },
      [&] { object.reset(); },
      [&] {
        for (auto& each : tickets) each.cancel();
      });
  ended.check(many_rounds * this->waits);
}

TYPED_TEST(destructor_race, G13_against_a_timer) {
  manual_timers clock;
  use_timers by_hand(clock);
  tally ended;
  std::optional<TypeParam> object;
  race(
      many_rounds,
      [&] {
        object.emplace();
        for (int i = 0; i < this->waits; ++i) (void)wait_on(*object).within(1ms).start(ended.count());
      },
      [&] { object.reset(); }, [&] { clock.advance(2ms); });
  ended.check(many_rounds * this->waits);
}

TYPED_TEST(destructor_race, G13_against_a_stop) {
  tally ended;
  std::optional<TypeParam> object;
  std::optional<std::stop_source> stop;
  race(
      many_rounds,
      [&] {
        object.emplace();
        stop.emplace();
        for (int i = 0; i < this->waits; ++i) {
          (void)wait_on(*object).stop_on(stop->get_token()).start(ended.count());
        }
      },
      [&] { object.reset(); }, [&] { stop->request_stop(); });
  ended.check(many_rounds * this->waits);
}

TYPED_TEST(destructor_race, G13_against_all_of_them_for_blocked_threads) {
  manual_timers clock;
  use_timers by_hand(clock);
  tally ended;
  std::optional<TypeParam> object;
  std::optional<std::stop_source> stop;
  std::vector<std::jthread> blocked;
  race(
      few_rounds,
      [&] {
        blocked.clear();
        object.emplace();
        stop.emplace();
        for (int i = 0; i < this->waits; ++i) {
          blocked.emplace_back(
              [&, token = stop->get_token()] { ended.count()(wait_on(*object).stop_on(token).within(1ms).wait()); });
        }
        while (object->waiting() != this->waits) std::this_thread::yield();
      },
      [&] { object.reset(); },
      [&] {
        clock.advance(2ms);
        stop->request_stop();
      });
  blocked.clear();
  ended.check(few_rounds * this->waits);
}

}  // namespace
}  // namespace weir
