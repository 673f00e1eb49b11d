// SPDX-License-Identifier: Apache-2.0
// stdlib's functions for data formats: JSON, YAML, TOML, and Ruby and Python literals.
#include <algorithm>

#include "core/base/work_limit.h"
#include "core/codec/json_text.h"
#include "core/codec/yaml.h"
#include "core/regex/regex.h"
#include "core/value/escapes.h"
#include "core/value/rich_data.h"
#include "language/function/stdlib_support.h"
#include "language/function/stdlib_usual.h"
#include "language/function/yaml_text.h"

namespace bunraku::function {

using value::Kind;

namespace {

Value from_yaml(const Call& call, const codec::YamlNode& n) {
    using K = codec::YamlNode::Kind;
    switch (n.kind) {
        case K::Null: return Value::undef();
        case K::Boolean: return Value::boolean(n.boolean);
        case K::Integer: return Value::integer(n.integer);
        case K::Float: return Value::floating(n.number);
        case K::String: return text(call, n.text);
        case K::Sequence: {
            std::vector<Value> out;
            out.reserve(n.items.size());
            for (const auto& item : n.items) out.push_back(from_yaml(call, item));
            return list(call, out);
        }
        case K::Mapping: {
            value::HashBuilder out(call.arena());
            for (const auto& [k, v] : n.entries) out.set(from_yaml(call, k), from_yaml(call, v));
            return out.build();
        }
    }
    return Value::undef();
}

}  // namespace

Value json_value(const Call& call, std::string_view source) {
    auto parsed = value::parse_json(call.arena(), source);
    if (!parsed) argument_error("{}", parsed.error().message);
    return *parsed;
}
Value yaml_value(const Call& call, std::string_view source, std::string_view file) {
    const auto parsed = codec::parse_yaml(source, file);
    if (!parsed) argument_error("{}", parsed.error().message);
    return from_yaml(call, *parsed);
}

namespace {

// --- writing ---

/// Removes Sensitive wrappers at any depth. Returns true if there was one.
bool unwrap(const Call& call, Value& v) {
    base::step();
    if (v.is(Kind::Sensitive)) {
        v = v.unwrap();
        unwrap(call, v);
        return true;
    }
    bool any = false;
    if (v.is_array()) {
        std::vector<Value> out(v.as_array().begin(), v.as_array().end());
        for (Value& item : out) any = unwrap(call, item) || any;
        if (any) v = list(call, out);
    } else if (v.is_hash()) {
        value::HashBuilder out(call.arena());
        for (const auto& e : v.as_hash()) {
            Value key = e.key, item = e.value;
            any = unwrap(call, key) || any;
            any = unwrap(call, item) || any;
            out.set(key, item);
        }
        if (any) v = out.build();
    }
    return any;
}

/// Returns the text that `write` produces from the data. It is Sensitive if the data contains a
/// Sensitive value.
template <class Write>
Value written(const Call& call, Value data, Write&& write) {
    const bool sensitive = unwrap(call, data);
    const Value out = text(call, write(data));
    return sensitive ? value::make_sensitive(call.arena(), out) : out;
}

/// Options of Ruby's JSON generator.
struct JsonStyle {
    std::string indent, space, space_before, object_nl, array_nl;
    bool allow_nan = false;
    int max_nesting = 100;
};

void json_indent(std::string& out, const JsonStyle& style, int depth) {
    for (int i = 0; i < depth; ++i) out += style.indent;
}

void json_into(std::string& out, const Value& v, const JsonStyle& style, int depth) {
    base::step();
    const bool nested = v.is_array() || v.is_hash();
    if (nested && style.max_nesting > 0 && depth + 1 > style.max_nesting)
        argument_error("nesting of {} is too deep", depth + 1);
    bool first = true;
    if (v.is_array()) {
        out += '[';
        out += style.array_nl;
        for (const Value& item : v.as_array()) {
            if (!first) (out += ',') += style.array_nl;
            first = false;
            if (!style.array_nl.empty()) json_indent(out, style, depth + 1);
            json_into(out, item, style, depth + 1);
        }
        if (!style.array_nl.empty()) {
            out += style.array_nl;
            json_indent(out, style, depth);
        }
        out += ']';
    } else if (v.is_hash()) {
        out += '{';
        for (const auto& e : v.as_hash()) {
            if (!first) out += ',';
            first = false;
            out += style.object_nl;
            if (!style.object_nl.empty()) json_indent(out, style, depth + 1);
            codec::append_json_string(out, ruby_to_s(e.key), codec::BadBytes::Keep);
            ((out += style.space_before) += ':') += style.space;
            json_into(out, e.value, style, depth + 1);
        }
        if (!style.object_nl.empty()) {
            out += style.object_nl;
            json_indent(out, style, depth);
        }
        out += '}';
    } else if (v.is_undef()) {
        out += "null";
    } else if (v.is_float()) {
        const std::string s = value::format_float(v.as_float());
        if (!style.allow_nan && s.find('n') != s.npos) argument_error("{} not allowed in JSON", s);
        out += s;
    } else if (v.is(Kind::Boolean) || v.is_integer()) {
        out += value::to_text(v);
    } else {
        codec::append_json_string(out, ruby_to_s(v), codec::BadBytes::Keep);
    }
}

Value to_json(const Call& call) {
    return written(call, call[0], [](const Value& v) {
        std::string out;
        json_into(out, v, {}, 0);
        return out;
    });
}

Value to_json_pretty(const Call& call) {
    JsonStyle style{.indent = "  ", .space = " ", .object_nl = "\n", .array_nl = "\n"};
    if (call.at(2).is_hash()) {
        const auto& given = call[2].as_hash();
        const std::pair<std::string_view, std::string*> texts[] = {
            {"indent", &style.indent},
            {"space", &style.space},
            {"space_before", &style.space_before},
            {"object_nl", &style.object_nl},
            {"array_nl", &style.array_nl}};
        for (const auto& [key, where] : texts) {
            const Value* v = given.find(key);
            if (v && v->is_string()) *where = v->as_string();
        }
        if (const Value* v = given.find("allow_nan")) style.allow_nan = v->truthy();
        if (const Value* v = given.find("max_nesting"); v && v->is_integer())
            style.max_nesting =
                static_cast<int>(std::clamp<std::int64_t>(v->as_integer(), 0, 5000));
    }
    Value data = call[0];
    if (call.at(1).truthy()) {
        if (data.is_array()) {
            std::vector<Value> out;
            for (const Value& v : data.as_array())
                if (!v.is_undef()) out.push_back(v);
            data = list(call, out);
        } else {
            value::HashBuilder out(call.arena());
            for (const auto& e : data.as_hash())
                if (!e.value.is_undef()) out.set(e.key, e.value);
            data = out.build();
        }
    }
    return written(call, data, [&](const Value& v) {
        std::string out;
        json_into(out, v, style, 0);
        return out + "\n";
    });
}

Value to_yaml(const Call& call) {
    codec::YamlWriteOptions options;
    if (call.size() > 1) {
        const auto& given = call[1].as_hash();
        auto number = [&](std::string_view key, int otherwise) {
            const Value* v = given.find(key);
            return v && v->is_integer()
                       ? static_cast<int>(std::clamp<std::int64_t>(v->as_integer(), -1, 1 << 20))
                       : otherwise;
        };
        options.indentation = number("indentation", 2);
        options.line_width = number("line_width", 0);
        const Value* canonical = given.find("canonical");
        options.canonical = canonical && canonical->truthy();
    }
    return written(call, call[0], [&](const Value& v) { return yaml_text(v, options); });
}

// --- TOML, in the order of the toml-rb gem: values, then tables, then arrays of tables ---

std::string toml_key(std::string_view key) {
    const bool bare = regex_match("^[a-zA-Z0-9_-]*$", key);
    return bare ? std::string(key) : '"' + replace_all(key, "\"", "\\\"") + '"';
}
std::string toml_value(const Value& v) {
    base::step();
    if (v.is_string()) return ruby_inspect(v);
    if (v.is(Kind::Regexp)) return inspect_string(inspect(v));
    return inspect(v);
}
struct TomlPairs {
    std::vector<std::pair<std::string, Value>> simple, nested, tables;
};
TomlPairs toml_sort(const value::HashRep& hash) {
    std::vector<std::pair<std::string, Value>> all;
    for (const auto& e : hash) all.emplace_back(ruby_to_s(e.key), e.value);
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    TomlPairs out;
    for (auto& [key, v] : all) {
        auto& where = v.is_hash() ? out.nested
                      : v.is_array() && !v.as_array().empty() && v.as_array()[0].is_hash()
                          ? out.tables
                          : out.simple;
        where.emplace_back(toml_key(key), v);
    }
    return out;
}
void toml_table(std::string& out, const value::HashRep& hash, const std::string& prefix,
                bool with_header);
void toml_pairs(std::string& out, const TomlPairs& pairs, const std::string& prefix) {
    const std::string front = prefix.empty() ? "" : prefix + ".";
    for (const auto& [key, v] : pairs.simple) out += key + " = " + toml_value(v) + "\n";
    for (const auto& [key, v] : pairs.nested) toml_table(out, v.as_hash(), front + key, true);
    for (const auto& [key, v] : pairs.tables) {
        for (const Value& child : v.as_array()) {
            out += "[[" + front + key + "]]\n";
            if (!child.is_hash())
                argument_error("undefined method `keys' for {}:{}", inspect(child),
                               ruby_class(child));
            toml_table(out, child.as_hash(), front + key, false);
        }
    }
}
void toml_table(std::string& out, const value::HashRep& hash, const std::string& prefix,
                bool with_header) {
    base::step();
    const TomlPairs pairs = toml_sort(hash);
    if (with_header && !prefix.empty() && (!pairs.simple.empty() || hash.empty()))
        out += "[" + prefix + "]\n";
    toml_pairs(out, pairs, prefix);
}
Value to_toml(const Call& call) {
    return written(call, call[0], [](const Value& v) {
        std::string out;
        toml_table(out, v.as_hash(), "", true);
        return out;
    });
}

// --- literals ---

struct Dialect {
    std::string_view arrow, yes, no, nothing;
};
constexpr Dialect kRuby{" => ", "true", "false", "nil"}, kPython{": ", "True", "False", "None"};

void literal(std::string& out, const Value& v, const Dialect& d) {
    base::step();
    bool first = true;
    if (v.is_array()) {
        out += '[';
        for (const Value& item : v.as_array()) {
            if (!first) out += ", ";
            first = false;
            literal(out, item, d);
        }
        out += ']';
    } else if (v.is_hash()) {
        out += '{';
        for (const auto& e : v.as_hash()) {
            if (!first) out += ", ";
            first = false;
            literal(out, e.key, d);
            out += d.arrow;
            literal(out, e.value, d);
        }
        out += '}';
    } else if (v.is(Kind::Boolean)) {
        out += v.as_boolean() ? d.yes : d.no;
    } else if (v.is_undef()) {
        out += d.nothing;
    } else {
        out += inspect(v);
    }
}
template <Dialect const& D>
Value to_literal(const Call& call) {
    const value::RichDataOptions options{.references_as_strings = false};
    std::string out;
    literal(out, value::to_rich_data(call.arena(), call[0], options), D);
    return text(call, out);
}

/// Calls a block with the data without its Sensitive wrappers, and wraps the result again. Without
/// a block the result is the data itself.
Value rewrap_sensitive_data(const Call& call) {
    Value data = call[0];
    const bool sensitive = unwrap(call, data);
    const Value out = call.block ? call.yield({data}) : data;
    return sensitive ? value::make_sensitive(call.arena(), out) : out;
}

// --- reading ---

/// Returns the result of the parser. If the parser fails or returns nothing, returns the default;
/// without a default, the error is rethrown.
template <class Parse>
Value or_default(const Value& fallback, Parse&& parse) {
    try {
        const Value v = parse();
        return v.truthy() ? v : fallback;
    } catch (const base::PuppetError&) {
        if (!fallback.truthy()) throw;
        return fallback;
    }
}
std::string_view text_argument(const Value& v) {
    if (!v.is_string()) argument_error("no implicit conversion of {} into String", ruby_class(v));
    return v.as_string();
}
void expect_arguments(const Call& call) {
    if (call.size() == 0)
        argument_error("Wrong number of arguments. 1 or 2 arguments should be provided.");
}
Value parsejson(const Call& call) {
    expect_arguments(call);
    return or_default(call.at(1), [&] { return json_value(call, text_argument(call[0])); });
}
Value parseyaml(const Call& call) {
    expect_arguments(call);
    return or_default(call.at(1),
                      [&] { return yaml_value(call, text_argument(call[0]), "<unknown>"); });
}
Value parsepson(const Call& call) {
    try {
        return json_value(call, call[0].as_string());
    } catch (const base::PuppetError&) {
        if (call.size() < 2) throw;
        return call[1];
    }
}

template <bool kYaml>
Value load(const Call& call) {
    return or_default(call.at(1), [&] {
        const std::string path(text_argument(call[0]));
        if (path.starts_with("http://") || path.starts_with("https://"))
            argument_error("{}(): '{}' cannot be fetched while a catalog is compiled",
                           kYaml ? "loadyaml" : "loadjson", path);
        auto& inputs = require_inputs(call);
        const auto content = inputs.file_exists(path) ? inputs.read_file(path) : std::nullopt;
        if (!content) {
            scope_warning(call, fmt::format("Can't load '{}' File does not exist!", path));
            return call.at(1);
        }
        return kYaml ? yaml_value(call, *content, path) : json_value(call, *content);
    });
}

Value load_module_metadata(const Call& call) {
    if (call.size() != 1 && call.size() != 2)
        argument_error("load_module_metadata(): Wrong number of arguments, expects one or two");
    const Value path =
        call.interpreter.call_function("get_module_path", call.args.first(1), call.scope);
    auto& inputs = require_inputs(call);
    const std::string file = std::string(path.as_string()) + "/metadata.json";
    const auto content = inputs.file_exists(file) ? inputs.read_file(file) : std::nullopt;
    if (content) return json_value(call, *content);
    if (!call.at(1).truthy())
        argument_error("load_module_metadata(): No metadata.json file for module {}",
                       ruby_to_s(call[0]));
    return value::HashBuilder(call.arena()).build();
}

constexpr std::string_view kPretty =
    "Variant[Hash, Array] data, Optional[Boolean] skip_undef?, Struct[{indent => Optional[String], "
    "space => Optional[String], space_before => Optional[String], object_nl => Optional[String], "
    "array_nl => Optional[String], allow_nan => Optional[Boolean], max_nesting => "
    "Optional[Integer[-1,default]]}] opts?";

const Builtin kFunctions[] = {
    {"to_json",
     "Writes a value as JSON.",
     {{"Any data", to_json}},
     false,
     evaluator::kTyped,
     {},
     usual::data},
    {"stdlib::to_json",
     "Writes a value as JSON.",
     {{"Any data", to_json}},
     false,
     evaluator::kTyped,
     {},
     usual::data},
    {"to_json_pretty", "Writes a hash or array as indented JSON.", {{kPretty, to_json_pretty}}},
    {"stdlib::to_json_pretty",
     "Writes a hash or array as indented JSON.",
     {{kPretty, to_json_pretty}}},
    {"to_yaml",
     "Writes a value as YAML.",
     {{"Any data, Hash options?", to_yaml}},
     false,
     evaluator::kTyped,
     {},
     usual::data},
    {"stdlib::to_yaml",
     "Writes a value as YAML.",
     {{"Any data, Hash options?", to_yaml}},
     false,
     evaluator::kTyped,
     {},
     usual::data},
    {"to_toml",
     "Writes a hash as TOML.",
     {{"Hash data", to_toml}},
     false,
     evaluator::kTyped,
     {},
     usual::data},
    {"stdlib::to_toml",
     "Writes a hash as TOML.",
     {{"Hash data", to_toml}},
     false,
     evaluator::kTyped,
     {},
     usual::data},
    {"to_ruby", "Writes a value as a Ruby literal.", {{"Any object", to_literal<kRuby>}}},
    {"stdlib::to_ruby", "Writes a value as a Ruby literal.", {{"Any object", to_literal<kRuby>}}},
    {"to_python", "Writes a value as a Python literal.", {{"Any object", to_literal<kPython>}}},
    {"stdlib::to_python",
     "Writes a value as a Python literal.",
     {{"Any object", to_literal<kPython>}}},
    {"stdlib::rewrap_sensitive_data",
     "Calls a block with data without Sensitive wrappers; wraps the result if there was one.",
     {{"Any data, Callable[Any] &block?", rewrap_sensitive_data}}},
    {"parsejson", "Reads JSON.", {{"", parsejson}}, false, -1},
    {"parseyaml", "Reads YAML.", {{"", parseyaml}}, false, -1},
    {"parsepson", "Reads PSON.", {{"String[1] pson_string, Any default?", parsepson}}},
    {"loadjson", "Reads a JSON file.", {{"", load<false>}}, false, -2},
    {"loadyaml", "Reads a YAML file.", {{"", load<true>}}, false, -2},
    {"load_module_metadata",
     "Reads the metadata.json of a module.",
     {{"", load_module_metadata}},
     false,
     -1},
};

}  // namespace

std::span<const Builtin> stdlib_data_functions() { return kFunctions; }

}  // namespace bunraku::function
