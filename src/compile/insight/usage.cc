// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/usage.h"

#include <algorithm>
#include <tuple>

#include "compile/insight/fleet_compile.h"
#include "compile/insight/inputs.h"
#include "core/base/text.h"
#include "core/value/text.h"
#include "language/hiera/data_cache.h"

namespace bunraku::insight {

using environment::Environment;
using environment::Read;

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

UsedInput input(std::string kind, std::string name, std::string path, int line = 0) {
    return {.kind = std::move(kind),
            .name = std::move(name),
            .path = std::move(path),
            .line = line,
            .readers = {}};
}

/// Returns the functions and types of a module or of an environment's own folder that have their
/// own files. Paths are absolute.
std::vector<UsedInput> defining_files(const Environment& environment, const std::string& root) {
    std::vector<UsedInput> out;
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
            out.push_back(input(kind, name.substr(name.find(' ') + 1), path, node->where().line));
        }
    }
    for (const char* folder : {"/lib/puppet/functions", "/lib/puppet/parser/functions"}) {
        paths.clear();
        files_below(environment.files(), root + folder, paths);
        for (const auto& path : paths)
            if (path.ends_with(".rb"))
                out.push_back(input("function", ruby_name(below(path, root + folder)), path, 1));
    }
    return out;
}

/// Returns the readers in the map, or no nodes.
template <class Map>
const NodeSet& readers_in(const Map& map, std::string_view name) {
    static const NodeSet kNone{};
    const auto it = map.find(name);
    return it == map.end() ? kNone : it->second;
}

}  // namespace

void NodeSet::add(std::size_t node) {
    if (node >= bits_.size()) bits_.resize(node + 1);
    bits_[node] = true;
}

void NodeSet::add(const NodeSet& other) {
    if (other.bits_.size() > bits_.size()) bits_.resize(other.bits_.size());
    for (std::size_t i = 0; i < other.bits_.size(); ++i)
        if (other.bits_[i]) bits_[i] = true;
}

std::size_t NodeSet::count() const {
    return static_cast<std::size_t>(std::ranges::count(bits_, true));
}

std::vector<std::uint32_t> NodeSet::members() const {
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i < bits_.size(); ++i)
        if (bits_[i]) out.push_back(i);
    return out;
}

void UsageRecorder::examine(site::Site& site, const State& state,
                            std::span<const site::FleetNode> nodes, const Progress& progress,
                            const std::stop_token& stop) {
    const auto first = nodes_.size();
    for (const auto& node : nodes) nodes_.push_back(node.name);
    std::size_t done = first;
    const auto take = [&](std::size_t i, NodeCompile& compiled_node) {
        const auto number = first + i;
        if (progress) progress(++done);
        if (compiled_node.failed) failed_.push_back(static_cast<std::uint32_t>(number));
        if (!compiled_node.trace) return;
        for (const auto& [item, answer] : compiled_node.trace->items()) {
            switch (item.kind) {
                case Read::Definition:
                    definitions_[std::string(item.name) + "#" + std::string(item.detail)].add(
                        number);
                    break;
                case Read::File: files_[std::string(item.name)].add(number); break;
                case Read::Data:
                    data_files_[std::string(item.name)].add(number);
                    keys_[std::string(item.name)][std::string(item.detail)].add(number);
                    break;
                default: break;
            }
        }
        if (compiled_node.failed) return;
        const Contents contents(compiled_node.environment);
        for (const auto& source : sources_of(*compiled_node.compiled.catalog))
            for (const auto& each : source.sources)
                if (auto path = contents.find(each).path; !path.empty())
                    sources_[std::move(path)].add(number);
    };
    look_at_all(site, state, nodes, false, take, stop);
}

const NodeSet& UsageRecorder::readers_of_file(const std::string& path, NodeSet& joined) const {
    joined = readers_in(files_, path);
    // A `source` names the file, or a folder above it.
    for (auto end = path.size(); end != std::string::npos && end > 0;
         end = path.rfind('/', end - 1))
        joined.add(readers_in(sources_, std::string_view(path).substr(0, end)));
    return joined;
}

std::map<std::string, std::size_t, std::less<>> UsageRecorder::counts() const {
    std::map<std::string, std::size_t, std::less<>> out;
    for (const auto& [definition, readers] : definitions_) {
        std::size_t& count = out[definition.substr(definition.find('#') + 1)];
        count = std::max(count, readers.count());
    }
    for (const auto& [path, readers] : files_) out[path] = readers.count();
    for (const auto& [path, keys] : keys_) {
        const auto any = keys.find("*");
        for (const auto& [key, readers] : keys) {
            NodeSet all = readers;
            if (any != keys.end()) all.add(any->second);
            out[path + "#" + key] = all.count();
        }
    }
    return out;
}

void UsageRecorder::add_modules(const Environment& environment, Usage& out) const {
    const std::string& root = out.root;
    const auto add = [&](UsedInput item, const NodeSet& readers) {
        item.readers = readers;
        item.path = below(item.path, root);
        out.items.push_back(std::move(item));
    };
    std::vector<std::string> roots = {root};
    for (const auto& module : environment.modules())
        if (module.path.starts_with(root + "/")) roots.push_back(module.path);
    for (const auto& folder : roots) {
        const bool module = folder != root;
        std::vector<std::string> paths;
        if (module) files_below(environment.files(), folder + "/manifests", paths);
        for (const auto& path : paths) {
            const auto file = path.ends_with(".pp") ? environment.parse_manifest(path) : nullptr;
            if (!file || !file->tree) continue;
            for (const auto* node : file->tree->program->definitions) {
                const std::string name = environment::definition_name(*node);
                const auto space = name.find(' ');
                add(input(name.substr(0, space), name.substr(space + 1), path, node->where().line),
                    readers_in(definitions_, path + "#" + name));
            }
        }
        for (auto& each : defining_files(environment, folder)) {
            const auto& readers = readers_in(files_, each.path);
            add(std::move(each), readers);
        }
        if (!module) continue;
        for (const auto& [content, kind] :
             {std::pair("templates", "template"), std::pair("files", "file")}) {
            paths.clear();
            files_below(environment.files(), folder + "/" + content, paths);
            NodeSet joined;
            for (const auto& path : paths)
                add(input(kind, below(path, root), path), readers_of_file(path, joined));
        }
    }
}

void UsageRecorder::add_data(const Environment& environment, Usage& out) const {
    const std::string& root = out.root;
    // Searches for data in the folders from which the fleet reads data.
    std::set<std::string> folders;
    for (const auto& [path, readers] : data_files_) {
        if (!path.starts_with(root + "/")) continue;
        // The topmost folder below the environment.
        const auto rest = path.substr(root.size() + 1);
        const auto slash = rest.find('/');
        if (slash != std::string::npos) folders.insert(root + "/" + rest.substr(0, slash));
    }
    hiera::DataCache cache;
    for (const auto& folder : folders) {
        std::vector<std::string> paths;
        files_below(environment.files(), folder, paths);
        for (const auto& path : paths) {
            if (!has_ending(path, {".yaml", ".yml", ".json"})) continue;
            // hiera.yaml and the metadata of a module are not data.
            const bool module = std::ranges::any_of(environment.modules(), [&](const auto& m) {
                return path.starts_with(m.path + "/");
            });
            // A file read as a whole (eyaml, a Ruby backend) may have any of its keys read.
            if (files_.contains(path)) continue;
            const auto read = data_files_.find(path);
            if (read == data_files_.end() && module) continue;
            auto file = input("data file", below(path, root), below(path, root));
            if (read != data_files_.end()) file.readers = read->second;
            out.items.push_back(std::move(file));
            if (read == data_files_.end()) continue;
            const auto format = path.ends_with(".json") ? hiera::DataCache::Format::Json
                                                        : hiera::DataCache::Format::Yaml;
            const auto loaded = cache.load(environment.files(), path, format);
            if (!loaded.file || !loaded.file->data.is_hash()) continue;
            const auto& asked = keys_.at(path);
            for (const auto& e : loaded.file->data.as_hash()) {
                auto key = value::to_text(e.key);
                if (key == "lookup_options") continue;
                auto item = input("key", key, below(path, root));
                item.readers = readers_in(asked, key);
                item.readers.add(readers_in(asked, "*"));
                out.items.push_back(std::move(item));
            }
        }
    }
}

Usage UsageRecorder::finish(site::Site& site, const State& state) {
    const auto environment = site.environment(state.request());
    Usage out;
    out.root = environment->directory();
    add_modules(*environment, out);
    add_data(*environment, out);
    for (auto& item : out.items) item.nodes = item.readers.count();
    std::ranges::sort(out.items, [](const UsedInput& a, const UsedInput& b) {
        return std::tie(a.kind, a.path, a.name) < std::tie(b.kind, b.path, b.name);
    });
    out.nodes = nodes_;
    out.failed = failed_;
    std::ranges::sort(out.failed);
    return out;
}

}  // namespace bunraku::insight
