// The facts of nodes as files, as Puppet's termini json and yaml keep them on a server: classifiers
// and jobs of other programs read them.
#pragma once

#include <optional>
#include <string>

#include "core/base/arena.h"
#include "core/base/diagnostic.h"
#include "core/config/settings.h"
#include "core/value/value.h"

namespace bunraku::server {

/// Returns a node's facts as such a file holds them: with the times of `sent`, the document that
/// brought them, or else those of now.
value::Value facts_to_keep(base::Arena& arena, const std::string& node, const value::Value& facts,
                           const value::Value& sent);

/// Thread-safe.
class FactFiles {
public:
    /// Writes $server_datadir/facts/NODE.json if there is a classifier (node_terminus = exec), or
    /// if facts_terminus is `json` or routes.yaml names it for facts; $yamldir/facts/NODE.yaml for
    /// `yaml`. Otherwise nothing is written.
    static FactFiles of_settings(const config::Settings& settings, base::LogSink& log);

    /// Saves `facts`, which has the entries name, values, timestamp and expiration. Logs what keeps
    /// it from being written.
    void save(const std::string& node, const value::Value& facts) const;

private:
    FactFiles(std::string folder, bool yaml, base::LogSink& log)
        : folder_(std::move(folder)), yaml_(yaml), log_(log) {}
    std::string folder_;  ///< empty: nothing is written
    bool yaml_;
    base::LogSink& log_;
};

}  // namespace bunraku::server
