// SPDX-License-Identifier: Apache-2.0
// Measures how fast one thread parses all *.pp files below the given folders.
//
//     parse_speed [--times N] DIR...
//
// Prints one JSON object: files, bytes, and MB/s (CPU) of the best round, with and without
// validation.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "language/syntax/parser.h"

namespace {

double cpu_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace bunraku;
    int times = 10;
    std::vector<std::pair<std::string, std::string>> files;
    std::size_t bytes = 0;
    for (int i = 1; i < argc; ++i) {
        const std::string arg = argv[i];
        if (arg == "--times" && i + 1 < argc) {
            times = std::max(1, std::atoi(argv[++i]));
            continue;
        }
        for (const auto& entry : std::filesystem::recursive_directory_iterator(arg)) {
            if (!entry.is_regular_file() || entry.path().extension() != ".pp") continue;
            std::ostringstream text;
            text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
            files.emplace_back(entry.path().string(), std::move(text).str());
            bytes += files.back().second.size();
        }
    }
    double best = 1e9, best_checked = 1e9;
    std::size_t failed = 0;
    for (int round = 0; round < times; ++round) {
        for (const bool check : {false, true}) {
            const double start = cpu_seconds();
            failed = 0;
            for (const auto& [name, text] : files) {
                try {
                    auto tree = syntax::parse(name, text);
                    if (check) syntax::validate(*tree);
                } catch (const base::PuppetError&) {
                    ++failed;
                }
            }
            double& slot = check ? best_checked : best;
            slot = std::min(slot, cpu_seconds() - start);
        }
    }
    const double megabytes = static_cast<double>(bytes) / 1e6;
    fmt::print(
        "{{\"files\": {}, \"bytes\": {}, \"failed\": {}, \"parse_mb_s\": {:.1f}, "
        "\"parse_and_validate_mb_s\": {:.1f}}}\n",
        files.size(), bytes, failed, megabytes / best, megabytes / best_checked);
    return 0;
}
