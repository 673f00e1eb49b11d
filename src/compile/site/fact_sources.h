// Where the facts of a node come from: a file, a terminus of Puppet's, the store.
#pragma once

#include <string>

#include "compile/site/store_access.h"
#include "core/base/diagnostic.h"
#include "core/config/settings.h"
#include "language/environment/environment.h"
#include "resources/facts/documents.h"
#include "resources/facts/facts.h"

namespace bunraku::site {

/// The facts in a file, of every node it knows (facts::read_documents). Throws.
std::vector<facts::NodeFacts> read_fact_file(base::Arena& arena, const std::string& path);
/// Those of one node, or of the only one there is. Throws.
facts::NodeFacts read_fact_file(base::Arena& arena, const std::string& path,
                                const std::string& node);

/// Whether Puppet takes the name of a node for the name of a file (its BadNameRegexp).
bool is_file_name(std::string_view node);

/// What Puppet keeps in `$yamldir/facts/NODE.yaml` or the like; undef where there is no file.
/// Throws where there is one that cannot be read, in Puppet's words.
value::Value cached_facts(base::Arena& arena, const std::string& folder, const std::string& node,
                          std::string_view ending);

/// A node's facts, and its $trusted; undef if unknown.
struct KnownFacts {
    value::Value facts, trusted;
};
/// Takes apart facts as PuppetDB stores them, with $trusted as one of them.
KnownFacts split_trusted(base::Arena& arena, const value::Value& stored);

/// Returns what the store, PuppetDB or the embedded one, has of the node, $trusted among the facts.
/// An empty hash: it has nothing. Throws.
value::Value stored_facts(base::Arena& arena, StoreAccess& store, const std::string& node);

/// This machine's, with what a Puppet run adds and the custom facts that add_fact_folders finds.
value::Value machine_facts(base::Arena& arena, const config::Settings& settings,
                           const environment::Environment* environment, base::LogSink& log);

/// $server_facts of this machine (Puppet::Node::ServerFacts of 8.11).
value::Value own_server_facts(base::Arena& arena);

/// Where Puppet finds facts beyond Facter's own: FACTERLIB, lib/facter and facts.d of the
/// environment's modules (null: none), and what the settings factpath and pluginfactdest name.
void add_fact_folders(const config::Settings& settings, const environment::Environment* environment,
                      facts::Options& wanted);

}  // namespace bunraku::site
