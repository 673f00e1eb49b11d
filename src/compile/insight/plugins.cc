// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/plugins.h"

#include <array>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "core/codec/digest.h"

namespace bunraku::insight {

namespace {

using environment::Environment;
using environment::Module;

constexpr int kDeepest = 50;
constexpr std::array<std::string_view, 2> kSynced{"lib", "facts.d"};
constexpr std::array<std::string_view, 5> kServersOwn{"lib/puppet/functions", "lib/puppet/parser",
                                                      "lib/puppet/datatypes", "lib/puppet/reports",
                                                      "lib/hiera"};

/// Digests by path relative to a module's folder.
using Listing = std::map<std::string, std::string>;

void list(const environment::Files& files, const std::string& module, const std::string& path,
          int depth, Listing& out) {
    for (const auto own : kServersOwn)
        if (path == own) return;
    const auto stamp = files.stat(module + "/" + path);
    if (!stamp.exists || depth > kDeepest) return;
    if (stamp.directory) {
        for (const auto& name : files.list(module + "/" + path))
            list(files, module, path + "/" + name, depth + 1, out);
        return;
    }
    const auto text = files.read(module + "/" + path);
    out[path] = text ? codec::short_digest(*text) : text.error().message;
}

Listing plugins_of(const Environment& environment, const std::string& name) {
    Listing out;
    const Module* module = environment.module(name);
    if (!module) return out;
    for (const auto folder : kSynced)
        list(environment.files(), module->path, std::string(folder), 0, out);
    return out;
}

}  // namespace

std::vector<Change> plugin_changes(const Environment& before, const Environment& after) {
    std::set<std::string> names;
    for (const auto* each : {&before, &after})
        for (const Module& module : each->modules()) names.insert(module.name);
    std::vector<Change> out;
    for (const auto& name : names) {
        const Listing old = plugins_of(before, name), now = plugins_of(after, name);
        Change change{.kind = Kind::Plugin, .reference = "module " + name};
        const auto add = [&](const std::string& path, std::string_view what) {
            change.after += fmt::format("{}{} {}", change.after.empty() ? "" : "\n", path, what);
        };
        for (const auto& [path, digest] : now) {
            const auto known = old.find(path);
            if (known == old.end()) {
                add(path, "added");
            } else if (known->second != digest) {
                add(path, "changed");
            }
        }
        for (const auto& [path, digest] : old)
            if (!now.contains(path)) add(path, "removed");
        if (change.after.empty()) continue;
        const Module* module = after.module(name) ? after.module(name) : before.module(name);
        change.input = module->path;
        out.push_back(std::move(change));
    }
    return out;
}

}  // namespace bunraku::insight
