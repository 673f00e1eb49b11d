// SPDX-License-Identifier: Apache-2.0
// The PostgreSQL backend, on libpq: prepared statements, values in text format (bytes in binary
// format), results in text format.
#include "store/db/postgresql.h"

#include <charconv>
#include <fmt/format.h>
#include <poll.h>
#include <string.h>
#include <utility>
#include <vector>

#include "core/base/assert.h"
#include "store/db/libpq.h"
#include "store/db/postgresql_values.h"

namespace bunraku::store {

namespace {

constexpr unsigned kByteaOid = 17, kInt8Oid = 20, kInt2Oid = 21, kInt4Oid = 23, kFloat4Oid = 700,
                   kFloat8Oid = 701, kNumericOid = 1700, kBoolOid = 16, kOidOid = 26,
                   kInt8ArrayOid = 1016, kTextArrayOid = 1009, kByteaArrayOid = 1001;

/// Removes the line break at the end of a libpq message, and the "ERROR: " prefix.
std::string trimmed(const char* message) {
    std::string out = message ? message : "";
    while (!out.empty() && (out.back() == '\n' || out.back() == ' ')) out.pop_back();
    return out;
}

Failure kind_of(const char* state, bool connection_bad) {
    if (connection_bad) return Failure::Unavailable;
    if (!state) return Failure::Other;
    std::string_view s(state);
    // 25006 means that the server is a standby (after a failover). 58 means that the server cannot
    // read or write its files.
    if (s.starts_with("08") || s.starts_with("57P") || s == "25006" || s.starts_with("58")) {
        return Failure::Unavailable;
    }
    // The session does not know the prepared statement, or no longer knows it.
    if (s == "26000") return Failure::Unavailable;
    if (s == "57014") return Failure::Timeout;
    if (s.starts_with("40") || s == "55P03") return Failure::Retry;
    if (s == "53100") return Failure::Full;
    if (s.starts_with("53")) return Failure::Retry;
    if (s.starts_with("23")) return Failure::Constraint;
    if (s.starts_with("22") || s.starts_with("42") || s == "2201B") return Failure::Query;
    return Failure::Other;
}

int nibble(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

void append_array_text(std::string& out, std::string_view text) {
    out += '"';
    for (char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    out += '"';
}

}  // namespace

std::string numbered_placeholders(std::string_view sql, int* count) {
    std::string out;
    out.reserve(sql.size() + 16);
    int next = 0, highest = 0;
    for (std::size_t i = 0; i < sql.size(); ++i) {
        char c = sql[i];
        if (c == '\'' || c == '"') {
            std::size_t end = sql.find(c, i + 1);
            if (end == std::string_view::npos) end = sql.size() - 1;
            out += sql.substr(i, end - i + 1);
            i = end;
        } else if (c == '-' && i + 1 < sql.size() && sql[i + 1] == '-') {
            std::size_t end = std::min(sql.find('\n', i), sql.size());
            i = end == sql.size() ? end : end - 1;
            out += ' ';
        } else if (c == '?' && i + 1 < sql.size() && sql[i + 1] == '?') {
            out += '?';
            ++i;
        } else if (c == '?') {
            std::size_t at = i + 1;
            int number = 0;
            while (at < sql.size() && sql[at] >= '0' && sql[at] <= '9' && number < 70000) {
                number = number * 10 + (sql[at++] - '0');
            }
            if (at == i + 1) number = ++next;
            i = at - 1;
            highest = std::max(highest, number);
            out += fmt::format("${}", number);
        } else {
            out += c;
        }
    }
    *count = highest;
    return out;
}

PgStatement::Value& PgStatement::value(int n) {
    BUNRAKU_ASSERT(n >= 1);
    if (static_cast<std::size_t>(n) > values.size()) values.resize(static_cast<std::size_t>(n));
    return values[static_cast<std::size_t>(n) - 1];
}

void PgStatement::clear() {
    if (more && connection->streaming == this) connection->drain();
    BUNRAKU_ASSERT(connection->streaming != this);
    more = false;
    if (result) libpq().clear(result);
    result = nullptr;
    row = -1;
    rows = 0;
    started = false;
    streaming = false;
    values.clear();
}

PgStatement::~PgStatement() {
    if (result) libpq().clear(result);
}

const std::vector<PgStatement::Value>& PgStatement::bound() {
    value(std::max(parameters, 1));
    return values;
}

bool PgStatement::send_preparation(const std::vector<Value>& bound) {
    std::vector<Oid> types;
    for (int i = 0; i < parameters; ++i) types.push_back(bound[static_cast<std::size_t>(i)].type);
    return libpq().sendPrepare(connection->raw, name.c_str(), sql.c_str(), parameters,
                               types.data()) != 0;
}

bool PgStatement::send(const std::vector<Value>& bound) {
    PGconn* conn = connection->raw;
    BUNRAKU_ASSERT(bound.size() >= static_cast<std::size_t>(parameters));
    std::vector<const char*> data;
    std::vector<int> lengths, formats;
    std::vector<Oid> types;
    auto n = static_cast<std::size_t>(parameters);
    data.reserve(n), lengths.reserve(n), formats.reserve(n), types.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
        const Value& v = bound[i];
        data.push_back(v.null ? nullptr : v.bytes.c_str());
        lengths.push_back(static_cast<int>(v.bytes.size()));
        formats.push_back(v.format);
        types.push_back(v.type);
    }
    const int sent = !name.empty()
                         ? libpq().sendQueryPrepared(conn, name.c_str(), parameters, data.data(),
                                                     lengths.data(), formats.data(), 0)
                         : libpq().sendQueryParams(conn, sql.c_str(), parameters, types.data(),
                                                   data.data(), lengths.data(), formats.data(), 0);
    return sent != 0;
}

Result<bool> PgStatement::step() {
    if (started) {
        if (row + 1 < rows) {
            ++row;
            return true;
        }
        if (!more) {
            row = rows;
            return false;
        }
    }
    PGconn* conn = connection->raw;
    if (connection->lost) return std::unexpected(connection->error(nullptr));
    if (!started && !connection->deferred.empty()) {
        PgStatement* const self[] = {this};
        BUNRAKU_TRY_VOID(connection->run_together(std::span(self, streaming ? 0U : 1U)));
        if (!streaming) return step();
    }
    if (!started) {
        connection->drain();
        started = true;
        if (!name.empty() && !prepared) {
            send_preparation(bound());
            PGresult* r = connection->receive_last();
            bool ok = libpq().resultStatus(r) == PGRES_COMMAND_OK;
            if (!ok) {
                base::Error e = connection->error(r);
                libpq().clear(r);
                return std::unexpected(std::move(e));
            }
            libpq().clear(r);
            prepared = true;
        }
        if (!send(bound())) return std::unexpected(connection->error(nullptr));
        if (streaming) {
            libpq().setSingleRowMode(conn);
            connection->streaming = this;
            more = true;
        } else {
            result = connection->receive_last();
            if (!result) return std::unexpected(connection->error(nullptr));
        }
    }
    if (more) {
        if (result) libpq().clear(result);
        result = connection->receive();
        if (!result && connection->lost) {
            connection->finish();
            row = rows = 0;
            return std::unexpected(connection->error(nullptr));
        }
        if (!result) {
            more = false;
            connection->streaming = nullptr;
            row = rows = 0;
            return false;
        }
    }
    ExecStatusType status = libpq().resultStatus(result);
    if (status == PGRES_SINGLE_TUPLE) {
        row = 0;
        rows = 1;
        return true;
    }
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
        const char* tuples = libpq().cmdTuples(result);
        connection->changes = tuples && *tuples ? strtoll(tuples, nullptr, 10) : 0;
        row = 0;
        rows = libpq().ntuples(result);
        if (more) connection->finish();
        return rows > 0;
    }
    base::Error e = connection->error(result);
    if (more) connection->finish();
    rows = 0;
    row = 0;
    return std::unexpected(std::move(e));
}

base::Error PgConnection::error(const pg_result* result) const {
    bool bad = lost || libpq().status(raw) == CONNECTION_BAD;
    const char* state = result ? libpq().resultErrorField(result, PG_DIAG_SQLSTATE) : nullptr;
    std::string why =
        trimmed(result ? libpq().resultErrorMessage(result) : libpq().errorMessage(raw));
    if (why.empty()) why = trimmed(libpq().errorMessage(raw));
    if (silent) why = "the server does not respond";
    Failure kind = kind_of(state, bad);
    // Another server has changed a table that a prepared statement uses ("cached plan must not
    // change result type"). The check uses the source function because the message depends on the
    // server's language.
    const char* place =
        result ? libpq().resultErrorField(result, PG_DIAG_SOURCE_FUNCTION) : nullptr;
    if (place && std::string_view(place) == "RevalidateCachedQuery") kind = Failure::Unavailable;
    // A server that became a standby, or that is about to shut down, keeps the connection but
    // cannot be used.
    if (kind == Failure::Unavailable) lost = true;
    std::string message;
    if (kind == Failure::Query) {
        message = why;  // PostgreSQL's message about the user's regular expression or number.
    } else {
        message = fmt::format("Could not use the store {}: {}", shown, why);
    }
    return {std::move(message), static_cast<int>(kind)};
}

void PgConnection::drain() {
    if (!streaming) return;
    // Cancelling is cheaper than reading the rest of a result that is not needed.
    if (!lost && libpq().transactionStatus(raw) == PQTRANS_ACTIVE && cancel) {
        char text[256];
        libpq().cancel(cancel, text, sizeof text);
    }
    finish();
}

void PgConnection::finish() {
    if (streaming) streaming->more = false;
    streaming = nullptr;
    while (PGresult* r = receive()) libpq().clear(r);
    BUNRAKU_ASSERT(streaming == nullptr);
}

Result<void> PgConnection::execute(const std::string& sql) {
    BUNRAKU_TRY_VOID(run_deferred());
    drain();
    if (!libpq().sendQuery(raw, sql.c_str())) return std::unexpected(error(nullptr));
    PGresult* r = receive_last();
    ExecStatusType status = libpq().resultStatus(r);
    bool ok =
        status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY;
    if (!ok) {
        base::Error e = error(r);
        libpq().clear(r);
        return std::unexpected(std::move(e));
    }
    const char* tuples = libpq().cmdTuples(r);
    changes = tuples && *tuples ? strtoll(tuples, nullptr, 10) : 0;
    libpq().clear(r);
    return {};
}

PgConnection::~PgConnection() {
    cache.clear();
    loose.clear();
    if (cancel) libpq().freeCancel(cancel);
    if (raw) libpq().finish(raw);
}

// --- Connection side of Database and Statement

namespace {

struct UrlOptions {
    bool several_hosts = false;
    int connect_timeout_s = 10;
};

UrlOptions options_of(const std::string& url) {
    UrlOptions out;
    PQconninfoOption* all = libpq().conninfoParse(url.c_str(), nullptr);
    for (const PQconninfoOption* o = all; o && o->keyword; ++o) {
        if (!o->val) continue;
        const std::string_view keyword = o->keyword, value = o->val;
        if (keyword == "host" || keyword == "hostaddr") {
            out.several_hosts |= value.find(',') != std::string_view::npos;
        } else if (keyword == "connect_timeout") {
            int seconds = 0;
            std::from_chars(value.data(), value.data() + value.size(), seconds);
            if (seconds > 0) out.connect_timeout_s = seconds;
        }
    }
    if (all) libpq().conninfoFree(all);
    return out;
}

}  // namespace

Result<void> Database::open_postgresql(const std::string& url, Session kind,
                                       const WaitLimits& limits) {
    if (auto loaded = load_libpq(); !loaded) {
        return base::failure(loaded.error().message, static_cast<int>(Failure::Other));
    }
    pg_ = std::make_unique<PgConnection>();
    // The password must never appear in messages.
    std::string shown = url;
    std::size_t at = shown.find('@'), scheme = shown.find("://");
    if (at != std::string::npos && scheme != std::string::npos) {
        std::size_t colon = shown.find(':', scheme + 3);
        if (colon < at) shown.erase(colon, at - colon);
    }
    std::size_t secret = shown.find("password=");
    if (secret != std::string::npos) {
        std::size_t end = std::min(shown.find('&', secret), shown.size());
        shown.replace(secret, end - secret, "password=***");
    }
    path_ = pg_->shown = shown;
    // The URL overrides parameters listed before "dbname", but not those listed after it. A server
    // whose machine loses power sends nothing; the connection fails after half a minute.
    Parameters parameters = {{"keepalives_idle", "10"},
                             {"keepalives_interval", "5"},
                             {"keepalives_count", "4"},
                             {"tcp_user_timeout", "30000"}};
    // If the URL names several hosts, reads use the host that accepts writes, because only that one
    // has every acknowledged change.
    const UrlOptions options = options_of(url);
    if (kind == Session::Read && options.several_hosts) {
        parameters.emplace_back("target_session_attrs", "read-write");
    }
    parameters.insert(parameters.end(), {{"dbname", url.c_str()},
                                         {"fallback_application_name", "bunraku"},
                                         {"client_encoding", "UTF8"}});
    if (kind == Session::Write) parameters.emplace_back("target_session_attrs", "read-write");
    const int seconds = limits.connect_s > 0 ? limits.connect_s : options.connect_timeout_s;
    auto connected = connect_to(url, parameters, seconds, limits.stop);
    if (!connected) {
        return base::failure(fmt::format("Could not open the store {}: {}", shown,
                                         trimmed(connected.error().message.c_str())),
                             static_cast<int>(Failure::Unavailable));
    }
    pg_->raw = *connected;
    pg_->stop = limits.stop;
    pg_->silence_s = options.connect_timeout_s;
    libpq().setnonblocking(pg_->raw, 1);
    libpq().setNoticeProcessor(pg_->raw, [](void*, const char*) {}, nullptr);
    pg_->cancel = libpq().getCancel(pg_->raw);
    // jit slows down short queries. The cost 1.1 assumes that most pages that are read often are in
    // memory. The server's usual compression takes ten times as long as lz4 for the edges of a
    // catalog. A server that was built without lz4, or older than version 14, keeps its own.
    return pg_->execute(
        std::string("SET jit = off; SET timezone = 'UTC'; SET extra_float_digits = 1;"
                    " SET standard_conforming_strings = on; SET search_path TO DEFAULT;") +
        (kind != Session::Write
             ? " SET default_transaction_read_only = on; SET random_page_cost = 1.1"
             : " SELECT set_config(name, 'lz4', false) FROM pg_settings"
               " WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)"));
}

bool Database::plans_for_any_values() const { return pg_ && pg_->any_values; }

Result<void> Database::plan_for_any_values(bool any) {
    if (!pg_ || pg_->any_values == any) return {};
    pg_->any_values = any;
    return pg_->execute(any ? "SET plan_cache_mode = force_generic_plan"
                            : "SET plan_cache_mode = auto");
}

Result<Statement> Database::prepare_postgresql(std::string_view sql, bool keep) {
    BUNRAKU_ASSERT(pg_ != nullptr);
    auto make = [&](std::string name) {
        auto s = std::make_unique<PgStatement>();
        s->connection = pg_.get();
        s->sql = numbered_placeholders(sql, &s->parameters);
        s->name = std::move(name);
        return s;
    };
    if (keep) {
        auto found = pg_->cache.find(std::string(sql));
        if (found == pg_->cache.end()) {
            found = pg_->cache.emplace(sql, make(fmt::format("s{}", ++pg_->counter))).first;
        }
        if (!found->second->busy) {
            BUNRAKU_ASSERT(found->second->connection == pg_.get());
            found->second->busy = true;
            return Statement(this, found->second.get(), false);
        }
    }
    pg_->loose.push_back(make(""));
    pg_->loose.back()->busy = true;
    return Statement(this, pg_->loose.back().get(), true);
}

Statement& Statement::bind_array(std::span<const std::int64_t> numbers) {
    BUNRAKU_ASSERT(pg_ != nullptr);
    PgStatement::Value& v = pg_->value(next_++);
    v.null = false;
    v.type = kInt8ArrayOid;
    v.bytes = "{";
    v.bytes.reserve(numbers.size() * 8 + 2);
    for (std::int64_t n : numbers) {
        if (v.bytes.size() > 1) v.bytes += ',';
        char text[24];
        v.bytes.append(text, std::to_chars(text, text + sizeof text, n).ptr);
    }
    v.bytes += '}';
    return *this;
}

Statement& Statement::bind_array(std::span<const std::string_view> texts) {
    BUNRAKU_ASSERT(pg_ != nullptr);
    PgStatement::Value& v = pg_->value(next_++);
    v.null = false;
    v.type = kTextArrayOid;
    v.bytes = "{";
    for (std::string_view text : texts) {
        if (v.bytes.size() > 1) v.bytes += ',';
        if (text.data() == nullptr) {
            v.bytes += "NULL";
        } else {
            append_array_text(v.bytes, text);
        }
    }
    v.bytes += '}';
    return *this;
}

Statement& Statement::bind_blob_array(std::span<const std::string_view> blobs) {
    BUNRAKU_ASSERT(pg_ != nullptr);
    // The binary format of an array: dimensions, flags, element type, then each element with its
    // length.
    PgStatement::Value& v = pg_->value(next_++);
    v.null = false;
    v.format = 1;
    v.type = kByteaArrayOid;
    auto put = [&](std::uint32_t n) {
        for (int shift = 24; shift >= 0; shift -= 8) v.bytes += static_cast<char>(n >> shift);
    };
    put(blobs.empty() ? 0 : 1);
    put(0);
    put(kByteaOid);
    if (!blobs.empty()) {
        put(static_cast<std::uint32_t>(blobs.size()));
        put(1);
    }
    for (std::string_view blob : blobs) {
        put(static_cast<std::uint32_t>(blob.size()));
        v.bytes += blob;
    }
    return *this;
}

namespace pg {

void bind_text(PgStatement& s, int n, std::string_view text) {
    PgStatement::Value& v = s.value(n);
    v.null = false;
    v.bytes = text;
}

void bind_integer(PgStatement& s, int n, std::int64_t number) {
    PgStatement::Value& v = s.value(n);
    v.null = false;
    v.type = kInt8Oid;
    char text[24];
    v.bytes.assign(text, std::to_chars(text, text + sizeof text, number).ptr);
}

void bind_real(PgStatement& s, int n, double number) {
    PgStatement::Value& v = s.value(n);
    v.null = false;
    v.type = kFloat8Oid;
    v.bytes = fmt::format("{}", number);
}

void bind_blob(PgStatement& s, int n, std::string_view bytes) {
    PgStatement::Value& v = s.value(n);
    v.null = false;
    v.format = 1;
    v.type = kByteaOid;
    v.bytes = bytes;
}

int columns(const PgStatement& s) { return s.result ? libpq().nfields(s.result) : 0; }
std::string_view name(const PgStatement& s, int column) {
    const char* p = s.result ? libpq().fname(s.result, column) : nullptr;
    return p ? p : "";
}
bool is_null(const PgStatement& s, int column) {
    return !s.result || libpq().getisnull(s.result, s.row, column);
}
std::string_view text(const PgStatement& s, int column) {
    if (!s.result) return {};
    return {libpq().getvalue(s.result, s.row, column),
            static_cast<std::size_t>(libpq().getlength(s.result, s.row, column))};
}
std::int64_t integer(const PgStatement& s, int column) {
    std::string_view t = text(s, column);
    if (t == "t") return 1;
    std::int64_t out = 0;
    std::from_chars(t.data(), t.data() + t.size(), out);
    return out;
}
double real(const PgStatement& s, int column) {
    std::string t(text(s, column));
    return strtod(t.c_str(), nullptr);
}
std::string_view blob(PgStatement& s, int column) {
    std::string_view t = text(s, column);
    if (!t.starts_with("\\x")) return t;
    s.decoded.clear();
    for (std::size_t i = 2; i + 1 < t.size(); i += 2) {
        s.decoded += static_cast<char>(nibble(t[i]) << 4 | nibble(t[i + 1]));
    }
    return s.decoded;
}
Statement::Type type(const PgStatement& s, int column) {
    if (is_null(s, column)) return Statement::Type::Null;
    switch (libpq().ftype(s.result, column)) {
        case kInt8Oid:
        case kInt4Oid:
        case kInt2Oid:
        case kOidOid:
        case kBoolOid: return Statement::Type::Integer;
        case kFloat4Oid:
        case kFloat8Oid:
        case kNumericOid: return Statement::Type::Real;
        case kByteaOid: return Statement::Type::Blob;
        default: return Statement::Type::Text;
    }
}
void release(PgStatement* s, bool once) {
    BUNRAKU_ASSERT(s->busy);
    s->clear();
    s->busy = false;
    if (!once) return;
    PgConnection* c = s->connection;
    c->loose.remove_if([&](const std::unique_ptr<PgStatement>& p) { return p.get() == s; });
}
bool has_pipelines() { return libpq().enterPipelineMode != nullptr; }
void interrupt(PgConnection& c) {
    char text[256];
    if (c.cancel) libpq().cancel(c.cancel, text, sizeof text);
}
bool healthy(const PgConnection& c) {
    if (c.lost || libpq().status(c.raw) != CONNECTION_OK) return false;
    PGTransactionStatusType state = libpq().transactionStatus(c.raw);
    if (state == PQTRANS_UNKNOWN) return false;
    if (state != PQTRANS_IDLE) return true;
    // Unsolicited data from the server means that it is closing the connection.
    pollfd waiting{libpq().socket(c.raw), POLLIN | POLLRDHUP, 0};
    return ::poll(&waiting, 1, 0) == 0;
}

}  // namespace pg

}  // namespace bunraku::store
