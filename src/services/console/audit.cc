// SPDX-License-Identifier: Apache-2.0
#include "services/console/audit.h"

#include <fmt/format.h>

#include "core/codec/json_text.h"
#include "core/sys/clock.h"
#include "core/sys/disk.h"

namespace bunraku::console {

base::Result<void> AuditLog::add(const Viewer& viewer, const Entry& entry, std::int64_t now_ns) {
    const auto quoted = [](std::string_view text) { return codec::json_string(text); };
    const auto line = fmt::format(
        "{{\"time\":\"{}\",\"who\":{},\"role\":\"{}\",\"via\":\"{}\",\"address\":{},\"action\":{},"
        "\"target\":{},\"result\":{}}}\n",
        sys::iso8601_utc(now_ns, 3), quoted(viewer.name), role_name(viewer.right),
        via_name(viewer.via), quoted(entry.address), quoted(entry.action), quoted(entry.target),
        quoted(entry.result));
    const std::lock_guard lock(mutex_);
    return sys::disk().append(path_, line, 0600);
}

}  // namespace bunraku::console
