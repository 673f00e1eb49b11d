// SPDX-License-Identifier: Apache-2.0
// Reads documents from outside, where missing members and members of another kind are not errors.
#pragma once

#include <string>
#include <string_view>

#include "core/value/value.h"

namespace bunraku::value {

/// Returns the value of a key, or null if `hash` is not a hash or does not have the key.
inline const Value* at(const Value& hash, std::string_view key) {
    return hash.is_hash() ? hash.as_hash().find(key) : nullptr;
}

/// Returns the text of a key's value, or an empty text if the value is not a string.
inline std::string text_at(const Value& hash, std::string_view key) {
    const Value* found = at(hash, key);
    return found && found->is_string() ? std::string(found->as_string()) : std::string();
}

}  // namespace bunraku::value
