// SPDX-License-Identifier: Apache-2.0
#include "store/engine/report_rows.h"

#include <fmt/format.h>

#include "core/base/assert.h"
#include "store/db/report_texts.h"

namespace bunraku::store {

namespace {

/// Longer logs do not repeat, and would make kinds of one use.
constexpr std::size_t kMaxSharedLogs = 16384;

constexpr std::string_view kFound =
    "SELECT EXISTS (SELECT 1 FROM reports r WHERE r.hash = ?), k.id, {0} FROM (SELECT 1 AS one) o"
    " LEFT JOIN report_kinds k ON k.certname_id = ? AND k.hash = ?";

}  // namespace

Digest ReportKind::hash() const {
    Sha1 sum;
    sum.number(environment).number(producer).number(report_format);
    for (const auto& flag : {noop, noop_pending, corrective_change}) {
        sum.number(flag ? *flag : -1);
    }
    sum.part(puppet_version).part(configuration_version).number(catalog_uuid.has_value());
    for (const auto* text : {&status, &code_id, &job_id, &cached_catalog_status}) {
        sum.number(text->has_value()).part(text->value_or(""));
    }
    return sum.part(texts).digest();
}

Result<KnownReport> find_report(Database& db, std::int64_t node, const Digest& hash,
                                const ReportKind& kind) {
    BUNRAKU_ASSERT(node != 0);
    Statement s = BUNRAKU_TRY(
        db.prepare(fmt::format(kFound, Dialect(db.backend()).uuid_text("k.catalog_uuid"))));
    const Digest kind_hash = kind.hash();
    s.bind_blob(bytes_of(hash)).bind(node).bind_blob(bytes_of(kind_hash));
    KnownReport out;
    if (!BUNRAKU_TRY(s.step())) return out;
    out.duplicate = s.boolean(0);
    if (!s.is_null(1)) {
        ReportKindRef& ref = out.kind.emplace();
        ref.id = s.integer(1);
        if (!s.is_null(2)) ref.catalog_uuid = s.text(2);
    }
    return out;
}

Result<ReportKindRef> put_report_kind(Database& db, std::int64_t node, const ReportKind& kind) {
    Statement s = BUNRAKU_TRY(
        db.prepare("INSERT INTO report_kinds (certname_id, hash, report_format, environment_id,"
                   " producer_id, noop, noop_pending, corrective_change, status, puppet_version,"
                   " configuration_version, code_id, job_id, cached_catalog_status, texts,"
                   " catalog_uuid) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                   " RETURNING id"));
    const Digest hash = kind.hash();
    s.bind(node).bind_blob(bytes_of(hash)).bind(kind.report_format);
    bind_id(s, kind.environment);
    bind_id(s, kind.producer);
    s.bind(kind.noop).bind(kind.noop_pending).bind(kind.corrective_change).bind(kind.status);
    s.bind(kind.puppet_version).bind(kind.configuration_version).bind(kind.code_id);
    s.bind(kind.job_id).bind(kind.cached_catalog_status).bind(kind.texts);
    bind_uuid(db, s, kind.catalog_uuid);
    if (!BUNRAKU_TRY(s.step())) return base::failure("The kind of a report could not be stored");
    ReportKindRef out{s.integer(0), kind.catalog_uuid};
    BUNRAKU_TRY_VOID(s.run());
    return out;
}

void bind_uuid(const Database& db, Statement& s, const std::optional<std::string>& uuid) {
    if (!uuid) {
        s.bind_null();
    } else if (db.postgresql()) {
        s.bind(*uuid);
    } else {
        s.bind_blob(uuid_bytes(*uuid));
    }
}

ReportTexts::ReportTexts(std::string_view metrics, std::string_view logs, bool logs_repeat) {
    using Numbers = ReportForm::Numbers;
    ReportForm form;
    // The counts of a report with events differ from one to the next.
    if (!form.add(metrics, logs_repeat ? Numbers::Fractions : Numbers::All)) {
        metrics_ = metrics;
        logs_ = logs;
        return;
    }
    if (!logs_repeat || logs.size() > kMaxSharedLogs || !form.add(logs, Numbers::Texts)) {
        logs_ = logs;
    }
    form_ = form.form();
    numbers_ = form.packed();
}

Result<void> ReportTexts::store_rest(Database& db, std::int64_t report) const {
    if (metrics_.empty() && logs_.empty()) return {};
    Statement s =
        BUNRAKU_TRY(db.prepare(fmt::format("INSERT INTO report_data (report_id, metrics, logs)"
                                           " VALUES (?, {0}, {0})",
                                           Dialect(db.backend()).json_value())));
    s.bind(report);
    std::string compressed[2];
    std::size_t i = 0;
    for (std::string_view text : {metrics_, logs_}) {
        if (db.postgresql()) {
            s.bind_optional(text);
        } else if (text.empty()) {
            s.bind("");  // the column is not null
        } else {
            compressed[i] = compressed_report_text(text);
            s.bind_blob(compressed[i++]);
        }
    }
    return s.run_later();
}

}  // namespace bunraku::store
