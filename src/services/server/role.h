// What a server does is split into roles; each adds its routes and says how it is.
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
class Service;
}
namespace bunraku::http {
class Network;
}

namespace bunraku::server {

/// What roles are made with; outlives them.
struct Context {
    const config::Settings& settings;
    base::Counters& counters;
    base::LogSink& log;  ///< for all threads
    sys::Runtime& runtime;
    http::Network& network;  ///< by which other servers are reached
    sys::Executor& aside;    ///< for what is done now and then; ends before the roles do
    std::string version;
    std::string state_directory;  ///< there, and private
    std::string database;         ///< "sqlite:PATH", "postgresql://..", or empty: the role's own
    /// auth.conf: for the routes of puppetserver's APIs (`authorization->access()`).
    std::shared_ptr<http::Authorization> authorization = {};
    /// Certificates and revocation lists changed on disk: connections are to know.
    std::function<base::Result<void>()> reload_certificates = {};
    /// That of this process, where it has the role `store`; that role is made before the others.
    std::shared_ptr<store::Service> store = nullptr;
};

/// One member of /status/v1/services.
struct ServiceStatus {
    std::string name;  ///< "puppetdb-status"
    std::string version;
    std::string state = "running";  ///< running, error, starting, stopping, unknown
    std::string json = "{}";        ///< the member "status"
    std::string debug = {};         ///< the same at that level; empty: no other
};

class Role {
public:
    virtual ~Role() = default;
    /// "store", as --roles has it.
    virtual std::string_view name() const = 0;
    virtual void mount(http::Router& router) = 0;
    /// Called when the server was told to read its files again.
    virtual base::Result<void> reload() { return {}; }
    /// No request comes any more; threads of its own end.
    virtual void stop() {}
    virtual std::vector<ServiceStatus> status() { return {}; }
};

// What there is. Each fails with what keeps it from starting.
/// Sets `context.store`.
base::Result<std::unique_ptr<Role>> make_store_role(Context& context);
base::Result<std::unique_ptr<Role>> make_compiler_role(const Context& context);
base::Result<std::unique_ptr<Role>> make_forge_role(const Context& context);
base::Result<std::unique_ptr<Role>> make_ca_role(const Context& context);

}  // namespace bunraku::server
