// SPDX-License-Identifier: Apache-2.0
#include "compile/migration/stored_catalogs.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <mutex>
#include <thread>
#include <utility>

#include "compile/insight/node_identity.h"
#include "compile/site/fleet_facts.h"
#include "core/base/plain_error.h"
#include "core/value/build.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "resources/catalog/catalog_input.h"
#include "resources/catalog/diff.h"
#include "resources/catalog/diff_filter.h"
#include "resources/catalog/diff_text.h"
#include "resources/catalog/wire.h"

namespace bunraku::migration {

namespace {

using value::Value;

/// Compiles each node with the stored facts and compares the result with the stored catalog.
class Catalogs {
public:
    Catalogs(const config::Settings& settings, site::Options options, std::string source,
             std::vector<std::string> wanted, base::LogSink& log)
        : site_(settings, quiet(std::move(options))),
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
    static site::Options quiet(site::Options out) {
        out.explain_errors = false;
        return out;
    }

    /// Returns the stored catalog of a node. The catalog is null if there is none.
    catalog::ReadCatalog known(const std::string& node, base::LogSink& log) {
        base::Arena arena;
        const Value equals = value::make_array(
            arena,
            {Value::string("="), Value::string("certname"), value::make_string(arena, node)});
        const Value query =
            value::make_array(arena, {Value::string("from"), Value::string("catalogs"), equals});
        // One connection is enough, because queries are fast compared with compiles.
        const std::lock_guard lock(store_mutex_);
        auto connection = site_.store(log);
        const auto rows = connection->query(query, arena);
        if (!rows) throw base::plain_error(rows.error().message);
        if (!rows->is_array() || rows->as_array().empty()) return {};
        return catalog::read_catalog(value::to_json(command_form(arena, rows->as_array()[0])),
                                     "the store");
    }

    /// Converts a response of PuppetDB to the command format in which the catalog was submitted.
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

    /// Converts a catalog to the form that PuppetDB would store: sorted relations, no Sensitive
    /// values, Deferred as text.
    using Known = std::shared_ptr<const catalog::Catalog>;
    static Known as_stored(const Known& catalog, const catalog::Naming& naming) {
        catalog::WireEnvelope envelope;
        envelope.has_producer_timestamp = true;
        const auto text =
            catalog::write_wire(catalog::newest_wire_version(), *catalog, envelope, naming);
        // A catalog without such a form is compared unchanged.
        if (!text) return catalog;
        auto read = catalog::read_wire(catalog::newest_wire_version(), *text);
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
            request.trusted.give(node.trusted);
            request.server_facts.kind = site::ServerFacts::Kind::Own;
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
            // PuppetDB stores the resources of classes but not the list of classes.
            if (found.wire) {
                diff.classes_added.clear();
                diff.classes_removed.clear();
            }
            std::vector<catalog::IgnorePattern> ignored;
            // PuppetDB's format includes the aliases of every resource; a catalog does not.
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

}  // namespace

std::vector<NodeOutcome> compare_stored_catalogs(const config::Settings& settings,
                                                 site::Options options, std::string facts_from,
                                                 std::vector<std::string> nodes,
                                                 base::LogSink& log) {
    return Catalogs(settings, std::move(options), std::move(facts_from), std::move(nodes), log)
        .run();
}

}  // namespace bunraku::migration
