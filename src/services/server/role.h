// SPDX-License-Identifier: Apache-2.0
// A server consists of roles. Each role adds its routes and reports its status.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/counters.h"
#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/settings.h"
#include "core/sys/executor.h"
#include "net/http/auth_conf.h"
#include "net/http/router.h"

namespace bunraku::store {
class QueryEngine;
class Service;
}  // namespace bunraku::store
namespace bunraku::http {
class Network;
}
namespace bunraku::rollout {
struct RolloutAccess;
}

namespace bunraku::server {

class ApiTokens;
class CaAccess;
class VersionAuthority;

/// The environment in which roles are created. It outlives them.
struct Context {
    const config::Settings& settings;
    base::Counters& counters;
    base::LogSink& log;  ///< thread-safe
    sys::Runtime& runtime;
    http::Network& network;  ///< for connections to other servers
    sys::Executor& aside;    ///< for periodic work; stops before the roles do
    std::string version;
    std::string state_directory;  ///< exists already, and is private
    /// "sqlite:PATH", "postgresql://..", or empty for the role's default
    std::string database;
    /// Rules of auth.conf for the routes of puppetserver's APIs (`authorization->access()`).
    std::shared_ptr<http::Authorization> authorization = {};
    /// Reports whether the client of a request for the store is a node that reaches only itself.
    std::function<bool(const http::Request&)> only_itself = {};
    /// Reloads certificates and revocation lists after they changed on disk.
    std::function<base::Result<void>()> reload_certificates = {};
    /// The store of this process, if it has the role `store`, which is created before the roles
    /// that use it.
    std::shared_ptr<store::Service> store = nullptr;
    /// Runs the queries of the store's API; set together with `store`.
    std::shared_ptr<store::QueryEngine> queries = nullptr;
    ApiTokens* tokens = nullptr;  ///< the tokens of this server
    /// The authority of this process, if it has the role `ca`. This role is created before the
    /// others.
    CaAccess* ca = nullptr;
    /// The versions of nodes. If null, the compiler role uses make_local_versions().
    std::shared_ptr<VersionAuthority> versions = nullptr;
    /// The rollouts of this server; set together with `versions`.
    std::shared_ptr<rollout::RolloutAccess> rollouts = nullptr;
};

/// A member of /status/v1/services.
struct ServiceStatus {
    std::string name;  ///< for example "puppetdb-status"
    std::string version;
    std::string state = "running";  ///< running, error, starting, stopping or unknown
    std::string json = "{}";        ///< member "status"
    std::string debug = {};         ///< member "status" at level debug; `json` is used if empty
};

class Role {
public:
    virtual ~Role() = default;
    /// Returns the name in --roles, such as "store".
    virtual std::string_view name() const = 0;
    virtual void mount(http::Router& router) = 0;
    /// Called once when the server listens. `urls` are those of Server::urls().
    virtual void listening(const std::vector<std::string>& urls) { (void)urls; }
    /// Called when the server reloads its files.
    virtual base::Result<void> reload() { return {}; }
    /// Called before stop(), while requests still arrive. From now on, no request may wait for
    /// another server that does not answer.
    virtual void request_stop() {}
    /// Stops the role's threads. No more requests arrive at this point.
    virtual void stop() {}
    virtual std::vector<ServiceStatus> status() { return {}; }
};

// The roles. Each function fails with the reason why the role cannot start.
/// Creates the role and sets `context.store` and `context.queries`.
base::Result<std::unique_ptr<Role>> make_store_role(Context& context);
base::Result<std::unique_ptr<Role>> make_compiler_role(const Context& context);
base::Result<std::unique_ptr<Role>> make_forge_role(const Context& context);
/// Creates the role and sets `context.ca`.
base::Result<std::unique_ptr<Role>> make_ca_role(Context& context);
/// Rollouts (services/rollout). Needs the role `store`. Sets `context.versions`
/// and `context.rollouts`.
base::Result<std::unique_ptr<Role>> make_rollout_role(Context& context);
/// The web console (services/console). Needs the role `store`.
base::Result<std::unique_ptr<Role>> make_console_role(const Context& context);

}  // namespace bunraku::server
