// Reports in which nothing happened, kept so that the next such run can be told in a few words: "as
// report R" (docs/design/0171).
#pragma once

#include <optional>
#include <string>

#include "base/arena.h"
#include "base/diagnostic.h"
#include "value/value.h"

namespace bunraku::server {

/// One file a node. Thread-safe.
class KnownReports {
public:
    KnownReports(std::string folder, base::LogSink& log) : folder_(std::move(folder)), log_(log) {}

    /// Gives the name under which it can be spoken of; empty: it could not be kept.
    std::string keep(const std::string& node, const std::string& json);
    /// The report of that name with `difference` laid over it: members of it replace members, those
    /// of "metrics" one by one. Nullopt: it is not known (any more).
    std::optional<value::Value> find(base::Arena& arena, const std::string& node,
                                     const std::string& name, const value::Value& difference) const;

private:
    std::string path_of(const std::string& node) const;
    std::string folder_;
    base::LogSink& log_;
};

}  // namespace bunraku::server
