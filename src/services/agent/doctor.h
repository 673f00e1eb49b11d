// SPDX-License-Identifier: Apache-2.0
// Checks whether this machine has everything that the program needs (`doctor`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compile/site/site.h"
#include "core/config/settings.h"

namespace bunraku::agent {

/// The result of one check.
struct DoctorFinding {
    enum class State { Good, Note, Bad };

    State state;
    std::string about, text;
};

/// The program that checks, and the options of its compiles.
struct DoctorOptions {
    std::string program;               ///< "bunraku" or "puppet", for messages
    std::string_view version, commit;  ///< of the build
    site::Options site;
};

/// Runs all checks. Changes nothing.
std::vector<DoctorFinding> examine_machine(const config::Settings& settings,
                                           const DoctorOptions& options);

}  // namespace bunraku::agent
