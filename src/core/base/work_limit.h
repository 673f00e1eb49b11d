// Limits on what one thread may spend on a piece of work: memory, time, and whether anybody still
// wants the result.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace bunraku::base {

struct WorkLimits {
    /// Bytes that the thread may allocate beyond what it has freed; 0 means unlimited.
    std::size_t memory = 0;
    std::optional<std::chrono::steady_clock::time_point> deadline;
    /// Asked every few hundred steps; true ends the work. May be null.
    std::function<bool()> cancelled;
};

/// Bounds the work of the current thread while it lives. A nested limit keeps the limits around it:
/// the earlier deadline counts, and every memory limit.
///
/// `operator new` counts memory (except in sanitizer builds, which bring their own). A large
/// allocation beyond the limit throws std::bad_alloc; small ones never do, so that error paths and
/// destructors are safe, and the next step() throws instead.
class WorkLimit {
public:
    explicit WorkLimit(WorkLimits limits);
    ~WorkLimit();
    WorkLimit(const WorkLimit&) = delete;
    WorkLimit& operator=(const WorkLimit&) = delete;

    /// Makes `limit` the innermost limit of this thread and returns the one before; either may be
    /// null. For schedulers that run several pieces of work on one thread.
    static WorkLimit* exchange(WorkLimit* limit);

private:
    friend struct WorkLimitAccess;
    WorkLimits limits_;
    WorkLimit* outer_;
    std::int64_t allocated_ = 0;  ///< bytes allocated while this was the innermost limit
    std::int64_t most_ = 0;       ///< the most of them at a time
    bool counts_ = false;         ///< whether this or an outer limit bounds memory
};

/// Why work has to end.
enum class WorkEnd : std::uint8_t { None, Expired, Cancelled };
/// Returns whether the current thread's work is over its time or no longer wanted. For code that
/// waits, which cannot throw where it stands.
WorkEnd work_end();
/// Returns whether the current thread's work has any limit.
bool work_is_limited();

/// Throws if the current thread's work is over one of its limits: std::bad_alloc for memory,
/// PuppetError with the code EXPIRED otherwise.
void check_work_limit();

/// Gives memory that the allocator holds and nobody uses back to the system. Takes milliseconds:
/// for the end of work that took more than kLargeWork.
void release_memory();
inline constexpr std::size_t kLargeWork = std::size_t{64} << 20;

namespace detail {
extern constinit thread_local std::int64_t steps_left;
void next_steps();
}  // namespace detail

/// Counts one step of the current thread's work and checks the limits every few hundred steps.
/// Every function that walks values or types calls it: sharing lets a small value unfold into a
/// tree of astronomic size.
inline void step() {
    if (--detail::steps_left < 0) [[unlikely]]
        detail::next_steps();
}

}  // namespace bunraku::base
