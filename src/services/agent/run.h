// One run of the agent: plugins, facts, catalog, application, report (Puppet 8.11, configurer.rb).
#pragma once

#include <functional>
#include <string>

#include "compile/site/session.h"
#include "compile/site/site.h"
#include "resources/apply/context.h"
#include "resources/apply/report.h"
#include "resources/apply/ruby_types.h"
#include "resources/apply/run.h"
#include "services/agent/ssl.h"

namespace bunraku::agent {

struct RunOptions {
    const config::Settings& settings;
    apply::Context& context;  ///< with the settings' options; `content` and the like are the run's
    apply::ReportSink& sink;  ///< the context's log
    apply::RunSettings applying;
    site::Site& site;  ///< evaluates what is left to the machine
    SslFiles ssl;
    std::string user_agent;
    std::string job_id;
    std::function<bool()> stopped;
    /// How Ruby code of the modules' plugins is started.
    std::function<apply::RubyTypes::Parts(const site::Session&)> ruby_parts;
    http::Network* network = nullptr;  ///< null: sockets
    /// Unset: this machine's facts.
    std::function<value::Value(base::Arena&)> facts = {};
};

/// Puppet's bits for --detailed-exitcodes; -1: no catalog was applied. Everything that is said goes
/// to the sink, and into the report, which is sent whatever became of the run.
int run(RunOptions& options);

/// Where the last catalog is kept.
std::string cached_catalog_path(const config::Settings& settings);

}  // namespace bunraku::agent
