// SPDX-License-Identifier: Apache-2.0
#include "resources/facts/normalize.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/codec/json_text.h"
#include "core/value/build.h"
#include "core/value/escapes.h"

namespace bunraku::facts {

using value::Value;

namespace {

bool all_utf8(const Value& v) {
    if (v.is_string()) return codec::is_utf8(v.as_string());
    if (v.is_array()) return std::ranges::all_of(v.as_array(), all_utf8);
    return !v.is_hash() || std::ranges::all_of(v.as_hash(), [](const value::Entry& e) {
        return all_utf8(e.key) && all_utf8(e.value);
    });
}

/// Replaces each byte that is not part of a valid character.
std::string without_bad_bytes(std::string_view text) {
    std::string out;
    while (true) {
        const std::size_t bad = codec::first_invalid_utf8(text);
        if (bad == std::string_view::npos) return out.append(text);
        BUNRAKU_ASSERT(bad < text.size());
        out.append(text.substr(0, bad)).append("\xEF\xBF\xBD");
        text.remove_prefix(bad + 1);
    }
}

Value replace_bad_bytes(base::Arena& arena, const Value& v) {
    if (v.is_string()) return value::make_string(arena, without_bad_bytes(v.as_string()));
    if (v.is_array()) {
        std::vector<Value> items;
        for (const Value& item : v.as_array()) items.push_back(replace_bad_bytes(arena, item));
        return value::make_array(arena, items);
    }
    if (!v.is_hash()) return v;
    value::HashBuilder out(arena, v.as_hash().size());
    for (const value::Entry& e : v.as_hash())
        out.set(replace_bad_bytes(arena, e.key), replace_bad_bytes(arena, e.value));
    return out.build();
}

std::string invalid_text(std::string_view text) {
    std::string shown;
    const auto inspected = [&] {
        value::print_inspected_text(shown, text);
        return shown;
    };
    if (!codec::is_utf8(text)) {
        return fmt::format("String {} doesn't match the reported encoding UTF-8", inspected());
    }
    if (text.find('\0') != std::string_view::npos) {
        return fmt::format("String {} contains a null byte reference; unsupported for all facts.",
                           inspected());
    }
    return {};
}

}  // namespace

std::string invalid_reason(const Value& v) {
    if (v.is_string()) return invalid_text(v.as_string());
    if (v.is_array()) {
        for (const Value& item : v.as_array())
            if (auto why = invalid_reason(item); !why.empty()) return why;
    }
    if (!v.is_hash()) return {};
    for (const value::Entry& e : v.as_hash()) {
        if (auto why = invalid_reason(e.key); !why.empty()) return why;
        if (auto why = invalid_reason(e.value); !why.empty()) return why;
    }
    return {};
}

Value scrubbed(base::Arena& arena, const Value& v) {
    if (all_utf8(v)) return v;
    const Value out = replace_bad_bytes(arena, v);
    BUNRAKU_ASSERT(all_utf8(out));
    return out;
}

}  // namespace bunraku::facts
