// SPDX-License-Identifier: Apache-2.0
#include "services/server/compile_slots.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/base/work_limit.h"

namespace bunraku::server {

namespace {

/// Interval at which a waiting request checks whether a compile has become a long one, and whether
/// its client is still connected.
constexpr std::chrono::milliseconds kLookPause{500};

}  // namespace

bool CompileSlots::may_hold(const Waiter& waiter) const {
    BUNRAKU_ASSERT(!waiter.granted);
    std::size_t of_environment = 0, of_node = 0, slow = 0;
    for (const auto& holder : holders_) {
        of_environment += holder.environment == waiter.environment;
        of_node += !waiter.node.empty() && holder.node == waiter.node;
        slow += is_long(holder);
    }
    return of_node < (total_ + 1) / 2 && of_environment < 2 * total_ &&
           holders_.size() < total_ + std::min(slow, 2 * total_);
}

bool CompileSlots::may_wait(const Waiter& waiter) const {
    BUNRAKU_ASSERT(!waiter.granted);
    if (waiters_.size() > queue_) return false;
    const auto of_node = std::ranges::count_if(waiters_, [&](const Waiter& other) {
        return !waiter.node.empty() && other.node == waiter.node;
    });
    if (static_cast<std::size_t>(of_node) > kMostOfNode) return false;
    std::size_t slow = 0;
    for (const auto& holder : holders_)
        slow += holder.environment == waiter.environment && is_long(holder);
    if (slow < 2 * total_) return true;
    const auto of_environment = std::ranges::count_if(
        waiters_, [&](const Waiter& other) { return other.environment == waiter.environment; });
    return static_cast<std::size_t>(of_environment) <= kMostOfStuck;
}

void CompileSlots::grant() {
    bool any = false;
    for (auto& waiter : waiters_) {
        if (waiter.granted || !may_hold(waiter)) continue;
        waiter.slot =
            holders_.insert(holders_.end(), {waiter.environment, waiter.node, runtime_.now()});
        waiter.granted = any = true;
        ++figures_.taken;
        BUNRAKU_ASSERT(figures_.taken - figures_.returned == holders_.size());
        BUNRAKU_ASSERT(holders_.size() <= 3 * total_);
    }
    if (any) changed_.notify_all();
}

CompileSlots::Slot CompileSlots::take(const std::string& environment, const std::string& node,
                                      std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    ++figures_.asked;
    const auto deadline = runtime_.now() + timeout;
    const auto me = waiters_.insert(waiters_.end(), {environment, node, {}, false});
    grant();
    if (!me->granted && !may_wait(*me)) {
        ++figures_.refused;
        waiters_.erase(me);
        return {};
    }
    while (!me->granted) {
        const auto now = runtime_.now();
        if (now >= deadline || base::work_end() != base::WorkEnd::None) {
            ++figures_.timed_out;
            waiters_.erase(me);
            return {};
        }
        changed_.wait_until(lock, std::min(deadline, now + kLookPause),
                            [&] { return me->granted; });
        grant();
    }
    const auto slot = me->slot;
    BUNRAKU_ASSERT(!holders_.empty() && slot->environment == environment && slot->node == node);
    waiters_.erase(me);
    return {*this, slot};
}

void CompileSlots::give_back(std::list<Holder>::iterator holder) {
    const std::lock_guard lock(mutex_);
    BUNRAKU_ASSERT(!holders_.empty());
    holders_.erase(holder);
    ++figures_.returned;
    BUNRAKU_ASSERT(figures_.taken - figures_.returned == holders_.size());
    grant();
}

CompileSlots::Figures CompileSlots::figures() const {
    const std::lock_guard lock(mutex_);
    Figures out = figures_;
    out.total = total_;
    BUNRAKU_ASSERT(out.asked >= out.taken + out.refused + out.timed_out &&
                   out.taken >= out.returned);
    out.free = total_ - std::min(total_, holders_.size());
    BUNRAKU_ASSERT(out.free <= total_);
    out.waiting = waiters_.size();
    return out;
}

std::size_t CompileSlots::waiting() const {
    const std::lock_guard lock(mutex_);
    return waiters_.size();
}

}  // namespace bunraku::server
