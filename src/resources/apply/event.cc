#include "resources/apply/event.h"

namespace bunraku::apply {

std::string_view status_name(Event::Status status) {
    switch (status) {
        case Event::Status::Noop: return "noop";
        case Event::Status::Success: return "success";
        case Event::Status::Failure: return "failure";
        case Event::Status::Audit: return "audit";
        case Event::Status::None: break;
    }
    return "";
}

void ResourceStatus::add(Event event) {
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
}

}  // namespace bunraku::apply
