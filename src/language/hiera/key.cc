// SPDX-License-Identifier: Apache-2.0
#include "language/hiera/key.h"

#include <fmt/format.h>
#include <vector>

#include "core/base/arena.h"
#include "core/base/assert.h"
#include "core/value/text.h"
#include "language/hiera/errors.h"

namespace bunraku::hiera {
namespace {

void find_module(Key& key) {
    if (const auto colons = key.root.find("::"); colons != std::string_view::npos) {
        // For "::a", Puppet takes root_key[0..-1], which is the whole key.
        key.module = colons == 0 ? key.root : key.root.substr(0, colons);
        key.has_module = true;
    }
    BUNRAKU_ASSERT(key.has_module == !key.module.empty());
    key.hash = hash_text(key.root);
}

}  // namespace

Key plain_key(std::string_view text) {
    Key key;
    key.text = key.root = text;
    find_module(key);
    return key;
}

Key parse_key(base::Arena& arena, std::string_view text) {
    text = arena.copy(text);
    if (text.find_first_of("'\".") == std::string_view::npos) return plain_key(text);
    std::vector<Value> parts;
    if (!value::split_dotted(arena, text, parts)) {
        throw LookupError(fmt::format("Syntax error in key: '{}'", text));
    }
    BUNRAKU_ASSERT(!parts.empty());
    Key key;
    key.text = text;
    key.root = parts.front().is_string() ? parts.front().as_string()
                                         : arena.copy(value::to_text(parts.front()));
    key.segments = arena.copy(std::span<const Value>(parts).subspan(1));
    find_module(key);
    return key;
}

std::string join_segments(std::span<const Value> segments) {
    std::string out;
    for (const Value& s : segments) {
        if (&s != segments.data()) out += '.';
        out += value::to_text(s);
    }
    return out;
}

}  // namespace bunraku::hiera
