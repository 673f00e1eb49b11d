// SPDX-License-Identifier: Apache-2.0
// Constructors of String, Regexp, Type, Sensitive, SemVer, SemVerRange, Binary and URI.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "core/base/diagnostic.h"
#include "core/base/semver.h"
#include "core/base/text.h"
#include "core/regex/escape.h"
#include "core/value/build.h"
#include "core/value/encoding.h"
#include "language/types/factory.h"
#include "language/types/internal.h"
#include "language/types/new_internal.h"
#include "language/types/new_uri.h"

namespace bunraku::types {

using base::PuppetError;
using base::SemVer;
using base::SemVerRange;
using value::Kind;

namespace {

Value string_from(Context& ctx, Args args) {
    const Value format = args.size() > 1 ? args[1] : Value::default_value();
    // Kernel#format returns UTF-8 if possible. A value that needs no format is returned unchanged.
    const bool as_it_is = format.is_default() || (format.is_string() && format.as_string() == "%p");
    const bool bytes = args[0].is_bytes() ? as_it_is || !value::ascii_only(args[0].as_string())
                                          : value::holds_wide_bytes(args[0]);
    return value::make_string(ctx.arena, convert_to_string(ctx, args[0], format))
        .in_encoding(bytes);
}

Value regexp_from(Context& ctx, Args args) {
    const std::string_view pattern = args[0].as_string();
    if (args.size() > 1 && args[1].truthy()) {
        return value::make_regexp(ctx.arena, regex::escape(pattern));
    }
    return value::make_regexp(ctx.arena, pattern);
}

Value type_from(Context& ctx, Args args) {
    try {
        return Value::type(parse_type(ctx, args[0].as_string()));
    } catch (const PuppetError& error) {
        // A syntax error in the text is reported as an error of this call.
        throw PuppetError(error.message(), error.issue_code());
    }
}

Value same(Context&, Args args) { return args[0]; }

Value sensitive_from(Context& ctx, Args args) { return value::make_sensitive(ctx.arena, args[0]); }

Value semver_from_string(Context& ctx, Args args) {
    if (auto v = SemVer::parse(args[0].as_string())) return value::make_semver(ctx.arena, *v);
    throw PuppetError("Numeric pre-release identifiers MUST NOT contain leading zeroes");
}

Value semver_of(Context& ctx, const Value& major, const Value& minor, const Value& patch,
                const Value& prerelease, const Value& build) {
    SemVer v;
    v.major = static_cast<std::uint64_t>(major.as_integer());
    v.minor = static_cast<std::uint64_t>(minor.as_integer());
    v.patch = static_cast<std::uint64_t>(patch.as_integer());
    if (prerelease.is_string()) v.prerelease = prerelease.as_string();
    if (build.is_string()) v.build = build.as_string();
    return value::make_semver(ctx.arena, std::move(v));
}

Value at(Args args, std::size_t i) { return i < args.size() ? args[i] : Value::undef(); }
Value entry(const Value& hash, std::string_view key) {
    const Value* v = hash.as_hash().find(key);
    return v != nullptr ? *v : Value::undef();
}

Value semver_from_args(Context& ctx, Args args) {
    return semver_of(ctx, args[0], args[1], args[2], at(args, 3), at(args, 4));
}
Value semver_from_hash(Context& ctx, Args args) {
    const Value& h = args[0];
    return semver_of(ctx, entry(h, "major"), entry(h, "minor"), entry(h, "patch"),
                     entry(h, "prerelease"), entry(h, "build"));
}
std::string semver_mismatch(Context&, Args args) {
    return fmt::format("The string '{}' cannot be converted to a SemVer", args[0].as_string());
}

Value range_from_string(Context& ctx, Args args) {
    if (auto range = SemVerRange::parse(args[0].as_string())) {
        return value::make_semver_range(ctx.arena, *range);
    }
    throw PuppetError(fmt::format("Unparsable version range: \"{}\"", args[0].as_string()));
}
Value range_of(Context& ctx, const Value& min, const Value& max, bool exclude_max) {
    const auto bound = [](const Value& v) {
        return v.is(Kind::SemVer) ? std::optional(v.as_semver()) : std::nullopt;
    };
    return value::make_semver_range(ctx.arena,
                                    SemVerRange::between(bound(min), bound(max), exclude_max));
}
Value range_from_versions(Context& ctx, Args args) {
    return range_of(ctx, args[0], args[1], at(args, 2).truthy());
}
Value range_from_hash(Context& ctx, Args args) {
    return range_of(ctx, entry(args[0], "min"), entry(args[0], "max"),
                    entry(args[0], "exclude_max").truthy());
}

int base64_digit(char c, bool url) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == (url ? '-' : '+')) return 62;
    if (c == (url ? '_' : '/')) return 63;
    return -1;
}

/// Decodes base64. Strict mode allows only the alphabet and requires correct padding; relaxed mode
/// skips other characters.
std::string decode_base64(std::string_view text, bool strict, bool url) {
    std::string out;
    std::uint32_t group = 0;
    int bits = 0;
    std::size_t digits = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '=') {
            if (strict) {
                const std::string_view tail = text.substr(i);
                const std::size_t wanted = (4 - digits % 4) % 4;
                if (digits % 4 < 2 || tail.size() != wanted ||
                    tail.find_first_not_of('=') != std::string_view::npos) {
                    throw PuppetError("invalid base64");
                }
            }
            break;
        }
        const int d = base64_digit(text[i], url);
        if (d < 0) {
            if (strict) throw PuppetError("invalid base64");
            continue;
        }
        ++digits;
        group = group << 6 | static_cast<std::uint32_t>(d);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out += static_cast<char>(group >> bits & 0xFF);
        }
    }
    const bool padded = text.find('=') != std::string_view::npos;
    if (strict && digits % 4 != 0 && !(url && !padded && digits % 4 != 1) && !padded) {
        throw PuppetError("invalid base64");
    }
    // The unused bits must be zero.
    if (strict && bits > 0 && (group & ((1U << bits) - 1)) != 0) {
        throw PuppetError("invalid base64");
    }
    return out;
}

Value binary_of(Context& ctx, std::string_view text, std::string_view format) {
    if (format == "%b") return value::make_binary(ctx.arena, decode_base64(text, false, false));
    if (format == "%u") return value::make_binary(ctx.arena, decode_base64(text, true, true));
    if (format == "%s" || format == "%r") return value::make_binary(ctx.arena, text);
    return value::make_binary(ctx.arena, decode_base64(text, true, false));
}
Value binary_of_bytes(Context& ctx, std::span<const Value> bytes) {
    std::string out;
    for (const Value& b : bytes) out += static_cast<char>(b.as_integer());
    return value::make_binary(ctx.arena, out);
}
Value binary_from_string(Context& ctx, Args args) {
    return binary_of(ctx, args[0].as_string(), args.size() > 1 ? args[1].as_string() : "%B");
}
Value binary_from_array(Context& ctx, Args args) {
    return binary_of_bytes(ctx, args[0].as_array());
}
Value binary_from_hash(Context& ctx, Args args) {
    const Value content = entry(args[0], "value");
    if (content.is_array()) return binary_of_bytes(ctx, content.as_array());
    const Value format = entry(args[0], "format");
    return binary_of(ctx, content.as_string(), format.is_string() ? format.as_string() : "%B");
}

Value uri_of(Context& ctx, UriParts parts) {
    if (parts.scheme) {
        parts.scheme = base::lower(*parts.scheme);
        // Ruby omits the default port of the scheme.
        static constexpr std::pair<std::string_view, std::string_view> kPorts[] = {
            {"http", "80"},   {"https", "443"}, {"ftp", "21"}, {"ldap", "389"},
            {"ldaps", "636"}, {"ws", "80"},     {"wss", "443"}};
        for (const auto& [scheme, port] : kPorts) {
            if (*parts.scheme == scheme && parts.port == port) parts.port.reset();
        }
    }
    return Value::uri(ctx.arena.copy(parts.to_string()));
}
Value uri_from_string(Context& ctx, Args args) {
    return uri_of(ctx, UriParts::parse(args[0].as_string()));
}
Value uri_from_hash(Context& ctx, Args args) {
    UriParts parts;
    const auto text = [&](std::string_view key) -> std::optional<std::string> {
        const Value v = entry(args[0], key);
        if (v.is_undef()) return std::nullopt;
        return value::to_text(v);
    };
    parts.scheme = text("scheme");
    parts.userinfo = text("userinfo");
    parts.host = text("host");
    parts.port = text("port");
    parts.path = text("path");
    parts.query = text("query");
    parts.fragment = text("fragment");
    parts.opaque = text("opaque");
    return uri_of(ctx, UriParts::parse(parts.to_string()));
}

}  // namespace

Constructor string_constructor() {
    return {
        "new_string",
        {{"Format", R"(Pattern[/^%([\s\[+#0{<(|-]*)([1-9][0-9]*)?(?:\.([0-9]+))?([a-zA-Z])$/])"},
         {"ContainerFormat",
          "Struct[{Optional[format] => Format, Optional[separator] => String, "
          "Optional[separator2] => String, Optional[string_formats] => Hash[Type, Format]}]"},
         {"TypeMap", "Hash[Type, Variant[Format, ContainerFormat]]"},
         {"Convertible", "Any"},
         {"Formats", "Variant[Default, String[1], TypeMap]"}},
        {{.parameters = {{"Convertible", "from"}, {"Formats", "string_formats", true}},
          .make = string_from}}};
}

Constructor regexp_constructor() {
    return {"new_float",
            {},
            {{.parameters = {{"String", "pattern"}, {"Boolean", "escape", true}},
              .make = regexp_from}}};
}

Constructor type_constructor() {
    return {"new_type", {}, {{.parameters = {{"String[1]", "type_string"}}, .make = type_from}}};
}

Constructor unit_constructor() {
    return {"new_unit", {}, {{.parameters = {{"Any", "from"}}, .make = same}}};
}

Constructor sensitive_constructor() {
    return {"new_Sensitive",
            {},
            {{.parameters = {{"Sensitive", "value"}}, .make = same},
             {.parameters = {{"Any", "value"}}, .make = sensitive_from}}};
}

Constructor semver_constructor() {
    static constexpr std::string_view kNumeric = "(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)";
    static constexpr std::string_view kIds = "([0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)";
    return {"new_Version",
            {{"PositiveInteger", "Integer[0,default]"},
             {"SemVerQualifier", R"(Pattern[/\A(?<part>[0-9A-Za-z-]+)(?:\.\g<part>)*\Z/])"},
             {"SemVerPattern",
              fmt::format("Pattern[/\\A{}(?:-{})?(?:\\+{})?\\Z/]", kNumeric, kIds, kIds)},
             {"SemVerHash",
              "Struct[{major=>PositiveInteger,minor=>PositiveInteger,patch=>PositiveInteger,"
              "Optional[prerelease]=>SemVerQualifier,Optional[build]=>SemVerQualifier}]"}},
            {{.parameters = {{"SemVerPattern", "str"}}, .make = semver_from_string},
             {.parameters = {{"PositiveInteger", "major"},
                             {"PositiveInteger", "minor"},
                             {"PositiveInteger", "patch"},
                             {"SemVerQualifier", "prerelease", true},
                             {"SemVerQualifier", "build", true}},
              .make = semver_from_args},
             {.parameters = {{"SemVerHash", "hash_args"}}, .make = semver_from_hash},
             {.parameters = {{"String", "str"}}, .mismatch = semver_mismatch}}};
}

Constructor semver_range_constructor() {
    return {"new_VersionRange",
            {{"SemVerRangeString", "String[1]"},
             {"SemVerRangeHash",
              "Struct[{min=>Variant[Default,SemVer],Optional[max]=>Variant[Default,SemVer],"
              "Optional[exclude_max]=>Boolean}]"}},
            {{.parameters = {{"SemVerRangeString", "str"}}, .make = range_from_string},
             {.parameters = {{"Variant[Default,SemVer]", "min"},
                             {"Variant[Default,SemVer]", "max"},
                             {"Boolean", "exclude_max", true}},
              .make = range_from_versions},
             {.parameters = {{"SemVerRangeHash", "hash_args"}}, .make = range_from_hash}}};
}

Constructor binary_constructor() {
    return {"new_Binary",
            {{"ByteInteger", "Integer[0,255]"},
             {"Base64Format", R"(Enum["%b", "%u", "%B", "%s", "%r"])"},
             {"StringHash", R"(Struct[{value => String, "format" => Optional[Base64Format]}])"},
             {"ArrayHash", "Struct[{value => Array[ByteInteger]}]"},
             {"BinaryArgsHash", "Variant[StringHash, ArrayHash]"}},
            {{.parameters = {{"String", "str"}, {"Base64Format", "format", true}},
              .make = binary_from_string},
             {.parameters = {{"Array[ByteInteger]", "byte_array"}}, .make = binary_from_array},
             {.parameters = {{"BinaryArgsHash", "hash_args"}}, .make = binary_from_hash}}};
}

Constructor uri_constructor() {
    return {"new_error",
            {},
            {{.parameters = {{"String[1]", "uri"}}, .make = uri_from_string},
             {.parameters = {{"Struct[{Optional[scheme] => String[1], Optional[userinfo] => "
                              "String[1], Optional[host] => String[1], Optional[port] => "
                              "Integer[0], Optional[path] => String[1], Optional[query] => "
                              "String[1], Optional[fragment] => String[1], Optional[opaque] => "
                              "String[1]}]",
                              "hash"}},
              .make = uri_from_hash}}};
}

}  // namespace bunraku::types
