// SPDX-License-Identifier: Apache-2.0
// Functions on patterns: match, regsubst, split, scanf, versioncmp.
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <optional>

#include "core/base/text.h"
#include "core/base/text_view.h"
#include "core/regex/regex.h"
#include "language/function/support.h"
#include "language/types/kinds.h"

namespace bunraku::function {
namespace {

using value::Kind;

Value match_regex(const Call& call, const Value& whole, const regex::Regex& re) {
    const std::string_view subject = whole.as_string();
    const auto m = re.search(subject);
    if (!m) return Value::undef();
    std::vector<Value> out;
    for (std::size_t i = 0; i < m->groups.size(); ++i) {
        out.push_back(m->took_part(i) ? text(call, m->group(subject, i), whole) : Value::undef());
    }
    return list(call, out);
}

/// Returns the name of the type in Puppet::Pops::Types::PIntegerType without its prefix: "Integer".
std::string type_class(const types::Type& t) {
    const std::string text = t.to_string();
    return text.substr(0, text.find('['));
}

Value match_one(const Call& call, const Value& subject, const Value& pattern) {
    if (pattern.is_string() || pattern.is(Kind::Regexp))
        return match_regex(call, subject, pattern_of(call, pattern));
    if (pattern.is_array()) {
        std::vector<Value> flat;
        flatten_into(flat, pattern.as_array());
        for (const Value& p : flat) {
            if (const Value r = match_one(call, subject, p); r.truthy()) return r;
        }
        return Value::undef();
    }
    if (pattern.is_type()) {
        const types::Type* t = pattern.as_type();
        switch (t->kind) {
            case types::TypeKind::TypeAlias:
                return match_one(
                    call, subject,
                    Value::type(static_cast<const types::TypeAliasType*>(t)->resolved));
            case types::TypeKind::Regexp:
                if (!static_cast<const types::RegexpType*>(t)->rep) {
                    argument_error("Given Regexp Type has no regular expression");
                }
                return match_regex(call, subject, pattern_of(call, pattern));
            case types::TypeKind::Variant:
                for (const auto* member : static_cast<const types::VariantType*>(t)->types) {
                    if (const Value r = match_one(call, subject, Value::type(member)); r.truthy())
                        return r;
                }
                return Value::undef();
            case types::TypeKind::Pattern:
                for (const auto* member : static_cast<const types::PatternType*>(t)->patterns) {
                    if (const Value r = match_one(call, subject, Value::type(member)); r.truthy())
                        return r;
                }
                return Value::undef();
            default: break;
        }
        argument_error(
            "match() expects pattern of T, where T is String, Regexp, Regexp[r], Pattern[p], or "
            "Array[T]. "
            "Got {}",
            "Puppet::Pops::Types::P" + type_class(*t) + "Type");
    }
    argument_error(
        "match() expects pattern of T, where T is String, Regexp, Regexp[r], Pattern[p], or "
        "Array[T]. "
        "Got {}",
        ruby_class(pattern));
}

Value match_string(const Call& call) { return match_one(call, call[0], call[1]); }
Value match_array(const Call& call) {
    std::vector<Value> out;
    for (const Value& s : call[0].as_array()) out.push_back(match_one(call, s, call[1]));
    return list(call, out);
}

// --- regsubst ---

/// Expands \0..\9, \k<name>, \&, \`, \', \\ of a replacement string.
void expand(std::string& out, std::string_view replacement, std::string_view subject,
            const regex::Match& m, const regex::Regex& re) {
    for (std::size_t i = 0; i < replacement.size(); ++i) {
        if (replacement[i] != '\\' || i + 1 == replacement.size()) {
            out += replacement[i];
            continue;
        }
        const char c = replacement[++i];
        if (c >= '0' && c <= '9') {
            out += m.group(subject, static_cast<std::size_t>(c - '0'));
        } else if (c == '&') {
            out += m.group(subject, 0);
        } else if (c == '`') {
            out += subject.substr(0, m.groups[0]->first);
        } else if (c == '\'') {
            out += subject.substr(m.groups[0]->second);
        } else if (c == '\\') {
            out += '\\';
        } else if (c == 'k' && i + 1 < replacement.size() && replacement[i + 1] == '<') {
            const std::size_t end = replacement.find('>', i);
            if (end == std::string_view::npos) {
                out += "\\k";
                continue;
            }
            const std::string_view name = replacement.substr(i + 2, end - i - 2);
            bool found = false;
            for (const auto& [n, group] : re.names()) {
                if (n == name) {
                    out += m.group(subject, static_cast<std::size_t>(group));
                    found = true;
                }
            }
            if (!found) argument_error("undefined group name reference: {}", name);
            i = end;
        } else {
            out += '\\';
            out += c;
        }
    }
}

std::string substitute(std::string_view subject, const regex::Regex& re, const Value& replacement,
                       bool global) {
    std::string out;
    std::size_t at = 0;
    while (at <= subject.size()) {
        const auto m = re.search(subject, at);
        if (!m) break;
        const auto [begin, end] = *m->groups[0];
        out += subject.substr(at, begin - at);
        if (replacement.is_hash()) {
            const Value* v = replacement.as_hash().find(subject.substr(begin, end - begin));
            if (v) out += ruby_to_s(*v);
        } else {
            expand(out, replacement.as_string(), subject, *m, re);
        }
        at = end;
        if (begin == end) {  // an empty match: advance by one character
            if (at >= subject.size()) {
                at = subject.size() + 1;
                break;
            }
            do {
                out += subject[at++];
            } while (at < subject.size() &&
                     (static_cast<unsigned char>(subject[at]) & 0xC0) == 0x80);
        }
        if (!global) break;
    }
    if (at < subject.size()) out += subject.substr(at);
    return out;
}

Value regsubst_value(const Call& call, const Value& target, const regex::Regex& re, bool global) {
    if (target.is(Kind::Sensitive)) {
        const Value& inner = target.unwrap();
        const Value v = regsubst_value(call, inner, re, global);
        // A Sensitive array is returned as a plain array, as in Puppet. Its elements remain
        // wrapped.
        return inner.is_array() ? v : value::make_sensitive(call.arena(), v);
    }
    if (target.is_array()) {
        std::vector<Value> out;
        for (const Value& v : target.as_array()) out.push_back(regsubst_value(call, v, re, global));
        return list(call, out);
    }
    const std::string out = substitute(target.as_string(), re, call[2], global);
    const Value& by = call[2];
    // The encoding results from joining the retained parts of the target with the replacement.
    const bool bytes = by.is_string()
                           ? value::joined_encoding(target.as_string(), target.is_bytes(),
                                                    by.as_string(), by.is_bytes())
                           : target.is_bytes();
    return text(call, out).in_encoding(bytes);
}

Value regsubst_string(const Call& call) {
    if (call.size() > 4) {
        warn_once(call,
                  "The regsubst() function's encoding argument has been ignored since Ruby "
                  "1.9 and will be "
                  "removed in a future release");
    }
    std::uint32_t options = 0;
    bool global = false;
    if (call.at(3).is_string()) {
        for (char c : call[3].as_string()) {
            if (c == 'G') global = true;
            if (c == 'E') options |= regex::kExtended;
            if (c == 'I') options |= regex::kIgnoreCase;
            if (c == 'M') options |= regex::kMultiline;
        }
    }
    return regsubst_value(call, call[0], pattern_of(call, call[1], options), global);
}

Value regsubst_regexp(const Call& call) {
    const bool global = call.size() > 3 && call[3].as_string() == "G";
    return regsubst_value(call, call[0], pattern_of(call, call[1]), global);
}

// --- split ---

Value split_text(const Call& call, const Value& whole, const regex::Regex& re) {
    const std::string_view s = whole.as_string();
    std::vector<Value> out;
    std::size_t start = 0, at = 0;
    while (at <= s.size() && !s.empty()) {
        const auto m = re.search(s, at);
        if (!m) break;
        const auto [begin, end] = *m->groups[0];
        if (begin == end) {
            if (begin >= s.size()) break;
            std::size_t next = begin + 1;
            while (next < s.size() && (static_cast<unsigned char>(s[next]) & 0xC0) == 0x80) ++next;
            if (begin ==
                start) {  // no text before the empty match: the piece is the character itself
                if (next >= s.size()) break;
                const auto again = re.search(s, next);
                if (again && again->groups[0]->first == next && again->groups[0]->second == next) {
                    out.push_back(text(call, s.substr(start, next - start), whole));
                    start = next;
                }
                at = next;
                continue;
            }
            out.push_back(text(call, s.substr(start, begin - start), whole));
            start = begin;
            at = next;
        } else {
            out.push_back(text(call, s.substr(start, begin - start), whole));
            start = at = end;
        }
        for (std::size_t g = 1; g < m->groups.size(); ++g) {
            if (m->took_part(g)) out.push_back(text(call, m->group(s, g), whole));
        }
    }
    if (!s.empty()) out.push_back(text(call, s.substr(start), whole));
    while (!out.empty() && out.back().as_string().empty()) out.pop_back();
    return list(call, out);
}

Value split(const Call& call) {
    const regex::Regex& re = pattern_of(call, call[1]);
    if (call[0].is(Kind::Sensitive)) {
        return value::make_sensitive(call.arena(), split_text(call, call[0].unwrap(), re));
    }
    return split_text(call, call[0], re);
}

// --- scanf ---

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// Reads a text by a format, with the directives of Ruby's scanf library that are useful for
/// configuration data: d i u x o b f e g a s c [set] %.
class Scanner {
public:
    explicit Scanner(const Call& call)
        : call_(call), text_(call[0].as_string()), format_(call[1].as_string()) {}

    /// Returns the values that were read before the first part of the format that does not match.
    std::vector<Value> values() {
        for (; next_ < format_.size(); ++next_)
            if (!match()) break;
        return std::move(values_);
    }

private:
    /// Matches the part of the format that begins at `next_`, and moves `next_` to its last
    /// character.
    bool match() {
        if (is_space(format_[next_])) {
            skip_blanks();
            return true;
        }
        if (format_[next_] != '%') return match_character(format_[next_]);
        if (++next_ >= format_.size()) return false;
        if (format_[next_] == '%') {
            skip_blanks();
            return match_character('%');
        }
        const bool discard = format_[next_] == '*';
        if (discard) ++next_;
        width_ = 0;
        while (next_ < format_.size() && std::isdigit(static_cast<unsigned char>(format_[next_]))) {
            const auto digit = static_cast<std::size_t>(format_[next_++] - '0');
            width_ = std::min<std::size_t>(width_ * 10 + digit, 1 << 20);
        }
        if (next_ >= format_.size()) return false;
        const auto value = read(format_[next_]);
        if (value && !discard) values_.push_back(*value);
        return value.has_value();
    }

    bool match_character(char c) {
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    /// Reads the value of a directive. Returns nullopt if the text does not match it.
    std::optional<Value> read(char type) {
        if (type == 'c') {
            const auto piece = text_.substr(at_, width_ ? width_ : 1);
            at_ += piece.size();
            return text_value(piece);
        }
        if (type == '[') return read_set();
        skip_blanks();
        if (type == 's') return text_value(take_while([](char c) { return !is_space(c); }));
        if (std::string_view("dixXuob").find(type) != std::string_view::npos)
            return read_integer(type);
        if (std::string_view("fFeEgGaA").find(type) != std::string_view::npos) return read_float();
        return std::nullopt;
    }

    std::optional<Value> read_set() {
        const bool negated = next_ + 1 < format_.size() && format_[next_ + 1] == '^';
        const std::size_t end = format_.find(']', next_ + (negated ? 3 : 2));
        if (end == std::string_view::npos) return std::nullopt;
        auto set = regex::Regex::cached(std::string(format_.substr(next_, end - next_ + 1)));
        if (!set) throw base::PuppetError(set.error().message);
        next_ = end;
        return text_value(
            take_while([&](char c) { return (*set)->matches(std::string_view(&c, 1)); }));
    }

    std::optional<Value> read_integer(char type) {
        const int base = type == 'd' || type == 'u' ? 10
                         : type == 'o'              ? 8
                         : type == 'b'              ? 2
                         : type == 'i'              ? 0
                                                    : 16;
        const std::string rest(text_.substr(at_, limit()));
        const char* from = rest.c_str();
        char* end = nullptr;
        errno = 0;
        long long n = std::strtoll(from, &end, base);
        if (base == 2 && (rest.starts_with("0b") || rest.starts_with("0B"))) {
            n = std::strtoll(from + 2, &end, 2);
        }
        if (errno == ERANGE) argument_error("scanf(): an integer of '{}' is beyond 64 bits", rest);
        if (end == from) return std::nullopt;
        at_ += static_cast<std::size_t>(end - from);
        return Value::integer(n);
    }

    std::optional<Value> read_float() {
        const std::string rest(text_.substr(at_, limit()));
        char* end = nullptr;
        const double d = std::strtod(rest.c_str(), &end);
        if (end == rest.c_str()) return std::nullopt;
        at_ += static_cast<std::size_t>(end - rest.c_str());
        return Value::floating(d);
    }

    void skip_blanks() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    }
    std::size_t limit() const { return width_ ? width_ : text_.size(); }
    template <class Accept>
    std::string_view take_while(const Accept& accept) {
        const std::size_t start = at_;
        while (at_ < text_.size() && at_ - start < limit() && accept(text_[at_])) ++at_;
        return text_.substr(start, at_ - start);
    }
    /// Returns a part of the text as a value, or nullopt if it is empty.
    std::optional<Value> text_value(std::string_view piece) const {
        if (piece.empty()) return std::nullopt;
        return text(call_, piece, call_[0]);
    }

    const Call& call_;
    std::string_view text_, format_;
    std::size_t at_ = 0;     ///< position in the text
    std::size_t next_ = 0;   ///< position in the format
    std::size_t width_ = 0;  ///< of the current directive; 0 means unlimited, or 1 for %c
    std::vector<Value> values_;
};

Value scanf(const Call& call) {
    const Value result = list(call, Scanner(call).values());
    return call.block ? call.yield({result}) : result;
}

// --- versioncmp ---

std::vector<std::string_view> version_parts(base::TextView v BUNRAKU_LIFETIMEBOUND) {
    std::vector<std::string_view> out;
    auto digit = [](char c) { return c >= '0' && c <= '9'; };
    for (std::size_t i = 0; i < v.size();) {
        std::size_t end = i + 1;
        if (v[i] != '-' && v[i] != '.') {
            const bool number = digit(v[i]);
            while (end < v.size() && v[end] != '-' && v[end] != '.' && digit(v[end]) == number)
                ++end;
        }
        out.push_back(v.substr(i, end - i));
        i = end;
    }
    return out;
}

int text_order(std::string_view a, std::string_view b) {
    const int c = a.compare(b);
    return c < 0 ? -1 : c > 0;
}

std::string without_trailing_zeroes(std::string_view version) {
    const std::size_t dash = version.find('-');
    std::string first(version.substr(0, dash));
    while (!first.empty() && (first.back() == '.' || first.back() == '0')) first.pop_back();
    return dash == std::string_view::npos ? first : first + std::string(version.substr(dash));
}

}  // namespace

int version_compare(std::string_view a, std::string_view b) {
    const auto x = version_parts(a), y = version_parts(b);
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
        if (x[i] == y[i]) continue;
        if (x[i] == "-") return -1;
        if (y[i] == "-") return 1;
        if (x[i] == ".") return -1;
        if (y[i] == ".") return 1;
        auto number = [](std::string_view s) { return s[0] >= '0' && s[0] <= '9'; };
        if (number(x[i]) && number(y[i]) && x[i][0] != '0' && y[i][0] != '0') {
            if (x[i].size() != y[i].size()) return x[i].size() < y[i].size() ? -1 : 1;
            return text_order(x[i], y[i]);
        }
        return text_order(base::upper(x[i]), base::upper(y[i]));
    }
    return text_order(a, b);
}

namespace {

Value versioncmp(const Call& call) {
    if (call.size() > 2 && call[2].as_boolean()) {
        return Value::integer(version_compare(without_trailing_zeroes(call[0].as_string()),
                                              without_trailing_zeroes(call[1].as_string())));
    }
    return Value::integer(version_compare(call[0].as_string(), call[1].as_string()));
}

#define BUNRAKU_REGSUBST_STRING                                           \
    ", String pattern, Variant[String,Hash[String,String]] replacement, " \
    "Optional[Pattern[/^[GEIM]*$/]] flags?"
#define BUNRAKU_TARGET                                                                 \
    "Variant[Array[Variant[String,Sensitive[String]]],Sensitive[Array[Variant[String," \
    "Sensitive[String]]]],Variant[String,Sensitive[String]]] target"

const Builtin kFunctions[] = {
    {"match",
     "The whole match and its groups, or undef.",
     {{"String string, Variant[Any, Type] pattern", match_string},
      {"Array[String] string, Variant[Any, Type] pattern", match_array}}},
    {"regsubst",
     "Replaces the matches of a pattern in a string or in every string of an array.",
     {{BUNRAKU_TARGET BUNRAKU_REGSUBST_STRING ", Enum['N','E','S','U'] encoding?",
       regsubst_string,
       false,
       {},
       config::Change::RegsubstEncoding},
      {BUNRAKU_TARGET BUNRAKU_REGSUBST_STRING, regsubst_string, false,
       config::Change::RegsubstEncoding},
      {BUNRAKU_TARGET
       ", Variant[Regexp,Type[Regexp]] pattern, Variant[String,Hash[String,String]] replacement, "
       "Pattern[/^G?$/] flags?",
       regsubst_regexp}}},
    {"split",
     "Splits a string at every match of a pattern.",
     {{"String str, String pattern", split},
      {"String str, Regexp pattern", split},
      {"String str, Type[Regexp] pattern", split},
      {"Sensitive[String] sensitive, String pattern", split},
      {"Sensitive[String] sensitive, Regexp pattern", split},
      {"Sensitive[String] sensitive, Type[Regexp] pattern", split}}},
    {"scanf",
     "Reads values from a string according to a format.",
     {{"String data, String format, Callable &block?", scanf}}},
    {"versioncmp",
     "Compares two version texts: -1, 0 or 1.",
     {{"String a, String b, Boolean ignore_trailing_zeroes?", versioncmp}}},
};

}  // namespace

std::span<const Builtin> match_functions() { return kFunctions; }

}  // namespace bunraku::function
