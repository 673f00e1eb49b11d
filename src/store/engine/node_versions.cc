// SPDX-License-Identifier: Apache-2.0
#include "store/engine/node_versions.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

#include "core/base/assert.h"
#include "store/engine/rollouts.h"

namespace bunraku::store {

namespace {

constexpr std::string_view kColumns =
    "certname, environment, version, previous, since, transaction_uuid, idle, epoch";

NodeVersion read_row(const Statement& s) {
    return {.certname = std::string(s.text(0)),
            .environment = std::string(s.text(1)),
            .version = std::string(s.text(2)),
            .previous = std::string(s.text(3)),
            .since = s.integer(4),
            .transaction = std::string(s.text(5)),
            .idle = s.boolean(6),
            .epoch = s.integer(7)};
}

bool is_of(const NodeTry& one, std::string_view environment, std::string_view certname) {
    return one.environment == environment && one.certname == certname;
}

/// Removes and returns some tries, and raises the epoch if there are any.
Result<std::vector<NodeTry>> remove_tries(Writer& writer,
                                          const std::function<bool(const NodeTry&)>& choose) {
    Database& db = writer.db();
    Transaction transaction = BUNRAKU_TRY(Transaction::begin(db));
    BUNRAKU_TRY(lock_epochs(db, EpochLock::Change));
    std::vector<NodeTry> out = BUNRAKU_TRY(node_tries(db));
    std::erase_if(out, [&](const NodeTry& one) { return !choose(one); });
    if (out.empty()) return out;
    BUNRAKU_TRY(raise_epoch(db, Joins::No));
    for (const NodeTry& one : out) {
        Statement s = BUNRAKU_TRY(
            db.prepare("DELETE FROM node_tries WHERE certname = ? AND environment = ?"));
        s.bind(one.certname).bind(one.environment);
        BUNRAKU_TRY_VOID(s.run());
    }
    BUNRAKU_TRY_VOID(transaction.commit());
    return out;
}

}  // namespace

Result<std::optional<NodeVersion>> node_version(Database& db, std::string_view environment,
                                                std::string_view certname) {
    Statement s = BUNRAKU_TRY(db.prepare(fmt::format(
        "SELECT {} FROM node_versions WHERE certname = ? AND environment = ?", kColumns)));
    s.bind(certname).bind(environment);
    if (!BUNRAKU_TRY(s.step())) return std::nullopt;
    return read_row(s);
}

Result<std::vector<NodeVersion>> node_versions(Database& db, std::string_view environment) {
    Statement s = BUNRAKU_TRY(
        db.prepare(fmt::format("SELECT {} FROM node_versions WHERE ?1 = '' OR environment = ?1"
                               " ORDER BY certname, environment",
                               kColumns)));
    s.bind(environment);
    std::vector<NodeVersion> out;
    while (BUNRAKU_TRY(s.step())) out.push_back(read_row(s));
    return out;
}

Result<NodeVersion> move_node(Writer& writer, const NodeVersion& target,
                              std::string_view expected) {
    BUNRAKU_ASSERT(!target.certname.empty() && !target.version.empty());
    Database& db = writer.db();
    if (expected.empty()) {
        Statement s = BUNRAKU_TRY(
            db.prepare("INSERT INTO node_versions (certname, environment, version, previous, since,"
                       " transaction_uuid, idle, epoch) VALUES (?, ?, ?, ?, ?, ?, 0, ?)"
                       " ON CONFLICT (certname, environment) DO NOTHING"));
        s.bind(target.certname).bind(target.environment).bind(target.version);
        s.bind(target.previous).bind(target.since).bind(target.transaction).bind(target.epoch);
        BUNRAKU_TRY_VOID(s.run());
    } else {
        Statement s =
            BUNRAKU_TRY(db.prepare("UPDATE node_versions SET version = ?, previous = ?, since = ?,"
                                   " transaction_uuid = ?, idle = 0, epoch = ?"
                                   " WHERE certname = ? AND environment = ? AND version = ?"));
        s.bind(target.version).bind(target.previous).bind(target.since).bind(target.transaction);
        s.bind(target.epoch).bind(target.certname).bind(target.environment).bind(expected);
        BUNRAKU_TRY_VOID(s.run());
    }
    auto stored = BUNRAKU_TRY(node_version(db, target.environment, target.certname));
    if (!stored) return base::failure("The version of a node was not stored");
    return std::move(*stored);
}

Result<void> set_transaction(Writer& writer, std::string_view environment,
                             std::string_view certname, std::string_view transaction) {
    Statement s = BUNRAKU_TRY(writer.db().prepare(
        "UPDATE node_versions SET transaction_uuid = ?"
        " WHERE certname = ? AND environment = ? AND transaction_uuid = '' AND idle = 0"));
    s.bind(transaction).bind(certname).bind(environment);
    return s.run();
}

Result<std::optional<NodeVersion>> set_idle(Writer& writer, const NodeVersion& node) {
    Statement s =
        BUNRAKU_TRY(writer.db().prepare("UPDATE node_versions SET idle = 1, epoch = ?"
                                        " WHERE certname = ? AND environment = ? AND version = ?"));
    s.bind(node.epoch).bind(node.certname).bind(node.environment).bind(node.version);
    BUNRAKU_TRY_VOID(s.run());
    return node_version(writer.db(), node.environment, node.certname);
}

Result<void> forget_nodes(Writer& writer, std::string_view environment, std::string_view version,
                          std::int64_t before) {
    Statement s = BUNRAKU_TRY(writer.db().prepare(
        "DELETE FROM node_versions WHERE environment = ? AND version = ? AND since < ?"));
    s.bind(environment).bind(version).bind(before);
    return s.run();
}

Result<void> forget_unmoved(Writer& writer, std::string_view environment, std::int64_t before) {
    Statement s = BUNRAKU_TRY(writer.db().prepare(
        "DELETE FROM node_versions WHERE environment = ? AND version = previous AND since < ?"));
    s.bind(environment).bind(before);
    return s.run();
}

Result<std::vector<NodeTry>> node_tries(Database& db) {
    Statement s = BUNRAKU_TRY(db.prepare(
        "SELECT certname, environment, version, ends, actor FROM node_tries ORDER BY 1, 2"));
    std::vector<NodeTry> out;
    while (BUNRAKU_TRY(s.step())) {
        out.push_back({.certname = std::string(s.text(0)),
                       .environment = std::string(s.text(1)),
                       .version = std::string(s.text(2)),
                       .ends = s.integer(3),
                       .actor = std::string(s.text(4))});
    }
    return out;
}

Result<void> set_try(Writer& writer, const NodeTry& entry) {
    Database& db = writer.db();
    Transaction transaction = BUNRAKU_TRY(Transaction::begin(db));
    BUNRAKU_TRY(lock_epochs(db, EpochLock::Change));
    const auto known = BUNRAKU_TRY(node_tries(db));
    const bool same = std::ranges::any_of(known, [&](const NodeTry& one) {
        return is_of(one, entry.environment, entry.certname) && one.version == entry.version;
    });
    if (!same) BUNRAKU_TRY(raise_epoch(db, Joins::Yes));
    {
        Statement s = BUNRAKU_TRY(
            db.prepare("INSERT INTO node_tries (certname, environment, version, ends, actor)"
                       " VALUES (?, ?, ?, ?, ?) ON CONFLICT (certname, environment) DO UPDATE"
                       " SET version = excluded.version, ends = excluded.ends,"
                       " actor = excluded.actor"));
        s.bind(entry.certname).bind(entry.environment).bind(entry.version);
        s.bind(entry.ends).bind(entry.actor);
        BUNRAKU_TRY_VOID(s.run());
    }
    return transaction.commit();
}

Result<bool> remove_try(Writer& writer, std::string_view environment, std::string_view certname) {
    const auto removed = BUNRAKU_TRY(remove_tries(
        writer, [&](const NodeTry& one) { return is_of(one, environment, certname); }));
    return !removed.empty();
}

Result<std::vector<NodeTry>> end_tries(Writer& writer, std::int64_t now) {
    return remove_tries(writer, [&](const NodeTry& one) { return one.ends <= now; });
}

Result<std::vector<RolloutServer>> rollout_servers(Database& db) {
    Statement s = BUNRAKU_TRY(db.prepare(
        "SELECT server, epoch, seen, versions, forgotten FROM rollout_servers ORDER BY server"));
    std::vector<RolloutServer> out;
    while (BUNRAKU_TRY(s.step())) {
        out.push_back({.server = std::string(s.text(0)),
                       .epoch = s.integer(1),
                       .seen = s.integer(2),
                       .versions = std::string(s.text(3)),
                       .forgotten = s.boolean(4)});
    }
    return out;
}

Result<void> acknowledge_epoch(Writer& writer, const RolloutServer& server) {
    Database& db = writer.db();
    Transaction transaction = BUNRAKU_TRY(Transaction::begin(db));
    const auto in_use = [&](bool own) -> Result<bool> {
        return std::ranges::any_of(BUNRAKU_TRY(rollout_servers(db)), [&](const RolloutServer& one) {
            return !one.forgotten && own == (one.server == server.server);
        });
    };
    if (!BUNRAKU_TRY(in_use(true))) {
        BUNRAKU_TRY(lock_epochs(db, EpochLock::Change));
        // A server that was alone so far must learn that it has leases.
        if (BUNRAKU_TRY(in_use(false))) BUNRAKU_TRY(raise_epoch(db, Joins::Yes));
    }
    {
        Statement s = BUNRAKU_TRY(
            db.prepare("INSERT INTO rollout_servers (server, epoch, seen, versions, forgotten)"
                       " VALUES (?, ?, ?, ?, 0) ON CONFLICT (server) DO UPDATE"
                       " SET epoch = excluded.epoch, seen = excluded.seen,"
                       " versions = excluded.versions, forgotten = 0"));
        s.bind(server.server).bind(server.epoch).bind(server.seen).bind(server.versions);
        BUNRAKU_TRY_VOID(s.run());
    }
    return transaction.commit();
}

Result<bool> forget_server(Writer& writer, std::string_view server) {
    Statement s = BUNRAKU_TRY(
        writer.db().prepare("UPDATE rollout_servers SET forgotten = 1 WHERE server = ?"));
    s.bind(server);
    BUNRAKU_TRY_VOID(s.run());
    return writer.db().changes() > 0;
}

}  // namespace bunraku::store
