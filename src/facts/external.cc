// External facts: key=value texts, JSON, YAML and programs in facts.d folders.
#include <fmt/format.h>

#include "base/text.h"
#include "codec/yaml.h"
#include "facts/context.h"
#include "value/rich_data.h"

namespace bunraku::facts {

namespace {

Value convert(Context& context, const codec::YamlNode& node, int depth) {
    using Kind = codec::YamlNode::Kind;
    if (depth > 200) return Value::undef();
    switch (node.kind) {
        case Kind::Null: return Value::undef();
        case Kind::Boolean: return Value::boolean(node.boolean);
        case Kind::Integer: return Value::integer(node.integer);
        case Kind::Float: return Value::floating(node.number);
        case Kind::String: return context.text(node.text);
        case Kind::Sequence: {
            std::vector<Value> items;
            for (const auto& item : node.items) items.push_back(convert(context, item, depth + 1));
            return value::make_array(context.arena, items);
        }
        case Kind::Mapping: {
            HashBuilder hash(context.arena);
            for (const auto& [key, v] : node.entries) {
                hash.set(context.text(value::to_text(convert(context, key, depth + 1))),
                         convert(context, v, depth + 1));
            }
            return hash.build();
        }
    }
    return Value::undef();
}

/// Facter's names are lower case.
std::string fact_name(std::string_view name) {
    std::string out(trim(name));
    base::make_lower(out);
    return out;
}

void put(Context& context, std::vector<value::Entry>& into, std::string_view name, const Value& v) {
    std::string key = fact_name(name);
    for (value::Entry& e : into) {
        if (e.key.as_string() == key) {
            e.value = v;
            return;
        }
    }
    into.push_back({context.text(key), v});
}

void put_lines(Context& context, std::vector<value::Entry>& into, std::string_view text) {
    for (std::string_view line : split_lines(text)) {
        std::size_t eq = line.find('=');
        if (eq == std::string_view::npos || eq == 0 || line.front() == '#') continue;
        put(context, into, line.substr(0, eq), context.text(trim(line.substr(eq + 1))));
    }
}

void put_hash(Context& context, std::vector<value::Entry>& into, const Value& v) {
    if (!v.is_hash()) return;
    for (const value::Entry& e : v.as_hash()) {
        if (e.key.is_string()) put(context, into, e.key.as_string(), e.value);
    }
}

/// What a program prints is YAML (JSON included) or lines of key=value.
void put_output(Context& context, std::vector<value::Entry>& into, const std::string& output) {
    if (auto yaml = codec::parse_yaml(output, "")) {
        if (yaml->kind == codec::YamlNode::Kind::Mapping) {
            put_hash(context, into, convert(context, *yaml, 0));
            return;
        }
    }
    put_lines(context, into, output);
}

}  // namespace

void collect_external(base::Arena& arena, sys::System& system, const std::string& directory,
                      base::LogSink* log, std::vector<value::Entry>& into) {
    Context context{arena, system};
    auto complain = [&](const std::string& path, const std::string& why) {
        if (log) log->log(base::Level::Err, fmt::format("Facter: {}: {}", path, why));
    };
    for (const std::string& name : context.list(directory)) {
        std::string path = sys::join(directory, name);
        if (name.starts_with(".") || name.ends_with("~") || name.ends_with(".bak") ||
            name.ends_with(".orig") || !system.files.is_file(path)) {
            continue;
        }
        if (name.ends_with(".txt")) {
            put_lines(context, into, context.read(path));
        } else if (name.ends_with(".json")) {
            auto parsed = value::parse_json(arena, context.read(path));
            if (parsed) {
                put_hash(context, into, *parsed);
            } else {
                complain(path, parsed.error().message);
            }
        } else if (name.ends_with(".yaml") || name.ends_with(".yml")) {
            auto parsed = codec::parse_yaml(context.read(path), path);
            if (parsed) {
                put_hash(context, into, convert(context, *parsed, 0));
            } else {
                complain(path, parsed.error().message);
            }
        } else if (system.files.access(path, 1)) {
            auto outcome = system.processes.run(
                {.argv = {path}, .timeout = std::chrono::milliseconds(60'000)});
            if (!outcome) {
                complain(path, outcome.error().message);
            } else if (outcome->timed_out) {
                complain(path, "timed out");
            } else {
                put_output(context, into, outcome->output);
            }
        }
    }
}

}  // namespace bunraku::facts
