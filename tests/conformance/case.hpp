#pragma once

// A synchronizer, behind one face: a case is an object that nobody can have yet, with what a subject (subject.hpp) asks
// of it, by the same names, and
//   object()      with waiting(), close(), closed(), check_invariants() and, where there is one, cancel_all()
//   wait()        what is waited for
//   let_one()     only where they go one by one
//   keep(value)   where a value has to stay with who won it, until the next is let through
// Its file makes it a subject for every way of waiting, with subjects_of.

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

#include <weir/core/errc.hpp>
#include <weir/core/result.hpp>

#include <conformance/subject.hpp>
#include <conformance/subjects.hpp>
#include <conformance/ways.hpp>

namespace weir::test {

/// Has it now, or not at all.
template <class Operation>
bool asks_now(Operation wanted) {
  return std::move(wanted).within(std::chrono::seconds(0)).wait().has_value();
}

/// A case of one Object, which ends as most do.
template <class Object>
struct case_of {
  std::optional<Object> made;
  template <class... Args>
  explicit case_of(Args&&... args) : made(std::in_place, std::forward<Args>(args)...) {}

  Object& object() { return *made; }
  void destroy() { made.reset(); }
  static std::error_code closed_error() { return errc::closed; }
  static bool is_success(std::error_code error) { return !error; }
};

/// A lock for one, which somebody has.
template <class Mutex>
struct lock_case : case_of<Mutex> {
  lock_case() { (void)this->object().try_lock(); }
  auto wait() { return this->object().lock(); }
  void let_one() { this->object().unlock(); }
  void make_ready() { this->object().unlock(); }
  bool now_or_never() { return this->object().try_lock(); }
  void destroy() {
    if (!this->made) return;
    this->object().close();
    if (this->object().locked()) this->object().unlock();
    this->made.reset();
  }
};

template <class Case>
concept goes_one_by_one = requires(Case& sync) { sync.let_one(); };
template <class Case>
concept cancels_all = requires(Case& sync) { sync.object().cancel_all(); };

/// What does not depend on the way.
template <class Case>
class case_subject : public subject {
 public:
  using outcome_type = result<typename decltype(std::declval<Case&>().wait())::value_type>;

  /// In the completion. What was won is kept where the case has a place for it.
  void end(const asked& wait, outcome_type& outcome) noexcept {
    if constexpr (requires { sync_.keep(std::move(*outcome)); }) {
      if (outcome) sync_.keep(std::move(*outcome));
    }
    subject::end(wait, outcome.error());
  }

  std::size_t waiting() final { return sync_.object().waiting(); }
  bool closed() final { return sync_.object().closed(); }
  void close() final { sync_.object().close(); }
  bool check_invariants() final { return sync_.object().check_invariants(); }
  std::size_t cancel_all() final {
    if constexpr (cancels_all<Case>) return sync_.object().cancel_all();
    std::terminate();
  }
  bool one_by_one() const final { return goes_one_by_one<Case>; }
  void let_one() final {
    if constexpr (goes_one_by_one<Case>) return sync_.let_one();
    std::terminate();
  }
  void make_ready() final { sync_.make_ready(); }
  bool now_or_never() final { return sync_.now_or_never(); }
  void destroy() final { sync_.destroy(); }
  std::error_code closed_error() const final { return Case::closed_error(); }
  bool is_success(std::error_code error) const final { return Case::is_success(error); }

 protected:
  // What is waited for, with the limits of its name.

  static auto plain(case_subject& test, const asked&) noexcept { return test.sync_.wait().as_result(); }
  static auto within(case_subject& test, const asked& wait) noexcept {
    if (const auto* hours = std::get_if<std::chrono::hours>(&wait.longest)) return test.sync_.wait().within(*hours);
    if (const auto* seconds = std::get_if<std::chrono::duration<double>>(&wait.longest)) {
      return test.sync_.wait().within(*seconds);
    }
    return test.sync_.wait().within(*std::get_if<core::duration>(&wait.longest));
  }
  static auto until(case_subject& test, const asked& wait) noexcept { return test.sync_.wait().until(wait.latest); }
  static auto stop_on(case_subject& test, const asked& wait) noexcept { return test.sync_.wait().stop_on(wait.token); }
  static auto within_and_stop_on(case_subject& test, const asked& wait) noexcept {
    const auto longest = *std::get_if<core::duration>(&wait.longest);
    return wait.other_order ? test.sync_.wait().stop_on(wait.token).within(longest)
                            : test.sync_.wait().within(longest).stop_on(wait.token);
  }
  static auto within_and_until(case_subject& test, const asked& wait) noexcept {
    const auto longest = *std::get_if<core::duration>(&wait.longest);
    return wait.other_order ? test.sync_.wait().until(wait.latest).within(longest)
                            : test.sync_.wait().within(longest).until(wait.latest);
  }

 private:
  Case sync_;
};

template <class Case, class Way>
class subject_of final : public case_subject<Case> {
  using base = case_subject<Case>;

 public:
  bool in_order() const override { return Way::in_order; }
  int many() const override { return Way::many; }

 private:
  void let_happen(std::size_t n) override { way_.let_happen(*this, n); }

  void start(limits said, const asked& wait) override {
    base& test = *this;
    switch (said) {
      case limits::none:
        return way_.template start<&base::plain>(test, wait);
      case limits::within:
        return way_.template start<&base::within>(test, wait);
      case limits::until:
        return way_.template start<&base::until>(test, wait);
      case limits::stop_on:
        return way_.template start<&base::stop_on>(test, wait);
      case limits::within_and_stop_on:
        return way_.template start<&base::within_and_stop_on>(test, wait);
      case limits::within_and_until:
        return way_.template start<&base::within_and_until>(test, wait);
    }
  }

  Way way_;  // destroyed first: its threads end before what they wait for
};

template <class Case, class Way>
by_way by() {
  return {Way::name, [] { return std::unique_ptr<subject>(new subject_of<Case, Way>); }};
}

template <class Case>
subject_factories subjects_of(const char* name) {
  return over_ways(name, goes_one_by_one<Case>, cancels_all<Case>,
                   {by<Case, coroutine_way>(), by<Case, task_way>(), by<Case, callback_way>(),
                    by<Case, posted_callback_way>(), by<Case, thread_way>()});
}

}  // namespace weir::test
