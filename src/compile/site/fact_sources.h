// SPDX-License-Identifier: Apache-2.0
// Sources of a node's facts: a file, a terminus of Puppet, the store.
#pragma once

#include <string>

#include "compile/site/store_access.h"
#include "core/base/diagnostic.h"
#include "core/config/settings.h"
#include "core/value/build.h"
#include "language/environment/environment.h"
#include "resources/facts/documents.h"
#include "resources/facts/facts.h"

namespace bunraku::site {

/// Returns the facts of all nodes in a file (facts::read_documents). Throws.
std::vector<facts::NodeFacts> read_fact_file(base::Arena& arena, const std::string& path);
/// Returns the facts of `node` in a file, or of the only node in it. Throws.
facts::NodeFacts read_fact_file(base::Arena& arena, const std::string& path,
                                const std::string& node);

/// Reports whether the name of a node is usable as a file name for Puppet (BadNameRegexp).
bool is_file_name(std::string_view node);

/// Returns the facts that Puppet stores in `$yamldir/facts/NODE.yaml` or similar, or undef if the
/// file does not exist. Throws Puppet's error if the file cannot be read.
value::Value cached_facts(base::Arena& arena, const std::string& folder, const std::string& node,
                          std::string_view ending);

/// The facts and $trusted of a node; undef if unknown.
struct KnownFacts {
    value::Value facts, trusted;
};
/// Separates $trusted from the facts, because PuppetDB stores it as a fact.
KnownFacts split_trusted(base::Arena& arena, const value::Value& stored);

/// Returns the facts of the node in the store (PuppetDB or the embedded one), including $trusted.
/// Returns an empty hash if it has none. Throws.
value::Value stored_facts(base::Arena& arena, StoreAccess& store, const std::string& node);

/// Returns the facts of this machine. Includes those that a Puppet run adds, and the custom facts
/// that add_fact_folders finds.
value::Value machine_facts(base::Arena& arena, const config::Settings& settings,
                           const environment::Environment* environment, base::LogSink& log);

/// Returns $server_facts of this machine (Puppet::Node::ServerFacts).
value::Value own_server_facts(base::Arena& arena, config::Compatibility level);
/// Adds the facts of the server that depend only on the compatibility level: serverimplementation
/// and serverversion.
void add_server_versions(value::HashBuilder& facts, config::Compatibility level);

/// Adds the folders with Puppet's custom facts: FACTERLIB, lib/facter and facts.d of the
/// environment's modules, and the settings factpath and pluginfactdest. `environment` may be null.
void add_fact_folders(const config::Settings& settings, const environment::Environment* environment,
                      facts::Options& wanted);

}  // namespace bunraku::site
