// SPDX-License-Identifier: Apache-2.0
// The state that the routes of the role `compiler` share.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "compile/site/site.h"
#include "services/server/catalog_cache.h"
#include "services/server/compile_slots.h"
#include "services/server/environment_versions.h"
#include "services/server/fact_files.h"
#include "services/server/file_serving.h"
#include "services/server/known_reports.h"
#include "services/server/role.h"
#include "services/server/static_content.h"

namespace bunraku::server {

/// There is one instance for the lifetime of a server. Thread-safe.
class Compiler {
public:
    Compiler(const Context& context, config::Settings settings, site::Options options);

    site::Site& site() { return site_; }
    base::LogSink& log() { return log_; }
    const config::Settings& settings() const { return site_.settings(); }
    CompileSlots& slots() { return slots_; }
    /// Returns the executor for work that no client waits for.
    sys::Executor& aside() { return aside_; }
    http::Authorization& authorization() { return *authorization_; }
    /// Returns the client according to its certificate, or to a proxy that auth.conf trusts.
    /// Returns null if the client is unknown.
    std::shared_ptr<const http::ClientCertificate> caller(const http::Request& request) const {
        return authorization_->current()->caller(request);
    }
    /// Returns $trusted of the client, including the output of trusted_external_command. Throws
    /// base::PuppetError.
    value::Value trusted_data(base::Arena& arena, const http::Request& request);
    FileMounts& files() { return files_; }
    StaticContent& static_content() { return static_content_; }
    const FactFiles& fact_files() const { return fact_files_; }
    CatalogCache& catalog_cache() { return catalog_cache_; }
    KnownReports& known_reports() { return known_reports_; }
    /// Returns $server_facts of this machine. The value lives as long as this object.
    const value::Value& server_facts() const { return server_facts_; }

    /// Durations in microseconds.
    base::Histogram& compile_time() { return compile_time_; }
    base::Histogram& compile_wait() { return compile_wait_; }

    /// Returns the version of an environment for a request, or null if the environment has no
    /// versions. `transaction` is the run that a request of Puppet's agent begins; our agent names
    /// its run in the header Bunraku-Run. Call it once for a request that begins a run. Throws
    /// Unavailable.
    std::shared_ptr<const PlacedVersion> version(const http::Request& request,
                                                 const std::string& environment, RunStep step,
                                                 std::string_view transaction = {});
    /// Returns the current state of this version of the environment. If `version` is null, returns
    /// the environment in its own folder. Throws ApiError 404 if it does not exist.
    std::shared_ptr<const environment::Environment> environment(const std::string& name,
                                                                const PlacedVersion* version);
    /// Does the same for the version that the request gets.
    std::shared_ptr<const environment::Environment> environment(const http::Request& request,
                                                                const std::string& name,
                                                                RunStep step);
    /// Does the same for the version to which the environment's link points.
    std::shared_ptr<const environment::Environment> base_environment(const std::string& name);
    /// Returns the environment, up to one second old, for the many requests for single files.
    std::shared_ptr<const environment::Environment> recent_environment(
        const std::string& name, const PlacedVersion* version);
    /// Reports whether an environment with that name exists.
    bool has_environment(const std::string& name);
    /// Throws ApiError 404 if there is no environment with that name.
    void require_environment(const std::string& name);
    EnvironmentVersions& versions() { return versions_; }
    /// Returns a digest of all plugins of a version of the environment, up to ten seconds old.
    std::string plugins_tag(const std::string& environment, const PlacedVersion* version);
    /// Discards cached code and data, so that they are read again.
    void flush();

    std::atomic<std::uint64_t> compiled{0}, failed{0}, repeated_reports{0};

private:
    base::LogSink& log_;
    sys::Executor& aside_;
    std::shared_ptr<http::Authorization> authorization_;
    site::Site site_;
    CompileSlots slots_;
    EnvironmentVersions versions_;
    FileMounts files_;
    FactFiles fact_files_;
    StaticContent static_content_;
    CatalogCache catalog_cache_;
    KnownReports known_reports_;
    base::Arena arena_;
    value::Value server_facts_;
    base::Histogram& compile_time_;
    base::Histogram& compile_wait_;
    struct Recent {
        std::shared_ptr<const environment::Environment> environment;
        std::chrono::steady_clock::time_point since;
    };
    std::mutex mutex_;
    std::map<std::string, Recent, std::less<>> recent_;  ///< by key_of()
    struct PluginsTag {
        std::string tag;
        std::chrono::steady_clock::time_point since;
        std::shared_ptr<const environment::Environment> environment;
        std::optional<std::uint64_t> moment;  ///< Files::moment() before the files were read
    };
    std::map<std::string, PluginsTag, std::less<>> plugins_;  ///< by key_of()
    void forget(const PlacedVersion& version);
};

// The routes. Each family has its own file.
void mount_catalogs(http::Router& router, Compiler& compiler);
void mount_files(http::Router& router, Compiler& compiler);
void mount_bucket(http::Router& router, Compiler& compiler);
void mount_node_data(http::Router& router, Compiler& compiler);  ///< node, facts, report
void mount_environments(http::Router& router, Compiler& compiler);
void mount_tasks(http::Router& router, Compiler& compiler);  ///< tasks and plans
void mount_cache(http::Router& router, Compiler& compiler);
/// Handles all other paths: 404, or 403 if auth.conf refuses the request.
void mount_fallback(http::Router& router, Compiler& compiler);

}  // namespace bunraku::server
