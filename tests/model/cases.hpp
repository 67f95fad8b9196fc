#pragma once

// The races that every synchronizer runs, whatever it is. A subject has
//   object                 the synchronizer, such that a wait has to wait
//   wait()                 the operation
//   int grant()            gives one wait what it waits for. How many that were: 0 if it was refused
//   put_back()             by one that was granted and is done with it
//   int left()             grants that nobody has taken
//   consumes               a grant is for one wait; else for all
//   gives_back             what was granted to a coroutine that is destroyed goes to others

#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include <weir/event.hpp>
#include <weir/wait/select.hpp>

#include <model/scenario.hpp>

namespace weir::model {

/// At the end: nobody is queued, and nothing is lost or doubled.
template <class Subject, class... Waited>
void expect_conserved(Subject& subject, int grants, const Waited&... came) {
  EXPECT_TRUE(((came.times == 1) && ...));
  EXPECT_EQ(subject.object.waiting(), 0u);
  EXPECT_TRUE(subject.object.check_invariants());
  if constexpr (Subject::consumes) {
    EXPECT_EQ(subject.left(), grants - (static_cast<int>(came.got) + ...));
  }
  ((came.got ? subject.put_back() : void()), ...);
}

template <class Object>
void until_somebody_waits(const Object& object) {
  for (platform::spinner until; object.waiting() == 0;) until.step();
}

template <class Subject>
class race : public testing::Test {};
TYPED_TEST_SUITE_P(race);

TYPED_TEST_P(race, a_grant_against_a_time_out) {
  explore([] {
    time clock;
    TypeParam subject;
    waited came;
    int grants = 0;
    together([&] { came.note(subject.wait().within(1s).wait()); }, [&] { grants = subject.grant(); },
             [&] { clock.pass(); });
    EXPECT_TRUE(got_or(came, errc::timed_out));
    expect_conserved(subject, grants, came);
  });
}

TYPED_TEST_P(race, a_grant_against_a_time_out_of_a_callback) {
  explore([] {
    time clock;
    TypeParam subject;
    waited came;
    int grants = 0;
    together([&] { std::ignore = subject.wait().within(1s).start(came.callback()); }, [&] { grants = subject.grant(); },
             [&] { clock.pass(); });
    EXPECT_TRUE(got_or(came, errc::timed_out));
    expect_conserved(subject, grants, came);
  });
}

TYPED_TEST_P(race, a_grant_against_a_stop) {
  explore([] {
    platform::stop_source stop;
    TypeParam subject;
    waited came;
    int grants = 0;
    together([&] { came.note(subject.wait().stop_on(stop.get_token()).wait()); }, [&] { grants = subject.grant(); },
             [&] { stop.request_stop(); });
    EXPECT_TRUE(got_or(came, errc::cancelled));
    expect_conserved(subject, grants, came);
  });
}

/// "A stop that was requested before the grant loses to it because it is armed after queueing."
TYPED_TEST_P(race, a_stop_requested_before_the_grant_wins) {
  explore([] {
    platform::stop_source stop;
    TypeParam subject;
    waited came;
    int grants = 0;
    together([&] { came.note(subject.wait().stop_on(stop.get_token()).wait()); },
             [&] {
               until_somebody_waits(subject.object);
               stop.request_stop();
               grants = subject.grant();
             });
    EXPECT_EQ(came.error, errc::cancelled);
    expect_conserved(subject, grants, came);
  });
}

TYPED_TEST_P(race, a_time_limit_that_passed_before_the_grant_wins) {
  explore([] {
    time clock;
    TypeParam subject;
    waited came;
    int grants = 0;
    together([&] { came.note(subject.wait().within(1s).wait()); },
             [&] {
               until_somebody_waits(subject.object);
               clock.pass();
               grants = subject.grant();
             });
    EXPECT_EQ(came.error, errc::timed_out);
    expect_conserved(subject, grants, came);
  });
}

TYPED_TEST_P(race, a_stop_against_a_time_out) {
  explore([] {
    time clock;
    platform::stop_source stop;
    TypeParam subject;
    waited came;
    together([&] { came.note(subject.wait().within(1s).stop_on(stop.get_token()).wait()); },
             [&] { stop.request_stop(); }, [&] { clock.pass(); });
    EXPECT_FALSE(came.got);
    EXPECT_TRUE(got_or(came, errc::timed_out, errc::cancelled));
    expect_conserved(subject, 0, came);
  });
}

TYPED_TEST_P(race, a_grant_against_the_cancel_of_a_ticket) {
  explore([] {
    TypeParam subject;
    waited came;
    int grants = 0;
    bool cancelled = false;
    auto ticket = subject.wait().start(came.callback());
    together([&] { grants = subject.grant(); }, [&] { cancelled = ticket.cancel(); });
    EXPECT_EQ(came.got, !cancelled);
    EXPECT_TRUE(got_or(came, errc::cancelled));
    expect_conserved(subject, grants, came);
  });
}

TYPED_TEST_P(race, a_grant_while_it_is_started_and_cancelled) {
  explore([] {
    time clock;
    TypeParam subject;
    waited came;
    int grants = 0;
    bool cancelled = false;
    together([&] { grants = subject.grant(); },
             [&] {
               auto ticket = subject.wait().within(1s).start(came.callback());
               cancelled = ticket.cancel();
             });
    EXPECT_EQ(came.got, !cancelled);
    expect_conserved(subject, grants, came);
  });
}

TYPED_TEST_P(race, a_grant_against_close) {
  explore([] {
    TypeParam subject;
    waited came;
    int grants = 0;
    together([&] { came.note(subject.wait().as_result().wait()); }, [&] { grants = subject.grant(); },
             [&] { subject.object.close(); });
    EXPECT_TRUE(came.got || came.error == errc::closed || !came.error);
    expect_conserved(subject, grants, came);
  });
}

TYPED_TEST_P(race, a_grant_against_cancel_all) {
  explore([] {
    time clock;
    TypeParam subject;
    waited came;
    int grants = 0;
    std::size_t cancelled = 0;
    auto ticket = subject.wait().within(1s).start(came.callback());
    together([&] { grants = subject.grant(); }, [&] { cancelled = subject.object.cancel_all(); },
             [&] { clock.pass(); });
    EXPECT_TRUE(got_or(came, errc::cancelled, errc::timed_out));
    EXPECT_EQ(cancelled == 1, came.error == errc::cancelled);
    expect_conserved(subject, grants, came);
  });
}

TYPED_TEST_P(race, one_grant_is_passed_on_by_two_waiters) {
  explore([] {
    TypeParam subject;
    waited first;
    waited second;
    const auto wait = [&](waited& came) {
      came.note(subject.wait().as_result().wait());
      subject.put_back();
    };
    together([&] { wait(first); }, [&] { wait(second); }, [&] { subject.grant(); });
    EXPECT_TRUE(first.got && second.got);
    EXPECT_EQ(subject.object.waiting(), 0u);
    EXPECT_TRUE(!TypeParam::consumes || subject.left() == (1));
  });
}

/// "The head is cancelled, and those behind it stay stuck."
TYPED_TEST_P(race, the_head_times_out_while_it_is_granted_and_another_waits_behind_it) {
  explore([] {
    time clock;
    TypeParam subject;
    waited head;
    waited behind;
    auto first = subject.wait().within(1s).start(head.callback());
    auto second = subject.wait().start(behind.callback());
    together([&] { subject.grant(); }, [&] { clock.pass(); });
    EXPECT_EQ(head.times, 1);
    EXPECT_TRUE(!TypeParam::consumes || behind.times == (head.got ? 0 : 1));
    if (TypeParam::consumes && head.got) subject.put_back();
    EXPECT_TRUE(behind.got);
    subject.put_back();
    EXPECT_EQ(subject.object.waiting(), 0u);
  });
}

/// A completion waits again, on the same object.
TYPED_TEST_P(race, a_completion_enters_again) {
  explore([] {
    TypeParam subject;
    waited first;
    waited again;
    ticket second;
    auto one = subject.wait().start([&](const auto& outcome) {
      first.note(outcome);
      second = subject.wait().start(again.callback());
      if (first.got) subject.put_back();
    });
    together([&] { subject.grant(); }, [&] { one.cancel(); });
    EXPECT_EQ(first.times, 1);
    EXPECT_TRUE(again.got);
    subject.put_back();
    EXPECT_EQ(subject.object.waiting(), 0u);
  });
}

/// "A grant to a coroutine that is destroyed before it resumes is lost with it."
TYPED_TEST_P(race, a_coroutine_is_destroyed_while_it_is_granted) {
  explore([] {
    executor runs;
    TypeParam subject;
    waited came;
    int grants = 0;
    auto coroutine = await(subject.wait().as_result().resume_on(runs), came);
    together([&] { grants = subject.grant(); }, [&] { coroutine.destroy(); });
    EXPECT_EQ(came.times, 0);
    EXPECT_TRUE(runs.empty());
    EXPECT_TRUE(!TypeParam::gives_back || subject.left() == (grants));
    EXPECT_EQ(subject.object.waiting(), 0u);
  });
}

TYPED_TEST_P(race, a_coroutine_is_destroyed_while_it_is_granted_or_times_out) {
  explore([] {
    time clock;
    executor runs;
    TypeParam subject;
    waited came;
    int grants = 0;
    auto coroutine = await(subject.wait().within(1s).resume_on(runs), came);
    together([&] { grants = subject.grant(); }, [&] { clock.pass(); }, [&] { coroutine.destroy(); });
    EXPECT_EQ(came.times, 0);
    EXPECT_TRUE(runs.empty());
    EXPECT_TRUE(!TypeParam::gives_back || subject.left() == (grants));
    EXPECT_EQ(subject.object.waiting(), 0u);
  });
}

/// "The object is used after its last waiter destroyed it."
TYPED_TEST_P(race, the_one_that_is_granted_destroys_the_object) {
  explore([] {
    std::optional<TypeParam> subject(std::in_place);
    waited came;
    together(
        [&] {
          came.note(subject->wait().as_result().wait());
          if constexpr (requires { subject->free(); }) subject->free();
          subject.reset();
        },
        [&] { subject->grant(); });
    EXPECT_TRUE(came.got);
  });
}

// Select: with an event as the other branch.

TYPED_TEST_P(race, select_is_granted_twice_at_once) {
  explore([] {
    event other;
    TypeParam subject;
    waited came;
    int grants = 0;
    together([&] { came.note(select(subject.wait(), other.wait()).as_result().wait()); },
             [&] { grants = subject.grant(); }, [&] { other.set(); });
    EXPECT_TRUE(came.got);
    EXPECT_EQ(other.waiting(), 0u);
    came.got = came.index == 0;
    expect_conserved(subject, grants, came);
  });
}

TYPED_TEST_P(race, select_is_granted_and_times_out) {
  explore([] {
    time clock;
    event other;
    TypeParam subject;
    waited came;
    int grants = 0;
    together([&] { came.note(select(other.wait(), subject.wait()).within(1s).wait()); },
             [&] { grants = subject.grant(); }, [&] { clock.pass(); });
    EXPECT_TRUE(got_or(came, errc::timed_out));
    EXPECT_EQ(other.waiting(), 0u);
    expect_conserved(subject, grants, came);
  });
}

TYPED_TEST_P(race, select_of_the_same_object_twice) {
  explore([] {
    time clock;
    TypeParam subject;
    waited came;
    int grants = 0;
    together([&] { came.note(select(subject.wait(), subject.wait()).within(1s).wait()); },
             [&] { grants = subject.grant(); }, [&] { clock.pass(); });
    EXPECT_TRUE(got_or(came, errc::timed_out));
    expect_conserved(subject, grants, came);
  });
}

TYPED_TEST_P(race, one_object_of_a_select_is_destroyed_while_the_other_grants) {
  explore([] {
    std::optional<event> dying(std::in_place);
    TypeParam subject;
    waited came;
    int grants = 0;
    auto ticket = select(dying->wait(), subject.wait()).as_result().start(came.callback());
    together([&] { grants = subject.grant(); }, [&] { dying.reset(); });
    EXPECT_TRUE(got_or(came, errc::closed));
    expect_conserved(subject, grants, came);
  });
}

REGISTER_TYPED_TEST_SUITE_P(race, a_grant_against_a_time_out, a_grant_against_a_time_out_of_a_callback,
                            a_grant_against_a_stop, a_stop_requested_before_the_grant_wins,
                            a_time_limit_that_passed_before_the_grant_wins, a_stop_against_a_time_out,
                            a_grant_against_the_cancel_of_a_ticket, a_grant_while_it_is_started_and_cancelled,
                            a_grant_against_close, a_grant_against_cancel_all, one_grant_is_passed_on_by_two_waiters,
                            the_head_times_out_while_it_is_granted_and_another_waits_behind_it,
                            a_completion_enters_again, a_coroutine_is_destroyed_while_it_is_granted,
                            a_coroutine_is_destroyed_while_it_is_granted_or_times_out,
                            the_one_that_is_granted_destroys_the_object, select_is_granted_twice_at_once,
                            select_is_granted_and_times_out, select_of_the_same_object_twice,
                            one_object_of_a_select_is_destroyed_while_the_other_grants);

// Where grants add up.

template <class Subject>
class sum : public testing::Test {};
TYPED_TEST_SUITE_P(sum);

TYPED_TEST_P(sum, two_grants_against_two_waiters) {
  explore([] {
    TypeParam subject;
    waited first;
    waited second;
    int grants = 0;
    const auto grant = [&] { grants += subject.grant(); };
    auto ticket = subject.wait().start(first.callback());
    together([&] { second.note(subject.wait().as_result().wait()); }, grant, grant);
    EXPECT_TRUE(first.got && second.got);
    expect_conserved(subject, grants, first, second);
  });
}

/// "A timed-out waiter stays queued, is woken later and eats a permit."
TYPED_TEST_P(sum, two_grants_against_one_that_times_out_and_one_behind_it) {
  explore([] {
    time clock;
    TypeParam subject;
    waited head;
    waited behind;
    int grants = 0;
    const auto grant = [&] { grants += subject.grant(); };
    auto first = subject.wait().within(1s).start(head.callback());
    auto second = subject.wait().start(behind.callback());
    together(grant, grant, [&] { clock.pass(); });
    EXPECT_TRUE(got_or(head, errc::timed_out));
    EXPECT_TRUE(behind.got);
    expect_conserved(subject, grants, head, behind);
  });
}

REGISTER_TYPED_TEST_SUITE_P(sum, two_grants_against_two_waiters,
                            two_grants_against_one_that_times_out_and_one_behind_it);

// What may be destroyed while somebody waits for it: all but what is locked.

template <class Subject>
class death : public testing::Test {};
TYPED_TEST_SUITE_P(death);

TYPED_TEST_P(death, against_the_cancel_of_a_ticket) {
  explore([] {
    auto subject = std::make_unique<TypeParam>();  // on the heap, where the explorer finds a late access
    waited came;
    bool cancelled = false;
    auto ticket = subject->wait().start(came.callback());
    together([&] { subject.reset(); }, [&] { cancelled = ticket.cancel(); });
    EXPECT_EQ(came.times, 1);
    EXPECT_FALSE(came.got);
    EXPECT_EQ(came.error == errc::cancelled, cancelled);
  });
}

TYPED_TEST_P(death, against_a_time_out_and_a_stop) {
  explore([] {
    time clock;
    platform::stop_source stop;
    auto subject = std::make_unique<TypeParam>();
    waited came;
    auto ticket = subject->wait().within(1s).stop_on(stop.get_token()).start(came.callback());
    together([&] { subject.reset(); }, [&] { clock.pass(); }, [&] { stop.request_stop(); });
    EXPECT_EQ(came.times, 1);
    EXPECT_FALSE(came.got);
  });
}

/// "A canceller that won touches an object that its owner is destroying."
TYPED_TEST_P(death, against_a_select_that_another_object_grants) {
  explore([] {
    event other;
    auto subject = std::make_unique<TypeParam>();
    waited came;
    auto ticket = select(subject->wait(), other.wait()).as_result().start(came.callback());
    together([&] { subject.reset(); }, [&] { other.set(); });
    EXPECT_EQ(came.times, 1);
    EXPECT_EQ(other.waiting(), 0u);
  });
}

/// The wait is given up while it is being started, so it is never queued, and the party that gave it up finishes later.
TYPED_TEST_P(death, after_a_start_against_a_stop) {
  explore([] {
    platform::stop_source stop;
    auto subject = std::make_unique<TypeParam>();
    waited came;
    ticket started;
    together(
        [&] {
          started = subject->wait().stop_on(stop.get_token()).start(came.callback());
          subject.reset();
        },
        [&] { stop.request_stop(); });
    EXPECT_EQ(came.times, 1);
    EXPECT_FALSE(came.got);
  });
}

TYPED_TEST_P(death, after_a_start_against_a_time_out) {
  explore([] {
    time clock;
    auto subject = std::make_unique<TypeParam>();
    waited came;
    ticket started;
    together(
        [&] {
          started = subject->wait().within(1s).start(came.callback());
          subject.reset();
        },
        [&] { clock.pass(); });
    EXPECT_EQ(came.times, 1);
    EXPECT_FALSE(came.got);
  });
}

/// The same for a branch that comes after the one that was granted during the start.
TYPED_TEST_P(death, after_a_start_against_a_select_that_another_object_grants) {
  explore([] {
    event other;
    auto subject = std::make_unique<TypeParam>();
    waited came;
    ticket started;
    together(
        [&] {
          started = select(other.wait(), subject->wait()).as_result().start(came.callback());
          subject.reset();
        },
        [&] { other.set(); });
    EXPECT_EQ(came.times, 1);
    EXPECT_EQ(other.waiting(), 0u);
  });
}

REGISTER_TYPED_TEST_SUITE_P(death, against_the_cancel_of_a_ticket, against_a_time_out_and_a_stop,
                            against_a_select_that_another_object_grants, after_a_start_against_a_stop,
                            after_a_start_against_a_time_out,
                            after_a_start_against_a_select_that_another_object_grants);

}  // namespace weir::model
