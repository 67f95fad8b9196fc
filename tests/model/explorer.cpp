// The scheduler and the search. One fiber runs at a time. Who that is, is a list of choices, which is replayed from its
// beginning and extended. A choice is a number: 0 goes on (with the fiber that was running or, if that cannot, with the
// first that can), n switches to the n-th other. A trace lists the choices that are not 0, each with its place.

#include <model/explorer.hpp>

#include <errno.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <model/context.hpp>
#include <model/memory.hpp>

namespace weir::model {
namespace {

constexpr std::size_t most_steps = 20000;  // more are a livelock

struct choice {
  std::uint8_t made;
  std::uint8_t of;  // 1 also where there were more, but no preemption was left; 0 in a trace: not known
};

struct fiber {
  context where;
  bool begun = false;
  bool ended = true;
  function entry = nullptr;
  void* object = nullptr;
  std::uint64_t changes = 0;  // made by it, ever
  std::size_t spun = 0;       // the last time: at which step
  std::uint32_t locals = 0;   // which of them have been constructed
  alignas(std::max_align_t) std::byte memory[most_locals][local_size];
};

constexpr std::uint32_t bit(int number) noexcept { return std::uint32_t{1} << number; }

/// Fiber 0 is the scenario itself; the last stands for what is outside of all schedules.
class explorer {
 public:
  void begin(options wanted) {
    how_ = wanted;
    failure_ = nullptr;
    replays_ = false;
    longest_ = 0;
    path_.clear();
    path_.reserve(most_steps + 1);
    for (fiber& each : fibers_) {
      if (!std::exchange(each.begun, true)) each.where.begin_at(&run_fiber);
    }
    objects_.reserve(most_steps);
    random_.seed(wanted.seed);
  }

  /// One schedule. Null, or what went wrong.
  const char* run(function scenario, void* object) {
    position_ = steps_ = 0;
    preemptions_ = spawned_ = 0;
    can_ = spinning_ = patient_ = 0;
    start(0, scenario, object);
    memory::open();
    active_ = true;
    current_ = 0;
    context::change(outside_, fibers_[0].where);
    current_ = most_fibers;
    active_ = false;
    memory::close();
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    if (failure_ == nullptr && test->result()->Failed()) failure_ = "see above";
    if (failure_ == nullptr) failure_ = memory::complaint();
    if (failure_ == nullptr && position_ != path_.size()) failure_ = "the scenario is not deterministic";
    if (failure_ != nullptr) memory::keep();
    return failure_;
  }

  /// The next schedule, depth first. False: that was the last.
  bool next() {
    while (!path_.empty() && path_.back().made + 1 >= path_.back().of) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().made;
    return true;
  }

  /// A schedule at random: each fiber has a priority, which is lowered at a few places.
  void shuffle() {
    longest_ = std::max(longest_, steps_);
    path_.clear();
    for (int i = 0; i < most_fibers; ++i) priority_[i] = how_.drops + i;
    std::shuffle(std::begin(priority_), std::end(priority_), random_);
    drops_.clear();
    for (int i = 0; i < how_.drops; ++i) drops_.push_back(random_() % (longest_ + 1));
  }

  void replay(const char* trace) {
    replays_ = true;
    for (const char* at = trace; *at != 0;) {
      char* end = nullptr;
      const std::size_t place = std::strtoul(at, &end, 10);
      if (*end != ':' || place < path_.size() || place > most_steps) break;
      path_.resize(place, choice{0, 0});
      path_.push_back({static_cast<std::uint8_t>(std::strtoul(end + 1, &end, 10)), 0});
      at = *end == ',' ? end + 1 : end;
    }
  }

  [[nodiscard]] std::string trace() const {
    std::string text;
    for (std::size_t i = 0; i < position_; ++i) {
      if (path_[i].made == 0) continue;
      if (!text.empty()) text += ',';
      text += std::to_string(i) + ':' + std::to_string(path_[i].made);
    }
    return text.empty() ? "0:0" : text;
  }

  // What fibers call.

  void step(const char* what, const void* where, const std::source_location& from) noexcept {
    if (!active_) return;
    if (++steps_ > most_steps) fail("livelock: it goes on and on");
    decide(true);
    if (replays_) report(what, where, from);
  }

  void changed() noexcept {
    const std::uint32_t woken = spinning_ & ~bit(current_);
    can_ |= woken;
    spinning_ &= ~woken;
    ++changes_;
    ++fibers_[current_].changes;
  }

  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_ - fibers_[current_].changes; }

  void spin(int times) noexcept {
    if (!active_) return;
    spinning_ |= bit(current_);
    if (times > 2) patient_ |= bit(current_);
    fibers_[current_].spun = steps_;
    block();
    patient_ &= ~bit(current_);
  }

  void block() noexcept {
    can_ &= ~bit(current_);
    decide(false);
  }

  void wake(int number) noexcept { can_ |= bit(number); }

  void spawn(function entry, void* object) noexcept {
    if (spawned_ + 1 == most_fibers) fail("there are too many fibers");
    start(++spawned_, entry, object);
    ++running_;
  }

  void join() noexcept {
    if (running_ != 0) block();
  }

  [[noreturn]] void fail(const char* sentence) noexcept {
    if (!active_) {
      std::fprintf(stderr, "model: %s, outside of every schedule\n", sentence);
      std::abort();
    }
    failure_ = sentence;
    for (fiber& each : fibers_) each.begun = false;  // each is in the middle of something, and left there
    context::change(abandoned_, outside_);
    std::abort();
  }

  void note(std::uint64_t value) const noexcept {
    if (replays_ && active_) std::fprintf(stderr, "  %#llx", static_cast<unsigned long long>(value));
  }

  void* local_memory(int number, bool& fresh) noexcept {
    fiber& mine = fibers_[current_];
    fresh = (mine.locals & bit(number)) == 0;
    mine.locals |= bit(number);
    return mine.memory[number];
  }

  [[nodiscard]] bool active() const noexcept { return active_; }
  [[nodiscard]] int self() const noexcept { return current_; }

 private:
  void start(int number, function entry, void* object) {
    fiber& started = fibers_[number];
    started.ended = false;
    started.locals = 0;
    started.entry = entry;
    started.object = object;
    can_ |= bit(number);
    if (number == 0) running_ = 0;
  }

  static void run_fiber() noexcept;

  void live() noexcept {
    for (;;) {
      fiber& me = fibers_[current_];
      me.entry(me.object);
      me.ended = true;
      changed();
      if (current_ == 0) {
        context::change(me.where, outside_);
      } else {
        if (--running_ == 0) wake(0);
        block();
      }
    }
  }

  void decide(bool could_go_on) noexcept {
    std::uint32_t others = can_ & ~bit(current_);
    if (!could_go_on) others = fair(others);
    const unsigned count = static_cast<unsigned>(std::popcount(others)) + (could_go_on ? 1 : 0);
    if (count == 0) fail("deadlock: nobody can go on");
    unsigned made = count == 1 ? 0 : choose(count, could_go_on, others);
    if (could_go_on) {
      if (made-- == 0) return;
      ++preemptions_;
    }
    const int before = std::exchange(current_, nth(others, made));
    if (replays_) std::fprintf(stderr, "\n      -- fiber %d %s", current_, could_go_on ? "interrupts" : "goes on");
    context::change(fibers_[before].where, fibers_[current_].where);
  }

  /// Of those that have spun several times the one that has waited longest, and only if nobody else can go on.
  [[nodiscard]] std::uint32_t fair(std::uint32_t others) const noexcept {
    if ((others & ~patient_) != 0 || others == 0) return others & ~patient_;
    int longest = std::countr_zero(others);
    for (int i = longest; i < most_fibers; ++i) {
      if ((others & bit(i)) != 0 && fibers_[i].spun < fibers_[longest].spun) longest = i;
    }
    return bit(longest);
  }

  unsigned choose(unsigned count, bool could_go_on, std::uint32_t others) noexcept {
    const bool at_will = !could_go_on || how_.random != 0 || preemptions_ < how_.preemptions;
    const choice wanted{0, static_cast<std::uint8_t>(at_will ? count : 1)};
    if (position_ == path_.size()) {
      path_.push_back(wanted);
      if (how_.random != 0 && !replays_) path_.back().made = prefer(could_go_on, others);
    }
    const choice& taken = path_[position_++];
    if (taken.made >= count) fail("the trace does not fit the scenario");
    if (taken.of != wanted.of && taken.of != 0) fail("the scenario is not deterministic");
    return taken.made;
  }

  std::uint8_t prefer(bool could_go_on, std::uint32_t others) noexcept {
    for (std::size_t i = 0; i < drops_.size(); ++i) {
      if (drops_[i] == steps_) priority_[current_] = static_cast<int>(i);
    }
    unsigned best = 0;
    int highest = could_go_on ? priority_[current_] : -1;
    for (unsigned i = 0; i < static_cast<unsigned>(std::popcount(others)); ++i) {
      if (priority_[nth(others, i)] <= highest) continue;
      highest = priority_[nth(others, i)];
      best = i + (could_go_on ? 1 : 0);
    }
    return static_cast<std::uint8_t>(best);
  }

  static int nth(std::uint32_t set, unsigned n) noexcept {
    for (; n != 0; --n) set &= set - 1;
    return std::countr_zero(set);
  }

  void report(const char* what, const void* where, const std::source_location& from) noexcept {
    const auto seen = std::find(objects_.begin(), objects_.end(), where);
    const auto number = seen - objects_.begin();
    if (seen == objects_.end()) objects_.push_back(where);
    const char* file = std::strrchr(from.file_name(), '/');
    std::fprintf(stderr, "\n%5zu  fiber %d  %s:%u  %s of #%ld", steps_, current_,
                 file == nullptr ? from.file_name() : file + 1, static_cast<unsigned>(from.line()), what,
                 static_cast<long>(number));
  }

  options how_;
  const char* failure_ = nullptr;
  bool active_ = false;
  bool replays_ = false;

  fiber fibers_[most_fibers + 1];
  context outside_;
  context abandoned_;
  int current_ = most_fibers;
  int spawned_ = 0;
  int running_ = 0;             // of those that were spawned
  std::uint32_t can_ = 0;       // go on: one bit each
  std::uint32_t spinning_ = 0;  // until something is changed
  std::uint32_t patient_ = 0;   // have spun several times
  std::uint64_t changes_ = 0;

  std::vector<choice> path_;
  std::size_t position_ = 0;
  std::size_t steps_ = 0;
  int preemptions_ = 0;

  std::mt19937_64 random_;
  int priority_[most_fibers] = {};
  std::vector<std::size_t> drops_;
  std::size_t longest_ = 0;

  std::vector<const void*> objects_;  // in the order of their first use, for the replay
};

explorer the;

void explorer::run_fiber() noexcept { the.live(); }

int program = 0;

void print_failure(const char* sentence, std::uint64_t schedules) {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::string number = program == 0 ? "" : "WEIR_MODEL_PROGRAM=" + std::to_string(program) + ' ';
  std::fprintf(stderr, "\nmodel: %s (schedule %llu)\nreplay: %sWEIR_MODEL_TRACE=%s %s --gtest_filter=%s.%s\n", sentence,
               static_cast<unsigned long long>(schedules), number.c_str(), the.trace().c_str(), program_invocation_name,
               test->test_suite_name(), test->name());
}

/// An assertion of weir's, or a crash: the trace is printed, then it takes its course.
void on_signal(int signal) {
  std::signal(signal, SIG_DFL);
  if (the.active()) print_failure("the program ends here", 0);
  std::raise(signal);
}

void catch_signals() {
  static std::byte stack[64 * 1024];
  stack_t elsewhere{};
  elsewhere.ss_sp = stack;
  elsewhere.ss_size = sizeof(stack);
  sigaltstack(&elsewhere, nullptr);
  struct sigaction action{};
  action.sa_handler = &on_signal;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE}) sigaction(signal, &action, nullptr);
}

/// Prints what all scenarios of the program come to.
struct totals : testing::Environment {
  std::uint64_t schedules = 0;
  double seconds = 0;

  void TearDown() override {
    std::printf("[ explored ] %12llu schedules %8.2f s  in all\n", static_cast<unsigned long long>(schedules), seconds);
  }
};
totals& all = *static_cast<totals*>(testing::AddGlobalTestEnvironment(new totals));

}  // namespace

std::uint64_t explore(function scenario, void* object, options how) {
  [[maybe_unused]] static const bool once = (catch_signals(), true);
  if (const char* bound = std::getenv("WEIR_MODEL_PREEMPTIONS")) how.preemptions = std::atoi(bound);
  const char* trace = std::getenv("WEIR_MODEL_TRACE");
  program = how.program;
  const auto begin = std::chrono::steady_clock::now();
  the.begin(how);
  if (trace != nullptr) the.replay(trace);

  std::uint64_t schedules = 0;
  for (bool more = true; more;) {
    if (how.random != 0 && trace == nullptr) the.shuffle();
    const char* failure = the.run(scenario, object);
    ++schedules;
    if (failure != nullptr) {
      print_failure(failure, schedules);
      ADD_FAILURE() << failure;
      break;
    }
    more = trace == nullptr && (how.random != 0 ? schedules < how.random : the.next());
  }

  all.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (how.program == 0) report(schedules);
  return schedules;
}

void report(std::uint64_t schedules) {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  std::printf("[ explored ] %12llu schedules  %s.%s\n", static_cast<unsigned long long>(schedules),
              test->test_suite_name(), test->name());
  all.schedules += schedules;
}

void spawn(function entry, void* object) noexcept { the.spawn(entry, object); }
void join() noexcept { the.join(); }

void step(const char* what, const void* where, const std::source_location& from) noexcept {
  the.step(what, where, from);
}
void changed() noexcept { the.changed(); }
std::uint64_t changes() noexcept { return the.changes(); }
void spin(int times) noexcept { the.spin(times); }
void block() noexcept { the.block(); }
void wake(int fiber) noexcept { the.wake(fiber); }
int self() noexcept { return the.self(); }
void note(std::uint64_t value) noexcept { the.note(value); }
void fail(const char* sentence) noexcept { the.fail(sentence); }

int new_local() noexcept {
  static int used = 0;
  return used < most_locals ? used++ : (std::abort(), 0);
}
void* local_memory(int number, bool& fresh) noexcept { return the.local_memory(number, fresh); }

}  // namespace weir::model
