#pragma once

// An intrusive circular list, one pointer in size, with constant-time operations at both ends and in the middle. T has
// members `T* next` and `T* prev`; prev is null while the element is in no ring.

namespace weir::core {

template <class T>
class ring {
 public:
  [[nodiscard]] bool empty() const noexcept { return head_ == nullptr; }
  [[nodiscard]] T* front() const noexcept { return head_; }
  [[nodiscard]] static bool linked(const T& element) noexcept { return element.prev != nullptr; }

  /// The element behind `element`; null behind the last.
  [[nodiscard]] T* after(const T& element) const noexcept { return element.next == head_ ? nullptr : element.next; }

  void push_back(T& element) noexcept {
    if (head_ == nullptr) {
      head_ = element.next = element.prev = &element;
      return;
    }
    element.next = head_;
    element.prev = head_->prev;
    head_->prev->next = &element;
    head_->prev = &element;
  }

  void push_front(T& element) noexcept {
    push_back(element);
    head_ = &element;
  }

  void remove(T& element) noexcept {
    if (element.next == &element) {
      head_ = nullptr;
    } else {
      element.prev->next = element.next;
      element.next->prev = element.prev;
      if (head_ == &element) head_ = element.next;
    }
    element.next = element.prev = nullptr;
  }

  /// Removes and returns the first element; null if the ring is empty.
  T* pop_front() noexcept {
    T* first = head_;
    if (first != nullptr) remove(*first);
    return first;
  }

  /// Moves all elements of `other` to the end of this ring.
  void append(ring& other) noexcept {
    if (other.head_ == nullptr) return;
    if (head_ == nullptr) {
      head_ = other.head_;
    } else {
      T* last = head_->prev;
      T* other_last = other.head_->prev;
      last->next = other.head_;
      other.head_->prev = last;
      other_last->next = head_;
      head_->prev = other_last;
    }
    other.head_ = nullptr;
  }

 private:
  T* head_ = nullptr;
};

}  // namespace weir::core
