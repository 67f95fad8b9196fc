// Small random programs of two threads, thousands for each synchronizer: what has come of them must be linearizable.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <sequential/history.hpp>
#include <sequential/program.hpp>
#include <sequential/subjects.hpp>
#include <support/build.hpp>

namespace weir::sequential {
namespace {

constexpr std::size_t threads = 2;
constexpr std::size_t commands_each = 5;

/// One program and its history. Threads wait blocked, for some microseconds at most.
template <class Subject>
class round {
  using model = typename Subject::model;

 public:
  explicit round(std::uint32_t seed)
      : program_(random_program<model, is_one<Subject>>(seed, threads, commands_each, false)), notes_(threads) {
    kept_.records.resize(threads * commands_each);
  }

  void run(std::size_t thread) {
    int has = 0;
    here_.fetch_add(1, std::memory_order_relaxed);  // relaxed: only so that they begin together
    while (here_.load(std::memory_order_relaxed) != threads) std::this_thread::yield();
    for (const command& each : program_[thread]) {
      wish asked = each.asked;
      asked.who = static_cast<int>(thread);
      record& of = kept_.records[static_cast<std::size_t>(asked.id)];
      of.asked = asked;
      if (is_by_owner<model>(asked)) {
        if (has == 0) continue;
        --has;
      }
      note(thread, moment::begins, asked.id);
      if (is_wait<model>(asked)) {
        of.came = subject_.wait(asked, [](auto operation) {
          return outcome_of(std::move(operation).within(std::chrono::microseconds(3)).as_result().wait());
        });
      } else {
        of.returned = call(subject_, asked);
      }
      if (of.came.how == fate::granted || of.returned == 1) ++has;
      note(thread, moment::ends, asked.id);
    }
  }

  const history& ended() {
    std::vector<entry> all;
    for (const auto& of : notes_) all.insert(all.end(), of.begin(), of.end());
    std::sort(all.begin(), all.end());
    for (const auto& [when, what, id] : all) kept_.events.emplace_back(what, static_cast<std::uint8_t>(id));
    return kept_;
  }

 private:
  using entry = std::tuple<std::uint64_t, moment, int>;

  void note(std::size_t thread, moment what, int id) { notes_[thread].emplace_back(clock_.fetch_add(1), what, id); }

  program program_;
  Subject subject_;
  history kept_;
  std::vector<std::vector<entry>> notes_;
  std::atomic<std::size_t> here_{0};
  std::atomic<std::uint64_t> clock_{0};  // its order is that of what is between two notes: seq_cst
};

/// The other thread, which runs its half of every round.
template <class Subject>
class other {
 public:
  void run(round<Subject>& with) {
    with_.store(&with, std::memory_order_release);  // release: the round that was made
    with_.notify_one();
    with.run(0);
    with_.wait(&with, std::memory_order_acquire);  // acquire: what the other has written to it
  }
  void end() {
    ends_ = true;
    with_.store(&nobody_, std::memory_order_release);  // release: ends_
    with_.notify_one();
  }

 private:
  void live() {
    for (;;) {
      with_.wait(nullptr, std::memory_order_acquire);  // acquire: the round, or that it ends
      if (ends_) return;
      with_.load(std::memory_order_acquire)->run(1);
      with_.store(nullptr, std::memory_order_release);  // release: what was written to it
      with_.notify_one();
    }
  }

  round<Subject> nobody_{0};
  std::atomic<round<Subject>*> with_{nullptr};
  bool ends_ = false;
  std::jthread thread_{[this] { live(); }};
};

template <class Subject>
class histories : public testing::Test {};

struct names {
  template <class Subject>
  static std::string GetName(int) {
    return Subject::name;
  }
};
TYPED_TEST_SUITE(histories, each_subject<testing::Types>, names);

TYPED_TEST(histories, of_two_threads_are_linearizable) {
  const char* asked = std::getenv("WEIR_SEED");
  const std::uint32_t first = asked == nullptr ? 1 : static_cast<std::uint32_t>(std::atoi(asked));
  const std::uint32_t programs = test::sanitized ? 1'000 : 10'000;
  other<TypeParam> beside;
  for (std::uint32_t seed = first; seed < first + programs; ++seed) {
    round<TypeParam> together(seed);
    beside.run(together);
    const history& came = together.ended();
    if (linearization<typename TypeParam::model>::exists(came)) continue;
    ADD_FAILURE() << "no sequential order explains\n"
                  << describe<typename TypeParam::model>(came) << "again with WEIR_SEED=" << seed;
    break;
  }
  beside.end();
}

}  // namespace
}  // namespace weir::sequential
