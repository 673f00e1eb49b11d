// How `impact` and `whatif` hand over what they found.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "compile/insight/impact.h"

namespace bunraku::cli {

class ImpactOutput {
public:
    void add_to(OptionParser& parser);

    /// Those that could not be looked at; each reason is told once.
    static void add_unjudged(insight::Impact& impact,
                             const std::vector<std::pair<std::string, std::string>>& unjudged);
    /// Standard output and files; the exit code.
    int write(const OptionParser& parser, const insight::Impact& impact, base::LogSink& log) const;

private:
    int exit_code(const insight::Impact& impact) const;

    std::vector<std::string> fail_on_, out_;
    bool json_ = false, markdown_ = false, sarif_ = false, all_ = false;
};

}  // namespace bunraku::cli
