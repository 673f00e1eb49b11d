// SPDX-License-Identifier: Apache-2.0
#include "services/console/code_job.h"

#include <algorithm>

namespace bunraku::console {

base::Result<void> CodeJob::run(const std::stop_token& stop) {
    constexpr std::size_t kPart = 2000;  // number of nodes whose facts are in memory at once
    base::NullSink log;
    const auto site = states_.background_site(log);
    const auto state = CodeStates::state_of(state_, state_);
    const auto names = sample_of(names_, kMostNodes);
    progress(0, names.size());
    insight::UsageRecorder recorder;
    for (std::size_t i = 0; i < names.size() && !stop.stop_requested();) {
        const auto part = std::span(names).subspan(i, std::min(kPart, names.size() - i));
        i += part.size();
        base::Arena arena(64 * 1024);
        const auto nodes = BUNRAKU_TRY(facts_of_nodes(states_.queries(), arena, part));
        recorder.examine(
            *site, state, nodes, [&](std::size_t done) { progress(done, names.size()); }, stop);
    }
    if (!stop.stop_requested()) usage_ = recorder.finish(*site, state);
    return {};
}

}  // namespace bunraku::console
