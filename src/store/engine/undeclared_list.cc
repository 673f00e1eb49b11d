// SPDX-License-Identifier: Apache-2.0
// Reads the resources that are no longer declared, for the API and the command line.
#include <fmt/format.h>

#include "core/codec/json_text.h"
#include "resources/catalog/wire_time.h"
#include "store/engine/undeclared.h"

namespace bunraku::store {

namespace {

/// True if the node ran at least twice without the resource: it requested another catalog, or sent
/// two reports. A run with an unchanged catalog may do only the latter.
constexpr std::string_view kSettled =
    "(u.closed IS NULL AND (EXISTS (SELECT 1 FROM catalogs c WHERE c.certname_id = u.certname_id"
    " AND c.producer_timestamp > u.since) OR (SELECT r.producer_timestamp FROM reports r"
    " WHERE r.certname_id = u.certname_id AND r.plan IS NULL"
    " AND r.producer_timestamp > u.since ORDER BY r.producer_timestamp LIMIT 1 OFFSET 1)"
    " IS NOT NULL))";

std::string condition_of(UndeclaredState state) {
    switch (state) {
        case UndeclaredState::Settled: return std::string(kSettled);
        case UndeclaredState::Recent: return fmt::format("NOT {}", kSettled);
        case UndeclaredState::Open: break;
    }
    return "u.closed IS NULL";
}

UndeclaredResource read_row(const Statement& s) {
    UndeclaredResource out;
    out.certname = s.text(0);
    out.type = s.text(1);
    out.title = s.text(2);
    out.name = s.text(3);
    out.since = s.integer(4);
    if (!s.is_null(5)) (s.boolean(12) ? out.removed : out.declared_again) = s.integer(5);
    out.removal = s.text(13);
    out.environment = s.text(6);
    out.version = s.text(7);
    out.code_id = s.text(8);
    out.file = s.text(9);
    out.line = s.is_null(10) ? 0 : s.integer(10);
    out.created = s.boolean(11);
    return out;
}

std::string text_or_null(std::string_view text) {
    return text.empty() ? "null" : codec::json_string(text);
}

std::string time_or_null(std::optional<std::int64_t> time) {
    return time ? codec::json_string(catalog::format_wire_time(*time)) : "null";
}

}  // namespace

Result<std::vector<UndeclaredResource>> undeclared_resources(Database& db,
                                                             const UndeclaredQuery& query) {
    Statement s = BUNRAKU_TRY(db.prepare(fmt::format(
        "SELECT n.certname, u.type, u.title, u.name, u.since, u.closed, u.environment, u.version,"
        " u.code_id, u.file, u.line, u.created, u.removed, u.removal FROM undeclared u"
        " JOIN certnames n ON n.id = u.certname_id WHERE {} AND {}"
        " ORDER BY n.certname, u.type, u.name, u.title, u.key LIMIT ? OFFSET ?",
        query.certname.empty() ? "n.deactivated IS NULL AND n.expired IS NULL" : "n.certname = ?",
        condition_of(query.state))));
    if (!query.certname.empty()) s.bind(query.certname);
    s.bind(query.limit).bind(query.offset);
    std::vector<UndeclaredResource> out;
    while (BUNRAKU_TRY(s.step())) out.push_back(read_row(s));
    return out;
}

Result<std::int64_t> count_undeclared(Database& db) {
    Statement s = BUNRAKU_TRY(db.prepare(
        fmt::format("SELECT count(*) FROM undeclared u JOIN certnames n ON n.id = u.certname_id"
                    " WHERE n.deactivated IS NULL AND n.expired IS NULL AND {}",
                    kSettled)));
    return BUNRAKU_TRY(s.step()) ? s.integer(0) : 0;
}

std::string undeclared_json(const std::vector<UndeclaredResource>& rows) {
    std::string out = "[";
    for (const UndeclaredResource& r : rows) {
        out += fmt::format(
            "{}{{\"certname\":{},\"type\":{},\"title\":{},\"name\":{},\"since\":{},"
            "\"declared_again\":{},\"removed\":{},\"environment\":{},\"version\":{},\"code_id\":{},"
            "\"file\":{},"
            "\"line\":{},\"created_by_us\":{},\"removal\":{}}}",
            out.size() > 1 ? "," : "", codec::json_string(r.certname), codec::json_string(r.type),
            codec::json_string(r.title), codec::json_string(r.name), time_or_null(r.since),
            time_or_null(r.declared_again), time_or_null(r.removed), text_or_null(r.environment),
            codec::json_string(r.version), text_or_null(r.code_id), text_or_null(r.file),
            r.line > 0 ? std::to_string(r.line) : "null", r.created,
            r.removal.empty() ? "null" : r.removal);
    }
    return out + "]";
}

}  // namespace bunraku::store
