// Coming from tokio: a loop over select!, answers through a oneshot, and an end when the last sender has gone.

#include <string>
#include <utility>
#include <variant>

#include <weir/weir.hpp>

namespace {

// [tokio]
struct question {
  int number;
  weir::oneshot_sender<int> answer;
};

weir::task<std::string> serve(weir::queue<question>& questions, weir::event& shutdown) {
  for (;;) {
    auto first = co_await weir::select(shutdown.wait(), questions.pop());  // biased: the first listed wins
    if (first.index() == 0) co_return "shut down";
    auto asked = std::get<1>(std::move(first));
    if (!asked) co_return "no more senders";
    asked->answer.send(asked->number * 2);
  }
}

weir::task<int> ask(weir::queue<question>& questions, weir::wait_group& senders, int number) {
  auto [answer, answered] = weir::make_oneshot<int>();
  question asked{number, std::move(answer)};
  co_await questions.push(std::move(asked));
  const int doubled = co_await answered.receive();
  senders.done();  // in tokio, dropping the Sender does this
  co_return doubled;
}

weir::task<> close_after(weir::queue<question>& questions, weir::wait_group& senders) {
  co_await senders.wait();
  questions.close();
}
// [tokio]

}  // namespace

int main() {
  weir::queue<question> questions(4);
  weir::event shutdown;
  weir::wait_group senders;
  senders.add(2);
  auto all = weir::when_all(serve(questions, shutdown), ask(questions, senders, 1), ask(questions, senders, 2),
                            close_after(questions, senders));
  auto [how, one, two, nothing] = weir::sync_wait(std::move(all));
  bool right = how == "no more senders" && one == 2 && two == 4;

  weir::queue<question> idle;
  shutdown.set();
  right = right && weir::sync_wait(serve(idle, shutdown)) == "shut down";
  return right ? 0 : 1;
}
