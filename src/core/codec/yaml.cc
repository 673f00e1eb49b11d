// SPDX-License-Identifier: Apache-2.0
#include "core/codec/yaml.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <unordered_map>
#include <yaml.h>

#include "core/codec/base64.h"
#include "core/codec/yaml_nodes.h"

namespace bunraku::codec {
namespace {

constexpr std::size_t kMaxNodes = 2'000'000;  // aliases can expand a small text into many nodes
constexpr int kMaxDepth = 200;

struct Event {
    yaml_event_t event{};
    ~Event() { yaml_event_delete(&event); }
};

class Reader {
public:
    Reader(std::string_view text, std::string_view file, YamlDates dates,
           std::string_view permitted)
        : file_(file), dates_(dates), permitted_(permitted) {
        yaml_parser_initialize(&parser_);
        yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
        // libyaml asserts that the input pointer is not null, but an empty view may have a null
        // pointer.
        const char* input = text.empty() ? "" : text.data();
        yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(input),
                                     text.size());
    }
    ~Reader() { yaml_parser_delete(&parser_); }
    Reader(const Reader&) = delete;

    base::Result<YamlNode> document() {
        while (true) {
            Event e;
            if (!next(e)) return failure();
            switch (e.event.type) {
                case YAML_STREAM_END_EVENT: return YamlNode{};
                case YAML_STREAM_START_EVENT:
                case YAML_DOCUMENT_START_EVENT: continue;
                default: {
                    YamlNode root;
                    if (!node(e, root, 0)) return failure();
                    Event end;  // the document must also be valid after the node
                    if (!next(end)) return failure();
                    return root;
                }
            }
        }
    }

private:
    bool next(Event& e) { return yaml_parser_parse(&parser_, &e.event) != 0; }

    std::unexpected<base::Error> failure() {
        if (!own_error_.empty()) {
            if (bare_error_) return base::failure(own_error_);
            return base::failure(fmt::format("({}): {}", file_, own_error_));
        }
        const char* problem = parser_.problem ? parser_.problem : "unknown problem";
        const char* context = parser_.context ? parser_.context : "";
        std::size_t line = parser_.context_mark.line + 1, column = parser_.context_mark.column + 1;
        if (parser_.error == YAML_READER_ERROR) line = column = 0;
        std::string text = fmt::format("({}): {}", file_, problem);
        if (*context) text += fmt::format(" {}", context);
        return base::failure(text + fmt::format(" at line {} column {}", line, column));
    }

    bool refuse(std::string text) {
        own_error_ = std::move(text);
        return false;
    }

    void remember(const yaml_char_t* anchor, const YamlNode& n) {
        if (anchor) anchors_[reinterpret_cast<const char*>(anchor)] = n;
    }

    static std::size_t count(const YamlNode& n) {
        std::size_t total = 1;
        for (const auto& item : n.items) total += count(item);
        for (const auto& [k, v] : n.entries) total += count(k) + count(v);
        return total;
    }

    bool node(Event& e, YamlNode& out, int depth) {
        if (depth > kMaxDepth) return refuse("nested too deeply");
        if (++nodes_ > kMaxNodes) return refuse("too many nodes");
        switch (e.event.type) {
            case YAML_ALIAS_EVENT: return alias(e, out);
            case YAML_SCALAR_EVENT: return scalar(e, out);
            case YAML_SEQUENCE_START_EVENT: return sequence(e, out, depth);
            case YAML_MAPPING_START_EVENT: return mapping(e, out, depth);
            default: return refuse("unexpected event");
        }
    }

    bool alias(const Event& e, YamlNode& out) {
        const std::string name(reinterpret_cast<const char*>(e.event.data.alias.anchor));
        const auto it = anchors_.find(name);
        if (it == anchors_.end()) {
            bare_error_ = true;
            return refuse(fmt::format("Unknown alias: {}", name));
        }
        nodes_ += count(it->second);
        if (nodes_ > kMaxNodes) return refuse("too many nodes");
        out = it->second;
        return true;
    }

    bool scalar(const Event& e, YamlNode& out) {
        const auto& event = e.event.data.scalar;
        const std::string_view text(reinterpret_cast<const char*>(event.value), event.length);
        const std::string_view tag =
            event.tag ? std::string_view(reinterpret_cast<const char*>(event.tag))
                      : std::string_view();
        if (!event.plain_implicit && event.quoted_implicit) {
            out = make_text(text);
        } else if (tag.empty()) {
            out = resolve_yaml_scalar(text);
        } else if (tag == "tag:yaml.org,2002:str" || tag == "!str" || tag.starts_with("!str:")) {
            out = make_text(text);
        } else if (tag == "tag:yaml.org,2002:float" || tag == "!float") {
            out = float_of(text);
        } else if (tag == "tag:yaml.org,2002:binary" || tag == "!binary") {
            out = make_text(base64_decode(text, Base64::Lines).value_or(std::string()));
        } else if (tag.starts_with("!ruby/sym")) {
            out = make_symbol(text);
        } else if (tag == "!ruby/string") {
            out = make_text(text);
        } else if (tag.starts_with("!ruby/")) {
            return refuse(fmt::format("Tried to load unspecified class: {}", ruby_class(tag)));
        } else {
            out = resolve_yaml_scalar(text);
        }
        if (dates_ == YamlDates::Refuse && (out.date || out.time)) {
            return refuse(
                fmt::format("Tried to load unspecified class: {}", out.date ? "Date" : "Time"));
        }
        remember(event.anchor, out);
        return true;
    }

    bool sequence(const Event& e, YamlNode& out, int depth) {
        out.kind = YamlNode::Kind::Sequence;
        const std::string anchor = anchor_text(e.event.data.sequence_start.anchor);
        while (true) {
            Event item;
            if (!next(item)) return false;
            if (item.event.type == YAML_SEQUENCE_END_EVENT) break;
            out.items.emplace_back();
            if (!node(item, out.items.back(), depth + 1)) return false;
        }
        if (is_tag(e.event.data.sequence_start.tag, "omap")) make_ordered_map(out);
        if (!anchor.empty()) anchors_[anchor] = out;
        return true;
    }

    bool mapping(const Event& e, YamlNode& out, int depth) {
        out.kind = YamlNode::Kind::Mapping;
        constexpr std::string_view kObject = "!ruby/object:";
        const auto* tag = reinterpret_cast<const char*>(e.event.data.mapping_start.tag);
        if (dates_ == YamlDates::Refuse && is_tag(e.event.data.mapping_start.tag, "set"))
            return refuse("Tried to load unspecified class: Psych::Set");
        if (tag && std::string_view(tag).starts_with(kObject) &&
            std::string_view(tag).substr(kObject.size()) != permitted_) {
            return refuse(fmt::format("Tried to load unspecified class: {}", tag + kObject.size()));
        }
        const std::string anchor = anchor_text(e.event.data.mapping_start.anchor);
        Members members(out);
        while (true) {
            Event key;
            if (!next(key)) return false;
            if (key.event.type == YAML_MAPPING_END_EVENT) break;
            YamlNode k, v;
            const auto* key_tag =
                key.event.type == YAML_SCALAR_EVENT ? key.event.data.scalar.tag : nullptr;
            const bool may_merge =
                !(key_tag && std::string_view(reinterpret_cast<const char*>(key_tag)) ==
                                 "tag:yaml.org,2002:str");
            if (!node(key, k, depth + 1)) return false;
            Event value;
            if (!next(value)) return false;
            const bool is_alias = value.event.type == YAML_ALIAS_EVENT;
            if (!node(value, v, depth + 1)) return false;
            if (may_merge && k.kind == YamlNode::Kind::String && !k.symbol && k.text == "<<" &&
                merge(members, v, is_alias))
                continue;
            members.set(std::move(k), std::move(v));
        }
        if (!anchor.empty()) anchors_[anchor] = out;
        return true;
    }

    static bool is_tag(const yaml_char_t* tag, std::string_view name) {
        if (!tag) return false;
        std::string_view text(reinterpret_cast<const char*>(tag));
        for (const std::string_view prefix : {"tag:yaml.org,2002:", "!"})
            if (text.starts_with(prefix) && text.substr(prefix.size()) == name) return true;
        return false;
    }

    /// Turns a sequence of single-entry mappings into one mapping, as Psych reads !!omap.
    static void make_ordered_map(YamlNode& n) {
        YamlNode out;
        out.kind = YamlNode::Kind::Mapping;
        Members members(out);
        for (auto& item : n.items)
            for (auto& [k, v] : item.entries) members.set(std::move(k), std::move(v));
        n = std::move(out);
    }

    /// Returns the class that one of Ruby's own tags names.
    static std::string_view ruby_class(std::string_view tag) {
        const auto colon = tag.find(':');
        if (colon != std::string_view::npos) return tag.substr(colon + 1);
        if (tag == "!ruby/regexp") return "Regexp";
        if (tag == "!ruby/range") return "Range";
        if (tag == "!ruby/class") return "Class";
        if (tag == "!ruby/module") return "Module";
        return tag.substr(6);
    }

    static std::string anchor_text(const yaml_char_t* anchor) {
        return anchor ? reinterpret_cast<const char*>(anchor) : "";
    }

    static YamlNode float_of(std::string_view text) {
        YamlNode n = resolve_yaml_scalar(text);
        if (n.kind == YamlNode::Kind::Integer) {
            n.kind = YamlNode::Kind::Float;
            n.number = static_cast<double>(n.integer);
        }
        return n;
    }

    static bool same(const YamlNode& a, const YamlNode& b) {
        return a.kind == b.kind && a.text == b.text && a.symbol == b.symbol &&
               a.integer == b.integer && a.boolean == b.boolean && a.number == b.number &&
               a.items.empty() && b.items.empty() && a.entries.empty() && b.entries.empty();
    }

    /// The entries of a mapping, with an index of their keys if there are many.
    class Members {
    public:
        explicit Members(YamlNode& mapping) : mapping_(mapping) {}
        void set(YamlNode key, YamlNode value) {
            auto& entries = mapping_.entries;
            const bool text = key.kind == YamlNode::Kind::String && !key.symbol;
            if (text && entries.size() >= kIndexFrom) {
                if (index_.empty()) {
                    for (std::size_t i = 0; i < entries.size(); ++i) {
                        const YamlNode& k = entries[i].first;
                        if (k.kind == YamlNode::Kind::String && !k.symbol) index_[k.text] = i;
                    }
                }
                const auto [it, fresh] = index_.try_emplace(key.text, entries.size());
                if (!fresh) {
                    entries[it->second].second = std::move(value);
                    return;
                }
            } else {
                for (auto& [k, v] : entries) {
                    if (!same(k, key)) continue;
                    v = std::move(value);
                    return;
                }
            }
            entries.emplace_back(std::move(key), std::move(value));
        }

    private:
        static constexpr std::size_t kIndexFrom = 12;
        YamlNode& mapping_;
        std::unordered_map<std::string, std::size_t> index_;
    };

    /// Merges "<<: *a" or "<<: [*a, *b]". Returns false if the value has neither form.
    static bool merge(Members& into, const YamlNode& from, bool alias) {
        if (from.kind == YamlNode::Kind::Mapping) {
            for (const auto& [k, v] : from.entries) into.set(k, v);
            return true;
        }
        if (from.kind != YamlNode::Kind::Sequence || alias) return false;
        if (!std::all_of(from.items.begin(), from.items.end(),
                         [](const auto& n) { return n.kind == YamlNode::Kind::Mapping; })) {
            return false;
        }
        for (auto it = from.items.rbegin(); it != from.items.rend(); ++it) merge(into, *it, false);
        return true;
    }

    std::string_view file_;
    YamlDates dates_;
    std::string_view permitted_;
    yaml_parser_t parser_{};
    std::map<std::string, YamlNode> anchors_;
    std::size_t nodes_ = 0;
    std::string own_error_;
    bool bare_error_ = false;  ///< true if Psych's error does not name the file
};

}  // namespace

const YamlNode* find_member(const YamlNode* node, std::string_view name) {
    if (!node || node->kind != YamlNode::Kind::Mapping) return nullptr;
    for (const auto& [key, value] : node->entries) {
        if (key.text == name) return &value;
    }
    return nullptr;
}

base::Result<YamlNode> parse_yaml(std::string_view text, std::string_view file, YamlDates dates,
                                  std::string_view permitted) {
    return Reader(text, file, dates, permitted).document();
}

}  // namespace bunraku::codec
