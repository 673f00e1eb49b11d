// Threads that do pieces of work, one after another: what a site compiles on.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bunraku::site {

/// Threads start when they are first needed. Work may not throw.
class Workers {
public:
    /// `threads` 0: as many as there are cores. At most `queue` pieces wait.
    explicit Workers(std::size_t threads = 0, std::size_t queue = 1024);
    ~Workers() { finish(); }
    Workers(const Workers&) = delete;

    std::size_t threads() const { return most_; }
    /// Waits while the queue is full. Not from within work.
    void post(std::function<void()> work);
    /// False where the queue is full: nothing was taken.
    bool try_post(std::function<void()> work);
    /// Does what waits, and ends the threads; nothing may come any more.
    void finish();

private:
    void run();
    void add(std::function<void()> work);

    const std::size_t most_, queue_;
    std::mutex mutex_;
    std::condition_variable work_, room_;
    std::deque<std::function<void()>> waiting_;
    std::size_t idle_ = 0;
    bool ending_ = false;
    std::vector<std::jthread> threads_;
};

}  // namespace bunraku::site
