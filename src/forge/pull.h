// Pull-through repositories: what clients ask for is looked up upstream, described in the
// repository, and its tarball fetched and kept when somebody wants it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "forge/service.h"

namespace bunraku::forge {

/// What was asked of upstreams lately. One question at a time: the second asker finds the answer.
struct ForgeService::Pull {
    std::mutex mutex;
    std::map<std::string, std::int64_t> fresh_until;  ///< "repo author-name" -> seconds
};

}  // namespace bunraku::forge
