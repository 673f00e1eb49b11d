#include "resources/apply/transaction_store.h"

#include <cctype>
#include <fmt/format.h>

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

/// Behind "system_value:".
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
        all = kept(std::move(*text));
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

// Whatever Puppet or people wrote.
void TransactionStore::read_any(const YamlNode& resources) {
    for (const auto& [ref, resource] : resources.entries) {
        const auto* parameters = entry_of(resource, "parameters");
        if (!parameters) continue;
        Old old{kept(yaml_scalar(ref.text)), {}};
        for (const auto& [name, said] : parameters->entries)
            if (const auto* value = entry_of(said, "system_value"))
                old.parameters.emplace_back(kept(name.text), kept(value_text(*value)));
        old_.insert_or_assign(kept(ref.text), std::move(old));
    }
}

// As save() and Puppet write nearly always; false where a line is anything else.
bool TransactionStore::read_plainly(std::string_view text) {
    constexpr std::string_view kHead = "---\nresources:\n", kParameters = "    parameters:",
                               kValue = "        system_value:", kItem = "        - ";
    if (!text.starts_with(kHead) || !text.ends_with('\n')) return false;
    text.remove_prefix(kHead.size());
    const auto line = [&] { return text.substr(0, text.find('\n')); };
    const auto next = [&] { text.remove_prefix(line().size() + 1); };
    // A key alone on its line, `indent` deep, that needs no reading.
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
            // In quotes it may stand, too.
            if (!written.starts_with("  '") && !written.starts_with("  \"")) return false;
            if (!written.ends_with(':')) return false;
            auto node = codec::parse_yaml(written.substr(2, written.size() - 3), path_);
            if (!node || node->kind != NodeKind::String) return false;
            ref = kept(std::move(node->text));
        }
        next();
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
            const std::string_view value(from, static_cast<std::size_t>(text.data() - from));
            if (value.find_first_of("|>&*!") != value.npos) return false;
            old.parameters.emplace_back(name, value);
        }
        old_.insert_or_assign(ref, std::move(old));
    }
    return true;
}

std::string_view TransactionStore::kept(std::string text) {
    return texts_.emplace_back(std::move(text));
}

base::Result<void> TransactionStore::save() const {
    std::string out = "---\nresources:";
    if (new_.empty()) out += " {}";
    out += '\n';
    for (const auto& resource : new_) {
        out.append("  ").append(resource.written).append(":\n    parameters:\n");
        for (const auto& [name, text] : resource.parameters) {
            out.append("      ").append(yaml_scalar(name));
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
        const std::string_view said = n.text;
        return context_.string(n.symbol ? said.substr(1) : said);
    });
    if (!all.is_array()) return std::vector<Value>{all};
    return std::vector<Value>(all.as_array().begin(), all.as_array().end());
}

TransactionStore::New& TransactionStore::fresh(const std::string& ref) {
    // Properties of a resource come together.
    if (!new_.empty() && last_ == ref) return new_.back();
    const auto [it, made] = places_.try_emplace(ref, new_.size());
    if (!made) return new_[it->second];
    const auto old = old_.find(ref);
    last_ = ref;
    return new_.emplace_back(
        New{old == old_.end() ? yaml_scalar(ref) : std::string(old->second.written), {}});
}

void TransactionStore::keep(const std::string& ref, std::string_view property,
                            const std::vector<Value>& values,
                            const std::function<bool(const Value&)>& symbol) {
    YamlNode node;
    node.kind = NodeKind::Sequence;
    for (const Value& v : values) node.items.push_back(node_of(v, symbol));
    fresh(ref).parameters.emplace_back(property, value_text(node));
}

void TransactionStore::keep_old(const std::string& ref, std::string_view property) {
    if (const auto text = old_text(ref, property))
        fresh(ref).parameters.emplace_back(property, *text);
}

void TransactionStore::keep_old(const std::string& ref) {
    const auto it = old_.find(ref);
    if (it == old_.end()) return;
    auto& parameters = fresh(ref).parameters;
    parameters.assign(it->second.parameters.begin(), it->second.parameters.end());
}

}  // namespace bunraku::apply
