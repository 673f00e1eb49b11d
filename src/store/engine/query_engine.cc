// SPDX-License-Identifier: Apache-2.0
#include "store/engine/query_engine.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <unordered_map>

#include "core/base/assert.h"
#include "core/codec/json_text.h"
#include "store/db/packed.h"
#include "store/db/schema.h"
#include "store/engine/query_columns.h"
#include "store/engine/undeclared.h"
#include "store/query/pql.h"

namespace bunraku::store {

namespace {

constexpr std::size_t kPiece = 64 << 10;
/// The number of statement texts that are remembered. A connection caches statements that are used
/// repeatedly.
constexpr std::size_t kShapes = 512;

/// Returns a message of PostgreSQL or of an SQL function about a user's mistake, in one line.
std::optional<query::QueryError> users_fault(const base::Error& e) {
    std::size_t at = e.message.find("invalid regular expression");
    if (at != std::string::npos) {
        std::size_t end = e.message.find('\n', at);
        return query::QueryError{
            400, "ERROR: " +
                     e.message.substr(at, end == std::string::npos ? std::string::npos : end - at)};
    }
    if (failure_of(e) != Failure::Query) return {};
    for (const char* limit : {"parser stack overflow", "Expression tree is too large"}) {
        if (e.message.find(limit) == std::string::npos) continue;
        return query::QueryError{400, "The query is nested too deeply for SQLite"};
    }
    if (e.message.find("tables in a join") != std::string::npos) {
        return query::QueryError{400,
                                 "The query joins more tables than SQLite supports: query fewer "
                                 "facts or columns at once"};
    }
    if (e.message.starts_with("ERROR:")) {
        std::string text = e.message.substr(6, e.message.find('\n') - 6);
        std::size_t start = text.find_first_not_of(' ');
        return query::QueryError{
            400, "ERROR: " + (start == std::string::npos ? "" : text.substr(start))};
    }
    return {};
}

Result<void> bind_all(Statement& s, const query::Sql& sql) {
    for (const query::BoundValue& v : sql.values) {
        if (const auto* i = std::get_if<std::int64_t>(&v)) {
            s.bind(*i);
        } else if (const auto* d = std::get_if<double>(&v)) {
            s.bind(*d);
        } else if (const auto* b = std::get_if<query::Blob>(&v)) {
            s.bind_blob(b->bytes);
        } else {
            const std::string& text = std::get<std::string>(v);
            // No stored text contains a null character, and PostgreSQL rejects it.
            if (text.find('\0') != std::string::npos) {
                throw query::QueryError{400, "A string of the query contains a null character"};
            }
            s.bind(text);
        }
    }
    return {};
}

/// Counts the values in the rows of `lists` and inserts the counts into `sql`.
Result<query::Sql> with_lists(Database& db, const query::Sql& lists, query::Sql sql) {
    // There may be millions of numbers, sorted in each list, so adjacent numbers share a block of
    // counters.
    constexpr std::int64_t kTogether = 1024;
    std::unordered_map<std::int64_t, std::array<std::int64_t, kTogether>> counts;
    {
        std::int64_t at = -1;
        std::int64_t* here = nullptr;
        Statement s = BUNRAKU_TRY(db.prepare(lists.text));
        BUNRAKU_TRY_VOID(bind_all(s, lists));
        while (BUNRAKU_TRY(s.step())) {
            for (const std::int64_t number : unpack_numbers(s.blob(0))) {
                if (number < 0) continue;
                if (number / kTogether != at) {
                    at = number / kTogether;
                    here = counts[at].data();
                }
                ++here[number % kTogether];
            }
        }
    }
    std::vector<PackedEdge> pairs;
    for (const auto& [at, here] : counts) {
        for (std::int64_t i = 0; i < kTogether; ++i) {
            const std::int64_t count = here[static_cast<std::size_t>(i)];
            if (count > 0) pairs.push_back({at * kTogether + i, count, 0});
        }
    }
    BUNRAKU_ASSERT(pairs.size() >= counts.size());
    std::sort(pairs.begin(), pairs.end());
    for (query::BoundValue& value : sql.values) {
        const auto* listed = std::get_if<query::Listed>(&value);
        if (!listed) continue;
        const auto part = listed->part;
        if (part == query::Listed::Packed) {
            value = query::Blob{pack_edges(pairs)};
            continue;
        }
        std::string array = "{";
        for (const PackedEdge& p : pairs) {
            if (array.size() > 1) array += ',';
            array += fmt::format_int(part == query::Listed::Numbers ? p.source : p.target).str();
        }
        value = array + "}";
    }
    return sql;
}

Result<bool> has_many(Database& db, const query::AlternativePlan& way, std::int64_t many) {
    Statement s = BUNRAKU_TRY(db.prepare(way.probe.text));
    BUNRAKU_TRY_VOID(bind_all(s, way.probe));
    return BUNRAKU_TRY(s.step()) && s.integer(0) >= many;
}

}  // namespace

// --- Cursor

struct QueryCursor::Lease {
    QueryEngine* engine;
    std::unique_ptr<Database> db;
    ~Lease() {
        if (db) engine->give_back(std::move(db));
    }
};

QueryCursor::~QueryCursor() {
    content_.reset();
    statement_.reset();
    transaction_.reset();
}

Result<void> QueryCursor::write_nested(std::string& out, std::string_view key,
                                       const query::NestedQuery& nested) {
    std::size_t blank = key.find(' ');
    std::int64_t id = 0;
    BUNRAKU_ASSERT(lease_ != nullptr && lease_->db != nullptr);
    std::from_chars(key.data(), key.data() + std::min(blank, key.size()), id);
    std::string href(blank == std::string_view::npos ? "" : key.substr(blank + 1));
    Statement s = BUNRAKU_TRY(lease_->db->prepare(nested.sql));
    s.bind(id);
    out += "{\"data\":";
    bool any = false;
    while (BUNRAKU_TRY(s.step())) {
        out += any ? ",{" : "[{";
        any = true;
        for (std::size_t i = 0; i < nested.columns.size(); ++i) {
            if (i > 0) out += ',';
            out += '"';
            out += nested.columns[i].name;
            out += "\":";
            append_column(out, s, static_cast<int>(i), nested.columns[i].kind);
        }
        out += '}';
    }
    out += any ? "],\"href\":" : "null,\"href\":";
    codec::append_json_string(out, href);
    out += '}';
    return {};
}

Result<void> QueryCursor::write_row(std::string& out) {
    const Statement& s = *statement_;
    if (query_.explain) {
        // SQLite's plan is a table with the description in its last column.
        out += "{\"query plan\":";
        int last = s.columns() - 1;
        if (last == 0) {
            out += s.text(0);
        } else {
            codec::append_json_string(out, s.text(last));
        }
        out += '}';
        return {};
    }
    if (query_.single) {
        BUNRAKU_ASSERT(!query_.columns.empty());
        append_column(out, s, 0, query_.columns[0].kind);
        return {};
    }
    out += '{';
    bool subject = !query_.subject_type.empty();
    for (std::size_t i = 0; i < query_.columns.size(); ++i) {
        if (i > 0) out += ',';
        if (subject && i == query_.subject_from) {
            out += "\"subject_type\":";
            codec::append_json_string(out, query_.subject_type);
            out += ",\"subject\":{";
        }
        codec::append_json_string(out, query_.columns[i].name);
        out += ':';
        const query::OutputColumn& c = query_.columns[i];
        if (c.kind == query::OutputColumn::Nested) {
            BUNRAKU_ASSERT(c.nested < query_.nested.size());
            BUNRAKU_TRY_VOID(
                write_nested(out, s.text(static_cast<int>(i)), query_.nested[c.nested]));
        } else {
            append_column(out, s, static_cast<int>(i), c.kind);
        }
    }
    if (subject) out += '}';
    out += '}';
    return {};
}

Result<bool> QueryCursor::fill(std::string& out) {
    if (done_) return false;
    BUNRAKU_ASSERT(statement_.has_value() && lease_ != nullptr);
    BUNRAKU_ASSERT(started_ || rows_ == 0);
    std::size_t begin = out.size();
    std::string row;
    if (!started_) {
        started_ = true;
        if (!query_.bare) out += pretty_ ? "[ " : "[";
    }
    while (out.size() - begin < kPiece) {
        row.clear();
        auto more = content_ ? content_->next(*statement_, row) : statement_->step();
        if (!more) {
            if (auto fault = users_fault(more.error())) throw query::QueryError(std::move(*fault));
            return std::unexpected(std::move(more).error());
        }
        if (!*more) {
            done_ = true;
            if (query_.bare) {
                if (rows_ == 0) out += "null";
            } else if (pretty_) {
                out += rows_ == 0 ? "]" : " ]";
            } else {
                out += ']';
            }
            statement_.reset();
            content_.reset();
            transaction_.reset();
            lease_.reset();
            return true;
        }
        if (rows_ > 0) {
            if (query_.bare) continue;
            out += pretty_ ? ", " : ",";
        }
        ++rows_;
        if (content_) {
            pretty_ ? append_pretty_json(out, row) : (void)(out += row);
        } else if (pretty_) {
            BUNRAKU_TRY_VOID(write_row(row));
            append_pretty_json(out, row);
        } else {
            BUNRAKU_TRY_VOID(write_row(out));
        }
    }
    return true;
}

Result<bool> QueryCursor::next(std::string& out) {
    if (!first_taken_) {
        first_taken_ = true;
        out += first_;
        first_ = {};
        return true;
    }
    return fill(out);
}

// --- Engine

QueryEngine::QueryEngine(std::string where, QueryEngineOptions options)
    : where_(std::move(where)),
      options_(options),
      backend_(is_postgresql_url(where_) ? Backend::Postgresql : Backend::Sqlite) {
    if (!options_.replica) return;
    QueryEngineOptions there = options_;
    there.replica.reset();
    standby_ = std::make_unique<QueryEngine>(options_.replica->url(), there);
    standby_->standby_of_ = options_.replica;
}

QueryEngine::~QueryEngine() = default;

Result<std::unique_ptr<Database>> QueryEngine::take(bool any_values) {
    {
        std::unique_lock lock(mutex_);
        auto free = [&] { return !idle_.empty() || open_ < options_.connections; };
        if (!freed_.wait_for(lock, std::chrono::seconds(30), free)) {
            return base::failure("All connections to the store are busy",
                                 static_cast<int>(Failure::Unavailable));
        }
        auto fit = std::find_if(idle_.rbegin(), idle_.rend(), [&](const auto& db) {
            return db->plans_for_any_values() == any_values;
        });
        if (fit != idle_.rend()) std::swap(*fit, idle_.back());
        while (!idle_.empty()) {
            BUNRAKU_ASSERT(open_ > 0 && idle_.size() <= open_);
            auto db = std::move(idle_.back());
            idle_.pop_back();
            if (db->healthy()) return db;
            --open_;
        }
        ++open_;
        BUNRAKU_ASSERT(open_ <= options_.connections);
    }
    auto db = standby_of_ ? Database::open_replica(where_, options_.limits)
                          : Database::open(where_, Database::Access::Read, options_.busy_timeout_ms,
                                           options_.limits);
    // The database may have been replaced by a restored one since the last connection.
    contents_.clear();
    if (db && backend_ == Backend::Sqlite) {
        auto set = (*db)->execute("PRAGMA cache_size = -8192");
        if (!set) db = std::unexpected(set.error());
    }
    if (db) {
        if (auto checked = check_schema(**db); !checked) db = std::unexpected(checked.error());
    }
    if (!db) {
        std::lock_guard lock(mutex_);
        BUNRAKU_ASSERT(open_ > 0);
        --open_;
        freed_.notify_one();
    }
    return db;
}

void QueryEngine::give_back(std::unique_ptr<Database> db) {
    bool healthy = db->healthy();
    std::lock_guard lock(mutex_);
    BUNRAKU_ASSERT(idle_.size() < open_ && open_ <= options_.connections);
    if (healthy) {
        idle_.push_back(std::move(db));
    } else {
        --open_;
    }
    freed_.notify_one();
}

Result<void> QueryEngine::near_enough(Database& db) const {
    Statement s = BUNRAKU_TRY(db.prepare("SELECT value FROM store_meta WHERE name = 'beat'"));
    if (BUNRAKU_TRY(s.step()) && standby_of_->near(s.integer(0))) return {};
    return base::failure("The standby is too far behind", static_cast<int>(Failure::Unavailable));
}

/// Closes all idle connections after one was lost, because the server was probably restarted or
/// replaced.
void QueryEngine::drop_idle() {
    std::vector<std::unique_ptr<Database>> gone;
    std::lock_guard lock(mutex_);
    gone.swap(idle_);
    BUNRAKU_ASSERT(gone.size() <= open_);
    open_ -= gone.size();
    freed_.notify_all();
}

std::int64_t QueryEngine::limit_of(const query::QueryOptions& options) const {
    std::int64_t limit = options.time_limit_ms.value_or(options_.time_limit_ms);
    if (options_.longest_ms > 0 && (limit <= 0 || limit > options_.longest_ms)) {
        limit = options_.longest_ms;
    }
    BUNRAKU_ASSERT(options_.longest_ms <= 0 || (limit > 0 && limit <= options_.longest_ms));
    return limit;
}

bool QueryEngine::seen_before(std::string_view sql) {
    std::size_t hash = std::hash<std::string_view>{}(sql);
    std::lock_guard lock(mutex_);
    if (std::find(shapes_.begin(), shapes_.end(), hash) != shapes_.end()) return true;
    // If the table is full, existing entries stay cached, and other statements are prepared each
    // time.
    if (shapes_.size() < kShapes) shapes_.push_back(hash);
    BUNRAKU_ASSERT(shapes_.size() <= kShapes);
    return false;
}

/// One try to begin a query on a connection: prepares its statements and reads the first rows.
class QueryEngine::Beginning {
public:
    Beginning(QueryEngine& engine, QueryCursor& cursor, const query::QueryOptions& options,
              bool cached)
        : engine_(engine),
          cursor_(cursor),
          query_(cursor.query_),
          options_(options),
          cached_(cached),
          db_(*cursor.lease_->db) {}

    Result<void> run() {
        BUNRAKU_TRY_VOID(db_.set_time_limit(engine_.limit_of(options_)));
        if (engine_.standby_of_) BUNRAKU_TRY_VOID(engine_.near_enough(db_));
        BUNRAKU_TRY_VOID(db_.plan_for_any_values(query_.any_values));
        BUNRAKU_TRY_VOID(begin_transaction());
        BUNRAKU_TRY_VOID(count_total());
        BUNRAKU_TRY_VOID(begin_content());
        if (cursor_.content_) return fill(Amount::FirstRows);
        if (const query::AlternativePlan* other = BUNRAKU_TRY(alternative())) {
            if (db_.postgresql()) return start_and_fill(other->sql, Amount::FirstRows);
            auto page = try_page(*other);
            if (page || failure_of(page.error()) != Failure::Timeout) return page;
        }
        if (!query_.lists) return start_and_fill(query_.sql, Amount::FirstRows);
        const query::Sql with_names = BUNRAKU_TRY(listed(query_.sql));
        return start_and_fill(with_names, Amount::FirstRows);
    }

private:
    enum class Amount { FirstRows, AllRows };

    Result<void> begin_transaction() {
        const bool nested = db_.postgresql() && !query_.nested.empty();
        // Counting and looking up the names must use the same snapshot.
        if (nested || query_.lists) {
            cursor_.transaction_.emplace(BUNRAKU_TRY(Transaction::begin_read(db_)));
        }
        return {};
    }

    /// Returns the statement with the lists of names that it needs.
    Result<query::Sql> listed(const query::Sql& sql) {
        return query_.lists ? with_lists(db_, *query_.lists, sql) : Result<query::Sql>(sql);
    }

    Result<void> count_total() {
        if (!options_.include_total || query_.count.text.empty()) return {};
        Statement count = BUNRAKU_TRY(db_.prepare_once(query_.count.text));
        const query::Sql sql = BUNRAKU_TRY(listed(query_.count));
        BUNRAKU_TRY_VOID(bind_all(count, sql));
        const bool row = BUNRAKU_TRY(count.step());
        cursor_.total_ = row ? count.integer(0) : 0;
        return {};
    }

    Result<void> prepare(const query::Sql& sql) {
        auto statement = cached_ ? db_.prepare(sql.text) : db_.prepare_once(sql.text);
        if (!statement) return std::unexpected(std::move(statement).error());
        cursor_.statement_.reset();
        cursor_.statement_.emplace(std::move(*statement));
        return bind_all(*cursor_.statement_, sql);
    }

    /// Reads the few contents that the query has, if they are few.
    Result<void> begin_content() {
        const auto& content = query_.content;
        if (!content) return {};
        BUNRAKU_TRY_VOID(prepare(content->rows));
        cursor_.content_.emplace(*content, query_.columns, engine_.contents_, db_);
        const bool few = BUNRAKU_TRY(cursor_.content_->begin(*cursor_.statement_));
        if (!few) cursor_.content_.reset();
        return {};
    }

    /// Returns the other plan if it suits the number of rows; null otherwise.
    Result<const query::AlternativePlan*> alternative() {
        if (!query_.alternative) return nullptr;
        const bool many =
            BUNRAKU_TRY(has_many(db_, *query_.alternative, engine_.options_.many_rows));
        return many == query_.alternative->if_many ? &*query_.alternative : nullptr;
    }

    /// Reads the whole page with a plan that may turn out to be slow, within a short time limit.
    Result<void> try_page(const query::AlternativePlan& plan) {
        const std::int64_t limit = engine_.limit_of(options_);
        std::int64_t timeout = query::AlternativePlan::kTimeoutMs;
        if (limit > 0) timeout = std::min(timeout, limit);
        BUNRAKU_TRY_VOID(db_.set_time_limit(timeout));
        auto page = start_and_fill(plan.sql, Amount::AllRows);
        // If the page is complete, the connection was already returned.
        if (cursor_.lease_) BUNRAKU_TRY_VOID(db_.set_time_limit(limit));
        return page;
    }

    Result<void> start_and_fill(const query::Sql& sql, Amount amount) {
        BUNRAKU_TRY_VOID(prepare(sql));
        // PostgreSQL can run only one statement at a time on a connection.
        if (query_.nested.empty()) cursor_.statement_->stream();
        return fill(amount);
    }

    Result<void> fill(Amount amount) {
        cursor_.first_.clear();
        cursor_.started_ = cursor_.done_ = false;
        cursor_.rows_ = 0;
        do {
            BUNRAKU_TRY(cursor_.fill(cursor_.first_));
        } while (amount == Amount::AllRows && !cursor_.done_);
        return {};
    }

    QueryEngine& engine_;
    QueryCursor& cursor_;
    const query::CompiledQuery& query_;
    const query::QueryOptions& options_;
    bool cached_;  ///< the connection caches the statement
    Database& db_;
};

Result<std::unique_ptr<QueryCursor>> QueryEngine::start(std::string_view entity,
                                                        const query::Ast& query,
                                                        const query::QueryOptions& options,
                                                        bool pretty) {
    if (standby_ && options_.replica->usable()) {
        auto answer = standby_->start(entity, query, options, pretty);
        // A standby may be down, or may cancel a query that conflicts with replication.
        if (answer || failure_of(answer.error()) == Failure::Timeout) return answer;
    }
    std::unique_ptr<QueryCursor> cursor(new QueryCursor());
    cursor->query_ = query::compile_query(entity, query, options, backend_);
    cursor->pretty_ = pretty;
    const bool cached = seen_before(cursor->query_.sql.text);
    // Retries once, so that the client does not see the loss of an idle connection.
    for (int attempt = 0;; ++attempt) {
        BUNRAKU_ASSERT(attempt <= 1);
        cursor->content_.reset();
        cursor->statement_.reset();
        cursor->transaction_.reset();
        cursor->lease_ = std::make_unique<QueryCursor::Lease>();
        cursor->lease_->engine = this;
        cursor->lease_->db = BUNRAKU_TRY(take(cursor->query_.any_values));
        auto began = Beginning(*this, *cursor, options, cached).run();
        if (began) return cursor;
        if (auto fault = users_fault(began.error())) throw query::QueryError(std::move(*fault));
        if (failure_of(began.error()) != Failure::Unavailable || attempt >= 1) {
            return std::unexpected(std::move(began).error());
        }
        drop_idle();
    }
}

Result<std::string> QueryEngine::run(std::string_view entity, const query::Ast& query,
                                     const query::QueryOptions& options, bool pretty) {
    auto cursor = BUNRAKU_TRY(start(entity, query, options, pretty));
    std::string out;
    while (BUNRAKU_TRY(cursor->next(out))) {
    }
    return out;
}

Result<std::string> QueryEngine::run_root(const query::Ast& from, query::QueryOptions options,
                                          bool pretty) {
    query::FromQuery parsed = query::parse_from(query::root_query(from), options);
    return run(parsed.entity, parsed.query, options, pretty);
}

Result<std::string> QueryEngine::run_text(std::string_view text) {
    return run_root(query::looks_like_ast(text) ? query::read_query_json(text)
                                                : query::parse_pql(text));
}

void QueryEngine::check(std::string_view entity, const query::Ast& query,
                        const query::QueryOptions& options) const {
    query::compile_query(entity, query, options, backend_);
}

Result<bool> QueryEngine::exists(std::string_view kind, std::string_view id) {
    query::QueryOptions options;
    options.limit = 1;
    auto text = [](std::string_view s) { return query::Ast::text(std::string(s)); };
    auto ask = [&](std::string_view entity, std::string_view field) -> Result<bool> {
        query::Ast condition = query::Ast::array({text("="), text(field), text(id)});
        if (entity == "reports") {
            condition =
                query::Ast::array({text("and"), std::move(condition),
                                   query::Ast::array({text("="), text("type"), text("any")})});
        }
        query::Ast query = query::Ast::array({text("extract"), text(field), std::move(condition)});
        std::string rows = BUNRAKU_TRY(run(entity, query, options));
        return rows != "[]";
    };
    if (kind == "node") return ask("nodes", "certname");
    if (kind == "catalog") return ask("catalogs", "certname");
    if (kind == "factset") return ask("factsets", "certname");
    if (kind == "report") return ask("reports", "hash");
    if (kind == "environment") return ask("environments", "name");
    return ask("producers", "name");
}

Result<std::int64_t> QueryEngine::distinct_resources() {
    QueryCursor::Lease lease{this, BUNRAKU_TRY(take(false))};
    BUNRAKU_TRY_VOID(lease.db->set_time_limit(limit_of({})));
    Statement s = BUNRAKU_TRY(lease.db->prepare("SELECT count(*) FROM parameters"));
    return BUNRAKU_TRY(s.step()) ? s.integer(0) : 0;
}

Result<std::int64_t> QueryEngine::undeclared_resources() {
    QueryCursor::Lease lease{this, BUNRAKU_TRY(take(false))};
    BUNRAKU_TRY_VOID(lease.db->set_time_limit(limit_of({})));
    return count_undeclared(*lease.db);
}

}  // namespace bunraku::store
