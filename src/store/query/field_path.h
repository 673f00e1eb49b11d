// Dotted names of fields: facts.os.name, facts."a.b", facts.partitions[3], facts.match("eth.*").ip.
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
    std::string name;        ///< or the regular expression of match("..")
    std::int64_t index = 0;  ///< of "name[3]"
};

/// The first part is always a name. Throws QueryError.
std::vector<FieldPart> parse_field(std::string_view field);

/// A step from a JSON value to one inside it: the name of a member or the index of an element.
using Step = std::variant<std::string, std::int64_t>;
std::vector<Step> steps_of(const std::vector<FieldPart>& path);

/// Components joined as PuppetDB stores paths: "os#~name"; strings of digits are quoted, so that
/// "5" is not the sixth element.
std::string encode_path_name(std::string_view name);

}  // namespace bunraku::query
