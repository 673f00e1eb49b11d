// SPDX-License-Identifier: Apache-2.0
#include "services/console/frame.h"

#include <array>
#include <fmt/format.h>

#include "services/console/assets.h"
#include "services/console/format.h"
#include "services/console/page.h"
#include "services/console/parts.h"

namespace bunraku::console {

namespace {

struct Entry {
    std::string_view id, title;
    Scope scope = Scope::Filtered;
};
struct Group {
    std::string_view title;  ///< empty for the first group
    std::span<const Entry> entries;
};
constexpr Entry kFleetEntries[] = {{"fleet", "Fleet"},       {"nodes", "Nodes"},
                                   {"failures", "Failures"}, {"change", "Change"},
                                   {"rollouts", "Rollouts"}, {"query", "Query", Scope::WholeFleet}};
constexpr Entry kCodeEntries[] = {{"code", "Classes and keys"},
                                  {"exports", "Exports", Scope::WholeFleet},
                                  {"packages", "Packages", Scope::WholeFleet},
                                  {"modules", "Modules"}};
constexpr Entry kServiceEntries[] = {{"certificates", "Certificates", Scope::WholeFleet},
                                     {"server", "Server", Scope::WholeFleet}};
constexpr Group kGroups[] = {
    {"", kFleetEntries}, {"Code", kCodeEntries}, {"Service", kServiceEntries}};

/// The shapes of the state marks, for a box of 12 by 12.
struct Symbol {
    std::string_view id, path;
};
constexpr Symbol kSymbols[] = {
    {"failed",
     "M0 0h12v12H0zM3.8 2.4 2.4 3.8 4.6 6 2.4 8.2l1.4 1.4L6 7.4l2.2 2.2 1.4-1.4L7.4 6 "
     "9.6 3.8 8.2 2.4 6 4.6z"},
    {"silent", "M6 0a6 6 0 1 1 0 12A6 6 0 0 1 6 0m0 2.2a3.8 3.8 0 1 0 0 7.6 3.8 3.8 0 0 0 0-7.6"},
    {"corrected", "M6-.3 12.3 6 6 12.3-.3 6z"},
    {"changed", "M6 .6a5.4 5.4 0 1 1 0 10.8A5.4 5.4 0 0 1 6 .6"},
    {"noop", "M6 0l6.3 11.6H-.3zm0 4.2L3 9.7h6z"},
    {"never", "M0 4.4h12v3.2H0z"},
    {"unchanged", "M3 2h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V3a1 1 0 0 1 1-1z"},
};

void symbols(Html& h) {
    const auto svg =
        h.in("svg", {{"width", 0}, {"height", 0}, {"class", "vh"}, {"aria-hidden", "true"}});
    const auto defs = h.in("defs");
    for (const auto& symbol : kSymbols) {
        const auto element = h.in("symbol", {{"id", symbol.id}, {"viewBox", "0 0 12 12"}});
        h.empty("path", {{"fill-rule", "evenodd"}, {"d", symbol.path}});
    }
}

void logo(Html& h) {
    const auto svg = h.in("svg", {{"viewBox", "0 0 18 18"}, {"aria-hidden", "true"}});
    h.empty("path", {{"d", "M1 1h7v7H1zM10 1h7v7h-7zM1 10h7v7H1z"}, {"fill", "currentColor"}});
    h.empty("circle", {{"cx", "13.5"}, {"cy", "13.5"}, {"r", "3.5"}, {"fill", "currentColor"}});
}

void document_head(Html& h, std::string_view title, int refresh_s = 0) {
    const auto head = h.in("head");
    h.empty("meta", {{"charset", "utf-8"}});
    h.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
    h.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
    h.leaf("title", fmt::format("{} · Bunraku", title));
    if (refresh_s > 0) {
        const auto without_scripts = h.in("noscript");
        h.empty("meta", {{"http-equiv", "refresh"}, {"content", refresh_s}});
    }
    h.empty("link", {{"rel", "icon"}, {"href", asset_path("icon.svg")}});
    h.empty("link", {{"rel", "stylesheet"}, {"href", asset_path("style.css")}});
    for (const Asset& asset : embedded_assets()) {
        if (!asset.name.ends_with(".js")) continue;
        const auto script = h.in("script", {{"type", "module"}, {"src", asset_path(asset.name)}});
    }
}

void top_bar(Html& h, const Visit& visit) {
    const auto bar = h.in("header", {{"class", "top"}});
    {
        const auto brand = h.in("a", {{"class", "brand"}, {"href", Url({})}});
        logo(h);
        h.leaf("span", "Bunraku");
    }
    {
        const auto form =
            h.in("form", {{"class", "search"}, {"role", "search"}, {"action", Url({"search"})}});
        h.leaf("label", {{"class", "vh"}, {"for", "search"}}, "Search");
        h.empty("input", {{"id", "search"},
                          {"name", "q"},
                          {"type", "search"},
                          {"placeholder", "Search nodes, resources, classes, keys and facts"},
                          {"autocomplete", "off"},
                          {"aria-keyshortcuts", "/"}});
        h.leaf("kbd", {{"aria-hidden", "true"}}, "/");
    }
    const auto end = h.in("div", {{"class", "end"}});
    h.leaf("span", {{"class", "live"}, {"hidden", true}, {"data-live", ""}}, "live");
    const auto who = h.in("a", {{"class", "who"}, {"href", Url({"account"})}});
    h.foreign(visit.viewer.name, 60);
}

void side_bar(Html& h, const Visit& visit, std::string_view current) {
    const auto nav =
        h.in("nav", {{"class", "side"}, {"aria-label", "Main"}, {"data-part", "side"}});
    StateCounts counts;
    if (visit.known_fleet) counts = visit.known_fleet->count(visit.viewer, visit.now_ms);
    for (const Group& group : kGroups) {
        if (!group.title.empty()) h.leaf("h2", group.title);
        const auto list = h.in("ul");
        for (const Entry& entry : group.entries) {
            if (entry.scope == Scope::WholeFleet && !visit.viewer.sees_all()) continue;
            if (entry.id == "certificates" && !visit.console.context.ca) continue;
            if (entry.id == "rollouts" && !visit.console.context.rollouts) continue;
            const auto item = h.in("li");
            const auto url = entry.id == "fleet" ? Url({}) : Url({entry.id});
            const auto link =
                h.in("a", {{"href", url}, {"aria-current", "page", entry.id == current}});
            h.text(entry.title);
            if (!visit.known_fleet) continue;
            if (entry.id == "fleet") h.leaf("span", {{"class", "c"}}, number_text(counts.total));
            if (entry.id == "failures" && counts[State::Failed] > 0)
                h.leaf("span", {{"class", "c hot"}}, number_text(counts[State::Failed]));
        }
    }
}

void stale_bar(Html& h) {
    const auto bar = h.in("div", {{"class", "note-bar bad"}, {"role", "alert"}});
    state_mark(h, State::Failed);
    h.leaf("b", "The database does not answer.");
    h.leaf("span",
           "This page shows the last known state. Agents are still served, and the server stores "
           "their reports when the database is back.");
}

}  // namespace

void secure(Response& response) {
    auto& headers = response.headers;
    headers.set("Content-Security-Policy",
                "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
                "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'");
    headers.set("X-Content-Type-Options", "nosniff");
    headers.set("X-Frame-Options", "DENY");
    headers.set("Referrer-Policy", "same-origin");
    headers.set("Cross-Origin-Opener-Policy", "same-origin");
    headers.set("Cross-Origin-Resource-Policy", "same-origin");
    if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
}

Response framed(Visit& visit, Head head, const Markup& content) {
    Html h;
    h.raw("<!doctype html>");
    {
        const auto html = h.in("html", {{"lang", "en"}});
        document_head(h, head.title, head.refresh_s);
        const auto body = h.in("body");
        h.leaf("a", {{"class", "skip"}, {"href", "#main"}}, "Skip to content");
        symbols(h);
        top_bar(h, visit);
        const auto frame = h.in("div", {{"class", "frame"}});
        side_bar(h, visit, head.nav);
        const auto main = h.in("main", {{"id", "main"}});
        if (visit.stale) stale_bar(h);
        if (head.heading) {
            h.raw(*head.heading);
        } else {
            if (!head.crumb.empty()) {
                const auto crumb = h.in("p", {{"class", "crumb"}});
                h.raw(head.crumb);
            }
            const auto line = h.in("div", {{"class", "head"}});
            const auto title = h.in("h1");
            h.foreign(head.title);
        }
        h.raw(content);
    }
    Response out;
    out.status = head.status;
    out.headers.set("Content-Type", "text/html;charset=utf-8");
    out.body = h.take().text();
    return out;
}

Response bare_page(int status, std::string_view title, const Markup& content) {
    Html h;
    h.raw("<!doctype html>");
    {
        const auto html = h.in("html", {{"lang", "en"}});
        document_head(h, title);
        const auto body = h.in("body", {{"class", "bare"}});
        const auto main = h.in("main", {{"id", "main"}});
        {
            const auto brand = h.in("p", {{"class", "brand"}});
            logo(h);
            h.leaf("span", "Bunraku");
        }
        h.leaf("h1", title);
        h.raw(content);
    }
    Response out;
    out.status = status;
    out.headers.set("Content-Type", "text/html;charset=utf-8");
    out.body = h.take().text();
    return out;
}

Response error_page(Visit& visit, int status, std::string_view title, std::string_view message) {
    Html h;
    {
        const auto panel = h.in("section", {{"class", "panel"}});
        const auto box = h.in("div", {{"class", "empty"}});
        {
            const auto text = h.in("p");
            h.foreign(message);
        }
        const auto links = h.in("p");
        h.link(Url({}), "Fleet").text(" · ").link(Url({"nodes"}), "Nodes");
    }
    return framed(visit, {.title = std::string(title), .status = status}, h.take());
}

}  // namespace bunraku::console
