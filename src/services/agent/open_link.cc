// SPDX-License-Identifier: Apache-2.0
#include "services/agent/open_link.h"

#include <fmt/format.h>

#include "services/agent/ssl_store.h"

namespace bunraku::agent {

base::Result<std::unique_ptr<ServerLink>> open_link(const config::Settings& settings,
                                                    base::LogSink& log, sys::System& system,
                                                    const std::string& user_agent,
                                                    http::Network* network) {
    SslStore store(settings, log, system);
    if (const auto checked = store.check_all(); !checked) {
        log.log(base::Level::Err,
                fmt::format("Failed to initialize SSL: {}", checked.error().message));
        log.log(base::Level::Err, "Run `puppet agent -t`");
        return base::failure("No more routes to puppet", kNoCertificate);
    }
    auto link = std::make_unique<ServerLink>(settings, store.files(), user_agent,
                                             std::function<bool()>(), network);
    if (!link->choose(log)) return base::failure("No more routes to puppet");
    link->environment = settings.text("environment");
    return link;
}

}  // namespace bunraku::agent
