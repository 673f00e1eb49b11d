#include "codec/yaml.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <yaml.h>

namespace bunraku::codec {
namespace {

constexpr std::size_t kMaxNodes = 2'000'000;  // aliases may multiply a small text
constexpr int kMaxDepth = 200;

bool digit(char c) { return c >= '0' && c <= '9'; }

/// [-+]?(digits with "_" or ",") in base 10, 0x.., 0b.., 0..(octal); nullopt where it is none or
/// too large.
std::optional<std::int64_t> as_integer(std::string_view s) {
    std::string clean;
    bool negative = false;
    if (s.starts_with('-') || s.starts_with('+')) {
        negative = s[0] == '-';
        s.remove_prefix(1);
    }
    int base = 10;
    if (s.starts_with("0x"))
        base = 16, s.remove_prefix(2);
    else if (s.starts_with("0b"))
        base = 2, s.remove_prefix(2);
    else if (s.starts_with("0o"))
        base = 8, s.remove_prefix(2);
    else if (s.size() > 1 && s[0] == '0')
        base = 8, s.remove_prefix(1);
    if (s.empty() || s[0] == '_' || s[0] == ',') {
        if (!(base == 8 && s.starts_with('_'))) return std::nullopt;
    }
    for (char c : s) {
        if (c == '_' || (c == ',' && base == 10)) continue;
        const bool fits = base == 16 ? std::isxdigit(static_cast<unsigned char>(c)) != 0
                                     : c >= '0' && c < '0' + (base == 10 ? 10 : base);
        if (!fits) return std::nullopt;
        clean += c;
    }
    if (clean.empty()) return std::nullopt;
    errno = 0;
    char* end = nullptr;
    const unsigned long long n = std::strtoull(clean.c_str(), &end, base);
    const auto limit = static_cast<unsigned long long>(std::numeric_limits<std::int64_t>::max());
    if (errno != 0 || *end != '\0' || n > limit + (negative ? 1 : 0)) return std::nullopt;
    return negative ? static_cast<std::int64_t>(0 - n) : static_cast<std::int64_t>(n);
}

/// [-+]?([0-9][0-9_,]*)?\.[0-9]*([eE][+-][0-9]+)? and 1e3; the pattern of Psych's FLOAT.
std::optional<double> as_float(std::string_view s) {
    std::string clean;
    std::size_t i = 0;
    if (i < s.size() && (s[i] == '-' || s[i] == '+')) clean += s[i++];
    std::size_t whole = 0, fraction = 0;
    while (i < s.size() && (digit(s[i]) || ((s[i] == '_' || s[i] == ',') && whole > 0))) {
        if (digit(s[i])) clean += s[i];
        ++whole;
        ++i;
    }
    bool dot = false;
    if (i < s.size() && s[i] == '.') {
        dot = true;
        clean += s[i++];
        while (i < s.size() && (digit(s[i]) || s[i] == '_')) {
            if (digit(s[i])) clean += s[i], ++fraction;
            ++i;
        }
    }
    bool exponent = false;
    if (i < s.size() && (s[i] == 'e' || s[i] == 'E') && (whole || fraction)) {
        std::size_t k = i + 1;
        if (k < s.size() && (s[k] == '-' || s[k] == '+')) ++k;
        if (k < s.size() && digit(s[k])) {
            exponent = true;
            while (k < s.size() && digit(s[k])) ++k;
            clean += s.substr(i, k - i);
            i = k;
        }
    }
    if (i != s.size() || (whole == 0 && fraction == 0) || (!dot && !exponent)) return std::nullopt;
    return std::strtod(clean.c_str(), nullptr);
}

bool one_of(std::string_view s, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), s) != words.end();
}

YamlNode make_text(std::string_view s) {
    YamlNode n;
    n.kind = YamlNode::Kind::String;
    n.text = std::string(s);
    return n;
}

/// 190:20:30, base 60, as Psych still reads it.
std::optional<std::int64_t> as_sexagesimal(std::string_view s) {
    bool negative = false;
    if (s.starts_with('-') || s.starts_with('+')) {
        negative = s[0] == '-';
        s.remove_prefix(1);
    }
    if (s.empty() || s[0] < '0' || s[0] > '9' || s.find(':') == std::string_view::npos)
        return std::nullopt;
    std::int64_t total = 0;
    int part = 0, digits = 0, parts = 0;
    for (std::size_t i = 0; i <= s.size(); ++i) {
        if (i == s.size() || s[i] == ':') {
            if (digits == 0 || (parts > 0 && (digits > 2 || part > 59))) return std::nullopt;
            if (total > (std::numeric_limits<std::int64_t>::max() - 60) / 60) return std::nullopt;
            total = total * 60 + part;
            ++parts;
            part = digits = 0;
            continue;
        }
        if (s[i] == '_' && parts == 0) continue;
        if (!digit(s[i]) || digits > 8) return std::nullopt;
        part = part * 10 + (s[i] - '0');
        ++digits;
    }
    return negative ? -total : total;
}

struct Event {
    yaml_event_t event{};
    ~Event() { yaml_event_delete(&event); }
};

class Reader {
public:
    Reader(std::string_view text, std::string_view file) : file_(file) {
        yaml_parser_initialize(&parser_);
        yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
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
                    Event end;  // what follows the node must be sound up to the document's end
                    if (!next(end)) return failure();
                    return root;
                }
            }
        }
    }

private:
    bool next(Event& e) { return yaml_parser_parse(&parser_, &e.event) != 0; }

    std::unexpected<base::Error> failure() {
        if (!own_error_.empty()) return base::failure(fmt::format("({}): {}", file_, own_error_));
        const char* problem = parser_.problem ? parser_.problem : "unknown problem";
        const char* context = parser_.context ? parser_.context : "";
        std::size_t line = parser_.problem_mark.line + 1, column = parser_.problem_mark.column + 1;
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
            case YAML_ALIAS_EVENT: {
                const std::string name(reinterpret_cast<const char*>(e.event.data.alias.anchor));
                const auto it = anchors_.find(name);
                if (it == anchors_.end()) return refuse(fmt::format("Unknown alias: {}", name));
                nodes_ += count(it->second);
                if (nodes_ > kMaxNodes) return refuse("too many nodes");
                out = it->second;
                return true;
            }
            case YAML_SCALAR_EVENT: {
                const auto& scalar = e.event.data.scalar;
                const std::string_view text(reinterpret_cast<const char*>(scalar.value),
                                            scalar.length);
                const std::string_view tag =
                    scalar.tag ? std::string_view(reinterpret_cast<const char*>(scalar.tag))
                               : std::string_view();
                if (tag == "!" || tag == "tag:yaml.org,2002:str" || tag == "!str")
                    out = make_text(text);
                else if (tag == "tag:yaml.org,2002:float")
                    out = float_of(text);
                else if (tag == "tag:yaml.org,2002:binary")
                    out = make_text(text);
                else if (scalar.plain_implicit || !tag.empty())
                    out = resolve_yaml_scalar(text);
                else
                    out = make_text(text);
                if (tag.starts_with("!ruby/sym"))
                    out = make_text(":" + std::string(text));
                else if (tag.starts_with("!ruby/")) {
                    return refuse(
                        fmt::format("Tried to load unspecified class: {}", tag.substr(6)));
                }
                remember(scalar.anchor, out);
                return true;
            }
            case YAML_SEQUENCE_START_EVENT: {
                out.kind = YamlNode::Kind::Sequence;
                const std::string anchor = anchor_text(e.event.data.sequence_start.anchor);
                while (true) {
                    Event item;
                    if (!next(item)) return false;
                    if (item.event.type == YAML_SEQUENCE_END_EVENT) break;
                    out.items.emplace_back();
                    if (!node(item, out.items.back(), depth + 1)) return false;
                }
                if (!anchor.empty()) anchors_[anchor] = out;
                return true;
            }
            case YAML_MAPPING_START_EVENT: {
                out.kind = YamlNode::Kind::Mapping;
                const auto* tag = e.event.data.mapping_start.tag;
                if (tag && std::string_view(reinterpret_cast<const char*>(tag))
                               .starts_with("!ruby/object:")) {
                    return refuse(fmt::format("Tried to load unspecified class: {}",
                                              reinterpret_cast<const char*>(tag) + 13));
                }
                const std::string anchor = anchor_text(e.event.data.mapping_start.anchor);
                while (true) {
                    Event key;
                    if (!next(key)) return false;
                    if (key.event.type == YAML_MAPPING_END_EVENT) break;
                    YamlNode k, v;
                    const bool plain_merge = key.event.type == YAML_SCALAR_EVENT &&
                                             key.event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
                    if (!node(key, k, depth + 1)) return false;
                    Event value;
                    if (!next(value) || !node(value, v, depth + 1)) return false;
                    if (plain_merge && k.kind == YamlNode::Kind::String && k.text == "<<" &&
                        merge(out, v))
                        continue;
                    set(out, std::move(k), std::move(v));
                }
                if (!anchor.empty()) anchors_[anchor] = out;
                return true;
            }
            default: return refuse("unexpected event");
        }
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
        return a.kind == b.kind && a.text == b.text && a.integer == b.integer &&
               a.boolean == b.boolean && a.number == b.number && a.items.empty() &&
               b.items.empty() && a.entries.empty() && b.entries.empty();
    }

    static void set(YamlNode& mapping, YamlNode key, YamlNode value) {
        // Linear for small mappings; a large one pays for its order with this scan only on scalars'
        // equality.
        for (auto& [k, v] : mapping.entries) {
            if (same(k, key)) {
                v = std::move(value);
                return;
            }
        }
        mapping.entries.emplace_back(std::move(key), std::move(value));
    }

    /// "<<: *a" and "<<: [*a, *b]"; false where the value is neither.
    static bool merge(YamlNode& into, const YamlNode& from) {
        if (from.kind == YamlNode::Kind::Mapping) {
            for (const auto& [k, v] : from.entries) set(into, k, v);
            return true;
        }
        if (from.kind != YamlNode::Kind::Sequence) return false;
        if (!std::all_of(from.items.begin(), from.items.end(),
                         [](const auto& n) { return n.kind == YamlNode::Kind::Mapping; })) {
            return false;
        }
        for (auto it = from.items.rbegin(); it != from.items.rend(); ++it) merge(into, *it);
        return true;
    }

    std::string_view file_;
    yaml_parser_t parser_{};
    std::map<std::string, YamlNode> anchors_;
    std::size_t nodes_ = 0;
    std::string own_error_;
};

}  // namespace

YamlNode resolve_yaml_scalar(std::string_view s) {
    YamlNode n;
    if (s.empty() || s == "~" || one_of(s, {"null", "Null", "NULL"})) return n;
    if (one_of(s, {"yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) {
        n.kind = YamlNode::Kind::Boolean;
        n.boolean = true;
        return n;
    }
    if (one_of(s, {"no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) {
        n.kind = YamlNode::Kind::Boolean;
        return n;
    }
    const char first = s[0];
    const bool numeric = digit(first) || first == '-' || first == '+' || first == '.';
    if (!numeric) {
        if (first == ':' && s.size() > 2 && (s[1] == '"' || s[1] == '\'') && s.back() == s[1]) {
            return make_text(":" + std::string(s.substr(2, s.size() - 3)));
        }
        return make_text(s);
    }
    if (const auto i = as_integer(s)) {
        n.kind = YamlNode::Kind::Integer;
        n.integer = *i;
        return n;
    }
    if (one_of(s, {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"})) {
        n.kind = YamlNode::Kind::Float;
        n.number = std::numeric_limits<double>::infinity();
        return n;
    }
    if (one_of(s, {"-.inf", "-.Inf", "-.INF"})) {
        n.kind = YamlNode::Kind::Float;
        n.number = -std::numeric_limits<double>::infinity();
        return n;
    }
    if (one_of(s, {".nan", ".NaN", ".NAN"})) {
        n.kind = YamlNode::Kind::Float;
        n.number = std::numeric_limits<double>::quiet_NaN();
        return n;
    }
    if (const auto sixty = as_sexagesimal(s)) {
        n.kind = YamlNode::Kind::Integer;
        n.integer = *sixty;
        return n;
    }
    // Psych 4 wants a point in a float, and a sign in its exponent: "1e3" and "1.5e3" are strings.
    const std::size_t e = s.find_first_of("eE");
    const bool exponent_fits =
        e == std::string_view::npos || (s.substr(0, e).find('.') != std::string_view::npos &&
                                        e + 1 < s.size() && (s[e + 1] == '-' || s[e + 1] == '+'));
    if (const auto d = exponent_fits ? as_float(s) : std::nullopt) {
        n.kind = YamlNode::Kind::Float;
        n.number = *d;
        return n;
    }
    return make_text(s);
}

base::Result<YamlNode> parse_yaml(std::string_view text, std::string_view file) {
    return Reader(text, file).document();
}

}  // namespace bunraku::codec
