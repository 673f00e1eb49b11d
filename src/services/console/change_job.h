// SPDX-License-Identifier: Apache-2.0
// The comparison of two states of the code for the nodes of an environment, as a job.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compile/insight/impact.h"
#include "services/console/code_states.h"
#include "services/console/jobs.h"

namespace bunraku::console {

class ChangeJob final : public Job {
public:
    /// More nodes are not compared; a sample of this size is.
    static constexpr std::size_t kMostNodes = 20'000;

    /// `nodes` are the names of the nodes of the environment `from`. `cache` is the folder for the
    /// reads of nodes.
    ChangeJob(const CodeStates& states, CodeState from, CodeState to,
              std::vector<std::string> nodes, std::string cache)
        : states_(states),
          from_(std::move(from)),
          to_(std::move(to)),
          names_(std::move(nodes)),
          cache_(std::move(cache)) {}

    /// Returns the impact on the nodes that were examined so far.
    std::shared_ptr<const insight::Impact> impact() const;

protected:
    base::Result<void> run(const std::stop_token& stop) override;

private:
    /// Shows the groups of the current part after those of the earlier parts.
    void preview(std::size_t done, std::span<const insight::Group> groups);
    void publish(insight::Impact impact);

    const CodeStates& states_;
    const CodeState from_, to_;
    const std::vector<std::string> names_;
    const std::string cache_;
    insight::Impact found_;          ///< of the parts that are done
    std::vector<std::string> part_;  ///< names of the nodes of the current part
    std::size_t previewed_ = 0;      ///< groups of the current part that were shown
    mutable std::mutex mutex_;
    std::shared_ptr<const insight::Impact> impact_ = std::make_shared<insight::Impact>();
};

}  // namespace bunraku::console
