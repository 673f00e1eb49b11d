// SPDX-License-Identifier: Apache-2.0
// String.new: converts every value to text with formats selected by type.
#include "language/types/convert.h"

#include <algorithm>
#include <fmt/format.h>
#include <utf8proc.h>

#include "core/base/diagnostic.h"
#include "core/base/redacted.h"
#include "core/base/semver.h"
#include "core/base/text_view.h"
#include "core/base/work_limit.h"
#include "core/codec/json_text.h"
#include "core/value/build.h"
#include "core/value/escapes.h"
#include "language/types/convert_format.h"
#include "language/types/factory.h"
#include "language/types/internal.h"
#include "language/types/iterator.h"
#include "language/types/object.h"
#include "language/types/time_format.h"

namespace bunraku::types {

using base::PuppetError;
using value::Kind;

namespace {

struct Indentation {
    int level = 0;
    bool first = true;
    bool indenting = false;

    Indentation with(bool on) const { return {level, first, on}; }
    Indentation increase(bool on = false) const { return {level + 1, true, on}; }
    Indentation subsequent() const { return {level, false, indenting}; }
    bool breaks() const { return indenting && level > 0 && !first; }
    std::string padding() const { return std::string(static_cast<std::size_t>(level) * 2, ' '); }
};

using Map = std::shared_ptr<const FormatMap>;

std::string map_letters(std::string_view text, bool first_only, bool up) {
    std::string out;
    bool first = true;
    for (std::size_t i = 0; i < text.size();) {
        utf8proc_int32_t c = 0;
        const auto n = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + i,
                                        static_cast<utf8proc_ssize_t>(text.size() - i), &c);
        if (n <= 0) {
            out += text[i++];
            continue;
        }
        const bool raise = first_only ? first : up;
        if (raise && c == 0xDF) {
            out += first_only ? "Ss" : "SS";
        } else {
            utf8proc_uint8_t bytes[4];
            const auto size =
                utf8proc_encode_char(raise ? utf8proc_toupper(c) : utf8proc_tolower(c), bytes);
            out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
        }
        first = false;
        i += static_cast<std::size_t>(n);
    }
    return out;
}

std::string capitalize(std::string_view text) { return map_letters(text, true, false); }

std::string capitalize_all(std::string_view text) {
    std::string out;
    // Like Ruby's split, this drops empty segments at the end.
    while (text.ends_with("::")) text.remove_suffix(2);
    for (;;) {
        const auto at = text.find("::");
        out += capitalize(text.substr(0, at));
        if (at == std::string_view::npos) return out;
        out += "::";
        text.remove_prefix(at + 2);
    }
}

std::string_view strip(base::TextView text BUNRAKU_LIFETIMEBOUND) {
    const auto blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
    while (!text.empty() && (blank(text.back()) || text.back() == '\0')) text.remove_suffix(1);
    while (!text.empty() && (blank(text.front()) || text.front() == '\0')) text.remove_prefix(1);
    return text;
}

void strip_end(std::string& text) {
    while (!text.empty() && (text.back() == ' ' || (text.back() >= '\t' && text.back() <= '\r'))) {
        text.pop_back();
    }
}

bool is_collection(const Value& v) { return v.is_array() || v.is_hash(); }

class Converter {
public:
    explicit Converter(Context& ctx) : ctx_(ctx) {}

    std::string convert(const Value& v, const Map& map, const Indentation& indentation) {
        base::step();
        const Format* found = map->find(ctx_, v);
        const Format format = found != nullptr ? *found : Format("%s");
        return apply(v, format, map, indentation);
    }

    std::string apply(const Value& v, const Format& f, const Map& map,
                      const Indentation& indentation) {
        switch (v.kind()) {
            case Kind::Undef: return undef(f);
            case Kind::Default: return default_value(f);
            case Kind::Boolean: return boolean(v.as_boolean(), f);
            case Kind::Integer: return integer(v, f);
            case Kind::Float: return floating(v, f);
            case Kind::String: return string(v.as_string(), f);
            case Kind::Array: return array(v.as_array(), f, map, indentation);
            case Kind::Hash: return hash(v.as_hash(), f, map, indentation);
            case Kind::Regexp: return regexp(v, f);
            case Kind::Binary: return binary(v, f);
            case Kind::Uri: return uri(v, f, indentation);
            case Kind::Type: return type(v, f);
            case Kind::Object: return object(v, f, indentation);
            case Kind::Iterator: {
                const auto* it = dynamic_cast<const Iterator*>(v.as_extension());
                if (it == nullptr) break;
                return convert(to_array(ctx_, *it), map, indentation);
            }
            default: break;
        }
        return any(v, f);
    }

private:
    static bool for_integers(const Format& f) {
        return std::string_view("dxXobB").find(f.letter) != std::string_view::npos;
    }
    static bool for_floats(const Format& f) {
        return std::string_view("eEfgGaA").find(f.letter) != std::string_view::npos;
    }
    std::string undef(const Format& f) {
        if (for_integers(f) || for_floats(f)) return f.pad("NaN");
        switch (f.letter) {
            case 'n': return f.pad(f.alt ? "null" : "nil");
            case 'u': return f.pad(f.alt ? "undefined" : "undef");
            case 'v': return f.pad("n/a");
            case 'V': return f.pad("N/A");
            case 's': return f.pad(f.alt ? "\"\"" : "");
            case 'p': return f.pad(f.alt ? "\"undef\"" : "undef");
            default: illegal_format("Undef", f.letter, "nudxXobBeEfgGaAvVsp");
        }
    }

    std::string default_value(const Format& f) {
        switch (f.letter) {
            case 'd':
            case 's':
            case 'p': return f.pad(f.alt ? "\"default\"" : "default");
            case 'D': return f.pad(f.alt ? "\"Default\"" : "Default");
            default: illegal_format("Default", f.letter, "dDsp");
        }
    }

    std::string boolean(bool b, const Format& f) {
        const auto word = [&](std::string_view yes, std::string_view no) {
            const std::string_view text = b ? yes : no;
            return f.pad(std::string(f.alt ? text.substr(0, 1) : text));
        };
        if (for_integers(f)) return integer(Value::integer(b), f);
        if (for_floats(f)) return floating(Value::floating(b ? 1.0 : 0.0), f);
        switch (f.letter) {
            case 't': return word("true", "false");
            case 'T': return word("True", "False");
            case 'y': return word("yes", "no");
            case 'Y': return word("Yes", "No");
            case 's':
            case 'p': return f.pad(b ? "true" : "false");
            default: illegal_format("Boolean", f.letter, "tTyYdxXobBeEfgGaAsp");
        }
    }

    std::string integer(const Value& v, const Format& f) {
        if (f.letter == 's' || f.letter == 'c') f.check_ruby();
        if (for_integers(f)) return format_directive(f.original, v);
        if (for_floats(f)) return format_directive(f.original, Value::floating(v.as_number()));
        switch (f.letter) {
            case 'p': return format_directive(f.original, v);
            case 'c': {
                std::string text = format_directive("%c", v);
                if (f.alt) text = '"' + text + '"';
                return f.pad(std::move(text));
            }
            case 's': {
                const std::string text = std::to_string(v.as_integer());
                return f.pad(f.alt ? '"' + text + '"' : text);
            }
            default: illegal_format("Integer", f.letter, "dxXobBeEfgGaAspc");
        }
    }

    std::string floating(const Value& v, const Format& f) {
        if (f.letter == 's') f.check_ruby();
        if (for_integers(f) || for_floats(f)) return format_directive(f.original, v);
        switch (f.letter) {
            case 'p': return format_directive(f.original, v);
            case 's': {
                const std::string text = value::format_float(v.as_float());
                return f.pad(f.alt ? '"' + text + '"' : text);
            }
            default: illegal_format("Float", f.letter, "dxXobBeEfgGaAsp");
        }
    }

    std::string string(std::string_view text, const Format& f) {
        const auto shown = [&](std::string changed) {
            return f.pad(f.alt ? value::quote(changed) : std::move(changed));
        };
        switch (f.letter) {
            case 's': return f.pad(std::string(text));
            case 'p': return f.pad(f.alt ? value::quote_double(text) : value::quote(text));
            case 'c': return shown(capitalize(text));
            case 'C': return shown(capitalize_all(text));
            case 'u': return shown(map_letters(text, false, true));
            case 'd': return shown(map_letters(text, false, false));
            case 't': return shown(std::string(strip(text)));
            default: illegal_format("String", f.letter, "cCudspt");
        }
    }

    std::string regexp(const Value& v, const Format& f) {
        switch (f.letter) {
            case 'p': return f.pad(value::to_text(v));
            case 's': {
                std::string text = regexp_with_options(v.as_regexp());
                return f.pad(f.alt ? value::quote(text) : std::move(text));
            }
            default: illegal_format("Regexp", f.letter, "sp");
        }
    }

    std::string binary(const Value& v, const Format& f) {
        const std::string_view bytes = v.as_string();
        const auto shown = [&](std::string text) {
            return f.pad(f.alt ? ruby_inspect(text) : std::move(text));
        };
        switch (f.letter) {
            case 's':
                if (!f.alt && !codec::is_utf8(bytes)) {
                    const auto bad = std::ranges::find_if(
                        bytes, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
                    throw PuppetError(fmt::format("\"\\x{:02X}\" from ASCII-8BIT to UTF-8",
                                                  static_cast<unsigned char>(*bad)));
                }
                if (f.alt) return f.pad(inspect_bytes(bytes));
                return f.pad(std::string(bytes));
            case 'p': return "Binary(\"" + f.pad(value::to_text(v)) + "\")";
            case 'b': {
                const std::string all = value::to_text(v);
                std::string lines;
                for (std::size_t i = 0; i < all.size(); i += 60) {
                    lines += all.substr(i, 60);
                    lines += '\n';
                }
                return shown(std::move(lines));
            }
            case 'B': return shown(value::to_text(v));
            case 'u': {
                std::string text = value::to_text(v);
                std::ranges::replace(text, '+', '-');
                std::ranges::replace(text, '/', '_');
                return shown(std::move(text));
            }
            case 't': return shown("Binary");
            case 'T': return shown("BINARY");
            default: illegal_format("Binary", f.letter, "bButTsp");
        }
    }

    static std::string inspect_bytes(std::string_view bytes) {
        std::string out;
        value::print_inspected_bytes(out, bytes);
        return out;
    }

    std::string type(const Value& v, const Format& f) {
        const std::string text = v.as_type()->to_string();
        switch (f.letter) {
            case 's': return f.pad(f.alt ? '"' + text + '"' : text);
            case 'p': return f.pad(text);
            default: illegal_format("Type", f.letter, "sp");
        }
    }

    static std::string indented(const Value& v, const Format& f, const Indentation& indentation) {
        const bool on = f.alt || indentation.indenting;
        std::string out;
        print_indented(out, v, on ? indentation.level : -1);
        return out;
    }

    std::string uri(const Value& v, const Format& f, const Indentation& indentation) {
        switch (f.letter) {
            case 'p': return indented(v, f, indentation);
            case 's': {
                const std::string text(v.as_string());
                return f.pad(f.alt ? value::quote(text) : text);
            }
            default: illegal_format("URI", f.letter, "sp");
        }
    }

    std::string object(const Value& v, const Format& f, const Indentation& indentation) {
        switch (f.letter) {
            case 'p': return indented(v, f, indentation);
            case 's':
            case 'q': return value::to_text(v);
            default: illegal_format("Object", f.letter, "spq");
        }
    }

    /// Formats a value whose type has no formats.
    std::string any(const Value& v, const Format& f) {
        if (f.letter == 's') return f.pad(value::to_text(v));
        if (f.letter == 'p') {
            if (v.is(Kind::Sensitive)) return f.pad(std::string(base::kSensitiveInspected));
            if (v.is(Kind::SemVerRange)) return f.pad(v.as_semver_range().normalized());
            return f.pad(value::to_text(v));
        }
        if (v.is(Kind::Timestamp) || v.is(Kind::Timespan)) {
            const bool whole =
                std::string_view("dxXobBiu").find(f.letter) != std::string_view::npos;
            auto seconds = static_cast<std::int64_t>(value::nanoseconds(v) / kNsPerSecond);
            if (value::nanoseconds(v) % kNsPerSecond < 0) --seconds;
            return format_directive(
                f.original,
                whole ? Value::integer(seconds)
                      : Value::floating(static_cast<double>(value::nanoseconds(v)) / 1e9));
        }
        return format_directive(f.original, v);
    }

    std::string element(const Value& v, const Map& map, const Map& inner,
                        const Indentation& indentation) {
        bool container = is_collection(v);
        if (const Object* o = as_object(v)) container = !o->type()->parameterized_type();
        return convert(v, container ? map : inner, indentation);
    }

    std::string array(std::span<const Value> items, const Format& f, const Map& map,
                      Indentation indentation) {
        if (f.letter != 'a' && f.letter != 's' && f.letter != 'p') {
            illegal_format("Array", f.letter, "asp");
        }
        const std::string_view separator =
            f.separator ? std::string_view(*f.separator) : std::string_view(", ");
        const Map& inner = f.inner ? f.inner : default_container_formats();
        const auto [open, close] = f.delimiters("[", "]");
        indentation = indentation.with(f.alt || indentation.indenting);
        std::string out;
        if (indentation.breaks()) out += '\n' + indentation.padding();
        out += open;

        Indentation children = indentation.increase(f.alt);
        std::vector<std::string> texts;
        for (const Value& v : items) {
            if (children.first) children = children.subsequent();
            texts.push_back(element(v, map, inner, children));
        }
        bool broken = false;
        if (f.alt && f.width) {
            // A line break separates the elements if the total width of consecutive plain elements
            // is greater than the field width.
            std::int64_t widest = 0, run = 0;
            for (std::size_t i = 0; i < items.size(); ++i) {
                run = is_collection(items[i]) ? 0 : run + char_count(texts[i]);
                widest = std::max(widest, run);
            }
            broken = widest > *f.width;
        }
        children = indentation.increase(f.alt);
        for (std::size_t i = 0; i < items.size(); ++i) {
            const bool plain = !is_collection(items[i]);
            if (children.first) {
                children = children.subsequent();
                if (broken && plain) out += ' ';
            } else {
                out += separator;
                if ((broken && plain) || (f.alt && is_collection(items[i - 1]) && plain)) {
                    if (out.empty() || out.back() != '\n') strip_end(out);
                    out += '\n' + children.padding();
                }
            }
            if (!out.empty() && out.back() == ' ' && texts[i].starts_with('\n')) strip_end(out);
            out += texts[i];
        }
        out += close;
        return out;
    }

    std::string hash(const value::HashRep& hash, const Format& f, const Map& map,
                     Indentation indentation) {
        if (f.letter == 'a') {
            std::vector<Value> pairs;
            for (const value::Entry& e : hash) {
                pairs.push_back(value::make_array(ctx_.arena, {e.key, e.value}));
            }
            return convert(value::make_array(ctx_.arena, pairs), map, indentation);
        }
        if (f.letter != 'h' && f.letter != 's' && f.letter != 'p') {
            illegal_format("Hash", f.letter, "hasp");
        }
        std::string separator = f.separator.value_or(", ");
        const std::string_view association =
            f.separator2 ? std::string_view(*f.separator2) : std::string_view(" => ");
        const Map& inner = f.inner ? f.inner : default_container_formats();
        const auto [open, close] = f.delimiters("{", "}");
        if (f.alt) {
            if (!separator.ends_with('\n')) strip_end(separator);
            separator += '\n';
        }
        indentation = indentation.with(f.alt || indentation.indenting);
        std::string out;
        if (indentation.breaks()) out += '\n' + indentation.padding();
        const Indentation children = indentation.increase();
        const std::string padding = f.alt ? children.padding() : std::string();
        out += open;
        if (f.alt) out += '\n';
        for (const value::Entry& e : hash) {
            if (&e != hash.begin()) out += separator;
            out += padding;
            out += element(e.key, map, inner, children);
            out += association;
            out += element(e.value, map, inner, children);
        }
        if (f.alt) out += '\n' + indentation.padding();
        out += close;
        return out;
    }

    Context& ctx_;
};

/// Implements TypeFormatter with indentation.
class IndentedPrinter {
public:
    IndentedPrinter(std::string& out, int level) : out_(out), level_(level) {}

    void print(const Value& v) {
        base::step();
        switch (v.kind()) {
            case Kind::Array: array(v.as_array()); break;
            case Kind::Hash: hash(v.as_hash()); break;
            case Kind::Uri: out_ += "URI(" + value::quote(v.as_string()) + ')'; break;
            case Kind::Object:
                if (const Object* o = as_object(v)) {
                    base::Arena arena(512);
                    out_ += o->type()->label();
                    out_ += '(';
                    print(o->init_hash(arena));
                    out_ += ')';
                    break;
                }
                value::print(out_, v);
                break;
            case Kind::Type:
                if (const OpenType* open = as_open(v.as_type())) {
                    open->print_type(out_, false);
                } else {
                    v.as_type()->print(out_);
                }
                break;
            default: value::print_source(out_, v);
        }
    }

private:
    static constexpr int kWidth = 2;

    void newline() {
        strip_end(out_);
        out_ += '\n';
        out_.append(static_cast<std::size_t>(level_ * kWidth), ' ');
    }

    bool short_array(std::span<const Value> items) const {
        std::size_t sum = 0;
        for (const Value& v : items) {
            switch (v.kind()) {
                case Kind::Undef:
                    sum += 3;  // length of "nil", as Ruby's inspect prints undef
                    break;
                case Kind::Default: sum += 8; break;
                case Kind::Boolean:
                case Kind::Integer:
                case Kind::Float: sum += value::to_text(v).size(); break;
                case Kind::String:
                    sum += 2 + static_cast<std::size_t>(char_count(v.as_string()));
                    break;
                case Kind::Array: sum += v.as_array().empty() ? 2 : 1000; break;
                case Kind::Hash: sum += v.as_hash().empty() ? 2 : 1000; break;
                default: sum += 1000;
            }
        }
        return items.empty() ||
               100 - level_ * kWidth > static_cast<int>(std::min<std::size_t>(sum, 100000));
    }

    void array(std::span<const Value> items) {
        out_ += '[';
        const bool split = level_ >= 0 && !short_array(items);
        if (split) ++level_;
        for (const Value& v : items) {
            if (split) newline();
            print(v);
            out_ += ", ";
        }
        chomp(items.empty());
        if (split) {
            --level_;
            newline();
        }
        out_ += ']';
    }

    void hash(const value::HashRep& hash) {
        out_ += '{';
        const bool split = level_ >= 0;
        if (split) ++level_;
        for (const value::Entry& e : hash) {
            if (split) newline();
            print(e.key);
            out_ += " => ";
            print(e.value);
            out_ += ", ";
        }
        chomp(hash.empty());
        if (split) {
            --level_;
            newline();
        }
        out_ += '}';
    }

    void chomp(bool empty) {
        if (!empty && out_.ends_with(", ")) out_.resize(out_.size() - 2);
    }

    std::string& out_;
    int level_;
};

/// `text` is the format for the value itself. Containers use the default separators.
std::string convert_with(Context& ctx, const Value& v, std::string_view text) {
    Converter converter(ctx);
    if (is_collection(v)) {
        value::HashBuilder inner(ctx.arena), outer(ctx.arena);
        inner.set("format", value::make_string(ctx.arena, text));
        outer.set(Value::type(v.is_array() ? static_cast<const Type*>(defaults().array)
                                           : static_cast<const Type*>(defaults().hash)),
                  inner.build());
        return converter.convert(v, merged_formats(ctx, outer.build().as_hash()), {});
    }
    if (const Object* o = as_object(v); o != nullptr && o->type()->parameterized_type()) {
        return converter.convert(v, default_formats(), {});
    }
    if (v.is(Kind::Iterator)) return converter.convert(v, default_formats(), {});
    return converter.apply(v, Format(text), default_formats(), {});
}

}  // namespace

void print_indented(std::string& out, const Value& v, int level) {
    IndentedPrinter(out, level).print(v);
}

std::string convert_to_string(Context& ctx, const Value& v) {
    if (v.is_string()) return std::string(v.as_string());
    return Converter(ctx).convert(v, default_formats(), {});
}

std::string convert_to_string(Context& ctx, const Value& v, std::string_view format) {
    return convert_with(ctx, v, format);
}

std::string convert_to_string(Context& ctx, const Value& v, const Value& formats) {
    switch (formats.kind()) {
        case Kind::Undef:
        case Kind::Default: return convert_to_string(ctx, v);
        case Kind::String: return convert_with(ctx, v, formats.as_string());
        case Kind::Hash:
            return Converter(ctx).convert(v, merged_formats(ctx, formats.as_hash()), {});
        default:
            throw PuppetError(
                fmt::format("string conversion expects a Default value or a Hash of type to "
                            "format mappings, got a '{}'",
                            ruby_class_name(formats)));
    }
}

}  // namespace bunraku::types
