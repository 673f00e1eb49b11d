// SPDX-License-Identifier: Apache-2.0
// A job that finds out which nodes of an environment read which part of its code and data.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compile/insight/usage.h"
#include "services/console/code_states.h"
#include "services/console/jobs.h"

namespace bunraku::console {

class CodeJob final : public Job {
public:
    /// More nodes are not examined; a sample of this size is.
    static constexpr std::size_t kMostNodes = 20'000;

    CodeJob(const CodeStates& states, CodeState state, std::vector<std::string> nodes)
        : states_(states), state_(std::move(state)), names_(std::move(nodes)) {}

    const CodeState& code() const { return state_; }
    /// Returns the number of nodes that use the environment; fewer may be examined.
    std::size_t population() const { return names_.size(); }
    /// Returns the result of a job in the state Done.
    const insight::Usage& usage() const { return usage_; }

protected:
    base::Result<void> run(const std::stop_token& stop) override;

private:
    const CodeStates& states_;
    const CodeState state_;
    const std::vector<std::string> names_;
    insight::Usage usage_;
};

}  // namespace bunraku::console
