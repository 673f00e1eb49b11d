// SPDX-License-Identifier: Apache-2.0
// The report of a run, format 12: logs, metrics and the status of every resource.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/diagnostic.h"
#include "resources/apply/event.h"

namespace bunraku::apply {

struct LogRecord {
    base::Diagnostic what;
    std::int64_t time_ns = 0;
};

using Number = std::variant<std::int64_t, double>;
/// Names and values in the order in which they were counted.
using Metric = std::vector<std::pair<std::string, Number>>;

class Report {
public:
    explicit Report(Context& context);

    /// Returns the status of a resource, and creates it if necessary.
    ResourceStatus& status_of(Resource& resource);
    /// Replaces the status after an evaluation; its position in the order does not change.
    ResourceStatus& replace(Resource& resource, ResourceStatus status);
    void add_time(std::string name, double seconds, bool accumulate = true);
    void finalize();

    /// Returns bits 2 (changes) and 4 (failures), or -1 if the run did not get that far.
    int exit_status() const;
    bool unchanged(const ResourceStatus& s) const {
        return !s.failed && !s.failed_to_restart && !s.out_of_sync && !s.skipped;
    }
    /// Returns the statuses of all resources except whits.
    std::vector<const ResourceStatus*> statuses() const;
    const Metric* metric(std::string_view name) const;
    std::int64_t count(std::string_view metric, std::string_view value) const;

    std::string host, configuration_version, transaction_uuid, puppet_version, environment,
        initial_environment, code_id, catalog_uuid, job_id, cached_catalog_status,
        run_mode = "user";
    bool configuration_version_is_number = true;
    std::string status = "failed";
    bool noop = false, noop_pending = false, corrective_change = false;
    bool transaction_completed = false, resources_failed_to_generate = false;
    std::int64_t time_ns = 0;
    std::vector<LogRecord> logs;
    std::vector<std::pair<std::string, Metric>> metrics;

private:
    Context& context_;
    std::deque<ResourceStatus> statuses_;  ///< storage for the statuses that resources point to
    std::vector<std::pair<std::string, double>> times_;
    bool finalized_ = false;
};

/// Returns the report (lastrunreport) in the YAML that Puppet writes; summary_yaml returns its
/// summary (lastrunfile).
std::string report_yaml(const Report& report, Context& context);
/// Converts a report that report_json wrote to YAML.
std::string report_yaml(const Value& report);
std::string summary_yaml(const Report& report, Context& context);
/// Returns the report in the JSON in which it is sent.
std::string report_json(const Report& report, Context& context);
/// Returns a text that is equal for two runs whose reports differ only in times, logs and
/// identifiers.
std::string report_identity(const Report& report);
/// Returns, as JSON, only the fields in which such reports differ. They can be merged into the
/// other report.
std::string report_difference_json(const Report& report, Context& context);
/// Returns the output of --summarize.
std::string summary_text(const Report& report, Context& context);

/// Forwards log records and adds those that the next sink accepts to the report.
class ReportSink final : public base::LogSink {
public:
    ReportSink(base::LogSink& next, sys::Clock& clock) : next_(next), clock_(clock) {}
    using LogSink::log;
    void log(const base::Diagnostic& d) override {
        if (!next_.enabled(d.level)) return;
        if (report) report->logs.push_back({d, clock_.now_ns()});
        next_.log(d);
    }
    bool enabled(base::Level level) const override { return next_.enabled(level); }
    Report* report = nullptr;

private:
    base::LogSink& next_;
    sys::Clock& clock_;
};

}  // namespace bunraku::apply
