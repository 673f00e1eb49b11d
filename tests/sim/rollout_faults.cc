// SPDX-License-Identifier: Apache-2.0
// The faults of a simulated rollout.
#include <fmt/format.h>

#include "sim/rollout_simulation.h"

namespace bunraku::sim {

using namespace std::chrono_literals;

void Site::crash_servers() {
    while (faulty()) {
        world_.sleep(random_time(5 * interval()));
        if (!faulty() || !up_) continue;
        if (once_in(3)) {
            restart(servers_[world_.random(servers_.size())]);
            continue;
        }
        ++figures_.crashes;
        disk_->crash_after(1 + world_.random(300), once_in(2), [this] {
            crashed_ = true;
            world_.note("the servers have crashed");
        });
        for (int i = 0; i < 60 && !crashed_; ++i) world_.sleep(10s);
        disk_->crash_now();
        up_ = false;
        while (busy_ > 0) world_.sleep(1s);
        stop();
        // Sometimes they are away longer than nodes may be silent.
        world_.sleep(random_time(once_in(5) ? 4 * interval() : sys::Duration(2min)));
        start();
    }
}

void Site::restart(const Server& server) {
    up_ = false;
    while (busy_ > 0) world_.sleep(1s);
    world_.note(server.name + " starts again");
    stop();
    start();
}

void Site::hang() {
    while (faulty()) {
        world_.sleep(random_time(12 * interval()));
        if (!faulty() || !up_) continue;
        Server& server = servers_[world_.random(servers_.size())];
        server.hung = true;
        server.avoided = once_in(2);
        ++figures_.hangs;
        world_.note(server.name + " hangs");
        world_.sleep(random_time(once_in(3) ? 4 * interval() : sys::Duration(15min)));
        server.hung = false;
        world_.note(server.name + " continues");
    }
}

void Site::step_clock() {
    while (faulty()) {
        world_.sleep(random_time(16 * interval()));
        if (!faulty()) continue;
        const auto step = random_time(once_in(2) ? sys::Duration(3h) : sys::Duration(2min));
        const auto by = once_in(2) ? step : -step;
        const bool agents_too = once_in(2);
        step_clock(by, agents_too);
        if (once_in(3)) continue;
        world_.sleep(random_time(4 * interval()));
        step_clock(-by, agents_too);
    }
}

void Site::step_clock(sys::Duration by, bool agents_too) {
    ++figures_.steps;
    world_.note(fmt::format("the clocks of the servers{} step by {} s",
                            agents_too ? " and agents" : "",
                            std::chrono::duration_cast<std::chrono::seconds>(by).count()));
    world_.step_clock(by);
    if (!agents_too)
        agents_ahead_ms_ -= std::chrono::duration_cast<std::chrono::milliseconds>(by).count();
}

void Site::fill_disk() {
    while (faulty()) {
        world_.sleep(random_time(20 * interval()));
        if (!faulty()) continue;
        world_.note("the disk of the store is full");
        ++figures_.full_disks;
        disk_->full = true;
        world_.sleep(random_time(once_in(3) ? 3 * interval() : sys::Duration(10min)));
        disk_->full = false;
        world_.note("the disk has room again");
    }
}

void Site::step_agents() {
    while (faulty()) {
        world_.sleep(random_time(6 * interval()));
        if (!faulty()) continue;
        for (auto count = 1 + world_.random(1 + nodes_.size() / 4); count > 0; --count) {
            Node& node = nodes_[world_.random(nodes_.size())];
            const auto ahead =
                std::chrono::duration_cast<std::chrono::milliseconds>(random_time(3h)).count();
            node.ahead_ms = once_in(3) ? 0 : once_in(2) ? ahead : -ahead;
        }
        ++figures_.steps;
    }
}

void Site::end_faults() {
    disk_->full = false;
    for (Server& server : servers_) server.hung = false;
    for (const Node& node : nodes_)
        while (node.has_try && !end_try(node)) world_.sleep(10s);
}

}  // namespace bunraku::sim
