// SPDX-License-Identifier: Apache-2.0
#include "compile/checks/data_checks.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

#include "compile/checks/file_places.h"
#include "core/codec/yaml.h"
#include "core/codec/yaml_outline.h"
#include "core/value/from_yaml.h"
#include "language/hiera/config.h"

namespace bunraku::checks {

using codec::YamlNode;
using value::Value;

namespace {

constexpr std::string_view kUnboundKey = "unbound_key";

/// Reports whether some text of the data is computed at the lookup.
bool has_interpolation(const YamlNode& node) {
    if (node.text.contains("%{")) return true;
    for (const auto& item : node.items)
        if (has_interpolation(item)) return true;
    for (const auto& entry : node.entries)
        if (has_interpolation(entry.first) || has_interpolation(entry.second)) return true;
    return false;
}

Value value_of(base::Arena& arena, const YamlNode& node) {
    return value::from_yaml(arena, node, [&](const YamlNode& text, bool) {
        return value::make_string(arena, text.text);
    });
}

class DataCheck {
public:
    DataCheck(const DataPlace& place, CodeNames& names, Problems& problems)
        : place_(place), names_(names), problems_(problems) {}

    void check(const codec::YamlScalar& key, const YamlNode* data) {
        const std::string& name = key.text;
        const std::size_t separator = name.rfind("::");
        const base::Location where{"", static_cast<int>(key.start.line) + 1,
                                   static_cast<int>(key.start.column) + 1};
        if (!place_.module.empty() && name != "lookup_options" &&
            !name.starts_with(place_.module + "::")) {
            problems_.warning(kUnboundKey, where,
                              fmt::format("keys in the data of module {} must begin with '{}::'",
                                          place_.module, place_.module));
            return;
        }
        if (separator == std::string::npos || name.starts_with("::") || name.contains("%{")) return;
        const std::string owner = name.substr(0, separator);
        const std::string own = name.substr(separator + 2);
        const syntax::NamedDefinition* definition = names_.class_definition(owner);
        const syntax::Parameter* parameter = nullptr;
        if (definition)
            for (const syntax::Parameter* each : definition->parameters)
                if (each->name == own) parameter = each;
        if (parameter) {
            if (data) check_type(*parameter, *data, where);
        } else if (definition || names_.class_exists(owner) == Existence::Missing) {
            if (is_read(name)) return;
            problems_.warning(
                kUnboundKey, where,
                definition ? fmt::format("class {} has no parameter '{}'", owner, own)
                           : fmt::format("nothing reads this key: there is no class {}", owner));
        }
    }

private:
    /// Reports whether some code or data contains the key in quotes, or in an interpolation.
    bool is_read(std::string_view name) {
        return names_.any_text([&](std::string_view text) {
            for (std::size_t at = 0; (at = text.find(name, at)) != text.npos; ++at) {
                const char before = at > 0 ? text[at - 1] : '\n';
                const std::size_t end = at + name.size();
                const char after = end < text.size() ? text[end] : '\n';
                const bool key =
                    (after == ':' && (end + 1 >= text.size() || text[end + 1] != ':')) ||
                    ((after == '"' || after == '\'') && end + 1 < text.size() &&
                     text[end + 1] == ':');
                const bool quoted = std::string_view("'\"({").contains(before);
                if (quoted && std::string_view("'\")}.").contains(after) && !key) return true;
            }
            return false;
        });
    }

    void check_type(const syntax::Parameter& parameter, const YamlNode& data,
                    const base::Location& where) {
        // Hashes of several levels may be merged, so that one level need not be complete.
        if (!parameter.type_expr || data.kind == YamlNode::Kind::Mapping ||
            has_interpolation(data) || converts())
            return;
        if (auto message = names_.types().mismatch(type_text(parameter.type_expr),
                                                   fmt::format("parameter '{}'", parameter.name),
                                                   value_of(names_.types().arena(), data)))
            problems_.error("wrong_type", where, std::move(*message));
    }

    /// Reports whether lookup_options may convert data before its type is checked.
    bool converts() {
        if (!converts_)
            converts_ =
                names_.any_text([](std::string_view text) { return text.contains("convert_to"); });
        return *converts_;
    }

    const DataPlace& place_;
    CodeNames& names_;
    Problems& problems_;
    std::optional<bool> converts_;
};

}  // namespace

void check_data(std::string_view text, const std::string& path, const DataPlace& place,
                CodeNames& names, Problems& problems) {
    const auto root = codec::parse_yaml(text, path);
    if (!root || root->kind != YamlNode::Kind::Mapping) return;
    std::map<std::string_view, const YamlNode*> values;
    for (const auto& [key, value] : root->entries) values[key.text] = &value;
    DataCheck check(place, names, problems);
    for (const auto& scalar : codec::outline_yaml(text).scalars) {
        if (!scalar.key || scalar.depth != 1) continue;
        const auto value = values.find(scalar.text);
        check.check(scalar, value == values.end() ? nullptr : value->second);
    }
}

void check_hiera_config(std::string_view text, const std::string& path, Problems& problems) {
    const auto root = codec::parse_yaml(text, path);
    if (!root) return;
    const std::string folder(path.substr(0, path.rfind('/')));
    // Version 3 exists only in the global layer. A module's folder has a metadata.json.
    const hiera::Layer layer = text.contains(":hierarchy") || text.contains(":backends")
                                   ? hiera::Layer::Global
                               : is_module_folder(folder) ? hiera::Layer::Module
                                                          : hiera::Layer::Environment;
    base::Arena arena;
    std::string message;
    int line = 1;
    try {
        const auto config =
            hiera::make_config(layer, path, folder, value_of(arena, *root), text, folder);
        message = config.fault;
        line = std::max(config.fault_line, 1);
    } catch (const base::PuppetError& error) {
        message = error.message();
        line = std::max(error.where().line, 1);
    }
    if (!message.empty())
        problems.error("hiera_config", start_of_line(text, line), std::move(message));
}

}  // namespace bunraku::checks
