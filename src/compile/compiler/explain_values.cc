// SPDX-License-Identifier: Apache-2.0
// Explanations of values with the wrong type: the location of the parameter, and the origin of the
// value.
#include <fmt/format.h>

#include "compile/compiler/explain.h"
#include "core/base/text.h"
#include "language/syntax/visit.h"
#include "resources/restype/spec.h"

namespace bunraku::compiler::explaining {

using namespace syntax;

namespace {

struct Origin {
    std::string level, file;
};

/// Returns the Hiera level and file that provided a key, as in `lookup --explain`.
std::optional<Origin> origin_of(const Case& mistake, const std::string& key) {
    Origin at;
    const std::string text = explained_lookup(mistake, key);
    const std::string found = fmt::format("Found key: \"{}\"", key);
    for (std::string_view rest = text; !rest.empty();) {
        const auto line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const auto start = line.find_first_not_of(' ');
        if (start == std::string_view::npos) continue;
        const auto words = line.substr(start);
        if (auto name = between(words, "Hierarchy entry \"", "\"")) at = {*name, {}};
        if (words.starts_with("Path \"")) at.file = between(words, "\"", "\"").value_or("");
        if (words.starts_with(found) && !at.file.empty()) return at;
    }
    return std::nullopt;
}

/// Returns the line on which a YAML file sets a root key and, below it, the keys of `path`. Returns
/// 0 if it does not.
int line_of_key(const std::string& text, const std::string& key,
                const std::vector<std::string>& path) {
    int number = 0, at = 0;
    std::size_t depth = 0;
    std::size_t indent = 0;
    for (std::string_view rest = text; !rest.empty();) {
        const auto line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        ++number;
        const auto start = line.find_first_not_of(" ");
        if (start == std::string_view::npos || line[start] == '#') continue;
        if (depth > 0 && start < indent) break;  // the value has ended
        auto words = line.substr(start);
        const std::string& wanted = depth == 0 ? key : path[depth - 1];
        if (depth == 0 && start != 0) continue;
        const char quote = words[0] == '"' || words[0] == '\'' ? words[0] : '\0';
        if (quote != '\0') words.remove_prefix(1);
        if (!words.starts_with(wanted)) continue;
        words.remove_prefix(wanted.size());
        if (quote != '\0' && words.starts_with(quote)) words.remove_prefix(1);
        if (!words.starts_with(":")) continue;
        at = number;
        indent = start + 1;
        if (depth++ == path.size()) break;
    }
    return at;
}

bool hiera_origin(const Case& mistake, const std::string& key,
                  const std::vector<std::string>& path) {
    const auto origin = origin_of(mistake, key);
    if (!origin) return false;
    int line = 0;
    if (const auto text = mistake.environment().files().read(origin->file))
        line = line_of_key(*text, key, path);
    if (line > 0) {
        mistake.place({origin->file, line, 0},
                      fmt::format("the value is set here, in the Hiera level '{}'", origin->level));
    } else {
        mistake.hint(fmt::format("The value of {} is set in {}, in the Hiera level '{}'", key,
                                 origin->file, origin->level));
    }
    return true;
}

/// Suggests a value for `Enum['absent', 'present'], got 'presnt'`.
void suggest_from_enum(const Case& mistake) {
    const auto list = between(mistake.text, "Enum[", "]");
    const auto got = between(mistake.text, ", got '", "'");
    if (!list || !got) return;
    std::vector<std::string> values;
    for (std::string_view rest = *list; !rest.empty();) {
        const auto open = rest.find('\'');
        if (open == std::string_view::npos) break;
        const auto close = rest.find('\'', open + 1);
        if (close == std::string_view::npos) break;
        values.emplace_back(rest.substr(open + 1, close - open - 1));
        rest.remove_prefix(close + 1);
    }
    mistake.suggest(*got, values);
}

void conversion_hint(const Case& mistake) {
    const auto expected = between(mistake.text, "expects an ", " value, got ");
    if (expected == "Integer" && mistake.text.find("got String") != std::string::npos)
        mistake.hint("A number in quotes is a String: remove the quotes, or use Integer($x)");
    if (mistake.text.find("expects a Boolean value, got String") != std::string::npos)
        mistake.hint("'true' in quotes is a String: remove the quotes, or use Boolean($x)");
    if (mistake.text.find("got Undef") != std::string::npos)
        mistake.hint("The value is undef: Optional[...] in the parameter's type allows this");
    if (mistake.text.find("expects an Array value, got") != std::string::npos)
        mistake.hint("Write a single value as an array: ['x']");
    if (mistake.text.find("expects a String value, got Integer") != std::string::npos)
        mistake.hint("Put the number in quotes, or use String($x)");
    if (mistake.text.find("expects a Sensitive") != std::string::npos)
        mistake.hint(
            "Use Sensitive($x) for a value, or in Hiera lookup_options with convert_to: "
            "Sensitive does");
}

bool mismatch(const Case& mistake) {
    const bool expects_value =
        mistake.text.find(": expects a value for parameter '") != std::string::npos;
    auto parameter = between(mistake.text, ": parameter '", "'");
    // Several mismatches are listed one a line.
    if (!parameter) parameter = between(mistake.text, ":\n  parameter '", "'");
    if (!parameter) parameter = between(mistake.text, "expects a value for parameter '", "'");
    const bool unknown_key = mistake.text.find("unrecognized key '") != std::string::npos;
    if (!parameter || (!unknown_key && mistake.text.find("expects ") == std::string::npos))
        return false;
    auto subject = between(mistake.text, "", "]: ");
    if (!subject) subject = between(mistake.text, "", "]:\n");
    const auto open = subject ? subject->rfind('[') : std::string::npos;
    suggest_from_enum(mistake);
    if (!subject || open == std::string::npos) {
        conversion_hint(mistake);
        return true;
    }
    std::string type = subject->substr(0, open);
    if (const auto blank = type.find_last_of(" ,"); blank != std::string::npos)
        type.erase(0, blank + 1);
    const std::string title = base::lower(subject->substr(open + 1));
    auto& definitions = mistake.compilation.definitions();
    const Definition* definition = type == "Class" ? definitions.known_class(title)
                                                   : definitions.known_define(base::lower(type));
    const syntax::AttributeOperation* given = nullptr;
    const auto parsed = tree_of(mistake, mistake.where.file);
    if (parsed) given = attribute_at(*parsed->tree, mistake.where.line, *parameter);
    const Node* given_value = given ? given->value_expr : nullptr;
    if (given) mistake.out.where = given_value ? given_value->where() : given->where();
    if (given_value && (expects_value || mistake.text.find("got Undef") != std::string::npos))
        explain_missing_key(mistake, *parsed->tree, given_value->offset);
    if (type == "Class" && definition && !given) {
        // `entry 'b' entry 'port'`: the path into the value.
        std::vector<std::string> path;
        std::string_view rest = mistake.text;
        for (std::size_t at; (at = rest.find(" entry '")) != std::string_view::npos;) {
            rest.remove_prefix(at + 8);
            path.emplace_back(rest.substr(0, rest.find('\'')));
        }
        const std::string key = fmt::format("{}::{}", definition->name, *parameter);
        if (unknown_key)
            path.push_back(between(mistake.text, "unrecognized key '", "'").value_or(""));
        if (expects_value) {
            mistake.hint(
                fmt::format("Set it in the declaration of the class, or as {} in Hiera", key));
        } else {
            hiera_origin(mistake, key, path);
        }
    }
    if (definition) {
        for (const auto* p : definition->parameters) {
            if (p->name != *parameter) continue;
            mistake.place(p->where(), "the parameter is declared here");
            if (unknown_key) suggest_struct_key(mistake, *p, given_value);
        }
    }
    if (!expects_value) conversion_hint(mistake);
    return true;
}

/// Explains "Invalid value \"runing\". Valid values are stopped, running."
bool invalid_value(const Case& mistake) {
    const auto given = between(mistake.text, "Invalid value \"", "\"");
    const auto valid = between(mistake.text, "Valid values are ", ".");
    if (!given || !valid) return false;
    std::vector<std::string> values;
    for (const auto part : base::split(*valid, ',')) values.emplace_back(base::trim(part));
    mistake.suggest(*given, values);
    return true;
}

bool found_value(const Case& mistake) {
    if (mistake.text.find("Found value has wrong type") == std::string::npos) return false;
    conversion_hint(mistake);
    const auto parsed = tree_of(mistake, mistake.where.file);
    if (!parsed) return true;
    const auto offset =
        offset_of(parsed->tree->source->text(), mistake.where.line, mistake.where.column);
    const auto walk = [&](const auto& self, const Node* node) -> void {
        const auto* call = as<CallNamedFunctionExpression>(node);
        if (call && call->offset == offset && !call->arguments.empty()) {
            if (const auto* key = as<LiteralString>(call->arguments[0]))
                hiera_origin(mistake, std::string(key->value), {});
        }
        for_each_child(node, [&](const Node* child) { self(self, child); });
    };
    walk(walk, parsed->tree->program);
    return true;
}

bool operand(const Case& mistake) {
    if (mistake.text.find("can't be converted to Numeric") != std::string::npos ||
        mistake.text.find("cannot be converted to Numeric") != std::string::npos) {
        mistake.hint("Arithmetic needs numbers; join strings with \"${a}${b}\"");
        return true;
    }
    return false;
}

}  // namespace

bool explain_values(const Case& mistake) {
    return mismatch(mistake) || found_value(mistake) || invalid_value(mistake) || operand(mistake);
}

}  // namespace bunraku::compiler::explaining
