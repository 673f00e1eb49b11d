#include "apply/run.h"

#include <csignal>
#include <fmt/format.h>
#include <random>

#include "apply/execution.h"
#include "apply/transaction.h"
#include "base/civil_time.h"
#include "base/text.h"
#include "base/uuid.h"
#include "sys/wording.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

bool run_hook(Context& context, const std::string& command, std::string_view setting) {
    if (command.empty()) return true;
    try {
        execute_line(context, command);
        return true;
    } catch (const PuppetError& e) {
        context.message(Level::Err,
                        fmt::format("Could not run command from {}: {}", setting, error_text(e)));
        return false;
    }
}

void save(Context& context, const std::string& path, const std::string& text, std::uint32_t mode,
          std::string_view what) {
    if (path.empty()) return;
    sys::FileSystem& files = context.system.files;
    std::string folder(sys::directory_name(path));
    if (!files.is_directory(folder)) (void)files.make_directories(folder, 0750);
    if (auto r = files.replace(path, text, {.mode = mode}); !r) {
        context.message(Level::Err, fmt::format("Could not save {}: {}", what, r.error().message));
    }
}

}  // namespace

std::string report_name(std::int64_t ns) {
    const base::CivilTime t = base::civil_time_ns(ns);
    return fmt::format("{:04}{:02}{:02}{:02}{:02}.yaml", t.year, t.month, t.day, t.hour, t.minute);
}

RunResult run_catalog(Context& context, ReportSink& sink, RalCatalog& catalog,
                      const RunSettings& settings) {
    RunResult out;
    out.report = std::make_unique<Report>(context);
    Report& report = *out.report;
    report.host = settings.host;
    report.environment = report.initial_environment = context.options.environment;
    report.puppet_version = settings.puppet_version;
    report.transaction_uuid =
        settings.transaction_uuid.empty() ? base::random_uuid() : settings.transaction_uuid;
    report.cached_catalog_status = "not_used";
    report.run_mode = settings.run_mode;
    std::int64_t begin = context.system.clock.monotonic_ns();
    auto seconds_since = [&](std::int64_t start) {
        return static_cast<double>(context.system.clock.monotonic_ns() - start) / 1e9;
    };

    sink.report = &report;
    Storage storage(context);
    bool made = false;
    try {
        if (settings.announce) {
            context.message(Level::Info,
                            fmt::format("Using environment '{}'", context.options.environment));
        }
        if (run_hook(context, settings.prerun_command, "prerun_command"))
            guarded([&] {
                report.configuration_version = catalog.version;
                report.configuration_version_is_number = catalog.version_is_number;
                report.code_id = catalog.code_id;
                report.catalog_uuid = catalog.catalog_uuid;
                std::int64_t applying = context.system.clock.monotonic_ns();
                storage.load();
                Transaction transaction(context, catalog, report, storage);
                report.add_time("config_retrieval", settings.config_retrieval);
                try {
                    std::int64_t evaluating = context.system.clock.monotonic_ns();
                    transaction.evaluate();
                    report.add_time("transaction_evaluation", seconds_since(evaluating));
                } catch (...) {
                    storage.store();
                    throw;
                }
                storage.store();
                double took = seconds_since(applying);
                if (settings.announce) {
                    context.message(Level::Notice, fmt::format("Applied catalog in {} seconds",
                                                               sys::seconds_text(took)));
                }
                report.add_time("catalog_application", took);
                made = true;
            });
    } catch (const Stopped& e) {
        // A run ended by ^C has no error: who did it knows.
        if (e.signal() != SIGINT) {
            context.message(Level::Err, fmt::format("Could not run: {}", signal_name(e.signal())));
        }
    } catch (const PuppetError& e) {
        context.message(Level::Err, fmt::format("Failed to apply catalog: {}", error_text(e)));
    }
    if (!run_hook(context, settings.postrun_command, "postrun_command")) made = false;

    report.add_time("total", seconds_since(begin));
    report.finalize();
    sink.report = nullptr;
    save(context, settings.lastrunfile, summary_yaml(report, context), 0644,
         "last run local report");
    std::string yaml;
    bool stored = settings.store_report && !settings.reportdir.empty();
    if (stored || !settings.lastrunreport.empty()) yaml = report_yaml(report, context);
    if (stored && report.host.find('/') == std::string::npos && report.host != "..") {
        save(context,
             sys::join(sys::join(settings.reportdir, report.host), report_name(report.time_ns)),
             yaml, 0640, "report");
    }
    save(context, settings.lastrunreport, yaml, 0640, "last run report");
    out.exit_status = made ? report.exit_status() : -1;
    return out;
}

void write_catalog_summary(Context& context, const RalCatalog& catalog,
                           const std::string& classfile, const std::string& resourcefile) {
    std::string classes, resources;
    for (const std::string& c : catalog.classes) classes += c + "\n";
    for (const Resource* r : catalog.resources()) {
        if (!r->managed()) continue;
        resources += base::lower(r->ref()) + "\n";
    }
    save(context, classfile, classes, 0640, "class file");
    save(context, resourcefile, resources, 0640, "resource file");
}

}  // namespace bunraku::apply
