// SPDX-License-Identifier: Apache-2.0
#include "store/engine/store.h"

#include <chrono>
#include <fmt/format.h>
#include <string.h>

#include "core/codec/json_text.h"
#include "resources/catalog/content_hash.h"
#include "resources/catalog/json_text.h"
#include "store/db/command.h"
#include "store/db/secrets.h"
#include "store/engine/exports.h"
#include "store/engine/garbage.h"
#include "store/engine/impl.h"

namespace bunraku::store {

namespace {

constexpr std::string_view kStatusSql =
    "SELECT n.certname, n.deactivated, n.expired, c.producer_timestamp, e.name, c.hash,"
    " (SELECT count(*) FROM catalog_resources l WHERE l.certname_id = n.id),"
    " (SELECT count(*) FROM catalog_resources l JOIN resources r ON r.id = l.resource_id"
    " WHERE l.certname_id = n.id AND r.exported = 1),"
    " f.producer_timestamp, l.producer_timestamp, lk.status"
    " FROM certnames n LEFT JOIN catalogs c ON c.certname_id = n.id"
    " LEFT JOIN factsets f ON f.certname_id = n.id LEFT JOIN reports l ON l.id = n.latest_report_id"
    " LEFT JOIN report_kinds lk ON lk.id = l.kind_id"
    " LEFT JOIN environments e ON e.id = c.environment_id";

NodeStatus read_status(const Statement& s) {
    NodeStatus out;
    out.certname = s.text(0);
    if (!s.is_null(1)) out.deactivated = s.integer(1);
    if (!s.is_null(2)) out.expired = s.integer(2);
    if (!s.is_null(3)) out.catalog_timestamp = s.integer(3);
    out.catalog_environment = s.text(4);
    std::string_view hash = s.blob(5);
    if (hash.size() == sizeof(catalog::Digest)) {
        catalog::Digest digest;
        memcpy(digest.data(), hash.data(), digest.size());
        out.catalog_hash = codec::to_hex(digest);
    }
    out.resources = static_cast<std::size_t>(s.integer(6));
    out.exported = static_cast<std::size_t>(s.integer(7));
    if (!s.is_null(8)) out.facts_timestamp = s.integer(8);
    if (!s.is_null(9)) out.report_timestamp = s.integer(9);
    out.report_status = s.text(10);
    return out;
}

}  // namespace

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::~Store() = default;

Result<std::unique_ptr<Store>> Store::open(const std::string& where, const StoreOptions& options) {
    auto impl = std::make_unique<Impl>();
    Writer::Options opening{.read_only = options.read_only,
                            .durable = options.durable,
                            .busy_timeout_ms = options.busy_timeout_ms};
    if (!options.key_file.empty()) opening.secrets = std::make_shared<Secrets>(options.key_file);
    impl->writer = BUNRAKU_TRY(Writer::open(where, opening));
    return std::unique_ptr<Store>(new Store(std::move(impl)));
}

bool Store::healthy() const { return impl_->writer->db().healthy(); }

Result<bool> Store::deactivate_node(std::string_view certname, std::int64_t timestamp) {
    Transaction transaction = BUNRAKU_TRY(impl_->writer->begin());
    Writer::Node node = BUNRAKU_TRY(impl_->writer->node(certname, Writer::IfMissing::Skip));
    if (node.id == 0 || node.latest_report_timestamp > timestamp) return false;
    for (const char* table : {"catalogs", "factsets"}) {
        Statement s = BUNRAKU_TRY(impl_->db().prepare(fmt::format(
            "SELECT 1 FROM {} WHERE certname_id = ? AND producer_timestamp > ?", table)));
        s.bind(node.id).bind(timestamp);
        if (BUNRAKU_TRY(s.step())) return false;
    }
    {
        Statement s = BUNRAKU_TRY(impl_->db().prepare(
            "UPDATE certnames SET deactivated = ? WHERE id = ? AND deactivated IS NULL"));
        s.bind(timestamp).bind(node.id);
        BUNRAKU_TRY_VOID(s.run());
    }
    BUNRAKU_TRY_VOID(transaction.commit());
    return true;
}

Result<bool> Store::purge_node(std::string_view certname) {
    bool known = false;
    {
        Transaction transaction = BUNRAKU_TRY(impl_->writer->begin_removal());
        impl_->writer->forget();
        known = BUNRAKU_TRY(store::purge_node(*impl_->writer, certname));
        BUNRAKU_TRY_VOID(transaction.commit());
    }
    if (known) BUNRAKU_TRY(collect_garbage());
    return known;
}

Result<std::optional<NodeStatus>> Store::node(std::string_view certname) {
    Statement s =
        BUNRAKU_TRY(impl_->db().prepare(std::string(kStatusSql) + " WHERE n.certname = ?"));
    s.bind(certname);
    if (!BUNRAKU_TRY(s.step())) return std::nullopt;
    return read_status(s);
}

Result<std::vector<NodeStatus>> Store::nodes(bool active_only) {
    std::string sql(kStatusSql);
    if (active_only) sql += " WHERE n.deactivated IS NULL AND n.expired IS NULL";
    Statement s = BUNRAKU_TRY(impl_->db().prepare(sql + " ORDER BY n.certname"));
    std::vector<NodeStatus> out;
    while (BUNRAKU_TRY(s.step())) out.push_back(read_status(s));
    return out;
}

Result<std::size_t> Store::collect_garbage() {
    std::size_t removed = 0;
    const std::int64_t ttl = impl_->writer->history_ttl_ms();
    for (;;) {
        // Uses the current time, so that content that is lost right now is retained.
        ContentRemoval step = BUNRAKU_TRY(
            remove_content(*impl_->writer, 1000, now_ms() - std::max<std::int64_t>(ttl, 0)));
        removed += step.removed;
        if (!step.more) return removed;
    }
}

Result<std::vector<ExportClash>> Store::export_clashes(std::string_view certname,
                                                       const catalog::Catalog& catalog) {
    return ExportChecker(impl_->db()).clashes(certname, catalog);
}

Result<std::vector<std::string>> Store::known_collections(std::string_view certname) {
    return store::known_collections(impl_->db(), certname);
}

Result<void> Store::remember_collections(std::string_view certname,
                                         const std::vector<std::string>& names) {
    return store::remember_collections(*impl_->writer, certname, names);
}

Result<void> Store::execute(const CommandHeader& header, std::string_view body) {
    const auto command = BUNRAKU_TRY(prepare_command(header, body, {}));
    Transaction transaction = BUNRAKU_TRY(impl_->writer->begin());
    const auto applied = command->apply(*impl_->writer);
    auto done = applied ? transaction.commit() : std::unexpected(applied.error());
    if (!done) impl_->writer->forget();
    return done;
}

}  // namespace bunraku::store
