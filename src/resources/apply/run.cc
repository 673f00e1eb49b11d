// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/run.h"

#include <csignal>
#include <fmt/format.h>
#include <random>

#include "core/base/assert.h"
#include "core/base/civil_time.h"
#include "core/base/text.h"
#include "core/base/uuid.h"
#include "core/sys/change_times.h"
#include "core/sys/wording.h"
#include "resources/apply/content_memory.h"
#include "resources/apply/execution.h"
#include "resources/apply/transaction.h"
#include "resources/apply/transaction_store.h"

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

/// Writes a file of the run. Logs a failure and returns false.
bool save(Context& context, const std::string& path, const std::string& text, std::uint32_t mode,
          std::string_view what) {
    if (path.empty()) return true;
    sys::FileSystem& files = context.system.files;
    std::string folder(sys::directory_name(path));
    if (!files.is_directory(folder)) (void)files.make_directories(folder, 0750);
    if (auto r = files.replace(path, text, {.mode = mode}); !r) {
        context.message(Level::Err, fmt::format("Could not save {}: {}", what, r.error().message));
        return false;
    }
    return true;
}

/// Clears the context's pointers to the stores of a run, even if an exception ends the run.
struct SharedStores {
    Context& context;
    ~SharedStores() {
        context.transactions = nullptr;
        context.contents = nullptr;
    }
};

}  // namespace

std::string restart_text(std::string_view ours, std::string_view theirs) {
    return fmt::format(
        "Local environment: '{0}' doesn't match server specified environment "
        "'{1}', restarting agent run with environment '{1}'",
        ours, theirs);
}

std::string report_name(std::int64_t ns) {
    const base::CivilTime t = base::civil_time_ns(ns);
    BUNRAKU_ASSERT(t.month >= 1 && t.month <= 12 && t.day >= 1 && t.day <= 31);
    return fmt::format("{:04}{:02}{:02}{:02}{:02}.yaml", t.year, t.month, t.day, t.hour, t.minute);
}

Run::Run(Context& context, ReportSink& sink, const RunSettings& settings)
    : context_(context),
      sink_(sink),
      settings_(settings),
      report_(std::make_unique<Report>(context)),
      begin_(context.system.clock.monotonic_ns()) {
    Report& report = *report_;
    report.host = settings.host;
    report.environment = report.initial_environment = context.options.environment;
    if (!settings.asked_environment.empty())
        report.initial_environment = settings.asked_environment;
    report.puppet_version = settings.puppet_version;
    report.transaction_uuid =
        settings.transaction_uuid.empty() ? base::random_uuid() : settings.transaction_uuid;
    report.cached_catalog_status = "not_used";
    report.run_mode = settings.run_mode;
    BUNRAKU_ASSERT(sink_.report == nullptr);
    sink_.report = &report;
}

Run::~Run() { sink_.report = nullptr; }

double Run::seconds_since(std::int64_t start) const {
    return static_cast<double>(context_.system.clock.monotonic_ns() - start) / 1e9;
}

bool Run::apply(RalCatalog& catalog) {
    BUNRAKU_ASSERT(report_ && !made_);
    Report& report = *report_;
    Storage storage(context_);
    try {
        if (settings_.announce) {
            context_.message(Level::Info,
                             fmt::format("Using environment '{}'", report.initial_environment));
        }
        if (report.initial_environment != report.environment && settings_.announce) {
            context_.message(Level::Notice,
                             restart_text(report.initial_environment, report.environment));
        }
        if (run_hook(context_, settings_.prerun_command, "prerun_command"))
            guarded([&] {
                report.configuration_version = catalog.version;
                report.configuration_version_is_number = catalog.version_is_number;
                report.code_id = catalog.code_id;
                report.catalog_uuid = catalog.catalog_uuid;
                BUNRAKU_ASSERT(!context_.transactions && !context_.contents);
                const SharedStores lent{context_};
                std::int64_t applying = context_.system.clock.monotonic_ns();
                storage.load();
                std::optional<TransactionStore> transactions;
                if (const auto& path = context_.options.transactionstorefile; !path.empty()) {
                    transactions.emplace(context_, path);
                    transactions->load();
                    context_.transactions = &*transactions;
                }
                std::optional<ContentMemory> contents;
                contents.emplace(
                    context_.system,
                    ContentMemory::Settings{
                        .file = context_.options.contentsfile,
                        .interval_ns = context_.options.full_check_interval * 1'000'000'000,
                        .preserves_change_times = sys::preserves_change_times});
                contents->load();
                context_.contents = &*contents;
                Transaction transaction(context_, catalog, report, storage);
                report.add_time("config_retrieval", settings_.config_retrieval);
                try {
                    std::int64_t evaluating = context_.system.clock.monotonic_ns();
                    transaction.evaluate();
                    report.add_time("transaction_evaluation", seconds_since(evaluating));
                } catch (...) {
                    save_state(storage, nullptr);
                    throw;
                }
                contents->save();
                if (auto saved = save_state(storage, transactions ? &*transactions : nullptr);
                    !saved)
                    throw_system(saved.error());
                double took = seconds_since(applying);
                if (settings_.announce || settings_.announce_end) {
                    context_.message(Level::Notice, fmt::format("Applied catalog in {} seconds",
                                                                sys::seconds_text(took)));
                }
                report.add_time("catalog_application", took);
                made_ = true;
            });
    } catch (const Stopped& e) {
        // An interrupt with ^C is not logged as an error, because the user knows of it.
        if (e.signal() != SIGINT) {
            context_.message(Level::Err, fmt::format("Could not run: {}", signal_name(e.signal())));
        }
    } catch (const PuppetError& e) {
        context_.message(Level::Err, fmt::format("Failed to apply catalog: {}", error_text(e)));
    }
    BUNRAKU_ASSERT(!context_.transactions && !context_.contents);
    BUNRAKU_ASSERT(!made_ || report.transaction_completed);
    return made_;
}

base::Result<void> Run::save_state(Storage& storage, TransactionStore* transactions) {
    base::Result<void> first;
    if (transactions) first = transactions->save();
    auto second = storage.store();
    if (first) first = std::move(second);
    saved_ = saved_ && first;
    return first;
}

RunResult Run::finish() {
    BUNRAKU_ASSERT(report_ != nullptr);
    Report& report = *report_;
    if (!run_hook(context_, settings_.postrun_command, "postrun_command")) made_ = false;
    report.add_time("total", seconds_since(begin_));
    report.finalize();
    sink_.report = nullptr;
    // A run fails if its state, summary or report cannot be written, as in Puppet 8.11. If only the
    // processor `store` cannot write its report, an error is logged.
    saved_ = save(context_, settings_.lastrunfile, summary_yaml(report, context_), 0640,
                  "last run local report") &&
             saved_;
    std::string yaml;
    bool stored = settings_.store_report && !settings_.reportdir.empty();
    if (stored || !settings_.lastrunreport.empty()) yaml = report_yaml(report, context_);
    if (stored && report.host.find('/') == std::string::npos && report.host != "..") {
        save(context_,
             sys::join(sys::join(settings_.reportdir, report.host), report_name(report.time_ns)),
             yaml, 0640, "report");
    }
    saved_ = save(context_, settings_.lastrunreport, yaml, 0640, "last run report") && saved_;
    return {.exit_status = made_ && saved_ ? report.exit_status() : -1,
            .saved = saved_,
            .report = std::move(report_)};
}

RunResult run_catalog(Context& context, ReportSink& sink, RalCatalog& catalog,
                      const RunSettings& settings) {
    Run run(context, sink, settings);
    run.apply(catalog);
    return run.finish();
}

void write_catalog_summary(Context& context, const RalCatalog& catalog,
                           const std::string& classfile, const std::string& resourcefile) {
    std::string classes, resources;
    for (const std::string& c : catalog.classes) classes += c + "\n";
    for (const Resource* r : catalog.resources()) {
        if (!r->managed()) continue;
        resources += base::lower(r->ref()) + "\n";
    }
    // Like Ruby's puts, write an empty line for empty content.
    for (std::string* text : {&classes, &resources})
        if (text->empty()) *text = "\n";
    save(context, classfile, classes, 0640, "class file");
    save(context, resourcefile, resources, 0640, "resource file");
}

}  // namespace bunraku::apply
