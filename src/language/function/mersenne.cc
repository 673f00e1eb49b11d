// SPDX-License-Identifier: Apache-2.0
#include "language/function/mersenne.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/base/assert.h"
#include "core/base/number.h"

namespace bunraku::function {
namespace {

/// Uses the reference init_by_array, which std::mt19937 does not provide.
class Twister {
public:
    explicit Twister(const std::vector<std::uint32_t>& key) {
        BUNRAKU_ASSERT(!key.empty());
        seed(19650218U);
        std::size_t i = 1, j = 0;
        for (std::size_t k = std::max(kN, key.size()); k > 0; --k) {
            state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1664525U)) +
                        key[j] + static_cast<std::uint32_t>(j);
            if (++i >= kN) state_[0] = state_[kN - 1], i = 1;
            if (++j >= key.size()) j = 0;
        }
        for (std::size_t k = kN - 1; k > 0; --k) {
            state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1566083941U)) -
                        static_cast<std::uint32_t>(i);
            if (++i >= kN) state_[0] = state_[kN - 1], i = 1;
        }
        BUNRAKU_ASSERT(i > 0 && i < kN && j < key.size());
        state_[0] = 0x80000000U;
        at_ = kN;
    }

    std::uint32_t next() {
        if (at_ >= kN) refill();
        BUNRAKU_ASSERT(at_ < kN);
        std::uint32_t y = state_[at_++];
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c5680U;
        y ^= (y << 15) & 0xefc60000U;
        return y ^ (y >> 18);
    }

private:
    static constexpr std::size_t kN = 624, kM = 397;
    void seed(std::uint32_t s) {
        state_[0] = s;
        for (std::size_t i = 1; i < kN; ++i) {
            state_[i] = 1812433253U * (state_[i - 1] ^ (state_[i - 1] >> 30)) +
                        static_cast<std::uint32_t>(i);
        }
    }
    void refill() {
        for (std::size_t k = 0; k < kN; ++k) {
            const std::uint32_t y =
                (state_[k] & 0x80000000U) | (state_[(k + 1) % kN] & 0x7fffffffU);
            state_[k] = state_[(k + kM) % kN] ^ (y >> 1) ^ ((y & 1U) ? 0x9908b0dfU : 0U);
        }
        at_ = 0;
    }
    std::array<std::uint32_t, kN> state_{};
    std::size_t at_ = kN;
};

}  // namespace

struct SeededRandom::Impl {
    Twister twister;
};

SeededRandom::SeededRandom(std::string_view hex) {
    // 32-bit words, least significant first, without leading zero words
    std::vector<std::uint32_t> key;
    for (std::size_t end = hex.size(); end > 0;) {
        const std::size_t start = end >= 8 ? end - 8 : 0;
        key.push_back(
            base::parse_integer<std::uint32_t>(hex.substr(start, end - start), 16).value_or(0));
        end = start;
    }
    while (key.size() > 1 && key.back() == 0) key.pop_back();
    impl_ = std::make_unique<Impl>(Impl{Twister(key)});
}

SeededRandom::~SeededRandom() = default;

std::int64_t SeededRandom::below(std::int64_t max) {
    // This is Ruby's limited_rand. It draws as many bits as the limit has, in 32-bit words from the
    // top, and repeats until the result is within the limit.
    const auto limit = static_cast<std::uint64_t>(max - 1);
    std::uint64_t mask = limit;
    for (int shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
    if (limit == 0) return 0;
    while (true) {
        std::uint64_t value = 0;
        bool fits = true;
        for (int i = 1; i >= 0; --i) {
            if (((mask >> (i * 32)) & 0xffffffffU) == 0) continue;
            value |= static_cast<std::uint64_t>(impl_->twister.next()) << (i * 32);
            value &= mask;
            if (limit < value) {
                fits = false;
                break;
            }
        }
        if (fits) {
            BUNRAKU_ASSERT(value <= limit);
            return static_cast<std::int64_t>(value);
        }
    }
}

std::int64_t seeded_random_hex(std::string_view hex, std::int64_t max) {
    return SeededRandom(hex).below(max);
}

}  // namespace bunraku::function
