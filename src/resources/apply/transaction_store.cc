// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/transaction_store.h"

#include <cctype>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/codec/yaml.h"
#include "core/value/build.h"
#include "core/value/from_yaml.h"
#include "resources/apply/storage.h"

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

/// Returns the value on one line, with nested collections as JSON.
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

/// Returns the text after "system_value:".
std::string value_text(const YamlNode& n) {
    if (n.kind != NodeKind::Sequence) return fmt::format(" {}\n", item_text(n));
    if (n.items.empty()) return " []\n";
    std::string out = "\n";
    for (const auto& item : n.items) out.append("        - ").append(item_text(item)).append("\n");
    return out;
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
    auto text = files.read(path_);
    std::string_view all;
    if (text) {
        all = stored_text(std::move(*text));
        if (read_plainly(all)) return;
        old_.clear();
    }
    auto document = text ? codec::parse_yaml(all, path_)
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
    if (const auto* resources = entry_of(*document, "resources")) read_any(*resources);
}

// Reads any YAML that Puppet or a user wrote.
void TransactionStore::read_any(const YamlNode& resources) {
    for (const auto& [ref, resource] : resources.entries) {
        const auto* parameters = entry_of(resource, "parameters");
        if (!parameters) continue;
        Old old{stored_text(yaml_scalar(ref.text)), {}};
        for (const auto& [name, node_text] : parameters->entries)
            if (const auto* value = entry_of(node_text, "system_value"))
                old.parameters.emplace_back(stored_text(name.text),
                                            stored_text(value_text(*value)));
        old_.insert_or_assign(stored_text(ref.text), std::move(old));
    }
}

// Reads the format that save() and Puppet almost always write. Returns false if a line has any
// other form.
bool TransactionStore::read_plainly(std::string_view text) {
    constexpr std::string_view kHead = "---\nresources:\n", kParameters = "    parameters:",
                               kValue = "        system_value:", kItem = "        - ";
    if (!text.starts_with(kHead) || !text.ends_with('\n')) return false;
    BUNRAKU_ASSERT(old_.empty());
    text.remove_prefix(kHead.size());
    const auto line = [&] { return text.substr(0, text.find('\n')); };
    const auto next = [&] {
        BUNRAKU_ASSERT(line().size() < text.size() && text.ends_with('\n'));
        text.remove_prefix(line().size() + 1);
    };
    // Returns an unquoted key that is alone on its line with the given indentation.
    const auto key = [&](std::size_t indent) -> std::string_view {
        auto l = line();
        const auto at = l.find_first_not_of(' ');
        if (at != indent || l.back() != ':') return {};
        l = l.substr(indent, l.size() - indent - 1);
        const bool bare = std::isalpha(static_cast<unsigned char>(l.empty() ? '?' : l[0])) != 0;
        return bare && l.find(": ") == l.npos && l.find(" #") == l.npos ? l : std::string_view();
    };
    while (!text.empty()) {
        const auto written = line();
        std::string_view ref = key(2);
        if (ref.empty()) {
            // The key may also be quoted.
            if (!written.starts_with("  '") && !written.starts_with("  \"")) return false;
            if (!written.ends_with(':')) return false;
            auto node = codec::parse_yaml(written.substr(2, written.size() - 3), path_);
            if (!node || node->kind != NodeKind::String) return false;
            ref = stored_text(std::move(node->text));
        }
        next();
        BUNRAKU_ASSERT(written.size() >= 4 && written.ends_with(':'));
        Old old{written.substr(2, written.size() - 3), {}};
        if (!line().starts_with(kParameters)) return false;
        const bool none = line() == "    parameters: {}";
        if (!none && line() != kParameters) return false;
        next();
        for (auto name = key(6); !none && !name.empty(); name = key(6)) {
            next();
            if (!line().starts_with(kValue)) return false;
            const char* from = line().data() + kValue.size();
            const bool items = line() == kValue;
            if (!items && line()[kValue.size()] != ' ') return false;
            next();
            while (items && line().starts_with(kItem)) next();
            BUNRAKU_ASSERT(from < text.data());
            const std::string_view value(from, static_cast<std::size_t>(text.data() - from));
            BUNRAKU_ASSERT(value.ends_with('\n'));
            if (value.find_first_of("|>&*!") != value.npos) return false;
            old.parameters.emplace_back(name, value);
        }
        old_.insert_or_assign(ref, std::move(old));
    }
    return true;
}

std::string_view TransactionStore::stored_text(std::string text) {
    return texts_.emplace_back(std::move(text));
}

base::Result<void> TransactionStore::save() const {
    BUNRAKU_ASSERT(positions_.size() == new_.size());
    std::string out = "---\nresources:";
    if (new_.empty()) out += " {}";
    out += '\n';
    for (const auto& resource : new_) {
        out.append("  ").append(resource.written).append(":\n    parameters:\n");
        for (const auto& [name, text] : resource.parameters) {
            out.append("      ").append(yaml_scalar(name));
            BUNRAKU_ASSERT(text.ends_with('\n') &&
                           (text.starts_with(' ') || text.starts_with('\n')));
            out.append(":\n        system_value:").append(text);
        }
    }
    return context_.system.files.replace(path_, out, {.mode = 0660});
}

std::optional<std::string_view> TransactionStore::old_text(const std::string& ref,
                                                           std::string_view property) const {
    const auto it = old_.find(ref);
    if (it == old_.end()) return std::nullopt;
    for (const auto& [name, text] : it->second.parameters)
        if (name == property && !base::trim(text).empty()) return text;
    return std::nullopt;
}

std::optional<std::vector<Value>> TransactionStore::system_value(const std::string& ref,
                                                                 std::string_view property) const {
    const auto text = old_text(ref, property);
    const auto node = text ? codec::parse_yaml(*text, path_)
                           : base::Result<YamlNode>(base::failure("nothing is kept"));
    if (!node || node->kind == NodeKind::Null) return std::nullopt;
    const Value all = value::from_yaml(context_.arena, *node, [&](const YamlNode& n, bool) {
        const std::string_view node_text = n.text;
        return context_.string(n.symbol ? node_text.substr(1) : node_text);
    });
    if (!all.is_array()) return std::vector<Value>{all};
    return std::vector<Value>(all.as_array().begin(), all.as_array().end());
}

TransactionStore::New& TransactionStore::fresh(const std::string& ref) {
    // Consecutive calls often concern properties of the same resource.
    BUNRAKU_ASSERT(positions_.size() == new_.size());
    if (!new_.empty() && last_ == ref) {
        BUNRAKU_ASSERT(positions_.at(ref) + 1 == new_.size());
        return new_.back();
    }
    const auto [it, made] = positions_.try_emplace(ref, new_.size());
    BUNRAKU_ASSERT(made ? it->second == new_.size() : it->second < new_.size());
    if (!made) return new_[it->second];
    const auto old = old_.find(ref);
    last_ = ref;
    return new_.emplace_back(
        New{old == old_.end() ? yaml_scalar(ref) : std::string(old->second.written), {}});
}

void TransactionStore::store_values(const std::string& ref, std::string_view property,
                                    const std::vector<Value>& values,
                                    const std::function<bool(const Value&)>& symbol) {
    YamlNode node;
    node.kind = NodeKind::Sequence;
    for (const Value& v : values) node.items.push_back(node_of(v, symbol));
    fresh(ref).parameters.emplace_back(property, value_text(node));
}

void TransactionStore::retain(const std::string& ref, std::string_view property) {
    if (const auto text = old_text(ref, property))
        fresh(ref).parameters.emplace_back(property, *text);
}

void TransactionStore::retain(const std::string& ref) {
    const auto it = old_.find(ref);
    if (it == old_.end()) return;
    auto& parameters = fresh(ref).parameters;
    parameters.assign(it->second.parameters.begin(), it->second.parameters.end());
}

}  // namespace bunraku::apply
