// SPDX-License-Identifier: Apache-2.0
// Prevents endless recursion through self-recursive aliases by recording the types visited on both
// sides.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/assert.h"
#include "language/types/kinds.h"

namespace bunraku::types {

/// The state of a recursion: whether it was detected on the side of the expected type, of the given
/// type, or both.
class Guard {
public:
    enum State : unsigned { kNone = 0, kThis = 1, kThat = 2, kBoth = 3 };
    using Key = std::pair<std::uint64_t, std::uint64_t>;

    static Key key(const Type* t) { return {0, reinterpret_cast<std::uintptr_t>(t)}; }
    static Key key(const Value& v) {
        return {static_cast<std::uint64_t>(v.kind()) + 1,
                static_cast<std::uint64_t>(v.as_integer())};
    }

    unsigned state() const { return state_; }
    bool recursive_this(const Type* t) const { return contains(recursive_this_, key(t)); }

    template <class F>
    auto with_this(const Type* t, F&& run) {
        return with(kThis, this_, &recursive_this_, key(t), run);
    }
    template <class F>
    auto with_that(const Value& v, F&& run) {
        return with(kThat, that_, nullptr, key(v), run);
    }
    unsigned add_that(const Type* t) {
        if ((state_ & kThat) == 0) {
            if (contains(that_, key(t)))
                state_ |= kThat;
            else
                that_.push_back(key(t));
        }
        return state_;
    }

    /// Detects that the same comparison occurs within itself without descending into the content of
    /// the types. Cyclic aliases cause this. `side` is kThis or kThat.
    class CycleCheck {
    public:
        CycleCheck(Guard& guard, State side, const Type* t, const Type* o) : guard_(guard) {
            BUNRAKU_ASSERT(side == kThis || side == kThat);
            const Comparison q{side, t, o};
            // The states above are detected in the second round at the latest. More rounds mean a
            // cycle.
            int times = 0;
            for (const Comparison& other : guard.comparisons_) times += other == q ? 1 : 0;
            in_cycle_ = times > 3;
            guard.comparisons_.push_back(q);
        }
        ~CycleCheck() {
            BUNRAKU_ASSERT(!guard_.comparisons_.empty());
            guard_.comparisons_.pop_back();
        }
        CycleCheck(const CycleCheck&) = delete;
        bool in_cycle() const { return in_cycle_; }

    private:
        Guard& guard_;
        bool in_cycle_ = false;
    };

private:
    struct Comparison {
        State side;
        const Type *t, *o;
        friend bool operator==(const Comparison&, const Comparison&) = default;
    };
    static bool contains(const std::vector<Key>& keys, const Key& k) {
        for (const Key& other : keys)
            if (other == k) return true;
        return false;
    }
    template <class F>
    auto with(unsigned side, std::vector<Key>& seen, std::vector<Key>* recursive, Key k, F& run) {
        BUNRAKU_ASSERT(state_ <= kBoth && (side == kThis || side == kThat));
        if ((state_ & side) == 0) {
            if (contains(seen, k)) {
                if (recursive) recursive->push_back(k);
                state_ |= side;
            } else {
                seen.push_back(k);
                auto result = run(state_);
                BUNRAKU_ASSERT(contains(seen, k));
                state_ &= ~side;
                for (auto it = seen.end(); it != seen.begin();)
                    if (*--it == k) {
                        seen.erase(it);
                        break;
                    }
                return result;
            }
        }
        return run(state_);
    }

    unsigned state_ = kNone;
    std::vector<Key> this_, that_, recursive_this_;
    std::vector<Comparison> comparisons_;
};

}  // namespace bunraku::types
