// Small random programs of two or three fibers, in all interleavings: what has come of them must be linearizable.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <model/explorer.hpp>
#include <model/memory.hpp>
#include <model/scenario.hpp>
#include <sequential/history.hpp>
#include <sequential/program.hpp>
#include <sequential/subjects.hpp>

namespace weir::model {
namespace {

using sequential::command;
using sequential::history;
using sequential::moment;
using sequential::record;

/// One run of a program. Waits are started with a callback; those that are left at the end are cancelled.
template <class Subject>
class run {
  using sequential_model = typename Subject::model;

 public:
  explicit run(const sequential::program& of) : program_(of), has_(of.size()) {
    std::size_t commands = 0;
    for (const auto& thread : of) commands += thread.size();
    kept_.records.resize(commands);
    tickets_.resize(commands);
  }

  void one(std::size_t fiber) {
    for (const command& each : program_[fiber]) {
      if (each.what == command::time) {
        clock_.pass();
      } else if (each.what == command::cancel) {
        cancel(each.asked.id);
      } else if (sequential::is_wait<sequential_model>(each.asked)) {
        wait(fiber, each);
      } else {
        call(fiber, each.asked);
      }
    }
  }

  const history& end() {
    for (std::size_t id = 0; id < tickets_.size(); ++id) cancel(static_cast<int>(id));
    return kept_;
  }

 private:
  void wait(std::size_t fiber, const command& asks) {
    const int id = asks.asked.id;
    of(id).asked = asks.asked;
    note(moment::begins, id);
    auto tell = [this, fiber, id](const auto& came) {
      of(id).came = sequential::outcome_of(came);
      if (came) ++has_[fiber];
      note(moment::ends, id);
    };
    tickets_[static_cast<std::size_t>(id)] = subject_.wait(asks.asked, [&](auto operation) {
      return asks.limited ? std::move(operation).within(1s).start(tell) : std::move(operation).start(tell);
    });
    note(moment::stands, id);
  }

  void call(std::size_t fiber, const sequential::wish& asked) {
    if (sequential::is_by_owner<sequential_model>(asked)) {
      if (has_[fiber] == 0) return;
      --has_[fiber];
    }
    of(asked.id).asked = asked;
    note(moment::begins, asked.id);
    const int returned = sequential::call(subject_, asked);
    of(asked.id).returned = returned;
    if (returned == 1) ++has_[fiber];
    note(moment::ends, asked.id);
  }

  void cancel(int id) {
    ticket& held = tickets_[static_cast<std::size_t>(id)];
    if (held.id() == 0 || of(id).came.how != sequential::fate::waits) return;
    const auto number = static_cast<int>(kept_.records.size());
    kept_.records.emplace_back().cancels = id;
    note(moment::begins, number);
    const bool withdrawn = held.cancel();
    of(number).returned = withdrawn ? 1 : 0;
    note(moment::ends, number);
  }

  record& of(int id) { return kept_.records[static_cast<std::size_t>(id)]; }
  void note(moment what, int id) { kept_.events.emplace_back(what, static_cast<std::uint8_t>(id)); }

  const sequential::program& program_;
  time clock_;
  Subject subject_;
  history kept_;
  std::vector<int> has_;
  std::vector<ticket> tickets_;
};

template <class Subject>
std::uint64_t explore_program(std::uint32_t seed, std::size_t fibers, std::size_t commands_each) {
  using sequential_model = typename Subject::model;
  const auto chosen =
      sequential::random_program<sequential_model, sequential::is_one<Subject>>(seed, fibers, commands_each, true);
  std::set<history> known;  // many schedules have the same
  return explore(
      [&] {
        run<Subject> it(chosen);
        auto first = [&] { it.one(0); };
        auto second = [&] { it.one(1); };
        auto third = [&] { it.one(2); };
        fibers == 2 ? together(first, second) : together(first, second, third);
        const history& came = it.end();
        const memory::aside outside;
        if (!known.insert(came).second) return;
        EXPECT_TRUE(sequential::linearization<sequential_model>::exists(came))
            << "no sequential order explains\n"
            << sequential::describe<sequential_model>(came);
      },
      {.preemptions = 2, .program = static_cast<int>(seed)});
}

template <class Subject>
class linear : public testing::Test {};

struct names {
  template <class Subject>
  static std::string GetName(int) {
    return Subject::name;
  }
};
TYPED_TEST_SUITE(linear, sequential::each_subject<testing::Types>, names);

/// As many programs as that, or the one that is replayed.
template <class Subject>
void explore_programs(std::uint32_t programs, std::size_t fibers, std::size_t commands_each) {
  std::uint32_t first = 1;
  if (const char* asked = std::getenv("WEIR_MODEL_PROGRAM")) {
    first = static_cast<std::uint32_t>(std::atoi(asked));
    programs = 1;
  }
  std::uint64_t schedules = 0;
  for (std::uint32_t seed = first; seed < first + programs && !testing::Test::HasFailure(); ++seed) {
    schedules += explore_program<Subject>(seed, fibers, commands_each);
  }
  report(schedules);
}

TYPED_TEST(linear, random_programs_of_two) { explore_programs<TypeParam>(100, 2, 4); }

TYPED_TEST(linear, random_programs_of_three) { explore_programs<TypeParam>(40, 3, 2); }

}  // namespace
}  // namespace weir::model
