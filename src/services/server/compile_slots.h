// How many compiles run at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>

#include "core/sys/executor.h"

namespace bunraku::server {

/// As many at a time as there are cores; those who come later wait. Thread-safe.
class CompileSlots {
public:
    CompileSlots(sys::Runtime& runtime, std::size_t slots, std::size_t queue)
        : room_(runtime), total_(slots), free_(slots), queue_(queue) {}

    class Slot {
    public:
        explicit Slot(CompileSlots* slots) : slots_(slots) {}
        ~Slot() {
            if (slots_) slots_->give_back();
        }
        Slot(const Slot&) = delete;
        Slot& operator=(const Slot&) = delete;
        /// False: too many wait already, or it took too long.
        explicit operator bool() const { return slots_ != nullptr; }

    private:
        CompileSlots* slots_;
    };
    Slot take(std::chrono::milliseconds patience) {
        std::unique_lock lock(mutex_);
        ++figures_.asked;
        if (free_ == 0) {
            if (waiting_ >= queue_) {
                ++figures_.refused;
                return Slot(nullptr);
            }
            ++waiting_;
            const bool got = room_.wait_for(lock, patience, [&] { return free_ > 0; });
            --waiting_;
            if (!got) {
                ++figures_.timed_out;
                return Slot(nullptr);
            }
        }
        --free_;
        ++figures_.taken;
        return Slot(this);
    }
    /// Since the start, and now.
    struct Figures {
        std::uint64_t asked = 0, taken = 0, returned = 0, refused = 0, timed_out = 0;
        std::size_t total = 0, free = 0, waiting = 0;
    };
    Figures figures() const {
        const std::lock_guard lock(mutex_);
        Figures out = figures_;
        out.total = total_;
        out.free = free_;
        out.waiting = waiting_;
        return out;
    }
    std::size_t waiting() const {
        const std::lock_guard lock(mutex_);
        return waiting_;
    }

private:
    void give_back() {
        {
            const std::lock_guard lock(mutex_);
            ++free_;
            ++figures_.returned;
        }
        room_.notify_one();
    }
    mutable std::mutex mutex_;
    sys::Condition room_;
    const std::size_t total_;
    Figures figures_;
    std::size_t free_, waiting_ = 0;
    const std::size_t queue_;
};

}  // namespace bunraku::server
