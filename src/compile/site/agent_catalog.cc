// SPDX-License-Identifier: Apache-2.0
#include "compile/site/agent_catalog.h"

#include <algorithm>

#include "compile/compiler/plain_data.h"
#include "compile/site/view.h"
#include "resources/catalog/agent_json.h"

namespace bunraku::site {

std::string agent_catalog(const Compiled& compiled, VirtualResources kept, base::LogSink& log,
                          RichData client) {
    const auto& catalog = *compiled.catalog;
    catalog::AgentJsonOptions json;
    json.naming = compiled.naming.get();
    json.keep_virtual = kept == VirtualResources::Keep;
    std::string out;
    const auto strict = compiled.strict;
    if (client == RichData::Refused || !compiled.view->rich_data()) {
        // An old client did not choose to work without rich data, so losses are only warnings.
        const bool chosen = !compiled.view->rich_data();
        const auto how = chosen ? strict : std::min(strict, evaluator::Strict::Warning);
        catalog::write_agent_json(out, compiler::without_rich_data(catalog, how, log), json);
    } else if (compiler::holds_runtime_objects(catalog)) {
        catalog::write_agent_json(out, compiler::without_runtime_objects(catalog, strict, log),
                                  json);
    } else {
        catalog::write_agent_json(out, catalog, json);
    }
    return out;
}

}  // namespace bunraku::site
