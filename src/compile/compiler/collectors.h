// The collectors at work. They live as long as the compile, since relationships name them.
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
    /// It has found all it ever will.
    void retire(const Collector& collector) { std::erase(active_, &collector); }
    /// Those that may still find something. A copy: a run may retire itself or add others.
    std::vector<Collector*> active() const { return active_; }

private:
    std::deque<std::unique_ptr<Collector>> all_;
    std::vector<Collector*> active_;
};

}  // namespace bunraku::compiler
