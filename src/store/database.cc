#include "store/database.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <utility>

namespace bunraku::store {

Statement::Statement(Statement&& other) noexcept
    : db_(other.db_),
      raw_(std::exchange(other.raw_, nullptr)),
      next_(other.next_),
      failed_(other.failed_),
      once_(other.once_) {}

Statement::~Statement() {
    if (!raw_) return;
    if (once_) {
        sqlite3_finalize(raw_);
        return;
    }
    sqlite3_reset(raw_);
    sqlite3_clear_bindings(raw_);
}

Statement& Statement::bind(std::string_view text) {
    // An empty view may have no address, which SQLite would take for null.
    int rc = sqlite3_bind_text64(raw_, next_++, text.empty() ? "" : text.data(), text.size(),
                                 SQLITE_TRANSIENT, SQLITE_UTF8);
    if (rc != SQLITE_OK && failed_ == 0) failed_ = rc;
    return *this;
}

Statement& Statement::bind(std::int64_t number) {
    int rc = sqlite3_bind_int64(raw_, next_++, number);
    if (rc != SQLITE_OK && failed_ == 0) failed_ = rc;
    return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
    int rc = sqlite3_bind_blob64(raw_, next_++, bytes.empty() ? "" : bytes.data(), bytes.size(),
                                 SQLITE_TRANSIENT);
    if (rc != SQLITE_OK && failed_ == 0) failed_ = rc;
    return *this;
}

Statement& Statement::bind_null() {
    int rc = sqlite3_bind_null(raw_, next_++);
    if (rc != SQLITE_OK && failed_ == 0) failed_ = rc;
    return *this;
}

Statement& Statement::bind_optional(std::string_view text) {
    return text.empty() ? bind_null() : bind(text);
}

Result<bool> Statement::step() {
    if (failed_ != 0) return std::unexpected(db_->error("use", failed_));
    int rc = sqlite3_step(raw_);
    if (rc == SQLITE_ROW) return true;
    if (rc == SQLITE_DONE) return false;
    return std::unexpected(db_->error("use", rc));
}

Result<void> Statement::run() {
    while (BUNRAKU_TRY(step())) {
    }
    return {};
}

bool Statement::is_null(int column) const {
    return sqlite3_column_type(raw_, column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(raw_, column); }

std::string_view Statement::text(int column) const {
    auto* p = reinterpret_cast<const char*>(sqlite3_column_text(raw_, column));
    if (!p) return {};
    return {p, static_cast<std::size_t>(sqlite3_column_bytes(raw_, column))};
}

std::string_view Statement::blob(int column) const {
    auto* p = static_cast<const char*>(sqlite3_column_blob(raw_, column));
    if (!p) return {};
    return {p, static_cast<std::size_t>(sqlite3_column_bytes(raw_, column))};
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path, bool read_only,
                                                 int busy_timeout_ms) {
    std::unique_ptr<Database> db(new Database);
    db->path_ = path;
    int flags = read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    int rc = sqlite3_open_v2(path.c_str(), &db->raw_, flags | SQLITE_OPEN_NOMUTEX, nullptr);
    if (rc != SQLITE_OK) return std::unexpected(db->error("open", rc));
    sqlite3_extended_result_codes(db->raw_, 1);
    sqlite3_busy_timeout(db->raw_, busy_timeout_ms);
    return db;
}

Database::~Database() {
    for (auto& [text, statement] : cache_) sqlite3_finalize(statement);
    if (raw_) sqlite3_close(raw_);
}

Result<Statement> Database::prepare(std::string_view sql) {
    auto found = cache_.find(sql);
    if (found != cache_.end()) {
        // Still in use further up: it gets a twin, which dies with the cache.
        if (!sqlite3_stmt_busy(found->second)) return Statement(this, found->second);
    }
    sqlite3_stmt* raw = nullptr;
    int rc = sqlite3_prepare_v3(raw_, sql.data(), static_cast<int>(sql.size()),
                                SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
    if (rc != SQLITE_OK) return std::unexpected(error("use", rc));
    std::string key(sql);
    while (!cache_.emplace(key, raw).second) key += ' ';
    return Statement(this, raw);
}

Result<Statement> Database::prepare_once(std::string_view sql) {
    sqlite3_stmt* raw = nullptr;
    int rc = sqlite3_prepare_v3(raw_, sql.data(), static_cast<int>(sql.size()), 0, &raw, nullptr);
    if (rc != SQLITE_OK) return std::unexpected(error("use", rc));
    return Statement(this, raw, true);
}

Result<void> Database::execute(const std::string& sql) {
    int rc = sqlite3_exec(raw_, sql.c_str(), nullptr, nullptr, nullptr);
    if (rc != SQLITE_OK) return std::unexpected(error("use", rc));
    return {};
}

std::int64_t Database::last_id() const { return sqlite3_last_insert_rowid(raw_); }
std::int64_t Database::changes() const { return sqlite3_changes64(raw_); }

base::Error Database::error(std::string_view doing, int code) const {
    int primary = code & 0xff;
    std::string why = raw_ && sqlite3_errcode(raw_) != SQLITE_OK
                          ? std::string(sqlite3_errmsg(raw_))
                          : std::string(sqlite3_errstr(code));
    switch (primary) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED: why = "it is locked by another process for too long"; break;
        case SQLITE_FULL: why = "the disk is full"; break;
        case SQLITE_READONLY: why = "it is not writable (" + why + ")"; break;
        case SQLITE_NOTADB: why = "it is not a database"; break;
        case SQLITE_CORRUPT: why = "the file is damaged (" + why + ")"; break;
        default: break;
    }
    return {fmt::format("Could not {} the store {}: {}", doing, path_, why), code};
}

Result<Transaction> Transaction::begin(Database& db) {
    BUNRAKU_TRY_VOID(db.execute("BEGIN IMMEDIATE"));
    return Transaction(&db);
}

Transaction::~Transaction() {
    if (db_) (void)db_->execute("ROLLBACK");
}

Result<void> Transaction::commit() {
    BUNRAKU_TRY_VOID(db_->execute("COMMIT"));
    db_ = nullptr;
    return {};
}

}  // namespace bunraku::store
