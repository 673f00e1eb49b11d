// What a text says only because of the node it is about: its name and addresses. Equal findings of
// many nodes stand together by what is left without them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/value/value.h"

namespace bunraku::insight {

/// A node's own names and addresses, each with the fact that has it.
class NodeIdentity {
public:
    NodeIdentity() = default;
    NodeIdentity(std::string_view node, const value::Value& facts);

    /// `text` with "%{facts.networking.hostname}" and the like where a name or address of the node
    /// stands by itself, not as a part of a longer word.
    std::string without(std::string_view text) const;

private:
    void add(std::string_view text, std::string_view name);

    std::vector<std::pair<std::string, std::string>> parts_;  ///< the longest first
};

}  // namespace bunraku::insight
