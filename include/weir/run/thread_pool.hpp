#pragma once

// thread_pool: an executor of n threads. What a worker posts goes to a list of its own, what others post to a common
// one, which the next worker that looks puts behind its own. A worker with nothing of its own takes from the others.
//
// Who may call: anyone. Order: of each list first posted, first taken. An idle worker sleeps. What is posted while one
// sleeps wakes one.

#include <cstddef>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include <weir/core/assert.hpp>
#include <weir/core/atomic.hpp>
#include <weir/core/ring.hpp>
#include <weir/core/shared.hpp>
#include <weir/core/spin_lock.hpp>
#include <weir/core/work.hpp>

namespace weir {

/// An executor of threads of its own.
class thread_pool {
 public:
  /// Starts them. Throws std::invalid_argument if there are to be none.
  explicit thread_pool(std::size_t threads)
      : size_(threads), workers_(threads != 0 ? std::make_unique<worker[]>(threads) : nullptr) {
    if (threads == 0) throw std::invalid_argument("weir::thread_pool: 0 threads would never run anything");
    try {
      for (std::size_t i = 0; i < size_; ++i) {
        workers_[i].thread = platform::thread([this, i] { run(workers_[i]); });
        ++started_;
      }
    } catch (...) {
      stop();
      throw;
    }
  }
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  /// Runs what is posted, and what that posts, then joins. What still waits would be posted here later: wait for the
  /// futures of what was spawned first. By a worker of its own it would wait for itself: that aborts, in every build.
  ~thread_pool() {
    stop();
    WEIR_ASSERT_NO_TASKS("thread_pool", tasks());
  }

  /// How many threads there are.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// From any thread.
  void post(work& item) noexcept {
    const place& here = platform::local<place>();
    list& into = here.pool == this ? here.self->own : common_;
    worker* woken = nullptr;
    {
      const std::lock_guard lock(into.lock);
      into.push(item);
      if (std::exchange(into.watched, false)) woken = take_idle();
      if (&into == &common_) arrived_.store(true, std::memory_order_relaxed);  // relaxed: only a hint to take the lock
    }
    // Nothing of the pool is touched any more, which may end with the item; but who was idle waits for this.
    if (woken != nullptr) woken->sleeper.unpark();
  }

  /// For what runs tasks: one more, or fewer. A worker counts for itself, without an atomic step.
  void count_tasks(std::ptrdiff_t change) noexcept {
    const place& here = platform::local<place>();
    if (here.pool == this) {
      here.self->tasks += change;
    } else {
      other_tasks_.fetch_add(change, std::memory_order_relaxed);  // relaxed: read by the destructor
    }
  }

  /// Takes back what was posted and has not been taken by a worker.
  bool retract(work& item) noexcept {
    const std::lock_guard nothing_moves(moves_);
    if (common_.remove(item)) return true;  // first: from there it still moves to a worker's, and never back
    for (std::size_t i = 0; i < size_; ++i) {
      if (workers_[i].own.remove(item)) return true;
    }
    return false;
  }

 private:
  struct list {
    core::spin_lock lock;
    bool watched = false;  // it was found empty: who posts to it wakes a worker
    std::size_t size = 0;
    std::size_t looks = 0;  // how often its worker has come for something,
    std::size_t seen = 0;   // and had when another one looked last
    work_list posted;

    void push(work& item) noexcept {
      posted.push_back(item);
      ++size;
    }
    work* pop() noexcept {
      work* item = posted.pop_front();
      if (item != nullptr) --size;
      return item;
    }
    /// Null: it is empty, and watched from now on if that is wanted.
    work* take(bool watch) noexcept {
      const std::lock_guard guard(lock);
      work* item = pop();
      ++looks;
      if (item == nullptr) watched = watched || watch;
      return item;
    }
    bool remove(work& item) noexcept {
      const std::lock_guard guard(lock);
      const bool found = posted.remove(item);
      if (found) --size;
      return found;
    }
  };

  struct alignas(64) worker {  // a cache line each, so that posting to one's own list disturbs nobody
    worker* next = nullptr;    // among the idle
    worker* prev = nullptr;
    list own;
    unsigned turns = 0;
    bool rests = false;
    std::ptrdiff_t tasks = 0;  // that it has counted: the sum of all counts is their number
    platform::parker sleeper;
    platform::thread thread;
  };

  using idle_locked = std::lock_guard<core::spin_lock>;

  /// What a thread knows of the pool that it works for.
  struct WEIR_SHARED place {
    thread_pool* pool;
    worker* self;
  };

  /// Why nothing lies about while a worker sleeps: one that is going to is among the idle first, then looks at every
  /// list under its lock, the common one before the others', and leaves it watched. What is put into a watched list
  /// wakes one; and whoever was woken and has found something wakes the next. So after each waking either nobody is
  /// idle any more, or one has looked everywhere, found nothing, and left every list watched again.
  ///
  /// Why all of it is run before the end: nobody leaves before all rest at once. One that rests is idle, and has looked
  /// everywhere since it is; and what is put anywhere after that has woken one of them.
  void run(worker& self) noexcept {
    platform::local<place>() = {this, &self};
    for (bool woken = false;;) {
      work* item = take(self);
      if (item == nullptr) item = look_around(self, woken);
      if (item == nullptr) {
        set_idle(self);
        item = take_anything(self);
        if (item == nullptr) rest(self);
        if (item == nullptr || !unset_idle(self)) {  // whoever has taken it from among the idle has still to touch it
          self.sleeper.park();
          if (ended_.load(std::memory_order_relaxed)) return;  // relaxed: unpark has ordered it
          woken = true;
        }
        if (item == nullptr) continue;
      }
      if (std::exchange(woken, false)) wake_one();
      item->run();
    }
  }

  work* take(worker& self) noexcept {
    if (++self.turns % turns_between_helps == 0) {
      if (work* item = help(self)) return item;
    }
    if (arrived_.load(std::memory_order_relaxed)) take_over(self);  // relaxed: one that is missed is found later
    return self.own.take(false);
  }

  /// The last look of one that goes to sleep.
  work* take_anything(worker& self) noexcept {
    work* item = self.own.take(true);
    if (item == nullptr) item = common_.take(true);
    for (std::size_t i = 0; item == nullptr && i < size_; ++i) {
      if (&workers_[i] != &self) item = workers_[i].own.take(true);
    }
    return item;
  }

  /// Looks for work that its own worker will not come to soon, a while and again: what goes to another core takes its
  /// data along. One at a time is enough.
  work* look_around(worker& self, bool& woken) noexcept {
    if (looking_.exchange(true, std::memory_order_relaxed)) return nullptr;  // relaxed: it guards nothing
    work* item = nullptr;
    for (int looks = 0; item == nullptr && looks < platform::looks_before_sleep; ++looks) {
      for (int pauses = 0; pauses < pauses_between_looks; ++pauses) platform::pause();
      for (std::size_t i = 0; item == nullptr && i < size_; ++i) {
        if (&workers_[i] != &self) item = take_half(workers_[i].own, self.own, woken);
      }
      if (item == nullptr) item = take(self);
    }
    looking_.store(false, std::memory_order_relaxed);
    return item;
  }

  /// Unless its worker, as fast as it was since the last look, comes to all of it before the next few.
  work* take_half(list& from, list& into, bool& woken) noexcept {
    const std::lock_guard moving(moves_);
    const std::lock_guard theirs(from.lock);
    const std::size_t progress = from.looks - std::exchange(from.seen, from.looks);
    if (from.size < 2 || from.size / few_looks < progress) return nullptr;
    work* first = from.pop();
    const std::lock_guard mine(into.lock);
    while (into.size + 1 < from.size) into.push(*from.pop());
    if (into.size != 0 && std::exchange(into.watched, false)) woken = true;
    return first;
  }

  /// One that always has something of its own looks now and then whether another one is stuck.
  work* help(worker& self) noexcept {
    work* item = nullptr;
    for (std::size_t i = 0; item == nullptr && i < size_; ++i) {
      if (&workers_[i] == &self) continue;
      list& from = workers_[i].own;
      const std::lock_guard lock(from.lock);
      if (from.looks == std::exchange(from.seen, from.looks)) item = from.pop();
    }
    return item;
  }

  void take_over(worker& self) noexcept {
    const std::lock_guard own(self.own.lock);
    const std::lock_guard common(common_.lock);
    arrived_.store(false, std::memory_order_relaxed);
    self.own.posted.append(common_.posted);
    self.own.size += std::exchange(common_.size, 0);
  }

  void set_idle(worker& self) noexcept {
    const idle_locked lock(idle_lock_);
    idle_.push_front(self);  // the one that slept last wakes first: its caches are warm
  }

  /// False: somebody has taken it, and will wake it.
  bool unset_idle(worker& self) noexcept {
    const idle_locked lock(idle_lock_);
    if (!core::ring<worker>::linked(self)) return false;
    idle_.remove(self);
    return true;
  }

  void wake_one() noexcept {
    worker* const idle = take_idle();
    if (idle != nullptr) idle->sleeper.unpark();
  }

  /// To be woken. Null: nobody is idle.
  worker* take_idle() noexcept {
    const idle_locked lock(idle_lock_);
    return pop_idle(lock);
  }

  worker* pop_idle(const idle_locked&) noexcept {
    worker* const first = idle_.pop_front();
    if (first != nullptr && std::exchange(first->rests, false)) --resting_;
    return first;
  }

  /// By one that is idle and has found nothing. If the destructor waits, and all others rest, it is the end.
  void rest(worker& self) noexcept {
    worker* woken = nullptr;  // linked by `next`
    {
      const idle_locked lock(idle_lock_);
      if (!core::ring<worker>::linked(self)) return;  // it is being woken
      self.rests = true;
      ++resting_;
      if (!stops_ || resting_ != started_) return;
      ended_.store(true, std::memory_order_relaxed);  // relaxed: who is woken after it was taken out here sees it
      while (worker* each = pop_idle(lock)) each->next = std::exchange(woken, each);
    }
    while (woken != nullptr) std::exchange(woken, woken->next)->sleeper.unpark();
  }

  void stop() noexcept {
    if (platform::local<place>().pool == this) {
      core::assertion_failed("a thread_pool was destroyed by its own work, and would wait for itself", __FILE__,
                             __LINE__);
    }
    {
      const idle_locked lock(idle_lock_);
      stops_ = true;
    }
    wake_one();  // if all rest already, it finds that it is the end
    for (std::size_t i = 0; i < started_; ++i) workers_[i].thread.join();
  }

  /// Once no worker runs.
  [[nodiscard]] std::ptrdiff_t tasks() const noexcept {
    std::ptrdiff_t sum = other_tasks_.load(std::memory_order_relaxed);  // relaxed: every task that ended has ended
    for (std::size_t i = 0; i < size_; ++i) sum += workers_[i].tasks;
    return sum;
  }

  static constexpr int pauses_between_looks = 500;
  static constexpr std::size_t few_looks = 16;
  static constexpr unsigned turns_between_helps = 64;

  const std::size_t size_;
  std::unique_ptr<worker[]> workers_;
  list common_;
  platform::atomic<bool> arrived_{false};  // something may be in it
  core::spin_lock moves_;                  // from one worker's list to another's
  core::spin_lock idle_lock_;
  core::ring<worker> idle_;  // with what follows: under that lock
  std::size_t resting_ = 0;
  bool stops_ = false;
  platform::atomic<bool> looking_{false};
  std::size_t started_ = 0;  // not changed any more once stops_ is set
  platform::atomic<bool> ended_{false};
  platform::atomic<std::ptrdiff_t> other_tasks_{0};  // counted by threads that are no workers
};

}  // namespace weir
