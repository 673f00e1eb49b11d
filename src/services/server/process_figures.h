// SPDX-License-Identifier: Apache-2.0
// Resource usage of this process.
#pragma once

#include <cstdint>

namespace bunraku::server {

struct ProcessFigures {
    double cpu_seconds = 0;
    std::uint64_t resident_bytes = 0, virtual_bytes = 0;
    std::uint64_t open_files = 0, max_open_files = 0, threads = 0;
    double start_time = 0;  ///< in seconds since the epoch
    std::int64_t uptime_ms = 0;
};

ProcessFigures process_figures();

}  // namespace bunraku::server
