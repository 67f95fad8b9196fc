// Many requests to a few hosts: at most two at once to each, at most three at once altogether.
//
// Prints:
//   a.example: 8 answered, 2 at once
//   b.example: 8 answered, 2 at once
//   together: 3 at once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <weir/weir.hpp>

namespace {

struct seen {
  int now = 0;
  int most = 0;
  int answered = 0;
  void begin() { most = std::max(most, ++now); }
  void end() { --now, ++answered; }
};

struct network {
  std::map<std::string, seen> hosts;
  seen together;
};

weir::task<> talk(network& net, std::string host) {
  net.hosts[host].begin();
  net.together.begin();
  co_await weir::yield();
  net.together.end();
  net.hosts[host].end();
}

// [per_host_limit]
class host_limits {
 public:
  explicit host_limits(std::size_t each) : each_(each) {}

  weir::semaphore& of(const std::string& host) {
    const std::lock_guard lock(mutex_);                     // held for a few instructions: std::mutex is right
    return limits_.try_emplace(host, each_).first->second;  // a map never moves its elements
  }

 private:
  std::size_t each_;
  std::mutex mutex_;
  std::map<std::string, weir::semaphore> limits_;
};

weir::task<> request(host_limits& hosts, weir::semaphore& sockets, network& net, std::string host) {
  auto turn = co_await hosts.of(host).scoped_acquire();  // first the limit of the host ...
  auto socket = co_await sockets.scoped_acquire();       // ... then the one that all hosts share
  co_await talk(net, host);
}  // both permits are returned here, in reverse order
// [per_host_limit]

}  // namespace

int main() {
  host_limits hosts(2);
  weir::semaphore sockets(3);
  network net;
  std::vector<weir::task<>> requests;
  for (const char* host : {"a.example", "b.example"}) {
    for (int i = 0; i < 8; ++i) requests.push_back(request(hosts, sockets, net, host));
  }
  weir::sync_wait(weir::when_all(std::move(requests)));

  bool right = net.together.most == 3 && sockets.available() == 3;
  for (const auto& [name, host] : net.hosts) {
    std::printf("%s: %d answered, %d at once\n", name.c_str(), host.answered, host.most);
    right = right && host.answered == 8 && host.most == 2 && hosts.of(name).available() == 2;
  }
  std::printf("together: %d at once\n", net.together.most);
  return right ? 0 : 1;
}
