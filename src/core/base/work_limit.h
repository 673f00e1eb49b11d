// SPDX-License-Identifier: Apache-2.0
// Limits on the memory and time that one thread may spend on a piece of work, and the cancellation
// of that work.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace bunraku::base {

struct WorkLimits {
    /// Number of bytes that the thread may allocate beyond the bytes that it has freed; 0 means
    /// unlimited.
    std::size_t memory = 0;
    std::optional<std::chrono::steady_clock::time_point> deadline;
    /// Called every few hundred steps; the work ends if it returns true. May be null.
    std::function<bool()> cancelled;
};

/// Limits the work of the current thread during the lifetime of this object. A nested limit does
/// not lift the outer limits: the earlier deadline applies, and so does every memory limit.
///
/// `operator new` counts memory (except in sanitizer builds, which have their own). A large
/// allocation beyond the limit throws std::bad_alloc. Small allocations never throw, so that error
/// paths and destructors are safe; the next step() throws instead.
class WorkLimit {
public:
    explicit WorkLimit(WorkLimits limits);
    ~WorkLimit();
    WorkLimit(const WorkLimit&) = delete;
    WorkLimit& operator=(const WorkLimit&) = delete;

    /// Makes `limit` the innermost limit of this thread and returns the previous one. Either may be
    /// null. For schedulers that run several pieces of work on one thread.
    static WorkLimit* exchange(WorkLimit* limit);

private:
    friend struct WorkLimitAccess;
    WorkLimits limits_;
    WorkLimit* outer_;
    std::int64_t allocated_ = 0;  ///< bytes allocated while this was the innermost limit
    std::int64_t most_ = 0;       ///< peak of allocated_
    bool counts_ = false;         ///< whether this or an outer limit bounds memory
};

/// The reason why work must end.
enum class WorkEnd : std::uint8_t { None, Expired, Cancelled };
/// Reports whether the current thread's work is past its deadline or cancelled. For code that waits
/// and cannot throw at that point.
WorkEnd work_end();
/// Reports whether the current thread's work has any limit.
bool work_is_limited();

/// Throws if the current thread's work exceeds one of its limits: std::bad_alloc for memory,
/// otherwise PuppetError with the code EXPIRED.
void check_work_limit();

/// Returns unused memory of the allocator to the system. Takes milliseconds, so call it only at the
/// end of work that used more than kLargeWork.
void release_memory();
inline constexpr std::size_t kLargeWork = std::size_t{64} << 20;

namespace detail {
extern constinit thread_local std::int64_t steps_left;
void next_steps();
}  // namespace detail

/// Counts one step of the current thread's work and checks the limits every few hundred steps.
/// Every function that traverses values or types calls it, because sharing lets a small value
/// unfold into a huge tree.
inline void step() {
    if (--detail::steps_left < 0) [[unlikely]]
        detail::next_steps();
}

}  // namespace bunraku::base
