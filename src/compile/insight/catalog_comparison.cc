// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/catalog_comparison.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <mutex>
#include <utility>

#include "compile/compiler/naming.h"
#include "compile/insight/fleet_selection.h"
#include "compile/site/fact_sources.h"
#include "compile/site/fleet_facts.h"
#include "core/base/plain_error.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "resources/catalog/catalog_input.h"
#include "resources/catalog/diff_text.h"
#include "resources/facts/facts.h"

namespace bunraku::insight {

namespace {

using base::PuppetError;
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

/// Compares the two catalogs of each node. Nodes and sides are independent, and several threads
/// process them.
class CatalogComparison {
public:
    CatalogComparison(const config::Settings& settings, site::Options site,
                      const DiffRequest& options, base::LogSink& log)
        : options_(options),
          log_(log),
          site_(settings, of_site(std::move(site), log_of_site_, options)) {}

    std::vector<DiffOutcome> run(const std::vector<site::FleetNode>& nodes,
                                 const DiffProgress& progress) {
        const std::size_t jobs = thread_count(options_.jobs);
        nodes_ = std::vector<Node>(nodes.size());
        open_environments();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            nodes_[i].given = &nodes[i];
            if (jobs == 1) {
                prepare(nodes_[i], 0);
                prepare(nodes_[i], 1);
                progress(i + 1, nodes.size());
                continue;
            }
            for (const std::size_t side : {0, 1})
                site_.workers().post([this, i, side] { prepare(nodes_[i], side); });
        }
        std::unique_lock lock(mutex_);
        constexpr auto kShownEvery = std::chrono::milliseconds(200);
        while (!done_.wait_for(lock, kShownEvery, [&] { return reported_ == nodes_.size(); }))
            progress(reported_, nodes_.size());
        progress(0, 0);
        log_of_site_.flush_log(log_);
        std::vector<DiffOutcome> out;
        for (auto& node : nodes_) out.push_back(std::move(node.outcome));
        return out;
    }

    site::Site& site() { return site_; }

private:
    /// Buffers log records until it is their turn. The site's log uses it too, because the node
    /// that first opens an environment chosen by a classifier varies.
    class BufferedLog final : public base::LogSink {
    public:
        explicit BufferedLog(const base::LogSink* later = nullptr) : later_(later) {}
        using LogSink::log;
        bool enabled(base::Level level) const override { return !later_ || later_->enabled(level); }
        void log(const base::Diagnostic& d) override { records_.push_back(d); }
        void flush_log(base::LogSink& log) {
            for (const auto& d : records_) log.log(d);
            records_.clear();
        }
        void sort() { std::ranges::sort(records_, {}, &base::Diagnostic::message); }

    private:
        const base::LogSink* later_;
        std::vector<base::Diagnostic> records_;
    };

    /// A catalog, and the result of its compile.
    struct CompiledCatalog {
        CatalogPtr catalog;
        site::Compiled compiled;  ///< empty if read from a file
        bool wire = false;
    };
    struct Node {
        const site::FleetNode* given = nullptr;
        std::optional<CompiledCatalog> made[2];
        std::string errors[2];
        std::unique_ptr<BufferedLog> logs[2];
        std::atomic<int> left{2};
        bool finished = false;
        DiffOutcome outcome;
    };
    /// A catalog file, which is read once for all nodes.
    struct FileSide {
        std::once_flag once;
        catalog::ReadCatalog read;
        std::string error;
    };

    static site::Options of_site(site::Options out, base::LogSink& log,
                                 const DiffRequest& options) {
        out.log = &log;
        out.explain_errors = false;
        out.threads = thread_count(options.jobs);
        // Limits memory, which grows with the number of waiting results.
        out.queue = 2 * out.threads;
        return out;
    }

    const DiffSide& side(std::size_t i) const { return i == 0 ? options_.from : options_.to; }

    /// Opens the environments first, so that their warnings come first and only once.
    void open_environments() {
        for (const std::size_t i : {0, 1}) {
            if (!side(i).compiled()) continue;
            try {
                site_.environment(request(side(i)));
            } catch (const PuppetError&) {
                // The error will be reported for every node.
            }
        }
        log_of_site_.flush_log(log_);
    }

    site::NodeRequest request(const DiffSide& side) const {
        site::NodeArguments options = options_.compile;
        options.environment = side.environment;
        if (side.modulepath != site::NodeArguments::kNotGiven) options.modulepath = side.modulepath;
        if (!side.hiera_config.empty()) options.hiera_config = side.hiera_config;
        auto out = options.request();
        out.sources.directory = side.path;
        out.sources.revision = side.revision;
        out.sources.manifest = options_.manifest;
        if (options.server_facts.empty()) out.server_facts.kind = site::ServerFacts::Kind::Fixed;
        return out;
    }

    void prepare(Node& node, std::size_t i) {
        node.logs[i] = std::make_unique<BufferedLog>(&log_);
        try {
            node.made[i] = obtain(node, i);
        } catch (const PuppetError& e) {
            node.errors[i] = e.full_text();
        } catch (const std::exception& e) {
            node.errors[i] = e.what();
        }
        if (node.left.fetch_sub(1) == 1) finish(node);
    }

    CompiledCatalog obtain(const Node& node, std::size_t i) {
        CompiledCatalog out;
        if (!side(i).compiled()) {
            FileSide& file = files_[i];
            std::call_once(file.once, [&] {
                try {
                    file.read = catalog::read_catalog(read_input(side(i).file), side(i).file);
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
        if (options_.compile.trusted.empty()) asked.trusted.give(node.given->trusted);
        asked.facts.values = facts(*asked.arena, side(i), *node.given);
        const bool folder_needed = !asked.sources.modulepath;
        const auto session = site_.session(std::move(asked), *node.logs[i]);
        if (folder_needed && session->environment()->directory().empty())
            throw base::plain_error(site::environment_missing(session->view().settings()));
        out.compiled = session->compile();
        out.catalog = out.compiled.catalog;
        return out;
    }

    /// Called when both catalogs are available or have failed.
    void finish(Node& node) {
        DiffOutcome& out = node.outcome;
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
        flush_log(node);
    }

    /// Writes the logs of the nodes in the order of the nodes.
    void flush_log(Node& node) {
        const std::lock_guard lock(mutex_);
        node.finished = true;
        for (; reported_ < nodes_.size() && nodes_[reported_].finished; ++reported_) {
            for (auto& log : nodes_[reported_].logs) {
                if (log) log->flush_log(log_);
                log.reset();
            }
        }
        if (reported_ < nodes_.size()) return;
        log_of_site_.sort();
        done_.notify_all();
    }

    void compare(CompiledCatalog& before, CompiledCatalog& after, DiffOutcome& out) {
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
        // PuppetDB's format includes the aliases of every resource; the agent format does not.
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
            text.color = options_.color;
            text.detail_add = options_.detail_add;
            text.truncate = options_.truncate;
            text.places = options_.places;
            text.context = std::clamp(std::atoi(options_.context.c_str()), 0, 1000);
            text.naming = naming;
            catalog::write_diff_text(out.text, diff, *before.catalog, *after.catalog, text);
            // Lines with names of different lengths are truncated at different positions, so
            // compare the full lines.
            text.color = text.truncate = false;
            std::string whole;
            catalog::write_diff_text(whole, diff, *before.catalog, *after.catalog, text);
            out.alike = out.identity.without(whole);
        }
    }

    Value facts(base::Arena& arena, const DiffSide& side, const site::FleetNode& node) {
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

    /// Replaces a file's `source` in a module by its `content`. Then a changed file is a
    /// difference, and a moved one is not.
    void inline_sources(CompiledCatalog& made) {
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

    const DiffRequest& options_;
    base::LogSink& log_;  // guarded by mutex_
    BufferedLog log_of_site_;
    std::once_flag gathered_;
    base::Arena own_arena_;  // for this machine's facts
    Value own_facts_;
    FileSide files_[2];
    compiler::TypeNames plain_names_;
    std::vector<Node> nodes_;
    std::mutex mutex_;
    std::condition_variable done_;
    std::size_t reported_ = 0;  // number of nodes whose logs have been written
    site::Site site_;           // last member, so that its threads end first
};

/// Returns the nodes to compare, with their facts (undef for this machine's facts).
std::vector<site::FleetNode> wanted_nodes(const DiffRequest& o, site::Site& site,
                                          base::Arena& arena, base::LogSink& log) {
    const std::string& file = o.compile.facts;
    if (!o.facts_from.empty()) {
        if (!file.empty() || !o.facts_directory.empty())
            throw base::plain_error("--facts-from cannot be combined with --facts or --facts-dir");
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

}  // namespace

void parse_ignores(DiffRequest& o) {
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

std::vector<DiffOutcome> compare_catalogs(const config::Settings& settings, site::Options site,
                                          DiffRequest request, base::Arena& arena,
                                          const DiffProgress& progress, base::LogSink& log) {
    CatalogComparison comparison(settings, std::move(site), request, log);
    const auto nodes = wanted_nodes(request, comparison.site(), arena, log);
    request.compile.facts.clear();
    return comparison.run(nodes, progress);
}

}  // namespace bunraku::insight
