// SPDX-License-Identifier: Apache-2.0
// FleetWork by the compiler: each question compiles the nodes.
#pragma once

#include <utility>

#include "core/config/settings.h"
#include "services/lsp/fleet_work.h"

namespace bunraku::lsp {

class SiteFleet final : public FleetWork {
public:
    explicit SiteFleet(config::Settings settings) : settings_(std::move(settings)) {}
    base::Result<std::string> ask(const Question& question) override;
    base::Result<Usage> usage(const Question& question) override;

private:
    config::Settings settings_;
};

}  // namespace bunraku::lsp
