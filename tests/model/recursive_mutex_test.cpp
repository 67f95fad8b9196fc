// The races of recursive_mutex.

#include <weir/recursive_mutex.hpp>

#include <model/cases.hpp>
#include <model/locked_subject.hpp>

namespace weir::model {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(recursive_mutex, race, locked_subject<recursive_mutex>);

TEST(model_recursive_mutex, two_lock_twice) {
  explore([] {
    recursive_mutex m;
    int inside = 0;
    const auto enter = [&] {
      m.lock().wait();
      m.lock().wait();
      EXPECT_EQ(++inside, 1);
      m.unlock();
      --inside;
      m.unlock();
    };
    together(enter, enter);
    EXPECT_FALSE(m.locked());
    EXPECT_TRUE(m.check_invariants());
  });
}

TEST(model_recursive_mutex, two_of_one_name_against_the_unlock) {
  explore([] {
    recursive_mutex m;
    const auto name = owner_id::make();
    waited first;
    waited second;
    m.try_lock();
    auto one = m.lock(name).start(first.callback());
    together([&] { m.unlock(); }, [&] { second.note(m.lock(name).as_result().wait()); });
    EXPECT_TRUE(first.got && second.got);
    m.unlock();
    EXPECT_TRUE(m.locked());
    m.unlock();
    EXPECT_FALSE(m.locked());
  });
}

}  // namespace
}  // namespace weir::model
