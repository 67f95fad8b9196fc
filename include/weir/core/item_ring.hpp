#pragma once

// A FIFO ring buffer of items in one block of memory. It never allocates: a caller that finds no room allocates a
// larger block outside the lock and passes it to move_into(). Items are moved, which cannot fail, and never copied.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace weir::core {

template <class T>
class item_ring {
  static_assert(std::is_nothrow_move_constructible_v<T>);

 public:
  /// Memory for `size` items; `size` is a power of two.
  class block {
   public:
    block() noexcept = default;
    explicit block(std::size_t size) : items_(std::allocator<T>().allocate(size)), size_(size) {}
    block(block&& from) noexcept : items_(std::exchange(from.items_, nullptr)), size_(std::exchange(from.size_, 0)) {}
    block& operator=(block&& from) noexcept {
      block taken(std::move(from));
      std::swap(items_, taken.items_);
      std::swap(size_, taken.size_);
      return *this;
    }
    ~block() {
      if (items_ != nullptr) std::allocator<T>().deallocate(items_, size_);
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    T* at(std::size_t index) const noexcept { return items_ + (index & (size_ - 1)); }

   private:
    T* items_ = nullptr;
    std::size_t size_ = 0;
  };

  item_ring() noexcept = default;
  item_ring(item_ring&& from) noexcept
      : block_(std::move(from.block_)), first_(from.first_), count_(std::exchange(from.count_, 0)) {}
  item_ring& operator=(item_ring&&) = delete;
  ~item_ring() {
    while (count_ != 0) drop_front();
  }

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] bool has_room() const noexcept { return count_ < block_.size(); }

  /// The size of the next block, if the ring never keeps more than `most` items.
  [[nodiscard]] std::size_t next_size(std::size_t most) const noexcept {
    return std::bit_ceil(std::max(count_ + 1, std::min(most, std::max(smallest, 2 * block_.size()))));
  }

  /// Moves all items into a larger block. Afterwards `larger` holds the old one.
  void move_into(block& larger) noexcept {
    for (std::size_t i = 0; i < count_; ++i) relocate(block_.at(first_ + i), larger.at(first_ + i));
    std::swap(block_, larger);
  }

  T& front() noexcept { return *block_.at(first_); }

  /// The number of items that have left from the front, minus those that were inserted. skip() counts one more that was
  /// never stored here.
  [[nodiscard]] std::size_t first() const noexcept { return first_; }
  void skip() noexcept { ++first_; }

  void push_back(T&& item) noexcept {
    std::construct_at(block_.at(first_ + count_), std::move(item));
    ++count_;
  }

  /// Inserts behind the first `index` items, which move one place towards the front.
  void insert(std::size_t index, T item) noexcept {
    --first_;
    for (std::size_t i = 0; i < index; ++i) relocate(block_.at(first_ + i + 1), block_.at(first_ + i));
    std::construct_at(block_.at(first_ + index), std::move(item));
    ++count_;
  }

  T& operator[](std::size_t index) noexcept { return *block_.at(first_ + index); }

  void drop_front() noexcept {
    std::destroy_at(block_.at(first_));
    ++first_;
    --count_;
  }

 private:
  static constexpr std::size_t smallest = 8;

  static void relocate(T* from, T* to) noexcept {
    std::construct_at(to, std::move(*from));
    std::destroy_at(from);
  }

  block block_;
  std::size_t first_ = 0;  // not reduced to the size of the block: at() does that
  std::size_t count_ = 0;
};

}  // namespace weir::core
