// SPDX-License-Identifier: Apache-2.0
#include "services/server/instance.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fmt/format.h>
#include <mutex>
#include <sys/stat.h>

#include "compile/site/store_access.h"
#include "core/config/setting_aliases.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/sys/lock.h"
#include "net/http/network.h"
#include "net/http/url.h"
#include "services/server/access_log.h"
#include "services/server/allow_list.h"
#include "services/server/ca_settings.h"
#include "services/server/debug_status.h"
#include "services/server/front_page.h"
#include "services/server/http_metrics.h"
#include "services/server/pdb_access.h"
#include "services/server/puppet_api.h"
#include "services/server/puppetserver_conf.h"
#include "services/server/role.h"
#include "services/server/status.h"
#include "services/server/tokens.h"
#include "store/db/owner.h"
#include "store/engine/service.h"

namespace bunraku::server {

using base::failure;
using base::Level;
using base::Result;

namespace {

/// A log sink with a lock, which the handlers of all threads use.
class LockedSink final : public base::LogSink {
public:
    using LogSink::log;
    explicit LockedSink(base::LogSink& under) : under_(under) {}
    void log(const base::Diagnostic& diagnostic) override {
        std::lock_guard lock(mutex_);
        under_.log(diagnostic);
    }
    bool enabled(Level level) const override { return under_.enabled(level); }

private:
    base::LogSink& under_;
    std::mutex mutex_;
};

constexpr std::chrono::seconds kRatesPause{5};

struct RoleMaker {
    std::string_view name;
    Result<std::unique_ptr<Role>> (*make)(Context&);
};
constexpr RoleMaker kRoles[] = {
    // First, because it creates the certificates that other roles and the listeners use.
    {"ca", make_ca_role},
    {"store", make_store_role},
    {"compiler", [](Context& c) { return make_compiler_role(c); }},
    {"forge", [](Context& c) { return make_forge_role(c); }},
    {"console", [](Context& c) { return make_console_role(c); }},
};

/// Reads the setting client-auth of PuppetDB's [jetty]: whether clients of the store must have a
/// certificate. Clients of the forge have none. So if the forge is also served, "need" is enforced
/// by routes and not by the TLS handshake.
Result<bool> certificate_needed(const config::Settings& settings) {
    auto text = aliased_setting(settings, "client-auth");
    if (text.empty() || text == "need") return true;
    if (text == "want" || text == "none") return false;
    return failure("Invalid setting client-auth (expected need, want or none): " + text);
}

http::TlsFiles tls_files(const config::Settings& settings) {
    http::TlsFiles files;
    files.certificate = settings.text("hostcert");
    files.private_key = settings.text("hostprivkey");
    if (sys::disk().exists(second_certificate_path(settings))) {
        files.second_certificate = second_certificate_path(settings);
        files.second_private_key = second_key_path(settings);
    }
    files.ca = settings.text("localcacert");
    auto revocation = settings.text("certificate_revocation");
    if (revocation != "false") {
        auto crl = settings.text("hostcrl");
        // An authority that has not revoked any certificate may not have published a list yet.
        if (sys::disk().exists(crl)) files.crl = crl;
        files.crl_leaf_only = revocation == "leaf";
    }
    return files;
}

/// Returns the paths where certificates exist or may be created.
std::vector<std::string> certificate_paths(const config::Settings& settings) {
    return {settings.text("hostcert"), settings.text("hostprivkey"), settings.text("localcacert"),
            settings.text("hostcrl"), second_certificate_path(settings)};
}

/// Returns a value that changes when one of the files is replaced.
std::int64_t certificate_stamp(const config::Settings& settings) {
    const auto files = tls_files(settings);
    auto& disk = sys::disk();
    std::uint64_t out = 0;
    for (const auto* path : {&files.certificate, &files.private_key, &files.ca, &files.crl,
                             &files.second_certificate}) {
        auto status = path->empty() ? base::failure("") : disk.stat(*path);
        out = out * 1000003 +
              (status ? static_cast<std::uint64_t>(status->mtime_ns) + status->inode * 31 : 7);
    }
    return static_cast<std::int64_t>(out);
}

/// Reports whether a server without explicit roles is the authority. It is if an authority exists
/// already, or if this machine has no certificate of another one yet. Without TLS, no authority is
/// needed.
bool is_authority(const config::Settings& settings, bool any_tls, base::LogSink& log) {
    if (!any_tls) return false;
    auto& files = sys::disk();
    const auto key = files.stat(settings.text("cakey"));
    if (key) return true;
    if (key.error().code == EACCES) {
        log.log(Level::Err,
                fmt::format("The CA in {} is not served: this user may not read it ({}). Run the "
                            "server as the user who owns it, or leave the role ca out (--roles)",
                            settings.text("cadir"), key.error().message));
        return false;
    }
    return !files.exists(settings.text("hostcert"));
}

}  // namespace

Result<http::Listener> parse_listener(std::string_view text, bool tls,
                                      const std::string& default_host) {
    http::Listener out;
    out.tls = tls;
    out.host = default_host;
    std::string_view port = text;
    if (text.starts_with('[')) {
        auto close = text.find(']');
        if (close != std::string_view::npos) {
            out.host = text.substr(1, close - 1);
            port = text.substr(close + 1);
            if (port.starts_with(':')) port.remove_prefix(1);
        }
    } else if (auto colon = text.rfind(':'); colon != std::string_view::npos) {
        if (colon > 0) out.host = text.substr(0, colon);
        port = text.substr(colon + 1);
    }
    unsigned number = 0;
    bool good = !port.empty() && port.size() <= 5;
    for (char c : port) {
        if (c < '0' || c > '9') good = false;
        number = number * 10 + static_cast<unsigned>(c - '0');
    }
    if (!good || number > 65535) return failure(fmt::format("{} is not HOST:PORT", text));
    out.port = static_cast<std::uint16_t>(number);
    return out;
}

struct Instance::Impl {
    Impl(const config::Settings& s, base::LogSink& sink, http::Network& n)
        : settings(s),
          log(sink),
          network(n),
          aside(n.runtime().executor(
              {.threads = 2, .name = "aside", .error = [this](const std::string& what) {
                   log.log(Level::Err, what);
               }})) {}
    const config::Settings& settings;
    LockedSink log;
    http::Network& network;
    base::Counters counters;
    HttpMetrics http_metrics{counters};
    std::unique_ptr<Context> context;
    std::unique_ptr<sys::PidLock> pid;
    std::vector<std::unique_ptr<Role>> roles;
    std::shared_ptr<AllowList> allow_list;
    std::unique_ptr<ApiTokens> tokens;
    std::unique_ptr<AccessLog> access_log;  ///< null if it is disabled
    bool any_tls = false;
    std::unique_ptr<http::Server> server;
    /// for threads of roles that start before the server
    std::atomic<http::Server*> ready = nullptr;
    std::atomic<std::int64_t> stamp = 0;  ///< stamp of the certificates in use
    bool stopped = false;
    /// true while rates are updated, because there are requests
    std::atomic<bool> ticking = false;
    std::unique_ptr<sys::Executor> aside;
    std::unique_ptr<sys::Watch> certificate_watch;

    Result<void> make_state_directory(const std::string& path);
    Result<void> make_roles(const std::vector<std::string>& wanted);
    Result<void> listen(InstanceOptions& options);
    std::vector<ServiceStatus> status();
    /// Reports whether an external PuppetDB stores the data instead of this server.
    bool uses_another_store() const {
        return context->database.empty() && site::names_puppetdb(settings);
    }
    http::Access metrics_access();
    bool has_role(std::string_view name) const {
        return std::ranges::any_of(roles, [&](const auto& role) { return role->name() == name; });
    }
    StoreClients store_clients(bool certificate_needed) const {
        return {allow_list, context->authorization, has_role("compiler") || has_role("ca"),
                certificate_needed, settings.text("certname")};
    }
    Result<void> reload_certificates() {
        auto* listening = ready.load();
        if (!any_tls || !listening) return {};
        stamp = certificate_stamp(settings);
        return listening->reload_tls(tls_files(settings));
    }
    void tick();
    void look_at_certificates();
};

Result<void> Instance::Impl::make_state_directory(const std::string& path) {
    if (path.empty()) return failure("No folder is configured for the state: set statedir");
    auto& files = sys::disk();
    bool existed = files.exists(path);
    BUNRAKU_TRY_VOID(files.make_directories(path, 0700));
    // An existing folder keeps its mode. The files in it are private themselves.
    if (!existed) BUNRAKU_TRY_VOID(files.set_mode(path, 0700));
    pid = std::make_unique<sys::PidLock>(path + "/server.pid");
    if (!BUNRAKU_TRY(pid->acquire())) {
        return failure(
            fmt::format("Another server (process {}) uses the state in {}", pid->owner(), path));
    }
    return {};
}

Result<void> Instance::Impl::make_roles(const std::vector<std::string>& wanted) {
    const bool console_wanted = aliased_setting(settings, "console") != "false";
    auto has = [&](std::string_view name) {
        if (wanted.empty() && name == "store" && uses_another_store()) return false;
        if (wanted.empty() && name == "console") return has_role("store") && console_wanted;
        if (wanted.empty()) return name != "ca" || is_authority(settings, any_tls, log);
        return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
    };
    for (const auto& name : wanted) {
        if (std::any_of(std::begin(kRoles), std::end(kRoles),
                        [&](const RoleMaker& r) { return r.name == name; })) {
            continue;
        }
        std::string known;
        for (const auto& r : kRoles) known += (known.empty() ? "" : ", ") + std::string(r.name);
        return failure(fmt::format("Unknown role '{}'; the roles are: {}", name, known));
    }
    for (const auto& maker : kRoles) {
        if (!has(maker.name)) continue;
        roles.push_back(BUNRAKU_TRY(maker.make(*context)));
        // Rollouts decide which version the role `compiler` answers with.
        if (maker.name == "store") roles.push_back(BUNRAKU_TRY(make_rollout_role(*context)));
    }
    if (wanted.empty() && !has_role("store")) {
        log.log(Level::Notice,
                "The store is disabled, because puppet.conf or puppetdb.conf names an external "
                "PuppetDB; --roles enables it");
    }
    return {};
}

std::vector<ServiceStatus> Instance::Impl::status() {
    std::vector<ServiceStatus> out;
    for (const auto& role : roles)
        for (auto& s : role->status()) out.push_back(std::move(s));
    out.push_back({"status-service", context->version, "running",
                   fmt::format(R"({{"compatibility":"{}"}})",
                               config::level_name(context->settings.compatibility())),
                   jvm_metrics()});
    return out;
}

/// With a compiler, auth.conf controls access as in puppetserver. In a server with only the store,
/// or with an allow list, access is as in PuppetDB.
http::Access Instance::Impl::metrics_access() {
    if (!has_role("compiler") || allow_list || !context->authorization)
        return http::Access::listed();
    return administrators(*context->authorization);
}

Result<void> Instance::Impl::listen(InstanceOptions& options) {
    http::ServerOptions server_options;
    server_options.listeners = options.listeners;
    server_options.network = &network;
    for (const auto& l : options.listeners) {
        if (l.tls || options.http_anywhere || http::is_loopback(l.host)) continue;
        return failure(
            fmt::format("Plain HTTP on {} can be read and used by anyone who can reach "
                        "it: pass --http-anywhere if this is intended",
                        l.host));
    }
    if (auto path = aliased_setting(settings, "certificate-allowlist"); !path.empty())
        allow_list = BUNRAKU_TRY(AllowList::read(path));
    if (auto path = aliased_setting(settings, "access-log"); !path.empty())
        access_log = BUNRAKU_TRY(AccessLog::open({.path = path}, log));
    // Commands that write to this server's store connect to this socket. The simulated network of
    // tests has none.
    if (context->store && context->store->backend() == store::Backend::Sqlite &&
        &network == &http::sockets()) {
        server_options.listeners.push_back(
            {.path = store::owner_socket(context->store->options().database)});
    }
    // Taken before the files are read, so that changes during the read are detected afterwards.
    stamp = certificate_stamp(settings);
    if (any_tls) server_options.tls = tls_files(settings);
    const int cores = network.runtime().cores();
    server_options.io_threads = std::clamp(cores / 2, 1, 8);
    // Some workers wait for the disk, where one sync serves several of them, or for a command to
    // end.
    server_options.worker_threads = std::max(16, cores * 4);
    server_options.access_log = [this](const http::Request& request, int status,
                                       std::uint64_t bytes, std::int64_t microseconds) {
        http_metrics.record(request, status, bytes, microseconds);
        if (!ticking.exchange(true)) (void)aside->post_after(kRatesPause, [this] { tick(); });
        if (access_log)
            access_log->add(request, status, bytes, microseconds, network.runtime().now_ns());
        if (log.enabled(Level::Debug)) {
            log.log(Level::Debug,
                    fmt::format("{} {} {} {} {} {} us", request.peer.address, request.method,
                                request.target, status, bytes, microseconds));
        }
    };
    server_options.error_log = [this](const std::string& text) { log.log(Level::Err, text); };
    server_options.refusal_log = [this](const std::string& text) { log.log(Level::Warning, text); };

    http::Router router;
    http::AccessPolicy policy;
    // Access to plain HTTP was checked above.
    policy.plain_is_trusted = true;
    policy.certificate_needed = BUNRAKU_TRY(certificate_needed(settings));
    policy.allow_list =
        [clients = store_clients(policy.certificate_needed)](const http::Request& request) {
            return store_refusal(request, clients);
        };
    policy.bearer = [this](const http::Request& request) {
        return tokens->bearer(request, network.runtime().now_ns() / 1'000'000'000).has_value();
    };
    router.set_policy(std::move(policy));
    mount_status(router, [this] { return status(); });
    mount_meta(router);
    mount_metrics(router, counters);
    mount_jolokia(router, counters, metrics_access());
    std::vector<std::string> names;
    for (auto& role : roles) {
        role->mount(router);
        names.emplace_back(role->name());
    }
    mount_front_page(router, std::move(names), context->version);
    server = BUNRAKU_TRY(http::Server::start(std::move(router), std::move(server_options)));
    auto* raw = server.get();
    ready = raw;
    counters.gauge("bunraku_http_connections", "Open connections.", {},
                   [raw] { return static_cast<double>(raw->load().connections); });
    counters.gauge("bunraku_http_waiting_requests", "Requests that wait for a worker.", {},
                   [raw] { return static_cast<double>(raw->load().queued); });
    return {};
}

/// Updates rates while there is something to measure.
void Instance::Impl::tick() {
    ticking = counters.tick();
    if (ticking) (void)aside->post_after(kRatesPause, [this] { tick(); });
}

/// Reloads certificates that an agent's run or a tool of the authority has replaced.
void Instance::Impl::look_at_certificates() {
    if (!ready.load() || certificate_stamp(settings) == stamp) return;
    if (auto done = reload_certificates(); !done)
        log.log(Level::Err, "The changed certificates are not used: " + done.error().message);
}

Instance::Instance(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Instance::~Instance() { stop(std::chrono::seconds(0)); }

Result<std::unique_ptr<Instance>> Instance::start(const config::Settings& settings,
                                                  base::LogSink& log, InstanceOptions options) {
    auto impl =
        std::make_unique<Impl>(settings, log, options.network ? *options.network : http::sockets());
    auto state = settings.text("statedir");
    BUNRAKU_TRY_VOID(impl->make_state_directory(state));
    impl->tokens = std::make_unique<ApiTokens>(state + "/tokens.json");
    auto* raw = impl.get();
    impl->context = std::make_unique<Context>(
        Context{settings, impl->counters, impl->log, impl->network.runtime(), impl->network,
                *impl->aside, options.version, state, options.database});
    report_unhonoured(settings, impl->log);
    impl->context->tokens = impl->tokens.get();
    impl->context->authorization = BUNRAKU_TRY(http::read_authorization(settings, impl->log));
    impl->context->only_itself = [raw](const http::Request& request) {
        return reaches_only_itself(request, raw->store_clients(true));
    };
    impl->context->reload_certificates = [raw] { return raw->reload_certificates(); };
    // From here on, the destructor stops everything that was started.
    std::unique_ptr<Instance> out(new Instance(std::move(impl)));
    for (const auto& l : options.listeners) raw->any_tls |= l.tls;
    BUNRAKU_TRY_VOID(raw->make_roles(options.roles));
    auto& runtime = raw->network.runtime();
    raw->counters.set_clock(
        [&runtime] { return static_cast<double>(runtime.monotonic_ns()) / 1e9; });
    if (raw->any_tls) {
        raw->certificate_watch = runtime.watch(certificate_paths(settings), [raw] {
            (void)raw->aside->post([raw] { raw->look_at_certificates(); });
        });
    }
    BUNRAKU_TRY_VOID(raw->listen(options));
    for (auto& role : raw->roles) role->listening(raw->server->urls());
    return out;
}

std::vector<std::string> Instance::urls() const { return impl_->server->urls(); }

Result<void> Instance::reload() {
    Result<void> out;
    auto keep = [&](Result<void> result) {
        if (!result && out) out = std::move(result);
    };
    keep(impl_->reload_certificates());
    keep(impl_->context->authorization->reload());
    if (impl_->allow_list) keep(impl_->allow_list->reload());
    if (impl_->access_log) keep(impl_->access_log->reopen());
    for (auto& role : impl_->roles) keep(role->reload());
    return out;
}

void Instance::stop(std::chrono::seconds timeout) {
    auto& impl = *impl_;
    if (std::exchange(impl.stopped, true)) return;
    impl.certificate_watch.reset();
    for (auto& role : impl.roles) role->request_stop();
    impl.aside->stop();
    if (impl.server) impl.server->stop(timeout);
    for (auto& role : impl.roles) role->stop();
    if (impl.pid) impl.pid->release();
}

}  // namespace bunraku::server
