// SPDX-License-Identifier: Apache-2.0
// A reproducible random number generator. Each simulated agent has its own.
#pragma once

#include <cstdint>

namespace bunraku::load {

/// The splitmix64 generator (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
/// 2014).
class Rng {
public:
    explicit Rng(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }
    /// Returns a number below `most`, or 0 if `most` is 0.
    std::uint64_t below(std::uint64_t most) { return most == 0 ? 0 : next() % most; }
    bool happens(double share) { return static_cast<double>(next() >> 11) * 0x1.0p-53 < share; }

private:
    std::uint64_t state_;
};

}  // namespace bunraku::load
