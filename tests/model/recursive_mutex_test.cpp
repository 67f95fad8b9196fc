// The races of recursive_mutex.

#include <weir/recursive_mutex.hpp>

#include <model/cases.hpp>

namespace weir::model {
namespace {

struct recursive_subject {
  static constexpr bool consumes = true;
  static constexpr bool gives_back = true;

  recursive_subject() { object.try_lock(); }
  ~recursive_subject() {
    if (object.locked()) object.unlock();
  }

  auto wait() { return object.lock(); }
  int grant() { return object.unlock(), 1; }
  void put_back() { object.unlock(); }
  int left() const { return object.locked() ? 0 : 1; }
  void free() { object.unlock(); }

  recursive_mutex object;
};

INSTANTIATE_TYPED_TEST_SUITE_P(recursive_mutex, race, recursive_subject);

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
