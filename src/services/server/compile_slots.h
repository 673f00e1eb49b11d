// SPDX-License-Identifier: Apache-2.0
// Limits how many compiles run at the same time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>

#include "core/sys/executor.h"

namespace bunraku::server {

/// A semaphore with as many slots as there are cores. Requests beyond that wait in order of
/// arrival.
///
/// A compile that runs longer than kLong waits for Ruby or for a program, or never ends. It no
/// longer counts fully, so that a few such compiles do not block all others: while they hold slots,
/// up to twice as many slots as cores are granted. One environment gets at most two thirds of them,
/// one node at most half of the regular slots. Thread-safe.
class CompileSlots {
public:
    static constexpr std::chrono::seconds kLong{2};
    /// Maximum number of waiting requests of one node.
    static constexpr std::size_t kMostOfNode = 8;
    /// Maximum number of waiting requests of an environment while long compiles hold all its slots.
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
        /// False if too many requests are waiting, the wait took too long, or the client has
        /// disconnected.
        explicit operator bool() const { return slots_ != nullptr; }

    private:
        CompileSlots* slots_ = nullptr;
        std::list<Holder>::iterator holder_;
    };

    /// Waits for a slot for at most `patience`. `node` is empty for work without a client.
    Slot take(const std::string& environment, const std::string& node,
              std::chrono::milliseconds timeout);

    /// Totals since the start, and current values.
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
        std::list<Holder>::iterator slot;  ///< valid if `granted`
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
    std::list<Waiter> waiters_;  // in order of arrival
    Figures figures_;
};

}  // namespace bunraku::server
