// SPDX-License-Identifier: Apache-2.0
#include "services/agent/plugins.h"

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/value/build.h"
#include "resources/apply/report.h"
#include "resources/apply/transaction.h"
#include "resources/catalog/catalog.h"

namespace bunraku::agent {

using base::PuppetError;
using value::Value;

namespace {

/// A folder of the machine and the server's mount that it mirrors.
struct Sync {
    std::string name, path, source, ignore;
    const char* permissions;
};

catalog::Catalog catalog_of(const Sync& sync) {
    catalog::Catalog out;
    out.arena = std::make_shared<base::Arena>(4096);
    auto& arena = *out.arena;
    const auto text = [&](std::string_view t) { return value::make_string(arena, t); };
    catalog::Resource file;
    file.ref = {"File", sync.path};
    const auto set = [&](const char* name, const Value& v) {
        file.parameters.push_back({name, v});
    };
    set("path", text(sync.path));
    set("recurse", Value::boolean(true));
    set("links", text("follow"));
    set("source", text(sync.source));
    set("source_permissions", text(sync.permissions));
    set("purge", Value::boolean(true));
    set("force", Value::boolean(true));
    set("backup", Value::boolean(false));
    set("noop", Value::boolean(false));
    set("max_files", Value::integer(-1));
    set("owner", Value::integer(::getuid()));
    set("group", Value::integer(::getgid()));
    std::vector<Value> ignore;
    for (const auto word : base::words(sync.ignore)) ignore.push_back(text(word));
    if (!ignore.empty()) set("ignore", value::make_array(arena, ignore));
    file.tags = {"file", sync.name};
    out.resources.push_back(std::move(file));
    return out;
}

}  // namespace

std::vector<std::string> synchronize_plugins(const config::Settings& settings, sys::System& system,
                                             base::LogSink& log, apply::ContentSource& content,
                                             const std::string& environment,
                                             const std::function<apply::StopRequest()>& stop) {
    const std::string ignore = settings.text("pluginsignore");
    const Sync all[] = {
        {"pluginfacts", settings.text("pluginfactdest"), settings.text("pluginfactsource"), ignore,
         "use"},
        {"plugin", settings.text("plugindest"), settings.text("pluginsource"), ignore, "ignore"},
    };
    std::vector<std::string> changed;
    for (const auto& sync : all) {
        log.log(base::Level::Info, fmt::format("Retrieving {}", sync.name));
        const bool tolerant = settings.boolean("ignore_plugin_errors");
        try {
            apply::Context context{.system = system, .log = log};
            context.content = &content;
            context.stop = stop;
            context.options.environment = environment;
            context.options.default_schedules = false;
            context.options.clientbucketdir = settings.text("clientbucketdir");
            (void)system.files.make_directories(std::string(sys::directory_name(sync.path)), 0750);
            const auto wanted = catalog_of(sync);
            const auto catalog = apply::RalCatalog::from(context, wanted);
            catalog->finalize();
            apply::Report report(context);
            apply::Storage storage(context);
            apply::Transaction transaction(context, *catalog, report, storage);
            transaction.evaluate();
            for (const auto* status : report.statuses())
                if (status->changed && status->resource)
                    changed.push_back(status->resource->title());
            if (tolerant) continue;
            for (const auto* status : report.statuses()) {
                if (!status->failed) continue;
                throw PuppetError(
                    fmt::format("Failed to retrieve {}: {}", sync.name,
                                status->events.empty() ? "unknown" : status->events[0].message),
                    {}, PuppetError::Class::Plain);
            }
        } catch (const apply::Stopped&) {
            throw;
        } catch (const PuppetError& e) {
            if (!tolerant) throw;
            log.log(base::Level::Err,
                    fmt::format("Could not retrieve {}: {}", sync.name, apply::error_text(e)));
        }
    }
    return changed;
}

}  // namespace bunraku::agent
