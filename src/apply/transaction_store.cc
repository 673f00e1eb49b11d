#include "apply/transaction_store.h"

#include <fmt/format.h>

#include "apply/storage.h"
#include "base/plain_error.h"
#include "codec/json_text.h"
#include "value/build.h"
#include "value/from_yaml.h"

namespace bunraku::apply {

using codec::YamlNode;
using NodeKind = YamlNode::Kind;

namespace {

const YamlNode* entry_of(const YamlNode& mapping, std::string_view key) {
    for (const auto& [name, node] : mapping.entries)
        if (name.kind == NodeKind::String && name.text == key) return &node;
    return nullptr;
}

YamlNode node_of(const Value& v, const std::function<bool(const Value&)>& symbol) {
    YamlNode out;
    if (v.is_string()) {
        out.kind = NodeKind::String;
        out.symbol = symbol && symbol(v);
        out.text = (out.symbol ? ":" : "") + std::string(v.as_string());
    } else if (v.is_integer()) {
        out.kind = NodeKind::Integer;
        out.integer = v.as_integer();
    } else if (v.is(value::Kind::Boolean)) {
        out.kind = NodeKind::Boolean;
        out.boolean = v.truthy();
    } else if (v.is_array()) {
        out.kind = NodeKind::Sequence;
        for (const Value& item : v.as_array()) out.items.push_back(node_of(item, symbol));
    } else if (v.is_hash()) {
        out.kind = NodeKind::Mapping;
        for (const auto& e : v.as_hash())
            out.entries.push_back({node_of(e.key, {}), node_of(e.value, symbol)});
    } else if (!v.is_undef()) {
        out.kind = NodeKind::String;
        out.text = plain(v);
    }
    return out;
}

/// On one line: nested collections as JSON writes them.
std::string text_of_node(const YamlNode& n) {
    switch (n.kind) {
        case NodeKind::Null: return "null";
        case NodeKind::Boolean: return n.boolean ? "true" : "false";
        case NodeKind::Integer: return std::to_string(n.integer);
        case NodeKind::Float: return fmt::format("{}", n.number);
        case NodeKind::String: return codec::json_string(n.text);
        case NodeKind::Sequence: {
            std::string out = "[";
            for (const auto& item : n.items)
                out += (out.size() > 1 ? ", " : "") + text_of_node(item);
            return out + "]";
        }
        case NodeKind::Mapping: {
            std::string out = "{";
            for (const auto& [k, v] : n.entries)
                out += (out.size() > 1 ? ", " : "") + text_of_node(k) + ": " + text_of_node(v);
            return out + "}";
        }
    }
    return {};
}

std::string item_text(const YamlNode& n) {
    if (n.kind != NodeKind::String) return n.kind == NodeKind::Null ? "" : text_of_node(n);
    return n.symbol ? n.text : yaml_scalar(n.text);
}

}  // namespace

void TransactionStore::load() {
    auto& files = context_.system.files;
    const auto found = files.look(path_, true);
    if (!found) context_.message(Level::Err, found.error().message);
    if (!found || !*found) return;
    if (const auto& status = *found; status->kind != sys::FileKind::File) {
        context_.message(Level::Warning,
                         fmt::format("Transaction store file {} is not a file, ignoring", path_));
        return;
    }
    const auto text = files.read(path_);
    auto document = text ? codec::parse_yaml(*text, path_)
                         : base::Result<YamlNode>(std::unexpected(text.error()));
    if (!document) {
        context_.message(Level::Err,
                         fmt::format("Transaction store file {} is corrupt ({}); replacing", path_,
                                     document.error().message));
        if (!files.rename(path_, path_ + ".bad")) {
            throw base::plain_error(fmt::format(
                "Could not rename corrupt transaction store file {}; remove manually", path_));
        }
        return;
    }
    if (document->kind != NodeKind::Mapping) {
        context_.message(
            Level::Err,
            fmt::format("Transaction store file {} is valid YAML but not returning a hash. Check "
                        "the file for corruption, or remove it before continuing.",
                        path_));
        return;
    }
    const auto* resources = entry_of(*document, "resources");
    if (!resources) return;
    for (const auto& [ref, resource] : resources->entries) {
        const auto* parameters = entry_of(resource, "parameters");
        if (!parameters) continue;
        for (const auto& [name, said] : parameters->entries)
            if (const auto* value = entry_of(said, "system_value"))
                old_[ref.text].emplace_back(name.text, *value);
    }
}

void TransactionStore::save() const {
    std::string out = "---\nresources:";
    if (order_.empty()) out += " {}";
    out += '\n';
    for (const auto& ref : order_) {
        out += fmt::format("  {}:\n    parameters:\n", yaml_scalar(ref));
        for (const auto& [name, node] : new_.at(ref)) {
            out += fmt::format("      {}:\n        system_value:", yaml_scalar(name));
            if (node.kind != NodeKind::Sequence || node.items.empty()) {
                out +=
                    fmt::format(" {}\n", node.kind == NodeKind::Sequence ? "[]" : item_text(node));
                continue;
            }
            out += '\n';
            for (const auto& item : node.items)
                out += fmt::format("        - {}\n", item_text(item));
        }
    }
    const auto saved = context_.system.files.replace(path_, out, {.mode = 0660});
    if (!saved) {
        context_.message(Level::Err, fmt::format("Could not save the transaction store {}: {}",
                                                 path_, saved.error().message));
    }
}

const YamlNode* TransactionStore::old_value(const std::string& ref,
                                            std::string_view property) const {
    const auto it = old_.find(ref);
    if (it == old_.end()) return nullptr;
    for (const auto& [name, node] : it->second)
        if (name == property) return node.kind == NodeKind::Null ? nullptr : &node;
    return nullptr;
}

std::optional<std::vector<Value>> TransactionStore::system_value(const std::string& ref,
                                                                 std::string_view property) const {
    const auto* node = old_value(ref, property);
    if (!node) return std::nullopt;
    const Value all = value::from_yaml(context_.arena, *node, [&](const YamlNode& n, bool) {
        const std::string_view text = n.text;
        return context_.string(n.symbol ? text.substr(1) : text);
    });
    if (!all.is_array()) return std::vector<Value>{all};
    return std::vector<Value>(all.as_array().begin(), all.as_array().end());
}

TransactionStore::Parameters& TransactionStore::fresh(const std::string& ref) {
    const auto [it, made] = new_.try_emplace(ref);
    if (made) order_.push_back(ref);
    return it->second;
}

void TransactionStore::keep(const std::string& ref, std::string_view property,
                            const std::vector<Value>& values,
                            const std::function<bool(const Value&)>& symbol) {
    YamlNode node;
    node.kind = NodeKind::Sequence;
    for (const Value& v : values) node.items.push_back(node_of(v, symbol));
    fresh(ref).emplace_back(property, std::move(node));
}

void TransactionStore::keep_old(const std::string& ref, std::string_view property) {
    if (const auto* node = old_value(ref, property)) fresh(ref).emplace_back(property, *node);
}

void TransactionStore::keep_old(const std::string& ref) {
    if (const auto it = old_.find(ref); it != old_.end()) fresh(ref) = it->second;
}

}  // namespace bunraku::apply
