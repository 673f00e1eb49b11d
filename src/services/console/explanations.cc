// SPDX-License-Identifier: Apache-2.0
#include "services/console/explanations.h"

#include <algorithm>
#include <fmt/format.h>

#include "compile/insight/explain.h"
#include "compile/insight/fleet_selection.h"
#include "core/base/assert.h"
#include "core/base/plain_error.h"
#include "store/engine/service.h"

namespace bunraku::console {

using base::Result;
using Shared = std::shared_ptr<const insight::Explanation>;

namespace {

constexpr std::size_t kMostCached = 64;
constexpr std::size_t kMostMemory = std::size_t{1} << 30;
constexpr std::chrono::milliseconds kMostTime{20'000};

/// Environments of stored catalogs are names that clients sent.
bool is_environment_name(std::string_view name) {
    return !name.empty() && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
    });
}

site::Options site_options(const server::Context& context) {
    site::Options out;
    out.threads = 1;
    out.ruby_children = Explanations::kMostAtOnce;
    out.memory = kMostMemory;
    out.time = kMostTime;
    // Every explanation reads the code of now.
    out.environment_timeout = "0";
    out.store.database = context.store->options().database;
    out.store.network = &context.network;
    return out;
}

}  // namespace

Explanations::Explanations(const server::Context& context) : context_(context) {}
Explanations::~Explanations() = default;

site::Site& Explanations::site() {
    const std::lock_guard lock(mutex_);
    if (!site_) {
        config::Settings settings = context_.settings;
        if (!settings.is_set("storeconfigs")) settings.set("storeconfigs", "true");
        site_ = std::make_unique<site::Site>(std::move(settings), site_options(context_));
    }
    return *site_;
}

Result<Shared> Explanations::make(const WhyQuestion& question) {
    if (!is_environment_name(question.environment))
        return base::failure("The catalog has no valid environment.");
    try {
        insight::FleetSelection selection;
        selection.compile.environment = question.environment;
        site::Site& site = this->site();
        auto state = selection.state("env:" + question.environment, site.settings(), "");
        state.adjust = [](site::NodeRequest& request) {
            request.facts.kind = site::FactSource::Kind::Store;
            request.time = kMostTime;
        };
        site::FleetNode node;
        node.name = question.certname;
        return std::make_shared<const insight::Explanation>(insight::explain(
            site, state, node,
            {.reference = question.reference, .parameter = question.parameter, .missing = false}));
    } catch (const base::PuppetError& error) {
        return base::failure(error.full_text());
    }
}

Result<Shared> Explanations::explain(const WhyQuestion& question) {
    const auto now = context_.runtime.now_ms();
    {
        const std::lock_guard lock(mutex_);
        std::erase_if(cache_,
                      [&](const auto& entry) { return now - entry.second.made_ms >= kFreshMs; });
        if (const auto it = cache_.find(question); it != cache_.end())
            return it->second.explanation;
    }
    struct Turn {
        explicit Turn(std::atomic<int>& n) : number(n), before(n.fetch_add(1)) {}
        ~Turn() { number.fetch_sub(1); }
        std::atomic<int>& number;
        const int before;
    } const turn(running_);
    if (turn.before >= kMostAtOnce) {
        return base::failure("The server is making other explanations. Try again in some seconds.");
    }
    auto made = make(question);
    if (!made) return made;
    const std::lock_guard lock(mutex_);
    if (cache_.size() >= kMostCached) cache_.clear();
    cache_.insert_or_assign(question, Cached{*made, now});
    return made;
}

}  // namespace bunraku::console
