// SPDX-License-Identifier: Apache-2.0
#include "cli/fleet_options.h"

#include <unistd.h>

#include "core/sys/terminal.h"

namespace bunraku::cli {

insight::TextOptions text_options(const OptionParser& parser, bool whole) {
    insight::TextOptions out;
    out.whole = whole;
    out.color = parser.color == "always" || parser.color == "ansi" || parser.color == "true" ||
                (parser.color.empty() && sys::has_colors(STDOUT_FILENO));
    return out;
}

void FleetOptions::add_to(OptionParser& parser) {
    parser.value("path", &path);
    parser.value("facts-from", &facts_from);
    parser.value("facts-dir", &facts_dir);
    parser.value("facts", &compile.facts);
    parser.value("puppetdb-url", &compile.puppetdb_url);
    parser.value("nodes", &nodes);
    parser.list("node", &node);
    parser.value("sample", &sample);
    parser.value("jobs", &jobs);
    parser.value("enc", &compile.enc);
    parser.value("trusted", &compile.trusted);
    parser.value("server-facts", &compile.server_facts);
    parser.value("vars", &compile.vars);
    parser.value("environment", &compile.environment);
    parser.value("environmentpath", &compile.environmentpath);
    parser.value("modulepath", &compile.modulepath);
    parser.value("hiera-config", &compile.hiera_config);
    parser.value("manifest", &manifest);
    parser.flag("storeconfigs", &compile.storeconfigs);
}

}  // namespace bunraku::cli
