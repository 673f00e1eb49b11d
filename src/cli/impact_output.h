// SPDX-License-Identifier: Apache-2.0
// Output of the results of `impact` and `whatif`.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "compile/insight/impact.h"

namespace bunraku::cli {

class ImpactOutput {
public:
    void add_to(OptionParser& parser);

    /// Writes the result to standard output and files. Returns the exit code.
    int write(const OptionParser& parser, const insight::Impact& impact, base::LogSink& log) const;

private:
    std::vector<std::string> fail_on_, out_;
    bool json_ = false, markdown_ = false, sarif_ = false, all_ = false;
};

}  // namespace bunraku::cli
