// SPDX-License-Identifier: Apache-2.0
#include "language/environment/id_set.h"

#include "core/base/assert.h"

namespace bunraku::environment {

namespace {

void put(std::string& out, std::uint64_t n) {
    for (; n >= 128; n >>= 7) out += static_cast<char>(n | 128);
    out += static_cast<char>(n);
}

/// Decodes a number at the front of `in` and removes it. Returns 0 if `in` is empty.
std::uint64_t take(std::string_view& in) {
    std::uint64_t n = 0;
    for (unsigned shift = 0; !in.empty() && shift < 64; shift += 7) {
        const auto byte = static_cast<unsigned char>(in.front());
        in.remove_prefix(1);
        n |= std::uint64_t{byte & 127U} << shift;
        if (byte < 128) break;
    }
    return n;
}

constexpr char kGaps = 'g', kBits = 'b';

}  // namespace

std::string IdSet::pack() const {
    std::string gaps(1, kGaps);
    std::uint64_t next = 0;
    for_each([&](std::uint32_t id) {
        BUNRAKU_ASSERT(id >= next);
        put(gaps, id - next);
        next = std::uint64_t{id} + 1;
    });
    // A run consists of the number of empty bytes, the number of bytes that follow, and these
    // bytes.
    std::string bits(1, kBits), run;
    std::uint64_t empty = 0;
    auto close_run = [&] {
        if (run.empty()) return;
        BUNRAKU_ASSERT(empty + run.size() <= words_.size() * 8);
        put(bits, empty);
        put(bits, run.size());
        bits += run;
        run.clear();
        empty = 0;
    };
    for (const auto word : words_) {
        for (unsigned shift = 0; shift < 64; shift += 8) {
            const char byte = static_cast<char>(word >> shift & 255);
            if (byte == 0) {
                close_run();
                ++empty;
            } else {
                run += byte;
            }
        }
    }
    close_run();
    BUNRAKU_ASSERT(run.empty() && gaps.front() == kGaps && bits.front() == kBits);
    return bits.size() < gaps.size() ? bits : gaps;
}

IdSet IdSet::unpack(std::string_view packed) {
    IdSet out;
    if (packed.empty()) return out;
    const bool gaps = packed.front() == kGaps;
    packed.remove_prefix(1);
    std::uint64_t at = 0;
    constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
    if (gaps) {
        while (!packed.empty()) {
            at += take(packed);
            if (at >= kMost) break;
            out.add(static_cast<std::uint32_t>(at++));
        }
        return out;
    }
    while (!packed.empty()) {
        at += take(packed);
        for (std::uint64_t n = take(packed); n > 0 && !packed.empty() && at < kMost / 8;
             --n, ++at) {
            const auto byte = static_cast<unsigned char>(packed.front());
            packed.remove_prefix(1);
            for (unsigned bit = 0; bit < 8; ++bit)
                if (byte >> bit & 1) out.add(static_cast<std::uint32_t>(at * 8 + bit));
        }
    }
    return out;
}

}  // namespace bunraku::environment
