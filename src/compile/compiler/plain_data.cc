// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler/plain_data.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/plain_error.h"
#include "core/base/work_limit.h"
#include "core/value/build.h"
#include "language/types/runtime_object.h"
#include "resources/catalog/json_text.h"

namespace bunraku::compiler {

using value::Kind;
using value::Value;

namespace {

constexpr std::string_view kUnknown = "SERIALIZATION_UNKNOWN_CONVERTED_TO_STRING";

/// Returns the Ruby class of a URI.
std::string_view uri_class(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kClasses = {{
        {"http:", "URI::HTTP"},
        {"https:", "URI::HTTPS"},
        {"file:", "URI::File"},
        {"ftp:", "URI::FTP"},
        {"ldap:", "URI::LDAP"},
        {"ldaps:", "URI::LDAPS"},
        {"mailto:", "URI::MailTo"},
        {"ws:", "URI::WS"},
        {"wss:", "URI::WSS"},
    }};
    for (const auto& [scheme, name] : kClasses)
        if (text.starts_with(scheme)) return name;
    return "URI::Generic";
}

/// Returns the name of a value in Puppet's messages, usually its Ruby class.
std::string label(const Value& v) {
    switch (v.kind()) {
        case Kind::Undef: return "NilClass";
        case Kind::Boolean: return v.truthy() ? "TrueClass" : "FalseClass";
        case Kind::Integer: return "Integer";
        case Kind::Float: return "Float";
        case Kind::Array: return "Array";
        case Kind::Hash: return "Hash";
        case Kind::Regexp: return "Regexp";
        case Kind::Sensitive: return "Sensitive";
        case Kind::Timestamp: return "Puppet::Pops::Time::Timestamp";
        case Kind::Timespan: return "Puppet::Pops::Time::Timespan";
        case Kind::SemVer: return "SemanticPuppet::Version";
        case Kind::SemVerRange: return "SemanticPuppet::VersionRange";
        case Kind::Binary: return "Puppet::Pops::Types::PBinaryType::Binary";
        case Kind::Uri: return std::string(uri_class(v.as_string()));
        default: break;
    }
    // "My::Object({..})", "Integer[1, 2]"
    std::string text = value::to_text(v);
    text.resize(std::min(text.size(), text.find_first_of("[(")));
    if (v.is_type()) text += "-Type";
    return text;
}

std::string with_article(std::string text) {
    const bool vowel =
        !text.empty() && std::string_view("aeiouAEIOU").find(text[0]) != std::string_view::npos;
    return (vowel ? "an " : "a ") + std::move(text);
}

class Converter {
public:
    Converter(base::Arena& arena, const catalog::Resource& resource, evaluator::Strict strict,
              base::LogSink& log, bool rich)
        : arena_(arena), resource_(resource), strict_(strict), log_(log), rich_(rich) {}

    Value parameter(const catalog::Parameter& p) {
        path_ = fmt::format("['{}']", p.name);
        if (p.value.is(Kind::Sensitive))
            return value::make_sensitive(arena_, convert(p.value.unwrap()));
        return convert(p.value);
    }

private:
    Value convert(const Value& v) {
        base::step();
        if (const auto* object = types::as_runtime_object(v)) {
            issue(fmt::format("contains {} value. It will be converted to the String '{}'",
                              with_article(std::string(object->class_name())), object->text()),
                  kUnknown);
            return value::make_string(arena_, object->text());
        }
        if (rich_ && !v.is_array() && !v.is_hash() && !v.is(Kind::Sensitive)) return v;
        switch (v.kind()) {
            case Kind::Undef:
            case Kind::Boolean:
            case Kind::Integer:
            case Kind::Float: return v;
            case Kind::String: return v.in_encoding(false);
            case Kind::Default:
                issue(
                    "contains the special value default. It will be converted to the String "
                    "'default'",
                    "SERIALIZATION_DEFAULT_CONVERTED_TO_STRING");
                return Value::string("default");
            case Kind::Array: {
                std::vector<Value> items;
                const auto from = v.as_array();
                for (std::size_t i = 0; i < from.size(); ++i)
                    items.push_back(below(fmt::format("[{}]", i), from[i]));
                return value::make_array(arena_, items);
            }
            case Kind::Hash: {
                value::HashBuilder out(arena_, v.as_hash().size());
                for (const auto& e : v.as_hash()) {
                    const Value name = rich_ ? e.key : key(e.key);
                    out.set(name, below(fmt::format("['{}']", value::to_text(name)), e.value));
                }
                return out.build();
            }
            case Kind::Sensitive: return value::make_sensitive(arena_, convert(v.unwrap()));
            default: break;
        }
        if (const auto reference = catalog::reference_text(v); !reference.empty())
            return value::make_string(arena_, reference);
        const std::string text = value::to_text(v);
        issue(fmt::format("contains {} value. It will be converted to the String '{}'",
                          with_article(label(v)), text),
              kUnknown);
        return value::make_string(arena_, text);
    }

    Value below(const std::string& step, const Value& v) {
        const auto length = path_.size();
        path_ += step;
        const Value out = convert(v);
        path_.resize(length);
        return out;
    }

    Value key(const Value& v) {
        if (v.is_string()) return v;
        if (v.is(Kind::Default)) return Value::string("default");
        if (const auto reference = catalog::reference_text(v); !reference.empty())
            return value::make_string(arena_, reference);
        const std::string text = value::to_text(v);
        issue(fmt::format("contains a hash with {} key. It will be converted to the String '{}'",
                          with_article(label(v)), text),
              "SERIALIZATION_UNKNOWN_KEY_CONVERTED_TO_STRING");
        return value::make_string(arena_, text);
    }

    void issue(std::string_view what, std::string_view code) {
        if (strict_ == evaluator::Strict::Off) return;
        std::string text =
            fmt::format("{}[{}]{} {}", resource_.ref.type, resource_.ref.title, path_, what);
        const base::Location where{resource_.file, resource_.line, 0};
        if (strict_ == evaluator::Strict::Error) {
            if (const auto place = base::format_location(where); !place.empty())
                text += " " + place;
            throw base::plain_error("Evaluation Error: " + text);
        }
        log_.log(base::Diagnostic{.level = base::Level::Warning,
                                  .message = std::move(text),
                                  .where = where,
                                  .issue_code = std::string(code)});
    }

    base::Arena& arena_;
    const catalog::Resource& resource_;
    evaluator::Strict strict_;
    base::LogSink& log_;
    bool rich_;  // only convert values that rich data cannot represent either
    std::string path_;
};

bool holds_runtime_object(const Value& v) {
    base::step();
    if (v.is_array()) return std::ranges::any_of(v.as_array(), holds_runtime_object);
    if (v.is_hash()) {
        return std::ranges::any_of(v.as_hash().entries, [](const value::Entry& e) {
            return holds_runtime_object(e.key) || holds_runtime_object(e.value);
        });
    }
    if (v.is(Kind::Sensitive)) return holds_runtime_object(v.unwrap());
    return types::as_runtime_object(v) != nullptr;
}

catalog::Catalog converted(const catalog::Catalog& catalog, evaluator::Strict strict,
                           base::LogSink& log, bool rich) {
    catalog::Catalog out = catalog;
    if (!out.arena) out.arena = std::make_shared<base::Arena>(4096);
    for (auto& resource : out.resources) {
        if (resource.virtual_) continue;
        Converter converter(*out.arena, resource, strict, log, rich);
        for (auto& p : resource.parameters) p.value = converter.parameter(p);
    }
    return out;
}

}  // namespace

bool holds_runtime_objects(const catalog::Catalog& catalog) {
    return std::ranges::any_of(catalog.resources, [](const catalog::Resource& r) {
        return !r.virtual_ && std::ranges::any_of(r.parameters, [](const catalog::Parameter& p) {
            return holds_runtime_object(p.value);
        });
    });
}

catalog::Catalog without_rich_data(const catalog::Catalog& catalog, evaluator::Strict strict,
                                   base::LogSink& log) {
    return converted(catalog, strict, log, false);
}

catalog::Catalog without_runtime_objects(const catalog::Catalog& catalog, evaluator::Strict strict,
                                         base::LogSink& log) {
    return converted(catalog, strict, log, true);
}

}  // namespace bunraku::compiler
