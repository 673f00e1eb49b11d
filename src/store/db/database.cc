// SPDX-License-Identifier: Apache-2.0
#include "store/db/database.h"

#include <chrono>
#include <fmt/format.h>
#include <sqlite3.h>
#include <utility>
#include <vector>

#include "core/base/assert.h"
#include "store/db/postgresql_values.h"
#include "store/db/sqlite_functions.h"

namespace bunraku::store {

namespace {

std::int64_t steady_ms() {
    using namespace std::chrono;
    return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

Failure sqlite_failure(int code) {
    switch (code & 0xff) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED: return Failure::Retry;
        case SQLITE_FULL: return Failure::Full;
        case SQLITE_CONSTRAINT: return Failure::Constraint;
        case SQLITE_INTERRUPT: return Failure::Timeout;
        case SQLITE_ERROR:
        case SQLITE_MISMATCH:
        case SQLITE_TOOBIG: return Failure::Query;
        case SQLITE_IOERR:
        case SQLITE_CANTOPEN:
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
        case SQLITE_NOMEM: return Failure::Unavailable;
        default: return Failure::Other;
    }
}

}  // namespace

Failure failure_of(const base::Error& error) {
    if (error.code <= static_cast<int>(Failure::None)) return Failure::Other;
    if (error.code < static_cast<int>(Failure::Other) ||
        error.code > static_cast<int>(Failure::Timeout)) {
        return Failure::Other;
    }
    return static_cast<Failure>(error.code);
}

bool is_postgresql_url(std::string_view where) {
    return where.starts_with("postgresql://") || where.starts_with("postgres://");
}

Statement::Statement(Statement&& other) noexcept
    : db_(other.db_),
      raw_(std::exchange(other.raw_, nullptr)),
      pg_(std::exchange(other.pg_, nullptr)),
      next_(other.next_),
      failed_(other.failed_),
      once_(other.once_) {}

Statement::~Statement() {
    if (pg_) pg::release(pg_, once_);
    if (!raw_) return;
    if (once_) {
        sqlite3_finalize(raw_);
        return;
    }
    sqlite3_reset(raw_);
    sqlite3_clear_bindings(raw_);
}

Statement& Statement::bind(std::string_view text) {
    if (pg_) {
        pg::bind_text(*pg_, next_++, text);
        return *this;
    }
    BUNRAKU_ASSERT(raw_ && next_ <= sqlite3_bind_parameter_count(raw_));
    // An empty view may have a null address, which SQLite would store as NULL.
    int rc = sqlite3_bind_text64(raw_, next_++, text.empty() ? "" : text.data(), text.size(),
                                 SQLITE_TRANSIENT, SQLITE_UTF8);
    if (rc != SQLITE_OK && failed_ == 0) failed_ = rc;
    return *this;
}

Statement& Statement::bind(std::int64_t number) {
    if (pg_) {
        pg::bind_integer(*pg_, next_++, number);
        return *this;
    }
    BUNRAKU_ASSERT(raw_ && next_ <= sqlite3_bind_parameter_count(raw_));
    int rc = sqlite3_bind_int64(raw_, next_++, number);
    if (rc != SQLITE_OK && failed_ == 0) failed_ = rc;
    return *this;
}

Statement& Statement::bind(double number) {
    if (pg_) {
        pg::bind_real(*pg_, next_++, number);
        return *this;
    }
    BUNRAKU_ASSERT(raw_ && next_ <= sqlite3_bind_parameter_count(raw_));
    int rc = sqlite3_bind_double(raw_, next_++, number);
    if (rc != SQLITE_OK && failed_ == 0) failed_ = rc;
    return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
    if (pg_) {
        pg::bind_blob(*pg_, next_++, bytes);
        return *this;
    }
    BUNRAKU_ASSERT(raw_ && next_ <= sqlite3_bind_parameter_count(raw_));
    int rc = sqlite3_bind_blob64(raw_, next_++, bytes.empty() ? "" : bytes.data(), bytes.size(),
                                 SQLITE_TRANSIENT);
    if (rc != SQLITE_OK && failed_ == 0) failed_ = rc;
    return *this;
}

Statement& Statement::bind_null() {
    if (pg_) {
        pg_->value(next_++).null = true;
        return *this;
    }
    BUNRAKU_ASSERT(raw_ && next_ <= sqlite3_bind_parameter_count(raw_));
    int rc = sqlite3_bind_null(raw_, next_++);
    if (rc != SQLITE_OK && failed_ == 0) failed_ = rc;
    return *this;
}

Statement& Statement::bind_optional(std::string_view text) {
    return text.empty() ? bind_null() : bind(text);
}

Result<bool> Statement::step() {
    if (pg_) return pg_->step();
    BUNRAKU_ASSERT(raw_ != nullptr);
    if (failed_ != 0) return std::unexpected(db_->error("use", failed_));
    if (db_->limit_ms_ > 0 && !sqlite3_stmt_busy(raw_)) {
        db_->deadline_ = steady_ms() + db_->limit_ms_;
    }
    int rc = sqlite3_step(raw_);
    if (rc == SQLITE_ROW) return true;
    if (rc == SQLITE_DONE) return false;
    return std::unexpected(db_->error("use", rc));
}

Result<void> Statement::run() {
    while (BUNRAKU_TRY(step())) {
        if (pg_ && !pg_->streaming) break;  // The whole statement has run already.
    }
    return {};
}

Result<void> Statement::run_later() {
    BUNRAKU_TRY_VOID(pg_ ? pg_->run_later() : run());
    reset();
    return {};
}

void Statement::reset() {
    BUNRAKU_ASSERT(raw_ || pg_);
    next_ = 1;
    failed_ = 0;
    if (pg_) {
        pg_->clear();
    } else {
        sqlite3_reset(raw_);
    }
}

void Statement::stream() {
    if (pg_) pg_->streaming = true;
}

int Statement::columns() const { return pg_ ? pg::columns(*pg_) : sqlite3_column_count(raw_); }

std::string_view Statement::name(int column) const {
    if (pg_) return pg::name(*pg_, column);
    BUNRAKU_ASSERT(column >= 0 && column < sqlite3_column_count(raw_));
    const char* p = sqlite3_column_name(raw_, column);
    return p ? p : "";
}

bool Statement::is_null(int column) const {
    if (pg_) return pg::is_null(*pg_, column);
    BUNRAKU_ASSERT(column >= 0 && column < sqlite3_column_count(raw_));
    return sqlite3_column_type(raw_, column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
    return pg_ ? pg::integer(*pg_, column) : sqlite3_column_int64(raw_, column);
}

double Statement::real(int column) const {
    return pg_ ? pg::real(*pg_, column) : sqlite3_column_double(raw_, column);
}

std::string_view Statement::text(int column) const {
    if (pg_) return pg::text(*pg_, column);
    BUNRAKU_ASSERT(column >= 0 && column < sqlite3_column_count(raw_));
    auto* p = reinterpret_cast<const char*>(sqlite3_column_text(raw_, column));
    if (!p) return {};
    return {p, static_cast<std::size_t>(sqlite3_column_bytes(raw_, column))};
}

std::string_view Statement::blob(int column) const {
    if (pg_) return pg::blob(*pg_, column);
    BUNRAKU_ASSERT(column >= 0 && column < sqlite3_column_count(raw_));
    auto* p = static_cast<const char*>(sqlite3_column_blob(raw_, column));
    if (!p) return {};
    return {p, static_cast<std::size_t>(sqlite3_column_bytes(raw_, column))};
}

Statement::Type Statement::type(int column) const {
    if (pg_) return pg::type(*pg_, column);
    BUNRAKU_ASSERT(column >= 0 && column < sqlite3_column_count(raw_));
    switch (sqlite3_column_type(raw_, column)) {
        case SQLITE_INTEGER: return Type::Integer;
        case SQLITE_FLOAT: return Type::Real;
        case SQLITE_TEXT: return Type::Text;
        case SQLITE_BLOB: return Type::Blob;
        default: return Type::Null;
    }
}

Database::Database() = default;

Result<std::unique_ptr<Database>> Database::open(const std::string& where, Access access,
                                                 int busy_timeout_ms, const WaitLimits& limits) {
    std::unique_ptr<Database> db(new Database);
    if (is_postgresql_url(where)) {
        BUNRAKU_TRY_VOID(db->open_postgresql(
            where, access == Access::Read ? Session::Read : Session::Write, limits));
        return db;
    }
    db->path_ = where;
    int flags = access == Access::Read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    int rc = sqlite3_open_v2(where.c_str(), &db->raw_, flags | SQLITE_OPEN_NOMUTEX, nullptr);
    if (rc != SQLITE_OK) return std::unexpected(db->error("open", rc));
    sqlite3_extended_result_codes(db->raw_, 1);
    sqlite3_busy_timeout(db->raw_, busy_timeout_ms);
    register_sqlite_functions(db->raw_);
    return db;
}

Result<std::unique_ptr<Database>> Database::open_replica(const std::string& url,
                                                         const WaitLimits& limits) {
    std::unique_ptr<Database> db(new Database);
    BUNRAKU_TRY_VOID(db->open_postgresql(url, Session::Replica, limits));
    return db;
}

Database::~Database() {
    for (auto& [text, statement] : cache_) sqlite3_finalize(statement);
    if (raw_) sqlite3_close_v2(raw_);
}

Result<Statement> Database::prepare(std::string_view sql) {
    if (pg_) return prepare_postgresql(sql, true);
    BUNRAKU_ASSERT(raw_ != nullptr);
    auto found = cache_.find(sql);
    if (found != cache_.end()) {
        // If the cached statement is still in use by a caller, a second one is prepared. The cache
        // owns it too.
        if (!sqlite3_stmt_busy(found->second)) return Statement(this, found->second, false);
    }
    sqlite3_stmt* raw = nullptr;
    int rc = sqlite3_prepare_v3(raw_, sql.data(), static_cast<int>(sql.size()),
                                SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
    if (rc != SQLITE_OK) return std::unexpected(error("use", rc));
    std::string key(sql);
    while (!cache_.emplace(key, raw).second) key += ' ';
    return Statement(this, raw, false);
}

Result<Statement> Database::prepare_once(std::string_view sql) {
    if (pg_) return prepare_postgresql(sql, false);
    BUNRAKU_ASSERT(raw_ != nullptr);
    sqlite3_stmt* raw = nullptr;
    int rc = sqlite3_prepare_v3(raw_, sql.data(), static_cast<int>(sql.size()), 0, &raw, nullptr);
    if (rc != SQLITE_OK) return std::unexpected(error("use", rc));
    return Statement(this, raw, true);
}

Result<void> Database::execute(const std::string& sql) {
    if (pg_) return pg_->execute(sql);
    BUNRAKU_ASSERT(raw_ != nullptr);
    int rc = sqlite3_exec(raw_, sql.c_str(), nullptr, nullptr, nullptr);
    if (rc != SQLITE_OK) return std::unexpected(error("use", rc));
    return {};
}

Result<void> Database::run_together(std::initializer_list<Statement*> statements) {
    BUNRAKU_ASSERT(pg_ != nullptr);
    std::vector<PgStatement*> all;
    for (const Statement* s : statements) {
        if (s) all.push_back(s->pg_);
    }
    return pg_->run_together(all);
}

bool Database::pipelines() const { return pg_ && pg::has_pipelines(); }

std::int64_t Database::last_id() const { return raw_ ? sqlite3_last_insert_rowid(raw_) : 0; }

std::int64_t Database::changes() const { return pg_ ? pg_->changes : sqlite3_changes64(raw_); }

int Database::on_progress(void* self) {
    auto* db = static_cast<Database*>(self);
    return db->limit_ms_ > 0 && steady_ms() > db->deadline_ ? 1 : 0;
}

Result<void> Database::set_time_limit(std::int64_t milliseconds) {
    if (milliseconds == limit_ms_) return {};
    limit_ms_ = milliseconds;
    if (pg_) return pg_->execute(fmt::format("SET statement_timeout = {}", milliseconds));
    sqlite3_progress_handler(raw_, 20000, milliseconds > 0 ? &on_progress : nullptr, this);
    return {};
}

void Database::interrupt() {
    if (pg_) {
        pg::interrupt(*pg_);
    } else if (raw_) {
        sqlite3_interrupt(raw_);
    }
}

bool Database::healthy() const { return !pg_ || pg::healthy(*pg_); }

base::Error Database::error(std::string_view doing, int code) const {
    int primary = code & 0xff;
    std::string why = raw_ && sqlite3_errcode(raw_) != SQLITE_OK
                          ? std::string(sqlite3_errmsg(raw_))
                          : std::string(sqlite3_errstr(code));
    switch (primary) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED: why = "another process locked it for too long"; break;
        case SQLITE_FULL: why = "the disk is full"; break;
        case SQLITE_READONLY: why = "it is not writable (" + why + ")"; break;
        case SQLITE_NOTADB: why = "it is not a database"; break;
        case SQLITE_CORRUPT: why = "the file is damaged (" + why + ")"; break;
        default: break;
    }
    return {fmt::format("Could not {} the store {}: {}", doing, path_, why),
            static_cast<int>(sqlite_failure(code))};
}

Result<Transaction> Transaction::begin(Database& db, const std::string& statements) {
    auto begun = db.execute(!statements.empty() ? statements
                            : db.postgresql()   ? "BEGIN"
                                                : "BEGIN IMMEDIATE");
    if (!begun) {
        // BEGIN may have succeeded before a later statement failed.
        if (!statements.empty()) (void)db.execute("ROLLBACK");
        return std::unexpected(std::move(begun).error());
    }
    return Transaction(&db);
}

Result<Transaction> Transaction::begin_with(Database& db,
                                            std::initializer_list<Statement*> statements) {
    Transaction out(&db);
    BUNRAKU_TRY_VOID(db.run_together(statements));
    return out;
}

Result<Transaction> Transaction::begin_read(Database& db) {
    BUNRAKU_TRY_VOID(
        db.execute(db.postgresql() ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" : "BEGIN"));
    return Transaction(&db);
}

Transaction::~Transaction() {
    if (!db_) return;
    if (db_->pg_) db_->pg_->discard_deferred();
    (void)db_->execute("ROLLBACK");
}

Result<void> Transaction::commit() {
    BUNRAKU_ASSERT(db_ != nullptr);
    {
        Statement last = BUNRAKU_TRY(db_->prepare("COMMIT"));
        BUNRAKU_TRY_VOID(last.run());
    }
    db_ = nullptr;
    return {};
}

Result<Savepoint> Savepoint::begin(Database& db) {
    BUNRAKU_TRY_VOID(db.execute("SAVEPOINT part"));
    return Savepoint(&db);
}

Savepoint::~Savepoint() {
    if (!db_) return;
    if (db_->pg_) db_->pg_->discard_deferred();
    (void)db_->execute("ROLLBACK TO part; RELEASE part");
}

Result<void> Savepoint::release() {
    BUNRAKU_ASSERT(db_ != nullptr);
    BUNRAKU_TRY_VOID(db_->execute("RELEASE part"));
    db_ = nullptr;
    return {};
}

}  // namespace bunraku::store
