// SPDX-License-Identifier: Apache-2.0
// Processes the report of a run with the processors in the setting `reports`, one after another.
// Used by `apply` and by servers that receive reports.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "compile/site/view.h"
#include "core/base/diagnostic.h"
#include "core/value/value.h"

namespace bunraku::site {

struct ReportForms {
    value::Value data;  ///< report as sent: Puppet's JSON, format 12
    std::function<std::string()> yaml;
};

/// Runs a report processor that a module defines in Ruby. Returns false if it does not exist.
/// Throws the processor's error.
using RubyProcessor = std::function<bool(std::string_view name, const value::Value& report)>;

/// Runs the processors. `log` logs every message of the run again, as `//HOST/SOURCE`. `http` posts
/// the YAML to `reporturl`. `puppetdb` sends a `store report` command to the service that the
/// settings name, or to the embedded store. The caller handles `store`, because it knows the
/// destination. A failing processor is logged as an error, and the next one runs (Puppet 8.11,
/// indirector/report/processor).
void process_report(const std::shared_ptr<const View>& view,
                    std::span<const std::string> processors, const ReportForms& report,
                    const RubyProcessor& ruby, base::LogSink& log);

/// Returns the payload of `store report` version 8 as PuppetDB's terminus builds it.
/// `producer_timestamp` is in milliseconds. Unchanged resources are included only if
/// `with_unchanged` is true.
std::string report_command(const value::Value& report, std::string_view producer,
                           std::int64_t producer_timestamp, bool with_unchanged);

}  // namespace bunraku::site
