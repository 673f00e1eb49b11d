// SPDX-License-Identifier: Apache-2.0
// Readers for the fields that commands have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/codec/json_cursor.h"
#include "store/db/command.h"

namespace bunraku::store {

/// Reports whether `body` contains `text`. (find() examines each occurrence of the first letter,
/// which takes as long as the rest of the work for an unchanged catalog.)
bool contains_text(std::string_view body, std::string_view text);

/// Reports whether a command carries a catalog of wire format 4 or 5. Their specification is
/// followed literally: "extra or missing fields are an error".
bool is_literal_catalog(const CommandHeader& header);

/// Converts the key of an older format, such as "transaction-uuid", to "transaction_uuid".
std::string dashes_to_underscores(std::string_view key);

/// Reports whether a JSON string contains U+0000, which PostgreSQL cannot store.
bool has_nul(std::string_view json);

/// Reads a string without U+0000. All these functions fail with the name of the field.
std::string read_text(codec::JsonCursor& json, std::string_view field);
std::optional<std::string> read_optional_text(codec::JsonCursor& json, std::string_view field);
/// Reads a string and replaces U+0000 with U+FFFD, as PuppetDB does inside reports.
std::string read_repaired_text(codec::JsonCursor& json, std::string_view field);
std::optional<std::string> read_optional_repaired_text(codec::JsonCursor& json,
                                                       std::string_view field);
/// Reads a UUID. Returns it in lower case, with hyphens.
std::string read_uuid(codec::JsonCursor& json, std::string_view field);
std::optional<std::string> read_optional_uuid(codec::JsonCursor& json, std::string_view field);
std::optional<bool> read_optional_boolean(codec::JsonCursor& json, std::string_view field);
/// Reads a time of the wire formats as milliseconds since the epoch. Returns nullopt for null.
std::optional<std::int64_t> read_optional_time(codec::JsonCursor& json, std::string_view field);
std::int64_t read_time(codec::JsonCursor& json, std::string_view field);
/// Reads a time in a report. PuppetDB accepts neither numbers nor strings without a time zone
/// there.
std::int64_t read_zoned_time(codec::JsonCursor& json, std::string_view field);

/// Parses a time in any ISO 8601 format (a blank instead of the "T", no zone, ..).
std::optional<std::int64_t> parse_time(std::string_view text);

[[noreturn]] void missing_field(std::string_view command, std::string_view field);
[[noreturn]] void unknown_field(std::string_view command, std::string_view field);

}  // namespace bunraku::store
