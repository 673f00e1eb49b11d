// SPDX-License-Identifier: Apache-2.0
#include "store/db/packed.h"

#include <algorithm>

#include "core/base/assert.h"

namespace bunraku::store {

namespace {

void put(std::string& out, std::uint64_t n) {
    while (n >= 0x80) {
        out += static_cast<char>(n | 0x80);
        n >>= 7;
    }
    out += static_cast<char>(n);
}

void put_difference(std::string& out, std::int64_t from, std::int64_t to) {
    auto d = static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
    put(out, (d << 1) ^ (0 - (d >> 63)));
}

struct Reader {
    std::string_view rest;
    /// Reads a number. Returns false at the end of the input or if the number is truncated.
    bool number(std::uint64_t& out) {
        out = 0;
        for (int shift = 0; !rest.empty(); shift += 7) {
            auto byte = static_cast<unsigned char>(rest.front());
            rest.remove_prefix(1);
            if (shift < 64) out |= std::uint64_t{byte & 0x7fU} << shift;
            if (!(byte & 0x80)) return true;
        }
        return false;
    }
    bool difference(std::int64_t from, std::int64_t& out) {
        std::uint64_t n;
        if (!number(n)) return false;
        out = static_cast<std::int64_t>(static_cast<std::uint64_t>(from) +
                                        ((n >> 1) ^ (0 - (n & 1))));
        return true;
    }
};

}  // namespace

std::string pack_numbers(const std::vector<std::int64_t>& numbers) {
    std::string out;
    std::int64_t last = 0;
    for (std::int64_t n : numbers) {
        put_difference(out, last, n);
        last = n;
    }
    BUNRAKU_ASSERT(out.size() >= numbers.size() && unpack_numbers(out) == numbers);
    return out;
}

std::vector<std::int64_t> unpack_numbers(std::string_view blob) {
    std::vector<std::int64_t> out;
    out.reserve(blob.size());  // Most numbers take one byte.
    Reader reader{blob};
    std::int64_t last = 0;
    while (reader.difference(last, last)) out.push_back(last);
    return out;
}

std::string pack_edges(const std::vector<PackedEdge>& edges) {
    BUNRAKU_ASSERT(std::ranges::is_sorted(edges));
    std::string out;
    PackedEdge last{0, 0, 0};
    for (const PackedEdge& e : edges) {
        BUNRAKU_ALWAYS_ASSERT(e.kind >= 0 && e.kind <= 7);
        put_difference(out, last.source, e.source);
        // There are at most eight kinds, so the low bits of the target's difference hold the kind.
        auto d = static_cast<std::uint64_t>(e.target) - static_cast<std::uint64_t>(last.target);
        put(out, (((d << 1) ^ (0 - (d >> 63))) << 3) | static_cast<std::uint64_t>(e.kind & 7));
        last = e;
    }
    BUNRAKU_ASSERT(unpack_edges(out) == edges);
    return out;
}

std::vector<PackedEdge> unpack_edges(std::string_view blob) {
    std::vector<PackedEdge> out;
    Reader reader{blob};
    PackedEdge e{0, 0, 0};
    std::uint64_t n;
    while (reader.difference(e.source, e.source) && reader.number(n)) {
        e.kind = static_cast<std::int64_t>(n & 7);
        n >>= 3;
        e.target = static_cast<std::int64_t>(static_cast<std::uint64_t>(e.target) +
                                             ((n >> 1) ^ (0 - (n & 1))));
        out.push_back(e);
    }
    return out;
}

}  // namespace bunraku::store
