#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weir/core/claim.hpp>
#include <weir/core/completion.hpp>
#include <weir/core/executor.hpp>
#include <weir/core/waiter.hpp>

namespace {

using weir::work;
using weir::work_list;
using weir::core::completion;

using log = std::vector<std::string>;

/// Told, it writes that down and, if it has code, posts itself to the flat loop to run it.
class owner : public weir::core::claim {
 public:
  owner(log& written, std::string name, void (*code)(owner&) = nullptr)
      : written_(written), name_(std::move(name)), code_(code) {
    run_ = [](work& told) noexcept { static_cast<owner&>(told).be_told(); };
  }

  void write(const std::string& what) { written_.push_back(what + " " + name_); }
  log& written() { return written_; }
  owner* friend_of_mine = nullptr;

 private:
  void be_told() {
    write("told");
    if (code_ == nullptr) return;
    run_ = [](work& posted) noexcept {
      auto& self = static_cast<owner&>(posted);
      self.code_(self);
    };
    weir::executor_ref().post(*this);
  }

  log& written_;
  std::string name_;
  void (*code_)(owner&);
};

/// The claim of a hand-made select: settling it writes that down and completes whoever stood behind its branches.
class selecting : public weir::core::settling_claim {
 public:
  selecting(log& written, std::string name, std::vector<weir::core::claim*> behind = {})
      : written_(written), name_(std::move(name)), behind_(std::move(behind)) {
    settle_ = [](settling_claim& settled, completion& list) noexcept {
      auto& self = static_cast<selecting&>(settled);
      self.written_.push_back("settled " + self.name_);
      for (auto* each : self.behind_) list.add(*each);
      return !self.waits_on;
    };
    branch_.wait = this;
    branch_.decide(weir::core::outcome::granted);
    run_ = [](work& told) noexcept {
      auto& self = static_cast<selecting&>(told);
      self.written_.push_back("told " + self.name_);
    };
  }

  bool waits_on = false;  // there is more to wait for before it can be told

 private:
  log& written_;
  std::string name_;
  std::vector<weir::core::claim*> behind_;
  weir::core::waiter branch_;  // the one that won
};

void write_code(owner& self) { self.write("code of"); }

TEST(completion, tells_the_owners_at_its_end_in_the_order_in_which_they_were_added) {
  log written;
  owner a(written, "a");
  owner b(written, "b");
  owner c(written, "c");
  {
    completion list;
    list.add(b);
    list.add(a);
    list.add(c);
    EXPECT_TRUE(written.empty());
  }
  EXPECT_EQ(written, (log{"told b", "told a", "told c"}));
}

TEST(completion, settles_every_select_before_any_owner_is_told) {
  log written;
  owner a(written, "a");
  selecting b(written, "b");
  owner c(written, "c");
  selecting d(written, "d");
  {
    completion list;
    list.add(a);
    list.add(b);
    list.add(c);
    list.add(d);
  }
  EXPECT_EQ(written, (log{"settled b", "settled d", "told a", "told b", "told c", "told d"}));
}

TEST(completion, one_that_has_more_to_wait_for_is_settled_and_not_told) {
  log written;
  selecting first(written, "first");
  selecting second(written, "second");
  first.waits_on = true;
  {
    completion list;
    list.add(first);
    list.add(second);
  }
  EXPECT_EQ(written, (log{"settled first", "settled second", "told second"}));
}

TEST(completion, those_that_a_settling_lets_through_join_the_end_and_are_settled_and_told_too) {
  log written;
  owner let_through_last(written, "last");
  selecting let_through(written, "second", {&let_through_last});
  owner other(written, "other");
  selecting first(written, "first", {&let_through, &other});
  owner after(written, "after");
  {
    completion list;
    list.add(first);
    list.add(after);
  }
  EXPECT_EQ(written, (log{"settled first", "settled second", "told first", "told after", "told second", "told other",
                          "told last"}));
}

TEST(completion, a_settling_of_the_last_in_the_list_can_still_add) {
  log written;
  owner behind(written, "behind");
  selecting only(written, "only", {&behind});
  {
    completion list;
    list.add(only);
  }
  EXPECT_EQ(written, (log{"settled only", "told only", "told behind"}));
}

TEST(completion, a_chain_of_a_hundred_thousand_settlings_uses_bounded_stack) {
  constexpr std::size_t length = 100'000;
  log written;
  std::vector<std::unique_ptr<selecting>> chain;
  chain.push_back(std::make_unique<selecting>(written, "end"));
  while (chain.size() < length) {
    chain.push_back(std::make_unique<selecting>(written, "link", std::vector<weir::core::claim*>{chain.back().get()}));
  }
  {
    completion list;
    list.add(*chain.back());
  }
  EXPECT_EQ(written.size(), 2 * length);
  EXPECT_EQ(written[length - 1], "settled end");
  EXPECT_EQ(written.back(), "told end");
}

TEST(completion, nobodys_code_runs_before_all_are_told) {
  log written;
  owner a(written, "a", write_code);
  owner b(written, "b");
  owner c(written, "c", write_code);
  {
    completion list;
    list.add(a);
    list.add(b);
    list.add(c);
  }
  EXPECT_EQ(written, (log{"told a", "told b", "told c", "code of a", "code of c"}));
}

TEST(completion, one_that_ends_inside_a_completion_tells_at_once_and_lets_the_code_wait_its_turn) {
  log written;
  owner inner(written, "inner", write_code);
  owner a(written, "a", [](owner& self) {
    self.write("code of");
    {
      completion list;
      list.add(*self.friend_of_mine);
    }
    self.write("end of");
  });
  a.friend_of_mine = &inner;
  owner b(written, "b", write_code);
  {
    completion list;
    list.add(a);
    list.add(b);
  }
  EXPECT_EQ(written, (log{"told a", "told b", "code of a", "told inner", "end of a", "code of b", "code of inner"}));
}

TEST(completion, telling_may_destroy_the_claim) {
  struct short_lived : weir::core::claim {
    explicit short_lived(int& alive) : alive_(alive) {
      ++alive_;
      run_ = [](work& told) noexcept { delete &static_cast<short_lived&>(told); };
    }
    ~short_lived() { --alive_; }
    int& alive_;
  };
  int alive = 0;
  {
    completion list;
    for (int i = 0; i < 3; ++i) list.add(*new short_lived(alive));
    EXPECT_EQ(alive, 3);
  }
  EXPECT_EQ(alive, 0);
}

TEST(completion, telling_may_put_the_claim_on_an_executor) {
  struct list_executor {
    void post(work& item) noexcept { posted.push_back(item); }
    work_list posted;
  };
  struct moving : weir::core::claim {
    explicit moving(list_executor& target) : where(target) {
      run_ = [](work& told) noexcept {
        auto& self = static_cast<moving&>(told);
        self.where.post(self);
      };
    }
    weir::executor_ref where;
  };
  list_executor target;
  moving a(target);
  moving b(target);
  {
    completion list;
    list.add(a);
    list.add(b);
  }
  EXPECT_EQ(target.posted.pop_front(), &a);
  EXPECT_EQ(target.posted.pop_front(), &b);
  EXPECT_TRUE(target.posted.empty());
}

}  // namespace
