// SPDX-License-Identifier: Apache-2.0
#include "services/server/cache_reasons.h"

#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/sys/clock.h"
#include "language/environment/read_answer.h"

namespace bunraku::server {

namespace {

constexpr std::size_t kMostNodes = 50'000;
constexpr std::size_t kMostDetails = 20;

std::vector<std::string> shortened(std::vector<std::string> details) {
    if (details.size() <= kMostDetails) return details;
    const auto left_out = details.size() - kMostDetails;
    details.resize(kMostDetails);
    details.push_back(fmt::format("and {} more", left_out));
    BUNRAKU_ASSERT(left_out > 0 && details.size() == kMostDetails + 1);
    return details;
}

}  // namespace

CacheDecision* CacheReasons::slot(const std::string& node) {
    const auto it = nodes_.find(node);
    if (it != nodes_.end()) return &it->second;
    return nodes_.size() < kMostNodes ? &nodes_[node] : nullptr;
}

void CacheReasons::served(const std::string& node, const std::string& environment) {
    const std::lock_guard lock(mutex_);
    auto* decision = slot(node);
    if (!decision) return;
    decision->environment = environment;
    decision->served = true;
    decision->reason.clear();
    decision->details.clear();
    decision->at_ns = sys::make_real_clock()->now_ns();
    ++decision->served_total;
}

void CacheReasons::compiled(const std::string& node, const std::string& environment,
                            std::string reason, std::vector<std::string> details) {
    const std::lock_guard lock(mutex_);
    auto* decision = slot(node);
    if (!decision) return;
    if (reason.empty() && decision->reason.empty())
        reason = "no catalog of this node is cached yet";
    if (!reason.empty()) {
        decision->reason = std::move(reason);
        decision->details = shortened(std::move(details));
    }
    BUNRAKU_ASSERT(!decision->reason.empty());
    decision->environment = environment;
    decision->served = false;
    decision->at_ns = sys::make_real_clock()->now_ns();
    ++decision->compiled_total;
}

void CacheReasons::not_cached(const std::string& node, std::string reason,
                              std::vector<std::string> details) {
    const std::lock_guard lock(mutex_);
    auto* decision = slot(node);
    if (!decision) return;
    decision->reason = std::move(reason);
    decision->details = shortened(std::move(details));
}

std::optional<CacheDecision> CacheReasons::find(const std::string& node) const {
    const std::lock_guard lock(mutex_);
    const auto it = nodes_.find(node);
    return it == nodes_.end() ? std::nullopt : std::optional(it->second);
}

std::string read_text(const environment::ReadTable::Item& read) {
    using environment::Read;
    const bool fact =
        read.kind == Read::Fact || read.kind == Read::Trusted || read.kind == Read::ServerFact;
    const auto name = fact ? environment::shown_fact_path(read.name) : std::string(read.name);
    std::string out(environment::read_name(read.kind));
    if (fact && name.empty()) return out + "s, all of them";
    if (!name.empty()) out += " " + name;
    if (!read.detail.empty()) out += fmt::format(" ({})", read.detail);
    return out;
}

}  // namespace bunraku::server
