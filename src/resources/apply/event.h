// SPDX-License-Identifier: Apache-2.0
// Events of resources, and the final status of each resource.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "resources/apply/resource.h"

namespace bunraku::apply {

struct Event {
    enum class Status : std::uint8_t { None, Noop, Success, Failure, Audit };
    std::string name;
    const Attribute* property = nullptr;  ///< null if the event concerns the resource itself
    Value previous, desired, historical;
    std::string message;
    Status status = Status::None;
    std::int64_t time_ns = 0;
    bool audited = false, redacted = false, invalidate_refreshes = false;
    bool corrective_change = false;
};

/// Returns "noop", "success", "failure" or "audit".
std::string_view status_name(Event::Status status);

struct ResourceStatus {
    Resource* resource = nullptr;
    std::vector<Event> events;
    std::vector<Resource*> failed_dependencies;
    std::int64_t time_ns = 0;
    double evaluation_time = -1;  ///< seconds; negative if the resource was not evaluated
    int change_count = 0, out_of_sync_count = 0;
    bool skipped = false, failed = false, failed_to_restart = false, restarted = false,
         changed = false, out_of_sync = false, scheduled = false, corrective_change = false;

    bool dependency_failed() const { return !failed_dependencies.empty(); }
    void add(Event event);
};

}  // namespace bunraku::apply
