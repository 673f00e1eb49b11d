// SPDX-License-Identifier: Apache-2.0
// A set of small numbers that is fast to add to and small when packed.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/assert.h"

namespace bunraku::environment {

/// A bit set while it grows; pack() returns the compact form for storage.
class IdSet {
public:
    void add(std::uint32_t id) {
        const std::size_t word = id / 64;
        if (word >= words_.size()) words_.resize(word + 1 + word / 2);
        BUNRAKU_ASSERT(word < words_.size());
        words_[word] |= std::uint64_t{1} << (id % 64);
    }
    bool contains(std::uint32_t id) const {
        return id / 64 < words_.size() && (words_[id / 64] >> (id % 64) & 1) != 0;
    }
    bool empty() const {
        for (const auto word : words_)
            if (word != 0) return false;
        return true;
    }
    std::size_t size() const {
        std::size_t n = 0;
        for (const auto word : words_) n += static_cast<std::size_t>(std::popcount(word));
        return n;
    }
    /// Visits the numbers in ascending order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t i = 0; i < words_.size(); ++i)
            for (std::uint64_t rest = words_[i]; rest != 0; rest &= rest - 1)
                visit(static_cast<std::uint32_t>(i * 64 +
                                                 static_cast<std::size_t>(std::countr_zero(rest))));
    }
    friend bool operator==(const IdSet& a, const IdSet& b) { return a.pack() == b.pack(); }

    /// Encodes the gaps between the numbers, or the bits if the numbers are dense, as base-128
    /// integers.
    std::string pack() const;
    static IdSet unpack(std::string_view packed);

private:
    std::vector<std::uint64_t> words_;
};

}  // namespace bunraku::environment
