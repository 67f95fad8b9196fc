// The races of condition: the notification against what ends its wait, then the mutex, which is held again.

#include <weir/condition.hpp>

#include <optional>

#include <model/scenario.hpp>

namespace weir::model {
namespace {

/// Something that is changed under the mutex.
struct state {
  mutex guards;
  condition changed;
  int items = 0;

  void add() {
    {
      auto held = guards.scoped_lock().as_result().wait();
      if (!held) return;
      ++items;
    }
    changed.notify_one();
  }

  /// Waits for an item. `limit` adds to the operation what is to be said of it.
  template <class Limit>
  void wait(waited& came, Limit limit) {
    auto held = guards.scoped_lock().as_result().wait();
    if (!held) return;
    came.note(limit(changed.wait(*held, [this] { return items > 0; })).wait());
    EXPECT_TRUE(held->owns_lock() || came.error == errc::closed);
    EXPECT_FALSE(came.got && items == 0);
  }

  void expect_idle() {
    EXPECT_FALSE(guards.locked());
    EXPECT_EQ(guards.waiting(), 0u);
    EXPECT_EQ(changed.waiting(), 0u);
  }
};

const auto unlimited = [](auto&& described) { return std::move(described).as_result(); };
const auto for_a_second = [](auto&& described) { return std::move(described).within(1s); };

TEST(model_condition, a_notification_against_a_time_out) {
  explore([] {
    time clock;
    state shared;
    waited came;
    together([&] { shared.wait(came, for_a_second); }, [&] { shared.add(); }, [&] { clock.pass(); });
    EXPECT_TRUE(got_or(came, errc::timed_out));
    shared.expect_idle();
  });
}

TEST(model_condition, a_notification_against_a_stop) {
  explore([] {
    platform::stop_source stop;
    state shared;
    waited came;
    const auto stoppable = [&](auto&& described) { return std::move(described).stop_on(stop.get_token()); };
    together([&] { shared.wait(came, stoppable); }, [&] { shared.add(); }, [&] { stop.request_stop(); });
    EXPECT_TRUE(got_or(came, errc::cancelled));
    shared.expect_idle();
  });
}

TEST(model_condition, a_notification_against_the_close_of_the_mutex) {
  explore([] {
    state shared;
    waited came;
    together([&] { shared.wait(came, unlimited); }, [&] { shared.add(); },
             [&] {
               shared.guards.close();
               shared.changed.close();
             });
    EXPECT_TRUE(came.times == 0 || got_or(came, errc::closed));
    shared.expect_idle();
  });
}

TEST(model_condition, a_notification_against_close) {
  explore([] {
    state shared;
    waited came;
    together([&] { shared.wait(came, unlimited); }, [&] { shared.add(); }, [&] { shared.changed.close(); });
    EXPECT_TRUE(got_or(came, errc::closed));
    shared.expect_idle();
  });
}

TEST(model_condition, a_notification_against_cancel_all_and_a_time_out) {
  explore([] {
    time clock;
    state shared;
    waited came;
    together([&] { shared.wait(came, for_a_second); },
             [&] {
               shared.changed.cancel_all();
               shared.add();
             },
             [&] { clock.pass(); });
    EXPECT_TRUE(got_or(came, errc::timed_out, errc::cancelled));
    shared.expect_idle();
  });
}

TEST(model_condition, two_items_for_two_that_wait) {
  explore(
      [] {
        state shared;
        int taken = 0;
        const auto take = [&] {
          auto held = shared.guards.scoped_lock().wait();
          shared.changed.wait(held, [&] { return shared.items > 0; }).wait();
          --shared.items;
          ++taken;
        };
        together(take, take, [&] {
          shared.add();
          shared.add();
        });
        EXPECT_EQ(taken, 2);
        EXPECT_EQ(shared.items, 0);
        shared.expect_idle();
      },
      {.preemptions = 2});
}

/// One notification, and the first that waits gives up: it is not lost with it.
TEST(model_condition, a_notification_is_not_lost_with_one_that_times_out) {
  explore(
      [] {
        time clock;
        state shared;
        waited first;
        waited second;
        together(
            [&] {
              shared.wait(first, for_a_second);
              if (first.got) shared.changed.notify_one();
            },
            [&] {
              shared.wait(second, unlimited);
              shared.changed.notify_one();
            },
            [&] { shared.add(); }, [&] { clock.pass(); });
        EXPECT_TRUE(got_or(first, errc::timed_out));
        EXPECT_TRUE(second.got);
        shared.expect_idle();
      },
      {.preemptions = 2});
}

test::foreign await_notification(state& shared, executor& runs, waited& came) {
  auto held = co_await shared.guards.scoped_lock();
  auto outcome = co_await shared.changed.wait(held).as_result().resume_on(runs);
  EXPECT_TRUE(held.owns_lock());
  came.note(outcome);
}

/// A notification to a coroutine that is destroyed goes to the next, and the mutex is not held by the dead.
TEST(model_condition, a_coroutine_is_destroyed_while_it_is_notified) {
  explore([] {
    executor runs;
    state shared;
    waited first;
    waited second;
    auto dying = await_notification(shared, runs, first);
    auto behind = await_notification(shared, runs, second);
    together([&] { shared.changed.notify_one(); }, [&] { dying.destroy(); });
    runs.run_all();
    EXPECT_EQ(first.times, 0);
    EXPECT_TRUE(second.got);
    shared.expect_idle();
  });
}

TEST(model_condition, a_coroutine_is_destroyed_while_it_is_notified_and_the_mutex_is_held) {
  explore([] {
    executor runs;
    state shared;
    waited first;
    waited second;
    auto dying = await_notification(shared, runs, first);
    auto behind = await_notification(shared, runs, second);
    together([&] { shared.add(); }, [&] { dying.destroy(); });
    runs.run_all();
    EXPECT_EQ(first.times, 0);
    EXPECT_TRUE(second.got);
    shared.expect_idle();
  });
}

test::foreign await_item(state& shared, executor& runs, waited& came) {
  auto held = co_await shared.guards.scoped_lock();
  auto has_item = [&shared] { return shared.items > 0; };
  auto outcome = co_await shared.changed.wait(held, has_item).within(1s).resume_on(runs);
  EXPECT_TRUE(held.owns_lock());
  came.note(outcome);
}

/// The coroutine looks at its predicate on its executor, and waits again there.
TEST(model_condition, a_coroutine_waits_again_after_a_notification_in_vain) {
  explore(
      [] {
        time clock;
        executor runs;
        state shared;
        waited came;
        auto coroutine = await_item(shared, runs, came);
        together([&] { shared.changed.notify_one(); }, [&] { runs.run_until([&] { return came.times != 0; }); },
                 [&] { shared.add(); }, [&] { clock.pass(); });
        EXPECT_TRUE(got_or(came, errc::timed_out));
        shared.expect_idle();
      },
      {.preemptions = 2});
}

TEST(model_condition, it_is_destroyed_while_one_times_out) {
  explore([] {
    time clock;
    executor runs;
    mutex guards;
    std::optional<condition> dying(std::in_place);
    waited came;
    const auto wait = [](mutex& held_by, condition& waits, executor& on, waited& outcome) -> test::foreign {
      auto held = co_await held_by.scoped_lock();
      auto ended = co_await waits.wait(held).within(1s).resume_on(on);
      outcome.note(ended);
    };
    auto coroutine = wait(guards, *dying, runs, came);
    together([&] { dying.reset(); }, [&] { clock.pass(); });
    runs.run_all();
    EXPECT_FALSE(came.got);
    EXPECT_TRUE(got_or(came, errc::timed_out, errc::closed));
    EXPECT_FALSE(guards.locked());
  });
}

test::foreign waits_in_vain(mutex& guards, condition& changed, executor& where, waited& came) {
  auto held = co_await guards.scoped_lock();
  came.note(co_await changed.wait(held, [] { return false; }).resume_on(where).as_result());
  EXPECT_TRUE(held.owns_lock());
}

TEST(model_condition, is_destroyed_while_a_notified_waiter_locks_its_mutex) {
  explore([] {
    executor where;
    mutex guards;
    std::optional<condition> changed(std::in_place);
    waited came;
    const auto waits = waits_in_vain(guards, *changed, where, came);
    EXPECT_TRUE(guards.try_lock());
    changed->notify_one();
    together(
        [&] {
          guards.unlock();
          where.run_all();
        },
        [&] { changed.reset(); });
    where.run_all();
    EXPECT_TRUE(came.times == 1 && came.error == errc::closed);
  });
}

TEST(model_condition, is_destroyed_while_a_notified_waiter_is_destroyed) {
  explore([] {
    executor where;
    mutex guards;
    std::optional<condition> changed(std::in_place);
    waited came;
    auto waits = waits_in_vain(guards, *changed, where, came);
    EXPECT_TRUE(guards.try_lock());
    changed->notify_one();
    together([&] { waits.destroy(); }, [&] { changed.reset(); });
    EXPECT_EQ(came.times, 0);
    EXPECT_EQ(guards.waiting(), 0u);
    guards.unlock();
  });
}

}  // namespace
}  // namespace weir::model
