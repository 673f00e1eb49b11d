// SPDX-License-Identifier: Apache-2.0
#include "core/base/work_limit.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <malloc.h>
#include <new>
#include <utility>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"

// Functions of mimalloc, if the program is linked with it.
extern "C" {
[[gnu::weak]] void mi_collect(bool force);
[[gnu::weak]] long mi_option_get(int option);
[[gnu::weak]] void mi_option_set(int option, long value);
}

namespace bunraku::base {

namespace {

/// Reading the clock costs more than most steps.
constexpr std::int64_t kStepsBetweenChecks = 256;
/// Smaller allocations never fail, because destructors and error reporting need them.
constexpr std::size_t kLargeAllocation = 64 * 1024;

constinit thread_local WorkLimit* current = nullptr;

}  // namespace

namespace detail {
constinit thread_local std::int64_t steps_left = 0;
}

struct WorkLimitAccess {
    static bool counts() { return current && current->counts_; }
    static void count(std::int64_t bytes) {
        current->allocated_ += bytes;
        current->most_ = std::max(current->most_, current->allocated_);
    }
    static bool over_memory(std::int64_t more) {
        std::int64_t sum = more;
        for (const WorkLimit* l = current; l; l = l->outer_) {
            sum += l->allocated_;
            const auto most = l->limits_.memory;
            if (most != 0 && sum > static_cast<std::int64_t>(most)) return true;
        }
        return false;
    }

    static WorkEnd end() {
        if (!current) return WorkEnd::None;
        const auto now = std::chrono::steady_clock::now();
        for (const WorkLimit* l = current; l; l = l->outer_) {
            if (l->limits_.deadline && now >= *l->limits_.deadline) return WorkEnd::Expired;
            if (l->limits_.cancelled && l->limits_.cancelled()) return WorkEnd::Cancelled;
        }
        return WorkEnd::None;
    }
};

WorkLimit::WorkLimit(WorkLimits limits)
    : limits_(std::move(limits)),
      outer_(current),
      counts_(limits_.memory != 0 || (outer_ && outer_->counts_)) {
    current = this;
    detail::steps_left = 0;
}

WorkLimit::~WorkLimit() {
    BUNRAKU_ASSERT(current == this);
    BUNRAKU_ASSERT(most_ >= 0 && most_ >= allocated_);
    if (outer_) {
        outer_->most_ = std::max(outer_->most_, outer_->allocated_ + most_);
        outer_->allocated_ += allocated_;
    }
    BUNRAKU_ASSERT(!outer_ || outer_->most_ >= outer_->allocated_);
    current = outer_;
    detail::steps_left = 0;
    if (!outer_ && most_ > static_cast<std::int64_t>(kLargeWork)) release_memory();
}

WorkLimit* WorkLimit::exchange(WorkLimit* limit) {
    detail::steps_left = 0;
    return std::exchange(current, limit);
}

WorkEnd work_end() { return WorkLimitAccess::end(); }

bool work_is_limited() { return current != nullptr; }

void check_work_limit() {
    // if a caller catches one of these exceptions, the next step throws again
    detail::steps_left = 0;
    if (WorkLimitAccess::over_memory(0)) throw std::bad_alloc();
    switch (work_end()) {
        case WorkEnd::None: break;
        case WorkEnd::Expired: throw PuppetError("execution expired", "EXPIRED");
        case WorkEnd::Cancelled: throw PuppetError("execution cancelled", "EXPIRED");
    }
    detail::steps_left = current ? kStepsBetweenChecks : std::numeric_limits<std::int64_t>::max();
    BUNRAKU_ASSERT(detail::steps_left > 0);
}

void detail::next_steps() { check_work_limit(); }

void release_memory() {
    if (!mi_collect || !mi_option_get || !mi_option_set) {
        ::malloc_trim(0);
        return;
    }
    // mimalloc returns a free page only at a later call of the same thread, unless this delay is 0.
    // Since 2.0.9, the option has had this number and two names (decommit_delay, purge_delay).
    constexpr int kDelay = 15;
    const long delay = mi_option_get(kDelay);
    mi_option_set(kDelay, 0);
    mi_collect(true);
    mi_option_set(kDelay, delay);
}

}  // namespace bunraku::base

// Sanitizers have their own allocators.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define BUNRAKU_OWN_ALLOCATOR
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BUNRAKU_OWN_ALLOCATOR
#endif

#ifndef BUNRAKU_OWN_ALLOCATOR
namespace bunraku::base {

// ---- Counting allocations

namespace {

/// Returns memory for `operator new`, or null. Counts it only while a limit is set, because only
/// the allocator knows the size of a block.
void* counted_malloc(std::size_t size) {
    if (!WorkLimitAccess::counts()) [[likely]]
        return std::malloc(size);
    if (WorkLimitAccess::over_memory(static_cast<std::int64_t>(size))) {
        if (size >= kLargeAllocation) return nullptr;
        detail::steps_left = 0;
    }
    void* p = std::malloc(size);
    if (p) WorkLimitAccess::count(static_cast<std::int64_t>(::malloc_usable_size(p)));
    return p;
}

void counted_free(void* p) {
    if (p && WorkLimitAccess::counts()) [[unlikely]]
        WorkLimitAccess::count(-static_cast<std::int64_t>(::malloc_usable_size(p)));
    std::free(p);
}

void* counted_new(std::size_t size) {
    while (true) {
        if (void* p = counted_malloc(size == 0 ? 1 : size)) return p;
        const auto handler = std::get_new_handler();
        if (!handler) throw std::bad_alloc();
        handler();
    }
}

}  // namespace

}  // namespace bunraku::base

using bunraku::base::counted_free;
using bunraku::base::counted_malloc;
using bunraku::base::counted_new;

// Weak, so that a test program can replace them.
[[gnu::weak]] void* operator new(std::size_t size) { return counted_new(size); }
[[gnu::weak]] void* operator new[](std::size_t size) { return counted_new(size); }
[[gnu::weak]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return counted_malloc(size == 0 ? 1 : size);
}
[[gnu::weak]] void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return counted_malloc(size == 0 ? 1 : size);
}
[[gnu::weak]] void operator delete(void* p) noexcept { counted_free(p); }
[[gnu::weak]] void operator delete[](void* p) noexcept { counted_free(p); }
[[gnu::weak]] void operator delete(void* p, std::size_t) noexcept { counted_free(p); }
[[gnu::weak]] void operator delete[](void* p, std::size_t) noexcept { counted_free(p); }
[[gnu::weak]] void operator delete(void* p, const std::nothrow_t&) noexcept { counted_free(p); }
[[gnu::weak]] void operator delete[](void* p, const std::nothrow_t&) noexcept { counted_free(p); }
#endif
