// SPDX-License-Identifier: Apache-2.0
// Writes the facts of nodes to files, like Puppet's termini json and yaml. Classifiers and other
// programs read these files.
#pragma once

#include <optional>
#include <string>

#include "core/base/arena.h"
#include "core/base/diagnostic.h"
#include "core/config/settings.h"
#include "core/value/value.h"

namespace bunraku::server {

/// Returns a node's facts in the format of such a file. The times are those of `sent`, the received
/// document, or else the current time.
value::Value facts_to_keep(base::Arena& arena, const std::string& node, const value::Value& facts,
                           const value::Value& sent);

/// A writer of fact files. Thread-safe.
class FactFiles {
public:
    /// Returns a writer for $server_datadir/facts/NODE.json if there is a classifier
    /// (node_terminus = exec), if facts_terminus is `json`, or if routes.yaml names it for facts.
    /// For `yaml` the file is $yamldir/facts/NODE.yaml. Otherwise nothing is written.
    static FactFiles of_settings(const config::Settings& settings, base::LogSink& log);

    /// Saves `facts`, which has the entries name, values, timestamp and expiration. Logs write
    /// errors.
    void save(const std::string& node, const value::Value& facts) const;

private:
    FactFiles(std::string folder, bool yaml, base::LogSink& log)
        : folder_(std::move(folder)), yaml_(yaml), log_(log) {}
    std::string folder_;  ///< if empty, nothing is written
    bool yaml_;
    base::LogSink& log_;
};

}  // namespace bunraku::server
