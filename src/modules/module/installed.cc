// SPDX-License-Identifier: Apache-2.0
#include "modules/module/installed.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "core/base/diagnostic.h"
#include "core/codec/digest.h"
#include "core/codec/ruby_json.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/value/rich_data.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Result;
using value::Value;

/// Reports whether the name matches /^[a-z][a-z0-9_]*$/. Other folders are not modules.
bool is_module_name(std::string_view name) {
    if (name.empty() || name[0] < 'a' || name[0] > 'z') return false;
    return std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
}

std::string slashed(std::string_view name) {
    std::string out(name);
    std::replace(out.begin(), out.end(), '-', '/');
    return out;
}

std::string v_prefixed(const std::string& text) {
    return !text.empty() && text[0] >= '0' && text[0] <= '9' ? "v" + text : text;
}

std::vector<Dependency> requirements_in(const Value& list) {
    std::vector<Dependency> out;
    for (const Value& one : list.as_array()) {
        const Value* name = one.is_hash() ? one.as_hash().find("name") : nullptr;
        if (!name || !name->is_string()) continue;
        const Value* range = one.as_hash().find("version_requirement");
        out.push_back({std::string(name->as_string()),
                       range && range->is_string() ? std::string(range->as_string()) : ">= 0.0.0"});
    }
    return out;
}

Result<InstalledModule> load_module(sys::FileSystem& fs, const std::string& folder,
                                    const std::string& name, std::vector<std::string>* warnings) {
    InstalledModule m{.name = name, .path = folder + "/" + name, .modulepath = folder};
    auto text = fs.read(m.path + "/metadata.json");
    if (!text || text->empty()) return m;
    base::Arena arena;
    auto parsed = value::parse_json(arena, *text);
    if (!parsed || !parsed->is_hash()) {
        if (warnings) {
            warnings->push_back(fmt::format(
                "{} has an invalid and unparsable metadata.json file. The parse error: {}", name,
                parsed ? "it is not an object" : codec::json_error(*text, parsed.error().message)));
        }
        return m;
    }
    const value::HashRep& data = parsed->as_hash();
    if (data.empty()) return m;
    m.has_metadata = true;
    if (const Value* v = data.find("name"); v && v->is_string()) {
        m.forge_name = slashed(v->as_string());
        m.metadata_name = v->as_string();
    }
    for (std::string_view key : {"source", "author", "version", "license", "dependencies"}) {
        const Value* v = data.find(key);
        if (!v || v->is_undef()) {
            return failure(fmt::format("No {} module metadata provided for {}", key, name));
        }
        if (key == "version") m.version = value::to_text(*v);
        if (key != "dependencies") continue;
        if (!v->is_array()) {
            return failure(
                fmt::format("The value for the key dependencies in the file "
                            "metadata.json of the module {} must be an array, not: '{}'",
                            name, value::to_text(*v)));
        }
        m.dependencies = requirements_in(*v);
        for (Dependency& d : m.dependencies) d.name = slashed(d.name);
    }
    if (const Value* v = data.find("requirements"); v && v->is_array())
        m.requirements = requirements_in(*v);
    return m;
}

}  // namespace

std::string InstalledModule::full_name() const {
    std::string out = forge_name.empty() ? name : forge_name;
    std::replace(out.begin(), out.end(), '/', '-');
    return out;
}

Result<InstalledModules> InstalledModules::load(const std::vector<std::string>& modulepath,
                                                std::vector<std::string>* warnings) {
    InstalledModules out;
    auto& fs = sys::disk();
    for (const std::string& path : modulepath) {
        if (!fs.is_directory(path)) continue;
        Folder folder{path, {}};
        auto names = fs.list(path);
        if (names) {
            for (const std::string& name : *names) {
                if (!is_module_name(name) || !fs.is_directory(path + "/" + name)) continue;
                folder.modules.push_back(BUNRAKU_TRY(load_module(fs, path, name, warnings)));
            }
        }
        out.folders_.push_back(std::move(folder));
    }
    return out;
}

std::vector<const InstalledModule*> InstalledModules::all() const {
    std::vector<const InstalledModule*> out;
    for (const Folder& f : folders_) {
        for (const InstalledModule& m : f.modules) out.push_back(&m);
    }
    return out;
}

std::vector<const InstalledModule*> InstalledModules::effective() const {
    std::vector<const InstalledModule*> out;
    std::set<std::string_view> seen;
    for (const InstalledModule* m : all()) {
        if (seen.insert(m->name).second) out.push_back(m);
    }
    return out;
}

const InstalledModule* InstalledModules::named(std::string_view name) const {
    for (const Folder& f : folders_) {
        for (const InstalledModule& m : f.modules) {
            if (m.name == name) return &m;
        }
    }
    return nullptr;
}

const InstalledModule* InstalledModules::by_forge_name(std::string_view forge_name) const {
    const std::size_t slash = forge_name.find('/');
    if (slash == std::string_view::npos) return nullptr;
    const InstalledModule* m = named(forge_name.substr(slash + 1));
    return m && m->forge_name == forge_name ? m : nullptr;
}

std::vector<InstalledModules::Requirement> InstalledModules::required_by(
    std::string_view forge_name) const {
    std::vector<Requirement> out;
    for (const InstalledModule* m : effective()) {
        if (m->forge_name.empty()) continue;
        for (const Dependency& d : m->dependencies) {
            if (d.name == forge_name) out.push_back({m->forge_name, m->version, d.requirement});
        }
    }
    return out;
}

std::vector<InstalledModules::Unmet> InstalledModules::unmet(const InstalledModule& m) const {
    std::vector<Unmet> out;
    for (const Dependency& d : m.dependencies) {
        Unmet u{.reason = Unmet::Reason::Missing,
                .name = d.name,
                .constraint = v_prefixed(d.requirement),
                .parent = m.forge_name,
                .parent_version = v_prefixed(m.version),
                .installed_version = {}};
        const InstalledModule* found = by_forge_name(d.name);
        if (!found) {
            out.push_back(std::move(u));
            continue;
        }
        u.installed_version = found->version;
        auto range = base::SemVerRange::parse(d.requirement);
        auto version = base::SemVer::parse(found->version);
        if (!range || !version) {
            u.reason = Unmet::Reason::NonSemantic;
            out.push_back(std::move(u));
        } else if (!range->includes(*version)) {
            u.reason = Unmet::Reason::Mismatch;
            out.push_back(std::move(u));
        }
    }
    return out;
}

Result<std::vector<std::pair<std::string, std::string>>> read_checksums(
    const std::string& module_path) {
    auto& fs = sys::disk();
    base::Arena arena;
    const std::string none = "No file containing checksums found.";
    Value sums;
    if (auto text = fs.read(module_path + "/checksums.json")) {
        auto parsed = value::parse_json(arena, *text);
        if (!parsed) return failure(parsed.error().message);
        sums = *parsed;
    } else if (auto metadata = fs.read(module_path + "/metadata.json")) {
        auto parsed = value::parse_json(arena, *metadata);
        if (!parsed) return failure(parsed.error().message);
        const Value* v = parsed->is_hash() ? parsed->as_hash().find("checksums") : nullptr;
        if (!v) return failure(none);
        sums = *v;
    } else {
        return failure(none);
    }
    if (!sums.is_hash()) return failure(none);
    std::vector<std::pair<std::string, std::string>> out;
    for (const value::Entry& e : sums.as_hash()) {
        if (!e.key.is_string()) continue;
        out.emplace_back(e.key.as_string(), e.value.is_string() ? e.value.as_string() : "");
    }
    return out;
}

Result<std::vector<std::string>> changed_files(const std::string& module_path) {
    auto& fs = sys::disk();
    std::vector<std::string> out;
    for (auto& [file, md5] : BUNRAKU_TRY(read_checksums(module_path))) {
        if (sys::base_name(file) == "checksums.json") continue;
        bool same = false;
        // Paths that lead out of the module are never read.
        if (!file.starts_with('/') && ("/" + file + "/").find("/../") == std::string::npos) {
            codec::Digest digest(codec::DigestKind::Md5);
            auto read = fs.read_chunks(module_path + "/" + file, [&](std::string_view piece) {
                digest.update(piece);
                return true;
            });
            same = read && digest.hex() == md5;
        }
        if (!same) out.push_back(std::move(file));
    }
    return out;
}

}  // namespace bunraku::module
