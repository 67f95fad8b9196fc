#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weir/core/context.hpp>

namespace {

using weir::owner_id;

TEST(owner_id, by_default_is_nobody) {
  EXPECT_FALSE(static_cast<bool>(owner_id()));
  EXPECT_EQ(owner_id().value(), 0U);
  EXPECT_EQ(owner_id(), owner_id());
}

TEST(owner_id, one_that_was_made_is_somebody_and_equal_to_its_copies_only) {
  const owner_id one = owner_id::make();
  const owner_id other = owner_id::make();
  const owner_id copy = one;
  EXPECT_TRUE(static_cast<bool>(one));
  EXPECT_EQ(copy, one);
  EXPECT_NE(one, other);
  EXPECT_NE(one, owner_id());
}

TEST(owner_id, no_two_are_equal_over_many_threads_and_many_blocks) {
  constexpr std::size_t threads = 4;
  constexpr std::size_t each = 150'000;  // more than two blocks of ids
  std::vector<std::vector<std::uint64_t>> made(threads);
  std::vector<std::thread> makers;
  for (auto& mine : made) {
    makers.emplace_back([&mine] {
      for (std::size_t i = 0; i < each; ++i) mine.push_back(owner_id::make().value());
    });
  }
  for (auto& maker : makers) maker.join();

  std::vector<std::uint64_t> all;
  for (const auto& mine : made) all.insert(all.end(), mine.begin(), mine.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all.size(), threads * each);
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
  EXPECT_NE(all.front(), 0U);
}

TEST(owner_id, a_thread_is_always_the_same_owner) {
  const owner_id first = owner_id::this_thread();
  EXPECT_TRUE(static_cast<bool>(first));
  static_cast<void>(owner_id::make());
  EXPECT_EQ(owner_id::this_thread(), first);
}

TEST(owner_id, two_threads_are_two_owners_also_one_after_the_other) {
  owner_id first;
  owner_id second;
  std::thread([&] { first = owner_id::this_thread(); }).join();
  std::thread([&] { second = owner_id::this_thread(); }).join();
  EXPECT_TRUE(static_cast<bool>(first));
  EXPECT_NE(first, second);
  EXPECT_NE(first, owner_id::this_thread());
  EXPECT_NE(second, owner_id::this_thread());
}

}  // namespace
