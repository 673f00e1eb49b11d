// SPDX-License-Identifier: Apache-2.0
#include "store/engine/fact_history.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/codec/json_cursor.h"
#include "core/codec/json_text.h"
#include "resources/catalog/wire_time.h"
#include "store/engine/impl.h"
#include "store/query/dialect.h"

namespace bunraku::store {

namespace {

/// Must be sorted.
constexpr std::string_view kVolatileFacts[] = {
    "load_averages", "memory",      "memoryfree",   "memoryfree_mb",
    "mountpoints",   "swapfree",    "swapfree_mb",  "system_uptime",
    "uptime",        "uptime_days", "uptime_hours", "uptime_seconds",
};

struct FactsRow {
    FactsVersion version;
    std::string hash, previous, changes;
};

/// Returns {"added":[..],"before":{NAME:VALUE,..}}: the names of new facts, and the previous values
/// of the others.
template <class Added, class Before>
void read_changes(std::string_view changes, const Added& added, const Before& before) {
    if (changes.empty()) return;
    codec::JsonCursor json(changes);
    json.enter_object();
    std::string_view key;
    while (json.next_key(&key)) {
        if (key == "added") {
            json.enter_array();
            while (json.next_element()) added(std::string(json.string()));
        } else {
            json.enter_object();
            std::string_view name;
            while (json.next_key(&name)) {
                std::string whose(name);
                before(std::move(whose), json.skip());
            }
        }
    }
    json.finish();
}

Result<std::vector<FactsRow>> facts_rows(Database& db, std::int64_t node) {
    Statement s = BUNRAKU_TRY(
        db.prepare("SELECT valid_from, hash, previous_hash, changes FROM factset_versions"
                   " WHERE certname_id = ? ORDER BY valid_from DESC"));
    s.bind(node);
    std::vector<FactsRow> out;
    while (BUNRAKU_TRY(s.step())) {
        FactsRow row;
        row.version.valid_from = s.integer(0);
        if (!out.empty()) row.version.valid_until = out.back().version.valid_from;
        row.hash = s.blob(1);
        row.version.first = s.is_null(2);
        if (!s.is_null(2)) row.previous = s.blob(2);
        row.changes = s.text(3);
        auto& names = row.version.changed;
        read_changes(
            row.changes, [&](std::string name) { names.push_back(std::move(name)); },
            [&](std::string name, std::string_view) { names.push_back(std::move(name)); });
        std::sort(names.begin(), names.end());
        out.push_back(std::move(row));
    }
    // Earlier versions were removed, so the oldest one has no predecessor.
    if (!out.empty()) {
        out.back().version.first = true;
        out.back().version.changed.clear();
    }
    return out;
}

struct FactsNode {
    std::int64_t id = 0;
    std::string hash;
};

Result<FactsNode> facts_node(Database& db, std::string_view certname) {
    Statement s = BUNRAKU_TRY(
        db.prepare("SELECT n.id, f.steady_hash FROM certnames n"
                   " LEFT JOIN factsets f ON f.certname_id = n.id WHERE n.certname = ?"));
    s.bind(certname);
    FactsNode out;
    if (BUNRAKU_TRY(s.step())) {
        out.id = s.integer(0);
        if (!s.is_null(1)) out.hash = s.blob(1);
    }
    return out;
}

struct OldFact {
    std::string match, value;
};

Result<std::map<std::string, OldFact>> facts_now(Database& db, std::int64_t node) {
    Statement s = BUNRAKU_TRY(
        db.prepare(fmt::format("SELECT f.name, f.match, {} FROM factset_facts l JOIN facts f"
                               " ON f.id = l.fact_id WHERE l.certname_id = ?",
                               Dialect(db.backend()).json_text("f.value"))));
    s.bind(node);
    std::map<std::string, OldFact> out;
    while (BUNRAKU_TRY(s.step())) {
        if (is_volatile_fact(s.text(0))) continue;
        OldFact fact{std::string(s.text(1)), ""};
        fact.value = s.text(2);
        out.emplace(std::string(s.text(0)), std::move(fact));
    }
    return out;
}

/// Returns the current values of the facts that differ from `rows`; see read_changes().
Result<std::string> changes_json(Database& db, std::int64_t node, std::span<const FactRow> rows) {
    auto old = BUNRAKU_TRY(facts_now(db, node));
    std::string added, before;
    auto put = [](std::string& list, std::string_view item) {
        if (!list.empty()) list += ',';
        list += item;
    };
    for (const FactRow& row : rows) {
        if (is_volatile_fact(row.name)) continue;
        auto found = old.find(row.name);
        const bool known = found != old.end();
        if (!known) {
            put(added, codec::json_string(row.name));
            continue;
        }
        if (found->second.match != row.match) {
            put(before, codec::json_string(row.name) + ":" + found->second.value);
        }
        old.erase(found);
    }
    for (const auto& [name, fact] : old) put(before, codec::json_string(name) + ":" + fact.value);
    return fmt::format("{{\"added\":[{}],\"before\":{{{}}}}}", added, before);
}

Result<std::optional<PastFacts>> past_facts(Database& db, std::string_view certname,
                                            std::int64_t time) {
    const FactsNode node = BUNRAKU_TRY(facts_node(db, certname));
    if (node.id == 0) return std::nullopt;
    const std::vector<FactsRow> rows = BUNRAKU_TRY(facts_rows(db, node.id));
    auto at = std::find_if(rows.begin(), rows.end(),
                           [&](const FactsRow& r) { return r.version.valid_from <= time; });
    if (at == rows.end()) return std::nullopt;
    PastFacts out;
    out.version = at->version;
    for (auto& [name, fact] : BUNRAKU_TRY(facts_now(db, node.id))) {
        out.facts[name] = std::move(fact.value);
    }
    std::string hash = node.hash;
    for (auto row = rows.begin();; ++row) {
        BUNRAKU_ASSERT(row != rows.end() && row <= at);
        if (row->hash != hash) {
            return base::failure(fmt::format(
                "The facts of {} before a change by another program are not available", certname));
        }
        if (row == at) break;
        read_changes(
            row->changes, [&](const std::string& name) { out.facts.erase(name); },
            [&](std::string name, std::string_view value) {
                out.facts[std::move(name)] = std::string(value);
            });
        hash = row->previous;
    }
    return out;
}

/// Returns {"valid_from": .., "valid_until": .. without the closing brace.
std::string facts_times(const FactsVersion& v) {
    return fmt::format(
        "{{\"valid_from\":{},\"valid_until\":{}",
        codec::json_string(catalog::format_wire_time(v.valid_from)),
        v.valid_until ? codec::json_string(catalog::format_wire_time(*v.valid_until)) : "null");
}

}  // namespace

bool is_volatile_fact(std::string_view name) {
    return std::binary_search(std::begin(kVolatileFacts), std::end(kVolatileFacts), name);
}

Digest steady_hash(std::span<const FactRow> rows) {
    BUNRAKU_ASSERT(std::ranges::is_sorted(rows, {}, &FactRow::name));
    Sha1 sum;
    for (const FactRow& row : rows) {
        if (!is_volatile_fact(row.name)) sum.add(bytes_of(row.key));
    }
    return sum.digest();
}

Result<void> remember_facts(Writer& writer, std::int64_t node, std::int64_t producer_timestamp,
                            const Digest& hash, std::string_view before,
                            std::span<const FactRow> rows) {
    BUNRAKU_ASSERT(node != 0);
    if (writer.history_ttl_ms() <= 0) return {};
    std::string changes;
    if (!before.empty()) changes = BUNRAKU_TRY(changes_json(writer.db(), node, rows));
    Statement s = BUNRAKU_TRY(writer.db().prepare(fmt::format(
        "INSERT INTO factset_versions (certname_id, valid_from, hash, previous_hash, changes)"
        " SELECT ?1, (SELECT CASE WHEN max(valid_from) >= ?2 THEN max(valid_from) + 1 ELSE ?2 END"
        " FROM factset_versions WHERE certname_id = ?1), ?3, CAST(?4 AS {}), ?5",
        writer.postgresql() ? "bytea" : "BLOB")));
    s.bind(node).bind(producer_timestamp).bind_blob(bytes_of(hash));
    before.empty() ? s.bind_null() : s.bind_blob(before);
    s.bind_optional(changes);
    return s.run_later();
}

Result<std::vector<FactsVersion>> facts_versions(Database& db, std::string_view certname) {
    std::vector<FactsVersion> out;
    const FactsNode node = BUNRAKU_TRY(facts_node(db, certname));
    if (node.id == 0) return out;
    try {
        for (FactsRow& row : BUNRAKU_TRY(facts_rows(db, node.id))) {
            out.push_back(std::move(row.version));
        }
    } catch (const codec::JsonError& e) {
        return base::failure(e.message);
    }
    return out;
}

Result<std::optional<PastFacts>> facts_at(Database& db, std::string_view certname,
                                          std::int64_t time) {
    // All reads see the same snapshot, even if another process writes.
    Transaction transaction = BUNRAKU_TRY(Transaction::begin_read(db));
    try {
        return past_facts(db, certname, time);
    } catch (const codec::JsonError& e) {
        return base::failure(e.message);
    }
}

std::string facts_versions_json(const std::vector<FactsVersion>& versions) {
    std::string out = "[";
    for (const FactsVersion& v : versions) {
        out += fmt::format("{}{},\"changed\":{},\"first\":{}}}", out.size() > 1 ? "," : "",
                           facts_times(v), strings_to_json(v.changed), v.first);
    }
    return out + "]";
}

std::string past_facts_json(std::string_view certname, const PastFacts& past) {
    std::string facts;
    for (const auto& [name, value] : past.facts) {
        facts += fmt::format("{}{}:{}", facts.empty() ? "" : ",", codec::json_string(name), value);
    }
    return fmt::format("{},\"certname\":{},\"facts\":{{{}}}}}", facts_times(past.version),
                       codec::json_string(certname), facts);
}

}  // namespace bunraku::store
