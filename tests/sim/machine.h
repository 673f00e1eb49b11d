// The machine under a simulated fleet: what the C library says of time and files, in place of the
// kernel. Every part of the product and of its libraries sees virtual time, and a host's disk can
// be full, or stop at any step with what was on it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/sys/simulation.h"

namespace bunraku::sim {

/// From now on clocks and files below `root` are `world`'s; null: the kernel's again.
void enter_world(sys::Simulation* world, const std::string& root = {});

/// The files of one host, below the root. They live in a folder a "life": after a crash the host
/// goes on in a copy of what was there, while whoever still runs writes where nobody looks.
class HostDisk {
public:
    HostDisk(std::string folder, sys::Simulation& world);
    ~HostDisk();
    HostDisk(const HostDisk&) = delete;

    /// Where its files are now.
    const std::string& folder() const { return folder_; }

    /// Before the `steps`-th change of a file from now on: what is there is copied, and `crashed`
    /// is told. With `power_loss` what was not synced is lost or torn.
    void crash_after(std::uint64_t steps, bool power_loss, std::function<void()> crashed);
    /// At once, if it has not crashed yet.
    void crash_now();
    bool armed() const { return steps_ > 0; }
    /// Nothing can be written.
    bool full = false;
    std::uint64_t changes() const { return changes_; }

    /// Of the C library: before a change of a file in folder().
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
