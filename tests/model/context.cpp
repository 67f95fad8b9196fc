#include <model/context.hpp>

#include <cstdint>

#if defined(__x86_64__)
// By hand: swapcontext() asks the operating system for the signal mask, which costs more than a whole schedule's steps.
extern "C" void weir_model_switch(void** from, void* to) noexcept;
asm(R"(
.text
.globl weir_model_switch
weir_model_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");
#endif

namespace weir::model {

void context::begin_at(void (*entry)()) {
  if (stack_ == nullptr) stack_.reset(new std::byte[stack_size]);
#if defined(__x86_64__)
  auto top = reinterpret_cast<std::uintptr_t>(stack_.get() + stack_size) & ~std::uintptr_t{15};
  auto* words = reinterpret_cast<std::uintptr_t*>(top);
  *--words = 0;  // entry() returns to nowhere
  *--words = reinterpret_cast<std::uintptr_t>(entry);
  for (int registers = 0; registers < 6; ++registers) *--words = 0;
  stack_pointer_ = words;
#else
  getcontext(&saved_);
  saved_.uc_stack.ss_sp = stack_.get();
  saved_.uc_stack.ss_size = stack_size;
  saved_.uc_link = nullptr;
  makecontext(&saved_, entry, 0);
#endif
}

void context::change(context& from, context& to) noexcept {
#if defined(__x86_64__)
  weir_model_switch(&from.stack_pointer_, to.stack_pointer_);
#else
  swapcontext(&from.saved_, &to.saved_);
#endif
}

}  // namespace weir::model
