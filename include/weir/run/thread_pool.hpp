#pragma once

// thread_pool: an executor of n threads. A worker posts to a list of its own. Other threads post to a common list; the
// next worker that looks there appends it to its own. A worker without work takes work from other workers' lists.
//
// Who may call: any member from any thread; the destructor not from a worker. Order: FIFO in each list. An idle worker
// sleeps; work that is posted while workers sleep wakes one of them.

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

/// An executor with threads of its own.
class thread_pool {
 public:
  /// Starts the threads. Throws std::invalid_argument if `threads` is 0.
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

  /// Runs all posted work, and the work that it posts, then joins the threads. A task that still waits would be posted
  /// here later: wait for the futures of spawned tasks first. Called by one of its own workers, the destructor would
  /// wait for itself: it aborts, in every build.
  ~thread_pool() {
    stop();
    WEIR_ASSERT_NO_TASKS("thread_pool", tasks());
  }

  /// Returns the number of threads.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Posts work to be run by one of the threads. Any thread may call it.
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
    // The pool is not accessed from here on: the item may have run, and let the pool be destroyed. The worker is not:
    // it parks until this call.
    if (woken != nullptr) woken->sleeper.unpark();
  }

  /// Adds `change` to the number of tasks that run here. A worker has a count of its own, which is not atomic.
  void count_tasks(std::ptrdiff_t change) noexcept {
    const place& here = platform::local<place>();
    if (here.pool == this) {
      here.self->tasks += change;
    } else {
      other_tasks_.fetch_add(change, std::memory_order_relaxed);  // relaxed: only the destructor reads it
    }
  }

  /// Takes back posted work. Returns false if a worker has taken it already.
  bool retract(work& item) noexcept {
    const std::lock_guard nothing_moves(moves_);
    if (common_.remove(item)) return true;  // first: work moves from here to a worker's list, never back
    for (std::size_t i = 0; i < size_; ++i) {
      if (workers_[i].own.remove(item)) return true;
    }
    return false;
  }

 private:
  struct list {
    core::spin_lock lock;
    bool watched = false;  // a last look found it empty: the next post wakes an idle worker
    std::size_t size = 0;
    std::size_t looks = 0;  // calls of take(): its worker's, and last looks of the others
    std::size_t seen = 0;   // `looks` when another worker last checked its progress
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
    /// Returns null if the list is empty; it is watched from then on if `watch` is true.
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

  /// Aligned to a cache line, so that a worker that posts to its own list disturbs no other.
  ///
  ///   state      in idle_  rests  what the worker does                     next
  ///   working    no        no     runs items, takes the next from its      no work → looking if looking_ was not set,
  ///                               list; each 64th turn helps another       else last look
  ///   looking    no        no     has set looking_; polls the lists        work → working; none → last look
  ///   last look  yes       no     takes from any list, and marks each      work → working; none → sleeping
  ///                               empty one as watched                     popped from idle_ → waking
  ///   sleeping   yes       yes    found no work; parks                     popped from idle_ → waking
  ///   waking     no        no     parks until its waker calls unpark       unpark → working, or exits if ended_
  struct alignas(64) worker {
    worker* next = nullptr;  // in idle_
    worker* prev = nullptr;
    list own;
    unsigned turns = 0;  // calls of thread_pool::take()
    bool rests = false;
    std::ptrdiff_t tasks = 0;  // its part of the number of tasks: the sum of all counts
    platform::parker sleeper;
    platform::thread thread;
  };

  using idle_locked = std::lock_guard<core::spin_lock>;

  /// The pool that a thread works for, and which of its workers it is.
  struct WEIR_SHARED place {
    thread_pool* pool;
    worker* self;
  };

  /// Why no wake-up is lost: before it sleeps a worker enters idle_, then looks at every list under its lock, the
  /// common list before those of other workers, and leaves it watched. Work that is put into a watched list wakes a
  /// worker; a woken worker that finds work wakes the next. So after each wake-up either no worker is idle any more, or
  /// one has looked everywhere, found nothing, and left every list watched again.
  ///
  /// Why all work runs before the end: no worker exits until all rest at once. A resting worker is in idle_ and has
  /// looked everywhere since it entered; work that is put anywhere after that has woken one of them.
  void run(worker& self) noexcept {
    platform::local<place>() = {this, &self};
    for (bool woken = false;;) {
      work* item = take(self);
      if (item == nullptr) item = look_around(self, woken);
      if (item == nullptr) {
        set_idle(self);
        item = take_anything(self);
        if (item == nullptr) rest(self);
        if (item == nullptr || !unset_idle(self)) {  // if popped from idle_, its waker still has to unpark it
          self.sleeper.park();
          if (ended_.load(std::memory_order_relaxed)) return;  // relaxed: unpark orders it
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
    if (arrived_.load(std::memory_order_relaxed)) take_over(self);  // relaxed: work that is missed is found later
    return self.own.take(false);
  }

  /// Takes the last look of a worker before it sleeps.
  work* take_anything(worker& self) noexcept {
    work* item = self.own.take(true);
    if (item == nullptr) item = common_.take(true);
    for (std::size_t i = 0; item == nullptr && i < size_; ++i) {
      if (&workers_[i] != &self) item = workers_[i].own.take(true);
    }
    return item;
  }

  /// Polls for work that its own worker will not reach soon: work that changes cores moves its data too. One worker at
  /// a time is enough.
  work* look_around(worker& self, bool& woken) noexcept {
    if (looking_.exchange(true, std::memory_order_relaxed)) return nullptr;  // relaxed: it guards no data
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

  /// Steals half, unless the owner's pace since the last look will drain its list within the next few looks.
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

  /// Takes one item from a worker that is stuck: its list has had no take() since the last check.
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
    idle_.push_front(self);  // LIFO: the caches of the last to sleep are warm
  }

  /// Returns false if another thread has popped it, and will wake it.
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

  /// Pops a worker, which the caller has to wake. Returns null if none is idle.
  worker* take_idle() noexcept {
    const idle_locked lock(idle_lock_);
    return pop_idle(lock);
  }

  worker* pop_idle(const idle_locked&) noexcept {
    worker* const first = idle_.pop_front();
    if (first != nullptr && std::exchange(first->rests, false)) --resting_;
    return first;
  }

  /// Puts an idle worker that has found nothing to rest. If the destructor waits and all workers rest, all exit.
  void rest(worker& self) noexcept {
    worker* woken = nullptr;  // linked by `next`
    {
      const idle_locked lock(idle_lock_);
      if (!core::ring<worker>::linked(self)) return;  // another thread is waking it
      self.rests = true;
      ++resting_;
      if (!stops_ || resting_ != started_) return;
      ended_.store(true, std::memory_order_relaxed);  // relaxed: unpark orders it
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
    wake_one();  // if all rest already, this one rests again and ends the pool
    for (std::size_t i = 0; i < started_; ++i) workers_[i].thread.join();
  }

  /// Called after all workers have been joined.
  [[nodiscard]] std::ptrdiff_t tasks() const noexcept {
    std::ptrdiff_t sum = other_tasks_.load(std::memory_order_relaxed);  // relaxed: counting is over
    for (std::size_t i = 0; i < size_; ++i) sum += workers_[i].tasks;
    return sum;
  }

  static constexpr int pauses_between_looks = 500;
  static constexpr std::size_t few_looks = 16;
  static constexpr unsigned turns_between_helps = 64;

  const std::size_t size_;
  std::unique_ptr<worker[]> workers_;
  list common_;
  platform::atomic<bool> arrived_{false};  // common_ may hold work
  core::spin_lock moves_;                  // held while work moves from one worker's list to another's
  core::spin_lock idle_lock_;              // guards idle_, resting_, stops_ and the workers' `rests`
  core::ring<worker> idle_;
  std::size_t resting_ = 0;  // workers in idle_ with `rests`
  bool stops_ = false;
  platform::atomic<bool> looking_{false};            // a worker is looking
  std::size_t started_ = 0;                          // does not change once stops_ is set
  platform::atomic<bool> ended_{false};              // all workers exit
  platform::atomic<std::ptrdiff_t> other_tasks_{0};  // counted by threads that are not workers
};

}  // namespace weir
