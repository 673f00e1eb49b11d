// SPDX-License-Identifier: Apache-2.0
#include "cli/catalog_history.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

#include "compile/site/store_access.h"
#include "core/base/plain_error.h"
#include "core/sys/terminal.h"
#include "resources/catalog/diff_text.h"
#include "resources/catalog/wire_time.h"
#include "store/db/schema.h"
#include "store/engine/exports.h"
#include "store/engine/history.h"
#include "store/engine/runs.h"
#include "store/engine/undeclared.h"
#include "store/query/ast.h"
#include "store/query/time_text.h"

namespace bunraku::cli {

namespace {

using store::CatalogVersion;
using store::PastCatalog;

template <class T>
T taken(base::Result<T> result) {
    if (!result) throw base::plain_error(result.error().message);
    return std::move(*result);
}

std::unique_ptr<store::Database> open_history(const Invocation& invocation,
                                              const HistoryFlags& flags) {
    const std::string where = site::database_of(invocation.settings, flags.database);
    if (!store::is_postgresql_url(where) && ::access(where.c_str(), F_OK) != 0) {
        throw base::plain_error(fmt::format("There is no store at {}", where));
    }
    auto db = taken(store::Database::open(where, store::Database::Access::Read, 10'000));
    if (auto checked = store::check_schema(*db); !checked) {
        throw base::plain_error(checked.error().message);
    }
    return db;
}

std::int64_t time_named(std::string_view text) {
    if (text.empty() || text == "now") return INT64_MAX;
    const auto time = query::parse_query_time(text);
    if (!time) {
        throw base::plain_error(
            fmt::format("Invalid time '{}': expected a time such as 2026-01-31T12:00:00Z", text));
    }
    return *time;
}

struct Moment {
    std::string node;
    std::string time;  ///< empty if not given
};

/// Parses NODE[@TIME].
Moment moment_of(const std::string& word) {
    const auto at = word.find('@');
    if (at == std::string::npos) return {word, ""};
    return {word.substr(0, at), word.substr(at + 1)};
}

PastCatalog past(store::Database& db, const Moment& moment) {
    auto found = taken(store::catalog_at(db, moment.node, time_named(moment.time)));
    if (!found) {
        throw base::plain_error(
            moment.time.empty()
                ? fmt::format("No catalog of {} is known", moment.node)
                : fmt::format("No catalog of {} at {} is known", moment.node, moment.time));
    }
    return std::move(*found);
}

int log_versions(store::Database& db, const std::string& node, bool json) {
    const auto all = taken(store::catalog_versions(db, node));
    if (json) {
        fmt::print("{}\n", store::versions_json(all));
        return all.empty() ? 1 : 0;
    }
    if (all.empty()) throw base::plain_error(fmt::format("No catalog of {} is known", node));
    for (const CatalogVersion& v : all) {
        const std::string change =
            v.first ? "first stored catalog" : fmt::format("+{} -{}", v.added, v.removed);
        fmt::print("{}  {:<12}  {}{}{}\n", catalog::format_wire_time(v.valid_from), change,
                   v.environment, v.environment.empty() ? "" : "  ",
                   v.code_id.empty() ? v.version : v.code_id);
    }
    return 0;
}

/// Compares two given moments, or a given moment with the present, or the newest two versions.
int show_difference(store::Database& db, const std::vector<std::string>& words, bool json) {
    Moment before = moment_of(words[0]), after;
    if (words.size() == 2) {
        after = moment_of(words[1]);
    } else if (!before.time.empty()) {
        after = {before.node, ""};
    } else {
        const auto all = taken(store::catalog_versions(db, before.node));
        if (all.size() < 2) {
            throw base::plain_error(
                fmt::format("Fewer than two catalogs of {} are known", before.node));
        }
        after = before;
        before.time = catalog::format_wire_time(all[1].valid_from);
    }
    const PastCatalog from = past(db, before), to = past(db, after);
    const auto difference = catalog::diff(from.catalog, to.catalog, {.containers = false});
    std::string out;
    if (json) {
        catalog::write_diff_json(out, difference, from.catalog, to.catalog);
        out += '\n';
    } else {
        catalog::write_diff_text(out, difference, from.catalog, to.catalog,
                                 {.color = sys::has_colors(STDOUT_FILENO), .places = true});
    }
    std::fwrite(out.data(), 1, out.size(), stdout);
    return 0;
}

int show_drift(store::Database& db, const HistoryFlags& flags) {
    const auto by = store::drift_by(flags.by.empty() ? "resource" : flags.by);
    if (!by) {
        throw base::plain_error(
            fmt::format("--by takes resource, node, hour or flapping, not '{}'", flags.by));
    }
    const std::int64_t since = flags.since.empty() ? 0 : time_named(flags.since);
    const std::string json = taken(store::drift_json(db, *by, since, 100));
    if (flags.json) {
        fmt::print("{}\n", json);
        return 0;
    }
    const query::Ast rows = query::read_query_json(json);
    for (const query::Ast& row : rows.items()) {
        std::string line;
        for (const std::string& key : row.keys()) {
            const query::Ast& value = *row.find(key);
            line += fmt::format("{}{}", line.empty() ? "" : "  ",
                                value.is_text() ? value.as_text()
                                                : fmt::format("{} {}", query::to_json(value), key));
        }
        fmt::print("{}\n", line);
    }
    return 0;
}

int show_exports(store::Database& db, bool json) {
    const std::string map = taken(store::exports_json(db));
    if (json) {
        fmt::print("{}\n", map);
        return 0;
    }
    const query::Ast all = query::read_query_json(map);
    auto word = [](const query::Ast& row, std::string_view key) -> const std::string& {
        return row.find(key)->as_text();
    };
    for (const query::Ast& row : all.find("exported")->items()) {
        fmt::print("{}  exported resources: {}, nodes: {}\n", word(row, "type"),
                   query::to_json(*row.find("resources")), query::to_json(*row.find("nodes")));
    }
    for (const query::Ast& row : all.find("collected")->items()) {
        const query::Ast& query = *row.find("query");
        fmt::print("{}  collected by {}{}\n", word(row, "type"), word(row, "certname"),
                   query.is_null() ? "" : " where " + query::to_json(query));
    }
    for (const query::Ast& row : all.find("clashes")->items()) {
        std::string exporters, collectors;
        for (const query::Ast& e : row.find("exporters")->items()) {
            exporters += exporters.empty() ? "" : ", ";
            exporters += word(e, "certname");
            if (!e.find("file")->is_text()) continue;
            exporters += fmt::format(" ({}:{})", word(e, "file"), query::to_json(*e.find("line")));
        }
        for (const query::Ast& c : row.find("collectors")->items()) {
            collectors += (collectors.empty() ? "; collected by " : ", ") + c.as_text();
        }
        fmt::print("{}[{}]  exported by {}{}\n", word(row, "type"), word(row, "title"), exporters,
                   collectors);
    }
    return 0;
}

void print_undeclared(const store::UndeclaredResource& r, bool all) {
    std::string line = all ? r.certname + "  " : "";
    line += fmt::format("{}[{}]", r.type, r.title);
    if (r.name != r.title) line += fmt::format(" ({})", r.name);
    line += "  since " + catalog::format_wire_time(r.since);
    if (!r.environment.empty()) line += "  " + r.environment;
    line += "  " + (r.code_id.empty() ? r.version : r.code_id);
    if (!r.file.empty()) line += "  " + r.file;
    if (!r.file.empty() && r.line > 0) line += fmt::format(":{}", r.line);
    line += r.created ? "  created by us" : "  not created by us";
    if (r.declared_again) {
        line += "  declared again " + catalog::format_wire_time(*r.declared_again);
    }
    if (r.removed) line += "  removed " + catalog::format_wire_time(*r.removed);
    fmt::print("{}\n", line);
}

int show_undeclared(store::Database& db, const std::string& node, const HistoryFlags& flags) {
    if (node.empty() != flags.all) {
        throw base::plain_error("catalog undeclared takes one node, or --all");
    }
    store::UndeclaredQuery query{.certname = node};
    if (flags.recent) query.state = store::UndeclaredState::Recent;
    query.limit = INT32_MAX;
    const auto rows = taken(store::undeclared_resources(db, query));
    if (rows.empty() && !flags.all && !taken(store::find_node(db, node))) {
        throw base::plain_error(fmt::format("No catalog of {} is known", node));
    }
    if (flags.json) {
        fmt::print("{}\n", store::undeclared_json(rows));
        return 0;
    }
    for (const store::UndeclaredResource& r : rows) print_undeclared(r, flags.all);
    return 0;
}

struct HistoryAction {
    std::string_view name;
    std::size_t least, most;
};
constexpr HistoryAction kHistory[] = {{"log", 1, 1},   {"show", 1, 1},    {"diff", 1, 2},
                                      {"drift", 0, 0}, {"exports", 0, 0}, {"undeclared", 0, 1}};

}  // namespace

bool is_history_action(const std::string& action) {
    return std::ranges::find(kHistory, action, &HistoryAction::name) != std::end(kHistory);
}

int run_catalog_history(Invocation& invocation, const std::string& action,
                        const std::vector<std::string>& arguments, const HistoryFlags& flags) {
    const auto* found = std::ranges::find(kHistory, action, &HistoryAction::name);
    if (arguments.size() < found->least || arguments.size() > found->most) {
        throw base::plain_error(fmt::format("catalog {} takes {}", action,
                                            found->most == 0   ? "no node"
                                            : found->most == 1 ? "one node"
                                                               : "one node or two"));
    }
    auto db = open_history(invocation, flags);
    int status = 0;
    if (action == "log") {
        status = log_versions(*db, arguments[0], flags.json);
    } else if (action == "show") {
        const Moment moment = moment_of(arguments[0]);
        fmt::print("{}\n", store::past_catalog_json(moment.node, past(*db, moment)));
    } else if (action == "diff") {
        status = show_difference(*db, arguments, flags.json);
    } else if (action == "undeclared") {
        status = show_undeclared(*db, arguments.empty() ? std::string() : arguments[0], flags);
    } else if (action == "exports") {
        status = show_exports(*db, flags.json);
    } else {
        status = show_drift(*db, flags);
    }
    return std::fflush(stdout) == 0 ? status : 1;
}

}  // namespace bunraku::cli
