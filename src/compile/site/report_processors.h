// What is done with the report of a run: the processors that the setting `reports` names, one after
// another. For `apply`, and for whoever takes reports in.
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
    value::Value data;  ///< as reports are sent: Puppet's JSON, format 12
    std::function<std::string()> yaml;
};

/// A processor that a module brings in Ruby, given its name and the report. False: there is none.
/// Throws what it raises.
using RubyProcessor = std::function<bool(std::string_view name, const value::Value& report)>;

/// `log`: every message of the run again, as `//HOST/SOURCE`; `http`: the YAML posted to
/// `reporturl`; `puppetdb`: stored as a `store report` command by the service that the settings
/// name, or in the embedded store. `store` is left to the caller, who knows where. A processor that
/// fails is an error in the log, and the next one goes on (Puppet 8.11,
/// indirector/report/processor).
void process_report(const std::shared_ptr<const View>& view,
                    std::span<const std::string> processors, const ReportForms& report,
                    const RubyProcessor& ruby, base::LogSink& log);

/// The payload of `store report` version 8 as PuppetDB's terminus makes it. `producer_timestamp`:
/// milliseconds. Unchanged resources are left out but where `with_unchanged`.
std::string report_command(const value::Value& report, std::string_view producer,
                           std::int64_t producer_timestamp, bool with_unchanged);

}  // namespace bunraku::site
