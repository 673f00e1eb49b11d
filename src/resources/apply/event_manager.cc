// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/base/assert.h"
#include "resources/apply/component.h"
#include "resources/apply/transaction.h"

namespace bunraku::apply {
namespace {

std::string events_text(std::size_t n) { return fmt::format("{} event{}", n, n == 1 ? "" : "s"); }

}  // namespace

EventManager::Queue& EventManager::queue_of(Resource& r) {
    BUNRAKU_ASSERT(r.vertex >= 0);
    auto at = static_cast<std::size_t>(r.vertex);
    if (at >= queues_.size()) queues_.resize(at + 64);
    BUNRAKU_ASSERT(at < queues_.size());
    return queues_[at];
}

// Events with the same name are propagated together.
void EventManager::queue(Resource& source, const std::vector<Event>& events) {
    if (events.empty() || source.vertex < 0) return;
    std::vector<std::vector<Event>> groups;
    bool invalidate = false;
    for (const Event& e : events) {
        invalidate = invalidate || e.invalidate_refreshes;
        bool found = false;
        for (auto& g : groups) {
            if (g.front().name == e.name) {
                g.push_back(e);
                found = true;
                break;
            }
        }
        if (!found) groups.push_back({e});
    }
    BUNRAKU_ASSERT(!groups.empty() && groups.size() <= events.size());
    for (const auto& group : groups) {
        if (group.front().name != "NONE") {
            for (const auto& edge : transaction_.graph_.edges_from(source)) {
                BUNRAKU_ASSERT(edge.source == source.vertex);
                if (!edge.label.refresh) continue;
                Resource& target = *transaction_.graph_.at(edge.target);
                if (target.refreshable()) queue_for(source, target, group);
            }
        }
        if (source.self_refresh() && !source.deleting()) {
            queue_for(source, source, {group.front()});
        }
    }
    if (invalidate) {
        source.info(fmt::format("Unscheduling refresh on {}", source.to_s()));
        queue_of(source).events.clear();
    }
}

void EventManager::queue_for(Resource& source, Resource& target, const std::vector<Event>& events) {
    if (target.is_whit() && static_cast<Whit&>(target).completed()) {
        if (source.debugging()) {
            source.debug(
                fmt::format("The container {} will propagate my refresh event", target.to_s()));
        }
    } else {
        source.info(fmt::format("Scheduling refresh of {}", target.to_s()));
    }
    BUNRAKU_ASSERT(!events.empty());
    Queue& q = queue_of(target);
    q.known = true;
    q.events.insert(q.events.end(), events.begin(), events.end());
}

void EventManager::drop_all(Resource& resource) {
    if (resource.vertex < 0) return;
    Queue& q = queue_of(resource);
    BUNRAKU_ASSERT(q.known || q.events.empty());
    if (!q.known) return;
    resource.info(fmt::format("Unscheduling all events on {}", resource.to_s()));
    q = {};
}

void EventManager::process(Resource& resource) {
    // Few resources receive events, so resources beyond the end of `queues_` have no queue.
    if (resource.vertex < 0 || static_cast<std::size_t>(resource.vertex) >= queues_.size()) return;
    Queue& q = queue_of(resource);
    if (q.events.empty()) return;
    BUNRAKU_ASSERT(q.known);
    std::vector<Event> events = q.events;
    if (!call_back(resource, events)) return;
    Event e = transaction_.make_event(resource, "restarted");
    e.status = Event::Status::Success;
    queue(resource, {e});
    transaction_.report_.status_of(resource).restarted = true;
}

bool EventManager::call_back(Resource& resource, const std::vector<Event>& events) {
    BUNRAKU_ASSERT(!events.empty());
    bool all_noop = true;
    for (const Event& e : events) all_noop = all_noop && e.status == Event::Status::Noop;
    if (all_noop || resource.noop()) {
        resource.notice(
            fmt::format("Would have triggered 'refresh' from {}", events_text(events.size())));
        Event e = transaction_.make_event(resource, "noop_restart");
        e.status = Event::Status::Noop;
        queue(resource, {e});
        return false;
    }
    try {
        const SecretsScope secrets(resource.context(), resource.secrets());
        guarded([&] { resource.refresh(); });
    } catch (const base::PuppetError& error) {
        std::string text =
            resource.redact(fmt::format("Failed to call refresh: {}", error_text(error)));
        resource.err(text);
        ResourceStatus& status = transaction_.report_.status_of(resource);
        status.failed_to_restart = true;
        Event e = transaction_.make_event(resource, "resource_error");
        e.status = Event::Status::Failure;
        e.message = text;
        status.add(std::move(e));
        BUNRAKU_ASSERT(status.failed && status.failed_to_restart);
        resource.err(error_text(error));
        return false;
    }
    if (!resource.is_whit()) {
        std::string text = fmt::format("Triggered 'refresh' from {}", events_text(events.size()));
        resource.notice(text);
        Event e = transaction_.make_event(resource, "refresh");
        e.status = Event::Status::Success;
        e.message = text;
        transaction_.report_.status_of(resource).add(std::move(e));
    }
    return true;
}

}  // namespace bunraku::apply
