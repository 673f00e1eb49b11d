// What agents are told of all plugins, which every run of every one asks for.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "language/environment/environment.h"

namespace bunraku::server {

/// Lists of files as JSON, kept while no file of theirs changes. Thread-safe.
class PluginLists {
public:
    struct List {
        std::string json;
        std::string packed;  ///< by gzip
    };
    /// The list that is kept under `key`, else what `make` gives, which has to ask the
    /// environment's files for each path before it looks at it (FileWish::witness).
    std::shared_ptr<const List> get(
        const std::shared_ptr<const environment::Environment>& environment, const std::string& key,
        const std::function<std::string()>& make);

private:
    struct Kept {
        std::shared_ptr<const environment::Environment> environment;
        std::uint64_t moment = 0;  ///< environment::Files::moment() before it was made
        std::shared_ptr<const List> list;
    };
    std::mutex mutex_;
    std::map<std::string, Kept> kept_;
};

}  // namespace bunraku::server
