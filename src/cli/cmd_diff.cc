// bunraku diff: what differs between two catalogs, be they files or compiled for the purpose.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <thread>
#include <unistd.h>

#include "cli/catalog_input.h"
#include "cli/command.h"
#include "cli/node_options.h"
#include "cli/terminal.h"
#include "compile/compiler/naming.h"
#include "compile/insight/node_identity.h"
#include "compile/site/fact_sources.h"
#include "compile/site/fleet_facts.h"
#include "core/base/number.h"
#include "core/base/plain_error.h"
#include "core/codec/json_text.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "resources/catalog/diff_filter.h"
#include "resources/catalog/diff_text.h"
#include "resources/catalog/json_text.h"
#include "resources/facts/facts.h"

namespace bunraku::cli {

namespace {

using base::PuppetError;
using insight::NodeIdentity;
using value::Value;
using CatalogPtr = std::shared_ptr<catalog::Catalog>;

std::string read_input(const std::string& path) {
    if (path == "-") {
        std::string out;
        char buffer[65536];
        while (auto n = std::fread(buffer, 1, sizeof buffer, stdin)) out.append(buffer, n);
        return out;
    }
    auto text = environment::read_file(path);
    if (!text) throw base::plain_error(fmt::format("Could not read {}", path));
    return std::move(*text);
}

/// One of the two catalogs to be compared, and where it comes from.
struct Side {
    std::string file;  ///< a catalog; else compiled
    std::string environment, path, revision, modulepath = NodeOptions::kNotGiven, hiera_config;
    std::vector<std::string> fact_overrides;

    bool compiled() const { return file.empty(); }
    bool placed() const { return !environment.empty() || !path.empty(); }
    std::string label() const {
        if (!file.empty()) return file;
        const std::string& folder = !path.empty() ? path : environment;
        return revision.empty() ? folder : folder + "@" + revision;
    }
};

struct Options {
    Side from, to;
    NodeOptions compile;
    std::vector<std::string> nodes, ignore, ignore_attributes, ignore_tags, fact_overrides;
    std::string facts_directory, facts_from, output, color, manifest;
    bool json = false, detail_add = false, truncate = true, tags = false, places = false;
    bool classes = false, relationships = false, file_text = true, data_types = true;
    bool header = true, containment = false, group = true;
    std::string context = "3", jobs;
    std::vector<catalog::IgnorePattern> patterns;
};

/// How many threads compile.
std::size_t jobs_of(const Options& options) {
    if (options.jobs.empty()) return std::max(1U, std::thread::hardware_concurrency());
    const auto jobs = base::parse_integer<std::size_t>(options.jobs);
    if (!jobs || *jobs < 1 || *jobs > 1024)
        throw base::plain_error(
            fmt::format("--jobs: '{}' is not a number from 1 to 1024", options.jobs));
    return *jobs;
}

/// The outcome for one node.
struct Outcome {
    std::string node, text, json, error;
    std::string alike;  ///< what the text or the error says without the node's own name
    NodeIdentity identity = {};
    bool same = true;
};

/// Both catalogs of one node, and how they differ. Nodes and sides know nothing of each other, and
/// are worked on by several threads.
class Comparison {
public:
    Comparison(const config::Settings& settings, const Options& options, base::LogSink& log)
        : options_(options), log_(log), site_(settings, of_site(log_of_site_, options)) {}

    std::vector<Outcome> run(const std::vector<site::FleetNode>& nodes, std::size_t jobs) {
        nodes_ = std::vector<Node>(nodes.size());
        ProgressLine progress;
        open_environments();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            nodes_[i].given = &nodes[i];
            if (jobs == 1) {
                prepare(nodes_[i], 0);
                prepare(nodes_[i], 1);
                progress.show(i + 1, nodes.size(), "nodes compared");
                continue;
            }
            for (const std::size_t side : {0, 1})
                site_.workers().post([this, i, side] { prepare(nodes_[i], side); });
        }
        std::unique_lock lock(mutex_);
        constexpr auto kShownEvery = std::chrono::milliseconds(200);
        while (!done_.wait_for(lock, kShownEvery, [&] { return reported_ == nodes_.size(); }))
            progress.show(reported_, nodes_.size(), "nodes compared");
        progress.clear();
        log_of_site_.tell(log_);
        std::vector<Outcome> out;
        for (auto& node : nodes_) out.push_back(std::move(node.outcome));
        return out;
    }

    site::Site& site() { return site_; }

private:
    /// Keeps what is logged until its turn has come. Of an environment that only a classifier
    /// names, nobody can say which node opens it.
    class Kept final : public base::LogSink {
    public:
        explicit Kept(const base::LogSink* later = nullptr) : later_(later) {}
        using LogSink::log;
        bool enabled(base::Level level) const override { return !later_ || later_->enabled(level); }
        void log(const base::Diagnostic& d) override { records_.push_back(d); }
        void tell(base::LogSink& log) {
            for (const auto& d : records_) log.log(d);
            records_.clear();
        }
        void sort() { std::ranges::sort(records_, {}, &base::Diagnostic::message); }

    private:
        const base::LogSink* later_;
        std::vector<base::Diagnostic> records_;
    };

    /// A catalog, and what it was compiled with.
    struct Made {
        CatalogPtr catalog;
        site::Compiled compiled;  ///< empty: read from a file
        bool wire = false;
    };
    struct Node {
        const site::FleetNode* given = nullptr;
        std::optional<Made> made[2];
        std::string errors[2];
        std::unique_ptr<Kept> logs[2];
        std::atomic<int> left{2};
        bool finished = false;
        Outcome outcome;
    };
    /// A file is read once, whatever number of nodes it is compared for.
    struct FileSide {
        std::once_flag once;
        ReadCatalog read;
        std::string error;
    };

    static site::Options of_site(base::LogSink& log, const Options& options) {
        auto out = site_options(log);
        out.explain_errors = false;
        out.threads = jobs_of(options);
        // Memory grows with what waits.
        out.queue = 2 * out.threads;
        return out;
    }

    const Side& side(std::size_t i) const { return i == 0 ? options_.from : options_.to; }

    /// Beforehand: what they are warned of comes first, and once.
    void open_environments() {
        for (const std::size_t i : {0, 1}) {
            if (!side(i).compiled()) continue;
            try {
                site_.environment(request(side(i)));
            } catch (const PuppetError&) {
                // Every node will say so.
            }
        }
        log_of_site_.tell(log_);
    }

    site::NodeRequest request(const Side& side) const {
        NodeOptions options = options_.compile;
        options.environment = side.environment;
        if (side.modulepath != NodeOptions::kNotGiven) options.modulepath = side.modulepath;
        if (!side.hiera_config.empty()) options.hiera_config = side.hiera_config;
        auto out = options.request();
        out.sources.directory = side.path;
        out.sources.revision = side.revision;
        out.sources.manifest = options_.manifest;
        if (options.server_facts.empty()) out.server_facts = site::NodeRequest::ServerFacts::Fixed;
        return out;
    }

    void prepare(Node& node, std::size_t i) {
        node.logs[i] = std::make_unique<Kept>(&log_);
        try {
            node.made[i] = obtain(node, i);
        } catch (const PuppetError& e) {
            node.errors[i] = e.full_text();
        } catch (const std::exception& e) {
            node.errors[i] = e.what();
        }
        if (node.left.fetch_sub(1) == 1) finish(node);
    }

    Made obtain(const Node& node, std::size_t i) {
        Made out;
        if (!side(i).compiled()) {
            FileSide& file = files_[i];
            std::call_once(file.once, [&] {
                try {
                    file.read = read_catalog(read_input(side(i).file), side(i).file);
                } catch (const PuppetError& e) {
                    file.error = e.full_text();
                }
            });
            if (!file.read.catalog) throw base::plain_error(file.error);
            out.catalog = file.read.catalog;
            out.wire = file.read.wire;
            return out;
        }
        auto asked = request(side(i));
        asked.node = node.given->name;
        if (options_.compile.trusted.empty()) asked.trusted = node.given->trusted;
        asked.facts.values = facts(*asked.arena, side(i), *node.given);
        const bool folder_needed = !asked.sources.modulepath;
        const auto session = site_.session(std::move(asked), *node.logs[i]);
        if (folder_needed && session->environment()->directory().empty())
            throw base::plain_error(site::environment_missing(session->view().settings()));
        out.compiled = session->compile();
        out.catalog = out.compiled.catalog;
        return out;
    }

    /// Both catalogs are there, or will never be.
    void finish(Node& node) {
        Outcome& out = node.outcome;
        out.node = node.given->name;
        out.identity = NodeIdentity(out.node, node.given->facts);
        if (node.made[0] && node.made[1]) {
            try {
                compare(*node.made[0], *node.made[1], out);
            } catch (const std::exception& e) {
                out.error = e.what();
            }
        } else {
            out.error = node.errors[node.made[0] ? 1 : 0];
        }
        if (!out.error.empty()) {
            out.alike = out.identity.without(out.error);
            out.same = false;
        }
        if (!node.made[0]) node.logs[1].reset();
        for (auto& made : node.made) made.reset();
        tell(node);
    }

    /// What nodes log comes in the order of the nodes.
    void tell(Node& node) {
        const std::lock_guard lock(mutex_);
        node.finished = true;
        for (; reported_ < nodes_.size() && nodes_[reported_].finished; ++reported_) {
            for (auto& log : nodes_[reported_].logs) {
                if (log) log->tell(log_);
                log.reset();
            }
        }
        if (reported_ < nodes_.size()) return;
        log_of_site_.sort();
        done_.notify_all();
    }

    void compare(Made& before, Made& after, Outcome& out) {
        if (out.node.empty()) out.node = after.catalog->name;
        const catalog::Naming* naming = after.compiled.naming    ? after.compiled.naming.get()
                                        : before.compiled.naming ? before.compiled.naming.get()
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
            text.color =
                options_.color == "always" || options_.color == "ansi" ||
                options_.color == "true" ||
                (options_.color.empty() && options_.output.empty() && has_colors(STDOUT_FILENO));
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
    }

    Value facts(base::Arena& arena, const Side& side, const site::FleetNode& node) {
        Value base = node.facts;
        if (base.is_undef()) {
            std::call_once(gathered_, [&] {
                own_facts_ = facts::collect_local(own_arena_, site_.settings());
            });
            base = own_facts_;
        }
        value::HashBuilder out(arena, 256);
        if (base.is_hash()) out.merge(base.as_hash());
        const std::vector<std::string>* const lists[] = {&options_.fact_overrides,
                                                         &side.fact_overrides};
        for (const auto* list : lists) {
            for (const auto& item : *list) {
                auto eq = item.find('=');
                if (eq == std::string::npos)
                    throw base::plain_error(fmt::format("'{}' is not fact=value", item));
                auto text = arena.copy(std::string_view(item).substr(eq + 1));
                auto data = value::parse_json(arena, text);
                out.set(arena.copy(std::string_view(item).substr(0, eq)),
                        data ? *data : Value::string(text));
            }
        }
        return out.build();
    }

    /// A file's `source` in a module becomes the `content` it has there, so that a changed file is
    /// a difference and a moved one is none.
    void inline_sources(Made& made) {
        if (!made.compiled.environment) return;
        const auto& environment = *made.compiled.environment;
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
        auto text = environment.files().read(
            fmt::format("{}/files/{}", module->path, source.substr(slash + 1)));
        if (!text || text->size() > 4 * 1024 * 1024) return std::nullopt;
        return std::move(*text);
    }

    const Options& options_;
    base::LogSink& log_;  // by who has the mutex
    Kept log_of_site_;
    std::once_flag gathered_;
    base::Arena own_arena_;  // of this machine's facts
    Value own_facts_;
    FileSide files_[2];
    compiler::TypeNames plain_names_;
    std::vector<Node> nodes_;
    std::mutex mutex_;
    std::condition_variable done_;
    std::size_t reported_ = 0;  // nodes whose logs were told
    site::Site site_;           // last: its threads end first
};

/// Whom to compare, and with which facts (undef: this machine's).
std::vector<site::FleetNode> wanted_nodes(const Options& o, site::Site& site, base::Arena& arena,
                                          base::LogSink& log) {
    const std::string& file = o.compile.facts;
    if (!o.facts_from.empty()) {
        if (!file.empty() || !o.facts_directory.empty())
            throw base::plain_error("--facts-from takes no --facts or --facts-dir beside it");
        return site::fleet_facts(arena, site, o.facts_from, o.nodes, log);
    }
    if (o.facts_directory.empty() && !o.nodes.empty()) {
        std::vector<site::FleetNode> out;
        const auto known =
            file.empty() ? std::vector<facts::NodeFacts>() : site::read_fact_file(arena, file);
        for (const auto& name : o.nodes) {
            out.push_back({name, {}, {}});
            if (file.empty()) continue;
            auto found = facts::facts_of(known, name, file);
            if (!found) throw base::plain_error(found.error().message);
            out.back().facts = found->values;
        }
        return out;
    }
    const std::string certname = site.settings().text("certname");
    if (o.facts_directory.empty() && file.empty()) {
        const bool compiles = o.from.compiled() || o.to.compiled();
        return {{compiles ? certname : std::string(), {}, {}}};
    }
    std::vector<site::FleetNode> out;
    for (auto& node : o.facts_directory.empty() ? site::read_fact_file(arena, file)
                                                : site::facts_in_folder(arena, o.facts_directory)) {
        if (node.node.empty()) node.node = certname;
        const bool asked =
            o.nodes.empty() || std::ranges::find(o.nodes, node.node) != o.nodes.end();
        if (asked) out.push_back({std::move(node.node), node.values, {}});
    }
    return out;
}

void add_options(OptionParser& parser, Options& o) {
    parser.value("from-env", &o.from.environment);
    parser.value("to-env", &o.to.environment);
    parser.value("from-path", &o.from.path);
    parser.value("to-path", &o.to.path);
    parser.value("from-revision", &o.from.revision);
    parser.value("to-revision", &o.to.revision);
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
    parser.value("facts-from", &o.facts_from);
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
    parser.value("jobs", &o.jobs);
    parser.value("output", &o.output);
    parser.flag("json", &o.json);
}

void compile_patterns(Options& o) {
    for (const auto& text : o.ignore) {
        auto pattern = catalog::IgnorePattern::parse(text);
        if (!pattern) throw base::plain_error(fmt::format("--ignore: {}", pattern.error().message));
        o.patterns.push_back(std::move(*pattern));
    }
    for (const auto& name : o.ignore_attributes) {
        auto pattern = catalog::IgnorePattern::parse("*[*]::" + name);
        if (!pattern)
            throw base::plain_error(fmt::format("--ignore-attr: {}", pattern.error().message));
        o.patterns.push_back(std::move(*pattern));
    }
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
        report_error(sink, base::plain_error(group.shown(group.members[0]->error)), suffix);
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
    std::string out =
        fmt::format("{{\"from\":{},\"to\":{},\"nodes\":[", codec::json_string(o.from.label()),
                    codec::json_string(o.to.label()));
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        const auto& n = outcomes[i];
        out += fmt::format("{}{{\"node\":{},\"same\":{}", i ? "," : "", codec::json_string(n.node),
                           n.same);
        if (!n.error.empty()) out += ",\"error\":" + codec::json_string(n.error);
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
        // Two commits of one repository: it is named once.
        for (auto [side, other] : {std::pair(&o.from, &o.to), std::pair(&o.to, &o.from)}) {
            if (side->placed() ||
                (side->revision.empty() && (other->revision.empty() || !positional.empty())))
                continue;
            side->environment = other->environment;
            side->path = other->path;
        }
        auto wants = [](const Side& s) { return s.placed(); };
        std::size_t next = 0;
        for (Side* side : {&o.from, &o.to}) {
            if (!wants(*side) && next < positional.size()) side->file = positional[next++];
        }
        for (const Side* side : {&o.from, &o.to}) {
            if (side->file.empty() && !wants(*side)) {
                throw base::plain_error(
                    "Two catalogs are needed: files, --from-env and --to-env, or --from-path and "
                    "--to-path; see 'bunraku help diff'");
            }
        }
        if (next < positional.size())
            throw base::plain_error(
                fmt::format("There is no third catalog to compare: {}", positional[next]));

        Comparison comparison(invocation.settings, o, *sink);
        const auto nodes = wanted_nodes(o, comparison.site(), arena, *sink);
        o.compile.facts.clear();
        outcomes = comparison.run(nodes, jobs_of(o));
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
        report_error(*sink, base::plain_error(fmt::format("Could not write to {}", o.output)), "");
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
