// Reading the fields that commands have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/codec/json_cursor.h"

namespace bunraku::store {

/// Whether `text` stands anywhere in a body. (find() looks at each place where its first letter is,
/// which costs as much as all the rest of an unchanged catalog.)
bool stands_in(std::string_view body, std::string_view text);

/// "transaction-uuid" of the older formats as "transaction_uuid".
std::string dashes_to_underscores(std::string_view key);

/// Each fails with the field's name.
std::string read_text(codec::JsonCursor& json, std::string_view field);
std::optional<std::string> read_optional_text(codec::JsonCursor& json, std::string_view field);
std::optional<bool> read_optional_boolean(codec::JsonCursor& json, std::string_view field);
/// A time of the wire formats, as milliseconds since the epoch; null: nullopt.
std::optional<std::int64_t> read_optional_time(codec::JsonCursor& json, std::string_view field);
std::int64_t read_time(codec::JsonCursor& json, std::string_view field);

/// Texts a time in any of the forms that ISO 8601 has for one (a blank for the "T", no zone, ..).
std::optional<std::int64_t> parse_time(std::string_view text);

[[noreturn]] void missing_field(std::string_view command, std::string_view field);
[[noreturn]] void unknown_field(std::string_view command, std::string_view field);

}  // namespace bunraku::store
