// SPDX-License-Identifier: Apache-2.0
#include "store/engine/rollouts.h"

#include <fmt/format.h>

#include "core/base/assert.h"
#include "store/db/support.h"

namespace bunraku::store {

namespace {

constexpr std::string_view kColumns =
    "id, environment, from_version, to_version, plan_digest, state, wave, moved, resume_state,"
    " hold, sequence, epoch, started, since, starter, approved, reason, live";

RolloutRow read_row(const Statement& s) {
    RolloutRow out;
    out.id = s.integer(0);
    out.environment = s.text(1);
    out.from = s.text(2);
    out.to = s.text(3);
    out.plan = s.text(4);
    out.state = s.text(5);
    out.wave = s.integer(6);
    out.moved = s.integer(7);
    out.resume = s.text(8);
    out.hold = s.boolean(9);
    out.sequence = s.integer(10);
    out.epoch = s.integer(11);
    out.started = s.integer(12);
    out.since = s.integer(13);
    out.starter = s.text(14);
    out.approved = s.integer(15);
    out.reason = s.text(16);
    out.live = s.boolean(17);
    return out;
}

Result<Epochs> read_epochs(Database& db, std::string_view lock) {
    Statement s = BUNRAKU_TRY(
        db.prepare(fmt::format("SELECT name, value FROM store_meta WHERE name IN ('rollout_epoch',"
                               " 'rollout_joined') ORDER BY name{}",
                               lock)));
    Epochs out;
    while (BUNRAKU_TRY(s.step()))
        (s.text(0) == "rollout_epoch" ? out.present : out.joined) = s.integer(1);
    return out;
}

/// Inserts an event with the next number of its rollout. The caller has a transaction.
Result<void> insert_event(Database& db, const RolloutEvent& event) {
    Statement s = BUNRAKU_TRY(db.prepare(
        "INSERT INTO rollout_events (rollout_id, number, time, actor, what, detail, sent)"
        " SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4, ?5, 0"
        " FROM rollout_events WHERE rollout_id = ?1"));
    s.bind(event.rollout).bind(event.time).bind(event.actor).bind(event.what).bind(event.detail);
    return s.run();
}

Result<std::vector<RolloutEvent>> read_events(Statement& s) {
    std::vector<RolloutEvent> out;
    while (BUNRAKU_TRY(s.step())) {
        out.push_back({.rollout = s.integer(0),
                       .number = s.integer(1),
                       .time = s.integer(2),
                       .actor = std::string(s.text(3)),
                       .what = std::string(s.text(4)),
                       .detail = std::string(s.text(5))});
    }
    return out;
}

Result<std::int64_t> insert_row(Database& db, const RolloutRow& row) {
    Statement s = BUNRAKU_TRY(db.prepare(
        "INSERT INTO rollouts (environment, from_version, to_version, plan_digest, state, wave,"
        " moved, resume_state, hold, sequence, epoch, started, since, starter, approved, reason,"
        " live) VALUES (?, ?, ?, ?, ?, ?, ?, '', 0, 1, ?, ?, ?, ?, ?, ?, 1)"
        " RETURNING id"));
    s.bind(row.environment).bind(row.from).bind(row.to).bind(row.plan).bind(row.state);
    s.bind(row.wave).bind(row.moved).bind(row.epoch).bind(row.started).bind(row.since);
    s.bind(row.starter).bind(row.approved).bind(row.reason);
    if (!BUNRAKU_TRY(s.step())) return base::failure("A rollout was not stored");
    return s.integer(0);
}

Result<void> insert_members(Database& db, std::int64_t id,
                            const std::vector<RolloutMember>& members) {
    Statement s = BUNRAKU_TRY(db.prepare(
        "INSERT INTO rollout_members (certname, rollout_id, wave, judged) VALUES (?, ?, ?, ?)"));
    for (const RolloutMember& member : members) {
        s.bind(member.certname).bind(id).bind(member.wave).bind(member.judged);
        BUNRAKU_TRY_VOID(s.run());
        s.reset();
    }
    return {};
}

/// Records `row.from` as the version of the members that have no row. The caller has a transaction.
Result<void> record_unmoved(Database& db, const RolloutRow& row) {
    {
        Statement s = BUNRAKU_TRY(
            db.prepare("INSERT INTO node_versions (certname, environment, version, previous, since,"
                       " transaction_uuid, idle, epoch)"
                       " SELECT certname, ?, ?, ?, ?, '', 0, 0 FROM rollout_members"
                       " WHERE rollout_id = ? ON CONFLICT (certname, environment) DO NOTHING"));
        s.bind(row.environment).bind(row.from).bind(row.from).bind(row.since).bind(row.id);
        BUNRAKU_TRY_VOID(s.run());
    }
    // Rows of nodes that never moved expire by this time.
    Statement s =
        BUNRAKU_TRY(db.prepare("UPDATE node_versions SET since = ? WHERE environment = ?"
                               " AND version = ? AND previous = ?"));
    s.bind(row.since).bind(row.environment).bind(row.from).bind(row.from);
    return s.run();
}

}  // namespace

Result<Epochs> rollout_epochs(Database& db) { return read_epochs(db, ""); }

Result<Epochs> lock_epochs(Database& db, EpochLock lock) {
    if (!db.postgresql()) return rollout_epochs(db);  // SQLite has one writer at a time
    if (lock == EpochLock::Share) return read_epochs(db, " FOR SHARE");
    BUNRAKU_TRY_VOID(
        db.execute("INSERT INTO store_meta (name, value) VALUES ('rollout_epoch', 0)"
                   " ON CONFLICT (name) DO NOTHING"));
    return read_epochs(db, " FOR UPDATE");
}

Result<std::int64_t> rollout_epoch(Database& db) { return BUNRAKU_TRY(rollout_epochs(db)).present; }

Result<std::int64_t> raise_epoch(Database& db, Joins joins) {
    {
        Statement s = BUNRAKU_TRY(
            db.prepare("INSERT INTO store_meta (name, value) VALUES ('rollout_epoch', 1)"
                       " ON CONFLICT (name) DO UPDATE SET value = store_meta.value + 1"));
        BUNRAKU_TRY_VOID(s.run());
    }
    const std::int64_t epoch = BUNRAKU_TRY(rollout_epoch(db));
    if (joins == Joins::Yes) {
        Statement s = BUNRAKU_TRY(
            db.prepare("INSERT INTO store_meta (name, value) VALUES ('rollout_joined', ?)"
                       " ON CONFLICT (name) DO UPDATE SET value = excluded.value"));
        s.bind(epoch);
        BUNRAKU_TRY_VOID(s.run());
    }
    return epoch;
}

Result<std::int64_t> database_time(Database& db) {
    if (!db.postgresql()) return now_ms();
    Statement s = BUNRAKU_TRY(
        db.prepare("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)"));
    if (!BUNRAKU_TRY(s.step())) return base::failure("The database did not return its time");
    return s.integer(0);
}

Result<std::int64_t> insert_rollout(Writer& writer, const RolloutRow& row, std::string_view plan,
                                    const std::vector<RolloutMember>& members,
                                    const RolloutEvent& event) {
    Database& db = writer.db();
    Transaction transaction = BUNRAKU_TRY(Transaction::begin(db));
    RolloutRow stored = row;
    stored.epoch = BUNRAKU_TRY(raise_epoch(db, Joins::Yes));
    {
        Statement s =
            BUNRAKU_TRY(db.prepare("INSERT INTO rollout_plans (digest, plan) VALUES (?, ?)"
                                   " ON CONFLICT (digest) DO NOTHING"));
        s.bind(row.plan).bind(plan);
        BUNRAKU_TRY_VOID(s.run());
    }
    auto id = insert_row(db, stored);
    if (!id && failure_of(id.error()) == Failure::Constraint) {
        return base::failure(
            fmt::format("The environment '{}' has a rollout that is not finished", row.environment),
            kLiveRollout);
    }
    if (!id) return id;
    BUNRAKU_TRY_VOID(insert_members(db, *id, members));
    RolloutEvent first = event;
    first.rollout = *id;
    BUNRAKU_TRY_VOID(insert_event(db, first));
    BUNRAKU_TRY_VOID(transaction.commit());
    return *id;
}

Result<std::optional<RolloutRow>> find_rollout(Database& db, std::int64_t id) {
    Statement s =
        BUNRAKU_TRY(db.prepare(fmt::format("SELECT {} FROM rollouts WHERE id = ?", kColumns)));
    s.bind(id);
    if (!BUNRAKU_TRY(s.step())) return std::nullopt;
    return read_row(s);
}

Result<std::vector<RolloutRow>> list_rollouts(Database& db, std::string_view environment,
                                              Which which, std::int64_t most) {
    Statement s = BUNRAKU_TRY(
        db.prepare(fmt::format("SELECT {} FROM rollouts WHERE (?1 = '' OR environment = ?1){}"
                               " ORDER BY id DESC LIMIT ?2",
                               kColumns, which == Which::Live ? " AND live = 1" : "")));
    s.bind(environment).bind(most);
    std::vector<RolloutRow> out;
    while (BUNRAKU_TRY(s.step())) out.push_back(read_row(s));
    return out;
}

Result<std::optional<std::string>> rollout_plan(Database& db, std::string_view digest) {
    Statement s = BUNRAKU_TRY(db.prepare("SELECT plan FROM rollout_plans WHERE digest = ?"));
    s.bind(digest);
    if (!BUNRAKU_TRY(s.step())) return std::nullopt;
    return std::string(s.text(0));
}

Result<std::vector<RolloutMember>> rollout_members(Database& db, std::int64_t id) {
    Statement s = BUNRAKU_TRY(
        db.prepare("SELECT certname, wave, judged, verdict, detail, proofs FROM rollout_members"
                   " WHERE rollout_id = ? ORDER BY wave, certname"));
    s.bind(id);
    std::vector<RolloutMember> out;
    while (BUNRAKU_TRY(s.step())) {
        out.push_back({.certname = std::string(s.text(0)),
                       .wave = s.integer(1),
                       .judged = s.boolean(2),
                       .verdict = std::string(s.text(3)),
                       .detail = std::string(s.text(4)),
                       .proofs = s.integer(5)});
    }
    return out;
}

Result<std::optional<RolloutRow>> change_rollout(Writer& writer, RolloutRow row, Targets targets,
                                                 const RolloutEvent& event) {
    BUNRAKU_ASSERT(row.id != 0 && row.sequence != 0 && !row.state.empty());
    Database& db = writer.db();
    Transaction transaction = BUNRAKU_TRY(Transaction::begin(db));
    const std::int64_t expected = row.sequence++;
    if (targets != Targets::Same) row.epoch = BUNRAKU_TRY(raise_epoch(db, Joins::No));
    {
        Statement s = BUNRAKU_TRY(db.prepare(
            "UPDATE rollouts SET state = ?, wave = ?, moved = ?, resume_state = ?, hold = ?,"
            " sequence = ?, epoch = ?, since = ?, approved = ?, reason = ?, live = ?"
            " WHERE id = ? AND sequence = ?"));
        s.bind(row.state).bind(row.wave).bind(row.moved).bind(row.resume).bind(row.hold);
        s.bind(row.sequence).bind(row.epoch).bind(row.since).bind(row.approved).bind(row.reason);
        s.bind(row.live).bind(row.id).bind(expected);
        BUNRAKU_TRY_VOID(s.run());
    }
    if (db.changes() != 1) return std::nullopt;
    if (targets == Targets::Finished) BUNRAKU_TRY_VOID(record_unmoved(db, row));
    RolloutEvent own = event;
    own.rollout = row.id;
    BUNRAKU_TRY_VOID(insert_event(db, own));
    BUNRAKU_TRY_VOID(transaction.commit());
    return row;
}

Result<void> add_rollout_event(Writer& writer, const RolloutEvent& event) {
    Transaction transaction = BUNRAKU_TRY(Transaction::begin(writer.db()));
    BUNRAKU_TRY_VOID(insert_event(writer.db(), event));
    return transaction.commit();
}

Result<std::vector<RolloutEvent>> rollout_events(Database& db, std::int64_t id,
                                                 std::int64_t after) {
    Statement s = BUNRAKU_TRY(
        db.prepare("SELECT rollout_id, number, time, actor, what, detail FROM rollout_events"
                   " WHERE rollout_id = ? AND number > ? ORDER BY number"));
    s.bind(id).bind(after);
    return read_events(s);
}

Result<std::vector<RolloutEvent>> unsent_events(Database& db) {
    Statement s = BUNRAKU_TRY(
        db.prepare("SELECT rollout_id, number, time, actor, what, detail FROM rollout_events"
                   " WHERE sent = 0 ORDER BY rollout_id, number"));
    return read_events(s);
}

Result<void> mark_sent(Writer& writer, const RolloutEvent& event) {
    Statement s = BUNRAKU_TRY(writer.db().prepare(
        "UPDATE rollout_events SET sent = 1 WHERE rollout_id = ? AND number = ?"));
    s.bind(event.rollout).bind(event.number);
    return s.run();
}

Result<void> set_verdicts(Writer& writer, std::int64_t id,
                          const std::vector<RolloutMember>& members) {
    if (members.empty()) return {};
    Transaction transaction = BUNRAKU_TRY(Transaction::begin(writer.db()));
    Statement s = BUNRAKU_TRY(
        writer.db().prepare("UPDATE rollout_members SET verdict = ?, detail = ?, proofs = ?"
                            " WHERE rollout_id = ? AND certname = ?"));
    for (const RolloutMember& member : members) {
        s.bind(member.verdict).bind(member.detail).bind(member.proofs);
        s.bind(id).bind(member.certname);
        BUNRAKU_TRY_VOID(s.run());
        s.reset();
    }
    return transaction.commit();
}

}  // namespace bunraku::store
