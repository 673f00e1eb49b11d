// SPDX-License-Identifier: Apache-2.0
// Several statements in one round trip to PostgreSQL: libpq's pipeline mode, and statements that
// wait until the next one is sent.
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/assert.h"
#include "store/db/libpq.h"
#include "store/db/postgresql.h"
#include "store/db/postgresql_values.h"

namespace bunraku::store {

namespace {

/// Limits the memory of deferred statements.
constexpr std::size_t kMaxDeferred = 1 << 20;

/// A message that was sent to the server, whose results are expected in this order.
struct Sent {
    PgStatement* statement;
    enum class Part { Preparation, Deferred, Whole } part;
};

/// Stores a successful result.
void accept(PgConnection& connection, const Sent& sent, PGresult* result) {
    PgStatement& s = *sent.statement;
    if (sent.part == Sent::Part::Preparation) {
        s.prepared = true;
    } else {
        const char* tuples = libpq().cmdTuples(result);
        connection.changes = tuples && *tuples ? strtoll(tuples, nullptr, 10) : 0;
    }
    if (sent.part != Sent::Part::Whole) return libpq().clear(result);
    s.result = result;
    s.rows = libpq().ntuples(result);
}

/// Sends statements in pipeline mode.
class Pipeline {
public:
    void send(PgStatement& s, const std::vector<PgStatement::Value>& values, Sent::Part part) {
        if (!s.name.empty() && !s.prepared && !preparing(s)) {
            ok_ = ok_ && s.send_preparation(values);
            sent_.push_back({&s, Sent::Part::Preparation});
        }
        ok_ = ok_ && s.send(values);
        sent_.push_back({&s, part});
    }

    /// Receives the results. Returns the first error.
    std::optional<base::Error> receive(PgConnection& connection) {
        PGconn* const raw = connection.raw;
        std::optional<base::Error> failed;
        if (!ok_ || !libpq().pipelineSync(raw)) {
            failed = connection.error(nullptr);
            connection.lost = true;  // It is not known what the server has received.
        }
        // A null result ends the results of each statement.
        std::size_t at = 0;
        for (bool synced = false; !synced && !connection.lost;) {
            PGresult* r = connection.receive();
            if (!r) {
                if (++at > sent_.size()) connection.lost = true;
                continue;
            }
            const ExecStatusType status = libpq().resultStatus(r);
            synced = status == PGRES_PIPELINE_SYNC;
            if (libpq().status(raw) == CONNECTION_BAD) connection.lost = true;
            const bool good = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
            if (!good && !synced && status != PGRES_PIPELINE_ABORTED && !failed) {
                failed = connection.error(r);
            }
            if (good && at < sent_.size()) {
                accept(connection, sent_[at], r);
            } else {
                libpq().clear(r);
            }
        }
        if (!failed && connection.lost) failed = connection.error(nullptr);
        return failed;
    }

private:
    bool preparing(const PgStatement& s) const {
        for (const Sent& sent : sent_) {
            if (sent.statement == &s && sent.part == Sent::Part::Preparation) return true;
        }
        return false;
    }
    std::vector<Sent> sent_;
    bool ok_ = true;
};

}  // namespace

Result<void> PgConnection::run_together(std::span<PgStatement* const> statements) {
    if (lost) return std::unexpected(error(nullptr));
    drain();
    if (!pg::has_pipelines()) {
        BUNRAKU_ASSERT(deferred.empty());
        for (PgStatement* s : statements) {
            BUNRAKU_TRY(s->step());
            s->row = -1;
        }
        return {};
    }
    const std::vector<Deferred> before = std::exchange(deferred, {});
    deferred_bytes = 0;
    if (!libpq().enterPipelineMode(raw)) return std::unexpected(error(nullptr));
    Pipeline pipeline;
    for (const Deferred& d : before) {
        pipeline.send(*d.statement, d.values, Sent::Part::Deferred);
    }
    for (PgStatement* s : statements) {
        BUNRAKU_ASSERT(s->connection == this && !s->started && !s->streaming);
        s->started = true;
        s->row = -1;
        s->rows = 0;
        pipeline.send(*s, s->bound(), Sent::Part::Whole);
    }
    auto failed = pipeline.receive(*this);
    if (!libpq().exitPipelineMode(raw)) lost = true;
    if (failed) return std::unexpected(std::move(*failed));
    return {};
}

Result<void> PgConnection::run_deferred() {
    if (lost) return std::unexpected(error(nullptr));
    return deferred.empty() ? Result<void>{} : run_together({});
}

void PgConnection::discard_deferred() {
    deferred.clear();
    deferred_bytes = 0;
}

Result<void> PgStatement::run_later() {
    // Unnamed statements end with their owner. Outside of a transaction, nothing may follow.
    if (!pg::has_pipelines() || name.empty() ||
        libpq().transactionStatus(connection->raw) != PQTRANS_INTRANS) {
        BUNRAKU_TRY(step());
        return {};
    }
    BUNRAKU_ASSERT(!started && !streaming);
    bound();
    for (const Value& v : values) connection->deferred_bytes += v.bytes.size();
    connection->deferred.push_back({this, std::exchange(values, {})});
    return connection->deferred_bytes > kMaxDeferred ? connection->run_deferred() : Result<void>{};
}

}  // namespace bunraku::store
