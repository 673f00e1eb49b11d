// SPDX-License-Identifier: Apache-2.0
// External facts: key=value texts, JSON, YAML and programs in facts.d folders.
#include "resources/facts/external.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/codec/yaml.h"
#include "core/regex/regex.h"
#include "core/value/exact_json.h"
#include "core/value/text.h"
#include "resources/facts/normalize.h"

namespace bunraku::facts {

namespace {

using base::Level;
using base::Result;

constexpr std::string_view kInvalidBytes = "invalid byte sequence in UTF-8";

// Facter quotes times at the end of a line, so that they remain strings (Parser::TIME).
constexpr std::string_view kTime =
    R"((\d{4}-\d{1,2}-\d{1,2}(?:[Tt]|\s+)\d{1,2}:\d\d:\d\d(?:\.\d*)?(?:\s*(?:Z|[-+]\d{1,2}:?(?:\d\d)?))?\s*$))";

std::string quote_times(std::string_view text) {
    const auto time = regex::Regex::cached(kTime);
    std::string out;
    std::size_t at = 0;
    while (time) {
        const auto match = (*time)->search(text, at);
        if (!match) break;
        const auto [from, to] = *match->groups[0];
        BUNRAKU_ASSERT(at <= from && from < to && to <= text.size());
        out.append(text.substr(at, from - at)).append(1, '"').append(text.substr(from, to - from));
        out += '"';
        at = to;
    }
    return out.append(text.substr(at));
}

/// Returns the first Ruby class in a document that Facter's YAML loader does not permit, or "" if
/// there is none. Files may not contain Symbol and Time; output of programs may not contain Date.
std::string_view refused_class(const codec::YamlNode& node, bool program) {
    if (program ? node.date : node.time) return program ? "Date" : "Time";
    if (node.symbol && !program) return "Symbol";
    for (const auto& item : node.items)
        if (const auto found = refused_class(item, program); !found.empty()) return found;
    for (const auto& [key, v] : node.entries) {
        if (const auto found = refused_class(key, program); !found.empty()) return found;
        if (const auto found = refused_class(v, program); !found.empty()) return found;
    }
    return {};
}

Result<codec::YamlNode> parse_yaml(std::string_view text, bool program) {
    auto parsed = codec::parse_yaml(text, "<unknown>");
    if (!parsed) return parsed;
    const auto refused = refused_class(*parsed, program);
    if (refused.empty()) return parsed;
    return base::failure(fmt::format("Tried to load unspecified class: {}", refused));
}

/// Returns an integer beyond 64 bits as a string of digits. Only the output of `facter` prints it
/// as a number.
Value large_integer(Context& context, const Options& options, std::string_view digits) {
    std::string bare(digits);
    std::erase_if(bare, [](char c) { return c == '_' || c == ',' || c == '+'; });
    const Value v = context.text(bare);
    BUNRAKU_ASSERT(v.is_string() && options.large_integers);
    options.large_integers->insert(v.as_string().data());
    return v;
}

Value convert_node(Context& context, const Options& options, const codec::YamlNode& node,
                   int depth) {
    using Kind = codec::YamlNode::Kind;
    BUNRAKU_ASSERT(depth >= 0 && depth <= 201);
    if (depth > 200) return Value::undef();
    switch (node.kind) {
        case Kind::Null: return Value::undef();
        case Kind::Boolean: return Value::boolean(node.boolean);
        case Kind::Integer: return Value::integer(node.integer);
        case Kind::Float: return Value::floating(node.number);
        case Kind::String:
            if (node.large && node.text.find_first_not_of("+-0123456789_,") == std::string::npos)
                return large_integer(context, options, node.text);
            return context.text(node.symbol && node.text.starts_with(':')
                                    ? std::string_view(node.text).substr(1)
                                    : std::string_view(node.text));
        case Kind::Sequence: {
            std::vector<Value> items;
            for (const auto& item : node.items)
                items.push_back(convert_node(context, options, item, depth + 1));
            return value::make_array(context.arena, items);
        }
        case Kind::Mapping: {
            HashBuilder hash(context.arena);
            for (const auto& [key, v] : node.entries) {
                hash.set(
                    context.text(value::to_text(convert_node(context, options, key, depth + 1))),
                    convert_node(context, options, v, depth + 1));
            }
            return hash.build();
        }
    }
    return Value::undef();
}

/// Parses lines of KEY=VALUE; ignores all other lines.
Value key_values(Context& context, std::string_view text) {
    HashBuilder out(context.arena);
    for (std::string_view line : split_lines(text)) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        const std::size_t eq = line.find('=', 1);
        if (line.empty() || eq == std::string_view::npos || eq + 1 == line.size()) continue;
        out.set(context.text(line.substr(0, eq)), context.text(line.substr(eq + 1)));
    }
    return out.build();
}

class ExternalLoader {
public:
    ExternalLoader(Context& context, const Options& options, FactCache& cache)
        : context_(context), options_(options), cache_(cache) {}

    std::vector<ExternalFact> load(const std::vector<std::string>& blocked) {
        for (const auto& [name, text] : options_.environment)
            out_.push_back({name, context_.text(text), {}, kEnvironmentWeight});
        BUNRAKU_ASSERT(out_.size() == options_.environment.size());
        std::vector<FactQuery> files;
        for (const std::string& path : entries()) {
            const std::string name(sys::base_name(path));
            if (std::ranges::find(blocked, name) != blocked.end()) {
                log_record(Level::Debug, "Facter",
                           fmt::format("External fact file {} blocked.", name));
                continue;
            }
            const bool twice = std::ranges::find(files, name, &FactQuery::name) != files.end();
            if (twice && cache_.caches(name)) {
                log_record(
                    Level::Err, "Facter",
                    fmt::format("Caching is enabled for group \"{}\" while there are at least two "
                                "external facts files with the same filename",
                                name));
                continue;
            }
            files.push_back({name, Origin::File, {}, path});
        }
        for (const Resolved& fact : cache_.answer(files)) put(fact.name, fact.value, fact.file);
        for (const FactQuery& file : files) load_file(file.file);
        return std::move(out_);
    }

private:
    void log_record(Level level, std::string_view source, std::string text) {
        facts::log_record(options_.log, level, source, std::move(text));
    }

    /// Returns the files of each folder in reverse order of their names. The first file that
    /// defines a fact takes precedence.
    std::vector<std::string> entries() {
        std::vector<std::string> out;
        for (const std::string& directory : options_.external_directories) {
            auto names = context_.system.files.list(directory);
            if (!names) {
                // Like Facter, ignore folders that it may not read.
                if (!sys::is_absence(names.error().code) && names.error().code != EACCES)
                    log_record(Level::Warning, "Facter", names.error().message);
                continue;
            }
            std::ranges::reverse(*names);
            for (const std::string& name : *names)
                if (!name.starts_with('.')) out.push_back(sys::join(directory, name));
        }
        return out;
    }

    void put(std::string_view name, const Value& v, const std::string& file) {
        if (const auto why = invalid_reason(Value::string(name)); !why.empty()) {
            log_record(Level::Err, "Facter",
                       fmt::format("The name of a fact in {} is invalid: {}", file, why));
            return;
        }
        out_.push_back({base::lower(name), v, file, kExternalWeight});
    }

    void load_file(const std::string& path) {
        const auto begin = context_.system.clock.monotonic_ns();
        const Value data = read_file(path);
        if (options_.timing)
            options_.timing(
                fmt::format("fact '{}'", sys::base_name(path)),
                static_cast<double>(context_.system.clock.monotonic_ns() - begin) / 1e9);
        constexpr std::string_view kLoader = "LegacyFacter::Util::DirectoryLoader";
        if (data.is_undef() || (data.is_hash() && data.as_hash().size() == 0)) {
            log_record(
                Level::Debug, kLoader,
                fmt::format("Structured data fact file {} was parsed but was either empty or an "
                            "invalid filetype (valid filetypes are .yaml, .json, and .txt).",
                            path));
        } else if (!data.is_hash()) {
            log_record(
                Level::Err, kLoader,
                fmt::format("Structured data fact file {} was parsed but no key=>value data was "
                            "returned.",
                            path));
        } else {
            for (const value::Entry& e : data.as_hash()) put(value::to_text(e.key), e.value, path);
        }
    }

    Value failed(const std::string& path, std::string_view parser, std::string_view why) {
        log_record(Level::Err, "Facter",
                   fmt::format("Failed to handle {} as LegacyFacter::Util::Parser::{} facts: {}",
                               path, parser, why));
        return Value::undef();
    }

    /// Returns why a file must not be read, or "". Reading a pipe or a device may never end.
    static std::string_view unreadable(const sys::FileStatus& status) {
        constexpr std::uint64_t kLargest = 64 * 1024 * 1024;  // as for the output of programs
        const bool data =
            status.kind == sys::FileKind::File || status.kind == sys::FileKind::Directory;
        if (!data) return "is not a regular file";
        return status.size > kLargest ? "is larger than 64 MiB" : "";
    }

    Value read_file(const std::string& path) {
        auto& files = context_.system.files;
        const std::string lower = base::lower(path);
        const bool known =
            lower.ends_with(".txt") || lower.ends_with(".json") || lower.ends_with(".yaml");
        if (!known) {
            for (std::string_view ending : {".bat", ".cmd", ".com", ".exe"})
                if (lower.ends_with(ending)) return Value::undef();
            return files.is_file(path) && files.access(path, 1) ? run(path) : Value::undef();
        }
        if (const auto status = files.stat(path)) {
            if (const auto why = unreadable(*status); !why.empty()) {
                log_record(Level::Err, "Facter",
                           fmt::format("The external fact file {} {}", path, why));
                return Value::undef();
            }
        }
        const auto text = context_.try_read(path);
        if (!text) {
            log_record(Level::Debug, "Facter::Util::FileHelper",
                       fmt::format("File at: {} is not accessible.", path));
            return Value::undef();
        }
        if (lower.ends_with(".json")) {
            auto parsed = value::parse_exact_json(
                context_.arena, *text,
                [&](std::string_view digits) { return large_integer(context_, options_, digits); });
            return parsed ? *parsed : failed(path, "JsonParser", parsed.error().message);
        }
        const bool plain = lower.ends_with(".txt");
        if (!codec::is_utf8(*text))
            return failed(path, plain ? "TextParser" : "YamlParser", kInvalidBytes);
        if (plain) return key_values(context_, *text);
        auto parsed = parse_yaml(quote_times(*text), false);
        return parsed ? convert_node(context_, options_, *parsed, 0)
                      : failed(path, "YamlParser", parsed.error().message);
    }

    Value run(const std::string& path) {
        log_record(Level::Debug, "Facter::Core::Execution::Posix",
                   fmt::format("Executing command: {}", path));
        const auto limit = std::chrono::duration<double>(options_.time_limit);
        auto outcome = context_.system.processes.run(
            {.argv = {path},
             // INSIDE_FACTER keeps an external fact that itself runs Facter from running again.
             .environment = {{"LC_ALL", "C"}, {"LANG", "C"}, {"INSIDE_FACTER", "true"}},
             .timeout = std::chrono::duration_cast<std::chrono::milliseconds>(limit)});
        if (!outcome) return failed(path, "ScriptParser", outcome.error().message);
        if (outcome->timed_out) {
            log_record(
                Level::Err, "Facter",
                fmt::format("Timed out after {} seconds while resolving external facts of {}",
                            options_.time_limit, path));
            return Value::undef();
        }
        if (!trim(outcome->errors).empty())
            log_record(Level::Warning, sys::base_name(path),
                       fmt::format("Command {} completed with the following stderr message: {}",
                                   path, trim(outcome->errors)));
        const std::string_view output = trim(outcome->output);
        if (!codec::is_utf8(output)) return failed(path, "ScriptParser", kInvalidBytes);
        const auto yaml = parse_yaml(output, true);
        if (yaml && yaml->kind == codec::YamlNode::Kind::Mapping)
            return convert_node(context_, options_, *yaml, 0);
        if (!yaml)
            log_record(Level::Debug, "Facter",
                       fmt::format("Could not parse executable fact output as YAML or JSON ({})",
                                   yaml.error().message));
        return key_values(context_, output);
    }

    Context& context_;
    const Options& options_;
    FactCache& cache_;
    std::vector<ExternalFact> out_;
};

}  // namespace

std::vector<ExternalFact> load_external(Context& context, const Options& options, FactCache& cache,
                                        const std::vector<std::string>& blocked) {
    return ExternalLoader(context, options, cache).load(blocked);
}

}  // namespace bunraku::facts
