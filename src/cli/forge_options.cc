// SPDX-License-Identifier: Apache-2.0
#include "cli/forge_options.h"

#include "cli/command.h"
#include "modules/module/trust.h"

namespace bunraku::cli {

module::ForgeClientOptions forge_options(const config::Settings& settings) {
    module::ForgeClientOptions out;
    out.url = settings.text("module_repository");
    out.authorization = settings.text("forge_authorization");
    out.module_groups = settings.text("module_groups");
    out.trust_store = settings.text("ssl_trust_store");
    out.proxies = http::ProxyRules::of_settings(settings);
    out.trust = module::ForgeTrust::of(settings.text("confdir"), settings.text("vardir"));
    out.user_agent = "PMT/1.1.1 (v3; Bunraku) " + user_agent(settings);
    return out;
}

}  // namespace bunraku::cli
