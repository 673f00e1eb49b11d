// SPDX-License-Identifier: Apache-2.0
#include "services/server/process_figures.h"

#include <chrono>
#include <cstdio>
#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

namespace bunraku::server {

namespace {

using std::chrono::system_clock;

// The first call is at the start of the server.
system_clock::time_point started() {
    static const auto at = system_clock::now();
    return at;
}

std::uint64_t entries_of(const char* path) {
    std::uint64_t out = 0;
    if (DIR* folder = ::opendir(path)) {
        while (const dirent* entry = ::readdir(folder))
            if (entry->d_name[0] != '.') out++;
        ::closedir(folder);
    }
    return out;
}

}  // namespace

ProcessFigures process_figures() {
    ProcessFigures out;
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    out.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
        unsigned long size = 0, resident = 0;
        if (std::fscanf(file, "%lu %lu", &size, &resident) == 2) {
            auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
            out.virtual_bytes = size * page;
            out.resident_bytes = resident * page;
        }
        std::fclose(file);
    }
    out.open_files = entries_of("/proc/self/fd");
    if (out.open_files) out.open_files--;  // without the descriptor of this folder
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0) out.max_open_files = files.rlim_cur;
    out.threads = entries_of("/proc/self/task");
    auto now = system_clock::now(), start = started();
    using std::chrono::duration_cast;
    using std::chrono::milliseconds;
    out.start_time =
        static_cast<double>(duration_cast<milliseconds>(start.time_since_epoch()).count()) / 1e3;
    out.uptime_ms = duration_cast<milliseconds>(now - start).count();
    return out;
}

}  // namespace bunraku::server
