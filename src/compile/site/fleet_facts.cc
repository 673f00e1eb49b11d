// SPDX-License-Identifier: Apache-2.0
#include "compile/site/fleet_facts.h"

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_map>

#include "compile/site/fact_sources.h"
#include "core/base/plain_error.h"
#include "core/sys/change_times.h"
#include "core/sys/clock.h"
#include "core/sys/descriptor.h"
#include "core/sys/disk.h"
#include "core/value/build.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "resources/catalog/wire_time.h"
#include "store/db/owner.h"
#include "store/engine/archive.h"
#include "store/engine/query_engine.h"
#include "store/query/ast.h"

namespace bunraku::site {

using base::PuppetError;
using base::Result;
using facts::NodeFacts;
using value::Value;

namespace {

PuppetError failed(const std::string& source, const std::string& why) {
    return base::plain_error(fmt::format("Could not retrieve facts from {}: {}", source, why));
}

/// Runs a query; returns its rows or an error.
using Ask = std::function<Result<Value>(const Value& query)>;

/// Returns the facts in a row of factsets, or nullopt if the row only contains a link to them.
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

/// Reads all factsets in batches, because a response is held in memory.
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
        if (!rows->is_array()) throw failed(source, "the answer is not an array");
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
                // Some services only return links to the facts.
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

/// Calls `use` with a function that queries the source.
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
    // Does not create a missing database only to read it.
    if (source.starts_with("sqlite:") && ::access(database.c_str(), R_OK) != 0)
        throw base::plain_error(fmt::format("Could not read {}", database));
    // Migrates older tables, unless a server owns the database and has done so.
    auto opened = store::Store::open(database, {.read_only = store::has_owner(database),
                                                .key_file = store_key_of(site.settings())});
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

bool answers_queries(const std::string& source) {
    return is_service(source) || source == "store" || is_database(source);
}

/// Returns the rows of a query with the names of their nodes.
std::vector<std::pair<std::string_view, Value>> query_nodes(base::Arena& arena, Site& site,
                                                            const std::string& source,
                                                            const std::string& pql,
                                                            base::LogSink& log) {
    const Value query = value::make_string(arena, pql);
    const auto asked = [&](const Ask& ask) { return ask(query); };
    const auto rows = is_database(source) ? with_database(arena, site, source, asked)
                                          : with_store(arena, site, source, log, asked);
    if (!rows)
        throw base::plain_error(
            fmt::format("Could not query {} for nodes: {}", source, rows.error().message));
    std::vector<std::pair<std::string_view, Value>> out;
    if (!rows->is_array()) return out;
    for (const Value& row : rows->as_array()) {
        const Value* name = at(row, "certname");
        if (!name || !name->is_string())
            throw base::plain_error("The query for nodes must return their certname");
        out.emplace_back(name->as_string(), row);
    }
    return out;
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

/// Returns the fact files of a folder, sorted by name. Throws.
std::vector<std::string> fact_files(const std::string& folder) {
    std::vector<std::string> names;
    DIR* dir = ::opendir(folder.c_str());
    if (!dir) throw base::plain_error(fmt::format("Could not read the folder {}", folder));
    while (dirent* item = ::readdir(dir)) {
        std::string name = item->d_name;
        if (name.ends_with(".json") || name.ends_with(".yaml") || name.ends_with(".yml"))
            names.push_back(std::move(name));
    }
    ::closedir(dir);
    if (names.empty())
        throw base::plain_error(fmt::format("There are no facts (*.json, *.yaml) in {}", folder));
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<NodeFacts> facts_of_file(base::Arena& arena, const std::string& path) {
    auto out = read_fact_file(arena, path);
    const auto name = path.substr(path.rfind('/') + 1);
    for (auto& node : out)
        if (node.node.empty()) node.node = name.substr(0, name.rfind('.'));
    return out;
}

/// Like above; if `gaps` is not null, records files that cannot be read there.
std::vector<NodeFacts> facts_of_file(base::Arena& arena, const std::string& folder,
                                     const std::string& name, FleetGaps* gaps) {
    try {
        return facts_of_file(arena, folder + "/" + name);
    } catch (const PuppetError& error) {
        if (!gaps) throw;
        gaps->unreadable.emplace_back(name.substr(0, name.rfind('.')), error.message());
        return {};
    }
}

/// Removes nodes for which the folder contains a newer file. `files` names the file of each node.
template <class Node>
void keep_newest(std::vector<Node>& nodes, std::string Node::* name,
                 const std::vector<std::string>& files, const std::string& folder,
                 FleetGaps* gaps) {
    const auto written = [&](std::size_t i) {
        return environment::disk_files()->stat(folder + "/" + files[i]).mtime_ns;
    };
    std::unordered_map<std::string_view, std::size_t> found;
    std::vector<bool> older(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto [it, fresh] = found.try_emplace(nodes[i].*name, i);
        if (fresh) continue;
        std::size_t used = it->second, other = i;
        if (written(other) >= written(used)) std::swap(used, other);
        it->second = used;
        older[other] = true;
        if (gaps && files[used] != files[other])
            gaps->twice.push_back({nodes[i].*name, files[used], files[other]});
    }
    std::vector<Node> left;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (!older[i]) left.push_back(std::move(nodes[i]));
    nodes = std::move(left);
}

std::vector<NodeFacts> facts_in_folder(base::Arena& arena, const std::string& folder,
                                       FleetGaps* gaps) {
    std::vector<NodeFacts> out;
    std::vector<std::string> files;
    for (const auto& name : fact_files(folder)) {
        std::ranges::move(facts_of_file(arena, folder, name, gaps), std::back_inserter(out));
        files.resize(out.size(), name);
    }
    keep_newest(out, &NodeFacts::node, files, folder, gaps);
    return out;
}

/// Reads each wanted node from the file with its name. Returns nullopt if one of them has no such
/// file; it may then be in any file.
std::optional<std::vector<NodeFacts>> facts_by_name(base::Arena& arena, const std::string& folder,
                                                    const std::vector<std::string>& wanted) {
    std::vector<NodeFacts> out;
    for (const auto& name : wanted) {
        const auto path = fmt::format("{}/{}.json", folder, name);
        if (name.find('/') != std::string::npos || !sys::disk().is_file(path)) return std::nullopt;
        for (const char* ending : {"yaml", "yml"})
            if (sys::disk().is_file(fmt::format("{}/{}.{}", folder, name, ending)))
                return std::nullopt;
        auto found = facts_of_file(arena, path);
        if (found.size() != 1 || found[0].node != name) return std::nullopt;
        out.push_back(std::move(found[0]));
    }
    return out;
}

std::vector<NodeFacts> read_source(base::Arena& arena, Site& site, const std::string& source,
                                   const std::vector<std::string>& wanted, base::LogSink& log,
                                   FleetGaps* gaps) {
    const auto factsets = [&](const Ask& ask) {
        return ask_factsets(arena, source, ask, wanted, gaps);
    };
    if (is_service(source) || source == "store")
        return with_store(arena, site, source, log, factsets);
    if (is_database(source)) return with_database(arena, site, source, factsets);
    if (is_folder(source)) {
        // For a few nodes, not all files need to be read.
        if (!wanted.empty())
            if (auto found = facts_by_name(arena, source, wanted)) return std::move(*found);
        return facts_in_folder(arena, source, gaps);
    }
    return is_archive(source) ? from_archive(arena, source) : read_fact_file(arena, source);
}

FleetNode without_trusted(base::Arena& arena, NodeFacts node) {
    const auto known = split_trusted(arena, node.values);
    return {.name = std::move(node.node),
            .facts = known.facts,
            .trusted = known.trusted,
            .file = {},
            .stamp = {}};
}

/// Returns a stamp that changes with the file. Empty if the file was just written. Uses the name
/// relative to the open folder: with absolute paths, ten thousand files take twice as long.
std::string stamp_of(const sys::Descriptor& folder, const std::string& name, std::int64_t now) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    struct stat status{};
    if (::fstatat(folder.get(), name.c_str(), &status, 0) != 0) return {};
    const auto changed = status.st_ctim.tv_sec * kSecond + status.st_ctim.tv_nsec;
    if (changed > now - sys::kTimesTick) return {};
    return fmt::format("{} {} {} {}", status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec,
                       changed, status.st_size, status.st_ino);
}

/// Returns the nodes of a folder. Does not read files that `index` already contains.
std::vector<FleetNode> indexed_folder(base::Arena& arena, const std::string& folder,
                                      FactIndex& index, FleetGaps* gaps) {
    std::vector<FleetNode> out;
    const auto names = fact_files(folder);
    const sys::Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    std::vector<FactFile> now;
    std::vector<std::string> files;
    out.reserve(names.size());
    now.reserve(names.size());
    files.reserve(names.size());
    const auto began = sys::make_real_clock()->now_ns();
    auto known = index.files.begin();
    for (const auto& name : names) {
        auto path = folder + "/" + name;
        auto stamp = stamp_of(opened, name, began);
        while (known != index.files.end() && known->name < name) ++known;
        if (known != index.files.end() && known->name == name && !stamp.empty() &&
            known->stamp == stamp) {
            out.push_back({.name = known->node,
                           .facts = {},
                           .trusted = {},
                           .file = std::move(path),
                           .stamp = std::move(stamp)});
            files.push_back(name);
            now.push_back(std::move(*known++));
            continue;
        }
        index.changed = true;
        auto found = facts_of_file(arena, folder, name, gaps);
        const bool one = found.size() == 1 && found[0].values.is_hash() &&
                         !found[0].values.as_hash().empty() && !stamp.empty();
        if (one) now.push_back({.name = name, .stamp = stamp, .node = found[0].node});
        for (auto& node : found) {
            out.push_back(without_trusted(arena, std::move(node)));
            if (one) out.back().stamp = stamp;
        }
        files.resize(out.size(), name);
    }
    keep_newest(out, &FleetNode::name, files, folder, gaps);
    index.changed = index.changed || now.size() != index.files.size();
    index.files = std::move(now);
    return out;
}

}  // namespace

FleetNode with_facts(base::Arena& arena, const FleetNode& node) {
    if (node.file.empty()) return node;
    for (auto& found : facts_of_file(arena, node.file)) {
        if (found.node != node.name) continue;
        auto out = without_trusted(arena, std::move(found));
        out.stamp = node.stamp;
        return out;
    }
    throw base::plain_error(fmt::format("{} no longer contains facts of {}", node.file, node.name));
}

std::vector<NodeFacts> facts_in_folder(base::Arena& arena, const std::string& folder) {
    return facts_in_folder(arena, folder, nullptr);
}

std::vector<FleetNode> fleet_facts(base::Arena& arena, Site& site, const std::string& source,
                                   const std::vector<std::string>& wanted, base::LogSink& log,
                                   FleetGaps* gaps, FactIndex* index) {
    std::vector<FleetNode> out;
    const auto asked = [&](const std::string& name) {
        return wanted.empty() || std::ranges::find(wanted, name) != wanted.end();
    };
    if (index && is_folder(source)) {
        out = indexed_folder(arena, source, *index, gaps);
        if (!wanted.empty())
            std::erase_if(out, [&](const FleetNode& node) { return !asked(node.name); });
    } else {
        for (auto& node : read_source(arena, site, source, wanted, log, gaps)) {
            if (node.node.empty()) node.node = site.settings().text("certname");
            if (asked(node.node)) out.push_back(without_trusted(arena, std::move(node)));
        }
    }
    for (const auto& name : wanted) {
        if (std::ranges::find(out, name, &FleetNode::name) != out.end()) continue;
        if (!gaps)
            throw base::plain_error(fmt::format("{} is not among the facts in {}", name, source));
        gaps->unknown.push_back(name);
    }
    if (out.empty() && (!gaps || (gaps->unknown.empty() && gaps->unreadable.empty())))
        throw base::plain_error(fmt::format("There are no facts in {}", source));
    return out;
}

std::vector<std::string> fleet_names(Site& site, const std::string& source, const std::string& pql,
                                     base::LogSink& log) {
    if (!answers_queries(source))
        throw base::plain_error(fmt::format(
            "Only a PuppetDB or a store supports PQL, not {}: select nodes with patterns", source));
    base::Arena arena(64 * 1024);
    std::vector<std::string> out;
    for (const auto& [name, row] : query_nodes(arena, site, source, pql, log))
        if (std::ranges::find(out, name) == out.end()) out.emplace_back(name);
    return out;
}

std::map<std::string, std::int64_t> fleet_contacts(Site& site, const std::string& source,
                                                   base::LogSink& log) {
    std::map<std::string, std::int64_t> out;
    if (!answers_queries(source)) return out;
    base::Arena arena(64 * 1024);
    const auto pql = "nodes[certname, report_timestamp, facts_timestamp] {}";
    for (const auto& [name, row] : query_nodes(arena, site, source, pql, log)) {
        std::int64_t& last = out[std::string(name)];
        for (const char* key : {"report_timestamp", "facts_timestamp"}) {
            const Value* time = at(row, key);
            if (time && time->is_string())
                last = std::max(last, catalog::parse_wire_time(time->as_string()).value_or(0));
        }
    }
    return out;
}

}  // namespace bunraku::site
