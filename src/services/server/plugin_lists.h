// SPDX-License-Identifier: Apache-2.0
// The lists of all plugins, which every agent requests in every run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "language/environment/environment.h"

namespace bunraku::server {

/// A cache of JSON file lists, valid while none of their files changes. Thread-safe.
class PluginLists {
public:
    struct List {
        std::string json;
        std::string packed;  ///< compressed with gzip
    };
    /// Returns the list of this version of the environment that is cached under `key`, or else the
    /// result of `make`. `make` must look each path up in the environment's files before it reads
    /// the path (FileRequest::watch).
    std::shared_ptr<const List> get(
        const std::shared_ptr<const environment::Environment>& environment, const std::string& key,
        const std::function<std::string()>& make);

private:
    struct Kept {
        std::shared_ptr<const environment::Environment> environment;
        std::uint64_t moment = 0;  ///< environment::Files::moment() before the list was made
        std::shared_ptr<const List> list;
    };
    std::mutex mutex_;
    /// By the folder of the version and by key.
    std::map<std::pair<std::string, std::string>, Kept> kept_;
};

}  // namespace bunraku::server
