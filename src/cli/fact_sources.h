// Where the facts of a node come from: a file, a terminus of Puppet's, the store.
#pragma once

#include <string>

#include "base/diagnostic.h"
#include "config/settings.h"
#include "facts/documents.h"

namespace bunraku::cli {

/// The facts in a file, of every node it knows (facts::read_documents). Throws.
std::vector<facts::NodeFacts> read_fact_file(base::Arena& arena, const std::string& path);
/// Those of one node, or of the only one there is. Throws.
facts::NodeFacts read_fact_file(base::Arena& arena, const std::string& path,
                                const std::string& node);

/// What Puppet keeps in `$yamldir/facts/NODE.yaml` or the like; undef where there is no file.
/// Throws where there is one that cannot be read, in Puppet's words.
value::Value cached_facts(base::Arena& arena, const std::string& folder, const std::string& node,
                          std::string_view ending);

/// What the store knows of the node: PuppetDB, or the embedded one; an empty hash is nothing.
/// Throws.
value::Value stored_facts(base::Arena& arena, const config::Settings& settings,
                          const std::string& node, base::LogSink& log);

}  // namespace bunraku::cli
