// SPDX-License-Identifier: Apache-2.0
// Download counts per release. They are counted in memory and added to a file of the repository
// (repos/ID/downloads) every 30 seconds. A process that is killed loses at most the counts of that
// period.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "modules/forge/forge_store.h"

namespace bunraku::forge {

class DownloadCounts {
public:
    DownloadCounts(const ForgeStore& forge_store, std::chrono::milliseconds pause)
        : forge_store_(forge_store), pause_(pause) {}
    ~DownloadCounts();
    DownloadCounts(const DownloadCounts&) = delete;

    void count(std::string_view repository, std::string_view slug);
    std::uint64_t of_release(std::string_view repository, std::string_view slug);
    /// Returns the downloads of all releases of the module, including deleted releases.
    std::uint64_t of_module(std::string_view repository, std::string_view module);
    /// Writes all counts to disk before it returns.
    void flush();

private:
    struct Counts {
        std::unordered_map<std::string, std::uint64_t> releases, modules;
        std::unordered_map<std::string, std::uint64_t> fresh;  ///< counts not yet on disk
    };
    Counts& counts(std::string_view repository);  ///< The caller holds `mutex_`.
    void run();

    const ForgeStore& forge_store_;
    const std::chrono::milliseconds pause_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool ending_ = false;
    std::map<std::string, Counts, std::less<>> all_;
    std::thread writer_;  ///< started by the first count
};

}  // namespace bunraku::forge
