// SPDX-License-Identifier: Apache-2.0
#include "services/agent/server_default.h"

#include <algorithm>

namespace bunraku::agent {

// The messages are those of Puppet::HTTP::Service.create_service of OpenVox 9.0.
base::Result<void> check_server_setting(const config::Settings& settings, base::LogSink& log,
                                        bool authority) {
    if (!config::changed(settings.compatibility(), config::Change::DefaultServer) ||
        settings.is_set("server") || !settings.list("server_list").empty())
        return {};
    if (!settings.text("server").empty())
        return base::failure(
            "OpenVox does not default to `server=puppet` as of version 9.0. Please update your "
            "configuration appropriately by providing a specific server of your choice.\n\n"
            "You can update the server setting in puppet.conf by running a command similar to:\n"
            "  puppet config --section main set server YOUR_SERVER_NAME\n");
    const auto silent = settings.list("disable_warnings");
    if (std::ranges::find(silent, "deprecations") == silent.end()) {
        log.log(base::Level::Warning,
                "OpenVox no longer defaults to `server=puppet` when running as a non-privileged "
                "user. (Did you mean to run as root?)");
    }
    if (authority && settings.is_set("ca_server")) return {};
    return base::failure(authority ? "Neither `server` nor `ca_server` is specified."
                                   : "Required setting `server` is not specified.");
}

}  // namespace bunraku::agent
