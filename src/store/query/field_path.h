// SPDX-License-Identifier: Apache-2.0
// Dotted field names: facts.os.name, facts."a.b", facts.partitions[3], facts.match("eth.*").ip.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "store/query/ast.h"

namespace bunraku::query {

struct FieldPart {
    enum Kind : std::uint8_t { Name, Index, Match };
    Kind kind = Name;
    std::string name;        ///< name, or the regular expression of match("..")
    std::int64_t index = 0;  ///< index of "name[3]"
};

/// Parses a dotted field. The first part is always a name. Throws QueryError if the field is
/// invalid.
std::vector<FieldPart> parse_field(std::string_view field);

/// A step from a JSON value to a nested one: the name of a member or the index of an element.
using Step = std::variant<std::string, std::int64_t>;
std::vector<Step> steps_of(const std::vector<FieldPart>& path);

/// Encodes a component of a path as PuppetDB stores paths, which joins components like "os#~name".
/// Names of digits are quoted, so that "5" is not an index.
std::string encode_path_name(std::string_view name);

}  // namespace bunraku::query
