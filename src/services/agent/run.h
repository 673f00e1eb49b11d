// SPDX-License-Identifier: Apache-2.0
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
    /// has the options of the settings; the run sets `content` and similar members
    apply::Context& context;
    apply::ReportSink& sink;  ///< log of the context
    apply::RunSettings applying;
    site::Site& site;  ///< evaluates deferred values on this machine
    SslFiles ssl;
    std::string user_agent;
    std::string job_id;
    std::function<bool()> stopped;
    /// Returns how to start the Ruby code of the modules' plugins.
    std::function<apply::RubyTypes::Parts(const site::Session&)> ruby_parts;
    http::Network* network = nullptr;  ///< if null, sockets are used
    /// If empty, the facts of this machine are used.
    std::function<value::Value(base::Arena&)> facts = {};
};

/// Runs the agent. Returns Puppet's bits for --detailed-exitcodes, or -1 if no catalog was applied.
/// All messages are written to the sink and to the report, which is sent even if the run fails.
int run(RunOptions& options);

/// Returns the path of the cached catalog.
std::string cached_catalog_path(const config::Settings& settings);

}  // namespace bunraku::agent
