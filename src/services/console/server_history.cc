// SPDX-License-Identifier: Apache-2.0
#include "services/console/server_history.h"

#include <algorithm>

#include "services/server/debug_status.h"
#include "services/server/process_figures.h"

namespace bunraku::console {

ServerHistory::ServerHistory(const base::Counters& counters, sys::Executor& aside)
    : counters_(counters), aside_(aside) {
    take();
    schedule();
}

void ServerHistory::take() {
    Sample now;
    now.requests = counters_.total("bunraku_http_request_seconds");
    now.compiles = counters_.total(server::kCompileTime);
    now.commands = counters_.total("bunraku_commands_received_total");
    now.queue = counters_.total("bunraku_command_queue_depth");
    now.memory = static_cast<double>(server::process_figures().resident_bytes);
    const std::lock_guard lock(mutex_);
    samples_.push_back(now);
    if (samples_.size() > kMost) samples_.pop_front();
}

void ServerHistory::schedule() {
    (void)aside_.post_after(kPause, [this] {
        take();
        schedule();
    });
}

std::vector<double> ServerHistory::per_minute(double Sample::* figure) const {
    const auto all = values(figure);
    std::vector<double> out;
    for (std::size_t i = 1; i < all.size(); ++i) out.push_back(std::max(0.0, all[i] - all[i - 1]));
    return out;
}

std::vector<double> ServerHistory::values(double Sample::* figure) const {
    const std::lock_guard lock(mutex_);
    std::vector<double> out;
    for (const Sample& sample : samples_) out.push_back(sample.*figure);
    return out;
}

}  // namespace bunraku::console
