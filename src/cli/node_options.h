// SPDX-License-Identifier: Apache-2.0
// Options shared by the commands that compile: they describe a node and its environment.
#pragma once

#include "cli/command.h"
#include "compile/site/node_arguments.h"
#include "compile/site/site.h"

namespace bunraku::cli {

struct NodeOptions : site::NodeArguments {
    void add_to(OptionParser& parser);
};

/// Returns the options for a process that answers one request and ends. Warnings about an
/// environment go to `log`.
site::Options site_options(base::LogSink& log);

}  // namespace bunraku::cli
