// SPDX-License-Identifier: Apache-2.0
#include "services/server/pdb_query.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "services/server/json_answers.h"
#include "store/query/pql.h"
#include "store/query/time_text.h"

namespace bunraku::server {

namespace {

using http::Request;
using http::Response;
using query::Ast;
using query::QueryError;
using query::QueryOptions;
using store::QueryCursor;
using store::QueryEngine;

[[noreturn]] void bad(std::string message) { throw QueryError{400, std::move(message)}; }

Ast text(std::string_view s) { return Ast::text(std::string(s)); }
Ast equals(std::string_view field, std::string_view value) {
    return Ast::array({text("="), text(field), text(value)});
}

// --- Paths

enum Accepts : unsigned {
    kGlobal = 1,  ///< optimize_drop_unused_joins, explain, ..
    kPaging = 2,  ///< query, limit, offset, order_by, include_total
    kPretty = 4,
    kDistinct = 8,  ///< distinct_resources and its times
    kCounts = 16,   ///< summarize_by, count_by, counts_filter
    kRoot = 32,     ///< ast_only; requires query
    kQuery = 64,
};
constexpr unsigned kTypical = kGlobal | kPaging | kPretty;

struct Route {
    enum Kind {
        Rows,
        Single,  ///< one object, or 404
        Data,    ///< metrics or logs of a report
        Root,
    };
    Kind kind = Rows;
    std::string entity;
    std::vector<Ast> criteria;  ///< conditions from the path
    bool active = false;        ///< restricted to active nodes by default
    unsigned accepts = kTypical;
    /// Objects that must exist for the path to be valid, such as ("node", "web1").
    std::vector<std::pair<std::string, std::string>> parents;
};

using Segments = std::vector<std::string>;

/// Parses facts[/NAME[/VALUE]] at any level of a path.
bool facts_route(const Segments& s, std::size_t at, Route& r) {
    if (s.size() > at + 2) return false;
    r.entity = "facts";
    r.active = true;
    if (s.size() > at) r.criteria.push_back(equals("name", s[at]));
    if (s.size() > at + 1) r.criteria.push_back(equals("value", s[at + 1]));
    return true;
}

bool resources_route(const Segments& s, std::size_t at, Route& r) {
    if (s.size() > at + 2) return false;
    r.entity = "resources";
    r.active = true;
    if (s.size() > at) r.criteria.push_back(equals("type", s[at]));
    if (s.size() > at + 1) r.criteria.push_back(equals("title", s[at + 1]));
    return true;
}

bool events_route(const Segments& s, std::size_t at, Route& r) {
    r.entity = "events";
    r.accepts = kTypical | kDistinct;
    return s.size() == at;
}

bool reports_route(const Segments& s, std::size_t at, Route& r) {
    r.entity = "reports";
    if (s.size() == at) return true;
    if (s.size() < at + 2) return false;
    r.parents.emplace_back("report", s[at]);
    if (s[at + 1] == "events") {
        r.criteria.push_back(equals("report", s[at]));
        return events_route(s, at + 2, r);
    }
    if (s.size() != at + 2 || (s[at + 1] != "metrics" && s[at + 1] != "logs")) return false;
    r.kind = Route::Data;
    r.entity = "report_" + s[at + 1];
    r.accepts = kGlobal | kPretty;
    r.criteria = {equals("hash", s[at]), equals("type", "any")};
    return true;
}

bool catalogs_route(const Segments& s, std::size_t at, Route& r) {
    r.entity = "catalogs";
    if (s.size() == at) return true;
    r.criteria.push_back(equals("certname", s[at]));
    if (s.size() == at + 1) {
        r.kind = Route::Single;
        r.parents.emplace_back("catalog", s[at]);
        return true;
    }
    r.parents.emplace_back("catalog", s[at]);
    if (s[at + 1] == "edges") {
        r.entity = "edges";
        r.active = true;
        return s.size() == at + 2;
    }
    return s[at + 1] == "resources" && resources_route(s, at + 2, r);
}

bool factsets_route(const Segments& s, std::size_t at, Route& r) {
    r.entity = "factsets";
    if (s.size() == at) {
        r.active = true;
        return true;
    }
    r.criteria.push_back(equals("certname", s[at]));
    r.parents.emplace_back("factset", s[at]);
    if (s.size() == at + 1) {
        r.kind = Route::Single;
        return true;
    }
    return s.size() == at + 2 && s[at + 1] == "facts";
}

bool nodes_route(const Segments& s, std::size_t at, Route& r) {
    r.entity = "nodes";
    if (s.size() == at) {
        r.active = true;
        return true;
    }
    r.criteria.push_back(equals("certname", s[at]));
    r.parents.emplace_back("node", s[at]);
    if (s.size() == at + 1) {
        r.kind = Route::Single;
        return true;
    }
    if (s[at + 1] == "facts") return facts_route(s, at + 2, r);
    return s[at + 1] == "resources" && resources_route(s, at + 2, r);
}

/// Parses environments/E and producers/P, and the paths below them.
bool named_route(const Segments& s, std::string_view kind, Route& r) {
    r.entity = std::string(kind) + "s";
    if (s.size() == 1) return true;
    r.parents.emplace_back(kind, s[1]);
    if (s.size() == 2) {
        r.kind = Route::Single;
        r.accepts = kGlobal | kPretty;
        r.criteria.push_back(equals("name", s[1]));
        return true;
    }
    r.criteria.push_back(equals(kind, s[1]));
    if (s[2] == "reports") return reports_route(s, 3, r);
    if (kind == "environment") {
        if (s[2] == "facts") return facts_route(s, 3, r);
        if (s[2] == "resources") return resources_route(s, 3, r);
        return s[2] == "events" && events_route(s, 3, r);
    }
    if (s[2] == "factsets") return factsets_route(s, 3, r);
    return s[2] == "catalogs" && catalogs_route(s, 3, r);
}

/// Entities without paths below them.
struct Plain {
    std::string_view path;
    bool active;
    unsigned accepts = kTypical;
};
constexpr Plain kPlain[] = {
    {"inventory", true},
    {"edges", true},
    {"fact-contents", true},
    {"fact-names", false},
    {"fact-paths", false},
    {"packages", false},
    {"catalog-inputs", true},
    {"catalog-input-contents", true},
    {"event-counts", false, kTypical | kDistinct | kCounts},
    {"aggregate-event-counts", false, kGlobal | kQuery | kDistinct | kCounts},
};

bool resolve(const Segments& s, Route& r) {
    if (s.empty()) {
        r.kind = Route::Root;
        r.accepts = kTypical | kRoot;
        return true;
    }
    if (s[0] == "nodes") return nodes_route(s, 1, r);
    if (s[0] == "facts") return facts_route(s, 1, r);
    if (s[0] == "resources") return resources_route(s, 1, r);
    if (s[0] == "reports") return reports_route(s, 1, r);
    if (s[0] == "events") return events_route(s, 1, r);
    if (s[0] == "catalogs") return catalogs_route(s, 1, r);
    if (s[0] == "factsets") return factsets_route(s, 1, r);
    if (s[0] == "environments") return named_route(s, "environment", r);
    if (s[0] == "producers") return named_route(s, "producer", r);
    if (s[0] == "package-inventory") {
        r.entity = "package_inventory";
        r.active = s.size() == 1;
        if (s.size() == 2) r.criteria.push_back(equals("certname", s[1]));
        return s.size() <= 2;
    }
    for (const Plain& p : kPlain) {
        if (s[0] != p.path) continue;
        r.entity = query::entity_name_of(p.path);
        r.active = p.active;
        r.accepts = p.accepts;
        return s.size() == 1;
    }
    return false;
}

// --- Parameters

/// Parameters as JSON values. In a GET request, all of them are strings.
struct Parameters {
    Ast map = Ast::map();
    const Ast* find(std::string_view name) const {
        const Ast* v = map.find(name);
        return v && !v->is_null() ? v : nullptr;
    }
};

struct Name {
    std::string_view name;
    unsigned where;
};
constexpr Name kNames[] = {
    {"optimize_drop_unused_joins", kGlobal},
    {"include_facts_expiration", kGlobal},
    {"include_package_inventory", kGlobal},
    {"explain", kGlobal},
    {"origin", kGlobal},
    {"timeout", kGlobal},
    {"query", kPaging | kRoot | kQuery},
    {"limit", kPaging},
    {"offset", kPaging},
    {"order_by", kPaging},
    {"include_total", kPaging},
    {"pretty", kPretty | kGlobal},
    {"distinct_resources", kDistinct},
    {"distinct_start_time", kDistinct},
    {"distinct_end_time", kDistinct},
    {"summarize_by", kCounts},
    {"count_by", kCounts},
    {"counts_filter", kCounts},
    {"ast_only", kRoot},
};

bool truth(const Parameters& p, std::string_view name, bool otherwise = false) {
    const Ast* v = p.find(name);
    if (!v) return otherwise;
    if (v->is_bool()) return v->as_bool();
    if (!v->is_text()) return false;
    std::string s = v->as_text();
    base::make_lower(s);
    return s == "true";
}

/// Formats a received value for messages.
std::string shown(const Ast& v) { return v.is_text() ? v.as_text() : query::to_clojure(v); }

std::optional<std::int64_t> whole_number(const Ast& v) {
    if (v.is_int()) return v.as_int();
    if (!v.is_text()) return {};
    std::string_view s = v.as_text();
    if (s.size() > 1 && s[0] == '+' && s[1] != '-') s.remove_prefix(1);
    return base::parse_integer<std::int64_t>(s);
}

/// Converts seconds, with an optional fraction, to milliseconds; 0 means no limit.
std::int64_t timeout_ms(const Ast& v) {
    double seconds = -1;
    if (v.is_number()) {
        seconds = v.as_real();
    } else if (v.is_text()) {
        const std::string& s = v.as_text();
        bool digits = !s.empty() && s.back() != '.' &&
                      s.find_first_not_of("0123456789.") == std::string::npos &&
                      s.find('.') == s.rfind('.');
        if (digits) std::from_chars(s.data(), s.data() + s.size(), seconds);
    }
    if (!(seconds >= 0)) {
        bad(fmt::format("Query timeout must be non-negative number, not {}", shown(v)));
    }
    constexpr double kMost = 1e9;
    if (seconds == 0 || seconds > kMost) return 0;
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(seconds * 1000));
}

bool blank(const Ast& v) {
    return v.is_text() && v.as_text().find_first_not_of(" \t\r\n") == std::string::npos;
}

std::vector<query::OrderTerm> order_terms(const Ast& value, bool from_get) {
    Ast list = value;
    if (from_get && value.is_text() && !blank(value)) {
        try {
            list = query::read_query_json(value.as_text());
        } catch (const QueryError&) {
            bad(fmt::format("Illegal value '{}' for :order_by; expected a JSON array of maps.",
                            value.as_text()));
        }
    }
    std::vector<query::OrderTerm> out;
    bool nothing = list.is_null() || blank(list) || (list.is_map() && list.size() == 0);
    if (nothing) return out;
    bool maps = list.is_array() && std::all_of(list.items().begin(), list.items().end(),
                                               [](const Ast& t) { return t.is_map(); });
    if (!maps) {
        bad(fmt::format("Illegal value '{}' for :order_by; expected an array of maps.",
                        shown(list)));
    }
    for (const Ast& t : list.items()) {
        for (const std::string& key : t.keys()) {
            if (key == "field" || key == "order") continue;
            bad(fmt::format("Illegal value '{}' in :order_by; unknown key '{}'.",
                            query::to_clojure(t), key));
        }
    }
    for (const Ast& t : list.items()) {
        const Ast* field = t.find("field");
        if (!field || !field->is_text()) {
            bad(fmt::format("Illegal value '{}' in :order_by; missing required key field.",
                            query::to_clojure(t)));
        }
        const Ast* order = t.find("order");
        std::string way = order && order->is_text() ? order->as_text() : "asc";
        base::make_lower(way);
        bool ok =
            (!order || order->is_null() || order->is_text()) && (way == "asc" || way == "desc");
        if (!ok) {
            bad(
                fmt::format("Illegal value '{}' in :order_by; 'order' must be either 'asc' or "
                            "'desc'",
                            query::to_clojure(t)));
        }
        out.push_back({field->as_text(), way == "desc"});
    }
    return out;
}

void distinct_options(const Parameters& p, QueryOptions& options) {
    const Ast* distinct = p.map.find("distinct_resources");
    const Ast* start = p.map.find("distinct_start_time");
    const Ast* end = p.map.find("distinct_end_time");
    if (!distinct && !start && !end) return;
    if (!distinct) {
        bad("'distinct_resources' query parameter must accompany parameters 'distinct_start_time' "
            "and 'distinct_end_time'");
    }
    if (!start || !end) {
        bad("'distinct_resources' query parameter requires accompanying parameters "
            "'distinct_start_time' and 'distinct_end_time'");
    }
    auto from = query::parse_query_time(shown(*start));
    auto to = query::parse_query_time(shown(*end));
    if (!from || !to) {
        bad(
            fmt::format("query parameters 'distinct_start_time' and 'distinct_end_time' must be "
                        "valid datetime strings: {} {}",
                        shown(*start), shown(*end)));
    }
    if (truth(p, "distinct_resources")) options.distinct = query::DistinctResources{*from, *to};
}

/// The request's parameters after parsing, validation and conversion.
struct Asked {
    Ast query;
    QueryOptions options;
    bool pretty = false;
    bool ast_only = false;
};

Parameters read_parameters(const Request& request, const PdbQueryOptions& settings) {
    Parameters p;
    if (request.method == "GET" || request.method == "HEAD") {
        for (const auto& [name, value] : request.query) {
            if (!p.map.find(name)) p.map.put(name, text(value));
        }
    } else if (request.method == "POST") {
        http::DecodedBody body = http::decoded_body(request, settings.max_body);
        if (body.status != 0) throw QueryError{body.status, body.message};
        // An empty body or null is a query without parameters.
        if (body.body.find_first_not_of(" \t\r\n") != std::string::npos) {
            p.map = query::read_query_json(body.body);
        }
        if (p.map.is_null()) p.map = Ast::map();
        if (!p.map.is_map()) bad("The body of a query must be a JSON map");
    } else {
        bad("PuppetDB queries must be made via GET/POST");
    }
    return p;
}

/// Reports whether the path accepts the parameter.
bool accepts(const Route& route, std::string_view name) {
    return std::any_of(std::begin(kNames), std::end(kNames),
                       [&](const Name& n) { return n.name == name && (n.where & route.accepts); });
}

/// Returns the query, or null if there is none.
Ast read_query(const Parameters& p, const Route& route) {
    // A blank query counts as absent. A query that the path does not accept is ignored.
    const Ast* given = p.find("query");
    if (!given || blank(*given) || !accepts(route, "query")) return {};
    Ast out = *given;
    if (given->is_text()) {
        const std::string& s = given->as_text();
        const bool pql = route.kind == Route::Root && !query::looks_like_ast(s);
        out = pql ? query::parse_pql(s) : query::read_query_json(s);
    }
    if (!out.is_array() && !out.is_null()) {
        bad(fmt::format("{} is not well-formed: queries must be arrays", query::to_clojure(out)));
    }
    return out;
}

/// Throws if a required parameter is missing or the path does not accept one of the parameters.
void check_names(const Parameters& p, const Route& route) {
    // Missing parameters are reported before unknown ones.
    if ((route.accepts & kRoot) && !p.map.find("query")) {
        bad("Missing required query parameter 'query'");
    }
    if ((route.accepts & kCounts) && !p.map.find("summarize_by")) {
        bad("Missing required query parameter 'summarize_by'");
    }
    for (const std::string& name : p.map.keys()) {
        if (!accepts(route, name)) bad(fmt::format("Unsupported query parameter '{}'", name));
    }
}

void limit_options(const Parameters& p, QueryOptions& options) {
    if (const Ast* limit = p.find("limit")) {
        options.limit = whole_number(*limit);
        if (!options.limit || *options.limit <= 0) {
            bad(fmt::format("Illegal value '{}' for :limit; expected a positive non-zero integer.",
                            shown(*limit)));
        }
    }
    if (const Ast* offset = p.find("offset")) {
        options.offset = whole_number(*offset);
        if (!options.offset || *options.offset < 0) {
            bad(fmt::format("Illegal value '{}' for :offset; expected a non-negative integer.",
                            shown(*offset)));
        }
    }
    if (const Ast* timeout = p.find("timeout")) options.time_limit_ms = timeout_ms(*timeout);
}

Asked read_request(const Request& request, const Route& route, const PdbQueryOptions& settings) {
    const Parameters p = read_parameters(request, settings);
    Asked asked;
    asked.query = read_query(p, route);
    if (const Ast* order = p.find("order_by"); order && accepts(route, "order_by")) {
        asked.options.order_by = order_terms(*order, request.method != "POST");
    }
    if (const Ast* filter = p.find("counts_filter"); filter && !blank(*filter)) {
        asked.options.counts_filter =
            filter->is_text() ? query::read_query_json(filter->as_text()) : *filter;
    }
    check_names(p, route);
    limit_options(p, asked.options);
    if (const Ast* explain = p.find("explain")) {
        if (!explain->is_text("analyze")) {
            bad(fmt::format("Illegal value '{}' for :explain; expected `analyze`.",
                            shown(*explain)));
        }
        asked.options.explain = true;
    }
    asked.options.include_total = truth(p, "include_total");
    asked.options.include_facts_expiration = truth(p, "include_facts_expiration");
    asked.options.include_package_inventory = truth(p, "include_package_inventory");
    if (route.accepts & kDistinct) distinct_options(p, asked.options);
    if (const Ast* v = p.find("summarize_by")) asked.options.summarize_by = shown(*v);
    if (const Ast* v = p.find("count_by")) asked.options.count_by = shown(*v);
    asked.pretty = truth(p, "pretty", settings.pretty);
    asked.ast_only = truth(p, "ast_only");
    return asked;
}

// --- Responses

/// The media type of the body only matters for POST.
std::optional<Response> refuse_type(const Request& request) {
    if (request.method != "POST") return {};
    std::string_view type = request.headers.get("Content-Type");
    std::string_view base = type.substr(0, type.find(';'));
    while (!base.empty() && base.back() == ' ') base.remove_suffix(1);
    if (base.empty() || is_media_type(base, "application/json")) return {};
    return Response::text(415, fmt::format("content type {} not supported", base));
}

Response not_known(std::string_view kind, std::string_view id) {
    std::string body = "{\"error\":";
    codec::append_json_string(body, fmt::format("No information is known about {} {}", kind, id));
    body += '}';
    return Response::json(404, store::pretty_json(body));
}

Response failed(const base::Error& e) {
    switch (store::failure_of(e)) {
        case store::Failure::Timeout:
            return Response::text(500, "PuppetDB query exceeded its time limit");
        case store::Failure::Unavailable:
        case store::Failure::Retry:
            return Response::text(503, "PuppetDB is currently down. Try again later.");
        default: return Response::text(500, e.message);
    }
}

struct Broken {};  ///< closes a connection whose response cannot be completed

Response stream(std::unique_ptr<QueryCursor> started) {
    std::shared_ptr<QueryCursor> cursor = std::move(started);
    Response response = Response::json(200, "");
    if (cursor->total()) {
        response.headers.set("X-Records", fmt::format("{}", *cursor->total()));
    }
    // Short responses are sent without chunked encoding.
    std::string first, second;
    auto more = cursor->next(first);
    if (more && *more) more = cursor->next(second);
    if (!more) return failed(more.error());
    if (!*more) {
        response.body = std::move(first);
        return response;
    }
    auto waiting = std::make_shared<std::string>(first + second);
    response.producer = [cursor, waiting](std::string& out) {
        if (!waiting->empty()) {
            out = std::move(*waiting);
            waiting->clear();
            return true;
        }
        auto next = cursor->next(out);
        if (!next) throw Broken{};
        return *next;
    };
    return response;
}

/// Returns a response if an object in the path does not exist.
std::optional<Response> unknown_parent(QueryEngine& engine, const Route& route) {
    for (const auto& [kind, id] : route.parents) {
        // For a single object, the query itself shows whether it exists.
        if (route.kind == Route::Single && &kind == &route.parents.back().first) break;
        auto known = engine.exists(kind, id);
        if (!known) return failed(known.error());
        if (!*known) return not_known(kind, id);
    }
    return {};
}

Response answer(QueryEngine& engine, const Request& request, const Route& route,
                const PdbQueryOptions& settings) {
    // The existence of an environment, a producer or a report is checked before the request is
    // parsed, that of a node afterwards.
    bool parents_first =
        route.kind != Route::Data && !route.parents.empty() &&
        (route.parents[0].first == "environment" || route.parents[0].first == "producer" ||
         route.parents[0].first == "report");
    if (parents_first) {
        if (auto none = unknown_parent(engine, route)) return std::move(*none);
    }
    Asked asked = read_request(request, route, settings);
    if (route.kind == Route::Root) {
        QueryOptions options = asked.options;
        Ast original = asked.query;
        query::FromQuery from = query::parse_from(
            asked.ast_only ? original : query::root_query(std::move(asked.query)), options);
        if (asked.ast_only) {
            engine.check(from.entity, from.query, options);
            return Response::json(200, store::pretty_json(query::to_json(original)));
        }
        auto cursor = engine.start(from.entity, from.query, options, asked.pretty);
        if (!cursor) return failed(cursor.error());
        return stream(std::move(*cursor));
    }
    if (!parents_first) {
        if (auto none = unknown_parent(engine, route)) return std::move(*none);
    }
    Ast query = route.kind == Route::Rows ? std::move(asked.query) : Ast();
    if (query.is_array() && query.size() == 0 && route.criteria.empty() && !route.active) {
        query = Ast();
    }
    for (const Ast& criterion : route.criteria) {
        query = query::add_criteria(criterion, std::move(query));
    }
    QueryOptions options = asked.options;
    if (route.kind != Route::Rows) {
        options.limit.reset();
        options.offset.reset();
        options.order_by.clear();
        options.include_total = false;
    } else if (route.active) {
        query = query::restrict_to_active(std::move(query));
    }
    if (route.entity == "fact_names" && options.order_by.empty()) {
        options.order_by = {{"name", false}};
    }
    if (route.kind == Route::Single) {
        if (options.explain) options.explain = false;
        auto rows = engine.run(route.entity, query, options);
        if (!rows) return failed(rows.error());
        const auto& [kind, id] = route.parents.back();
        if (*rows == "[]") return not_known(kind, id);
        std::string_view one(*rows);
        return Response::json(200, store::pretty_json(one.substr(1, one.size() - 2)));
    }
    auto cursor = engine.start(route.entity, query, options, asked.pretty);
    if (!cursor) return failed(cursor.error());
    return stream(std::move(*cursor));
}

/// Returns the segments after /pdb/query/v4. Each one is decoded separately, because titles may
/// contain slashes.
std::optional<Segments> query_segments(const Request& request) {
    constexpr std::string_view kRoot = "/pdb/query/v4";
    std::string_view path = request.path;
    if (!path.starts_with(kRoot)) return {};
    path.remove_prefix(kRoot.size());
    Segments out;
    while (!path.empty()) {
        path.remove_prefix(1);
        std::size_t slash = path.find('/');
        auto decoded = http::percent_decode(path.substr(0, slash));
        if (!decoded) return {};
        // A trailing slash is ignored.
        if (!(decoded->empty() && slash == std::string_view::npos)) out.push_back(*decoded);
        path = slash == std::string_view::npos ? "" : path.substr(slash);
    }
    return out;
}

}  // namespace

void add_query_routes(http::Router& router, std::shared_ptr<QueryEngine> engine,
                      const PdbQueryOptions& options) {
    const auto access = http::Access::listed();
    http::RouteOptions route_options;
    route_options.max_body = options.max_body;
    http::Handler handler = [engine, options](Request& request) -> Response {
        Route route;
        auto segments = query_segments(request);
        if (!segments || !resolve(*segments, route)) return Response::text(404, "Not Found");
        if (!accepts_json(request)) return Response::text(406, "must accept application/json");
        if (auto refused = refuse_type(request)) return std::move(*refused);
        try {
            return answer(*engine, request, route, options);
        } catch (const QueryError& e) {
            return Response::text(e.status, e.message);
        }
    };
    router.add("*", "/pdb/query/v4", access, handler, route_options);
    router.add("*", "/pdb/query/v4/{rest*}", access, handler, route_options);
    router.add(
        "*", "/pdb/query/{version}/{rest*}", access,
        [](Request& request) {
            return Response::text(404, fmt::format("The {} API has been retired; please use v4",
                                                   request.param("version")));
        },
        route_options);
}

}  // namespace bunraku::server
