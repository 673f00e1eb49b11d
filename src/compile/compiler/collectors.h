// SPDX-License-Identifier: Apache-2.0
// The active collectors. All collectors live as long as the compile, because relationships refer to
// them.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "compile/compiler/collector.h"

namespace bunraku::compiler {

class Collectors {
public:
    Collector& add(std::unique_ptr<Collector> collector) {
        active_.push_back(collector.get());
        return *all_.emplace_back(std::move(collector));
    }
    /// Removes a collector that cannot find any more resources.
    void retire(const Collector& collector) { std::erase(active_, &collector); }
    /// Returns the collectors that may still find resources. Returns a copy, because a run may
    /// retire the collector or add others.
    std::vector<Collector*> active() const { return active_; }

private:
    std::deque<std::unique_ptr<Collector>> all_;
    std::vector<Collector*> active_;
};

}  // namespace bunraku::compiler
