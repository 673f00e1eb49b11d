// Reading the fields that commands have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/codec/json_cursor.h"
#include "store/db/command.h"

namespace bunraku::store {

/// Whether `text` stands anywhere in a body. (find() looks at each place where its first letter is,
/// which costs as much as all the rest of an unchanged catalog.)
bool stands_in(std::string_view body, std::string_view text);

/// Whether a command carries a catalog of wire format 4 or 5, whose pages are read to the letter:
/// "extra or missing fields are an error".
bool is_literal_catalog(const CommandHeader& header);

/// "transaction-uuid" of the older formats as "transaction_uuid".
std::string dashes_to_underscores(std::string_view key);

/// Whether the text of a JSON string holds U+0000, which PostgreSQL cannot store.
bool has_nul(std::string_view json);

/// Reads a string without U+0000. Like all of these, it fails with the field's name.
std::string read_text(codec::JsonCursor& json, std::string_view field);
std::optional<std::string> read_optional_text(codec::JsonCursor& json, std::string_view field);
/// Reads a string in which U+0000 becomes U+FFFD, as PuppetDB stores what is inside reports.
std::string read_repaired_text(codec::JsonCursor& json, std::string_view field);
std::optional<std::string> read_optional_repaired_text(codec::JsonCursor& json,
                                                       std::string_view field);
/// Reads a UUID; returns it in lower case, with hyphens.
std::string read_uuid(codec::JsonCursor& json, std::string_view field);
std::optional<std::string> read_optional_uuid(codec::JsonCursor& json, std::string_view field);
std::optional<bool> read_optional_boolean(codec::JsonCursor& json, std::string_view field);
/// A time of the wire formats, as milliseconds since the epoch; null: nullopt.
std::optional<std::int64_t> read_optional_time(codec::JsonCursor& json, std::string_view field);
std::int64_t read_time(codec::JsonCursor& json, std::string_view field);
/// Reads a time of a report, for which PuppetDB takes neither numbers nor texts without a zone.
std::int64_t read_zoned_time(codec::JsonCursor& json, std::string_view field);

/// Texts a time in any of the forms that ISO 8601 has for one (a blank for the "T", no zone, ..).
std::optional<std::int64_t> parse_time(std::string_view text);

[[noreturn]] void missing_field(std::string_view command, std::string_view field);
[[noreturn]] void unknown_field(std::string_view command, std::string_view field);

}  // namespace bunraku::store
