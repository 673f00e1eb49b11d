// bunraku migrate check: what of a Puppet site would be otherwise here, and whether its catalogs
// stay the same.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <thread>

#include "cli/actions.h"
#include "cli/catalog_input.h"
#include "cli/command.h"
#include "cli/node_options.h"
#include "compile/insight/node_identity.h"
#include "compile/migration/findings.h"
#include "compile/site/fleet_facts.h"
#include "core/base/plain_error.h"
#include "core/codec/json_text.h"
#include "core/value/build.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "resources/catalog/diff.h"
#include "resources/catalog/diff_filter.h"
#include "resources/catalog/diff_text.h"
#include "resources/catalog/wire.h"

namespace bunraku::cli {
namespace {

using value::Value;

std::string_view weight_name(migration::MigrationFinding::Weight weight) {
    switch (weight) {
        case migration::MigrationFinding::Weight::Broken: return "broken";
        case migration::MigrationFinding::Weight::Differs: return "differs";
        default: return "note";
    }
}

struct NodeOutcome {
    enum class State : unsigned char { Same, Different, Failed, Unknown } state = State::Same;
    std::string node, text;
    std::string alike;  ///< without the node's own name and addresses
};

/// Each node compiled with the facts that the store has, beside the catalog that it has.
class Catalogs {
public:
    Catalogs(Invocation& invocation, std::string source, std::vector<std::string> wanted,
             base::LogSink& log)
        : site_(invocation.settings, quiet(log)),
          source_(std::move(source)),
          wanted_(std::move(wanted)),
          log_(log) {}

    std::vector<NodeOutcome> run() {
        const auto nodes = site::fleet_facts(arena_, site_, source_, wanted_, log_);
        out_.resize(nodes.size());
        const std::size_t threads =
            std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 32);
        std::atomic<std::size_t> next{0};
        const auto loop = [&] {
            for (std::size_t i; (i = next.fetch_add(1)) < nodes.size();) compare(nodes[i], out_[i]);
        };
        std::vector<std::thread> others;
        for (std::size_t i = 1; i < std::min(threads, nodes.size()); ++i) others.emplace_back(loop);
        loop();
        for (auto& t : others) t.join();
        return std::move(out_);
    }

private:
    static site::Options quiet(base::LogSink& log) {
        auto out = site_options(log);
        out.explain_errors = false;
        return out;
    }

    /// What the store has of a node; null: nothing.
    ReadCatalog known(const std::string& node, base::LogSink& log) {
        base::Arena arena;
        const Value equals = value::make_array(
            arena,
            {Value::string("="), Value::string("certname"), value::make_string(arena, node)});
        const Value query =
            value::make_array(arena, {Value::string("from"), Value::string("catalogs"), equals});
        // One connection: queries are short beside compiles.
        const std::lock_guard lock(store_mutex_);
        auto connection = site_.store(log);
        const auto rows = connection->query(query, arena);
        if (!rows) throw base::plain_error(rows.error().message);
        if (!rows->is_array() || rows->as_array().empty()) return {};
        return read_catalog(value::to_json(command_form(arena, rows->as_array()[0])), "the store");
    }

    /// What PuppetDB answers, as it was given to it.
    static Value command_form(base::Arena& arena, const Value& row) {
        value::HashBuilder out(arena, 12);
        for (const char* key :
             {"certname", "version", "environment", "transaction_uuid", "catalog_uuid", "code_id",
              "job_id", "producer_timestamp", "producer"})
            if (const auto* v = value::at(row, key)) out.set(key, *v);
        const auto data = [&](const char* key) {
            const Value* list = value::at(row, key);
            if (list && list->is_hash()) list = value::at(*list, "data");
            return list && list->is_array() ? list->as_array() : std::span<const Value>();
        };
        std::vector<Value> resources, edges;
        for (const Value& r : data("resources")) {
            value::HashBuilder one(arena, 8);
            for (const char* key :
                 {"type", "title", "exported", "file", "line", "tags", "parameters"})
                if (const auto* v = value::at(r, key)) one.set(key, *v);
            one.set("aliases", value::make_array(arena, {}));
            resources.push_back(one.build());
        }
        for (const Value& e : data("edges")) {
            value::HashBuilder one(arena, 3);
            for (const char* end : {"source", "target"}) {
                value::HashBuilder ref(arena, 2);
                for (const char* part : {"type", "title"})
                    if (const auto* v = value::at(e, fmt::format("{}_{}", end, part)))
                        ref.set(part, *v);
                one.set(end, ref.build());
            }
            if (const auto* v = value::at(e, "relationship")) one.set("relationship", *v);
            edges.push_back(one.build());
        }
        out.set("resources", value::make_array(arena, resources));
        out.set("edges", value::make_array(arena, edges));
        return out.build();
    }

    /// As a PuppetDB would have it: relations sorted, nothing Sensitive, Deferred as text.
    using Known = std::shared_ptr<const catalog::Catalog>;
    static Known as_stored(const Known& catalog, const catalog::Naming& naming) {
        catalog::WireEnvelope envelope;
        envelope.has_producer_timestamp = true;
        const auto text =
            catalog::write_wire(catalog::kNewestWireVersion, *catalog, envelope, naming);
        // What has no such form is compared as it is.
        if (!text) return catalog;
        auto read = catalog::read_wire(catalog::kNewestWireVersion, *text);
        if (!read) return catalog;
        return std::make_shared<const catalog::Catalog>(std::move(read->catalog));
    }

    void compare(const site::FleetNode& node, NodeOutcome& out) {
        using State = NodeOutcome::State;
        out.node = node.name;
        const insight::NodeIdentity identity(node.name, node.facts);
        base::MemorySink records;
        try {
            const auto found = known(node.name, records);
            if (!found.catalog) {
                out.state = State::Unknown;
                return;
            }
            site::NodeRequest request;
            request.node = node.name;
            request.facts.values = node.facts;
            request.trusted = node.trusted;
            request.server_facts = site::NodeRequest::ServerFacts::Own;
            request.overlay.set("environment", found.catalog->environment);
            const auto compiled = site_.compile(std::move(request), records);
            catalog::DiffOptions how;
            how.tags = false;
            how.containers = false;
            how.naming = compiled.naming.get();
            Known before = found.catalog, after = compiled.catalog;
            if (found.wire) {
                before = as_stored(before, *compiled.naming);
                after = as_stored(after, *compiled.naming);
            }
            auto diff = catalog::diff(*before, *after, how);
            // A PuppetDB has the resources of classes, and no list of them.
            if (found.wire) {
                diff.classes_added.clear();
                diff.classes_removed.clear();
            }
            std::vector<catalog::IgnorePattern> ignored;
            // A PuppetDB names the aliases of every resource, a catalog does not.
            if (auto aliases = catalog::IgnorePattern::parse("*[*]::alias"); found.wire && aliases)
                ignored.push_back(std::move(*aliases));
            catalog::apply_ignores(diff, *before, *after, ignored, {});
            if (diff.empty()) return;
            out.state = State::Different;
            catalog::DiffTextOptions text;
            text.truncate = false;
            text.naming = compiled.naming.get();
            catalog::write_diff_text(out.text, diff, *before, *after, text);
        } catch (const base::PuppetError& e) {
            out.state = State::Failed;
            out.text = e.full_text() + "\n";
        } catch (const std::exception& e) {
            out.state = State::Failed;
            out.text = std::string(e.what()) + "\n";
        }
        out.alike = identity.without(out.text);
    }

    base::Arena arena_{1 << 20};
    site::Site site_;
    std::string source_;
    std::vector<std::string> wanted_;
    base::LogSink& log_;
    std::mutex store_mutex_;
    std::vector<NodeOutcome> out_;
};

std::size_t count(const std::vector<NodeOutcome>& all, NodeOutcome::State state) {
    return static_cast<std::size_t>(std::ranges::count(all, state, &NodeOutcome::state));
}

void print_nodes(const std::vector<NodeOutcome>& nodes) {
    using State = NodeOutcome::State;
    std::map<std::pair<State, std::string>, std::vector<const NodeOutcome*>> groups;
    for (const auto& n : nodes)
        if (n.state == State::Different || n.state == State::Failed)
            groups[{n.state, n.alike}].push_back(&n);
    for (const auto& [key, members] : groups) {
        constexpr std::size_t kNamed = 5;
        std::string names;
        for (std::size_t i = 0; i < std::min(members.size(), kNamed); ++i)
            names += (i == 0 ? "" : ", ") + members[i]->node;
        if (members.size() > kNamed) names += fmt::format(" and {} more", members.size() - kNamed);
        fmt::print("\n{} {}\n{}",
                   key.first == State::Failed ? "does not compile:" : "differs:", names,
                   members.front()->text);
    }
    fmt::print("\n{} nodes: {} the same, {} different, {} failed", nodes.size(),
               count(nodes, State::Same), count(nodes, State::Different),
               count(nodes, State::Failed));
    if (const auto n = count(nodes, State::Unknown)) fmt::print(", {} without a catalog", n);
    fmt::print("\n");
}

void print_json(const std::vector<migration::MigrationFinding>& findings,
                const std::vector<NodeOutcome>* nodes) {
    using State = NodeOutcome::State;
    std::string out = "{\"findings\":[";
    for (const auto& f : findings) {
        if (!out.ends_with('[')) out += ',';
        out += fmt::format("{{\"weight\":\"{}\",\"where\":{},\"text\":{}}}", weight_name(f.weight),
                           codec::json_string(f.where), codec::json_string(f.text));
    }
    out += ']';
    if (nodes) {
        out += ",\"nodes\":[";
        for (const auto& n : *nodes) {
            if (!out.ends_with('[')) out += ',';
            const char* state = n.state == State::Same        ? "same"
                                : n.state == State::Different ? "different"
                                : n.state == State::Failed    ? "failed"
                                                              : "unknown";
            out += fmt::format("{{\"node\":{},\"state\":\"{}\",\"text\":{}}}",
                               codec::json_string(n.node), state, codec::json_string(n.text));
        }
        out += ']';
    }
    out += "}\n";
    std::fwrite(out.data(), 1, out.size(), stdout);
}

int run_migrate(Invocation& invocation) {
    OptionParser options(invocation);
    std::vector<std::string> positional, rest, nodes;
    std::string facts_from = "store";
    bool no_catalogs = false, json = false;
    options.value("facts-from", &facts_from);
    options.list("node", &nodes);
    options.flag("no-catalogs", &no_catalogs);
    options.flag("json", &json);
    if (!options.parse(&positional)) return options.exit_code();
    auto sink = make_console_sink(options);
    const std::string action = take_action(positional, rest);
    if (action != "check" || !rest.empty()) {
        fmt::print(stderr, "Error: 'migrate' has {}.  See `{} help migrate`.\n",
                   action.empty() ? "no default action" : fmt::format("no '{}' action", action),
                   invocation.program);
        return 1;
    }
    const auto findings = migration::migration_findings(invocation.settings, *sink);
    std::vector<NodeOutcome> outcomes;
    std::string without;
    if (!no_catalogs) {
        try {
            outcomes = Catalogs(invocation, facts_from, nodes, *sink).run();
        } catch (const base::PuppetError& e) {
            without = e.full_text();
        }
    }
    using Weight = migration::MigrationFinding::Weight;
    const auto weigh = [&](Weight w) {
        return std::ranges::count(findings, w, &migration::MigrationFinding::weight);
    };
    const bool bad = weigh(Weight::Broken) > 0 || count(outcomes, NodeOutcome::State::Failed) > 0;
    const bool other =
        weigh(Weight::Differs) > 0 || count(outcomes, NodeOutcome::State::Different) > 0;
    if (json) {
        print_json(findings, no_catalogs ? nullptr : &outcomes);
    } else {
        for (const auto weight : {Weight::Broken, Weight::Differs, Weight::Note})
            for (const auto& f : findings)
                if (f.weight == weight)
                    fmt::print("{:<8} {}: {}\n", weight_name(f.weight), f.where, f.text);
        fmt::print("{} broken, {} differ, {} notes\n", weigh(Weight::Broken),
                   weigh(Weight::Differs), weigh(Weight::Note));
        if (!outcomes.empty()) print_nodes(outcomes);
    }
    if (!without.empty()) fmt::print(stderr, "No catalog was compared: {}\n", without);
    return bad ? 1 : other ? 2 : 0;
}

}  // namespace

BUNRAKU_COMMAND(migrate){.name = "migrate",
                         .summary = "Say what of a Puppet site would be otherwise here.",
                         .run = run_migrate,
                         .run_mode = "server"};

}  // namespace bunraku::cli
