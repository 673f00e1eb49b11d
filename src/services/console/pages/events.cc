// SPDX-License-Identifier: Apache-2.0
// The stream of server-sent events of a page.
#include "services/console/pages/pages.h"
#include "services/console/sign_in.h"

namespace bunraku::console {

base::Result<Response> events_page(Visit& visit) {
    // A page that opens a new stream by itself sends the id as a parameter.
    auto last = visit.request.headers.get("Last-Event-ID");
    if (last.empty()) last = visit.query("last");
    auto identify = [&console = visit.console, request = visit.request]() -> std::optional<Viewer> {
        auto caller = identify_caller(console, request, SessionUse::Check);
        if (!caller) return std::nullopt;
        return std::move(caller->viewer);
    };
    auto stream = visit.console.live.open(
        visit.viewer, last, std::move(identify),
        visit.query("follow") == "rollouts" ? Follow::RunsAndRollouts : Follow::Runs);
    if (!stream) {
        auto busy = Response::text(503, stream.error().message);
        busy.headers.set("Retry-After", "60");
        return busy;
    }
    Response out;
    out.headers.set("Content-Type", "text/event-stream;charset=utf-8");
    out.headers.set("X-Accel-Buffering", "no");  // nginx would delay events
    http::set_stream(out, std::move(*stream));
    return out;
}

}  // namespace bunraku::console
