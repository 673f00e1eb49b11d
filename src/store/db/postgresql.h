// SPDX-License-Identifier: Apache-2.0
// The parts of a libpq connection that database.cc and postgresql.cc share.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/db/database.h"

struct pg_conn;
struct pg_result;
struct pg_cancel;

namespace bunraku::store {

struct PgStatement {
    PgConnection* connection = nullptr;
    std::string sql;   ///< with "$1" placeholders
    std::string name;  ///< name of the prepared statement; empty if it runs unnamed
    int parameters = 0;
    bool prepared = false;
    bool busy = false;
    bool streaming = false;
    bool started = false;

    struct Value {
        std::string bytes;
        int format = 0;  ///< 1 means binary
        unsigned type = 0;
        bool null = true;
    };
    std::vector<Value> values;
    pg_result* result = nullptr;
    int row = -1, rows = 0;
    bool more = false;    ///< true while streaming if the connection has results left
    std::string decoded;  ///< the blob that was read last
    bool was_busy = false;

    Value& value(int n);
    /// Returns a value for each parameter.
    const std::vector<Value>& bound();
    /// Sends the preparation of the statement, or the statement. Returns false if it failed.
    bool send_preparation(const std::vector<Value>& bound);
    bool send(const std::vector<Value>& bound);
    Result<bool> step();
    /// See Statement::run_later(). Takes the bound values.
    Result<void> run_later();
    void clear();
    ~PgStatement();
};

struct PgConnection {
    pg_conn* raw = nullptr;
    pg_cancel* cancel = nullptr;
    std::string shown;
    std::unordered_map<std::string, std::unique_ptr<PgStatement>> cache;
    std::list<std::unique_ptr<PgStatement>> loose;
    std::int64_t changes = 0;
    unsigned counter = 0;
    bool any_values = false;    ///< see Database::plan_for_any_values()
    mutable bool lost = false;  ///< true if the connection is unusable, even if the socket is open
    bool silent = false;        ///< true if it is lost because the server hangs
    int silence_s = 10;         ///< after this time without a response, the server is checked
    std::stop_token stop;       ///< see WaitLimits
    PgStatement* streaming = nullptr;

    /// A statement that is sent together with the next one; see Statement::run_later().
    struct Deferred {
        PgStatement* statement;
        std::vector<PgStatement::Value> values;
    };
    std::vector<Deferred> deferred;
    std::size_t deferred_bytes = 0;

    Result<void> execute(const std::string& sql);
    /// Runs the deferred statements and these in one round trip, or one by one if libpq has no
    /// pipelines; see Database::run_together().
    Result<void> run_together(std::span<PgStatement* const> statements);
    /// Runs the deferred statements. Fails if the connection is lost.
    Result<void> run_deferred();
    void discard_deferred();
    base::Error error(const pg_result* result) const;
    /// Waits until the socket is ready. Returns false, and marks the connection as lost, if the
    /// server neither responds to it nor to new connections.
    bool wait(short events);
    /// Sends everything that libpq has buffered. Returns false if the connection failed.
    bool flush();
    /// Returns the next result of the running statement. Returns null after the last one, and if
    /// the server hangs.
    pg_result* receive();
    /// Returns the last result of the running statement, or the one that begins a COPY.
    pg_result* receive_last();
    void drain();
    /// Discards the remaining results without cancelling; for use after the last row was read.
    void finish();
    ~PgConnection();
};

/// Waits check this often whether they have to stop.
inline constexpr std::chrono::milliseconds kStopSlice{100};

/// Parameters of libpq. A value overrides those before it; "dbname" is the URL.
using Parameters = std::vector<std::pair<const char*, const char*>>;

/// Connects to the first host of the URL that accepts the connection, and waits `seconds` for each
/// of its addresses. Returns libpq's messages if no host accepts it.
Result<pg_conn*> connect_to(const std::string& url, const Parameters& parameters, int seconds,
                            const std::stop_token& stop);

/// Reports whether the server of the connection answers a new connection, even if it refuses it.
bool server_answers(pg_conn* connection, int seconds, const std::stop_token& stop);

/// Replaces "?" with "$n", except in literals, quoted names and comments. Sets `count` to the
/// number of parameters.
std::string numbered_placeholders(std::string_view sql, int* count);

}  // namespace bunraku::store
