// Reading documents that others wrote: what is missing or of another kind is no error here.
#pragma once

#include <string>
#include <string_view>

#include "core/value/value.h"

namespace bunraku::value {

/// The value of a key; null where `hash` is no hash or does not have it.
inline const Value* at(const Value& hash, std::string_view key) {
    return hash.is_hash() ? hash.as_hash().find(key) : nullptr;
}

/// Its text; empty where it is none.
inline std::string text_at(const Value& hash, std::string_view key) {
    const Value* found = at(hash, key);
    return found && found->is_string() ? std::string(found->as_string()) : std::string();
}

}  // namespace bunraku::value
