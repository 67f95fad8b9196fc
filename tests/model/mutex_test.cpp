// The races of mutex.

#include <weir/mutex.hpp>

#include <model/cases.hpp>
#include <model/locked_subject.hpp>

namespace weir::model {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(mutex, race, locked_subject<mutex>);

TEST(model_mutex, three_exclude_one_another) {
  explore([] {
    mutex m;
    int inside = 0;
    int entered = 0;
    const auto enter = [&] {
      m.lock().wait();
      EXPECT_EQ(++inside, 1);
      point();
      ++entered;
      --inside;
      m.unlock();
    };
    together(enter, enter, enter);
    EXPECT_EQ(entered, 3);
    EXPECT_FALSE(m.locked());
  });
}

TEST(model_mutex, try_lock_against_a_hand_over) {
  explore([] {
    mutex m;
    waited came;
    bool stolen = false;
    m.try_lock();
    auto ticket = m.lock().start(came.callback());
    together([&] { m.unlock(); }, [&] { stolen = m.try_lock(); });
    EXPECT_TRUE(came.got);
    EXPECT_FALSE(stolen);
    m.unlock();
    EXPECT_FALSE(m.locked());
  });
}

TEST(model_mutex, its_owner_is_refused_and_no_other) {
  explore([] {
    mutex m;
    const auto lock_twice = [&] {
      m.lock().wait();
      EXPECT_EQ(m.lock().as_result().wait().error(), errc::would_deadlock);
      m.unlock();
    };
    together(lock_twice, lock_twice, [&] {
      if (!m.try_lock()) return;
      m.unlock();
    });
    EXPECT_FALSE(m.locked());
  });
}

TEST(model_mutex, who_has_unlocked_is_not_taken_for_the_owner) {
  explore([] {
    mutex m;
    together(
        [&] {
          for (int i = 0; i < 2; ++i) {
            EXPECT_TRUE(m.lock().as_result().wait());
            m.unlock();
          }
        },
        [&] {
          if (m.try_lock()) m.unlock();
        });
    EXPECT_FALSE(m.locked());
  });
}

TEST(model_mutex, cancel_of_the_head_against_an_unlock_and_a_newcomer) {
  explore([] {
    mutex m;
    waited head;
    waited late;
    m.try_lock();
    auto ticket = m.lock().start([&](const auto& outcome) {
      head.note(outcome);
      if (head.got) m.unlock();
    });
    together([&] { m.unlock(); }, [&] { ticket.cancel(); },
             [&] {
               late.note(m.lock().as_result().wait());
               m.unlock();
             });
    EXPECT_TRUE(got_or(head, errc::cancelled));
    EXPECT_TRUE(late.got);
    EXPECT_FALSE(m.locked());
  });
}

}  // namespace
}  // namespace weir::model
