// SPDX-License-Identifier: Apache-2.0
// The values that one chosen node gets: Hiera keys with the level that sets them, and facts.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::lsp {

/// A value as text, and its origin.
struct NodeValue {
    std::string text;
    std::string origin;  ///< the data file, or the name of the level; may be empty
};

/// Looks values up. The server calls it on its own thread only.
class NodeValues {
public:
    virtual ~NodeValues() = default;
    /// Chooses the node and the source of its facts: a file, a folder, a store or a PuppetDB.
    virtual void choose(const std::string& node, const std::string& facts) = 0;
    /// Returns the name of the chosen node; empty if there is none.
    virtual const std::string& node() const = 0;
    /// Sets the folder of the environment, and the unsaved texts by path, for the next lookups.
    virtual void use(const std::string& environment,
                     const std::map<std::string, std::string>& unsaved) = 0;
    /// Returns the value of a Hiera key; nullopt if no level sets it or the lookup fails.
    virtual std::optional<NodeValue> hiera(std::string_view key) = 0;
    /// Returns the value of a fact by its path, "os.family".
    virtual std::optional<NodeValue> fact(std::string_view path) = 0;
    /// Returns the paths of all facts, ordered.
    virtual std::vector<std::string> facts() = 0;
};

}  // namespace bunraku::lsp
