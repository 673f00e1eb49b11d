// SPDX-License-Identifier: Apache-2.0
// Counts responses by route without delaying them.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <mutex>

#include "core/base/counters.h"
#include "net/http/message.h"

namespace bunraku::server {

class HttpMetrics {
public:
    explicit HttpMetrics(base::Counters& counters) : counters_(counters) {}
    void record(const http::Request& request, int status, std::uint64_t bytes,
                std::int64_t microseconds);

private:
    struct Route {
        const char* key = nullptr;  ///< address of the router's pattern string
        std::array<base::Counter*, 5> by_class{};
        base::Counter* bytes = nullptr;
        base::Histogram* seconds = nullptr;
    };
    Route& route(std::string_view pattern);
    Route& make(std::string_view pattern);

    static constexpr std::size_t kSlots = 1024;
    base::Counters& counters_;
    std::mutex mutex_;
    std::deque<Route> routes_;
    std::array<std::atomic<Route*>, kSlots> slots_{};
};

}  // namespace bunraku::server
