// SPDX-License-Identifier: Apache-2.0
#include "services/server/history_routes.h"

#include <fmt/format.h>

#include "core/base/number.h"
#include "resources/catalog/diff_text.h"
#include "services/server/json_answers.h"
#include "store/engine/exports.h"
#include "store/engine/fact_history.h"
#include "store/engine/history.h"
#include "store/engine/runs.h"
#include "store/engine/undeclared.h"
#include "store/query/time_text.h"

namespace bunraku::server {

namespace {

using http::Request;
using http::Response;

/// Parses "now" or a time in the format of queries.
std::optional<std::int64_t> time_of(std::string_view text) {
    return text == "now" ? std::optional(INT64_MAX) : query::parse_query_time(text);
}

Response no_time(std::string_view text) {
    return json_error(
        400, fmt::format("Invalid time '{}': expected a time such as 2026-01-31T12:00:00Z", text));
}

Response failed(const base::Error& error) {
    const auto kind = store::failure_of(error);
    const bool away = kind == store::Failure::Unavailable || kind == store::Failure::Retry;
    return json_error(away ? 503 : 500, error.message);
}

Response versions(store::Service& service, Request& request) {
    const std::string node(request.param("node"));
    auto db = service.reader();
    if (!db) return failed(db.error());
    auto all = store::catalog_versions(**db, node);
    if (!all) return failed(all.error());
    if (all->empty()) {
        return json_error(404, fmt::format("No catalogs of {} are known", node));
    }
    return Response::json(200, store::versions_json(*all));
}

Response fact_versions(store::Service& service, Request& request) {
    const std::string node(request.param("node"));
    auto db = service.reader();
    if (!db) return failed(db.error());
    auto all = store::facts_versions(**db, node);
    if (!all) return failed(all.error());
    if (all->empty()) return json_error(404, fmt::format("No facts of {} are known", node));
    return Response::json(200, store::facts_versions_json(*all));
}

Response show_facts(store::Service& service, Request& request) {
    const std::string node(request.param("node"));
    const std::string_view text = request.param("time");
    const auto time = time_of(text);
    if (!time) return no_time(text);
    auto db = service.reader();
    if (!db) return failed(db.error());
    auto past = store::facts_at(**db, node, *time);
    if (!past) return failed(past.error());
    if (!*past) return json_error(404, fmt::format("No facts of {} at {} are known", node, text));
    return Response::json(200, store::past_facts_json(node, **past));
}

/// Finds the catalogs at the times in the path. Returns a response if one of them does not exist.
std::optional<Response> find(store::Service& service, Request& request,
                             std::initializer_list<std::string_view> names,
                             std::vector<store::PastCatalog>& out) {
    const std::string node(request.param("node"));
    auto db = service.reader();
    if (!db) return failed(db.error());
    for (std::string_view name : names) {
        const std::string_view text = request.param(name);
        const auto time = time_of(text);
        if (!time) return no_time(text);
        auto past = store::catalog_at(**db, node, *time);
        if (!past) return failed(past.error());
        if (!*past) {
            return json_error(404, fmt::format("No catalog of {} at {} is known", node, text));
        }
        out.push_back(std::move(**past));
    }
    return std::nullopt;
}

Response show(store::Service& service, Request& request) {
    std::vector<store::PastCatalog> found;
    if (auto answer = find(service, request, {"time"}, found)) return std::move(*answer);
    return Response::json(200, store::past_catalog_json(request.param("node"), found[0]));
}

Response difference(store::Service& service, Request& request) {
    std::vector<store::PastCatalog> found;
    if (auto answer = find(service, request, {"time", "until"}, found)) return std::move(*answer);
    std::string out;
    const auto &before = found[0].catalog, &after = found[1].catalog;
    catalog::write_diff_json(out, catalog::diff(before, after, {.containers = false}), before,
                             after);
    return Response::json(200, std::move(out));
}

constexpr std::size_t kMostRows = 10'000;

/// Reads the query parameter `limit`. Returns a response if it is invalid.
std::optional<Response> read_limit(const Request& request, std::size_t& limit) {
    const auto* text = request.query_value("limit");
    if (!text) return std::nullopt;
    const auto number = base::parse_integer<std::size_t>(*text);
    if (!number || *number == 0 || *number > kMostRows) {
        return json_error(400, fmt::format("'limit' must be a number from 1 to {}", kMostRows));
    }
    limit = *number;
    return std::nullopt;
}

Response drift(store::Service& service, Request& request) {
    const auto* by = request.query_value("by");
    const auto kind = store::drift_by(by ? *by : "resource");
    if (!kind) {
        return json_error(400, "'by' must be one of resource, node, hour and flapping");
    }
    std::int64_t since = 0;
    if (const auto* text = request.query_value("since")) {
        const auto time = time_of(*text);
        if (!time) return no_time(*text);
        since = *time;
    }
    std::size_t limit = 100;
    if (auto answer = read_limit(request, limit)) return std::move(*answer);
    auto db = service.reader();
    if (!db) return failed(db.error());
    auto rows = store::drift_json(**db, *kind, since, limit);
    return rows ? Response::json(200, std::move(*rows)) : failed(rows.error());
}

Response undeclared_of(store::Service& service, const Request& request, std::string certname) {
    store::UndeclaredQuery query{.certname = std::move(certname)};
    if (auto answer = read_limit(request, query.limit)) return std::move(*answer);
    if (const auto* text = request.query_value("offset")) {
        const auto number = base::parse_integer<std::uint32_t>(*text);
        if (!number) return json_error(400, "'offset' must be a number");
        query.offset = *number;
    }
    if (const auto* text = request.query_value("recent")) {
        if (*text != "true" && *text != "false") {
            return json_error(400, "'recent' must be true or false");
        }
        if (*text == "true") query.state = store::UndeclaredState::Recent;
    }
    auto db = service.reader();
    if (!db) return failed(db.error());
    const auto rows = store::undeclared_resources(**db, query);
    if (!rows) return failed(rows.error());
    if (rows->empty() && !query.certname.empty()) {
        const auto known = store::find_node(**db, query.certname);
        if (!known) return failed(known.error());
        if (!*known) {
            return json_error(404, fmt::format("No catalogs of {} are known", query.certname));
        }
    }
    return Response::json(200, store::undeclared_json(*rows));
}

Response undeclared(store::Service& service, Request& request) {
    const auto* node = request.query_value("certname");
    if (node && node->empty()) return json_error(400, "'certname' must be the name of a node");
    return undeclared_of(service, request, node ? *node : std::string());
}

Response node_undeclared(store::Service& service, Request& request) {
    return undeclared_of(service, request, std::string(request.param("node")));
}

Response exports(store::Service& service, Request&) {
    auto db = service.reader();
    if (!db) return failed(db.error());
    auto map = store::exports_json(**db);
    return map ? Response::json(200, std::move(*map)) : failed(map.error());
}

}  // namespace

void add_history_routes(http::Router& router, std::shared_ptr<store::Service> service) {
    const auto access = http::Access::listed();
    auto add = [&](std::string_view path, Response (*answer)(store::Service&, Request&)) {
        router.add("GET", path, access,
                   [service, answer](Request& r) { return answer(*service, r); });
    };
    add("/bunraku/v1/nodes/{node}/catalogs", versions);
    add("/bunraku/v1/nodes/{node}/catalogs/{time}", show);
    add("/bunraku/v1/nodes/{node}/catalogs/{time}/{until}", difference);
    add("/bunraku/v1/nodes/{node}/facts", fact_versions);
    add("/bunraku/v1/nodes/{node}/facts/{time}", show_facts);
    add("/bunraku/v1/nodes/{node}/undeclared", node_undeclared);
    add("/bunraku/v1/undeclared", undeclared);
    add("/bunraku/v1/drift", drift);
    add("/bunraku/v1/exports", exports);
}

}  // namespace bunraku::server
