// Facts of other machines, out of the files that people have of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/value/value.h"

namespace bunraku::facts {

/// The facts of one node.
struct NodeFacts {
    std::string node;     ///< empty where the document does not say
    value::Value values;  ///< a hash; undefined values are empty texts, as in Puppet
};

/// Reads a document in any form in which facts are kept:
/// - a plain hash of facts (`facter -j`, `facter -y`, `puppet facts`), or Facter's own text;
/// - {"name" or "certname": .., "values": {..}}: Puppet, an archive of PuppetDB, its command;
/// - {"certname": .., "facts": {"data": [..]}}: a factset of PuppetDB's API, also "facts": {..} as
///   its inventory has it;
/// - [{"certname": .., "name": .., "value": ..}, ..]: rows of facts, of one node or of many;
/// - lists of all these;
/// - the YAML that Puppet itself writes (!ruby/object:Puppet::Node::Facts), symbols in it or not.
/// `path` is for messages; its ending says which format is tried first. The error is the whole
/// message.
base::Result<std::vector<NodeFacts>> read_documents(base::Arena& arena, std::string_view text,
                                                    std::string_view path);

/// The facts of `node` among those of a document; of the only node where there is one. The error is
/// the whole message.
base::Result<NodeFacts> facts_of(const std::vector<NodeFacts>& documents, std::string_view node,
                                 std::string_view path);

/// Facts as Facter prints them without an option: "kernel => Linux", "os => { .. }".
base::Result<value::Value> parse_facter_text(base::Arena& arena, std::string_view text);

}  // namespace bunraku::facts
