// G10 (see publication.hpp): mutexes, guarded and condition.

#include <thread>
#include <tuple>

#include <gtest/gtest.h>

#include <weir/weir.hpp>

#include <stress/publication.hpp>

namespace weir::publication {
namespace {

// mutex, recursive_mutex, guarded, condition

struct locked_mutex : mutex {
  locked_mutex() { std::ignore = try_lock(); }
};

TEST(publication, G10_an_unlock_is_ordered_before_the_next_lock) {
  const auto unlock = [](mutex& m) { m.unlock(); };
  published_first<locked_mutex>(unlock, [](mutex& m) { const auto held = m.scoped_lock().wait(); });
  published_later<locked_mutex>(unlock, [](mutex& m) { const auto held = m.scoped_lock().wait(); }, waiting);
  published_first<locked_mutex>(unlock, [](mutex& m) {
    spin_until([&] { return m.try_lock(); });
    m.unlock();
  });
}

TEST(publication, G10_an_unlock_is_ordered_before_a_reading_that_finds_the_mutex_unlocked) {
  published_first<locked_mutex>([](mutex& m) { m.unlock(); },
                                [](mutex& m) { spin_until([&] { return !m.locked(); }); });
}

TEST(publication, G10_the_last_unlock_of_a_recursive_mutex_is_ordered_before_the_next_lock) {
  for (int round = 0; round < rounds; ++round) {
    recursive_mutex m;
    int data = 0;
    const auto enters = [&] {
      m.lock().wait();
      m.lock().wait();
      ++data;
      m.unlock();
      ++data;
      m.unlock();
    };
    {
      const std::jthread one(enters);
      const std::jthread two(enters);
      const std::jthread tries([&] {
        spin_until([&] { return m.try_lock(); });
        data += 2;
        m.unlock();
      });
    }
    EXPECT_EQ(data, 6);
  }
}

TEST(publication, G10_a_notification_is_ordered_before_the_wait_that_it_ends) {
  for (int round = 0; round < rounds; ++round) {
    mutex m;
    condition changed;
    int data = 0;
    const std::jthread notifies([&] {
      spin_until([&] { return changed.waiting() != 0; });
      data = 1;
      changed.notify_one();
    });
    auto held = m.scoped_lock().wait();
    changed.wait(held).wait();
    EXPECT_EQ(data, 1);
  }
}

TEST(publication, G10_the_predicate_of_a_condition_reads_what_was_written_under_the_mutex) {
  for (int round = 0; round < rounds; ++round) {
    mutex m;
    condition changed;
    int data = 0;
    const std::jthread notifies([&] {
      for (int i = 0; i < 3; ++i) {
        {
          const auto held = m.scoped_lock().wait();
          ++data;
        }
        changed.notify_all();
      }
    });
    auto held = m.scoped_lock().wait();
    changed.wait(held, [&] { return data == 3; }).wait();
    EXPECT_EQ(data, 3);
  }
}

// shared_mutex

TEST(publication, G10_the_unlock_of_a_writer_is_ordered_before_the_reader_that_enters_next) {
  struct held : shared_mutex {
    held() { std::ignore = try_lock(); }
  };
  const auto unlock = [](shared_mutex& m) { m.unlock(); };
  published_first<held>(unlock, [](shared_mutex& m) { const auto in = m.scoped_lock_shared().wait(); });
  published_later<held>(unlock, [](shared_mutex& m) { const auto in = m.scoped_lock_shared().wait(); }, waiting);
  published_first<held>(unlock, [](shared_mutex& m) {
    spin_until([&] { return m.try_lock_shared(); });
    m.unlock_shared();
  });
  published_later<held>(unlock, [](shared_mutex& m) { const auto in = m.scoped_lock().wait(); }, waiting);
}

TEST(publication, G10_a_downgrade_is_ordered_before_the_reader_that_it_lets_in) {
  struct held : shared_mutex {
    held() { std::ignore = try_lock(); }
  };
  const auto downgrade = [](shared_mutex& m) { m.downgrade(); };
  const auto read = [](shared_mutex& m) {
    m.lock_shared().wait();
    m.unlock_shared();
    m.unlock_shared();  // also for the other thread
  };
  published_first<held>(downgrade, read);
  published_later<held>(downgrade, read, waiting);
}

TEST(publication, G10_the_unlock_of_every_reader_is_ordered_before_the_writer_that_enters_next) {
  struct read_by_two : shared_mutex {
    read_by_two() {
      std::ignore = try_lock_shared();
      std::ignore = try_lock_shared();
    }
  };
  const auto unlock = [](shared_mutex& m) { m.unlock_shared(); };
  const auto lock = [](shared_mutex& m) { const auto in = m.scoped_lock().wait(); };
  published_by_two<read_by_two>(unlock, lock);
  published_by_two_later<read_by_two>(unlock, lock);
  published_by_two<read_by_two>(unlock, [](shared_mutex& m) {
    spin_until([&] { return m.try_lock(); });
    m.unlock();
  });
}

TEST(publication, G10_the_unlock_of_every_other_reader_is_ordered_before_an_upgrade) {
  struct read_by_three : shared_mutex {
    read_by_three() {
      for (int i = 0; i < 3; ++i) std::ignore = try_lock_shared();
    }
  };
  const auto unlock = [](shared_mutex& m) { m.unlock_shared(); };
  const auto upgrade = [](shared_mutex& m) {
    m.upgrade().wait();
    m.unlock();
  };
  published_by_two<read_by_three>(unlock, upgrade);
  published_by_two_later<read_by_three>(unlock, upgrade);
}

}  // namespace
}  // namespace weir::publication
