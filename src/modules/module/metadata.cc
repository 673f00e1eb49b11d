// SPDX-License-Identifier: Apache-2.0
// Validates metadata.json: it must be an object whose known keys have the right types. Unknown keys
// are preserved.
#include <fmt/format.h>

#include "core/value/rich_data.h"
#include "modules/module/tarball.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;
using value::Value;

std::string shown(const Value& v) {
    std::string text = v.is_string() ? std::string(v.as_string()) : value::to_json(v);
    if (text.size() > 100) text.resize(100);
    for (char& c : text) {
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    return text;
}

/// Reads a string member, which may be missing or null.
Result<bool> text_of(const Value& object, std::string_view key, std::string* out) {
    const Value* v = object.as_hash().find(key);
    if (!v || v->is_undef()) return false;
    if (!v->is_string()) {
        return failure(fmt::format("metadata.json: '{}' must be a string", key));
    }
    *out = v->as_string();
    return true;
}

/// Reads a list member, which may be missing or null.
Result<std::span<const Value>> list_of(const Value& object, std::string_view key) {
    const Value* v = object.as_hash().find(key);
    if (!v || v->is_undef()) return std::span<const Value>{};
    if (!v->is_array()) return failure(fmt::format("metadata.json: '{}' must be an array", key));
    return v->as_array();
}

Result<std::vector<Dependency>> named_ranges(const Value& object, std::string_view key,
                                             bool modules) {
    std::vector<Dependency> out;
    for (const Value& item : BUNRAKU_TRY(list_of(object, key))) {
        if (!item.is_hash()) {
            return failure(fmt::format("metadata.json: '{}' must hold objects", key));
        }
        const Value* name = item.as_hash().find("name");
        if (!name || !name->is_string() || name->as_string().empty()) {
            return failure(fmt::format("metadata.json: an entry of '{}' has no name", key));
        }
        const Value* range = item.as_hash().find("version_requirement");
        if (range && !range->is_undef() && !range->is_string()) {
            return failure(fmt::format(
                "metadata.json: the version_requirement of '{}' must be a string", shown(*name)));
        }
        Dependency d{std::string(name->as_string()), {}};
        if (modules) {
            auto module = parse_module_name(d.name);
            if (!module) {
                return failure(fmt::format(
                    "metadata.json: the dependency '{}' is not a valid full module name",
                    shown(*name)));
            }
            d.name = module->slashed();
        }
        const bool given = range && range->is_string() && !range->as_string().empty();
        d.requirement = given ? std::string(range->as_string()) : modules ? ">= 0.0.0" : "";
        out.push_back(std::move(d));
    }
    return out;
}

}  // namespace

Result<Metadata> parse_metadata(std::string_view json) {
    base::Arena arena;
    if (json.starts_with("\xEF\xBB\xBF")) json.remove_prefix(3);
    auto parsed = value::parse_json(arena, json);
    if (!parsed) {
        return failure("metadata.json cannot be parsed: " + parsed.error().message);
    }
    const Value& root = *parsed;
    if (!root.is_hash()) return failure("metadata.json is not a JSON object");
    Metadata out;
    const Value* name = root.as_hash().find("name");
    if (!name) return failure("metadata.json names no module: 'name' is missing");
    auto module =
        name->is_string() ? parse_module_name(name->as_string()) : std::optional<ModuleName>{};
    if (!module) {
        return failure(fmt::format("'{}' is not a valid full module name", shown(*name)));
    }
    out.module = std::move(*module);
    const Value* version = root.as_hash().find("version");
    if (!version) return failure("metadata.json has no 'version'");
    auto semver = version->is_string() && version->as_string().size() <= 100
                      ? base::SemVer::parse(version->as_string())
                      : std::optional<base::SemVer>{};
    if (!semver) {
        return failure(fmt::format("'{}' is not a valid semantic version", shown(*version)));
    }
    out.version = version->as_string();
    out.semver = std::move(*semver);
    std::string unused;
    out.has_summary = BUNRAKU_TRY(text_of(root, "summary", &out.summary));
    out.has_project_page = BUNRAKU_TRY(text_of(root, "project_page", &out.project_page));
    out.has_issues_url = BUNRAKU_TRY(text_of(root, "issues_url", &out.issues_url));
    for (std::string_view key : {"author", "license", "source", "description"}) {
        BUNRAKU_TRY(text_of(root, key, &unused));
    }
    for (const Value& tag : BUNRAKU_TRY(list_of(root, "tags"))) {
        if (!tag.is_string()) return failure("metadata.json: 'tags' must hold strings");
        out.tags.emplace_back(tag.as_string());
    }
    out.dependencies = BUNRAKU_TRY(named_ranges(root, "dependencies", true));
    out.requirements = BUNRAKU_TRY(named_ranges(root, "requirements", false));
    for (const Value& item : BUNRAKU_TRY(list_of(root, "operatingsystem_support"))) {
        if (!item.is_hash()) {
            return failure("metadata.json: 'operatingsystem_support' must hold objects");
        }
        const Value* system = item.as_hash().find("operatingsystem");
        if (!system || !system->is_string()) continue;
        Metadata::System s{std::string(system->as_string()), {}};
        for (const Value& r : BUNRAKU_TRY(list_of(item, "operatingsystemrelease"))) {
            s.releases.push_back(value::to_text(r));
        }
        out.systems.push_back(std::move(s));
    }
    for (const value::Entry& e : root.as_hash()) {
        if (e.key.is_string() && e.key.as_string() == "pdk-version") out.pdk = true;
    }
    const Value* dependencies = root.as_hash().find("dependencies");
    out.dependencies_json =
        dependencies && dependencies->is_array() ? value::to_json(*dependencies) : "[]";
    out.json = value::to_json(root);
    return out;
}

}  // namespace bunraku::module
