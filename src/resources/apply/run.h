// SPDX-License-Identifier: Apache-2.0
// A whole run as in Puppet's configurer: state, transaction, report and output files.
#pragma once

#include <memory>
#include <string>

#include "resources/apply/ral_catalog.h"
#include "resources/apply/report.h"

namespace bunraku::apply {

class Storage;
class TransactionStore;

/// The files that a run writes, and the commands before and after it. An empty file name or command
/// is ignored.
struct RunSettings {
    std::string lastrunfile, lastrunreport, reportdir;
    bool store_report = true;  ///< run the report processor `store`
    std::string prerun_command, postrun_command;
    std::string host, puppet_version, transaction_uuid, run_mode = "user";
    /// the requested environment, if it differs from the catalog's; otherwise empty
    std::string asked_environment;
    /// log the environment at the start and the duration at the end
    bool announce = true;
    bool announce_end = false;    ///< log only the duration
    double config_retrieval = 0;  ///< seconds that the compilation took
};

struct RunResult {
    /// Puppet's bits for --detailed-exitcodes; -1 if the run could not be started.
    int exit_status = -1;
    bool saved = true;  ///< false if the state, the summary or the last report was not written
    std::unique_ptr<Report> report;
};

/// A run from its first message to its report. The report contains everything that is logged to
/// `sink` during this time.
class Run {
public:
    Run(Context& context, ReportSink& sink, const RunSettings& settings);
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    Report& report() { return *report_; }
    /// Applies a finalized catalog, which must live as long as the report. If the run could not be
    /// started, logs the reason and returns false.
    bool apply(RalCatalog& catalog);
    /// Runs postrun_command, completes the report and writes the local files. Must be called only
    /// once.
    RunResult finish();

private:
    double seconds_since(std::int64_t start) const;
    /// Writes both stores even if one of them fails; returns the first failure.
    base::Result<void> save_state(Storage& storage, TransactionStore* transactions);
    Context& context_;
    ReportSink& sink_;
    const RunSettings& settings_;
    std::unique_ptr<Report> report_;
    std::int64_t begin_;
    bool made_ = false, saved_ = true;
};

/// Applies a finalized catalog. `sink` is the context's log and collects the report's logs.
RunResult run_catalog(Context& context, ReportSink& sink, RalCatalog& catalog,
                      const RunSettings& settings);

/// Returns the message that the catalog's environment differs from the requested one.
std::string restart_text(std::string_view ours, std::string_view theirs);

/// Returns the file name in `reportdir` of a report at this time: "202311142213.yaml".
std::string report_name(std::int64_t time_ns);

/// Writes classes.txt and resources.txt.
void write_catalog_summary(Context& context, const RalCatalog& catalog,
                           const std::string& classfile, const std::string& resourcefile);
}  // namespace bunraku::apply
