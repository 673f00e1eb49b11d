// SPDX-License-Identifier: Apache-2.0
// Compiles all nodes of a fleet to analyse their reads. Private to insight.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>

#include "compile/insight/impact.h"

namespace bunraku::insight {

/// A compile of one node for analysis.
struct NodeCompile {
    site::Compiled compiled;
    std::shared_ptr<const environment::Environment> environment;
    std::shared_ptr<environment::Trace> trace;
    std::shared_ptr<compiler::ReadLocations> places;
    bool failed = false;
};

/// Compiles a node and records its reads, with their locations if `with_places` is true.
NodeCompile look(site::Site& site, const State& state, const site::FleetNode& node,
                 bool with_places);

/// Compiles all nodes on the site's threads. Calls `take` with one result at a time and the index
/// of the node. After a request to stop, leaves out the remaining nodes.
template <class Take>
void look_at_all(site::Site& site, const State& state, std::span<const site::FleetNode> nodes,
                 bool with_places, Take&& take, const std::stop_token& stop = {}) {
    site.environment(state.request());
    std::mutex mutex;
    std::condition_variable done;
    std::size_t left = nodes.size();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        site.workers().post([&, i] {
            NodeCompile compiled_node;
            const bool wanted = !stop.stop_requested();
            if (wanted) compiled_node = look(site, state, nodes[i], with_places);
            const std::lock_guard lock(mutex);
            if (wanted) take(i, compiled_node);
            if (--left == 0) done.notify_all();
        });
    }
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return left == 0; });
}

}  // namespace bunraku::insight
