// SPDX-License-Identifier: Apache-2.0
// Encrypts, once, the Sensitive values that schemas up to 8 stored unencrypted. Also replaces every
// hash with which a guess could be verified.
#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>
#include <unordered_set>

#include "store/db/secrets.h"
#include "store/db/statistics.h"
#include "store/engine/catalog_rows.h"

namespace bunraku::store {

namespace {

struct ClearParameters {
    std::int64_t id = 0;
    Digest hash{};
    std::string parameters, exact;
};

constexpr const char* kPattern = "%\"__ptype\":\"Sensitive\"%";

Result<std::vector<ClearParameters>> find_clear(Writer& writer) {
    Database& db = writer.db();
    const std::string json = writer.dialect().json_text("p.parameters");
    Statement s = BUNRAKU_TRY(db.prepare_once(
        fmt::format("SELECT p.id, p.hash, {0}, p.exact FROM parameters p"
                    " WHERE p.sealed IS NULL AND (p.exact LIKE ? OR {0} LIKE ?) ORDER BY p.id",
                    json)));
    s.bind(kPattern).bind(kPattern);
    std::vector<ClearParameters> out;
    while (BUNRAKU_TRY(s.step())) {
        ClearParameters p;
        p.id = s.integer(0);
        p.hash = digest_from(s.blob(1));
        p.parameters = s.text(2);
        if (!s.is_null(3)) p.exact = s.text(3);
        if (holds_secrets(p.exact) || holds_secrets(p.parameters)) out.push_back(std::move(p));
    }
    return out;
}

class Sealing {
public:
    explicit Sealing(Writer& writer)
        : writer_(writer), db_(writer.db()), secrets_(*writer.secrets()) {}

    Result<void> one(const ClearParameters& clear) {
        SplitParameters split = split_secrets(clear.parameters, {});
        const std::string& exact = holds_secrets(clear.exact) ? clear.exact : split.exact;
        if (!holds_secrets(exact)) return {};
        std::vector<std::pair<std::int64_t, ResourceRow>> rows =
            BUNRAKU_TRY(resources(clear.id, split.shown, exact));
        Digest hash =
            rows.empty() ? BUNRAKU_TRY(keyed(clear.hash)) : rows[0].second.parameters_hash;
        // If a newer program has stored the same parameters already, only old catalogs need this
        // row.
        if (BUNRAKU_TRY(is_taken("parameters", "hash", hash, clear.id)))
            hash = BUNRAKU_TRY(keyed(clear.hash));
        {
            Statement s = BUNRAKU_TRY(
                db_.prepare(fmt::format("UPDATE parameters SET hash = ?, parameters = {}, exact ="
                                        " NULL, sealed = ? WHERE id = ?",
                                        db_.postgresql() ? "?::json" : "?")));
            s.bind_blob(bytes_of(hash)).bind(split.shown);
            s.bind_blob(BUNRAKU_TRY(secrets_.seal(exact, bytes_of(hash)))).bind(clear.id);
            BUNRAKU_TRY_VOID(s.run());
        }
        for (auto& [id, row] : rows) BUNRAKU_TRY_VOID(renew(id, row));
        return {};
    }

    /// Updates the catalogs that contain the parameters, and their earlier versions.
    Result<void> catalogs() {
        std::vector<std::int64_t> nodes(nodes_.begin(), nodes_.end());
        for (std::int64_t node : nodes) BUNRAKU_TRY_VOID(catalog(node));
        return {};
    }

private:
    /// Returns a hash that does not reveal the input of `hash`.
    Result<Digest> keyed(const Digest& hash) { return secrets_.digest(bytes_of(hash)); }

    /// Reports whether another row than `id` has this hash.
    Result<bool> is_taken(const char* table, const char* column, const Digest& hash,
                          std::int64_t id) {
        Statement s = BUNRAKU_TRY(
            db_.prepare(fmt::format("SELECT 1 FROM {} WHERE {} = ? AND id <> ?", table, column)));
        s.bind_blob(bytes_of(hash)).bind(id);
        return s.step();
    }

    Result<std::vector<std::pair<std::int64_t, ResourceRow>>> resources(std::int64_t parameters,
                                                                        const std::string& shown,
                                                                        const std::string& exact) {
        std::vector<std::pair<std::int64_t, ResourceRow>> out;
        Statement s = BUNRAKU_TRY(db_.prepare(fmt::format(
            "SELECT r.id, r.type, r.title, r.exported, r.virtual, r.file, r.line, {},"
            " r.kind, {} FROM resources r WHERE r.parameters_id = ?",
            writer_.dialect().json_text("r.tags"), writer_.dialect().json_text("r.aliases"))));
        s.bind(parameters);
        while (BUNRAKU_TRY(s.step())) {
            ResourceRow row;
            row.type = s.text(1);
            row.title = s.text(2);
            row.exported = s.integer(3) != 0;
            row.virtual_ = s.integer(4) != 0;
            if (!s.is_null(5)) row.file = s.text(5);
            if (!s.is_null(6)) row.line = s.integer(6);
            row.tags = s.text(7);
            if (!s.is_null(8)) row.kind = s.text(8);
            if (!s.is_null(9)) row.aliases = s.text(9);
            row.parameters = shown;
            row.exact = exact;
            BUNRAKU_TRY_VOID(row.hash(&secrets_));
            out.emplace_back(s.integer(0), std::move(row));
        }
        return out;
    }

    Result<void> renew(std::int64_t id, const ResourceRow& row) {
        Digest hash = row.row_hash;
        if (BUNRAKU_TRY(is_taken("resources", "row_hash", hash, id)))
            hash = BUNRAKU_TRY(keyed(hash));
        {
            Statement s =
                BUNRAKU_TRY(db_.prepare("UPDATE resources SET row_hash = ? WHERE id = ?"));
            s.bind_blob(bytes_of(hash)).bind(id);
            BUNRAKU_TRY_VOID(s.run());
        }
        if (row.exported) {
            for (const char* table : {"exported_params", "exported_tags"}) {
                Statement s = BUNRAKU_TRY(
                    db_.prepare(fmt::format("DELETE FROM {} WHERE resource_id = ?", table)));
                s.bind(id);
                BUNRAKU_TRY_VOID(s.run());
            }
            BUNRAKU_TRY_VOID(index_export(db_, id, row));
        }
        Statement s = BUNRAKU_TRY(
            db_.prepare("SELECT certname_id FROM catalog_resources WHERE resource_id = ?"));
        s.bind(id);
        while (BUNRAKU_TRY(s.step())) nodes_.insert(s.integer(0));
        return {};
    }

    Result<void> catalog(std::int64_t node) {
        std::string certname;
        Digest old{};
        {
            Statement s =
                BUNRAKU_TRY(db_.prepare("SELECT n.certname, c.hash FROM catalogs c JOIN certnames n"
                                        " ON n.id = c.certname_id WHERE c.certname_id = ?"));
            s.bind(node);
            if (!BUNRAKU_TRY(s.step())) return {};
            certname = s.text(0);
            old = digest_from(s.blob(1));
        }
        std::vector<Writer::ResourceRef> refs;
        std::unordered_map<std::int64_t, std::int64_t> position;
        {
            Statement s = BUNRAKU_TRY(
                db_.prepare("SELECT l.resource_id, r.row_hash FROM catalog_resources l"
                            " JOIN resources r ON r.id = l.resource_id WHERE l.certname_id = ?"));
            s.bind(node);
            while (BUNRAKU_TRY(s.step())) {
                position.emplace(s.integer(0), static_cast<std::int64_t>(refs.size()));
                refs.push_back({.id = s.integer(0), .row_hash = digest_from(s.blob(1))});
            }
        }
        std::vector<PackedEdge> edges;
        {
            Statement s = BUNRAKU_TRY(db_.prepare(fmt::format(
                "SELECT e.source, e.target, e.kind FROM catalogs c {} WHERE c.certname_id = ?",
                writer_.dialect().edges("c", "e"))));
            s.bind(node);
            while (BUNRAKU_TRY(s.step())) {
                auto source = position.find(s.integer(0)), target = position.find(s.integer(1));
                if (source == position.end() || target == position.end()) continue;
                edges.push_back({source->second, target->second, s.integer(2)});
            }
        }
        const Digest hash = content_hash(certname, refs, edges);
        {
            Statement s = BUNRAKU_TRY(db_.prepare(
                "UPDATE catalogs SET hash = ?, wire_digest = NULL WHERE certname_id = ?"));
            s.bind_blob(bytes_of(hash)).bind(node);
            BUNRAKU_TRY_VOID(s.run());
        }
        return versions(node, old, hash);
    }

    /// Replaces the hashes of the node's versions. Equal hashes get equal replacements, so the
    /// chain of versions stays intact.
    Result<void> versions(std::int64_t node, const Digest& old, const Digest& hash) {
        std::vector<Digest> known;
        {
            Statement s = BUNRAKU_TRY(
                db_.prepare("SELECT hash FROM catalog_versions WHERE certname_id = ?1 UNION"
                            " SELECT previous_hash FROM catalog_versions WHERE certname_id = ?1"
                            " AND previous_hash IS NOT NULL"));
            s.bind(node);
            while (BUNRAKU_TRY(s.step())) known.push_back(digest_from(s.blob(0)));
        }
        for (const Digest& was : known) {
            const Digest now = was == old ? hash : BUNRAKU_TRY(keyed(was));
            for (const char* column : {"hash", "previous_hash"}) {
                Statement s = BUNRAKU_TRY(db_.prepare(
                    fmt::format("UPDATE catalog_versions SET {0} = ? WHERE certname_id = ?"
                                " AND {0} = ?",
                                column)));
                s.bind_blob(bytes_of(now)).bind(node).bind_blob(bytes_of(was));
                BUNRAKU_TRY_VOID(s.run());
            }
        }
        return {};
    }

    Writer& writer_;
    Database& db_;
    Secrets& secrets_;
    std::unordered_set<std::int64_t> nodes_;
};

Result<bool> is_marked(Database& db) {
    Statement s =
        BUNRAKU_TRY(db.prepare("SELECT value FROM store_meta WHERE name = 'clear_secrets'"));
    return BUNRAKU_TRY(s.step()) && s.integer(0) != 0;
}

Result<void> unmark(Database& db) {
    return db.execute("UPDATE store_meta SET value = 0 WHERE name = 'clear_secrets'");
}

}  // namespace

Result<std::size_t> seal_clear_secrets(Writer& writer, bool all) {
    if (!writer.secrets()) return 0;
    Database& db = writer.db();
    const bool marked = BUNRAKU_TRY(is_marked(db));
    if (!marked && !all) return 0;
    // A check without a lock first, because usually there is nothing to encrypt.
    if (BUNRAKU_TRY(find_clear(writer)).empty()) {
        if (marked) BUNRAKU_TRY_VOID(unmark(db));
        return 0;
    }
    if (!db.postgresql()) BUNRAKU_TRY_VOID(db.execute("PRAGMA secure_delete = ON"));
    std::size_t count = 0;
    {
        // The ids of content stay valid but their hashes change, so begin_removal() makes all
        // writers drop their caches.
        Transaction transaction = BUNRAKU_TRY(writer.begin_removal());
        BUNRAKU_TRY_VOID(writer.check_key());
        Sealing sealing(writer);
        for (const ClearParameters& clear : BUNRAKU_TRY(find_clear(writer))) {
            BUNRAKU_TRY_VOID(sealing.one(clear));
            ++count;
        }
        BUNRAKU_TRY_VOID(sealing.catalogs());
        // PostgreSQL leaves the old versions of updated rows on disk. Rewriting the table removes
        // them.
        if (db.postgresql() && marked) {
            BUNRAKU_TRY_VOID(db.execute(
                "ALTER TABLE parameters ALTER COLUMN exact TYPE text USING exact || ''"));
        }
        if (marked) BUNRAKU_TRY_VOID(unmark(db));
        BUNRAKU_TRY_VOID(transaction.commit());
    }
    writer.forget();
    if (db.postgresql()) return count;
    BUNRAKU_TRY_VOID(db.execute("PRAGMA secure_delete = OFF"));
    // Pages freed earlier may contain unencrypted values too. If the disk has too little space for
    // a copy, they remain until 'db compact'.
    if (marked) (void)compact(db);
    return count;
}

Result<std::size_t> adopt_key(Writer& writer) {
    if (!writer.secrets()) return 0;
    const auto numbers = BUNRAKU_TRY(writer.secrets()->numbers());
    Database& db = writer.db();
    Transaction transaction = BUNRAKU_TRY(writer.begin());
    std::vector<std::int64_t> lost;
    {
        Statement s =
            BUNRAKU_TRY(db.prepare("SELECT id, sealed FROM parameters WHERE sealed IS NOT NULL"));
        while (BUNRAKU_TRY(s.step())) {
            const auto number = Secrets::key_number(s.blob(1));
            if (!number || std::ranges::find(numbers, *number) == numbers.end())
                lost.push_back(s.integer(0));
        }
    }
    for (std::int64_t id : lost) {
        Statement s = BUNRAKU_TRY(db.prepare("UPDATE parameters SET sealed = NULL WHERE id = ?"));
        s.bind(id);
        BUNRAKU_TRY_VOID(s.run());
    }
    BUNRAKU_TRY_VOID(db.execute("DELETE FROM store_meta WHERE name = 'secrets_key'"));
    writer.forget();
    BUNRAKU_TRY_VOID(writer.check_key());
    BUNRAKU_TRY_VOID(transaction.commit());
    return lost.size();
}

}  // namespace bunraku::store
