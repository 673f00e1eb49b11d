// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/event.h"

#include "core/base/assert.h"

namespace bunraku::apply {

std::string_view status_name(Event::Status status) {
    switch (status) {
        case Event::Status::Noop: return "noop";
        case Event::Status::Success: return "success";
        case Event::Status::Failure: return "failure";
        case Event::Status::Audit: return "audit";
        case Event::Status::None: break;
    }
    BUNRAKU_ASSERT(status == Event::Status::None);
    return "";
}

void ResourceStatus::add(Event event) {
    BUNRAKU_ASSERT(event.status != Event::Status::None);
    if (event.status == Event::Status::Failure) failed = true;
    if (event.status == Event::Status::Success) {
        ++change_count;
        changed = true;
    }
    if (event.status != Event::Status::Audit) {
        ++out_of_sync_count;
        out_of_sync = true;
    }
    if (event.corrective_change) corrective_change = true;
    events.push_back(std::move(event));
    BUNRAKU_ASSERT(changed == (change_count > 0) && out_of_sync == (out_of_sync_count > 0));
    BUNRAKU_ASSERT(change_count <= out_of_sync_count);
    BUNRAKU_ASSERT(static_cast<std::size_t>(out_of_sync_count) <= events.size());
}

}  // namespace bunraku::apply
