// How many compiles run at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>

#include "sys/executor.h"

namespace bunraku::server {

/// As many at a time as there are cores; those who come later wait. Thread-safe.
class CompileSlots {
public:
    CompileSlots(sys::Runtime& runtime, std::size_t slots, std::size_t queue)
        : room_(runtime), free_(slots), queue_(queue) {}

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
        if (free_ == 0) {
            if (waiting_ >= queue_) return Slot(nullptr);
            ++waiting_;
            const bool got = room_.wait_for(lock, patience, [&] { return free_ > 0; });
            --waiting_;
            if (!got) return Slot(nullptr);
        }
        --free_;
        return Slot(this);
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
        }
        room_.notify_one();
    }
    mutable std::mutex mutex_;
    sys::Condition room_;
    std::size_t free_, waiting_ = 0;
    const std::size_t queue_;
};

}  // namespace bunraku::server
