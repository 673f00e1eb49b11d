// Reports in which nothing happened, kept so that the next such run can be told in a few words: "as
// report R" (docs/design/0171).
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/base/arena.h"
#include "core/base/diagnostic.h"
#include "core/value/value.h"

namespace bunraku::server {

/// One file a node; those that were asked for lately are in memory as well. Thread-safe.
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
    struct Known {
        std::string name;
        std::string json;
    };
    std::string path_of(const std::string& node) const;
    std::shared_ptr<const Known> known(const std::string& node, const std::string& name) const;
    void remember(const std::string& node, std::shared_ptr<const Known> known) const;

    std::string folder_;
    base::LogSink& log_;
    mutable std::mutex mutex_;
    mutable std::unordered_map<std::string, std::shared_ptr<const Known>> recent_;  ///< by node
    mutable std::size_t recent_bytes_ = 0;
};

}  // namespace bunraku::server
