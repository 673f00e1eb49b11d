// SPDX-License-Identifier: Apache-2.0
// `doctor`: checks whether this machine has everything that the program needs.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "cli/build_info.h"
#include "cli/command.h"
#include "cli/node_options.h"
#include "core/codec/json_text.h"
#include "services/agent/doctor.h"

namespace bunraku::cli {

namespace {

constexpr std::string_view kNames[] = {"ok", "note", "bad"};

int run_doctor(Invocation& invocation) {
    OptionParser options(invocation);
    bool json = false;
    std::vector<std::string> words;
    options.flag("json", &json);
    if (!options.parse(&words)) return options.exit_code();
    auto log = make_console_sink(options);
    const auto found = agent::examine_machine(invocation.settings, {.program = invocation.program,
                                                                    .version = kVersion,
                                                                    .commit = build_info().commit,
                                                                    .site = site_options(*log)});
    std::string out;
    for (const auto& f : found) {
        const auto name = kNames[static_cast<int>(f.state)];
        if (json) {
            out += fmt::format("{}{{\"state\":\"{}\",\"about\":{},\"text\":{}}}",
                               out.empty() ? "[" : ",\n ", name, codec::json_string(f.about),
                               codec::json_string(f.text));
        } else {
            out += fmt::format("{:<5} {:<16} {}\n", name, f.about, f.text);
        }
    }
    if (json) out += "]\n";
    std::fwrite(out.data(), 1, out.size(), stdout);
    return std::ranges::any_of(
               found, [](const auto& f) { return f.state == agent::DoctorFinding::State::Bad; })
               ? 1
               : 0;
}

}  // namespace

BUNRAKU_COMMAND(doctor){.name = "doctor",
                        .summary = "Check that this machine has everything that Bunraku needs.",
                        .run = run_doctor};

}  // namespace bunraku::cli
