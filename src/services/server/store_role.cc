// SPDX-License-Identifier: Apache-2.0
// The role of the store: adds commands to the durable queue and answers queries from the database.
#include <chrono>
#include <fmt/format.h>

#include "compile/site/store_access.h"
#include "core/config/setting_aliases.h"
#include "core/config/setting_values.h"
#include "services/server/history_routes.h"
#include "services/server/pdb_admin.h"
#include "services/server/pdb_command.h"
#include "services/server/pdb_query.h"
#include "services/server/population.h"
#include "services/server/role.h"
#include "services/server/status.h"
#include "store/engine/query_engine.h"
#include "store/engine/service.h"
#include "store/query/pql.h"

namespace bunraku::server {

using base::Result;

namespace {

class StoreRole final : public Role {
public:
    StoreRole(const Context& context, std::shared_ptr<store::Service> service,
              std::shared_ptr<store::QueryEngine> engine, std::shared_ptr<Population> population)
        : service_(std::move(service)),
          engine_(std::move(engine)),
          population_(std::move(population)),
          only_itself_(context.only_itself) {
        auto* raw = service_.get();
        if (auto replica = raw->replica()) {
            context.counters.gauge("bunraku_read_database_age_seconds",
                                   "Maximum age of the read database's content; -1 means unknown.",
                                   {}, [replica] {
                                       auto age = replica->age_ms();
                                       return age < 0 ? -1.0 : static_cast<double>(age) / 1000;
                                   });
        }
        context.counters.gauge("bunraku_dead_letters", "Commands that could not be processed.", {},
                               [raw] { return static_cast<double>(raw->health().dead_letters); });
    }
    std::string_view name() const override { return "store"; }
    void mount(http::Router& router) override {
        add_query_routes(router, engine_);
        add_command_routes(router, service_, only_itself_);
        add_admin_routes(router, service_);
        add_history_routes(router, service_);
    }
    void request_stop() override { service_->request_stop(); }
    void stop() override { service_->stop(); }
    std::vector<ServiceStatus> status() override {
        auto health = service_->health();
        const char* up = health.database_up ? "true" : "false";
        auto replica = service_->replica();
        const char* readable = replica && replica->usable() ? "true" : up;
        return {
            {"puppetdb-status", std::string(kPuppetdbVersion),
             health.database_up ? "running" : "error",
             fmt::format("{{\"maintenance_mode?\":false,\"queue_depth\":{0},\"read_db_up?\":{2},"
                         "\"write_db_up?\":{1},\"write_dbs_up?\":{1},\"write_db\":{{\"default\""
                         ":{{\"up?\":{1}}}}}}}",
                         health.queue.depth, up, readable)}};
    }

private:
    std::shared_ptr<store::Service> service_;
    std::shared_ptr<store::QueryEngine> engine_;
    std::shared_ptr<Population> population_;
    std::function<bool(const http::Request&)> only_itself_;
};

/// Returns the database. "sqlite:PATH" and a bare path are files.
std::string database_of(const Context& context) {
    std::string_view text = context.database;
    if (text.starts_with("sqlite:")) text.remove_prefix(7);
    if (text.starts_with("///")) text.remove_prefix(2);
    return text.empty() ? context.state_directory + "/store.sqlite3" : std::string(text);
}

Result<store::ServiceOptions> options_of(const Context& context) {
    const auto& s = context.settings;
    store::ServiceOptions out;
    out.database = database_of(context);
    out.queue_folder = context.state_directory + "/queue";
    out.key_file = site::store_key_of(s);
    out.counters = &context.counters;
    out.runtime = &context.runtime;
    out.gather_reports = std::chrono::milliseconds(100);
    auto* log = &context.log;
    out.log = [log](std::string_view level, const std::string& text) {
        log->log(base::level_from_name(level).value_or(base::Level::Warning), text);
    };
    constexpr std::int64_t kSecondMs = 1000, kMinuteMs = 60 * kSecondMs, kDayMs = 1440 * kMinuteMs;
    auto& l = out.lifetimes;
    l.node_ttl_ms = BUNRAKU_TRY(period_setting(s, "node-ttl", l.node_ttl_ms, kDayMs));
    l.node_purge_ttl_ms =
        BUNRAKU_TRY(period_setting(s, "node-purge-ttl", l.node_purge_ttl_ms, kDayMs));
    l.report_ttl_ms = BUNRAKU_TRY(period_setting(s, "report-ttl", l.report_ttl_ms, kDayMs));
    l.resource_events_ttl_ms =
        BUNRAKU_TRY(period_setting(s, "resource-events-ttl", l.resource_events_ttl_ms, kDayMs));
    l.catalog_history_ttl_ms =
        BUNRAKU_TRY(period_setting(s, "catalog-history-ttl", l.catalog_history_ttl_ms, kDayMs));
    out.gc_interval_ms =
        BUNRAKU_TRY(period_setting(s, "gc-interval", out.gc_interval_ms, kMinuteMs));
    out.max_command_size = static_cast<std::uint64_t>(BUNRAKU_TRY(
        number_setting(s, "max-command-size", static_cast<std::int64_t>(out.max_command_size))));
    out.replica = aliased_setting(s, "read-database");
    if (!out.replica.empty() && !store::is_postgresql_url(out.replica)) {
        return base::failure(fmt::format(
            "The setting 'read-database' must be postgresql://.., not '{}'", out.replica));
    }
    if (!out.replica.empty() && !store::is_postgresql_url(out.database)) {
        return base::failure("The setting 'read-database' needs a --database of PostgreSQL");
    }
    out.replica_max_lag_ms =
        BUNRAKU_TRY(period_setting(s, "read-database-max-lag", out.replica_max_lag_ms, 1000));
    out.workers = static_cast<int>(
        std::min<std::int64_t>(256, BUNRAKU_TRY(number_setting(s, "threads", out.workers))));
    auto blocklist = aliased_setting(s, "facts-blocklist");
    std::string_view rest = blocklist;
    while (!rest.empty()) {
        auto comma = rest.find(',');
        auto name = rest.substr(0, comma);
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
        while (name.starts_with(' ')) name.remove_prefix(1);
        while (name.ends_with(' ')) name.remove_suffix(1);
        if (!name.empty()) out.facts_blocklist.names.emplace_back(name);
    }
    out.facts_blocklist.regex = aliased_setting(s, "facts-blocklist-type") == "regex";
    return out;
}

}  // namespace

Result<std::unique_ptr<Role>> make_store_role(Context& context) {
    auto options = BUNRAKU_TRY(options_of(context));
    auto where = options.database;
    auto population = std::make_shared<Population>(context.aside);
    options.changed = [population] { population->changed(); };
    std::shared_ptr<store::Service> service =
        BUNRAKU_TRY(store::Service::start(std::move(options)));
    store::QueryEngineOptions query;
    query.runtime = &context.runtime;
    query.time_limit_ms = BUNRAKU_TRY(
        period_setting(context.settings, "query-timeout-default", query.time_limit_ms, 1000));
    query.longest_ms =
        BUNRAKU_TRY(period_setting(context.settings, "query-timeout-max", query.longest_ms, 1000));
    query.connections = static_cast<std::size_t>(std::clamp<std::int64_t>(
        BUNRAKU_TRY(number_setting(context.settings, "maximum-pool-size",
                                   static_cast<std::int64_t>(query.connections))),
        1, 1000));
    query.replica = service->replica();
    query.limits = service->wait_limits();
    auto engine = std::make_shared<store::QueryEngine>(where, query);
    context.store = service;
    population->start(context.counters, engine);
    context.queries = engine;
    return std::unique_ptr<Role>(
        new StoreRole(context, std::move(service), std::move(engine), std::move(population)));
}

}  // namespace bunraku::server
