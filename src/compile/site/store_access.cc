// SPDX-License-Identifier: Apache-2.0
#include "compile/site/store_access.h"

#include <chrono>
#include <fmt/format.h>
#include <thread>

#include "compile/site/puppetdb_client.h"
#include "compile/site/report_processors.h"
#include "compile/site/running_store.h"
#include "core/base/plain_error.h"
#include "core/codec/json_text.h"
#include "core/config/setting_aliases.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/value/build.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "language/environment/environment.h"
#include "resources/catalog/json_text.h"
#include "resources/catalog/wire.h"
#include "resources/catalog/wire_time.h"
#include "store/db/command.h"
#include "store/db/owner.h"
#include "store/engine/exports.h"
#include "store/engine/query_engine.h"
#include "store/query/ast.h"

namespace bunraku::site {

using base::Result;
using value::Value;

http::ClientOptions tls_options(const config::Settings& settings, std::string user_agent) {
    http::ClientOptions out;
    out.user_agent = std::move(user_agent);
    out.proxies = http::ProxyRules::of_settings(settings);
    auto there = [](const std::string& path) { return environment::read_file(path).has_value(); };
    if (auto ca = settings.text("localcacert"); there(ca)) out.ca_file = ca;
    auto certificate = settings.text("hostcert"), key = settings.text("hostprivkey");
    if (there(certificate) && there(key)) {
        out.certificate_file = certificate;
        out.private_key_file = key;
    }
    auto revocation = settings.text("certificate_revocation");
    if (auto crl = settings.text("hostcrl"); revocation != "false" && there(crl)) {
        out.crl_file = crl;
        out.crl_leaf_only = revocation == "leaf";
    }
    return out;
}

namespace {

/// Does the work of names_puppetdb; `file` is the text of puppetdb.conf, if it exists.
bool uses_puppetdb(const config::Settings& settings, OwnStore own,
                   const std::optional<std::string>& file) {
    if (!settings.text("puppetdb_url").empty()) return true;
    if (settings.text("storeconfigs_backend") != "puppetdb") return false;
    if (file) return true;
    const bool has_store = own == OwnStore::There || sys::disk().exists(store_path(settings));
    return settings.is_set("storeconfigs_backend") && !has_store;
}

std::string puppetdb_conf(const config::Settings& settings) {
    return settings.text("confdir") + "/puppetdb.conf";
}

}  // namespace

bool names_puppetdb(const config::Settings& settings, OwnStore own) {
    return uses_puppetdb(settings, own, environment::read_file(puppetdb_conf(settings)));
}

std::unique_ptr<PuppetdbClient> puppetdb_service(const config::Settings& settings,
                                                 const std::string& user_agent, base::LogSink& log,
                                                 http::Network* network, OwnStore own) {
    const auto path = puppetdb_conf(settings);
    const auto text = environment::read_file(path);
    if (!uses_puppetdb(settings, own, text)) return nullptr;
    auto url = settings.text("puppetdb_url");
    auto config = PuppetdbConfig::parse(text.value_or(""), path);
    if (!config) {
        throw base::plain_error(
            fmt::format("Could not configure PuppetDB terminuses: {}", config.error().message));
    }
    if (!url.empty()) {
        while (url.ends_with('/')) url.pop_back();
        config->server_urls = {url};
    }
    auto options = tls_options(settings, user_agent);
    options.network = network;
    return std::make_unique<PuppetdbClient>(std::move(*config), std::move(options), log);
}

namespace {

/// Time that a compile waits for an unavailable database. A fail-over by Patroni takes half of it.
constexpr std::chrono::seconds kTimeout{60};

}  // namespace

struct StoreAccess::Impl final : compiler::ExportedSource {
    /// Forwards messages to the current user of the connection.
    struct Forward final : base::LogSink {
        using LogSink::log;
        bool enabled(base::Level level) const override { return to && to->enabled(level); }
        void log(const base::Diagnostic& d) override {
            if (to) to->log(d);
        }
        base::LogSink* to = nullptr;
    };

    Impl(const config::Settings& s, const Embedded& e, std::string agent)
        : settings(s), own(e), user_agent(std::move(agent)) {}
    const config::Settings& settings;
    const Embedded& own;
    std::string user_agent;
    Forward log;
    bool decided = false;
    bool timed_out = false;  ///< the database did not return within kTimeout
    std::unique_ptr<PuppetdbClient> service;
    std::unique_ptr<store::Store> store;
    bool read_only = false;  ///< mode of `store`
    std::unique_ptr<store::QueryEngine> engine;

    /// Returns null for the embedded store.
    PuppetdbClient* remote();
    store::Store& embedded();
    enum class For { Reading, Writing };
    Result<store::Store*> opened(For what = For::Reading);
    Result<void> write(const store::CommandHeader& header, std::string body);
    Result<void> remember_collections(const std::string& node,
                                      const std::vector<std::string>& names);
    std::string database() const {
        return own.database.empty() ? store_path(settings) : own.database;
    }
    /// Sends a command to its destination: the service, this process's server, or the database.
    void remember(store::CommandKind kind, int version, const std::string& node, std::int64_t at,
                  std::string body);
    Result<std::vector<catalog::ExportedResource>> find(
        std::string_view type, const catalog::CollectorQuery* query,
        std::string_view except_certname, base::Arena& arena,
        const value::TypedFactory& make_typed) override {
        using Found = Result<std::vector<catalog::ExportedResource>>;
        return with_retries([&]() -> Found {
            store::Store* there = BUNRAKU_TRY(opened());
            return there->find_exported(type, query, except_certname, arena, make_typed);
        });
    }
    void check_exports(const std::string& node, const catalog::Catalog& catalog,
                       const std::vector<std::string>& collected);
    /// Retries for a while if the database is unavailable. A fail-over takes seconds, while a
    /// failed compile costs a whole agent run.
    template <class Ask>
    auto with_retries(const Ask& ask) -> decltype(ask()) {
        const auto end = std::chrono::steady_clock::now() + kTimeout;
        for (;;) {
            auto answer = ask();
            const bool away =
                !answer && store::failure_of(answer.error()) == store::Failure::Unavailable;
            if (!away) timed_out = false;
            if (!away || timed_out || !store::is_postgresql_url(database())) return answer;
            // After one wait without an answer, later compiles fail at once instead of waiting,
            // too.
            timed_out = std::chrono::steady_clock::now() > end;
            if (timed_out) return answer;
            store.reset();
            std::this_thread::sleep_for(std::chrono::milliseconds(250));
        }
    }
    Result<std::string> identity(std::string_view type, const catalog::CollectorQuery* query,
                                 std::string_view except_certname) override {
        return with_retries([&]() -> Result<std::string> {
            store::Store* there = BUNRAKU_TRY(opened());
            return there->exported_identity(type, query, except_certname);
        });
    }
};

PuppetdbClient* StoreAccess::Impl::remote() {
    if (!decided) {
        service = puppetdb_service(settings, user_agent, log, own.network,
                                   own.submit ? OwnStore::There : OwnStore::Perhaps);
    }
    decided = true;
    return service.get();
}

/// Opens the database, or reconnects after a lost connection. If a server writes to the database,
/// opens it read-only.
Result<store::Store*> StoreAccess::Impl::opened(For what) {
    const bool writing = what == For::Writing;
    if (store && (!store->healthy() || (writing && read_only))) store.reset();
    if (!store) {
        read_only = !writing && (own.submit || store::has_owner(database()));
        store = BUNRAKU_TRY(store::Store::open(
            database(), {.read_only = read_only, .key_file = store_key_of(settings)}));
    }
    return store.get();
}

/// Passes a command to this process's server, or to the server that owns the file. Without a
/// server, writes to the database directly.
Result<void> StoreAccess::Impl::write(const store::CommandHeader& header, std::string body) {
    if (own.submit) return own.submit(header, std::move(body));
    if (const auto running = BUNRAKU_TRY(RunningStore::find(database())))
        return running->submit(header, std::move(body));
    store::Store* there = BUNRAKU_TRY(opened(For::Writing));
    return there->execute(header, body);
}

Result<void> StoreAccess::Impl::remember_collections(const std::string& node,
                                                     const std::vector<std::string>& names) {
    store::Store* reader = BUNRAKU_TRY(opened());
    if (BUNRAKU_TRY(reader->known_collections(node)) == names) return {};
    if (!own.submit) {
        if (const auto running = BUNRAKU_TRY(RunningStore::find(database())))
            return running->remember_collections(node, names);
    }
    store::Store* writer = BUNRAKU_TRY(opened(For::Writing));
    return writer->remember_collections(node, names);
}

store::Store& StoreAccess::Impl::embedded() {
    auto there = opened();
    if (!there) throw base::plain_error(there.error().message);
    return **there;
}

void StoreAccess::Impl::remember(store::CommandKind kind, int version, const std::string& node,
                                 std::int64_t at, std::string body) {
    const store::CommandHeader header{.kind = kind,
                                      .version = version,
                                      .certname = node,
                                      .received = at,
                                      .producer_timestamp = at};
    Result<void> done;
    if (auto* there = remote(); there && own.spool) {
        done = own.spool(header, std::move(body));
        if (!done && there->config().soft_write_failure) return;
    } else if (there) {
        done = there->submit(store::command_name(kind), version, node, at, body);
    } else {
        done = write(header, std::move(body));
    }
    if (!done) throw base::plain_error(done.error().message);
}

/// If two nodes export the same resource, reports an error for the second one instead of for a node
/// that collects both.
void StoreAccess::Impl::check_exports(const std::string& node, const catalog::Catalog& catalog,
                                      const std::vector<std::string>& collected) {
    const bool strict = config::aliased_setting(settings, "strict-exports") == "true";
    auto there = opened();
    auto clashes = there ? (*there)->export_clashes(node, catalog)
                         : Result<std::vector<store::ExportClash>>(std::unexpected(there.error()));
    if (!clashes) {
        const auto text = fmt::format("Could not check the exported resources of {}: {}", node,
                                      clashes.error().message);
        if (strict) throw base::plain_error(text);
        log.log(base::Level::Warning, text);
        return;
    }
    for (const auto& clash : *clashes) {
        if (strict) throw base::plain_error(clash.text());
        log.log(base::Level::Warning, clash.text());
    }
    if (auto known = remember_collections(node, collected); !known) {
        log.log(base::Level::Warning,
                fmt::format("Could not store the queries of the collectors of {}: {}", node,
                            known.error().message));
    }
}

StoreAccess::StoreAccess(const config::Settings& settings, const Embedded& embedded,
                         std::string user_agent)
    : impl_(std::make_unique<Impl>(settings, embedded, std::move(user_agent))) {}
StoreAccess::~StoreAccess() = default;

void StoreAccess::log_to(base::LogSink* log) { impl_->log.to = log; }

compiler::ExportedSource& StoreAccess::exported() {
    if (auto* service = impl_->remote()) return *service;
    return *impl_;
}

store::Store& StoreAccess::embedded() { return impl_->embedded(); }
bool StoreAccess::is_embedded() { return impl_->remote() == nullptr; }

Result<Value> StoreAccess::query(const Value& query, base::Arena& arena) {
    if (auto* service = impl_->remote()) return service->query(query, arena);
    if (!impl_->engine) {
        impl_->embedded();  // creates the tables
        impl_->engine =
            std::make_unique<store::QueryEngine>(impl_->database(), store::QueryEngineOptions{1});
    }
    std::string text;
    if (query.is_string()) {
        text = query.as_string();
    } else {
        catalog::append_json_value(text, query, catalog::ValueForm::Stringified);
    }
    try {
        return value::parse_json(arena, BUNRAKU_TRY(impl_->engine->run_text(text)));
    } catch (const query::QueryError& error) {
        return base::failure(error.message, error.status);
    }
}

namespace {

/// Returns the facts of `node`, with $trusted if it is known to belong to the node.
Value facts_to_store(base::Arena& arena, const std::string& node, const Value& facts,
                     const Value& trusted) {
    if (!trusted.is_hash() || !facts.is_hash()) return facts;
    const Value* name = at(trusted, "certname");
    if (name && name->is_string() && name->as_string() != node) return facts;
    value::HashBuilder out(arena, facts.as_hash().size() + 1);
    out.merge(facts.as_hash());
    out.set("trusted", trusted);
    return out.build();
}

}  // namespace

std::int64_t StoreAccess::store_facts(const std::string& node, const std::string& environment,
                                      const Value& facts, const Value& trusted) {
    base::Arena arena(16 * 1024);
    const std::int64_t now = store::now_ms();
    std::string body = "{\"certname\":";
    codec::append_json_string(body, node);
    body += ",\"environment\":";
    codec::append_json_string(body, environment);
    body +=
        fmt::format(",\"producer_timestamp\":\"{}\",\"producer\":", catalog::format_wire_time(now));
    codec::append_json_string(body, impl_->settings.text("certname"));
    body += ",\"values\":";
    catalog::append_json_value(body, facts_to_store(arena, node, facts, trusted),
                               catalog::ValueForm::Stringified);
    body += '}';
    impl_->remember(store::CommandKind::ReplaceFacts, 5, node, now, std::move(body));
    return now;
}

void StoreAccess::store_catalog(const Subject& subject, const catalog::Catalog& catalog,
                                const catalog::Naming& naming, const RunIds& run) {
    const auto& node = subject.node;
    catalog::WireEnvelope envelope;
    envelope.producer = impl_->settings.text("certname");
    envelope.producer_timestamp = store::now_ms();
    envelope.transaction_uuid =
        run.transaction_uuid.empty() ? catalog.catalog_uuid : run.transaction_uuid;
    if (!run.job_id.empty()) envelope.job_id = run.job_id;
    envelope.has_producer_timestamp = true;
    auto check = [](const auto& result) {
        if (!result)
            throw base::plain_error(
                fmt::format("Could not store the catalog: {}", result.error().message));
    };
    const bool service = impl_->remote() != nullptr;
    if (!service) impl_->check_exports(node, catalog, run.collected);
    if (!service && !impl_->own.submit && !store::has_owner(impl_->database())) {
        auto there = impl_->opened(Impl::For::Writing);
        check(there);
        return check((*there)->replace_catalog(node, envelope.producer_timestamp, catalog, envelope,
                                               naming));
    }
    if (service && subject.facts.is_hash())
        (void)store_facts(node, catalog.environment, subject.facts, subject.trusted);
    // Collectors of the embedded store need Sensitive values. A remote service would show them to
    // its users, so they are left out there.
    auto wire =
        catalog::write_wire(9, catalog, envelope, naming,
                            service ? catalog::WireSecrets::LeftOut : catalog::WireSecrets::Rich);
    check(wire);
    impl_->remember(store::CommandKind::ReplaceCatalog, 9, node, envelope.producer_timestamp,
                    std::move(*wire));
}

void StoreAccess::store_report(const std::string& node, const Value& report) {
    const std::int64_t now = store::now_ms();
    auto* service = impl_->remote();
    impl_->remember(store::CommandKind::StoreReport, 8, node, now,
                    report_command(report, impl_->settings.text("certname"), now,
                                   service && service->config().include_unchanged_resources));
}

std::string store_key_of(const config::Settings& settings) {
    auto named = settings.text("store_key");
    return named.empty() ? settings.text("ssldir") + "/store.key" : named;
}

std::string store_path(const config::Settings& settings) {
    return settings.text("statedir") + "/store.sqlite3";
}

std::string database_of(const config::Settings& settings, std::string_view given) {
    if (given.starts_with("sqlite:")) given.remove_prefix(7);
    if (given.starts_with("///")) given.remove_prefix(2);
    return given.empty() ? store_path(settings) : std::string(given);
}

}  // namespace bunraku::site
