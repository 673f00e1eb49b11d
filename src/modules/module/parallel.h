// SPDX-License-Identifier: Apache-2.0
// Parallel execution of independent work.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace bunraku::module {

/// Calls `work` with each number from 0 to count - 1, on at most `most` threads. Returns when all
/// calls have finished.
inline void in_parallel(std::size_t count, int most, const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> at{0};
    const auto loop = [&] {
        for (std::size_t i = at++; i < count; i = at++) work(i);
    };
    std::vector<std::thread> threads;
    const std::size_t n = std::min<std::size_t>(count, static_cast<std::size_t>(std::max(1, most)));
    for (std::size_t i = 1; i < n; ++i) threads.emplace_back(loop);
    loop();
    for (std::thread& t : threads) t.join();
}

}  // namespace bunraku::module
