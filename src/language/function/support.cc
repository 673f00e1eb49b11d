// SPDX-License-Identifier: Apache-2.0
#include "language/function/support.h"

#include <memory>

#include "core/regex/regex.h"
#include "language/types/iterator.h"
#include "language/types/kinds.h"

namespace bunraku::function {

void require_catalog(const Call& call, std::string_view operation) {
    auto* inputs = call.interpreter.hosts().inputs;
    if (inputs && inputs->setting("tasks").value_or("false") == "true") {
        throw base::PuppetError(
            fmt::format("The catalog operation '{}' is only available when compiling a catalog",
                        operation),
            "CATALOG_OPERATION_NOT_SUPPORTED_WHEN_SCRIPTING");
    }
}

std::string_view ruby_class(const Value& v) {
    using value::Kind;
    switch (v.kind()) {
        case Kind::Undef: return "NilClass";
        case Kind::Default: return "Symbol";
        case Kind::Boolean: return v.as_boolean() ? "TrueClass" : "FalseClass";
        case Kind::Integer: return "Integer";
        case Kind::Float: return "Float";
        case Kind::String: return "String";
        case Kind::Array: return "Array";
        case Kind::Hash: return "Hash";
        case Kind::Regexp: return "Regexp";
        case Kind::Sensitive: return "Puppet::Pops::Types::PSensitiveType::Sensitive";
        case Kind::Timestamp: return "Puppet::Pops::Time::Timestamp";
        case Kind::Timespan: return "Puppet::Pops::Time::Timespan";
        case Kind::SemVer: return "SemanticPuppet::Version";
        case Kind::SemVerRange: return "SemanticPuppet::VersionRange";
        case Kind::Binary: return "Puppet::Pops::Types::PBinaryType::Binary";
        case Kind::Uri: return "URI::Generic";
        case Kind::Type: return "Puppet::Pops::Types::PAnyType";
        default: return "Object";
    }
}

std::size_t characters(std::string_view s) {
    std::size_t n = 0;
    for (unsigned char c : s) n += (c & 0xC0) != 0x80;
    return n;
}

std::vector<std::string_view> split_characters(base::TextView s) {
    std::vector<std::string_view> out;
    out.reserve(s.size());
    for (std::size_t i = 0; i < s.size();) {
        std::size_t end = i + 1;
        while (end < s.size() && (static_cast<unsigned char>(s[end]) & 0xC0) == 0x80) ++end;
        out.push_back(s.substr(i, end - i));
        i = end;
    }
    return out;
}

void warn_deprecated(const Call& call, std::string_view message, std::string_view key) {
    call.interpreter.warn_once(std::string(message), "", nullptr, key);
}

void warn_once(const Call& call, std::string message, bool with_location) {
    message += "\n   ";
    if (!with_location || !call.site) {
        message += "(file & line not available)";
    } else {
        const auto where = call.site->where();
        message += fmt::format("(file: {}, line: {})", where.file.empty() ? "unknown" : where.file,
                               where.line);
    }
    call.interpreter.warn_once(std::move(message), "", nullptr);
}

namespace {
struct CachedRegex {
    std::shared_ptr<const regex::Regex> regex;
};
}  // namespace

const regex::Regex& pattern_of(const Call& call, const Value& pattern, std::uint32_t options) {
    if (pattern.is(value::Kind::Regexp)) return *pattern.as_regexp().regex;
    std::string_view source;
    if (pattern.is_string()) {
        source = pattern.as_string();
    } else if (pattern.is_type() && pattern.as_type()->kind == types::TypeKind::Regexp) {
        const auto* type = static_cast<const types::RegexpType*>(pattern.as_type());
        source = type->rep ? type->rep->source : std::string_view();
    }
    auto compiled = regex::Regex::cached(source, options);
    if (!compiled) throw base::PuppetError(compiled.error().message);
    auto kept = std::make_unique<CachedRegex>(CachedRegex{std::move(*compiled)});
    return *call.arena().own(std::move(kept))->regex;
}

std::vector<Value> elements(const Call& call, const Value& iterable) {
    std::vector<Value> out;
    if (iterable.is_array()) {
        out.assign(iterable.as_array().begin(), iterable.as_array().end());
    } else if (iterable.is_hash()) {
        for (const auto& e : iterable.as_hash())
            out.push_back(value::make_array(call.arena(), {e.key, e.value}));
    } else {
        auto& ctx = call.interpreter.types();
        const types::Iterator* it = types::iterable_on(ctx, iterable);
        if (!it) argument_error("expected an Iterable, got {}", ruby_class(iterable));
        types::Cursor* cursor = it->start(ctx);
        for (Value v; cursor->next(&v);) out.push_back(v);
    }
    return out;
}

std::string ruby_inspect(const Value& v) {
    std::string out;
    value::print_inspect(out, v);
    return out;
}

std::string ruby_to_s(const Value& v) {
    if (v.is_undef()) return "";
    if (v.is_string()) return std::string(v.as_string());
    if (v.is_default()) return "default";
    if (v.is_array() || v.is_hash()) return ruby_inspect(v);
    if (v.is(value::Kind::Sensitive)) return "Sensitive [value redacted]";
    if (v.is(value::Kind::Regexp)) {  // "(?-mix:a)"
        const auto& rep = v.as_regexp();
        std::string on, off;
        ((rep.options & 4) ? on : off) += 'm';
        ((rep.options & 1) ? on : off) += 'i';
        ((rep.options & 2) ? on : off) += 'x';
        return fmt::format("(?{}{}{}:{})", on, off.empty() ? "" : "-", off, rep.source);
    }
    return value::to_text(v);
}

void append_to_s(value::JoinedText& out, const Value& v) {
    if (v.is_string()) {
        out.append(v.as_string(), v.is_bytes());
    } else {
        out.append(ruby_to_s(v), value::holds_wide_bytes(v));
    }
}

std::string failed_execution(std::string_view command, int status, std::string_view output) {
    auto blank = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0'; };
    while (!output.empty() && blank(output.front())) output.remove_prefix(1);
    while (!output.empty() && blank(output.back())) output.remove_suffix(1);
    return fmt::format("Execution of '{}' returned {}: {}", command, status, output);
}

}  // namespace bunraku::function
