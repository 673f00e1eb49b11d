// SPDX-License-Identifier: Apache-2.0
#include "core/value/encoding.h"

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/base/work_limit.h"

namespace bunraku::value {

bool ascii_only(std::string_view text) {
    return std::ranges::none_of(text, [](char c) { return (c & 0x80) != 0; });
}

bool joined_encoding(std::string_view text, bool bytes, std::string_view more, bool more_bytes) {
    if (bytes == more_bytes || ascii_only(more)) return bytes;
    if (ascii_only(text)) return more_bytes;
    throw base::PuppetError(bytes ? "incompatible character encodings: ASCII-8BIT and UTF-8"
                                  : "incompatible character encodings: UTF-8 and ASCII-8BIT");
}

bool holds_wide_bytes(const Value& v) {
    base::step();
    switch (v.kind()) {
        case Kind::String: return v.is_bytes() && !ascii_only(v.as_string());
        case Kind::Array: return std::ranges::any_of(v.as_array(), holds_wide_bytes);
        case Kind::Hash:
            return std::ranges::any_of(v.as_hash().entries, [](const Entry& e) {
                return holds_wide_bytes(e.key) || holds_wide_bytes(e.value);
            });
        default: return false;
    }
}

void JoinedText::append(const Value& v) {
    if (v.is_string()) {
        append(v.as_string(), v.is_bytes());
    } else {
        append(to_text(v), holds_wide_bytes(v));
    }
}

}  // namespace bunraku::value
