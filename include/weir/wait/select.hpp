#pragma once

// select: waits for the first of several operations, as one operation, with every limit and every way of waiting.
//
// Exactly one branch takes effect: all branches share the claim of the one wait, so the party that decides a branch
// decides the select. The other branches have taken nothing, and are withdrawn before the owner resumes, so that no
// waiter behind them is delayed. If several branches are ready at once, the first listed wins.

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <weir/core/completion.hpp>
#include <weir/core/context.hpp>
#include <weir/core/operation.hpp>
#include <weir/core/result.hpp>
#include <weir/wait/operation.hpp>

namespace weir {

template <class T>
class task;

namespace wait {

/// Used only for the error message of select().
template <class Branch>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

/// The properties of one branch of a select.
template <class Operation>
struct branch {
  static constexpr bool is_operation = false;
};

template <class Op, unsigned Limits, class Where>
struct branch<operation<Op, Limits, Where>> {
  static constexpr bool is_operation = true;
  static constexpr bool is_select = requires { Op::is_select; };
  static constexpr bool is_one_wait = !core::staged<Op>;
  static constexpr bool is_plain = (Limits & limited) == 0 && std::is_same_v<Where, own_context>;
  static constexpr bool reports = (Limits & as_result) != 0;

  using op = Op;
  using node = typename Op::node;
  using value = typename Op::value_type;
  using alternative =
      std::conditional_t<reports, result<value>, std::conditional_t<std::is_void_v<value>, std::monostate, value>>;
};

template <class... Branch>
class select_op {
  static constexpr std::size_t count = sizeof...(Branch);
  template <std::size_t I>
  using branch_at = branch<std::tuple_element_t<I, std::tuple<Branch...>>>;
  template <class Op>
  using traits = core::operation_traits<std::remove_reference_t<Op>>;
  template <std::size_t I>
  using traits_at = traits<typename branch_at<I>::op>;

 public:
  using value_type = std::variant<typename branch<Branch>::alternative...>;
  static constexpr bool is_select = true;

  /// Its own links are never used: the node of each branch is queued in the synchronizer of that branch.
  struct node : core::waiter {
    explicit node(Branch&... described) noexcept : branches(described.described_node()...) {}

    void enter(core::context& where) {
      std::apply([&](auto&... each) { (core::operation_traits<typename branch<Branch>::op>::enter(each, where), ...); },
                 branches);
    }

    std::tuple<typename branch<Branch>::node...> branches;
  };

  explicit select_op(Branch&... described) noexcept : ops_(described.described_op()...) { (described.begin(), ...); }

  /// Moves in the arguments that its branches hold by reference.
  void take_along() noexcept {
    each_op([](auto& op, std::size_t) { traits<decltype(op)>::take_along(op); });
  }

  core::answer try_now(node& asking) noexcept {
    auto answer = core::answer::not_ready;
    any_of(asking, [&](auto& op, auto& each) {
      each.wait = asking.wait;
      answer = op.try_now(each);
      return answer != core::answer::not_ready;
    });
    return answer;
  }

  /// done: a branch was decided by its own start, and the branches queued before it are withdrawn. `lost` is returned
  /// as `queued`: another party has decided the wait, and completes it. The branches that were not queued by then are
  /// marked by a null `wait`: their objects may be destroyed before that party withdraws the others.
  core::answer start(node& starting, core::completion& list) noexcept {
    auto answer = core::answer::queued;
    any_of(starting, [&](auto& op, auto& each) {
      if (answer == core::answer::queued) answer = op.start(each, list);
      if (answer == core::answer::lost) each.wait = nullptr;
      return answer == core::answer::done;
    });
    if (answer == core::answer::done) starting.wait->settle(list);
    return answer == core::answer::lost ? core::answer::queued : answer;
  }

  bool withdraw(node& queued, core::completion& list) noexcept {
    bool was_queued = false;
    each_of(queued, [&](auto& op, auto& each) { was_queued |= each.wait != nullptr && op.withdraw(each, list); });
    return was_queued;
  }

  void on_queued(node&) noexcept {}
  bool on_resumed(node&, core::outcome) noexcept { return false; }
  bool cancel_stage(node&) noexcept { return false; }

  /// Withdraws the branches that lost. A party that gives the select up has withdrawn all of them already.
  bool on_decided(node& decided, core::waiter* winner, core::completion& list) noexcept {
    if (winner == nullptr) return true;
    each_of(decided, [&](auto& op, auto& each) {
      if (&each != winner && each.wait != nullptr) op.withdraw(each, list);
    });
    return true;
  }

  /// A failure of a branch that reports its failures is the success of the select.
  core::outcome outcome(const node& decided, core::outcome verdict) const noexcept {
    bool reports = false;
    const auto won = winner_of(decided);
    if (won) at(*won, [&]<std::size_t I>() { reports = branch_at<I>::reports; });
    return reports ? core::outcome::granted : verdict;
  }

  bool give_back(node& granted) noexcept {
    bool undone = true;
    if (granted.wait->verdict() == core::outcome::granted) {
      at(*winner_of(granted),
         [&]<std::size_t I>() { undone = traits_at<I>::give_back(std::get<I>(ops_), std::get<I>(granted.branches)); });
    }
    return undone;
  }

  result<value_type> take(node& granted) {
    std::optional<result<value_type>> taken;
    const std::size_t winner = *winner_of(granted);
    at(winner, [&]<std::size_t I>() { taken.emplace(take_branch<I>(granted)); });
    unused(winner);
    return std::move(*taken);
  }

  /// Releases the arguments of all branches.
  void unused() noexcept { unused(count); }

 private:
  void unused(std::size_t winner) noexcept {
    each_op([&](auto& op, std::size_t index) {
      if (index != winner) traits<decltype(op)>::unused(op);
    });
  }

  template <std::size_t I>
  result<value_type> take_branch(node& granted) {
    constexpr auto in_place = std::in_place_index<I>;
    const core::outcome verdict = granted.wait->verdict();
    using value = typename branch_at<I>::value;
    if constexpr (branch_at<I>::reports) {
      if (verdict != core::outcome::granted) {
        return result<value_type>(std::in_place, in_place, static_cast<errc>(verdict));
      }
    }
    result<value> taken = traits_at<I>::take(std::get<I>(ops_), std::get<I>(granted.branches));
    if constexpr (branch_at<I>::reports) {
      return result<value_type>(std::in_place, in_place, std::move(taken));
    } else {
      if (taken.exception()) return result<value_type>::failure(taken.exception());
      if (!taken) return taken.error();
      if constexpr (std::is_void_v<value>) {
        return result<value_type>(std::in_place, in_place);
      } else {
        return result<value_type>(std::in_place, in_place, std::move(*taken));
      }
    }
  }

  template <class Call>
  void each_op(Call call) noexcept {
    std::size_t index = 0;
    std::apply([&](auto&... op) { (call(op, index++), ...); }, ops_);
  }

  /// Calls call(op, node) for each branch in the order listed, until it returns true.
  template <class Call>
  void any_of(node& waits, Call call) noexcept {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (void)(call(std::get<I>(ops_), std::get<I>(waits.branches)) || ...);
    }(std::make_index_sequence<count>());
  }
  template <class Call>
  void each_of(node& waits, Call call) noexcept {
    any_of(waits, [&](auto& op, auto& each) {
      call(op, each);
      return false;
    });
  }

  template <class Call>
  static void at(std::size_t index, Call call) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((I == index ? call.template operator()<I>() : void()), ...);
    }(std::make_index_sequence<count>());
  }

  static std::optional<std::size_t> winner_of(const node& decided) noexcept {
    const core::waiter* winner = static_cast<core::settling_claim*>(decided.wait)->winner();
    std::optional<std::size_t> found;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((winner == &std::get<I>(decided.branches) ? found.emplace(I), void() : void()), ...);
    }(std::make_index_sequence<count>());
    return found;
  }

  std::tuple<typename branch<Branch>::op...> ops_;
};

}  // namespace wait

/// Waits for the first branch to complete. Yields a std::variant of the value types in order: std::monostate for void,
/// the result for a branch with as_result(). If the first branch fails, the select fails, unless it has as_result().
template <class... Branch>
auto select(Branch&&... branches) {
  constexpr bool tasks = (wait::is_task<std::remove_cvref_t<Branch>> || ...);
  constexpr bool lvalues = (std::is_lvalue_reference_v<Branch> || ...);
  constexpr bool operations = (wait::branch<Branch>::is_operation && ...);
  static_assert(sizeof...(Branch) > 0, "select waits for one operation at least");
  static_assert(!tasks,
                "a task is no operation: use when_any(tasks...), or select over the get() of the future that "
                "spawn(executor, task) returns");
  static_assert(tasks || !lvalues, "select takes its operations along: std::move them");
  static_assert(tasks || lvalues || operations, "a branch of a select is an operation");
  if constexpr (operations) {  // otherwise later errors would hide the first one
    static_assert((!wait::branch<Branch>::is_select && ...), "selects do not nest: list all branches in one");
    static_assert((wait::branch<Branch>::is_one_wait && ...),
                  "condition::wait is no branch of a select: it waits twice");
    static_assert((wait::branch<Branch>::is_plain && ...),
                  "limits and resume_on belong on the select, not on a branch: select(a, b).within(1s)");
    using op = wait::select_op<Branch...>;
    return operation<op>(op(branches...), branches...);
  }
}

}  // namespace weir
