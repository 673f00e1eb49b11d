// SPDX-License-Identifier: Apache-2.0
// The parts of a text that identify a node: its name and addresses. Without them, equal findings of
// many nodes can be grouped.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/value/value.h"

namespace bunraku::insight {

/// The names and addresses of a node, each with the fact that contains it.
class NodeIdentity {
public:
    NodeIdentity() = default;
    NodeIdentity(std::string_view node, const value::Value& facts);

    /// Returns `text` with names and addresses of the node replaced by
    /// "%{facts.networking.hostname}" and similar. Replaces whole words only.
    std::string without(std::string_view text) const;

    /// Returns the names and addresses with their placeholders, the longest first.
    const std::vector<std::pair<std::string, std::string>>& parts() const { return parts_; }

private:
    void add(std::string_view text, std::string_view name);

    std::vector<std::pair<std::string, std::string>> parts_;  ///< longest first
};

}  // namespace bunraku::insight
