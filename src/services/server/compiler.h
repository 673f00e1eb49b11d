// What the routes of the role `compiler` share.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "compile/site/site.h"
#include "services/server/catalog_cache.h"
#include "services/server/compile_slots.h"
#include "services/server/fact_files.h"
#include "services/server/file_serving.h"
#include "services/server/known_reports.h"
#include "services/server/role.h"
#include "services/server/static_content.h"

namespace bunraku::server {

/// One for the life of a server. Thread-safe.
class Compiler {
public:
    Compiler(const Context& context, config::Settings settings, site::Options options);

    site::Site& site() { return site_; }
    base::LogSink& log() { return log_; }
    const config::Settings& settings() const { return site_.settings(); }
    CompileSlots& slots() { return slots_; }
    /// For what nobody waits for.
    sys::Executor& aside() { return aside_; }
    http::Authorization& authorization() { return *authorization_; }
    /// Who asks, by certificate or as auth.conf lets a proxy say; null: nobody we know.
    std::shared_ptr<const http::ClientCertificate> caller(const http::Request& request) const {
        return authorization_->current()->caller(request);
    }
    /// $trusted of who asks, with what trusted_external_command prints. Throws base::PuppetError.
    value::Value trusted_data(base::Arena& arena, const http::Request& request);
    FileMounts& files() { return files_; }
    StaticContent& static_content() { return static_content_; }
    const FactFiles& fact_files() const { return fact_files_; }
    CatalogCache& kept() { return kept_; }
    KnownReports& known_reports() { return known_reports_; }
    /// $server_facts of this machine; they live as long as this.
    const value::Value& server_facts() const { return server_facts_; }

    /// In microseconds.
    base::Histogram& compile_time() { return compile_time_; }
    base::Histogram& compile_wait() { return compile_wait_; }

    /// The environment as it is now. Throws ApiError 404 where there is none of that name.
    std::shared_ptr<const environment::Environment> environment(const std::string& name);
    /// The same, up to a second old: for the many requests about single files.
    std::shared_ptr<const environment::Environment> recent_environment(const std::string& name);
    /// Whether there is one of that name.
    bool has_environment(const std::string& name);
    /// A digest of all plugins of the environment, up to ten seconds old.
    std::string plugins_tag(const std::string& environment);
    /// Code and data are read anew.
    void flush();

    std::atomic<std::uint64_t> compiled{0}, failed{0}, repeated_reports{0};

private:
    base::LogSink& log_;
    sys::Executor& aside_;
    std::shared_ptr<http::Authorization> authorization_;
    site::Site site_;
    CompileSlots slots_;
    FileMounts files_;
    FactFiles fact_files_;
    StaticContent static_content_;
    CatalogCache kept_;
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
    std::map<std::string, Recent, std::less<>> recent_;
    struct PluginsTag {
        std::string tag;
        std::chrono::steady_clock::time_point since;
        std::shared_ptr<const environment::Environment> environment;
        std::optional<std::uint64_t> moment;  ///< of the environment's files, before they were read
    };
    std::map<std::string, PluginsTag, std::less<>> plugins_;
};

// The routes, one file a family.
void mount_catalogs(http::Router& router, Compiler& compiler);
void mount_files(http::Router& router, Compiler& compiler);
void mount_bucket(http::Router& router, Compiler& compiler);
void mount_node_data(http::Router& router, Compiler& compiler);  ///< node, facts, report
void mount_environments(http::Router& router, Compiler& compiler);
void mount_tasks(http::Router& router, Compiler& compiler);  ///< and plans
void mount_cache(http::Router& router, Compiler& compiler);
/// What is none of the above: 404, or 403 where auth.conf refuses first.
void mount_fallback(http::Router& router, Compiler& compiler);

}  // namespace bunraku::server
