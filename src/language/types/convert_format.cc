// SPDX-License-Identifier: Apache-2.0
#include "language/types/convert_format.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "core/base/diagnostic.h"
#include "core/codec/escapes.h"
#include "core/value/escapes.h"
#include "core/value/ruby_format.h"
#include "language/types/convert.h"
#include "language/types/factory.h"
#include "language/types/internal.h"
#include "language/types/object.h"

namespace bunraku::types {

using base::PuppetError;

namespace {

/// Larger widths and precisions are rejected.
constexpr int kMaxWidth = 1'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns the number of bytes of the first `n` characters.
std::size_t prefix_bytes(std::string_view text, std::size_t n) {
    std::size_t i = 0;
    for (; i < text.size(); ++i) {
        if ((text[i] & 0xC0) != 0x80 && n-- == 0) break;
    }
    return i;
}

std::string pad_text(std::string text, std::optional<int> width, std::optional<int> precision,
                     bool left) {
    if (precision) text.resize(prefix_bytes(text, static_cast<std::size_t>(*precision)));
    const auto length = static_cast<std::size_t>(char_count(text));
    if (width && static_cast<std::size_t>(*width) > length) {
        const std::size_t blanks = static_cast<std::size_t>(*width) - length;
        text.insert(left ? text.size() : 0, blanks, ' ');
    }
    return text;
}

int type_rank(const Type* t) {
    switch (t->kind) {
        case TypeKind::Struct: return 1;
        case TypeKind::Hash: return 2;
        case TypeKind::Tuple: return 3;
        case TypeKind::Array: return 4;
        case TypeKind::Pattern: return 10;
        case TypeKind::Enum: return 11;
        case TypeKind::String: return 12;
        default: return 0;
    }
}

using Entries = std::vector<std::pair<const Type*, Format>>;

/// Sorts specific types before general ones. Types that are not comparable are sorted by rank or
/// name.
Entries sorted(Context& ctx, Entries entries) {
    const auto special = [&](const Type* a, const Type* b) {
        return !equal(a, b) && is_assignable(ctx, b, a) && !is_assignable(ctx, a, b);
    };
    const auto before = [](const Type* a, const Type* b) {
        const int x = type_rank(a), y = type_rank(b);
        if (x == 0 || y == 0) return a->to_string() < b->to_string();
        return x < y;
    };
    Entries out;
    while (!entries.empty()) {
        std::size_t best = entries.size();
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const Type* t = entries[i].first;
            const bool free = std::ranges::none_of(
                entries, [&](const auto& e) { return e.first != t && special(e.first, t); });
            if (free && (best == entries.size() || before(t, entries[best].first))) best = i;
        }
        if (best == entries.size()) best = 0;
        out.push_back(std::move(entries[best]));
        entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(best));
    }
    return out;
}

std::shared_ptr<const FormatMap> merge_maps(Context& ctx,
                                            const std::shared_ptr<const FormatMap>& low,
                                            const std::shared_ptr<const FormatMap>& high);

Format merge(Context& ctx, const Format& low, const Format& high) {
    Format out(high.original);
    out.separator = high.separator ? high.separator : low.separator;
    out.separator2 = high.separator2 ? high.separator2 : low.separator2;
    out.inner = merge_maps(ctx, low.inner, high.inner);
    return out;
}

std::shared_ptr<const FormatMap> merge_maps(Context& ctx,
                                            const std::shared_ptr<const FormatMap>& low,
                                            const std::shared_ptr<const FormatMap>& high) {
    if (!low || !high) return low ? low : high;
    Entries all;
    for (const auto& [t, f] : low->entries) {
        // A more general type of the higher map replaces this entry of the lower one.
        const bool hidden = std::ranges::any_of(high->entries, [&, lower = t](const auto& h) {
            return !equal(h.first, lower) && is_assignable(ctx, h.first, lower);
        });
        if (!hidden) all.push_back({t, f});
    }
    for (const auto& [t, f] : high->entries) {
        const auto same = std::ranges::find_if(
            all, [wanted = t](const auto& e) { return equal(e.first, wanted); });
        if (same == all.end()) {
            all.push_back({t, f});
        } else {
            same->second = merge(ctx, same->second, f);
        }
    }
    auto out = std::make_shared<FormatMap>();
    out->entries = sorted(ctx, std::move(all));
    return out;
}

std::shared_ptr<const FormatMap> read_map(Context& ctx, const value::HashRep& hash, int depth);

Format read_format(Context& ctx, const Value& v, int depth) {
    if (!v.is_hash()) return Format(v.is_string() ? v.as_string() : std::string_view());
    for (const value::Entry& e : v.as_hash()) {
        const std::string_view key = e.key.is_string() ? e.key.as_string() : std::string_view();
        if (key != "separator" && key != "separator2" && key != "format" &&
            key != "string_formats") {
            throw PuppetError(
                fmt::format("only 'separator', 'separator2', 'format', 'string_formats' are "
                            "allowed in a container format, got {}",
                            value::to_source(v)));
        }
    }
    const auto text = [&](std::string_view key) -> std::optional<std::string> {
        const Value* t = v.as_hash().find(key);
        if (t == nullptr || !t->is_string()) return std::nullopt;
        return std::string(t->as_string());
    };
    Format out(text("format").value_or(std::string()));
    out.separator = text("separator");
    out.separator2 = text("separator2");
    if (const Value* inner = v.as_hash().find("string_formats"); inner && inner->is_hash()) {
        out.inner = read_map(ctx, inner->as_hash(), depth + 1);
    }
    return out;
}

std::shared_ptr<const FormatMap> read_map(Context& ctx, const value::HashRep& hash, int depth) {
    if (depth > 100) throw PuppetError("stack level too deep");
    auto out = std::make_shared<FormatMap>();
    for (const value::Entry& e : hash) {
        if (!e.key.is_type()) {
            throw PuppetError(
                fmt::format("top level keys in the format hash must be data types, got instance "
                            "of '{}'",
                            ruby_class_name(e.key)));
        }
        out->entries.push_back({e.key.as_type(), read_format(ctx, e.value, depth)});
    }
    return out;
}

value::RubyDirective directive(const Format& f) {
    return {.letter = f.letter,
            .minus = f.left,
            .plus = f.plus,
            .space = f.space,
            .zero = f.zero,
            .alternative = f.alt,
            .width = f.width.value_or(-1),
            .precision = f.precision.value_or(-1)};
}

std::string utf8(std::int64_t code) {
    std::string out;
    if (code < 0 || code > 0x10FFFF) throw PuppetError("pack(U): value out of range");
    codec::append_utf8(out, static_cast<std::uint32_t>(code));
    return out;
}

}  // namespace

Format::Format(std::string_view text) : original(text) {
    const auto invalid = [&]() -> PuppetError {
        return PuppetError(fmt::format(
            "The format '{}' is not a valid format on the form '%<flags><width>.<prec><format>'",
            text));
    };
    std::string_view rest = text;
    if (!rest.starts_with('%')) throw invalid();
    rest.remove_prefix(1);
    std::size_t n = 0;
    while (n < rest.size() &&
           std::string_view(" \t\n\v\f\r[+#0{<(|-").find(rest[n]) != std::string_view::npos) {
        ++n;
    }
    const std::string_view flags = rest.substr(0, n);
    rest.remove_prefix(n);
    const auto number = [&](std::optional<int>& out) {
        int v = 0;
        while (!rest.empty() && is_digit(rest[0])) {
            v = std::min(v * 10 + (rest[0] - '0'), kMaxWidth + 1);
            rest.remove_prefix(1);
        }
        if (v > kMaxWidth) throw invalid();
        out = v;
    };
    if (!rest.empty() && is_digit(rest[0])) number(width);
    if (rest.starts_with('.')) {
        rest.remove_prefix(1);
        if (rest.empty() || !is_digit(rest[0])) throw invalid();
        number(precision);
    }
    if (rest.size() != 1 ||
        !((rest[0] >= 'a' && rest[0] <= 'z') || (rest[0] >= 'A' && rest[0] <= 'Z'))) {
        throw invalid();
    }
    letter = rest[0];
    for (std::size_t i = 0; i < flags.size(); ++i) {
        if (flags.find(flags[i], i + 1) != std::string_view::npos) {
            throw PuppetError(fmt::format("The same flag can only be used once, got '{}'", text));
        }
        switch (flags[i]) {
            case '-': left = true; break;
            case '#': alt = true; break;
            case ' ': space = true; break;
            case '+': plus = true; break;
            case '0': zero = true; break;
            case '[':
            case '{':
            case '(':
            case '<':
            case '|':
                if (delimiter != '\0') {
                    throw PuppetError(
                        fmt::format("Only one of the delimiters [ {{ ( < | can be given in the "
                                    "format flags, got '{}'",
                                    text));
                }
                delimiter = flags[i];
                break;
            default: break;
        }
    }
}

std::pair<std::string_view, std::string_view> Format::delimiters(base::TextView open,
                                                                 std::string_view close) const {
    switch (delimiter) {
        case '[': return {"[", "]"};
        case '{': return {"{", "}"};
        case '(': return {"(", ")"};
        case '<': return {"<", ">"};
        case '|': return {"|", "|"};
        default: break;
    }
    if (space) return {"", ""};
    return {open, close};
}

std::string Format::pad(std::string text) const {
    return pad_text(std::move(text), width, precision, left);
}

void Format::check_ruby() const {
    if (delimiter == '<' || delimiter == '{') {
        throw PuppetError("malformed name - unmatched parenthesis");
    }
    if (delimiter != '\0') {
        throw PuppetError(fmt::format("malformed format string - %{}", delimiter));
    }
}

const Format* FormatMap::find(Context& ctx, const Value& v) const {
    for (const auto& [type, format] : entries) {
        if (is(type, TypeKind::Any)) return &format;
        // Types are instances of Object, but they are formatted as types.
        if (is(type, TypeKind::Object) && v.is_type()) continue;
        // The format of an object is looked up by its type without parameters.
        if (v.is(value::Kind::Object) && as_object_extension(type) != nullptr) continue;
        if (is_instance(ctx, type, v)) return &format;
    }
    return nullptr;
}

const std::shared_ptr<const FormatMap>& default_container_formats() {
    static const std::shared_ptr<const FormatMap> map = [] {
        auto made = std::make_shared<FormatMap>();
        made->entries.push_back({defaults().any, Format("%p")});
        return made;
    }();
    return map;
}

const std::shared_ptr<const FormatMap>& default_formats() {
    static const std::shared_ptr<const FormatMap> map = [] {
        auto made = std::make_shared<FormatMap>();
        auto& e = made->entries;
        e.push_back({object_type_default(), Format("%p")});
        e.push_back({defaults().floating, Format("%f")});
        e.push_back({defaults().numeric, Format("%d")});
        Format array("%a");
        array.separator = ", ";
        array.separator2 = ", ";
        array.inner = default_container_formats();
        e.push_back({defaults().array, array});
        Format hash("%h");
        hash.separator = ", ";
        hash.separator2 = " => ";
        hash.inner = default_container_formats();
        e.push_back({defaults().hash, hash});
        e.push_back({defaults().binary, Format("%B")});
        e.push_back({defaults().any, Format("%s")});
        return made;
    }();
    return map;
}

std::shared_ptr<const FormatMap> merged_formats(Context& ctx, const value::HashRep& formats) {
    return merge_maps(ctx, default_formats(), read_map(ctx, formats, 0));
}

void illegal_format(std::string_view type, char letter, std::string_view expected) {
    throw PuppetError(fmt::format(
        "Illegal format '{}' specified for value of {} type - expected one of the characters '{}'",
        letter, type, expected));
}

std::string ruby_inspect(std::string_view text) {
    std::string out;
    value::print_inspected_text(out, text);
    return out;
}

std::string format_directive(std::string_view text, const Value& v) {
    const Format f(text);
    f.check_ruby();
    switch (f.letter) {
        case 'd':
        case 'i':
        case 'u':
        case 'x':
        case 'X':
        case 'o':
        case 'b':
        case 'B':
            if (v.is_integer())
                return value::format_ruby_integer(directive(f), value::BigInteger(v.as_integer()));
            if (v.is_float()) {
                const double d = v.as_float();
                if (!std::isfinite(d)) throw PuppetError(value::format_float(d));
                return value::format_ruby_integer(directive(f), value::BigInteger::truncated(d));
            }
            break;
        case 'e':
        case 'E':
        case 'f':
        case 'g':
        case 'G':
        case 'a':
        case 'A':
            if (v.is_numeric()) return value::format_ruby_float(directive(f), v.as_number());
            break;
        case 'c':
            if (v.is_integer()) return f.pad(utf8(v.as_integer()));
            break;
        case 's': return f.pad(value::to_text(v));
        case 'p':
            if (v.is_string()) return f.pad(ruby_inspect(v.as_string()));
            if (v.is_undef()) return f.pad("nil");
            return f.pad(value::to_text(v));
        default: throw PuppetError(fmt::format("malformed format string - %{}", f.letter));
    }
    throw PuppetError(fmt::format("can't convert {} into Integer", ruby_class_name(v)));
}

}  // namespace bunraku::types
