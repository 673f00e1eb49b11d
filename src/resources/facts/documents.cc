// SPDX-License-Identifier: Apache-2.0
#include "resources/facts/documents.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "core/base/text.h"
#include "core/codec/yaml.h"
#include "core/value/build.h"
#include "core/value/from_yaml.h"
#include "core/value/rich_data.h"
#include "core/value/text.h"

namespace bunraku::facts {

using value::HashBuilder;
using value::Value;

namespace {

/// Keys other than facts in a node's document, from Puppet and every version of PuppetDB.
constexpr std::string_view kOtherKeys[] = {"name",
                                           "certname",
                                           "values",
                                           "facts",
                                           "timestamp",
                                           "_timestamp",
                                           "expiration",
                                           "environment",
                                           "producer",
                                           "producer_timestamp",
                                           "package_inventory",
                                           "hash",
                                           "trusted",
                                           "resources"};

const Value* find(const Value& hash, std::string_view key) {
    return hash.is_hash() ? hash.as_hash().find(key) : nullptr;
}

/// Replaces undefined values with empty strings, as Puppet does (Node::Facts#sanitize).
Value sanitized(base::Arena& arena, const Value& v) {
    if (v.is_undef()) return Value::string("");
    if (v.is_array()) {
        std::vector<Value> items;
        for (const Value& item : v.as_array()) items.push_back(sanitized(arena, item));
        return value::make_array(arena, items);
    }
    if (!v.is_hash()) return v;
    HashBuilder out(arena, v.as_hash().size());
    for (const auto& e : v.as_hash()) out.set(e.key, sanitized(arena, e.value));
    return out.build();
}

/// Returns facts by name without their timestamp, which is not a fact. Puppet removes `_timestamp`
/// too.
Value named(base::Arena& arena, const Value& values) {
    BUNRAKU_ASSERT(values.is_hash());
    HashBuilder out(arena, values.as_hash().size());
    for (const auto& e : values.as_hash()) {
        const Value name =
            e.key.is_string() ? e.key : value::make_string(arena, value::to_text(e.key));
        if (name.as_string() != "_timestamp") out.set(name, sanitized(arena, e.value));
    }
    return out.build();
}

class Documents {
public:
    Documents(base::Arena& arena, std::string_view path) : arena_(arena), path_(path) {}

    base::Result<std::vector<NodeFacts>> read(const Value& document) {
        if (document.is_hash()) {
            // A PuppetDB command: {"command": "replace facts", "version": 5, "payload": {..}}.
            const Value* payload = find(document, "payload");
            if (payload && payload->is_hash() && find(document, "command"))
                return one(BUNRAKU_TRY(of_hash(*payload)));
            return one(BUNRAKU_TRY(of_hash(document)));
        }
        if (!document.is_array())
            return refused("does not contain facts: expected a hash or a list");
        if (document.as_array().empty())
            return refused("does not contain facts: the list is empty");
        if (is_row(document.as_array()[0])) return rows(document);
        std::vector<NodeFacts> out;
        for (const Value& item : document.as_array()) {
            if (!item.is_hash() || node_of(item).empty() || is_row(item))
                return refused(
                    "is a list that contains something other than the facts of named nodes");
            out.push_back(BUNRAKU_TRY(of_hash(item)));
        }
        return out;
    }

private:
    static bool is_row(const Value& v) {
        const Value* name = find(v, "name");
        return name && name->is_string() && find(v, "value") && !find(v, "values");
    }

    static std::string node_of(const Value& v) {
        for (const char* key : {"certname", "name"}) {
            if (const Value* name = find(v, key); name && name->is_string())
                return std::string(name->as_string());
        }
        return {};
    }

    std::unexpected<base::Error> refused(std::string_view why) const {
        return base::failure(fmt::format("{} {}", path_, why));
    }

    std::vector<NodeFacts> one(NodeFacts facts) {
        std::vector<NodeFacts> out;
        out.push_back(std::move(facts));
        return out;
    }

    base::Result<NodeFacts> of_hash(const Value& document) {
        const Value* values = find(document, "values");
        const Value* facts = find(document, "facts");
        const std::string node = node_of(document);
        // {"name": .., "values": {..}}; like Puppet, ignore all other keys.
        if (values && values->is_hash() && !node.empty())
            return NodeFacts{node, named(arena_, *values)};
        const bool wrapper =
            (values || facts || find(document, "certname")) &&
            std::ranges::all_of(document.as_hash(), [](const auto& e) {
                return e.key.is_string() &&
                       std::ranges::find(kOtherKeys, e.key.as_string()) != std::end(kOtherKeys);
            });
        if (!wrapper) return NodeFacts{{}, named(arena_, document)};
        if (values) {
            if (values->is_hash()) return NodeFacts{node, named(arena_, *values)};
            return refused("looks like the facts of a node, but \"values\" is not a hash");
        }
        if (!facts)
            return refused(
                "looks like the facts of a node, but has neither \"values\" nor \"facts\"");
        if (facts->is_array()) return NodeFacts{node, BUNRAKU_TRY(of_rows(*facts))};
        if (!facts->is_hash())
            return refused("looks like the facts of a node, but \"facts\" is not a hash");
        const Value* data = find(*facts, "data");
        if (data && data->is_array()) return NodeFacts{node, BUNRAKU_TRY(of_rows(*data))};
        if (find(*facts, "href") && facts->as_hash().size() <= 2)
            return refused("contains only a link (\"href\") to the facts of a node, not the facts");
        return NodeFacts{node, named(arena_, *facts)};
    }

    /// Reads [{"name": .., "value": ..}, ..] of one node.
    base::Result<Value> of_rows(const Value& list) {
        HashBuilder out(arena_, list.as_array().size());
        for (const Value& row : list.as_array()) {
            if (!is_row(row))
                return refused("contains a list of facts with an entry that has no name and value");
            out.set(*find(row, "name"), *find(row, "value"));
        }
        return named(arena_, out.build());
    }

    /// Reads rows of facts, each with an optional certname. Returns the nodes in the order of their
    /// first rows.
    base::Result<std::vector<NodeFacts>> rows(const Value& list) {
        std::vector<std::pair<std::string, std::vector<Value>>> groups;
        std::map<std::string, std::size_t> positions;
        for (const Value& row : list.as_array()) {
            const Value* certname = find(row, "certname");
            const std::string node =
                certname && certname->is_string() ? std::string(certname->as_string()) : "";
            const auto [it, fresh] = positions.try_emplace(node, groups.size());
            if (fresh) groups.push_back({node, {}});
            BUNRAKU_ASSERT(it->second < groups.size() && positions.size() == groups.size());
            groups[it->second].second.push_back(row);
        }
        std::vector<NodeFacts> out;
        for (const auto& [node, mine] : groups)
            out.push_back({node, BUNRAKU_TRY(of_rows(value::make_array(arena_, mine)))});
        return out;
    }

    base::Arena& arena_;
    std::string_view path_;
};

base::Result<Value> parse_yaml(base::Arena& arena, std::string_view text, std::string_view path) {
    const auto node =
        BUNRAKU_TRY(codec::parse_yaml(text, path, codec::YamlDates::Text, "Puppet::Node::Facts"));
    auto text_of = [&](const codec::YamlNode& n, bool) {
        std::string_view s = n.text;
        if (n.symbol && s.starts_with(':')) s.remove_prefix(1);
        return value::make_string(arena, s);
    };
    try {
        return value::from_yaml(arena, node, text_of);
    } catch (const base::PuppetError& e) {
        return base::failure(e.message());
    }
}

base::Result<Value> parse_any(base::Arena& arena, std::string_view text, std::string_view path) {
    if (path.ends_with(".yaml") || path.ends_with(".yml")) return parse_yaml(arena, text, path);
    auto json = value::parse_json(arena, text);
    if (json || path.ends_with(".json")) return json;
    const auto inner = base::trim(text, " \t\r\n");
    if (inner.starts_with('{') || inner.starts_with('[')) return json;
    const auto line = text.substr(0, text.find('\n'));
    if (line.find(" => ") != std::string_view::npos) return parse_facter_text(arena, text);
    return parse_yaml(arena, text, path);
}

}  // namespace

base::Result<std::vector<NodeFacts>> read_documents(base::Arena& arena, std::string_view text,
                                                    std::string_view path) {
    auto data = parse_any(arena, text, path);
    if (!data)
        return base::failure(fmt::format("Could not parse {}: {}", path, data.error().message));
    return Documents(arena, path).read(*data);
}

base::Result<NodeFacts> facts_of(const std::vector<NodeFacts>& documents, std::string_view node,
                                 std::string_view path) {
    if (documents.size() == 1) return documents.front();
    for (const NodeFacts& d : documents)
        if (d.node == node) return d;
    return base::failure(
        fmt::format("{} contains the facts of {} nodes, but not of '{}'; select a node with --node",
                    path, documents.size(), node));
}

}  // namespace bunraku::facts
