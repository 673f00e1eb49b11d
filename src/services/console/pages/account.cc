// SPDX-License-Identifier: Apache-2.0
// The identity of the visitor, and the button to sign out.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/console/pages/pages.h"
#include "services/console/parts.h"

namespace bunraku::console {

base::Result<Response> account_page(Visit& visit) {
    Html h;
    const auto& viewer = visit.viewer;
    {
        const auto panel = open_panel(h, "Signed in");
        const auto in = h.in("div", {{"class", "in"}});
        const auto list = h.in("dl", {{"class", "kv"}});
        const auto row = [&](std::string_view name, std::string_view value) {
            h.leaf("dt", name);
            const auto dd = h.in("dd");
            h.foreign(value);
        };
        row("Name", viewer.name);
        row("Role", role_name(viewer.right));
        row("Environments", viewer.sees_all()
                                ? std::string("all")
                                : fmt::format("{}", fmt::join(viewer.environments, ", ")));
        row("Signed in by", via_name(viewer.via));
    }
    // With a certificate or a proxy, the next request would sign in again.
    if (viewer.via == Viewer::Via::Token || viewer.via == Viewer::Via::Link) {
        const auto form = h.in("form", {{"method", "post"}, {"action", Url({"sign-out"})}});
        visit.csrf_field(h);
        h.leaf("button", "Sign out");
    }
    return visit.page({.title = "Your session"}, std::move(h));
}

}  // namespace bunraku::console
