// Stops endless recursion through self-recursive aliases: remembers what both sides have been
// through.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "language/types/kinds.h"

namespace bunraku::types {

/// Where recursion has been seen: on the side of the expected type, of the given one, or both.
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

    /// The same question asked within itself without a step into what the types hold: aliases that
    /// lead round in a circle. `side` is kThis or kThat.
    class Asked {
    public:
        Asked(Guard& guard, State side, const Type* t, const Type* o) : guard_(guard) {
            const Question q{side, t, o};
            // The states above are told on the second round at the latest; what comes round
            // oftener is a circle.
            int times = 0;
            for (const Question& other : guard.questions_) times += other == q ? 1 : 0;
            again_ = times > 3;
            guard.questions_.push_back(q);
        }
        ~Asked() { guard_.questions_.pop_back(); }
        Asked(const Asked&) = delete;
        bool again() const { return again_; }

    private:
        Guard& guard_;
        bool again_ = false;
    };

private:
    struct Question {
        State side;
        const Type *t, *o;
        friend bool operator==(const Question&, const Question&) = default;
    };
    static bool contains(const std::vector<Key>& keys, const Key& k) {
        for (const Key& other : keys)
            if (other == k) return true;
        return false;
    }
    template <class F>
    auto with(unsigned side, std::vector<Key>& seen, std::vector<Key>* recursive, Key k, F& run) {
        if ((state_ & side) == 0) {
            if (contains(seen, k)) {
                if (recursive) recursive->push_back(k);
                state_ |= side;
            } else {
                seen.push_back(k);
                auto result = run(state_);
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
    std::vector<Question> questions_;
};

}  // namespace bunraku::types
