// SPDX-License-Identifier: Apache-2.0
// `device`: not supported; prints the reason (docs/design/0180).
#include <cstdio>
#include <fmt/format.h>

#include "cli/command.h"

namespace bunraku::cli {

namespace {

int run_device(Invocation& invocation) {
    OptionParser options(invocation);
    std::vector<std::string> words;
    std::string text;
    bool flag = false;
    // Accept Puppet's own options, so that the command reports its reason instead of an unknown
    // option.
    for (const char* name : {"apply", "a", "target", "t", "logdest", "l", "waitforcert", "w"})
        options.value(name, &text);
    for (const char* name : {"facts", "f", "resource", "r", "to_yaml", "y", "detailed-exitcodes"})
        options.flag(name, &flag);
    if (!options.parse(&words)) return options.exit_code();
    fmt::print(stderr,
               "Error: Network devices are not managed: their transports are code in Ruby that "
               "runs inside of Puppet itself.\n"
               "Leave `puppet device` where it runs: it takes its catalogs from this server as any "
               "agent does.\n"
               "See '{} help device'\n",
               invocation.program);
    return 1;
}

}  // namespace

BUNRAKU_COMMAND(device){.name = "device",
                        .summary = "Manage network devices: not supported, see its help.",
                        .run = run_device};

}  // namespace bunraku::cli
