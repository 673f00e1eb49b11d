// SPDX-License-Identifier: Apache-2.0
// Converts YAML documents to values.
#pragma once

#include <utility>
#include <vector>

#include "core/codec/yaml.h"
#include "core/value/build.h"

namespace bunraku::value {

/// Converts a node. `text(node, key)` returns the value of a String, whose interpretation depends
/// on the reader. `key` is true if the node is the key of a mapping.
template <class Text>
Value from_yaml(base::Arena& arena, const codec::YamlNode& n, const Text& text, bool key = false) {
    using NodeKind = codec::YamlNode::Kind;
    switch (n.kind) {
        case NodeKind::Null: return Value::undef();
        case NodeKind::Boolean: return Value::boolean(n.boolean);
        case NodeKind::Integer: return Value::integer(n.integer);
        case NodeKind::Float: return Value::floating(n.number);
        case NodeKind::String: return text(n, key);
        case NodeKind::Sequence: {
            std::vector<Value> items;
            items.reserve(n.items.size());
            for (const auto& item : n.items) items.push_back(from_yaml(arena, item, text));
            return make_array(arena, items);
        }
        case NodeKind::Mapping: {
            HashBuilder hash(arena, n.entries.size());
            for (const auto& [k, v] : n.entries)
                hash.set(from_yaml(arena, k, text, true), from_yaml(arena, v, text));
            return hash.build();
        }
    }
    return Value::undef();
}

}  // namespace bunraku::value
