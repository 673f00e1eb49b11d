// SPDX-License-Identifier: Apache-2.0
// The catalog in the JSON form that agents receive: the output of
// `puppet catalog compile --render-as json` and of the catalog API version 3.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/value/rich_data.h"
#include "resources/catalog/naming.h"

namespace bunraku::catalog {

struct AgentJsonOptions {
    const Naming* naming = nullptr;  ///< null means plain_naming()
    /// True to write virtual resources, marked "virtual": true, including exported resources that
    /// no collector on this node realized. An agent's catalog does not contain them.
    bool keep_virtual = false;
};

/// Appends the catalog as compact JSON in Puppet's key order, without a trailing newline.
void write_agent_json(std::string& out, const Catalog& catalog,
                      const AgentJsonOptions& options = {});
inline std::string to_agent_json(const Catalog& catalog, const AgentJsonOptions& options = {}) {
    std::string out;
    write_agent_json(out, catalog, options);
    return out;
}

/// Reads a catalog that write_agent_json or Puppet wrote, or a response of the catalog API version
/// 4, {"catalog": ..}. References stay strings. Parameters listed in `sensitive_parameters` become
/// Sensitive. For `make_typed`, see value::from_rich_data.
base::Result<Catalog> read_agent_json(std::string_view text,
                                      const value::TypedFactory& make_typed = {});
/// Reads a catalog from an already parsed document; `document` lives in `arena`.
base::Result<Catalog> read_agent_json(const std::shared_ptr<base::Arena>& arena,
                                      const value::Value& document,
                                      const value::TypedFactory& make_typed = {});

}  // namespace bunraku::catalog
