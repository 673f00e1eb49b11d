// How many compiles run at a time, and who may run them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>

#include "core/sys/executor.h"

namespace bunraku::server {

/// As many compiles at a time as there are cores; those who come later wait in their order.
///
/// A compile that runs for longer than kLong (it waits for Ruby, for a program, or never ends) no
/// longer counts fully, so that a few of them do not stop all others: up to twice as many slots
/// are given beyond the number of cores while such compiles hold theirs. One environment gets at
/// most two thirds of them, one node half of the regular slots. Thread-safe.
class CompileSlots {
public:
    static constexpr std::chrono::seconds kLong{2};
    /// More requests of one node do not wait.
    static constexpr std::size_t kMostOfNode = 8;
    /// More requests of an environment do not wait while all of its slots are held by long
    /// compiles.
    static constexpr std::size_t kMostOfStuck = 16;

    CompileSlots(sys::Runtime& runtime, std::size_t slots, std::size_t queue)
        : runtime_(runtime), changed_(runtime), total_(slots), queue_(queue) {}

private:
    struct Holder {
        std::string environment, node;
        sys::TimePoint since;
    };

public:
    class Slot {
    public:
        Slot() = default;
        Slot(CompileSlots& slots, std::list<Holder>::iterator holder)
            : slots_(&slots), holder_(holder) {}
        ~Slot() {
            if (slots_) slots_->give_back(holder_);
        }
        Slot(const Slot&) = delete;
        Slot& operator=(const Slot&) = delete;
        /// False if too many wait already, it took too long, or nobody waits for the answer.
        explicit operator bool() const { return slots_ != nullptr; }

    private:
        CompileSlots* slots_ = nullptr;
        std::list<Holder>::iterator holder_;
    };

    /// Waits for a slot for at most `patience`. An empty `node` belongs to no client.
    Slot take(const std::string& environment, const std::string& node,
              std::chrono::milliseconds timeout);

    /// Since the start, and now.
    struct Figures {
        std::uint64_t asked = 0, taken = 0, returned = 0, refused = 0, timed_out = 0;
        std::size_t total = 0, free = 0, waiting = 0;
    };
    Figures figures() const;
    std::size_t waiting() const;

private:
    struct Waiter {
        const std::string& environment;
        const std::string& node;
        std::list<Holder>::iterator slot;  ///< where `granted`
        bool granted = false;
    };

    bool may_hold(const Waiter& waiter) const;
    bool may_wait(const Waiter& waiter) const;
    void grant();
    void give_back(std::list<Holder>::iterator holder);
    bool is_long(const Holder& holder) const { return runtime_.now() - holder.since >= kLong; }

    sys::Runtime& runtime_;
    mutable std::mutex mutex_;
    sys::Condition changed_;
    const std::size_t total_, queue_;
    std::list<Holder> holders_;
    std::list<Waiter> waiters_;  // in the order in which they came
    Figures figures_;
};

}  // namespace bunraku::server
