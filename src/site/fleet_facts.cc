#include "site/fleet_facts.h"

#include <algorithm>
#include <dirent.h>
#include <fmt/format.h>
#include <fstream>

#include "base/plain_error.h"
#include "query/ast.h"
#include "site/fact_sources.h"
#include "store/archive.h"
#include "store/query/engine.h"
#include "value/build.h"
#include "value/hash_access.h"
#include "value/rich_data.h"

namespace bunraku::site {

using base::PuppetError;
using base::Result;
using facts::NodeFacts;
using value::Value;

namespace {

PuppetError failed(const std::string& source, const std::string& why) {
    return base::plain_error(fmt::format("Could not retrieve facts from {}: {}", source, why));
}

/// Who answers a query: rows, or why there are none.
using Ask = std::function<Result<Value>(const Value& query)>;

/// The facts of a row of factsets; nullopt: the service only says where they are.
std::optional<Value> facts_of_row(base::Arena& arena, const Value& row) {
    const Value* data = at(row, "facts");
    if (data) data = at(*data, "data");
    if (!data || !data->is_array()) return std::nullopt;
    value::HashBuilder out(arena, data->as_array().size());
    for (const Value& fact : data->as_array()) {
        const Value *name = at(fact, "name"), *value = at(fact, "value");
        if (name && value) out.set(*name, *value);
    }
    return out.build();
}

/// All factsets, some at a time: an answer is held as a whole.
std::vector<NodeFacts> ask_factsets(base::Arena& arena, const std::string& source, const Ask& ask,
                                    const std::vector<std::string>& wanted, FleetGaps* gaps) {
    constexpr std::int64_t kAtOnce = 200;
    auto text = [&](std::string_view s) { return value::make_string(arena, s); };
    auto list = [&](std::vector<Value> items) { return value::make_array(arena, items); };
    std::vector<NodeFacts> out;
    auto rows_of = [&](const Value& query) -> std::optional<Value> {
        auto rows = ask(query);
        if (!rows && gaps && !out.empty()) {
            gaps->broken = rows.error().message;
            return std::nullopt;
        }
        if (!rows) throw failed(source, rows.error().message);
        if (!rows->is_array()) throw failed(source, "the answer is no list");
        return *rows;
    };
    std::vector<Value> extract = {text("extract"), list({text("certname"), text("facts")})};
    if (!wanted.empty()) {
        std::vector<Value> names;
        for (const auto& name : wanted) names.push_back(text(name));
        extract.push_back(
            list({text("in"), text("certname"), list({text("array"), list(std::move(names))})}));
    }
    for (std::int64_t offset = 0;; offset += kAtOnce) {
        const Value query = list({text("from"), text("factsets"), list(extract),
                                  list({text("order_by"), list({text("certname")})}),
                                  list({text("limit"), Value::integer(kAtOnce)}),
                                  list({text("offset"), Value::integer(offset)})});
        const auto rows = rows_of(query);
        if (!rows) return out;
        for (const Value& row : rows->as_array()) {
            const Value* name = at(row, "certname");
            if (!name || !name->is_string()) throw failed(source, "a factset has no certname");
            auto facts = facts_of_row(arena, row);
            if (!facts) {
                // Some databases tell only where the facts are.
                const auto each =
                    rows_of(list({text("from"), text("facts"),
                                  list({text("extract"), list({text("name"), text("value")}),
                                        list({text("="), text("certname"), *name})})}));
                if (!each) return out;
                value::HashBuilder all(arena);
                for (const Value& fact : each->as_array()) {
                    const Value *key = at(fact, "name"), *value = at(fact, "value");
                    if (key && value) all.set(*key, *value);
                }
                facts = all.build();
            }
            out.push_back({std::string(name->as_string()), *facts});
        }
        if (static_cast<std::int64_t>(rows->as_array().size()) < kAtOnce) return out;
    }
}

bool is_service(const std::string& source) {
    return source.starts_with("http://") || source.starts_with("https://");
}
bool is_database(const std::string& source) {
    return source.starts_with("sqlite:") || source.starts_with("postgresql://") ||
           source.starts_with("postgres://");
}

/// Hands who answers queries for the source to `use`.
template <class Use>
auto with_store(base::Arena& arena, Site& site, const std::string& source, base::LogSink& log,
                Use&& use) {
    Overlay overlay;
    if (is_service(source)) overlay.set("puppetdb_url", source);
    const auto store = site.store(log, overlay);
    return use([&](const Value& query) { return store->query(query, arena); });
}

template <class Use>
auto with_database(base::Arena& arena, Site& site, const std::string& source, Use&& use) {
    const auto database = database_of(site.settings(), source);
    // A database that is not there is not made for a look.
    if (source.starts_with("sqlite:") && !std::ifstream(database))
        throw base::plain_error(fmt::format("Could not read {}", database));
    auto opened = store::Store::open(
        database,
        {.key_file = store_key_of(site.settings())});  // brings older tables to the newest
    if (!opened) throw failed(source, opened.error().message);
    store::QueryEngine engine(database, store::QueryEngineOptions{1});
    auto ask = [&](const Value& query) -> Result<Value> {
        try {
            const auto text =
                query.is_string() ? std::string(query.as_string()) : value::to_json(query);
            return value::parse_json(arena, BUNRAKU_TRY(engine.run_text(text)));
        } catch (const query::QueryError& error) {
            return base::failure(error.message, error.status);
        }
    };
    return use(ask);
}

std::vector<NodeFacts> from_archive(base::Arena& arena, const std::string& path) {
    std::vector<NodeFacts> out;
    auto take = [&](const store::CommandHeader& header, std::string body) -> Result<void> {
        if (header.kind != store::CommandKind::ReplaceFacts) return {};
        for (auto& node : BUNRAKU_TRY(facts::read_documents(arena, body, path + ".json"))) {
            if (node.node.empty()) node.node = header.certname;
            out.push_back(std::move(node));
        }
        return {};
    };
    if (auto read = store::import_archive_file(path, take); !read)
        throw failed(path, read.error().message);
    if (out.empty()) throw base::plain_error(fmt::format("There are no facts in {}", path));
    std::ranges::stable_sort(out, {}, &NodeFacts::node);
    return out;
}

bool is_archive(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return file.get() == 0x1f && file.get() == 0x8b;
}

bool is_folder(const std::string& path) { return environment::disk_files()->stat(path).directory; }

std::vector<NodeFacts> read_source(base::Arena& arena, Site& site, const std::string& source,
                                   const std::vector<std::string>& wanted, base::LogSink& log,
                                   FleetGaps* gaps) {
    const auto factsets = [&](const Ask& ask) {
        return ask_factsets(arena, source, ask, wanted, gaps);
    };
    if (is_service(source) || source == "store")
        return with_store(arena, site, source, log, factsets);
    if (is_database(source)) return with_database(arena, site, source, factsets);
    if (is_folder(source)) return facts_in_folder(arena, source);
    return is_archive(source) ? from_archive(arena, source) : read_fact_file(arena, source);
}

/// PuppetDB keeps $trusted among the facts, where a compile has it by itself.
FleetNode without_trusted(base::Arena& arena, NodeFacts node) {
    FleetNode out{std::move(node.node), node.values, {}};
    const Value* trusted = at(node.values, "trusted");
    if (!trusted || !trusted->is_hash() || !at(*trusted, "authenticated")) return out;
    out.trusted = *trusted;
    value::HashBuilder facts(arena);
    facts.merge(node.values.as_hash());
    facts.erase(Value::string("trusted"));
    out.facts = facts.build();
    return out;
}

}  // namespace

std::vector<NodeFacts> facts_in_folder(base::Arena& arena, const std::string& folder) {
    std::vector<std::string> names;
    DIR* dir = ::opendir(folder.c_str());
    if (!dir) throw base::plain_error(fmt::format("Could not read the folder {}", folder));
    while (dirent* item = ::readdir(dir)) {
        std::string name = item->d_name;
        if (name.ends_with(".json") || name.ends_with(".yaml") || name.ends_with(".yml"))
            names.push_back(std::move(name));
    }
    ::closedir(dir);
    std::sort(names.begin(), names.end());
    std::vector<NodeFacts> out;
    for (const auto& name : names) {
        for (auto& node : read_fact_file(arena, folder + "/" + name)) {
            if (node.node.empty()) node.node = name.substr(0, name.rfind('.'));
            out.push_back(std::move(node));
        }
    }
    if (out.empty())
        throw base::plain_error(fmt::format("There are no facts (*.json, *.yaml) in {}", folder));
    return out;
}

std::vector<FleetNode> fleet_facts(base::Arena& arena, Site& site, const std::string& source,
                                   const std::vector<std::string>& wanted, base::LogSink& log,
                                   FleetGaps* gaps) {
    std::vector<FleetNode> out;
    for (auto& node : read_source(arena, site, source, wanted, log, gaps)) {
        if (node.node.empty()) node.node = site.settings().text("certname");
        const bool asked = wanted.empty() || std::ranges::find(wanted, node.node) != wanted.end();
        if (asked) out.push_back(without_trusted(arena, std::move(node)));
    }
    for (const auto& name : wanted) {
        if (std::ranges::find(out, name, &FleetNode::name) != out.end()) continue;
        if (!gaps)
            throw base::plain_error(fmt::format("There are no facts of {} in {}", name, source));
        gaps->unknown.push_back(name);
    }
    if (out.empty() && (!gaps || gaps->unknown.empty()))
        throw base::plain_error(fmt::format("There are no facts in {}", source));
    return out;
}

std::vector<std::string> fleet_names(Site& site, const std::string& source, const std::string& pql,
                                     base::LogSink& log) {
    base::Arena arena(64 * 1024);
    const Value query = value::make_string(arena, pql);
    const auto asked = [&](const Ask& ask) { return ask(query); };
    if (!is_service(source) && source != "store" && !is_database(source))
        throw base::plain_error(fmt::format(
            "PQL is answered by a PuppetDB or a store, not by {}: name nodes by patterns", source));
    const auto rows = is_database(source) ? with_database(arena, site, source, asked)
                                          : with_store(arena, site, source, log, asked);
    if (!rows)
        throw base::plain_error(
            fmt::format("Could not ask {} for nodes: {}", source, rows.error().message));
    std::vector<std::string> out;
    if (rows->is_array()) {
        for (const Value& row : rows->as_array()) {
            const Value* name = at(row, "certname");
            if (!name || !name->is_string())
                throw base::plain_error("The query for nodes has to give their certname");
            if (std::ranges::find(out, name->as_string()) == out.end())
                out.emplace_back(name->as_string());
        }
    }
    return out;
}

}  // namespace bunraku::site
