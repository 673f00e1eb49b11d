// bunraku diff: what differs between two catalogs, be they files or compiled for the purpose.
#include <algorithm>
#include <cstdio>
#include <dirent.h>
#include <fmt/format.h>
#include <map>
#include <unistd.h>

#include "catalog/agent_json.h"
#include "catalog/diff_filter.h"
#include "catalog/diff_text.h"
#include "catalog/json_text.h"
#include "catalog/wire.h"
#include "cli/command.h"
#include "cli/compile_setup.h"
#include "cli/fact_sources.h"
#include "cli/node_identity.h"
#include "facts/facts.h"
#include "value/build.h"
#include "value/rich_data.h"

namespace bunraku::cli {

namespace {

using base::PuppetError;
using value::Value;
using CatalogPtr = std::shared_ptr<catalog::Catalog>;

PuppetError plain(std::string message) {
    return PuppetError(std::move(message), "", PuppetError::Class::Plain);
}

std::string read_input(const std::string& path) {
    if (path == "-") {
        std::string out;
        char buffer[65536];
        while (auto n = std::fread(buffer, 1, sizeof buffer, stdin)) out.append(buffer, n);
        return out;
    }
    auto text = environment::read_file(path);
    if (!text) throw plain(fmt::format("Could not read {}", path));
    return std::move(*text);
}

/// A catalog as agents get it, as the catalog APIs answer it, or as a PuppetDB gets it (the command
/// or its payload).
struct FromFile {
    CatalogPtr catalog;
    bool wire;
};
FromFile read_catalog(const std::string& path) {
    std::string text = read_input(path);
    base::Arena arena(64 * 1024);
    auto data = value::parse_json(arena, text);
    if (!data) throw plain(fmt::format("Could not parse {}: {}", path, data.error().message));
    if (!data->is_hash()) throw plain(fmt::format("{} holds no catalog", path));
    int version = 0;
    if (const auto* payload = data->as_hash().find("payload"); payload && payload->is_hash()) {
        if (const auto* v = data->as_hash().find("version"); v && v->is_integer())
            version = static_cast<int>(v->as_integer());
        text = value::to_json(*payload);
        data = *payload;
    }
    bool wire = version != 0;
    if (const auto* edges = data->as_hash().find("edges"); edges && edges->is_array()) {
        for (const Value& e : edges->as_array())
            wire = wire || (e.is_hash() && e.as_hash().find("relationship"));
    }
    wire = wire || data->as_hash().find("producer_timestamp") ||
           data->as_hash().find("transaction_uuid");
    auto failed = [&](const std::string& why) {
        return plain(fmt::format("{} holds no catalog: {}", path, why));
    };
    if (!wire) {
        auto read = catalog::read_agent_json(text);
        if (!read) throw failed(read.error().message);
        return {std::make_shared<catalog::Catalog>(std::move(*read)), false};
    }
    std::string why;
    for (int v = version ? version : catalog::kNewestWireVersion; v >= catalog::kOldestWireVersion;
         --v) {
        auto read = catalog::read_wire(v, text);
        if (read) return {std::make_shared<catalog::Catalog>(std::move(read->catalog)), true};
        if (why.empty()) why = read.error().message;
        if (version) break;
    }
    throw failed(why);
}

/// One of the two catalogs to be compared, and where it comes from.
struct Side {
    std::string file;  ///< a catalog; else compiled
    std::string environment, path, modulepath = "\1", hiera_config;
    std::vector<std::string> fact_overrides;
    std::shared_ptr<const environment::Environment> snapshot;
    std::shared_ptr<hiera::DataCache> data_cache;

    bool compiled() const { return file.empty(); }
    std::string label() const { return !file.empty() ? file : !path.empty() ? path : environment; }
};

struct Options {
    Side from, to;
    CompileOptions compile;
    std::vector<std::string> nodes, ignore, ignore_attributes, ignore_tags, fact_overrides;
    std::string facts_directory, output, color, manifest;
    bool json = false, detail_add = false, truncate = true, tags = false, places = false;
    bool classes = false, relationships = false, file_text = true, data_types = true;
    bool header = true, containment = false, group = true;
    std::string context = "3";
    std::vector<catalog::IgnorePattern> patterns;
};

/// The outcome for one node.
struct Outcome {
    std::string node, text, json, error;
    std::string alike;  ///< what the text or the error says without the node's own name
    NodeIdentity identity = {};
    bool same = true;
};

class Comparison {
public:
    Comparison(Invocation& invocation, Options& options, base::LogSink& log)
        : invocation_(invocation), options_(options), log_(log) {}

    Outcome run(const facts::NodeFacts& node) {
        Outcome out{.node = node.node, .identity = NodeIdentity(node.node, node.values)};
        auto prepared = [&](Side& side) { return obtain(side, node); };
        Made before, after;
        try {
            before = prepared(options_.from);
            after = prepared(options_.to);
        } catch (const PuppetError& e) {
            out.error = base_text(e);
            out.alike = out.identity.without(out.error);
            out.same = false;
            return out;
        }
        if (out.node.empty()) out.node = after.catalog->name;
        const catalog::Naming* naming = after.setup    ? &after.setup->naming()
                                        : before.setup ? &before.setup->naming()
                                                       : &plain_names_;
        if (options_.file_text) {
            inline_sources(before);
            inline_sources(after);
        }
        catalog::DiffOptions how;
        how.places = false;
        how.tags = options_.tags;
        how.containers = options_.containment || options_.relationships;
        how.relations = options_.relationships;
        how.classes = options_.classes;
        how.data_types = options_.data_types;
        how.naming = naming;
        auto diff = catalog::diff(*before.catalog, *after.catalog, how);
        auto patterns = options_.patterns;
        // What a PuppetDB gets names the aliases of every resource, an agent's catalog does not.
        if (before.wire != after.wire) {
            if (auto aliases = catalog::IgnorePattern::parse("*[*]::alias"))
                patterns.push_back(std::move(*aliases));
        }
        catalog::apply_ignores(diff, *before.catalog, *after.catalog, patterns,
                               options_.ignore_tags);
        out.same = diff.empty();
        if (options_.json) {
            catalog::write_diff_json(out.json, diff, *before.catalog, *after.catalog, naming);
        } else {
            catalog::DiffTextOptions text;
            text.color = options_.color == "always" || options_.color == "ansi" ||
                         options_.color == "true" ||
                         (options_.color.empty() && options_.output.empty() && ::isatty(1) &&
                          !std::getenv("NO_COLOR"));
            text.detail_add = options_.detail_add;
            text.truncate = options_.truncate;
            text.places = options_.places;
            text.context = std::clamp(std::atoi(options_.context.c_str()), 0, 1000);
            text.naming = naming;
            catalog::write_diff_text(out.text, diff, *before.catalog, *after.catalog, text);
            // Names of several lengths are cut at several places.
            text.color = text.truncate = false;
            std::string whole;
            catalog::write_diff_text(whole, diff, *before.catalog, *after.catalog, text);
            out.alike = out.identity.without(whole);
        }
        return out;
    }

private:
    struct Made {
        CatalogPtr catalog;
        std::unique_ptr<Invocation> invocation;
        std::unique_ptr<CompileSetup> setup;  // null: read from a file
        bool wire = false;
    };

    static std::string base_text(const PuppetError& e) { return e.full_text(); }

    Made obtain(Side& side, const facts::NodeFacts& node) {
        Made out;
        if (!side.compiled()) {
            auto read = read_catalog(side.file);
            out.catalog = std::move(read.catalog);
            out.wire = read.wire;
            return out;
        }
        out.invocation = std::make_unique<Invocation>(invocation_);
        out.invocation->command = "compile";
        out.setup = std::make_unique<CompileSetup>(*out.invocation);
        CompileSetup& setup = *out.setup;
        setup.server_facts = CompileSetup::ServerFacts::Fixed;
        setup.options = options_.compile;
        setup.options.node = node.node;
        setup.options.environment = side.environment;
        setup.options.directory = side.path;
        if (side.modulepath != "\1") setup.options.modulepath = side.modulepath;
        if (!side.hiera_config.empty()) setup.options.hiera_config = side.hiera_config;
        setup.snapshot = side.snapshot;
        setup.data_cache = side.data_cache;
        setup.default_facts = facts(setup, side, node);
        const std::string wanted = side.environment;
        auto& request = setup.prepare(log_, options_.manifest, std::nullopt);
        if (request.environment->directory().empty() && !setup.options.modulepath) {
            throw plain(environment_missing(out.invocation->settings));
        }
        // A classifier may have chosen another environment for this node.
        if (wanted.empty() || request.environment->name() == wanted) side.snapshot = setup.snapshot;
        side.data_cache = setup.data_cache;
        out.catalog = compiler::compile(request).catalog;
        return out;
    }

    Value facts(CompileSetup& setup, const Side& side, const facts::NodeFacts& node) {
        Value base = node.values;
        if (base.is_undef()) {
            base = facts::collect_local(*setup.arena, invocation_.settings);
        }
        value::HashBuilder out(*setup.arena, 256);
        if (base.is_hash()) out.merge(base.as_hash());
        const std::vector<std::string>* const lists[] = {&options_.fact_overrides,
                                                         &side.fact_overrides};
        for (const auto* list : lists) {
            for (const auto& item : *list) {
                auto eq = item.find('=');
                if (eq == std::string::npos)
                    throw plain(fmt::format("'{}' is not fact=value", item));
                auto text = setup.arena->copy(std::string_view(item).substr(eq + 1));
                auto data = value::parse_json(*setup.arena, text);
                out.set(setup.arena->copy(std::string_view(item).substr(0, eq)),
                        data ? *data : Value::string(text));
            }
        }
        return out.build();
    }

    /// A file's `source` in a module becomes the `content` it has there, so that a changed file is
    /// a difference and a moved one is none.
    void inline_sources(Made& made) {
        if (!made.setup) return;
        const auto& environment = *made.setup->request().environment;
        for (auto& r : made.catalog->resources) {
            if (r.ref.type != "File") continue;
            std::size_t at = r.parameters.size();
            bool content = false;
            for (std::size_t i = 0; i < r.parameters.size(); ++i) {
                if (r.parameters[i].name == "source") at = i;
                content = content || r.parameters[i].name == "content";
            }
            if (at == r.parameters.size() || content) continue;
            std::vector<Value> sources;
            const Value& given = r.parameters[at].value;
            if (given.is_array()) {
                for (const Value& v : given.as_array()) sources.push_back(v);
            } else {
                sources.push_back(given);
            }
            for (const Value& v : sources) {
                auto text = v.is_string() ? module_file(environment, v.as_string()) : std::nullopt;
                if (!text) continue;
                r.parameters[at].name = "content";
                r.parameters[at].value = Value::string(made.catalog->arena->copy(*text));
                break;
            }
        }
    }

    static std::optional<std::string> module_file(const environment::Environment& environment,
                                                  std::string_view source) {
        constexpr std::string_view kScheme = "puppet:///modules/";
        if (!source.starts_with(kScheme)) return std::nullopt;
        source.remove_prefix(kScheme.size());
        auto slash = source.find('/');
        if (slash == std::string_view::npos || source.find("..") != std::string_view::npos)
            return std::nullopt;
        const auto* module = environment.module(source.substr(0, slash));
        if (!module) return std::nullopt;
        auto text = environment::read_file(
            fmt::format("{}/files/{}", module->path, source.substr(slash + 1)));
        if (!text || text->size() > 4 * 1024 * 1024) return std::nullopt;
        return text;
    }

    Invocation& invocation_;
    Options& options_;
    base::LogSink& log_;
    compiler::TypeNames plain_names_;
};

/// The facts of every file of a folder. What does not say whose it is bears the name of the file.
std::vector<facts::NodeFacts> facts_in(const std::string& directory, base::Arena& arena) {
    std::vector<std::string> names;
    DIR* dir = ::opendir(directory.c_str());
    if (!dir) throw plain(fmt::format("Could not read the folder {}", directory));
    while (dirent* item = ::readdir(dir)) {
        std::string name = item->d_name;
        if (name.ends_with(".json") || name.ends_with(".yaml") || name.ends_with(".yml"))
            names.push_back(std::move(name));
    }
    ::closedir(dir);
    std::sort(names.begin(), names.end());
    std::vector<facts::NodeFacts> out;
    for (const auto& name : names) {
        for (auto& node : read_fact_file(arena, directory + "/" + name)) {
            if (node.node.empty()) node.node = name.substr(0, name.rfind('.'));
            out.push_back(std::move(node));
        }
    }
    if (out.empty())
        throw plain(fmt::format("There are no facts (*.json, *.yaml) in {}", directory));
    return out;
}

/// Whom to compare, and with which facts (undef: this machine's).
std::vector<facts::NodeFacts> wanted_nodes(const Options& o, const config::Settings& settings,
                                           base::Arena& arena) {
    const std::string& file = o.compile.facts;
    if (o.facts_directory.empty() && !o.nodes.empty()) {
        std::vector<facts::NodeFacts> out;
        const auto known =
            file.empty() ? std::vector<facts::NodeFacts>() : read_fact_file(arena, file);
        for (const auto& name : o.nodes) {
            out.push_back({name, {}});
            if (file.empty()) continue;
            auto found = facts::facts_of(known, name, file);
            if (!found) throw plain(found.error().message);
            out.back().values = found->values;
        }
        return out;
    }
    if (o.facts_directory.empty() && file.empty()) {
        const bool compiles = o.from.compiled() || o.to.compiled();
        return {{compiles ? settings.text("certname") : std::string(), {}}};
    }
    auto out = o.facts_directory.empty() ? read_fact_file(arena, file)
                                         : facts_in(o.facts_directory, arena);
    for (auto& node : out)
        if (node.node.empty()) node.node = settings.text("certname");
    if (!o.nodes.empty()) {
        std::erase_if(out, [&](const facts::NodeFacts& n) {
            return std::find(o.nodes.begin(), o.nodes.end(), n.node) == o.nodes.end();
        });
    }
    return out;
}

void add_options(OptionParser& parser, Options& o) {
    parser.value("from-env", &o.from.environment);
    parser.value("to-env", &o.to.environment);
    parser.value("from-path", &o.from.path);
    parser.value("to-path", &o.to.path);
    parser.value("from-modulepath", &o.from.modulepath);
    parser.value("to-modulepath", &o.to.modulepath);
    parser.value("from-hiera-config", &o.from.hiera_config);
    parser.value("to-hiera-config", &o.to.hiera_config);
    parser.list("from-fact-override", &o.from.fact_overrides);
    parser.list("to-fact-override", &o.to.fact_overrides);
    parser.list("fact-override", &o.fact_overrides);
    parser.list("node", &o.nodes);
    parser.value("facts", &o.compile.facts);
    parser.value("facts-dir", &o.facts_directory);
    parser.value("enc", &o.compile.enc);
    parser.value("trusted", &o.compile.trusted);
    parser.value("server-facts", &o.compile.server_facts);
    parser.value("environmentpath", &o.compile.environmentpath);
    parser.value("hiera-config", &o.compile.hiera_config);
    parser.value("manifest", &o.manifest);
    parser.flag("storeconfigs", &o.compile.storeconfigs);
    parser.list("ignore", &o.ignore);
    parser.list("ignore-attr", &o.ignore_attributes);
    parser.list("ignore-tags", &o.ignore_tags);
    parser.flag("include-tags", &o.tags);
    parser.flag("include-classes", &o.classes);
    parser.flag("relationships", &o.relationships);
    parser.flag("containment", &o.containment);
    parser.flag("compare-file-text", &o.file_text);
    parser.flag("display-datatype-changes", &o.data_types);
    parser.flag("display-detail-add", &o.detail_add);
    parser.flag("display-source", &o.places);
    parser.flag("truncate", &o.truncate);
    parser.flag("truncate-details", &o.truncate);
    parser.flag("header", &o.header);
    parser.flag("group", &o.group);
    parser.value("context", &o.context);
    parser.value("output", &o.output);
    parser.flag("json", &o.json);
}

void compile_patterns(Options& o) {
    for (const auto& text : o.ignore) {
        auto pattern = catalog::IgnorePattern::parse(text);
        if (!pattern) throw plain(fmt::format("--ignore: {}", pattern.error().message));
        o.patterns.push_back(std::move(*pattern));
    }
    for (const auto& name : o.ignore_attributes) {
        auto pattern = catalog::IgnorePattern::parse("*[*]::" + name);
        if (!pattern) throw plain(fmt::format("--ignore-attr: {}", pattern.error().message));
        o.patterns.push_back(std::move(*pattern));
    }
}

std::string json_text(std::string_view s) {
    std::string out;
    catalog::append_json_string(out, s);
    return out;
}

/// Nodes with the same findings, which may differ in their own names.
struct Group {
    std::vector<const Outcome*> members;
    bool literal = true;  ///< not even in those

    std::string shown(const std::string& text) const {
        return literal ? text : members[0]->identity.without(text);
    }
    std::string names(std::string_view separator) const {
        std::vector<std::string_view> nodes;
        for (const auto* m : members) nodes.push_back(m->node);
        return fmt::format("{}", fmt::join(nodes, separator));
    }
};

/// The outcomes for which `text` has something to say, those that say the same together.
template <class Text>
std::vector<Group> groups_of(const Options& o, const std::vector<Outcome>& outcomes, Text&& text) {
    std::vector<Group> out;
    std::map<std::string_view, std::size_t> places;
    for (const auto& outcome : outcomes) {
        if (text(outcome).empty()) continue;
        std::size_t place = out.size();
        if (o.group) place = places.try_emplace(outcome.alike, place).first->second;
        if (place == out.size()) out.emplace_back();
        Group& group = out[place];
        if (!group.members.empty() && text(*group.members[0]) != text(outcome))
            group.literal = false;
        group.members.push_back(&outcome);
    }
    return out;
}

/// An error that is the same for many nodes is said once.
void report_failures(const Options& o, const std::vector<Outcome>& outcomes, base::LogSink& sink) {
    auto error = [](const Outcome& x) -> const std::string& { return x.error; };
    for (const Group& group : groups_of(o, outcomes, error)) {
        const std::size_t count = group.members.size();
        std::string suffix;
        if (count > 1) {
            suffix = fmt::format(" on {} nodes: {}", count, group.names(", "));
        } else if (!group.members[0]->node.empty()) {
            suffix = " on node " + group.members[0]->node;
        }
        report_error(sink, plain(group.shown(group.members[0]->error)), suffix);
    }
}

/// Nodes whose catalogs differ in the same way stand together.
std::string text_of(const Options& o, const std::vector<Outcome>& outcomes) {
    std::string out;
    std::size_t same = 0, failed = 0;
    for (const auto& outcome : outcomes) {
        failed += !outcome.error.empty();
        same += outcome.error.empty() && outcome.same;
    }
    auto difference = [](const Outcome& x) -> const std::string& { return x.text; };
    for (const Group& group : groups_of(o, outcomes, difference)) {
        if (o.header) {
            out +=
                fmt::format("diff {} {} ({})\n", o.from.label(), o.to.label(), group.names(", "));
        }
        out += group.shown(group.members[0]->text);
    }
    if (outcomes.size() > 1 && o.header) {
        out += fmt::format("{} nodes: {} the same, {} different, {} failed\n", outcomes.size(),
                           same, outcomes.size() - same - failed, failed);
    }
    return out;
}

std::string json_of(const Options& o, const std::vector<Outcome>& outcomes) {
    std::string out = fmt::format("{{\"from\":{},\"to\":{},\"nodes\":[", json_text(o.from.label()),
                                  json_text(o.to.label()));
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        const auto& n = outcomes[i];
        out += fmt::format("{}{{\"node\":{},\"same\":{}", i ? "," : "", json_text(n.node), n.same);
        if (!n.error.empty()) out += ",\"error\":" + json_text(n.error);
        if (!n.json.empty()) out += ",\"diff\":" + n.json;
        out += '}';
    }
    return out + "]}\n";
}

int run_diff(Invocation& invocation) {
    OptionParser parser(invocation);
    Options o;
    add_options(parser, o);
    std::vector<std::string> positional;
    if (!parser.parse(&positional)) return parser.exit_code();
    o.color = parser.color;
    auto sink = make_console_sink(parser);

    base::Arena arena(64 * 1024);  // of the nodes' facts
    std::vector<Outcome> outcomes;
    try {
        compile_patterns(o);
        auto wants = [](const Side& s) { return !s.environment.empty() || !s.path.empty(); };
        std::size_t next = 0;
        for (Side* side : {&o.from, &o.to}) {
            if (!wants(*side) && next < positional.size()) side->file = positional[next++];
        }
        for (const Side* side : {&o.from, &o.to}) {
            if (side->file.empty() && !wants(*side)) {
                throw plain(
                    "Two catalogs are needed: files, --from-env and --to-env, or --from-path and "
                    "--to-path; see 'bunraku help diff'");
            }
        }
        if (next < positional.size())
            throw plain(fmt::format("There is no third catalog to compare: {}", positional[next]));

        const auto nodes = wanted_nodes(o, invocation.settings, arena);
        o.compile.facts.clear();
        Comparison comparison(invocation, o, *sink);
        for (const auto& node : nodes) outcomes.push_back(comparison.run(node));
        report_failures(o, outcomes, *sink);
    } catch (const PuppetError& error) {
        report_error(*sink, error, "");
        return 1;
    }
    const std::string out = o.json ? json_of(o, outcomes) : text_of(o, outcomes);
    std::FILE* target = o.output.empty() ? stdout : std::fopen(o.output.c_str(), "we");
    // Standard output is looked after for all commands together.
    const bool written = target && std::fwrite(out.data(), 1, out.size(), target) == out.size() &&
                         (target == stdout || std::fclose(target) == 0);
    if (!written && target != stdout) {
        report_error(*sink, plain(fmt::format("Could not write to {}", o.output)), "");
        return 1;
    }
    for (const auto& outcome : outcomes) {
        if (!outcome.error.empty()) return 1;
    }
    return std::all_of(outcomes.begin(), outcomes.end(), [](const Outcome& n) { return n.same; })
               ? 0
               : 2;
}

}  // namespace

BUNRAKU_COMMAND(diff){.name = "diff",
                      .summary = "Show what differs between two catalogs.",
                      .run = run_diff,
                      .run_mode = "server"};

}  // namespace bunraku::cli
