// SPDX-License-Identifier: Apache-2.0
// The role of the compiler: the requests of agents under /puppet/v3 and /puppet/v4.
#include <fmt/format.h>

#include "compile/site/conditional_headers.h"
#include "compile/site/fact_sources.h"
#include "compile/site/puppetdb_client.h"
#include "compile/site/spool.h"
#include "compile/site/trusted_external.h"
#include "compile/site/view.h"
#include "core/base/number.h"
#include "core/codec/digest.h"
#include "core/config/compatibility.h"
#include "core/config/setting_values.h"
#include "core/sys/change_times.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/value/rich_data.h"
#include "language/environment/watched_files.h"
#include "services/server/compiler.h"
#include "services/server/content_mark.h"
#include "services/server/content_peers.h"
#include "services/server/debug_status.h"
#include "services/server/puppet_api.h"
#include "services/server/puppetserver_conf.h"
#include "services/server/role.h"
#include "store/engine/service.h"

namespace bunraku::server {

using base::Result;

namespace {

/// Returns the inputs of catalogs that traces do not contain: this program and its settings.
std::string program_of(const Context& context, const config::Settings& settings) {
    base::Arena arena(64 * 1024);
    auto text = value::to_json(site::settings_as_value(arena, settings));
    // The locations of the server's own files do not affect a catalog unless it reads them.
    for (const std::string_view name :
         {"statedir", "vardir", "ssldir", "cadir", "logdir", "rundir"}) {
        const auto folder = settings.text(name);
        for (std::size_t at = 0; !folder.empty() && (at = text.find(folder, at)) != text.npos;)
            text.replace(at, folder.size(), name);
    }
    return fmt::format("{} {} {}", context.version, sys::own_program_stamp(),
                       codec::short_digest(text));
}

}  // namespace

Compiler::Compiler(const Context& context, config::Settings settings, site::Options options)
    : log_(context.log),
      aside_(context.aside),
      authorization_(context.authorization),
      site_(std::move(settings), options),
      slots_(context.runtime, options.threads, options.queue),
      versions_(site_.settings(), options.files,
                context.versions
                    ? context.versions
                    : make_local_versions(context.state_directory + "/versions", context.log),
                [this](const PlacedVersion& version) { forget(version); }),
      files_(site_.settings()),
      fact_files_(FactFiles::of_settings(site_.settings(), context.log)),
      static_content_(context.state_directory + "/static", files_),
      catalog_cache_(
          context.state_directory + "/kept", context.log, program_of(context, site_.settings()),
          std::make_shared<store::Secrets>(site::store_key_of(site_.settings())),
          [this](const std::string& path) { return content_mark(files_.digests(), path); }),
      known_reports_(context.state_directory + "/reports", context.log),
      server_facts_(site::own_server_facts(arena_, site_.settings().compatibility())),
      compile_time_(context.counters.histogram(kCompileTime, "Time that a compile takes.")),
      compile_wait_(
          context.counters.histogram(kCompileWait, "Time that a compile waits for its turn.")) {}

value::Value Compiler::trusted_data(base::Arena& arena, const http::Request& request) {
    const auto client = caller(request);
    const auto trusted = server::trusted_data(arena, client.get(), authorization_->oid_names());
    if (!client || client->name.empty() || settings().text("trusted_external_command").empty())
        return trusted;
    return site::with_trusted_external(
        arena, trusted,
        site::trusted_external(arena, settings(), *sys::make_real_processes(), client->name, log_));
}

std::shared_ptr<const PlacedVersion> Compiler::version(const http::Request& request,
                                                       const std::string& environment, RunStep step,
                                                       std::string_view transaction) {
    const auto client = caller(request);
    const auto ours = request.headers.get(site::kRunHeader);
    return versions_.of({.environment = environment,
                         .node = client ? std::string_view(client->name) : std::string_view(),
                         .transaction = ours.empty() ? transaction : std::string_view(ours)},
                        step);
}

std::shared_ptr<const environment::Environment> Compiler::environment(
    const std::string& name, const PlacedVersion* version) {
    site::NodeRequest request;
    request.overlay.set("environment", name);
    if (version) version->place(request.sources);
    auto found = site_.environment(request);
    if (found->directory().empty() && name != "production")
        throw ApiError(404, fmt::format("Could not find environment '{}'", name));
    return found;
}

std::shared_ptr<const environment::Environment> Compiler::environment(const http::Request& request,
                                                                      const std::string& name,
                                                                      RunStep step) {
    return environment(name, version(request, name, step).get());
}

std::shared_ptr<const environment::Environment> Compiler::base_environment(
    const std::string& name) {
    return environment(name, versions_.base(name).get());
}

namespace {

/// Returns the key of what is cached for a version of an environment.
std::string key_of(const std::string& name, const PlacedVersion* version) {
    return version ? fmt::format("{}\n{}", name, version->folder) : name;
}

}  // namespace

std::shared_ptr<const environment::Environment> Compiler::recent_environment(
    const std::string& name, const PlacedVersion* version) {
    const auto now = std::chrono::steady_clock::now();
    const auto key = key_of(name, version);
    {
        const std::lock_guard lock(mutex_);
        const auto it = recent_.find(key);
        if (it != recent_.end() && now - it->second.since < std::chrono::seconds(1))
            return it->second.environment;
    }
    auto found = environment(name, version);
    const std::lock_guard lock(mutex_);
    // Clients choose the name, but only existing environments are cached.
    recent_[key] = {found, now};
    return found;
}

void Compiler::require_environment(const std::string& name) {
    (void)recent_environment(name, versions_.base(name).get());
}

bool Compiler::has_environment(const std::string& name) {
    try {
        require_environment(name);
        return true;
    } catch (const ApiError&) {
        return false;
    }
}

void Compiler::forget(const PlacedVersion& version) {
    site_.forget(*version.sources.files);
    const auto of_version = [ending = "\n" + version.folder](const auto& entry) {
        return entry.first.ends_with(ending);
    };
    const std::lock_guard lock(mutex_);
    std::erase_if(recent_, of_version);
    std::erase_if(plugins_, of_version);
}

std::string Compiler::plugins_tag(const std::string& name, const PlacedVersion* version) {
    const auto now = std::chrono::steady_clock::now();
    const auto key = key_of(name, version);
    {
        const std::lock_guard lock(mutex_);
        const auto it = plugins_.find(key);
        if (it != plugins_.end() && now - it->second.since < std::chrono::seconds(10))
            return it->second.tag;
    }
    const auto environment = this->environment(name, version);
    const auto moment = environment->files().moment();
    if (moment) {
        const std::lock_guard lock(mutex_);
        const auto it = plugins_.find(key);
        if (it != plugins_.end() && it->second.environment == environment &&
            it->second.moment == moment) {
            it->second.since = now;
            return it->second.tag;
        }
    }
    FileRequest file_request;
    file_request.files = &environment->files();
    file_request.watch = true;
    file_request.follow_links = true;
    file_request.search.max_files = -1;
    std::string all;
    std::vector<std::string> broken;
    for (const std::string_view mount : {"plugins", "pluginfacts"}) {
        all += mount;
        for (const auto& facts :
             files_.walk(files_.search(*environment, mount, "", file_request.watch), file_request,
                         &broken)) {
            // Agents ignore the modification time of a folder.
            all += fmt::format("\n{} {} {}", *facts.relative, facts.type,
                               facts.type == "directory" ? "" : facts.checksum.value_or(""));
        }
    }
    auto tag = codec::short_digest(all);
    const std::lock_guard lock(mutex_);
    plugins_[key] = {tag, now, environment, moment};
    return tag;
}

void Compiler::flush() {
    site_.clear();
    versions_.clear();
    catalog_cache_.clear();
    const std::lock_guard lock(mutex_);
    recent_.clear();
    plugins_.clear();
}

namespace {

/// Agents that did not run for longer get the current version of files.
constexpr std::int64_t kKeepStaticContent = 30 * 86'400;

class CompilerRole final : public Role {
public:
    CompilerRole(const Context& context, config::Settings settings, site::Options options,
                 std::shared_ptr<site::Spool> spool)
        : version_(context.version),
          counters_(context.counters),
          spool_(std::move(spool)),
          compiler_(context, std::move(settings), std::move(options)) {
        auto* c = &compiler_;
        const auto gauge = [&](const char* name, const char* help, auto value) {
            context.counters.gauge(name, help, {},
                                   [value] { return static_cast<double>(value()); });
        };
        const auto counter = [&](const char* name, const char* help, auto value) {
            context.counters.counter(name, help, {},
                                     [value] { return static_cast<double>(value()); });
        };
        counter("bunraku_catalogs_compiled_total", "Catalogs that were compiled.",
                [c] { return c->compiled.load(); });
        counter("bunraku_catalogs_failed_total", "Compiles that failed.",
                [c] { return c->failed.load(); });
        gauge("bunraku_catalogs_waiting", "Requests that wait for a compile.",
              [c] { return c->slots().waiting(); });
        gauge("bunraku_catalogs_kept", "Cached catalogs.",
              [c] { return c->catalog_cache().size(); });
        counter("bunraku_catalogs_reused_total", "Catalogs returned from the cache.",
                [c] { return c->catalog_cache().answered(); });
        counter("bunraku_reports_repeated_total", "Reports sent as a difference to the last one.",
                [c] { return c->repeated_reports.load(); });
        gauge("bunraku_compile_slots", "Catalogs that can be compiled at the same time.",
              [c] { return c->slots().figures().total; });
        gauge("bunraku_compile_slots_free", "Free compile slots.",
              [c] { return c->slots().figures().free; });
        gauge("bunraku_ruby_workers", "Ruby child processes, idle ones included.",
              [c] { return c->site().ruby_workers(); });
        counter("bunraku_compiles_asked_total", "Compiles that were requested.",
                [c] { return c->slots().figures().asked; });
        counter("bunraku_compiles_returned_total", "Compiles that ended.",
                [c] { return c->slots().figures().returned; });
        counter("bunraku_compiles_refused_total", "Compiles refused because too many were waiting.",
                [c] { return c->slots().figures().refused; });
        counter("bunraku_compiles_timed_out_total", "Compiles that waited too long.",
                [c] { return c->slots().figures().timed_out; });
        clean_later(context.aside, context.log);
    }
    std::string_view name() const override { return "compiler"; }
    void mount(http::Router& router) override {
        mount_catalogs(router, compiler_);
        mount_files(router, compiler_);
        mount_bucket(router, compiler_);
        mount_node_data(router, compiler_);
        mount_environments(router, compiler_);
        mount_tasks(router, compiler_);
        mount_cache(router, compiler_);
        mount_fallback(router, compiler_);
    }
    Result<void> reload() override {
        compiler_.flush();
        return {};
    }
    void stop() override {
        if (spool_) spool_->stop();
    }
    /// Uses the names that puppetserver's dashboards read. A slot for compiles corresponds to a
    /// JRuby instance.
    std::vector<ServiceStatus> status() override {
        const auto routes = route_metrics(counters_);
        return {{"server", version_, "running", "{}", routes},
                {"master", version_, "running", "{}", routes},
                {"jruby-metrics", version_, "running", "{}",
                 pool_metrics(compiler_.slots().figures(), counters_)},
                {"puppet-profiler", version_, "running", "{}", profiler_metrics(counters_)}};
    }

private:
    void clean_later(sys::Executor& aside, base::LogSink& log) {
        (void)aside.post_after(std::chrono::hours(24), [this, &aside, &log] {
            compiler_.static_content().clean(kKeepStaticContent, log);
            clean_later(aside, log);
        });
    }

    std::string version_;
    const base::Counters& counters_;
    std::shared_ptr<site::Spool> spool_;  ///< null if no external PuppetDB is used
    Compiler compiler_;
};

/// Opens the spool for an external PuppetDB, which stores its commands on disk until it accepts
/// them. Returns null if none is configured.
Result<std::shared_ptr<site::Spool>> open_spool(const Context& context,
                                                const config::Settings& settings,
                                                const std::string& user_agent) {
    try {
        std::shared_ptr<site::PuppetdbClient> client =
            site::puppetdb_service(settings, user_agent, context.log, &context.network,
                                   context.store ? site::OwnStore::There : site::OwnStore::Perhaps);
        if (!client) return nullptr;
        client->fail_hard();
        site::SpoolOptions options;
        options.folder = context.state_directory + "/spool";
        options.key_file = site::store_key_of(settings);
        options.max_depth = static_cast<std::size_t>(
            BUNRAKU_TRY(number_setting(settings, "puppetdb-spool-limit",
                                       static_cast<std::int64_t>(site::SpoolOptions{}.max_depth))));
        options.runtime = &context.runtime;
        options.counters = &context.counters;
        options.log = &context.log;
        auto out = BUNRAKU_TRY(site::Spool::open(
            std::move(options),
            [client](const store::CommandHeader& header, const std::string& body) {
                return client->submit(store::command_name(header.kind), header.version,
                                      header.certname, header.producer_timestamp, body);
            }));
        return std::shared_ptr<site::Spool>(std::move(out));
    } catch (const base::PuppetError& e) {
        return base::failure(e.message());
    }
}

/// Creates the default environment for agents that do not name one. Puppet's settings do this when
/// a server starts.
void make_production(const config::Settings& settings, base::LogSink& log) {
    const std::string name = "production";
    const auto folders = settings.list("environmentpath");
    auto& files = sys::disk();
    if (folders.empty() || settings.text("environment") != name) return;
    for (const auto& folder : folders)
        if (files.lstat(sys::join(folder, name))) return;
    if (!files.is_directory(folders.front())) return;
    const auto made = files.make_directory(sys::join(folders.front(), name), 0750);
    if (!made) log.log(base::Level::Warning, made.error().message);
}

}  // namespace

Result<std::unique_ptr<Role>> make_compiler_role(const Context& context) {
    config::Settings settings = context.settings;
    make_production(settings, context.log);
    // There is always a store, so exported resources work by default.
    if (!settings.is_set("storeconfigs")) settings.set("storeconfigs", "true");
    BUNRAKU_TRY_VOID(ContentPeers::urls_of(settings));
    site::Options options;
    options.log = &context.log;
    options.user_agent = fmt::format(
        "Puppet/{} Bunraku/{}", config::puppet_version(settings.compatibility()), context.version);
    options.environment_timeout = settings.text("environment_timeout");
    options.files = environment::watched_files();
    const auto number = [&](const char* name, std::int64_t otherwise) {
        const auto jruby = base::parse_integer<std::int64_t>(jruby_setting(settings, name));
        return number_setting(settings, name, jruby.value_or(otherwise));
    };
    const auto cores = static_cast<std::int64_t>(context.runtime.cores());
    options.threads = static_cast<std::size_t>(
        std::max<std::int64_t>(1, BUNRAKU_TRY(number("max-active-instances", cores))));
    options.queue = static_cast<std::size_t>(BUNRAKU_TRY(number("max-queued-requests", 1000)));
    options.ruby_children = 2 * options.threads;
    const auto limits = BUNRAKU_TRY(config::compile_limits(
        settings, {.time_ms = 60'000, .memory_bytes = std::int64_t{2} << 30}));
    options.memory = static_cast<std::size_t>(limits.memory_bytes);
    options.time = std::chrono::milliseconds(limits.time_ms);
    options.store.database = context.database;
    if (options.store.database.starts_with("sqlite:")) options.store.database.erase(0, 7);
    options.store.network = &context.network;
    if (context.store) {
        options.store.submit = [service = context.store](const store::CommandHeader& header,
                                                         std::string body) -> Result<void> {
            BUNRAKU_TRY(service->submit(header, std::move(body)));
            return {};
        };
        options.store.facts_match = [service = context.store](const std::string& node,
                                                              std::int64_t producer_timestamp) {
            return service->facts_match(node, producer_timestamp);
        };
    }
    auto spool = BUNRAKU_TRY(open_spool(context, settings, options.user_agent));
    if (spool) {
        options.store.spool = [spool](const store::CommandHeader& header, std::string body) {
            return spool->add(header, std::move(body));
        };
    }
    return std::unique_ptr<Role>(
        new CompilerRole(context, std::move(settings), std::move(options), std::move(spool)));
}

}  // namespace bunraku::server
