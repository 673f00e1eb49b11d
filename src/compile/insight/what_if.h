// SPDX-License-Identifier: Apache-2.0
// Changes that `whatif` makes to the inputs of a compile: other facts, and other Hiera data.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compile/insight/impact.h"
#include "compile/site/fleet_facts.h"
#include "compile/site/request.h"

namespace bunraku::insight {

/// Parses "NAME=VALUE" of an option. VALUE is JSON or, if it is not valid JSON, a string.
/// Throws if the text has another form.
std::pair<std::string, std::string> assignment(const char* option, const std::string& text);
/// Returns the facts with the value at a dotted path. Values on the path that are not hashes
/// become hashes.
value::Value with_fact(base::Arena& arena, const value::Value& facts, std::string_view path,
                       const std::string& text);
/// Adds a note about facts that no node has, because they may be misspelt. It is not an error,
/// because they may also be facts of a later release.
void note_unknown_facts(const std::vector<std::pair<std::string, std::string>>& facts,
                        const std::vector<site::FleetNode>& nodes, Impact& impact);
/// Returns the files of the state with an additional first data level that contains the keys.
std::shared_ptr<const environment::Files> with_keys(const site::NodeRequest& request,
                                                    const std::vector<std::string>& keys);

}  // namespace bunraku::insight
