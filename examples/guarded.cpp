// A stock that can only be accessed under its lock.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

namespace {

// [guarded]
using stock = weir::guarded<std::map<std::string, int>>;

weir::task<bool> order(stock& goods, std::string what) {
  auto shelf = co_await goods.lock();  // the only way to access the map
  const auto found = shelf->find(what);
  if (found == shelf->end() || found->second == 0) co_return false;
  co_await weir::yield();  // writes it into the ledger: the stock stays locked
  --found->second;
  co_return true;
}  // unlocked here
// [guarded]

}  // namespace

int main() {
  stock goods(std::map<std::string, int>{{"tea", 3}});
  weir::thread_pool threads(2);
  std::vector<weir::future<bool>> orders;
  for (int i = 0; i < 10; ++i) orders.push_back(weir::spawn(threads, order(goods, "tea")));
  int served = 0;
  for (auto& each : orders) served += each.get().wait() ? 1 : 0;
  const auto shelf = goods.lock().wait();
  return served == 3 && shelf->at("tea") == 0 && goods.locked() && !goods.try_lock() ? 0 : 1;
}
