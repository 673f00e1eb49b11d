// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/fleet_compile.h"

namespace bunraku::insight {

NodeCompile look(site::Site& site, const State& state, const site::FleetNode& node,
                 bool with_places) {
    NodeCompile out;
    base::NullSink log;
    try {
        auto request = request_for(state, node);
        if (with_places) out.places = std::make_shared<compiler::ReadLocations>();
        request.record = {.trace = true, .places = out.places, .history = {}};
        const auto session = site.session(std::move(request), log);
        out.environment = session->environment();
        try {
            out.compiled = session->compile();
        } catch (const base::PuppetError&) {
            out.failed = true;
        }
        out.trace = session->trace();
    } catch (const base::PuppetError&) {
        out.failed = true;
    }
    return out;
}

}  // namespace bunraku::insight
