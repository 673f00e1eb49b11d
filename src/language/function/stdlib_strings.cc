// SPDX-License-Identifier: Apache-2.0
// stdlib's functions for strings, booleans in strings and paths, as in module version 8.5.0.
#include <algorithm>
#include <cmath>
#include <utf8proc.h>

#include "core/base/text_view.h"
#include "core/regex/escape.h"
#include "core/regex/regex.h"
#include "core/value/big_integer.h"
#include "language/function/stdlib_support.h"
#include "language/function/stdlib_usual.h"

namespace bunraku::function {

bool str2bool(const Value& v) {
    if (v.is(value::Kind::Boolean)) return v.as_boolean();
    if (!v.is_string()) argument_error("str2bool(): Requires string to work with");
    const std::string_view s = v.as_string();
    if (regex_match("^$", s)) return false;
    if (regex_match("^(1|t|y|true|yes)$", s, regex::kIgnoreCase)) return true;
    if (regex_match("^(0|f|n|false|no)$", s, regex::kIgnoreCase)) return false;
    if (regex_match("^(undef|undefined)$", s)) return false;
    argument_error("str2bool(): Unknown type of boolean given");
}

bool num2bool(const Value& v) {
    if (v.is_integer()) return v.as_integer() > 0;
    if (v.is_float()) return std::trunc(v.as_float()) > 0;
    if (v.is_string()) {
        const auto d = strict_float(v.as_string());
        if (!d) {
            argument_error(
                "num2bool(): '{}' does not look like a number: invalid value for Float(): {}",
                v.as_string(), inspect(v));
        }
        return std::trunc(*d) > 0;
    }
    return to_integer(Value::string(ruby_to_s(v))) > 0;
}

namespace {

void expect(const Call& call, std::string_view name, std::size_t least) {
    if (call.size() < least)
        argument_error("{}(): Wrong number of arguments given ({} for {})", name, call.size(),
                       least);
}
void expect_exactly(const Call& call, std::string_view name, std::size_t n) {
    if (call.size() != n)
        argument_error("{}(): Wrong number of arguments given ({} for {})", name, call.size(), n);
}

Value str2bool_(const Call& call) {
    expect(call, "str2bool", 1);
    return Value::boolean(str2bool(call[0]));
}
Value num2bool_(const Call& call) {
    expect_exactly(call, "num2bool", 1);
    return Value::boolean(num2bool(call[0]));
}
Value bool2num(const Call& call) {
    expect(call, "bool2num", 1);
    return Value::integer(str2bool(call[0]) ? 1 : 0);
}
Value bool2str(const Call& call) {
    if (call.size() != 1 && call.size() != 3)
        argument_error("bool2str(): Wrong number of arguments given ({} for 3)", call.size());
    if (!call[0].is(value::Kind::Boolean))
        argument_error("bool2str(): Requires a boolean to work with");
    const Value yes = call.at(1).truthy() ? call[1] : Value::string("true");
    const Value no = call.at(2).truthy() ? call[2] : Value::string("false");
    if (!yes.is_string() || !no.is_string())
        argument_error("bool2str(): Requires strings to convert to");
    return call[0].as_boolean() ? yes : no;
}
Value any2bool(const Call& call) {
    expect(call, "any2bool", 1);
    const Value& v = call[0];
    if (v.is(value::Kind::Boolean)) return v;
    if (v.is_undef()) return Value::boolean(false);
    if (v.is_numeric()) return Value::boolean(num2bool(v));
    if (v.is_string())
        return Value::boolean(strict_float(v.as_string()) ? num2bool(v) : str2bool(v));
    return Value::boolean(true);
}

// --- functions on a string, or on each string in an array ---

using Mapper = std::string (*)(std::string_view);

template <Mapper F>
Value map_strings(const Call& call, std::string_view name) {
    expect(call, name, 1);
    const auto one = [&](const Value& v) {
        const std::string out = F(v.as_string());
        // Regexp.escape returns US-ASCII if the result is ASCII.
        const bool bytes = v.is_bytes() && (name != "regexpescape" || !value::ascii_only(out));
        return text(call, out).in_encoding(bytes);
    };
    if (call[0].is_string()) return one(call[0]);
    if (!call[0].is_array())
        argument_error("{}(): Requires either array or string to work with", name);
    std::vector<Value> out;
    for (const Value& v : call[0].as_array()) out.push_back(v.is_string() ? one(v) : v);
    return list(call, out);
}

std::string swap_case(std::string_view s) {
    std::string out;
    for (std::size_t i = 0; i < s.size();) {
        utf8proc_int32_t point = 0;
        const auto n = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(s.data() + i),
                                        static_cast<utf8proc_ssize_t>(s.size() - i), &point);
        if (n <= 0) {
            out += s[i++];
            continue;
        }
        i += static_cast<std::size_t>(n);
        const auto up = utf8proc_toupper(point);
        utf8proc_uint8_t buffer[4];
        const auto size = utf8proc_encode_char(up != point ? up : utf8proc_tolower(point), buffer);
        out.append(reinterpret_cast<const char*>(buffer), static_cast<std::size_t>(size));
    }
    return out;
}
std::string uri_escape(std::string_view s) {
    std::string out;
    for (const char c : s) {
        const bool safe =
            std::isalnum(static_cast<unsigned char>(c)) ||
            (c && std::string_view("-_.!~*'();/?:@&=+$,[]").find(c) != std::string_view::npos);
        if (safe && static_cast<unsigned char>(c) < 0x80)
            out += c;
        else
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
}
Value swapcase(const Call& call) { return map_strings<swap_case>(call, "swapcase"); }
Value regexpescape(const Call& call) { return map_strings<regex::escape>(call, "regexpescape"); }
Value uriescape(const Call& call) { return map_strings<uri_escape>(call, "uriescape"); }

/// Computes String#squeeze: a run of one character becomes a single character. `set` ("a-z", "^x")
/// limits the characters.
std::string squeeze_text(std::string_view s, const Value& set) {
    std::string chosen;
    bool negated = false;
    if (set.is_string()) {
        std::string_view spec = set.as_string();
        negated = spec.size() > 1 && spec[0] == '^';
        if (negated) spec.remove_prefix(1);
        for (std::size_t i = 0; i < spec.size(); ++i) {
            if (spec[i] == '\\' && i + 1 < spec.size()) ++i;
            if (i + 2 < spec.size() && spec[i + 1] == '-') {
                for (int c = static_cast<unsigned char>(spec[i]);
                     c <= static_cast<unsigned char>(spec[i + 2]); ++c)
                    chosen += static_cast<char>(c);
                i += 2;
            } else {
                chosen += spec[i];
            }
        }
    }
    std::string out;
    std::string_view before;
    for (const auto part : split_characters(s)) {
        const bool in_set = !set.is_string() || (chosen.find(part) != std::string::npos) != negated;
        if (part == before && in_set) continue;
        out += part;
        before = part;
    }
    return out;
}
Value squeeze(const Call& call) {
    if (call.size() != 1 && call.size() != 2)
        argument_error("squeeze(): Wrong number of arguments given {} for 2 or 1", call.size());
    const Value set = call.at(1);
    auto one = [&](const Value& v) {
        if (!v.is_string())
            argument_error("undefined method `squeeze' for {}:{}", inspect(v), ruby_class(v));
        return text(call, squeeze_text(v.as_string(), set), v);
    };
    if (!call[0].is_array()) return one(call[0]);
    std::vector<Value> out;
    for (const Value& v : call[0].as_array()) out.push_back(one(v));
    return list(call, out);
}

Value dos2unix(const Call& call) {
    if (!call[0].is_string()) argument_error("dos2unix(): Requires string as argument");
    return text(call, replace_all(call[0].as_string(), "\r\n", "\n"), call[0]);
}
Value unix2dos(const Call& call) {
    if (!call[0].is_string()) argument_error("unix2dos(): Requires string as argument");
    std::string out;
    for (const char c : call[0].as_string()) {
        if (c == '\n') {
            while (out.ends_with('\r')) out.pop_back();
            out += '\r';
        }
        out += c;
    }
    return text(call, out, call[0]);
}

// --- shells ---

std::string shell_word(std::string_view s) {
    if (s.empty()) return "''";
    std::string out;
    for (const auto part : split_characters(s)) {
        if (part == "\n") {
            out += "'\n'";
            continue;
        }
        const char c = part[0];
        const bool safe =
            part.size() == 1 && (std::isalnum(static_cast<unsigned char>(c)) ||
                                 std::string_view("_-.,:+/@").find(c) != std::string_view::npos);
        if (!safe) out += '\\';
        out += part;
    }
    return out;
}
Value shell_escape(const Call& call) { return text(call, shell_word(ruby_to_s(call[0])), call[0]); }
Value shell_join(const Call& call) {
    expect_exactly(call, "shell_join", 1);
    if (!call[0].is_array()) argument_error("First argument is not an Array: {}", inspect(call[0]));
    value::JoinedText out;
    for (const Value& v : call[0].as_array()) {
        if (&v != call[0].as_array().data()) out.append(" ");
        out.append(shell_word(ruby_to_s(v)), v.is_bytes());
    }
    return text(call, out);
}
Value shell_split(const Call& call) {
    expect_exactly(call, "shell_split", 1);
    const std::string line = ruby_to_s(call[0]);
    std::vector<Value> words;
    std::string word;
    bool in_word = false;
    auto unmatched = [&] { argument_error("Unmatched quote: {}", inspect_string(line)); };
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            if (in_word) words.push_back(text(call, word, call[0]));
            word.clear();
            in_word = false;
            continue;
        }
        in_word = true;
        if (c == '\'') {
            const std::size_t end = line.find('\'', i + 1);
            if (end == std::string::npos) unmatched();
            word += line.substr(i + 1, end - i - 1);
            i = end;
        } else if (c == '"') {
            for (++i; i < line.size() && line[i] != '"'; ++i) {
                if (line[i] == '\\' && i + 1 < line.size()) {
                    ++i;
                    if (std::string_view("$`\"\\\n").find(line[i]) == std::string_view::npos)
                        word += '\\';
                }
                word += line[i];
            }
            if (i >= line.size()) unmatched();
        } else if (c == '\\' && i + 1 < line.size()) {
            word += line[++i];
        } else {
            word += c;
        }
    }
    if (in_word) words.push_back(text(call, word, call[0]));
    return list(call, words);
}
Value batch_escape(const Call& call) {
    std::string out = "\"";
    for (const char c : ruby_to_s(call[0])) {
        if (c == '"') out += '"';
        if (c == '$' || c == '\\') out += '\\';
        out += c;
    }
    return text(call, out + '"');
}
Value powershell_escape(const Call& call) {
    std::string out;
    for (const char c : ruby_to_s(call[0])) {
        if (c == '"') {
            out += "\\`\"";
            continue;
        }
        if (std::string_view(" '`|\n$").find(c) != std::string_view::npos) out += '`';
        out += c;
    }
    return text(call, out);
}

// --- paths ---

std::string_view without_trailing_slashes(base::TextView s BUNRAKU_LIFETIMEBOUND) {
    while (s.size() > 1 && s.ends_with('/')) s.remove_suffix(1);
    return s;
}
std::string_view last_part(base::TextView s BUNRAKU_LIFETIMEBOUND) {
    s = without_trailing_slashes(s);
    if (s == "/") return s;
    const std::size_t slash = s.rfind('/');
    return slash == std::string_view::npos ? s : s.substr(slash + 1);
}
/// Returns File.extname of the last path segment.
std::string_view extension(base::TextView name BUNRAKU_LIFETIMEBOUND) {
    const std::size_t start = name.find_first_not_of('.');
    if (start == std::string_view::npos) return {};
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot < start) return {};
    return name.substr(dot);
}
Value basename(const Call& call) {
    if (call.size() == 0) argument_error("basename(): No arguments given");
    if (call.size() > 2) argument_error("basename(): Too many arguments given ({})", call.size());
    if (!call[0].is_string()) argument_error("basename(): Requires string as first argument");
    std::string_view name = last_part(call[0].as_string());
    if (call.size() == 2) {
        if (!call[1].is_string()) argument_error("basename(): Requires string as second argument");
        const std::string_view suffix = call[1].as_string();
        if (suffix == ".*")
            name.remove_suffix(extension(name).size());
        else if (name.ends_with(suffix) && name.size() > suffix.size())
            name.remove_suffix(suffix.size());
    }
    return text(call, name, call[0]);
}
Value dirname(const Call& call) {
    if (call.size() == 0) argument_error("dirname(): No arguments given");
    if (call.size() > 1) argument_error("dirname(): Too many arguments given ({})", call.size());
    if (!call[0].is_string()) argument_error("dirname(): Requires string as argument");
    if (call[0].as_string().empty())
        argument_error("dirname(): Requires a non-empty string as argument");
    std::string_view s = call[0].as_string();
    while (s.starts_with("//")) s.remove_prefix(1);
    s = without_trailing_slashes(s);
    const std::size_t slash = s.rfind('/');
    if (slash == std::string_view::npos) return text(call, ".");
    if (slash == 0) return text(call, "/");
    return text(call, without_trailing_slashes(s.substr(0, slash)), call[0]);
}
Value extname(const Call& call) {
    return text(call, extension(last_part(call[0].as_string())), call[0]);
}

template <bool kFront>
Value edge_is(const Call& call) {
    const std::string_view s = call[0].as_string();
    auto fits = [&](const Value& v) {
        return kFront ? s.starts_with(v.as_string()) : s.ends_with(v.as_string());
    };
    if (call[1].is_string()) return Value::boolean(fits(call[1]));
    return Value::boolean(std::any_of(call[1].as_array().begin(), call[1].as_array().end(), fits));
}
Value xml_encode(const Call& call) {
    const bool attribute = call.size() > 1 && call[1].as_string() == "attr";
    std::string out;
    if (attribute) out += '"';
    for (const char c : call[0].as_string()) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += attribute ? "&quot;" : "\""; break;
            default: out += c;
        }
    }
    if (attribute) out += '"';
    return text(call, out);
}

// --- numbers ---

Value to_bytes(const Call& call) {
    expect_exactly(call, "to_bytes", 1);
    if (call[0].is_numeric()) return call[0];
    if (!call[0].is_string())
        argument_error("no implicit conversion of {} into String", ruby_class(call[0]));
    const std::string_view s = call[0].as_string();
    const auto compiled = regex::Regex::cached("([0-9.e+-]*)\\s*([^bB]?)");
    const auto m = (*compiled)->search(s);
    double value = leading_float(m->group(s, 1));
    const std::string_view prefix = m->group(s, 2);
    if (!prefix.empty()) {
        const std::size_t power = std::string_view("kMGTPE").find(prefix);
        if (prefix.size() != 1 || power == std::string_view::npos)
            argument_error("to_bytes(): Unknown prefix {}", prefix);
        value = std::ldexp(value, 10 * (static_cast<int>(power) + 1));
    }
    return Value::integer(to_integer(Value::floating(value)));
}
Value convert_base(const Call& call) {
    for (std::size_t i = 0; i < 2; ++i) {
        if (!call[i].is_integer() && !call[i].is_string())
            argument_error("convert_base(): {} argument must be either a string or an integer",
                           i == 0 ? "First" : "Second");
    }
    for (const Value& v : call.args) {
        if (v.is_string() && !regex_match("^[0-9]+$", v.as_string()))
            argument_error(
                "convert_base(): First argument must be an integer or a string corresponding to "
                "an integer in base 10");
    }
    const std::int64_t base = nearest_integer(call[1]).n;
    if (base < 2 || base > 36)
        argument_error("convert_base(): base must be at least 2 and must not be greater than 36");
    const auto number =
        call[0].is_integer()
            ? value::BigInteger(call[0].as_integer())
            : value::BigInteger::parse(call[0].as_string(), 10).value_or(value::BigInteger());
    return text(call, (number.negative() ? "-" : "") + number.digits(static_cast<unsigned>(base)));
}
Value sprintf_hash(const Call& call) {
    deprecation(call, "sprintf_hash",
                "This method is deprecated. From Puppet 4.10.10/5.3.4 please use the built-in "
                "sprintf instead");
    return formatted(call);
}

const Builtin kFunctions[] = {
    {"str2bool", "Reads a boolean from a string.", {{"", str2bool_}}, false, -1, {}, usual::texts},
    {"num2bool",
     "True for numbers greater than zero.",
     {{"", num2bool_}},
     false,
     -1,
     {},
     usual::number},
    {"bool2num", "1 for true, 0 for false.", {{"", bool2num}}, false, -1, {}, usual::data},
    {"bool2str", "A word for true or for false.", {{"", bool2str}}, false, -1, {}, usual::data},
    {"any2bool", "Converts any value to a boolean.", {{"", any2bool}}, false, -1},
    {"swapcase", "Swaps upper and lower case.", {{"", swapcase}}, false, -1, {}, usual::texts},
    {"regexpescape",
     "Escapes what regular expressions treat specially.",
     {{"", regexpescape}},
     false,
     -1},
    {"uriescape",
     "Escapes what URIs may not hold.",
     {{"", uriescape}},
     false,
     -1,
     {},
     usual::texts},
    {"squeeze",
     "Makes one character of runs of it.",
     {{"", squeeze}},
     false,
     -1,
     {},
     usual::squeeze},
    {"dos2unix", "Replaces CR LF by LF.", {{"", dos2unix}}, false, 1},
    {"unix2dos", "Replaces LF by CR LF.", {{"", unix2dos}}, false, 1},
    {"shell_escape",
     "Escapes a word for a POSIX shell.",
     {{"Any string", shell_escape}},
     false,
     evaluator::kTyped,
     {},
     usual::texts},
    {"stdlib::shell_escape", "Escapes a word for a POSIX shell.", {{"Any string", shell_escape}}},
    {"shell_join",
     "Escapes words for a POSIX shell and joins them.",
     {{"", shell_join}},
     false,
     -1},
    {"shell_split",
     "Splits a line into words as a POSIX shell does.",
     {{"", shell_split}},
     false,
     -1},
    {"batch_escape", "Escapes a word for cmd.exe.", {{"Any string", batch_escape}}},
    {"stdlib::batch_escape", "Escapes a word for cmd.exe.", {{"Any string", batch_escape}}},
    {"powershell_escape", "Escapes a word for PowerShell.", {{"Any string", powershell_escape}}},
    {"stdlib::powershell_escape",
     "Escapes a word for PowerShell.",
     {{"Any string", powershell_escape}}},
    {"basename", "The last part of a path, without a suffix.", {{"", basename}}, false, -1},
    {"dirname", "A path without its last part.", {{"", dirname}}, false, -1, {}, usual::texts},
    {"stdlib::extname", "The extension of a path.", {{"String filename >> String", extname}}},
    {"stdlib::start_with",
     "True if a string begins with one of the prefixes.",
     {{"String test_string, Variant[String[1],Array[String[1], 1]] prefixes >> Boolean",
       edge_is<true>}}},
    {"stdlib::end_with",
     "True if a string ends with one of the suffixes.",
     {{"String test_string, Variant[String[1],Array[String[1], 1]] suffixes >> Boolean",
       edge_is<false>}}},
    {"stdlib::xml_encode",
     "Escapes text for XML.",
     {{"String str, Enum['text','attr'] type? >> String", xml_encode}}},
    {"to_bytes",
     "The number of bytes that \"4 kB\" names.",
     {{"", to_bytes}},
     false,
     -1,
     {},
     usual::number},
    {"convert_base", "Writes a number in another base.", {{"", convert_base}}, false, 2},
    {"sprintf_hash",
     "Formats with named references.",
     {{"String format, Hash arguments", sprintf_hash}}},
};

}  // namespace

std::span<const Builtin> stdlib_string_functions() { return kFunctions; }

}  // namespace bunraku::function
