// SPDX-License-Identifier: Apache-2.0
// Reports of unchanged runs. They are stored so that an agent can send only the difference of its
// next unchanged run, "as report R" (docs/design/0171).
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

/// One file per node; recently used reports are also cached in memory. Thread-safe.
class KnownReports {
public:
    KnownReports(std::string folder, base::LogSink& log) : folder_(std::move(folder)), log_(log) {}

    /// Stores a report and returns its name for later references. Returns an empty string if it
    /// could not be stored.
    std::string keep(const std::string& node, const std::string& json);
    /// Returns the report of that name with the members of `difference` replaced; members of
    /// "metrics" are replaced individually. Returns nullopt if the report is unknown.
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
