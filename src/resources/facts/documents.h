// SPDX-License-Identifier: Apache-2.0
// Reads facts of other machines from files that users provide.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/value/value.h"

namespace bunraku::facts {

/// The facts of one node.
struct NodeFacts {
    std::string node;     ///< empty if the document does not name the node
    value::Value values;  ///< a hash in which, as in Puppet, empty strings replace undefined values
};

/// Reads a document in any form in which facts are stored:
/// - a plain hash of facts (`facter -j`, `facter -y`, `puppet facts`), or Facter's own text;
/// - {"name" or "certname": .., "values": {..}}: Puppet, a PuppetDB archive or command;
/// - {"certname": .., "facts": {"data": [..]}}: a factset of PuppetDB's API, or "facts": {..} as in
///   its inventory;
/// - [{"certname": .., "name": .., "value": ..}, ..]: rows of facts of one or many nodes;
/// - lists of all these;
/// - the YAML that Puppet itself writes (!ruby/object:Puppet::Node::Facts), with or without
///   symbols.
/// `path` is for messages; its extension selects the format that is tried first. The error is the
/// complete message.
base::Result<std::vector<NodeFacts>> read_documents(base::Arena& arena, std::string_view text,
                                                    std::string_view path);

/// Returns the facts of `node` from a document. If the document has only one node, returns the
/// facts of that node. The error is the complete message.
base::Result<NodeFacts> facts_of(const std::vector<NodeFacts>& documents, std::string_view node,
                                 std::string_view path);

/// Parses facts in the format that Facter prints without options: "kernel => Linux",
/// "os => { .. }".
base::Result<value::Value> parse_facter_text(base::Arena& arena, std::string_view text);

}  // namespace bunraku::facts
