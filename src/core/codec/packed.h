// SPDX-License-Identifier: Apache-2.0
// A packed sequence of numbers and texts, for files that only this program reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bunraku::codec {

inline void put_packed(std::string& out, std::uint64_t n) {
    for (int i = 0; i < 8; ++i) out += static_cast<char>(n >> (8 * i) & 255);
}
inline void put_packed(std::string& out, std::string_view text) {
    put_packed(out, text.size());
    out += text;
}

/// Reads the output of put_packed. After the first missing item, every further item is empty.
class PackedReader {
public:
    explicit PackedReader(std::string_view text) : rest_(text) {}
    std::uint64_t number() {
        std::uint64_t n = 0;
        const auto bytes = take(8);
        for (std::size_t i = 0; i < bytes.size(); ++i)
            n |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
        return n;
    }
    std::string_view text() { return take(number()); }
    std::string_view take(std::uint64_t size) {
        if (size > rest_.size()) {
            bad_ = true;
            rest_ = {};
            return {};
        }
        const auto out = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return out;
    }
    bool good() const { return !bad_; }
    bool ended() const { return rest_.empty(); }

private:
    std::string_view rest_;
    bool bad_ = false;
};

}  // namespace bunraku::codec
