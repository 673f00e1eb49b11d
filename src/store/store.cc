#include "store/store.h"

#include <chrono>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catalog/content_hash.h"
#include "catalog/json_text.h"
#include "store/impl.h"
#include "store/schema.h"

namespace bunraku::store {

namespace {

base::Error system_error(std::string_view doing, const std::string& path, int code) {
    return {fmt::format("Could not {} {}: {}", doing, path, strerror(code)), code};
}

/// The folders above the file. Catalogs hold secrets: nobody else may look in.
Result<void> make_parents(const std::string& path) {
    for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
        std::string folder = path.substr(0, at);
        if (::mkdir(folder.c_str(), 0750) == 0 || errno == EEXIST) continue;
        int code = errno;
        struct stat st;
        if (::stat(folder.c_str(), &st) == 0) continue;
        return std::unexpected(system_error("create the folder of the store", folder, code));
    }
    return {};
}

Result<void> make_file(const std::string& path) {
    int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        int code = errno;
        return std::unexpected(system_error("open the store", path, code));
    }
    ::close(fd);
    return {};
}

constexpr std::string_view kStatusSql =
    "SELECT n.certname, n.deactivated, n.expired, c.producer_timestamp, e.name, c.hash,"
    " (SELECT count(*) FROM resources r WHERE r.node_id = n.id),"
    " (SELECT count(*) FROM resources r WHERE r.node_id = n.id AND r.exported = 1)"
    " FROM nodes n LEFT JOIN catalogs c ON c.node_id = n.id"
    " LEFT JOIN environments e ON e.id = c.environment_id";

NodeStatus read_status(const Statement& s) {
    NodeStatus out;
    out.certname = s.text(0);
    if (!s.is_null(1)) out.deactivated = s.integer(1);
    if (!s.is_null(2)) out.expired = s.integer(2);
    if (!s.is_null(3)) out.catalog_timestamp = s.integer(3);
    out.catalog_environment = s.text(4);
    std::string_view hash = s.blob(5);
    if (hash.size() == sizeof(catalog::Digest)) {
        catalog::Digest digest;
        memcpy(digest.data(), hash.data(), digest.size());
        out.catalog_hash = catalog::to_hex(digest);
    }
    out.resources = static_cast<std::size_t>(s.integer(6));
    out.exported = static_cast<std::size_t>(s.integer(7));
    return out;
}

}  // namespace

std::int64_t now_ms() {
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::~Store() = default;

Result<std::unique_ptr<Store>> Store::open(const std::string& path, const StoreOptions& options) {
    if (path.empty()) return base::failure("The store has no path");
    if (!options.read_only) {
        BUNRAKU_TRY_VOID(make_parents(path));
        BUNRAKU_TRY_VOID(make_file(path));
    } else if (::access(path.c_str(), R_OK) != 0) {
        int code = errno;
        return std::unexpected(system_error("open the store", path, code));
    }
    auto impl = std::make_unique<Impl>();
    impl->db = BUNRAKU_TRY(Database::open(path, options.read_only, options.busy_timeout_ms));
    Database& db = *impl->db;
    BUNRAKU_TRY_VOID(db.execute("PRAGMA foreign_keys = ON"));
    if (options.read_only) {
        BUNRAKU_TRY_VOID(check_schema(db));
        return std::unique_ptr<Store>(new Store(std::move(impl)));
    }
    // Going over to the write-ahead log needs the file for itself for a moment, and SQLite does not
    // wait for that.
    auto deadline = now_ms() + options.busy_timeout_ms;
    for (;;) {
        auto done = db.execute("PRAGMA journal_mode = WAL");
        if (done) break;
        if (failure_of(done.error()) != Failure::Retry || now_ms() > deadline) {
            return std::unexpected(std::move(done).error());
        }
        ::usleep(5000);
    }
    BUNRAKU_TRY_VOID(
        db.execute(options.durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL"));
    BUNRAKU_TRY_VOID(migrate(db));
    return std::unique_ptr<Store>(new Store(std::move(impl)));
}

Result<std::int64_t> Store::Impl::node_id(std::string_view certname, bool create) {
    {
        Statement s = BUNRAKU_TRY(db->prepare("SELECT id FROM nodes WHERE certname = ?"));
        s.bind(certname);
        if (BUNRAKU_TRY(s.step())) return s.integer(0);
    }
    if (!create) return 0;
    Statement s = BUNRAKU_TRY(db->prepare("INSERT INTO nodes (certname) VALUES (?)"));
    s.bind(certname);
    BUNRAKU_TRY_VOID(s.run());
    return db->last_id();
}

Result<bool> Store::deactivate_node(std::string_view certname, std::int64_t timestamp) {
    Transaction transaction = BUNRAKU_TRY(Transaction::begin(*impl_->db));
    std::int64_t id = BUNRAKU_TRY(impl_->node_id(certname, false));
    if (id == 0) return false;
    {
        Statement s = BUNRAKU_TRY(impl_->db->prepare(
            "SELECT 1 FROM catalogs WHERE node_id = ? AND producer_timestamp > ?"));
        s.bind(id).bind(timestamp);
        if (BUNRAKU_TRY(s.step())) return false;
    }
    {
        Statement s = BUNRAKU_TRY(impl_->db->prepare(
            "UPDATE nodes SET deactivated = ? WHERE id = ? AND deactivated IS NULL"));
        s.bind(timestamp).bind(id);
        BUNRAKU_TRY_VOID(s.run());
    }
    BUNRAKU_TRY_VOID(transaction.commit());
    return true;
}

Result<bool> Store::purge_node(std::string_view certname) {
    Transaction transaction = BUNRAKU_TRY(Transaction::begin(*impl_->db));
    std::int64_t id = BUNRAKU_TRY(impl_->node_id(certname, false));
    if (id == 0) return false;
    {
        Statement s = BUNRAKU_TRY(impl_->db->prepare("DELETE FROM nodes WHERE id = ?"));
        s.bind(id);
        BUNRAKU_TRY_VOID(s.run());
    }
    BUNRAKU_TRY(impl_->collect_garbage());
    BUNRAKU_TRY_VOID(transaction.commit());
    return true;
}

Result<std::optional<NodeStatus>> Store::node(std::string_view certname) {
    Statement s =
        BUNRAKU_TRY(impl_->db->prepare(std::string(kStatusSql) + " WHERE n.certname = ?"));
    s.bind(certname);
    if (!BUNRAKU_TRY(s.step())) return std::nullopt;
    return read_status(s);
}

Result<std::vector<NodeStatus>> Store::nodes(bool active_only) {
    std::string sql(kStatusSql);
    if (active_only) sql += " WHERE n.deactivated IS NULL AND n.expired IS NULL";
    Statement s = BUNRAKU_TRY(impl_->db->prepare(sql + " ORDER BY n.certname"));
    std::vector<NodeStatus> out;
    while (BUNRAKU_TRY(s.step())) out.push_back(read_status(s));
    return out;
}

Result<std::size_t> Store::Impl::collect_garbage() {
    Statement s = BUNRAKU_TRY(db->prepare(
        "DELETE FROM resource_params_cache WHERE id NOT IN (SELECT params_id FROM resources)"));
    BUNRAKU_TRY_VOID(s.run());
    auto removed = static_cast<std::size_t>(db->changes());
    Statement zero = BUNRAKU_TRY(
        db->prepare("INSERT OR REPLACE INTO counters (name, value) VALUES ('stale_params', 0)"));
    BUNRAKU_TRY_VOID(zero.run());
    return removed;
}

Result<std::size_t> Store::collect_garbage() {
    Transaction transaction = BUNRAKU_TRY(Transaction::begin(*impl_->db));
    std::size_t removed = BUNRAKU_TRY(impl_->collect_garbage());
    BUNRAKU_TRY_VOID(transaction.commit());
    return removed;
}

std::string strings_to_json(const std::vector<std::string>& items) {
    std::string out = "[";
    for (const std::string& item : items) {
        if (out.size() > 1) out += ',';
        catalog::append_json_string(out, item);
    }
    return out + "]";
}

std::vector<std::string> strings_from_json(std::string_view json) {
    std::vector<std::string> out;
    base::Arena arena(1024);
    auto data = value::parse_json(arena, json);
    if (!data || !data->is_array()) return out;
    for (const catalog::Value& item : data->as_array()) {
        if (item.is_string()) out.emplace_back(item.as_string());
    }
    return out;
}

std::string match_text(const catalog::Value& v) {
    std::string out;
    catalog::append_json_value(out, v, catalog::ValueForm::Stringified, true);
    if (out.size() > 200) out = "sha1:" + catalog::to_hex(catalog::digest_of(out));
    return out;
}

}  // namespace bunraku::store
