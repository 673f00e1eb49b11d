// SPDX-License-Identifier: Apache-2.0
// bunraku lookup: shows the value of a Hiera key and explains how it was found.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <unistd.h>

#include "cli/command.h"
#include "cli/node_options.h"
#include "compile/site/fact_sources.h"
#include "compile/site/fleet_facts.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/yaml_writer.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "core/value/text.h"
#include "language/hiera/errors.h"
#include "language/hiera/explain.h"
#include "language/types/type.h"
#include "resources/facts/facts.h"

namespace bunraku::cli {

namespace {

using base::PuppetError;
using hiera::Explainer;
using value::Value;

constexpr std::string_view kHelpHint = "Run 'puppet lookup --help' for more details";

struct LookupArguments {
    std::string merge, prefix, type, fallback = "\1", render, node, facts;
    bool compile = false, explain = false, explain_options = false, sort_arrays = false,
         merge_hashes = false, trusted = false, json = false;
};

/// Returns the value of --merge with its options, as an argument of the function lookup.
Value merge_value(base::Arena& arena, const LookupArguments& w) {
    if ((w.sort_arrays || w.merge_hashes || !w.prefix.empty()) && w.merge != "deep") {
        throw base::plain_error(
            fmt::format("The options --knock-out-prefix, --sort-merged-arrays, and "
                        "--merge-hash-arrays are only available with '--merge deep'\n{}",
                        kHelpHint));
    }
    if (w.merge.empty()) return Value::undef();
    if (w.merge != "first" && w.merge != "hash" && w.merge != "unique" && w.merge != "deep") {
        throw base::plain_error(fmt::format(
            "The --merge option only accepts 'first', 'hash', 'unique', or 'deep'\n{}", kHelpHint));
    }
    value::HashBuilder out(arena);
    out.set("strategy", value::make_string(arena, w.merge));
    if (w.merge == "deep") {
        out.set("sort_merged_arrays", Value::boolean(w.sort_arrays));
        out.set("merge_hash_arrays", Value::boolean(w.merge_hashes));
        if (!w.prefix.empty()) out.set("knockout_prefix", value::make_string(arena, w.prefix));
    }
    return out.build();
}

/// Returns the facts of the file and of the node by Puppet's rules for `lookup --facts`. If they
/// are from a store or a PuppetDB, also sets `trusted` to the stored trusted facts. `service` is
/// the given URL; it may be empty.
Value gather_facts(base::Arena& arena, const LookupArguments& w, site::Site& site,
                   const site::NodeRequest& request, const std::string& service, base::LogSink& log,
                   site::TrustedSource& trusted) {
    const config::Settings& settings = site.settings();
    const std::string& node = request.node;
    auto stored = [&] {
        site::FleetGaps gaps;
        auto found =
            site::fleet_facts(arena, site, service.empty() ? "store" : service, {node}, log, &gaps);
        if (!gaps.broken.empty())
            throw base::plain_error(
                fmt::format("Could not retrieve facts for {}: {}", node, gaps.broken));
        if (found.empty()) return value::HashBuilder(arena).build();
        trusted.give(found.front().trusted);
        return found.front().facts;
    };
    Value given;
    if (!w.facts.empty()) {
        try {
            given = site::read_fact_file(arena, w.facts, node).values;
        } catch (const PuppetError&) {
            if (!environment::read_file(w.facts))
                throw base::plain_error(
                    fmt::format("No such file or directory @ rb_sysopen - {}", w.facts));
        }
        if (!given.is_hash()) {
            throw base::plain_error(
                fmt::format("Incorrectly formatted data in {} given via the --facts flag "
                            "(only accepts yaml and json files)",
                            w.facts));
        }
        int identity = 0;
        for (std::string_view name : {"hostname", "domain", "fqdn", "clientcert"})
            identity += given.as_hash().find(name) != nullptr;
        if (identity != 0 && identity != 4) {
            throw base::plain_error(
                fmt::format("When overriding any of the hostname,domain,fqdn,clientcert "
                            "facts with {} given via the --facts flag, they must all be "
                            "overridden.",
                            w.facts));
        }
    }
    value::HashBuilder facts(arena);
    if (w.node.empty()) {
        const Value own = facts::collect_local(arena, settings);
        if (own.is_hash()) facts.merge(own.as_hash());
    } else {
        const std::string terminus = settings.is_set("facts_terminus")
                                         ? settings.text("facts_terminus")
                                     : service.empty() ? "yaml"
                                                       : "puppetdb";
        if (terminus == "facter") {
            const Value own = facts::collect_local(arena, settings);
            if (own.is_hash()) facts.merge(own.as_hash());
        } else if (terminus == "puppetdb" || terminus == "store") {
            facts.merge(stored().as_hash());
        } else if (terminus == "yaml") {
            Value kept = site::cached_facts(arena, settings.text("yamldir"), node, ".yaml");
            // If Bunraku's own store has the facts of the fleet, no copy in yamldir is needed.
            if (kept.is_undef() && ::access(site::store_path(settings).c_str(), R_OK) == 0)
                kept = stored();
            if (kept.is_hash()) facts.merge(kept.as_hash());
        } else if (terminus != "memory") {
            throw base::plain_error(
                fmt::format("Could not find terminus {} for indirection facts", terminus));
        }
    }
    if (given.is_hash()) facts.merge(given.as_hash());
    if (facts.size() == 0)
        throw base::plain_error(fmt::format("No facts available for target node: {}", node));
    return facts.build();
}

/// A YAML dump like Psych's: collections that occur twice become anchors and aliases.
class Dumper {
public:
    std::string dump(const Value& v) {
        count(v);
        write(v);
        return writer_.finish();
    }

private:
    static const void* identity(const Value& v) {
        if (v.is_hash()) return v.as_hash().empty() ? nullptr : &v.as_hash();
        if (v.is_array()) return v.as_array().empty() ? nullptr : v.as_array().data();
        return nullptr;
    }
    void count(const Value& v) {
        if (const void* id = identity(v); id && ++seen_[id] > 1) return;
        if (v.is_array()) {
            for (const Value& item : v.as_array()) count(item);
        } else if (v.is_hash()) {
            for (const auto& e : v.as_hash()) count(e.value);
        }
    }
    void write(const Value& v) {
        std::string anchor;
        if (const void* id = identity(v); id && seen_[id] > 1) {
            auto [it, fresh] = anchors_.try_emplace(id, std::to_string(anchors_.size() + 1));
            if (!fresh) {
                writer_.alias(it->second);
                return;
            }
            anchor = it->second;
        }
        switch (v.kind()) {
            case value::Kind::Hash:
                writer_.start_mapping(anchor);
                for (const auto& e : v.as_hash()) {
                    write(e.key);
                    write(e.value);
                }
                writer_.end_mapping();
                break;
            case value::Kind::Array:
                writer_.start_sequence(anchor);
                for (const Value& item : v.as_array()) write(item);
                writer_.end_sequence();
                break;
            case value::Kind::String:
                if (v.as_string().starts_with(Explainer::kSymbol)) {
                    writer_.plain(":" + std::string(v.as_string().substr(1)));
                } else {
                    writer_.string(v.as_string());
                }
                break;
            case value::Kind::Undef: writer_.plain(""); break;
            case value::Kind::Default: writer_.plain(":default"); break;
            case value::Kind::Boolean:
            case value::Kind::Integer: writer_.plain(value::to_text(v)); break;
            case value::Kind::Float: {
                const std::string text = value::format_float(v.as_float());
                writer_.plain(text == "Infinity"    ? ".inf"
                              : text == "-Infinity" ? "-.inf"
                              : text == "NaN"       ? ".nan"
                                                    : text);
                break;
            }
            default: writer_.string(value::to_text(v));
        }
    }

    codec::YamlWriter writer_;
    std::map<const void*, int> seen_;
    std::map<const void*, std::string> anchors_;
};

/// Removes the marks of Symbols.
Value unmarked(base::Arena& arena, const Value& v) {
    if (v.is_string() && v.as_string().starts_with(Explainer::kSymbol))
        return Value::string(v.as_string().substr(1));
    if (v.is_array()) {
        std::vector<Value> items;
        for (const Value& item : v.as_array()) items.push_back(unmarked(arena, item));
        return value::make_array(arena, items);
    }
    if (!v.is_hash()) return v;
    value::HashBuilder out(arena, v.as_hash().size());
    for (const auto& e : v.as_hash()) out.set(unmarked(arena, e.key), unmarked(arena, e.value));
    return out.build();
}

std::string_view ruby_class(const Value& v) {
    switch (v.kind()) {
        case value::Kind::Undef: return "NilClass";
        case value::Kind::Boolean: return v.truthy() ? "TrueClass" : "FalseClass";
        case value::Kind::Integer: return "Integer";
        case value::Kind::Float: return "Float";
        case value::Kind::Array: return "Array";
        case value::Kind::Hash: return "Hash";
        default: return "String";
    }
}

std::string render(base::Arena& arena, const std::string& format, const Value& v) {
    if (format == "yaml") return Dumper().dump(v);
    if (format == "json") {
        value::RichDataOptions rich;
        rich.references_as_strings = false;
        return value::to_json(value::to_rich_data(arena, unmarked(arena, v), rich));
    }
    if (format == "binary" || format == "msgpack") {
        const bool binary = format == "binary";
        throw base::plain_error(
            fmt::format("{} does not respond to to_{}; can not render instances to application/{}",
                        ruby_class(v), format, binary ? "octet-stream" : "x-msgpack"));
    }
    std::string out;
    value::print_ruby_to_s(out, v);
    return out;
}

/// Performs the lookup and returns the text for standard output, or nullopt if the key was not
/// found.
std::optional<std::string> answer(evaluator::Interpreter& in, hiera::Lookup& lookup,
                                  const LookupArguments& w, const std::vector<std::string>& keys,
                                  const Value& merge, const std::string& format) {
    const bool explain = w.explain || w.explain_options;
    Explainer explainer(w.explain_options && !w.explain);
    hiera::Lookup::Question question;
    question.names = keys;
    question.merge = merge;
    if (w.fallback != "\1") question.fallback = value::make_string(in.arena(), w.fallback);
    std::optional<std::string> out;
    try {
        if (!w.type.empty()) question.type = types::parse_type(in.types(), w.type);
        const Value v = lookup.ask(in, in.top_scope(), question, explain ? &explainer : nullptr);
        if (!explain) out = render(in.arena(), format, v);
    } catch (const hiera::LookupError& error) {
        if (!explain) return std::nullopt;
        explainer.text(error.full_text());
    }
    if (explain) {
        out = format == "s" ? explainer.to_string()
                            : render(in.arena(), format, explainer.to_data(in.arena()));
    }
    return out;
}

int run_lookup(Invocation& invocation) {
    OptionParser options(invocation);
    NodeOptions node_options;
    LookupArguments w;
    options.value("merge", &w.merge);
    options.value("knock-out-prefix", &w.prefix);
    options.flag("sort-merged-arrays", &w.sort_arrays);
    options.flag("merge-hash-arrays", &w.merge_hashes);
    options.flag("explain", &w.explain);
    options.flag("explain-options", &w.explain_options);
    options.value("default", &w.fallback);
    options.value("type", &w.type);
    options.value("render-as", &w.render);
    options.flag("json", &w.json);
    options.flag("compile", &w.compile);
    options.flag("c", &w.compile);
    options.flag("trusted", &w.trusted);
    options.value("node", &w.node);
    options.value("facts", &w.facts);
    options.value("environment", &node_options.environment);
    options.value("environmentpath", &node_options.environmentpath);
    options.value("hiera-config", &node_options.hiera_config);
    options.value("puppetdb-url", &node_options.puppetdb_url);
    std::vector<std::string> keys;
    if (!options.parse(&keys)) return options.exit_code();
    auto sink = make_console_sink(options, Streams::Puppet);
    site::Site site(invocation.settings, site_options(*sink));
    std::optional<std::string> out;
    bool compiling = true;
    std::string node;
    try {
        auto request = node_options.request();
        base::Arena& arena = *request.arena;
        const Value merge = merge_value(arena, w);
        if (keys.empty()) {
            if (!w.explain_options || w.explain)
                throw base::plain_error("No keys were given to lookup.");
            keys.push_back("__global__");
        }
        std::string format = base::lower(w.render);
        if (w.json) format = "json";
        if (format.empty()) format = w.explain || w.explain_options ? "s" : "yaml";
        constexpr std::string_view kFormats[] = {"s", "json", "yaml", "binary", "msgpack"};
        if (std::find(std::begin(kFormats), std::end(kFormats), format) == std::end(kFormats))
            throw base::plain_error(fmt::format("Unknown rendering format '{}'", format));
        node = w.node.empty() ? invocation.settings.text("node_name_value") : w.node;
        request.node = node;
        request.facts.values = gather_facts(arena, w, site, request, node_options.puppetdb_url,
                                            *sink, request.trusted);
        // Without --compile, no classifier runs and no manifest is read.
        if (!w.compile) request.overlay.set("node_terminus", "plain");
        request.sources.no_manifest = !w.compile;
        const auto session = site.session(std::move(request), *sink);
        session->visit(w.compile, [&](evaluator::Interpreter& in) {
            compiling = false;
            out = answer(in, session->lookup(), w, keys, merge, format);
        });
    } catch (const PuppetError& error) {
        // The compiler reports its own errors before the program reports them again.
        const bool located = compiling && (error.located() || error.verbatim);
        const std::string suffix = located ? " on node " + node : std::string();
        if (located) report_error(*sink, error, suffix);
        const std::string text =
            located || error.located() ? error.full_text() + suffix : error.message();
        report_error(*sink, base::plain_error("Could not run: " + text), "");
        return 1;
    }
    if (!out) return 1;
    if (!out->ends_with('\n')) *out += '\n';
    std::fwrite(out->data(), 1, out->size(), stdout);
    return 0;
}

}  // namespace

BUNRAKU_COMMAND(lookup){.name = "lookup",
                        .summary = "Interactive Hiera lookup",
                        .run = run_lookup,
                        .run_mode = "server",
                        .system_errors = SystemErrors::Puppet};

}  // namespace bunraku::cli
