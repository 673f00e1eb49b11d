// The catalog as agents get it: what `puppet catalog compile --render-as json` and the catalog API
// version 3 give.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/value/rich_data.h"
#include "resources/catalog/naming.h"

namespace bunraku::catalog {

struct AgentJsonOptions {
    const Naming* naming = nullptr;  ///< null: plain_naming()
    /// Virtual resources, exported ones that nobody collected here included, stay, marked
    /// "virtual": true. An agent's catalog has none.
    bool keep_virtual = false;
};

/// Compact JSON in Puppet's key order, without a line end.
void write_agent_json(std::string& out, const Catalog& catalog,
                      const AgentJsonOptions& options = {});
inline std::string to_agent_json(const Catalog& catalog, const AgentJsonOptions& options = {}) {
    std::string out;
    write_agent_json(out, catalog, options);
    return out;
}

/// Reads what write_agent_json or Puppet wrote; also the answer of the catalog API version 4,
/// {"catalog": ..}. References stay the strings they are; parameters named in
/// `sensitive_parameters` become Sensitive. `make_typed`: see value::from_rich_data.
base::Result<Catalog> read_agent_json(std::string_view text,
                                      const value::TypedFactory& make_typed = {});
/// The same of a text that was read already; `document` lives in `arena`.
base::Result<Catalog> read_agent_json(const std::shared_ptr<base::Arena>& arena,
                                      const value::Value& document,
                                      const value::TypedFactory& make_typed = {});

}  // namespace bunraku::catalog
