// How often archives were fetched, by release. Counted in memory, added to a file of each
// repository (repos/ID/downloads) every half minute: who is killed loses as much of it.
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
    /// Of all its releases, those that are gone too.
    std::uint64_t of_module(std::string_view repository, std::string_view module);
    /// Everything that was counted is on disk when it is back.
    void flush();

private:
    struct Counts {
        std::unordered_map<std::string, std::uint64_t> releases, modules;
        std::unordered_map<std::string, std::uint64_t> fresh;  ///< not on disk yet
    };
    Counts& counts(std::string_view repository);  ///< under `mutex_`
    void run();

    const ForgeStore& forge_store_;
    const std::chrono::milliseconds pause_;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool ending_ = false;
    std::map<std::string, Counts, std::less<>> all_;
    std::thread writer_;  ///< from the first count on
};

}  // namespace bunraku::forge
