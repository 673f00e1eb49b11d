// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/fleet.h"

#include <algorithm>
#include <condition_variable>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "compile/compiler/change.h"
#include "compile/insight/inputs.h"
#include "core/base/text.h"
#include "core/value/text.h"
#include "language/hiera/data_cache.h"

namespace bunraku::insight {

using base::PuppetError;
using environment::Environment;
using environment::Read;
using Item = environment::ReadTable::Item;

namespace {

/// A compile of one node for analysis.
struct NodeCompile {
    site::Compiled compiled;
    std::shared_ptr<const Environment> environment;
    std::shared_ptr<environment::Trace> trace;
    std::shared_ptr<compiler::ReadLocations> places;
    bool failed = false;
};

NodeCompile look(site::Site& site, const State& state, const site::FleetNode& node,
                 bool with_places) {
    NodeCompile out;
    base::NullSink log;
    try {
        auto request = request_for(state, node);
        if (with_places) out.places = std::make_shared<compiler::ReadLocations>();
        request.record = {.trace = true, .places = out.places, .history = {}};
        const auto session = site.session(std::move(request), log);
        out.environment = session->environment();
        try {
            out.compiled = session->compile();
        } catch (const PuppetError&) {
            out.failed = true;
        }
        out.trace = session->trace();
    } catch (const PuppetError&) {
        out.failed = true;
    }
    return out;
}

/// Compiles all nodes on the site's threads. Calls `take` with one result at a time and the index
/// of the node.
template <class Take>
void look_at_all(site::Site& site, const State& state, std::span<const site::FleetNode> nodes,
                 bool with_places, Take&& take) {
    site.environment(state.request());
    std::mutex mutex;
    std::condition_variable done;
    std::size_t left = nodes.size();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        site.workers().post([&, i] {
            auto compiled_node = look(site, state, nodes[i], with_places);
            const std::lock_guard lock(mutex);
            take(i, compiled_node);
            if (--left == 0) done.notify_all();
        });
    }
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return left == 0; });
}

std::string place_text(const compiler::Reader* reader, std::string_view root) {
    if (!reader || reader->file.empty()) return {};
    return fmt::format("{}:{}", below(reader->file, root), reader->line);
}

Input input_of(const Item& item) {
    Input out{.path = {}, .detail = std::string(item.detail), .kind = item.kind, .reads = {}};
    switch (item.kind) {
        case Read::File:
        case Read::Exists:
        case Read::Folder:
        case Read::Glob:
        case Read::Names:
        case Read::Definition:
        case Read::Data: out.path = item.name; break;
        default: out.detail = item.name;
    }
    return out;
}

/// Returns the files that contain only the function or type of a name: "ntp::f", "function ntp::f",
/// "type Ntp::T".
std::set<std::string> files_that_define(const Environment& environment, std::string_view wanted) {
    const auto space = wanted.find(' ');
    const auto kind = space == std::string_view::npos ? "" : wanted.substr(0, space);
    const auto name = wanted.substr(space + 1);
    std::set<std::string> out;
    auto add = [&](std::optional<std::string> path) {
        if (path) out.insert(std::move(*path));
    };
    if (kind.empty() || kind == "function") {
        add(environment.function_file(name));
        add(environment.ruby_function_file(name, false));
        add(environment.ruby_function_file(name, true));
    }
    if (kind.empty() || kind == "type") {
        add(environment.type_file(base::lower(name)));
        add(environment.ruby_data_type_file(base::lower(name)));
    }
    return out;
}

bool is_meant(const Item& item, const Input& input, std::string_view name, std::string_view wanted,
              std::string_view root) {
    // Checks for existence and folder listings are too common to be relevant.
    if (item.kind == Read::Exists || item.kind == Read::Folder || item.kind == Read::Glob)
        return false;
    if (name == wanted) return true;
    if (!input.path.empty() && below(input.path, root) == wanted) return item.kind != Read::Names;
    if (item.kind == Read::Data) return input.detail == wanted;
    if (item.kind == Read::Definition) {
        const std::string_view detail = input.detail;
        const auto space = detail.find(' ');
        return detail == wanted || detail.substr(space + 1) == wanted;
    }
    return false;
}

}  // namespace

Readers readers(site::Site& site, const State& state, std::span<const site::FleetNode> nodes,
                std::string_view wanted) {
    Readers out;
    out.nodes = nodes.size();
    using Found = std::tuple<std::string, std::size_t, NodeReader>;
    std::vector<Found> found;
    const auto defining = files_that_define(*site.environment(state.request()), wanted);
    look_at_all(site, state, nodes, true, [&](std::size_t i, NodeCompile& compiled_node) {
        if (compiled_node.failed) out.failed.push_back(nodes[i].name);
        if (!compiled_node.trace) return;
        const std::string root = compiled_node.environment->directory();
        for (const auto& [item, answer] : compiled_node.trace->items()) {
            const Input input = input_of(item);
            const std::string name = input.name(root);
            const bool defines =
                item.kind == Read::File && defining.contains(std::string(item.name));
            if (!defines && !is_meant(item, input, name, wanted, root)) continue;
            const auto* reader = compiled_node.places->first(*compiled_node.trace->table(),
                                                             item.kind, item.name, item.detail);
            found.emplace_back(name, i,
                               NodeReader{.node = nodes[i].name,
                                          .input = name,
                                          .reader = reader ? reader->what : "",
                                          .place = place_text(reader, root)});
        }
    });
    std::ranges::stable_sort(found, [](const Found& a, const Found& b) {
        return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
    });
    for (auto& each : found) out.readers.push_back(std::move(std::get<2>(each)));
    std::ranges::sort(out.failed);
    return out;
}

namespace {

bool has_ending(std::string_view path, std::initializer_list<std::string_view> endings) {
    return std::ranges::any_of(endings, [&](auto ending) { return path.ends_with(ending); });
}

/// Returns "ntp::servers" for the file servers.rb or ntp/servers.rb in a folder of Ruby functions.
std::string ruby_name(std::string_view path) {
    std::string out;
    for (const auto part : base::split(path.substr(0, path.rfind('.')), '/'))
        out += (out.empty() ? "" : "::") + std::string(part);
    return out;
}

/// Returns the functions and types of a module or of an environment's own folder that have their
/// own files. Paths are absolute.
std::vector<Dead> defining_files(const Environment& environment, const std::string& root) {
    std::vector<Dead> out;
    std::vector<std::string> paths;
    for (const auto& [folder, kind] :
         {std::pair("functions", "function"), std::pair("types", "type")}) {
        paths.clear();
        files_below(environment.files(), root + "/" + folder, paths);
        for (const auto& path : paths) {
            const auto file = path.ends_with(".pp") ? environment.parse_file(path) : nullptr;
            if (!file || !file->tree || file->tree->program->definitions.empty()) continue;
            const auto* node = file->tree->program->definitions[0];
            const std::string name = environment::definition_name(*node);
            out.push_back({kind, name.substr(name.find(' ') + 1), path, node->where().line});
        }
    }
    for (const char* folder : {"/lib/puppet/functions", "/lib/puppet/parser/functions"}) {
        paths.clear();
        files_below(environment.files(), root + folder, paths);
        for (const auto& path : paths)
            if (path.ends_with(".rb"))
                out.push_back({"function", ruby_name(below(path, root + folder)), path, 1});
    }
    return out;
}

}  // namespace

DeadInputs dead(site::Site& site, const State& state, std::span<const site::FleetNode> nodes) {
    DeadInputs out;
    out.nodes = nodes.size();
    std::set<std::string> definitions, files, data_files;
    std::map<std::string, std::set<std::string>> keys;
    std::set<std::string> sources;  // files and folders that `source` attributes refer to
    look_at_all(site, state, nodes, false, [&](std::size_t i, NodeCompile& compiled_node) {
        if (compiled_node.failed) out.failed.push_back(nodes[i].name);
        if (!compiled_node.trace) return;
        for (const auto& [item, answer] : compiled_node.trace->items()) {
            const std::string name(item.name);
            if (item.kind == Read::Definition)
                definitions.insert(name + "#" + std::string(item.detail));
            if (item.kind == Read::File) files.insert(name);
            if (item.kind == Read::Data) {
                data_files.insert(name);
                keys[name].emplace(item.detail);
            }
        }
        if (compiled_node.failed) return;
        const Contents contents(compiled_node.environment);
        for (const auto& source : sources_of(*compiled_node.compiled.catalog))
            for (const auto& each : source.sources) sources.insert(contents.find(each).path);
    });
    const auto environment = site.environment(state.request());
    const auto& disk = environment->files();
    const std::string root = environment->directory();
    auto add = [&](std::string kind, std::string name, const std::string& path, int line = 0) {
        out.dead.push_back({std::move(kind), std::move(name), below(path, root), line});
    };
    auto is_source = [&](const std::string& path) {
        return std::ranges::any_of(sources, [&](const std::string& s) {
            return path == s || (path.size() > s.size() && path.starts_with(s + "/"));
        });
    };
    std::vector<std::string> roots = {root};
    for (const auto& module : environment->modules())
        if (module.path.starts_with(root + "/")) roots.push_back(module.path);
    for (const auto& folder : roots) {
        const bool module = folder != root;
        std::vector<std::string> paths;
        if (module) files_below(disk, folder + "/manifests", paths);
        for (const auto& path : paths) {
            const auto file = path.ends_with(".pp") ? environment->parse_manifest(path) : nullptr;
            if (!file || !file->tree) continue;
            for (const auto* node : file->tree->program->definitions) {
                const std::string name = environment::definition_name(*node);
                const auto space = name.find(' ');
                const auto kind = name.substr(0, space);
                if (!definitions.contains(path + "#" + name))
                    add(kind, name.substr(space + 1), path, node->where().line);
            }
        }
        for (auto& each : defining_files(*environment, folder))
            if (!files.contains(each.path)) add(each.kind, each.name, each.path, each.line);
        if (!module) continue;
        for (const auto& [content, kind] :
             {std::pair("templates", "template"), std::pair("files", "file")}) {
            paths.clear();
            files_below(disk, folder + "/" + content, paths);
            for (const auto& path : paths)
                if (!files.contains(path) && !is_source(path)) add(kind, below(path, root), path);
        }
    }
    // Searches for unread data in the folders from which the fleet reads data.
    std::set<std::string> folders;
    for (const auto& path : data_files) {
        if (!path.starts_with(root + "/")) continue;
        // The topmost folder below the environment.
        const auto rest = path.substr(root.size() + 1);
        const auto slash = rest.find('/');
        if (slash != std::string::npos) folders.insert(root + "/" + rest.substr(0, slash));
    }
    hiera::DataCache cache;
    for (const auto& folder : folders) {
        std::vector<std::string> paths;
        files_below(disk, folder, paths);
        for (const auto& path : paths) {
            if (!has_ending(path, {".yaml", ".yml", ".json"})) continue;
            // hiera.yaml and the metadata of a module are not data.
            const bool module = std::ranges::any_of(environment->modules(), [&](const auto& m) {
                return path.starts_with(m.path + "/");
            });
            // A file read as a whole (eyaml, a Ruby backend) may have any of its keys read.
            if (files.contains(path)) continue;
            if (!data_files.contains(path)) {
                if (!module) add("data file", below(path, root), path);
                continue;
            }
            const auto format = path.ends_with(".json") ? hiera::DataCache::Format::Json
                                                        : hiera::DataCache::Format::Yaml;
            const auto loaded = cache.load(disk, path, format);
            if (!loaded.file || !loaded.file->data.is_hash()) continue;
            const auto& asked = keys[path];
            if (asked.contains("*")) continue;
            for (const auto& e : loaded.file->data.as_hash()) {
                const auto key = value::to_text(e.key);
                if (key != "lookup_options" && !asked.contains(key)) add("key", key, path);
            }
        }
    }
    std::ranges::sort(out.dead, [](const Dead& a, const Dead& b) {
        return std::tie(a.kind, a.path, a.name) < std::tie(b.kind, b.path, b.name);
    });
    std::ranges::sort(out.failed);
    return out;
}

Doctor doctor(site::Site& site, const State& state, std::span<const site::FleetNode> nodes,
              bool twice) {
    Doctor out;
    out.nodes = nodes.size();
    std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string>> found;
    look_at_all(site, state, nodes, true, [&](std::size_t i, NodeCompile& compiled_node) {
        if (compiled_node.failed) out.failed.push_back(nodes[i].name);
        if (!compiled_node.trace) return;
        for (const auto& item : compiler::Change::unseen(*compiled_node.trace)) {
            // Traces contain the digests of the store's answers, so a change is visible.
            if (item.kind == Read::Query || item.kind == Read::Export) continue;
            const auto* reader = compiled_node.places->first(*compiled_node.trace->table(),
                                                             item.kind, item.name, item.detail);
            found[{std::string(environment::read_name(item.kind)), std::string(item.name),
                   place_text(reader, compiled_node.environment->directory())}]
                .insert(nodes[i].name);
        }
    });
    for (auto& [what, names] : found) {
        const auto& [kind, name, place] = what;
        out.nondeterministic.push_back({kind, name, place, {names.begin(), names.end()}});
    }
    std::ranges::stable_sort(out.nondeterministic,
                             [](const NonDeterministicRead& a, const NonDeterministicRead& b) {
                                 return a.nodes.size() > b.nodes.size();
                             });
    std::ranges::sort(out.failed);
    if (!twice) return out;
    Comparison comparison;
    comparison.from = comparison.to = state;
    comparison.everything = true;
    comparison.because = false;
    comparison.chance = true;
    auto differing = impact(site, comparison, nodes);
    for (auto& node : differing.nodes) out.names.push_back(std::move(node.name));
    for (auto& group : differing.groups)
        if (group.change.kind != Kind::FailsAsBefore) out.differs.push_back(std::move(group));
    return out;
}

}  // namespace bunraku::insight
