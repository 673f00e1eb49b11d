// SPDX-License-Identifier: Apache-2.0
// Which nodes of a fleet read each class, define, function, data key and file of an environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "compile/insight/impact.h"

namespace bunraku::insight {

/// A set of nodes, by their index.
class NodeSet {
public:
    void add(std::size_t node);
    void add(const NodeSet& other);
    bool contains(std::size_t node) const { return node < bits_.size() && bits_[node]; }
    std::size_t count() const;
    /// Returns the indexes of the nodes, sorted.
    std::vector<std::uint32_t> members() const;

private:
    std::vector<bool> bits_;
};

/// Something that nodes can read, and its readers.
struct UsedInput {
    /// "class", "define", "function", "type", "key", "data file", "template" or "file"
    std::string kind;
    std::string name;
    std::string path;  ///< relative to the environment
    int line = 0;      ///< 0 if it is the whole file
    NodeSet readers;
    std::size_t nodes = 0;  ///< number of readers
};

struct Usage {
    std::vector<UsedInput> items;       ///< ordered by kind, path and name
    std::vector<std::string> nodes;     ///< in the order in which they were examined
    std::vector<std::uint32_t> failed;  ///< nodes whose compile failed; later reads are unknown
    std::string root;                   ///< folder of the environment
};

/// Records the reads of nodes. A large fleet can be examined in parts.
class UsageRecorder {
public:
    /// Called with the number of nodes that were examined so far, one call at a time.
    using Progress = std::function<void(std::size_t)>;

    /// Compiles the nodes. After a request to stop, leaves out the remaining ones. Throws if the
    /// state cannot be opened.
    void examine(site::Site& site, const State& state, std::span<const site::FleetNode> nodes,
                 const Progress& progress = nullptr, const std::stop_token& stop = {});
    /// Returns all inputs in the modules and the data below the environment's folder, with their
    /// readers.
    Usage finish(site::Site& site, const State& state);

    /// Returns the number of readers of each class and define ("class ntp"), of each file by its
    /// path, and of each key ("PATH#KEY"; "PATH#*" if a backend may have read any key). In contrast
    /// to finish(), includes modules outside of the environment's folder and reads no files.
    std::map<std::string, std::size_t, std::less<>> counts() const;
    std::size_t nodes() const { return nodes_.size(); }

private:
    void add_modules(const environment::Environment& environment, Usage& out) const;
    void add_data(const environment::Environment& environment, Usage& out) const;
    const NodeSet& readers_of_file(const std::string& path, NodeSet& joined) const;

    std::vector<std::string> nodes_;
    std::vector<std::uint32_t> failed_;
    /// Readers by path; for definitions by "PATH#class a::b".
    using ByName = std::map<std::string, NodeSet, std::less<>>;
    ByName definitions_, files_, data_files_;
    ByName sources_;  ///< files and folders to which `source` attributes refer
    std::map<std::string, ByName, std::less<>> keys_;  ///< by data file and key; "*" means all keys
};

}  // namespace bunraku::insight
