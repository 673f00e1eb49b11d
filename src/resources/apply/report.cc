// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/report.h"

#include <algorithm>

#include "core/base/assert.h"

namespace bunraku::apply {
namespace {

std::int64_t whole(const Number& n) {
    return std::holds_alternative<std::int64_t>(n) ? std::get<std::int64_t>(n)
                                                   : static_cast<std::int64_t>(std::get<double>(n));
}

}  // namespace

Report::Report(Context& context) : context_(context) {
    time_ns = context.system.clock.now_ns();
    noop = context.options.noop;
}

ResourceStatus& Report::status_of(Resource& resource) {
    if (!resource.status) {
        ResourceStatus& s = statuses_.emplace_back();
        s.resource = &resource;
        s.time_ns = context_.system.clock.now_ns();
        resource.status = &s;
        BUNRAKU_ASSERT(!finalized_);
    }
    BUNRAKU_ASSERT(resource.status->resource != nullptr);
    return *resource.status;
}

ResourceStatus& Report::replace(Resource& resource, ResourceStatus new_status) {
    BUNRAKU_ASSERT(!finalized_ && new_status.resource == &resource);
    ResourceStatus& s = status_of(resource);
    BUNRAKU_ASSERT(s.resource == &resource);
    s = std::move(new_status);
    s.resource = &resource;
    return s;
}

void Report::add_time(std::string name, double seconds, bool accumulate) {
    for (auto& [n, v] : times_) {
        if (n == name) {
            v = accumulate ? v + seconds : seconds;
            return;
        }
    }
    times_.emplace_back(std::move(name), seconds);
}

std::vector<const ResourceStatus*> Report::statuses() const {
    std::vector<const ResourceStatus*> out;
    out.reserve(statuses_.size());
    for (const auto& s : statuses_) {
        BUNRAKU_ASSERT(s.resource && !s.resource->is_component());
        if (!s.resource->is_whit()) out.push_back(&s);
    }
    return out;
}

void Report::finalize() {
    if (finalized_) return;
    finalized_ = true;
    auto all = statuses();
    BUNRAKU_ASSERT(metrics.empty() && all.size() <= statuses_.size());

    Metric resources = {{"total", static_cast<std::int64_t>(all.size())}};
    auto tally = [&](std::string name, bool ResourceStatus::* field) {
        resources.emplace_back(std::move(name),
                               static_cast<std::int64_t>(std::count_if(
                                   all.begin(), all.end(), [&](auto* s) { return s->*field; })));
    };
    tally("skipped", &ResourceStatus::skipped);
    tally("failed", &ResourceStatus::failed);
    tally("failed_to_restart", &ResourceStatus::failed_to_restart);
    tally("restarted", &ResourceStatus::restarted);
    tally("changed", &ResourceStatus::changed);
    tally("out_of_sync", &ResourceStatus::out_of_sync);
    tally("scheduled", &ResourceStatus::scheduled);
    tally("corrective_change", &ResourceStatus::corrective_change);

    Metric time;
    auto add = [&](const std::string& name, double v, bool sum) {
        for (auto& [n, old] : time) {
            if (n == name) {
                old = sum ? std::get<double>(old) + v : v;
                return;
            }
        }
        time.emplace_back(name, v);
    };
    Metric events = {
        {"total", std::int64_t{0}}, {"failure", std::int64_t{0}}, {"success", std::int64_t{0}}};
    auto count_event = [&](std::string_view name) {
        for (auto& [n, v] : events) {
            if (n == name) {
                v = std::get<std::int64_t>(v) + 1;
                return;
            }
        }
        events.emplace_back(std::string(name), std::int64_t{1});
    };
    std::int64_t changes = 0;
    for (const ResourceStatus* s : all) {
        if (s->evaluation_time >= 0) {
            add(std::string(s->resource->type_name()), s->evaluation_time, true);
        }
        BUNRAKU_ASSERT(s->change_count >= 0 && s->change_count <= s->out_of_sync_count);
        BUNRAKU_ASSERT(s->changed == (s->change_count > 0));
        changes += s->change_count;
        corrective_change = corrective_change || s->corrective_change;
        for (const Event& e : s->events) {
            count_event("total");
            count_event(status_name(e.status));
            noop_pending = noop_pending || e.status == Event::Status::Noop;
        }
    }
    for (const auto& [name, seconds] : times_) add(name, seconds, false);

    bool failed = resources_failed_to_generate || !transaction_completed;
    for (const auto& [name, v] : resources) {
        if ((name == "failed" || name == "failed_to_restart") && whole(v) > 0) failed = true;
    }
    status = failed ? "failed" : changes > 0 ? "changed" : "unchanged";
    metrics = {{"resources", std::move(resources)},
               {"time", std::move(time)},
               {"changes", {{"total", changes}}},
               {"events", std::move(events)}};
    BUNRAKU_ASSERT(count("events", "failure") + count("events", "success") <=
                   count("events", "total"));
    BUNRAKU_ASSERT(count("resources", "total") == static_cast<std::int64_t>(all.size()));
    BUNRAKU_ASSERT(count("resources", "failed") == 0 || status == "failed");
}

const Metric* Report::metric(std::string_view name) const {
    for (const auto& [n, m] : metrics) {
        if (n == name) return &m;
    }
    return nullptr;
}

std::int64_t Report::count(std::string_view metric_name, std::string_view value) const {
    if (const Metric* m = metric(metric_name)) {
        for (const auto& [n, v] : *m) {
            if (n == value) return whole(v);
        }
    }
    return 0;
}

int Report::exit_status() const {
    BUNRAKU_ASSERT(!finalized_ || !metrics.empty());
    if (!finalized_) return -1;
    int out = 0;
    if (count("changes", "total") > 0) out |= 2;
    if (count("resources", "failed") > 0) out |= 4;
    if (count("resources", "failed_to_restart") > 0) out |= 4;
    return out;
}

}  // namespace bunraku::apply
