// SPDX-License-Identifier: Apache-2.0
// The tree of a HOCON text before its substitutions are resolved (internal to codec/hocon*.cc).
#pragma once

#include <fmt/format.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/codec/hocon.h"
#include "core/codec/yaml.h"

namespace bunraku::codec::hocon {

using Path = std::vector<std::string>;

constexpr int kMaxDepth = 200;

struct Node {
    enum class Kind { Plain, Blank, Array, Object, Reference, Concatenation };
    struct Field {
        std::string key;
        std::vector<std::shared_ptr<Node>> stack;  ///< all values of the key, the newest last
    };
    Kind kind = Kind::Plain;
    int line = 1;
    YamlNode value;    ///< for Plain
    std::string text;  ///< for Plain: the text as written
    Path path;         ///< for Reference
    bool optional = false;
    std::vector<std::shared_ptr<Node>> items;  ///< for Array and Concatenation
    std::vector<Field> fields;

    Field& field(const std::string& key) {
        for (auto& f : fields) {
            if (f.key == key) return f;
        }
        fields.push_back({key, {}});
        return fields.back();
    }
    const Field* find(const std::string& key) const {
        for (const auto& f : fields) {
            if (f.key == key) return &f;
        }
        return nullptr;
    }
};
using NodePtr = std::shared_ptr<Node>;

/// Thrown and caught within parse_hocon.
struct Failure {
    std::string message;
};

[[noreturn]] inline void fail(int line, std::string_view message) {
    throw Failure{fmt::format("String: {}: {}", line, message)};
}

inline NodePtr make(Node::Kind kind, int line) {
    auto n = std::make_shared<Node>();
    n->kind = kind;
    n->line = line;
    return n;
}

/// Merges the keys of a newer object into `into`.
void merge_object(Node& into, const Node& from);

/// Returns the value of the whole text with all substitutions resolved. Throws Failure.
YamlNode resolve(const NodePtr& root, const HoconContext& context);

}  // namespace bunraku::codec::hocon
