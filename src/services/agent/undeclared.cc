// SPDX-License-Identifier: Apache-2.0
#include "services/agent/undeclared.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "core/base/arena.h"
#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/value/build.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"

namespace bunraku::agent {

namespace {

using base::Level;
using value::Value;

/// The types that can be removed, in the order in which they are removed. A service or cron job is
/// removed before the files that it runs.
constexpr std::string_view kTypes[] = {"Service", "Cron", "File", "User", "Package"};

/// The default of `undeclared_types`. A package manager may remove what depends on a package, and
/// files of a removed user lose their owner, so these two must be listed.
constexpr std::string_view kDefaultTypes = "file, service, cron";

/// Reports whether a value contains `name`: as a whole text, or for a path as a part of a text.
bool mentions(const Value& v, const std::string& name, bool is_path) {
    if (v.is(value::Kind::Sensitive)) return mentions(v.unwrap(), name, is_path);
    if (v.is_array()) {
        return std::ranges::any_of(
            v.as_array(), [&](const Value& item) { return mentions(item, name, is_path); });
    }
    if (v.is_hash()) {
        return std::ranges::any_of(v.as_hash(), [&](const value::Entry& e) {
            return mentions(e.key, name, is_path) || mentions(e.value, name, is_path);
        });
    }
    if (!v.is_string()) return false;
    return is_path ? v.as_string().find(name) != std::string_view::npos : v.as_string() == name;
}

bool mentions(const catalog::Resource& r, const std::string& name, bool is_path) {
    const auto equal = [&](std::string_view text) {
        return is_path ? text.find(name) != std::string_view::npos : text == name;
    };
    return equal(r.ref.title) || std::ranges::any_of(r.aliases, equal) ||
           std::ranges::any_of(r.parameters, [&](const catalog::Parameter& p) {
               return mentions(p.value, name, is_path);
           });
}

/// Reports whether the resource is a folder that manages everything below it, `path` included.
bool manages_below(const catalog::Resource& r, std::string_view path) {
    if (r.ref.type != "File" && r.ref.type != "Tidy") return false;
    const Value* recurse = r.parameter("recurse");
    if (!recurse || !recurse->truthy() || (recurse->is_string() && recurse->as_string() == "false"))
        return false;
    const Value* given = r.parameter("path");
    std::string folder(given && given->is_string() ? given->as_string()
                                                   : std::string_view(r.ref.title));
    while (!folder.empty() && folder.ends_with('/')) folder.pop_back();
    return path.starts_with(folder + "/");
}

std::string reason_of_file(const Leftover& leftover, sys::FileSystem& files) {
    const auto found = files.look(leftover.name);
    if (!found) return found.error().message;
    if (!*found) return "";
    if ((*found)->kind != sys::FileKind::File) return "it is no longer a regular file";
    const auto content = files.read(leftover.name);
    if (!content) return content.error().message;
    return codec::hex_digest(codec::DigestKind::Sha256, *content) == leftover.sha256
               ? ""
               : "its content has changed";
}

catalog::Resource removal_of(const Leftover& leftover, base::Arena& arena) {
    catalog::Resource out;
    out.ref = {leftover.type, leftover.title};
    out.tags = {"undeclared"};
    for (const auto& [name, text] : leftover.parameters) {
        out.parameters.push_back({name, value::make_string(arena, text)});
    }
    if (leftover.type == "Service") {
        out.parameters.push_back({"enable", Value::boolean(false)});
    } else {
        out.parameters.push_back({"ensure", Value::string("absent")});
    }
    return out;
}

}  // namespace

base::Result<UndeclaredOptions> UndeclaredOptions::read(const config::Settings& settings) {
    UndeclaredOptions out;
    const std::string mode =
        settings.get(std::string_view("undeclared")).value_or(std::string("report"));
    if (mode != "report" && mode != "remove") {
        return base::failure(fmt::format(
            "Invalid value '{}' for the setting undeclared: expected report or remove", mode));
    }
    out.remove = mode == "remove";
    const std::string listed =
        settings.get(std::string_view("undeclared_types")).value_or(std::string(kDefaultTypes));
    for (const auto word : base::words(listed, ", ")) {
        std::string type(word);
        base::make_lower(type);
        type = base::capitalized(type);
        if (std::ranges::find(kTypes, type) == std::end(kTypes)) {
            return base::failure(
                fmt::format("Invalid type '{}' in the setting undeclared_types: expected file, "
                            "service, cron, user or package",
                            word));
        }
        out.types.push_back(std::move(type));
    }
    return out;
}

std::vector<std::string> removable_types() { return {std::begin(kTypes), std::end(kTypes)}; }

base::Result<std::vector<Leftover>> read_leftovers(std::string_view json,
                                                   const std::vector<std::string>& types) {
    base::Arena arena;
    const auto data = value::parse_json(arena, json);
    if (!data || !data->is_array()) return base::failure("the response is not a list");
    std::vector<Leftover> out;
    for (const Value& row : data->as_array()) {
        const Value* created = value::at(row, "created_by_us");
        const Value* removal = value::at(row, "removal");
        Leftover l;
        l.type = value::text_at(row, "type");
        l.title = value::text_at(row, "title");
        if (!created || !created->truthy() || !removal || !removal->is_hash() ||
            std::ranges::find(types, l.type) == types.end())
            continue;
        for (const value::Entry& e : removal->as_hash()) {
            if (!e.key.is_string() || !e.value.is_string()) continue;
            if (e.key.as_string() == "sha256") {
                l.sha256 = e.value.as_string();
            } else {
                l.parameters.emplace_back(e.key.as_string(), e.value.as_string());
            }
        }
        const bool is_file = l.type == "File";
        l.name = value::text_at(*removal, is_file ? "path" : "name");
        if (l.name.empty() || (is_file && (l.sha256.empty() || !l.name.starts_with('/')))) continue;
        out.push_back(std::move(l));
    }
    return out;
}

std::string reason_to_keep(const Leftover& leftover, const catalog::Catalog& catalog,
                           sys::FileSystem& files) {
    BUNRAKU_ASSERT(!leftover.name.empty());
    const bool is_file = leftover.type == "File";
    for (const catalog::Resource& r : catalog.resources) {
        if (mentions(r, leftover.name, is_file)) {
            return fmt::format("{} mentions it", r.ref.to_string());
        }
        if (r.ref.type == leftover.type && r.ref.title == leftover.title) {
            return fmt::format("another {} has its title", r.ref.to_string());
        }
        if (is_file && manages_below(r, leftover.name)) {
            return fmt::format("{} manages its folder", r.ref.to_string());
        }
    }
    return is_file ? reason_of_file(leftover, files) : "";
}

void add_removals(catalog::Catalog& catalog, std::vector<Leftover> leftovers,
                  sys::FileSystem& files, base::LogSink& log) {
    const auto rank = [](const Leftover& l) { return std::ranges::find(kTypes, l.type); };
    std::ranges::stable_sort(leftovers, {}, rank);
    std::vector<catalog::Resource> removals;
    if (!catalog.arena) catalog.arena = std::make_shared<base::Arena>();
    std::set<std::string> known;
    for (const Leftover& leftover : leftovers) {
        if (!known.insert(leftover.ref()).second) continue;
        if (const auto reason = reason_to_keep(leftover, catalog, files); !reason.empty()) {
            log.log(Level::Info, fmt::format("Not removing {}, which is no longer declared: {}",
                                             leftover.ref(), reason));
            continue;
        }
        removals.push_back(removal_of(leftover, *catalog.arena));
    }
    const auto stage = std::ranges::find_if(catalog.resources, [](const catalog::Resource& r) {
        return r.ref.type == "Stage" && r.ref.title == "main";
    });
    const auto container = static_cast<std::uint32_t>(stage - catalog.resources.begin());
    const bool contained = stage != catalog.resources.end();
    for (catalog::Resource& removal : removals) {
        if (contained) {
            catalog.edges.push_back(
                {container, static_cast<std::uint32_t>(catalog.resources.size())});
        }
        catalog.resources.push_back(std::move(removal));
    }
}

}  // namespace bunraku::agent
