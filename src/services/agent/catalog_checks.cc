// SPDX-License-Identifier: Apache-2.0
#include "services/agent/catalog_checks.h"

#include <mutex>

#include "core/sys/disk.h"
#include "resources/apply/graph.h"
#include "services/agent/apply_session.h"

namespace bunraku::agent {

namespace {

/// Extracts the cycles from a log message. Each cycle is in parentheses, followed by the two
/// characters "\n", which Puppet prints literally.
void add_cycles(std::string_view message, std::vector<std::string>& out) {
    message.remove_prefix(std::min(message.find('\n') + 1, message.size()));
    while (message.starts_with('(')) {
        const std::size_t end = message.find(")\\n");
        if (end == std::string_view::npos) return;
        out.emplace_back(message.substr(0, end + 1));
        message.remove_prefix(end + 3);
    }
}

/// State shared by the checks of one environment's catalogs.
class Checking {
public:
    std::shared_ptr<ruby::Pool> children(const ruby::HostOptions& options) {
        const std::lock_guard lock(mutex_);
        if (!children_) children_ = std::make_shared<ruby::Pool>(options);
        return children_;
    }

    const std::shared_ptr<apply::RubyTypesKnown>& known() const { return known_; }

    /// Returns the providers, which are listed once per environment. The environment records the
    /// folders that were read, so that a change makes a new environment.
    apply::RubyTypes::ProviderFiles provider_files(const apply::RubyTypes::Parts& parts,
                                                   const environment::Environment& environment) {
        const std::lock_guard lock(mutex_);
        if (!files_) {
            files_ = parts.provider_files();
            for (const auto& folder : parts.plugin_folders()) {
                const std::string providers = folder + "/puppet/provider";
                if (!environment.depends_on(providers).directory) continue;
                for (const auto& type : environment.files().list(providers))
                    environment.depends_on(providers + "/" + type);
            }
        }
        return *files_;
    }

    /// The built-in providers that are suitable on this machine do not depend on the catalog.
    void lend_providers(apply::Context& context) {
        const std::lock_guard lock(mutex_);
        context.default_providers = providers_;
        context.platform = platform_;
    }
    void learn_providers(const apply::Context& context) {
        const std::lock_guard lock(mutex_);
        providers_.insert(context.default_providers.begin(), context.default_providers.end());
        platform_ = context.platform;
    }

private:
    std::shared_ptr<ruby::Pool> children_;
    std::shared_ptr<apply::RubyTypesKnown> known_ = std::make_shared<apply::RubyTypesKnown>();
    std::mutex mutex_;
    decltype(apply::Context::default_providers) providers_;
    decltype(apply::Context::platform) platform_;
    std::optional<apply::RubyTypes::ProviderFiles> files_;
};

apply::RubyTypes::Parts parts_of(const std::shared_ptr<Checking>& checking,
                                 const site::Session& session, const config::Settings& settings) {
    auto parts = ruby_parts(session, settings);
    parts.children = checking->children(parts.host);
    parts.known = checking->known();
    parts.provider_files = [checking, environment = session.environment(), listed = parts] {
        return checking->provider_files(listed, *environment);
    };
    return parts;
}

}  // namespace

void keep_ruby_children(const environment::Environment& before,
                        const environment::Environment& now) {
    now.attached<ruby::Pool>(
        [&] { return before.attached<ruby::Pool>([] { return std::shared_ptr<ruby::Pool>(); }); });
    now.attached<Checking>(
        [&] { return before.attached<Checking>([] { return std::shared_ptr<Checking>(); }); });
}

CatalogProblems check_catalog(const config::Settings& settings, site::Session& session,
                              const catalog::Catalog& catalog) {
    CatalogProblems out;
    base::MemorySink log;
    ApplySession applying(settings, log, false);
    auto& context = applying.context();
    const auto checking =
        session.environment()->attached<Checking>([] { return std::make_shared<Checking>(); });
    checking->lend_providers(context);
    context.options.noop = true;
    context.options.graph = false;
    context.options.environment = session.environment()->name();
    auto& module_files = sys::disk();
    ModuleContent content(context, module_files, settings, session.node(), session.environment());
    context.content = &content;
    context.resolve_deferred = [&](const value::Value& v) { return session.resolve_deferred(v); };
    apply::RubyTypes ruby_types(context, [&] { return parts_of(checking, session, settings); });
    context.ruby_types = &ruby_types;
    try {
        const auto ral = apply::RalCatalog::from(context, catalog);
        ral->finalize();
        apply::RelationshipGraph graph(context);
        graph.populate(*ral);
        checking->learn_providers(context);
        // A change of one of these files makes a new environment with new Ruby processes.
        for (const auto& path : ruby_types.loaded_code()) session.environment()->depends_on(path);
        if (graph.report_cycles().empty()) return out;
        for (const auto& record : log.records)
            if (record.message.starts_with("Found ")) add_cycles(record.message, out.cycles);
    } catch (const base::PuppetError& e) {
        out.refused = apply::error_text(e);
    } catch (const std::exception& e) {
        out.refused = e.what();
    }
    return out;
}

}  // namespace bunraku::agent
