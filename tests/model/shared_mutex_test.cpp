// The races of shared_mutex.

#include <weir/shared_mutex.hpp>

#include <model/cases.hpp>
#include <model/locked_subject.hpp>

namespace weir::model {
namespace {

struct writer_after_reader_subject {
  static constexpr bool consumes = true;
  static constexpr bool gives_back = true;

  writer_after_reader_subject() { object.try_lock_shared(); }
  ~writer_after_reader_subject() {
    if (object.locked()) object.unlock();
    while (object.readers() != 0) object.unlock_shared();
  }

  auto wait() { return object.lock(); }
  int grant() { return object.unlock_shared(), 1; }
  void put_back() { object.unlock(); }
  int left() const { return object.locked() || object.readers() != 0 ? 0 : 1; }
  void free() { object.unlock(); }

  shared_mutex object;
};

struct reader_subject {
  static constexpr bool consumes = false;
  static constexpr bool gives_back = true;

  reader_subject() { object.try_lock(); }
  ~reader_subject() {
    if (object.locked()) object.unlock();
    while (object.readers() != 0) object.unlock_shared();
  }

  auto wait() { return object.lock_shared(); }
  int grant() { return object.unlock(), 1; }
  void put_back() { object.unlock_shared(); }
  int left() const { return object.locked() || object.readers() != 0 ? 0 : 1; }
  void free() { object.unlock_shared(); }

  shared_mutex object;
};

INSTANTIATE_TYPED_TEST_SUITE_P(shared_mutex_lock, race, locked_subject<shared_mutex>);
INSTANTIATE_TYPED_TEST_SUITE_P(shared_mutex_lock_after_reader, race, writer_after_reader_subject);
INSTANTIATE_TYPED_TEST_SUITE_P(shared_mutex_lock_shared, race, reader_subject);

TEST(model_shared_mutex, an_upgrade_against_the_last_other_reader_and_a_time_out) {
  explore([] {
    time clock;
    shared_mutex m;
    waited came;
    m.try_lock_shared();
    m.try_lock_shared();
    together([&] { came.note(m.upgrade().within(1s).wait()); }, [&] { m.unlock_shared(); }, [&] { clock.pass(); });
    EXPECT_TRUE(got_or(came, errc::timed_out));
    EXPECT_EQ(m.locked(), came.got);
    EXPECT_EQ(m.readers(), came.got ? 0u : 1u);
    EXPECT_TRUE(m.check_invariants());
    came.got ? m.unlock() : m.unlock_shared();
  });
}

TEST(model_shared_mutex, an_upgrade_against_close) {
  explore([] {
    shared_mutex m;
    waited came;
    m.try_lock_shared();
    m.try_lock_shared();
    together([&] { came.note(m.upgrade().as_result().wait()); }, [&] { m.unlock_shared(); }, [&] { m.close(); });
    EXPECT_TRUE(got_or(came, errc::closed));
    came.got ? m.unlock() : m.unlock_shared();
    EXPECT_FALSE(m.locked());
    EXPECT_EQ(m.readers(), 0u);
  });
}

TEST(model_shared_mutex, two_upgrades_at_once_are_not_both_let_in) {
  explore([] {
    shared_mutex m;
    int writers = 0;
    int refused = 0;
    const auto upgrade = [&] {
      m.lock_shared().wait();
      if (m.upgrade().as_result().wait()) {
        EXPECT_EQ(++writers, 1);
        point();
        --writers;
        m.unlock();
      } else {
        ++refused;
        m.unlock_shared();
      }
    };
    together(upgrade, upgrade);
    EXPECT_LE(refused, 1);
    EXPECT_FALSE(m.locked());
    EXPECT_EQ(m.readers(), 0u);
  });
}

TEST(model_shared_mutex, an_upgrade_is_withdrawn_and_those_that_it_held_back_enter) {
  explore([] {
    shared_mutex m;
    waited up;
    waited reader;
    m.try_lock_shared();
    m.try_lock_shared();
    auto ticket = m.upgrade().start(up.callback());
    auto second = m.lock_shared().start(reader.callback());
    bool cancelled = false;
    together([&] { m.unlock_shared(); }, [&] { cancelled = ticket.cancel(); });
    EXPECT_EQ(cancelled, !up.got);
    up.got ? m.unlock() : m.unlock_shared();
    EXPECT_TRUE(reader.got);
    m.unlock_shared();
    EXPECT_EQ(m.readers(), 0u);
  });
}

/// "Readers keep entering past a waiting writer", and its end: the writer is withdrawn.
TEST(model_shared_mutex, a_writer_is_withdrawn_and_the_readers_behind_it_enter) {
  explore([] {
    time clock;
    shared_mutex m;
    waited writer;
    waited reader;
    m.try_lock_shared();
    auto first = m.lock().within(1s).start(writer.callback());
    auto second = m.lock_shared().start(reader.callback());
    together([&] { clock.pass(); },
             [&] {
               const bool entered = m.try_lock_shared();
               EXPECT_TRUE(!entered || m.readers() == 3) << "the one that stood behind the writer is first";
             });
    EXPECT_EQ(writer.error, errc::timed_out);
    EXPECT_TRUE(reader.got);
    while (m.readers() != 0) m.unlock_shared();
  });
}

TEST(model_shared_mutex, readers_and_writers_exclude_one_another) {
  explore([] {
    shared_mutex m;
    int reading = 0;
    int writing = 0;
    const auto read = [&] {
      m.lock_shared().wait();
      ++reading;
      EXPECT_EQ(writing, 0);
      point();
      --reading;
      m.unlock_shared();
    };
    const auto write = [&] {
      m.lock().wait();
      EXPECT_EQ(++writing, 1);
      EXPECT_EQ(reading, 0);
      point();
      --writing;
      m.downgrade();
      ++reading;
      EXPECT_EQ(writing, 0);
      --reading;
      m.unlock_shared();
    };
    together(read, write, write);
    EXPECT_FALSE(m.locked());
    EXPECT_EQ(m.readers(), 0u);
  });
}

}  // namespace
}  // namespace weir::model
