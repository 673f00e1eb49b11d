// SPDX-License-Identifier: Apache-2.0
// The history as JSON, for the API and for --json.
#include <fmt/format.h>

#include "core/codec/json_text.h"
#include "resources/catalog/json_text.h"
#include "resources/catalog/wire_time.h"
#include "store/engine/history.h"
#include "store/engine/impl.h"

namespace bunraku::store {

namespace {

std::string time_or_null(std::optional<std::int64_t> time) {
    return time ? codec::json_string(catalog::format_wire_time(*time)) : "null";
}

std::string text_or_null(std::string_view text) {
    return text.empty() ? "null" : codec::json_string(text);
}

/// Returns {"valid_from": .., .. without the closing brace.
std::string version_fields(const CatalogVersion& v) {
    return fmt::format(
        "{{\"valid_from\":{},\"valid_until\":{},\"hash\":\"{}\",\"version\":{},\"code_id\":{},"
        "\"environment\":{},\"resources_added\":{},\"resources_removed\":{},\"first\":{}",
        time_or_null(v.valid_from), time_or_null(v.valid_until), v.hash,
        codec::json_string(v.version), text_or_null(v.code_id), text_or_null(v.environment),
        v.added, v.removed, v.first);
}

}  // namespace

std::string versions_json(const std::vector<CatalogVersion>& versions) {
    std::string out = "[";
    for (const CatalogVersion& v : versions) {
        if (out.size() > 1) out += ',';
        out += version_fields(v) + "}";
    }
    return out + "]";
}

std::string past_catalog_json(std::string_view certname, const PastCatalog& past) {
    std::string out = version_fields(past.version);
    out += ",\"certname\":" + codec::json_string(certname) + ",\"resources\":[";
    bool any = false;
    for (const catalog::Resource& r : past.catalog.resources) {
        out += fmt::format(
            "{}{{\"type\":{},\"title\":{},\"exported\":{},\"file\":{},\"line\":{},"
            "\"tags\":{},\"parameters\":{{",
            any ? "," : "", codec::json_string(r.ref.type), codec::json_string(r.ref.title),
            r.exported, text_or_null(r.file), r.line > 0 ? std::to_string(r.line) : "null",
            strings_to_json(r.tags));
        any = true;
        bool first = true;
        for (const catalog::Parameter& p : r.parameters) {
            if (!first) out += ',';
            first = false;
            codec::append_json_string(out, p.name);
            out += ':';
            catalog::append_json_value(out, p.value, catalog::ValueForm::Stringified);
        }
        out += "}}";
    }
    return out + "]}";
}

std::optional<DriftBy> drift_by(std::string_view name) {
    if (name == "resource") return DriftBy::Resource;
    if (name == "node") return DriftBy::Node;
    if (name == "hour") return DriftBy::Hour;
    if (name == "flapping") return DriftBy::Flapping;
    return std::nullopt;
}

Result<std::string> drift_json(Database& db, DriftBy by, std::int64_t since, std::size_t limit) {
    // Uses a single index, because corrective changes are rare.
    constexpr std::string_view kFrom =
        " FROM resource_events e JOIN certnames n ON n.id = e.certname_id"
        " WHERE e.corrective_change = 1 AND e.timestamp >= ?";
    constexpr std::string_view kCounts =
        "count(*), count(DISTINCT e.certname_id), max(e.timestamp)";
    std::string sql;
    switch (by) {
        case DriftBy::Resource:
            sql = fmt::format(
                "SELECT e.resource_type, e.resource_title, {}{}"
                " GROUP BY e.resource_type, e.resource_title ORDER BY 3 DESC, 1, 2 LIMIT ?",
                kCounts, kFrom);
            break;
        case DriftBy::Node:
            sql = fmt::format(
                "SELECT n.certname, NULL, {}{} GROUP BY n.certname ORDER BY 3 DESC, 1 LIMIT ?",
                kCounts, kFrom);
            break;
        case DriftBy::Hour:
            sql = fmt::format(
                "SELECT e.timestamp / 3600000 * 3600000, NULL, {}{}"
                " GROUP BY 1 ORDER BY 1 DESC LIMIT ?",
                kCounts, kFrom);
            break;
        case DriftBy::Flapping:
            // The same resource of the same node changed in more than one run.
            sql = fmt::format(
                "SELECT n.certname, e.resource_type || '[' || e.resource_title || ']',"
                " count(DISTINCT e.report_id), 1, max(e.timestamp){}"
                " GROUP BY n.certname, e.resource_type, e.resource_title"
                " HAVING count(DISTINCT e.report_id) > 1 ORDER BY 3 DESC, 1, 2 LIMIT ?",
                kFrom);
            break;
    }
    Statement s = BUNRAKU_TRY(db.prepare(sql));
    s.bind(since).bind(limit);
    std::string out = "[";
    while (BUNRAKU_TRY(s.step())) {
        if (out.size() > 1) out += ',';
        const std::string count = std::to_string(s.integer(2)), last = time_or_null(s.integer(4));
        switch (by) {
            case DriftBy::Resource:
                out += fmt::format("{{\"resource_type\":{},\"resource_title\":{}",
                                   codec::json_string(s.text(0)), codec::json_string(s.text(1)));
                break;
            case DriftBy::Node:
                out += fmt::format("{{\"certname\":{}", codec::json_string(s.text(0)));
                break;
            case DriftBy::Hour:
                out += fmt::format("{{\"hour\":{}", time_or_null(s.integer(0)));
                break;
            case DriftBy::Flapping:
                out += fmt::format("{{\"certname\":{},\"resource\":{},\"runs\":{},\"last\":{}}}",
                                   codec::json_string(s.text(0)), codec::json_string(s.text(1)),
                                   count, last);
                continue;
        }
        out += fmt::format(",\"corrections\":{}", count);
        if (by != DriftBy::Node) out += fmt::format(",\"nodes\":{}", s.integer(3));
        out += fmt::format(",\"last\":{}}}", last);
    }
    return out + "]";
}

}  // namespace bunraku::store
