// SPDX-License-Identifier: Apache-2.0
// Ruby's Random.new(seed).rand(max): MT19937 with array seeding and bit-masked rejection.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace bunraku::function {

/// Returns `Random.new(hex.to_i(16)).rand(max)`; max must be greater than 0. Verified against Ruby
/// 3.1.
std::int64_t seeded_random_hex(std::string_view hex, std::int64_t max);

/// The generator itself, for several numbers in sequence.
class SeededRandom {
public:
    explicit SeededRandom(std::string_view hex);
    ~SeededRandom();
    SeededRandom(const SeededRandom&) = delete;
    /// Returns `rand(max)`; max must be greater than 0.
    std::int64_t below(std::int64_t max);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::function
