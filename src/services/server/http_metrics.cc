// SPDX-License-Identifier: Apache-2.0
#include "services/server/http_metrics.h"

#include <algorithm>

#include "core/base/assert.h"

namespace bunraku::server {

HttpMetrics::Route& HttpMetrics::make(std::string_view pattern) {
    std::string name(pattern.empty() ? "none" : pattern);
    auto& route = routes_.emplace_back();
    route.key = pattern.data();
    constexpr const char* kClasses[] = {"1xx", "2xx", "3xx", "4xx", "5xx"};
    for (std::size_t i = 0; i < 5; i++) {
        route.by_class[i] = &counters_.counter("bunraku_http_requests_total", "Answered requests.",
                                               {{"route", name}, {"status", kClasses[i]}});
    }
    route.bytes = &counters_.counter("bunraku_http_response_bytes_total", "Bytes of responses.",
                                     {{"route", name}});
    route.seconds = &counters_.histogram("bunraku_http_request_seconds",
                                         "Time from the complete request to the complete response.",
                                         {{"route", name}});
    return route;
}

HttpMetrics::Route& HttpMetrics::route(std::string_view pattern) {
    const char* key = pattern.data();
    auto slot = (reinterpret_cast<std::uintptr_t>(key) >> 4) % kSlots;
    for (std::size_t i = 0; i < kSlots; i++, slot = (slot + 1) % kSlots) {
        BUNRAKU_ASSERT(slot < kSlots);
        Route* found = slots_[slot].load(std::memory_order_acquire);
        if (!found) break;
        if (found->key == key) return *found;
    }
    std::lock_guard lock(mutex_);
    for (auto& r : routes_)
        if (r.key == key) return r;
    auto& made = make(pattern);
    // If the table is full, only the lookup becomes slower.
    for (std::size_t i = 0; i < kSlots; i++, slot = (slot + 1) % kSlots) {
        if (slots_[slot].load(std::memory_order_relaxed)) continue;
        slots_[slot].store(&made, std::memory_order_release);
        break;
    }
    return made;
}

void HttpMetrics::record(const http::Request& request, int status, std::uint64_t bytes,
                         std::int64_t microseconds) {
    auto& r = route(request.route);
    r.by_class[static_cast<std::size_t>(std::clamp(status / 100, 1, 5) - 1)]->add();
    r.bytes->add(bytes);
    r.seconds->record(static_cast<std::uint64_t>(std::max<std::int64_t>(0, microseconds)));
}

}  // namespace bunraku::server
