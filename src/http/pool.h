// The threads that handlers run on; inside this folder only.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bunraku::http {

class Pool {
public:
    using Task = std::function<void()>;
    void start(int threads);
    /// Threads come as they are needed, up to `most`.
    void start_on_demand(int most);
    /// False: `limit` tasks wait already (0: no limit), or the pool ends.
    bool submit(Task task, std::uint32_t limit);
    /// What waits is still run; then the threads end.
    void stop();
    std::uint32_t waiting() const { return waiting_.load(std::memory_order_relaxed); }

private:
    void work();
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Task> tasks_;
    std::vector<std::thread> threads_;
    std::atomic<std::uint32_t> waiting_{0};
    std::size_t most_ = 0, idle_ = 0;
    bool stopping_ = false;
};

}  // namespace bunraku::http
