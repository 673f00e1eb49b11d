// SPDX-License-Identifier: Apache-2.0
// A pool of threads with a queue of tasks; a site compiles on it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bunraku::site {

/// A thread pool. Threads start when first needed. Tasks must not throw.
class Workers {
public:
    /// If `threads` is 0, there is one thread per core. At most `queue` tasks wait.
    explicit Workers(std::size_t threads = 0, std::size_t queue = 1024);
    ~Workers() { finish(); }
    Workers(const Workers&) = delete;

    std::size_t threads() const { return most_; }
    /// Adds a task; waits while the queue is full. Must not be called from a task.
    void post(std::function<void()> work);
    /// Adds a task, or returns false if the queue is full.
    bool try_post(std::function<void()> work);
    /// Runs the waiting tasks and ends the threads. No task may be added afterwards.
    void finish();

private:
    void run();
    void add(std::function<void()> work);

    const std::size_t most_, queue_;
    std::mutex mutex_;
    std::condition_variable work_, not_full_;
    std::deque<std::function<void()>> waiting_;
    std::size_t idle_ = 0;
    bool ending_ = false;
    std::vector<std::jthread> threads_;
};

}  // namespace bunraku::site
