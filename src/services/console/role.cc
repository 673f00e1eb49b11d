// SPDX-License-Identifier: Apache-2.0
// The role of the console: checks the identity and the rights of the caller, then calls the page.
#include "services/server/role.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "core/base/text.h"
#include "core/sys/disk.h"
#include "net/http/url.h"
#include "services/console/assets.h"
#include "services/console/console.h"
#include "services/console/errors.h"
#include "services/console/frame.h"
#include "services/console/page.h"
#include "services/console/sign_in.h"
#include "store/query/ast.h"

namespace bunraku::console {

using base::Result;
using http::Request;

namespace {

constexpr std::uint64_t kMostForm = 64 << 10;

/// Returns the first parameter of the query that the page does not know, or nullopt.
std::optional<std::string> unknown_parameter(const Page& page, const Request& request) {
    const auto known = base::words(page.parameters);
    for (const auto& [name, value] : request.query)
        if (std::ranges::find(known, name) == known.end()) return name;
    return std::nullopt;
}

Response failed(Visit& visit, const base::Error& error) {
    if (error.code == kNotFound) return error_page(visit, 404, "Not found", error.message);
    // Messages of the database may name hosts, files and statements. They are for administrators.
    visit.console.context.log.log(base::Level::Warning,
                                  fmt::format("The page {} of the console could not be made: {}",
                                              visit.request.path, error.message));
    if (const auto text = database_error(error))
        return error_page(visit, text->status, text->title, text->message);
    return error_page(visit, 500, "This page could not be made",
                      "The server's log has the reason.");
}

/// Returns the URL at which a browser on this machine reaches a listener. No browser connects to
/// the wildcard addresses.
std::string local_url(const std::string& listener) {
    auto url = http::parse_url(listener);
    if (!url) return listener;
    if (url->host == "0.0.0.0" || url->host == "::") url->host = "localhost";
    return url->origin();
}

/// Calls the page of a visitor whose right was checked.
Response show_page(const Page& page, Visit& visit) {
    try {
        // The frame shows counters of the fleet; a page without them is better than none.
        (void)visit.fleet();
        auto shown = page.show(visit);
        return shown ? std::move(*shown) : failed(visit, shown.error());
    } catch (const query::QueryError& error) {
        return error_page(visit, error.status, "The query is not valid", error.message);
    }
}

Response serve(Console& console, const Page& page, Request& request) {
    auto caller = identify_caller(console, request, session_use(request));
    if (!caller) return sign_in_needed(request);
    Visit::Form form;
    if (page.method == "POST") form = http::parse_query(request.body).value_or(Visit::Form());
    Visit visit(console, request, caller->viewer, caller->csrf, std::move(form));
    Response out;
    if (page.method == "POST" && !is_own_form(request, visit)) {
        out = error_page(visit, 403, "The form has expired",
                         "This form does not belong to your session. Open the page again and "
                         "repeat the action.");
    } else if (!visit.viewer.may(page.right)) {
        out = error_page(visit, 403, "Not allowed",
                         fmt::format("This needs the role {}; you have the role {}.",
                                     role_name(page.right), role_name(visit.viewer.right)));
    } else if (page.scope == Scope::WholeFleet && !visit.viewer.sees_all()) {
        out = error_page(visit, 403, "Not allowed",
                         "This page shows all environments, and you may see only some.");
    } else if (const auto unknown = unknown_parameter(page, request)) {
        out = error_page(visit, 400, "Unknown parameter",
                         fmt::format("This page has no parameter '{}'.", *unknown));
    } else {
        out = show_page(page, visit);
    }
    if (!caller->cookie.empty()) out.headers.add("Set-Cookie", caller->cookie);
    return out;
}

Response no_such_page(Console& console, Request& request) {
    const auto caller = identify_caller(console, request);
    if (!caller) return sign_in_needed(request);
    Visit visit(console, request, caller->viewer, caller->csrf);
    (void)visit.fleet();
    return error_page(visit, 404, "Not found", "The console has no page with this address.");
}

class ConsoleRole final : public server::Role {
public:
    explicit ConsoleRole(const server::Context& context) : console_(context) {}
    Result<void> start() {
        BUNRAKU_TRY_VOID(console_.read_rules());
        link_ = BUNRAKU_TRY(console_.sessions.make_link(console_.now_s()));
        return {};
    }
    std::string_view name() const override { return "console"; }
    void mount(http::Router& router) override {
        mount_assets(router);
        mount_sign_in(router, console_);
        for (const Page& page : all_pages()) {
            http::RouteOptions options;
            options.max_body = page.method == "POST" ? kMostForm : 0;
            router.add(
                page.method, fmt::format("{}{}", kRoot, page.path), http::Access::anyone(),
                guarded([this, &page](Request& request) { return serve(console_, page, request); }),
                options);
        }
        const auto missing =
            guarded([this](Request& request) { return no_such_page(console_, request); });
        router.add("GET", fmt::format("{}/{{rest*}}", kRoot), http::Access::anyone(), missing);
        router.add("GET", kRoot, http::Access::anyone(), guarded([](Request&) {
                       Response out;
                       out.status = 301;
                       out.headers.set("Location", Url({}).text());
                       return out;
                   }));
    }
    Result<void> reload() override { return console_.read_rules(); }
    void listening(const std::vector<std::string>& urls) override {
        if (urls.empty()) return;
        const auto url = local_url(urls[0]);
        const auto link = fmt::format("{}{}", url, link_path(std::exchange(link_, {})));
        // The log may be readable by others, so it does not contain the link.
        const auto written = sys::disk().replace(console_.link_file(), link + "\n", {.mode = 0600});
        console_.context.log.log(
            written ? base::Level::Notice : base::Level::Warning,
            fmt::format(
                "The console is at {}{}/. {}", url, kRoot,
                written
                    ? "To sign in once from this machine, open the link in " + console_.link_file()
                    : "Could not write the link to sign in: " + written.error().message));
    }
    void stop() override {
        console_.jobs.stop();
        console_.reads->stop();
        console_.remove_link_file();
    }

private:
    /// Adds the headers that all responses of the console have.
    static http::Handler guarded(http::Handler handler) {
        return [handler = std::move(handler)](Request& request) {
            auto out = handler(request);
            secure(out);
            return out;
        };
    }
    Console console_;
    std::string link_;  ///< the secret of the one-time link until it is in its file
};

}  // namespace
}  // namespace bunraku::console

namespace bunraku::server {

base::Result<std::unique_ptr<Role>> make_console_role(const Context& context) {
    if (!context.store || !context.queries)
        return base::failure("The role console needs the role store in the same server");
    auto role = std::make_unique<console::ConsoleRole>(context);
    BUNRAKU_TRY_VOID(role->start());
    return std::unique_ptr<Role>(std::move(role));
}

}  // namespace bunraku::server
