// SPDX-License-Identifier: Apache-2.0
// Options shared by the commands for a fleet: the nodes, their facts, and the state of the control
// repository.
#pragma once

#include "cli/command.h"
#include "cli/node_options.h"
#include "compile/insight/fleet_selection.h"
#include "compile/insight/report.h"

namespace bunraku::cli {

class FleetOptions : public insight::FleetSelection {
public:
    void add_to(OptionParser& parser);
};

/// Returns the options for text output, with colour according to --color or the terminal.
insight::TextOptions text_options(const OptionParser& parser, bool whole);

}  // namespace bunraku::cli
