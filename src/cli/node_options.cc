// SPDX-License-Identifier: Apache-2.0
#include "cli/node_options.h"

#include <fmt/format.h>

namespace bunraku::cli {

void NodeOptions::add_to(OptionParser& parser) {
    parser.value("node", &node);
    parser.value("facts", &facts);
    parser.value("enc", &enc);
    parser.value("trusted", &trusted);
    parser.value("server-facts", &server_facts);
    parser.value("vars", &vars);
    parser.value("environment", &environment);
    parser.value("environmentpath", &environmentpath);
    parser.value("modulepath", &modulepath);
    parser.value("hiera-config", &hiera_config);
    parser.value("code-id", &code_id);
    parser.flag("storeconfigs", &storeconfigs);
    parser.value("puppetdb-url", &puppetdb_url);
}

site::Options site_options(base::LogSink& log) {
    site::Options out;
    out.log = &log;
    out.explain_errors = true;
    out.user_agent = fmt::format("Puppet/{} Bunraku/{}",
                                 config::puppet_version(config::kDefaultLevel), kVersion);
    return out;
}

}  // namespace bunraku::cli
