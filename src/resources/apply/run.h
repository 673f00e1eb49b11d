// A whole run, as Puppet's configurer makes it: state, transaction, report, files left behind.
#pragma once

#include <memory>
#include <string>

#include "resources/apply/ral_catalog.h"
#include "resources/apply/report.h"

namespace bunraku::apply {

class Storage;
class TransactionStore;

/// What a run writes, and what runs around it. Empty: nothing.
struct RunSettings {
    std::string lastrunfile, lastrunreport, reportdir;
    bool store_report = true;  ///< the report processor `store`
    std::string prerun_command, postrun_command;
    std::string host, puppet_version, transaction_uuid, run_mode = "user";
    std::string asked_environment;  ///< where the catalog's is another; empty: it is not
    bool announce = true;           ///< says in which environment, and how long it took
    bool announce_end = false;      ///< how long it took alone
    double config_retrieval = 0;    ///< seconds that compiling took
};

struct RunResult {
    /// Puppet's bits for --detailed-exitcodes; -1: the run could not be made.
    int exit_status = -1;
    bool saved = true;  ///< false if the state, the summary or the last report was not written
    std::unique_ptr<Report> report;
};

/// A run from its first message to its report: what is logged to `sink` meanwhile stands in it.
class Run {
public:
    Run(Context& context, ReportSink& sink, const RunSettings& settings);
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    Report& report() { return *report_; }
    /// Applies a finalized catalog, which has to live as long as the report. False: the run could
    /// not be made; why was logged.
    bool apply(RalCatalog& catalog);
    /// Runs postrun_command, completes the report and saves what stays on this machine. Once.
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

/// Applies a finalized catalog. `sink` is the context's log: it keeps the report's logs.
RunResult run_catalog(Context& context, ReportSink& sink, RalCatalog& catalog,
                      const RunSettings& settings);

/// How it is told that the catalog's environment is not the one that was asked for.
std::string restart_text(std::string_view ours, std::string_view theirs);

/// What a report of that time is called in `reportdir`: "202311142213.yaml".
std::string report_name(std::int64_t time_ns);

/// classes.txt and resources.txt.
void write_catalog_summary(Context& context, const RalCatalog& catalog,
                           const std::string& classfile, const std::string& resourcefile);
}  // namespace bunraku::apply
