// SPDX-License-Identifier: Apache-2.0
#include "services/console/failure_parts.h"

#include <fmt/format.h>

#include "services/console/format.h"
#include "services/console/parts.h"

namespace bunraku::console {

namespace {

void failure_parts(Html& h, const std::vector<FailureKind::Part>& parts) {
    for (const auto& part : parts) {
        if (!part.kind.empty() && part.values.size() > 1) {
            h.leaf("span", {{"class", "ph"}}, part.kind);
        } else {
            h.text(part.text);
        }
    }
}

}  // namespace

void failure_title(Html& h, const FailureKind& kind) {
    const auto isolated = h.in("bdi");
    if (!kind.type.empty()) {
        h.text(kind.type).text("[");
        failure_parts(h, kind.title);
        h.text("]: ");
    }
    failure_parts(h, kind.message);
}

void failure_origin(Html& h, const FailureKind& kind, std::int64_t now_ms) {
    std::string_view between;
    const auto separate = [&] {
        h.text(between);
        between = " · ";
    };
    if (kind.since > 0) {
        separate();
        h.text("since ");
        time_ago(h, kind.since, now_ms);
        if (!kind.since_code.empty()) {
            h.text(" with code ");
            const auto code = h.in("span", {{"class", "mono"}});
            h.foreign(short_code(kind.since_code), 60);
        }
    }
    if (!kind.file.empty()) {
        separate();
        const auto place = h.in("span", {{"class", "mono"}});
        h.foreign(kind.line > 0 ? fmt::format("{}:{}", kind.file, kind.line) : kind.file, 200);
    }
}

}  // namespace bunraku::console
