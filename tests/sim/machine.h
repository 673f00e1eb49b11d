// SPDX-License-Identifier: Apache-2.0
// The machine under a simulated fleet. It replaces the C library's functions for time and files.
// All of Bunraku and its libraries see virtual time. A host's disk can be full, or fail at any step
// and keep its current content.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "testing/simulation.h"

namespace bunraku::sim {

/// From now on, clocks and files below `root` belong to `world`. If `world` is null, they belong to
/// the kernel again.
void enter_world(sys::Simulation* world, const std::string& root = {});

/// The files of one host, below the root. Each life of the host has its own folder. After a crash,
/// the host continues with a copy of the files. Threads of the old life still write to the old
/// folder, which is no longer used.
class HostDisk {
public:
    HostDisk(std::string folder, sys::Simulation& world);
    ~HostDisk();
    HostDisk(const HostDisk&) = delete;

    /// Returns the folder that currently contains the host's files.
    const std::string& folder() const { return folder_; }

    /// Simulates a crash before the `steps`-th change of a file from now on: copies the current
    /// files and calls `crashed`. With `power_loss`, unsynced writes are lost or truncated.
    void crash_after(std::uint64_t steps, bool power_loss, std::function<void()> crashed);
    /// Simulates the crash immediately, if it has not happened yet.
    void crash_now();
    bool armed() const { return steps_ > 0; }
    /// If true, all writes fail with ENOSPC.
    bool full = false;
    std::uint64_t changes() const { return changes_; }

    /// Called by the replaced C library functions before each change of a file in folder().
    void step();

private:
    std::string life(std::uint64_t n) const;
    std::string base_, folder_;
    sys::Simulation& world_;
    std::uint64_t life_ = 0, steps_ = 0, changes_ = 0;
    bool power_loss_ = false;
    std::function<void()> crashed_;
};

}  // namespace bunraku::sim
