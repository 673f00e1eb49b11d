// SPDX-License-Identifier: Apache-2.0
// Waiting requests and certificates, and the actions on them.
#include <algorithm>
#include <array>
#include <cerrno>
#include <fmt/format.h>

#include "services/console/certificate_parts.h"
#include "services/console/format.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"
#include "services/server/ca_access.h"

namespace bunraku::console {

using base::Result;
using pki::CertificateStatus;

namespace {

constexpr std::size_t kRowsOfPage = 200;

struct CertificateAction {
    std::string_view id, verb, done;
    Result<void> (*run)(server::CaAccess&, const std::string& name, const Visit&);
    std::string_view question;  ///< "{}" stands for the name
    std::string_view effect;
};
constexpr std::array<CertificateAction, 3> kActions = {{
    {"sign", "Sign", "signed",
     [](server::CaAccess& ca, const std::string& name, const Visit& visit) {
         return ca.sign_one(name, std::string(visit.field("fingerprint")));
     },
     "Sign the certificate of {}?",
     "The node can then get catalogs, files and secrets that are meant for it."},
    {"revoke", "Revoke", "revoked",
     [](server::CaAccess& ca, const std::string& name, const Visit&) {
         return ca.revoke_one(name);
     },
     "Revoke the certificate of {}?",
     "No server of this authority accepts the certificate any more. This cannot be undone."},
    {"clean", "Clean", "cleaned",
     [](server::CaAccess& ca, const std::string& name, const Visit&) { return ca.clean_one(name); },
     "Revoke and delete the certificate of {}?",
     "The certificate is revoked and its files are deleted, so that the node can request a new "
     "one. A waiting request is deleted."},
}};

const CertificateAction* action_of(std::string_view id) {
    const auto it = std::ranges::find(kActions, id, &CertificateAction::id);
    return it == kActions.end() ? nullptr : &*it;
}

Result<server::CaAccess*> authority_of(const Visit& visit) {
    if (auto* ca = visit.console.context.ca) return ca;
    return not_found("This server is not the certificate authority (role ca).");
}

std::int64_t expiry_ms(const CertificateStatus& status) {
    return status.certificate ? status.certificate->not_after() * 1000 : 0;
}

void name_cell(Html& h, const CertificateStatus& status) {
    const auto td = h.in("td");
    const auto link = h.in("a", {{"href", Url({"certificates", status.name})}});
    h.foreign(status.name, 255);
}

void write_waiting(Html& h, std::span<const CertificateStatus> all) {
    const auto panel = open_panel(
        h,
        fmt::format("Waiting requests ({})", number_text(static_cast<std::int64_t>(all.size()))));
    if (all.empty()) {
        return empty_state(h, "No request is waiting",
                           "A new node's request appears here, unless autosign.conf signs it.");
    }
    constexpr Column kColumns[] = {{"Name"}, {"SHA-256 of the request"}, {"Extensions", true}};
    const auto table = open_table(h, kColumns, "Waiting requests");
    for (const auto& status : all) {
        const auto row = h.in("tr");
        name_cell(h, status);
        {
            const auto td = h.in("td", {{"class", "mono"}});
            if (status.request) h.text(status.request->fingerprint());
        }
        number_cell(
            h, status.request ? static_cast<std::int64_t>(status.request->extensions().size()) : 0);
    }
}

void write_issued(Html& h, const Visit& visit, std::span<const CertificateStatus> all) {
    const auto panel = open_panel(
        h, fmt::format("Certificates ({})", number_text(static_cast<std::int64_t>(all.size()))));
    if (all.empty()) {
        return empty_state(h, "No certificates",
                           visit.query("find").empty() ? "No certificate has been signed yet."
                                                       : "No name contains this text.");
    }
    constexpr Column kColumns[] = {{"Name"},
                                   {"State"},
                                   {"Expires", true},
                                   {.title = "Serial", .right = true, .wide_only = true}};
    const auto table = open_table(h, kColumns, "Certificates");
    for (const auto& status : all) {
        const auto row = h.in("tr");
        name_cell(h, status);
        const auto expires = expiry_ms(status);
        {
            const auto td = h.in("td");
            certificate_word(h, status, visit.now_ms);
        }
        {
            const auto td = h.in("td", {{"class", "r"}});
            time_ago(h, expires, visit.now_ms);
        }
        h.leaf("td", {{"class", "r mono wide"}},
               status.certificate ? status.certificate->serial() : "");
    }
}

/// Writes what is needed to decide about a request or certificate.
void write_details(Html& h, const CertificateStatus& status) {
    const auto in = h.in("div", {{"class", "in"}});
    const auto list = h.in("dl", {{"class", "kv"}});
    const auto row = [&](std::string_view name, std::string_view value) {
        if (value.empty()) return;
        h.leaf("dt", name);
        const auto dd = h.in("dd", {{"class", "mono"}});
        h.foreign(value, 1000);
    };
    const auto time_row = [&](std::string_view name, std::int64_t seconds) {
        h.leaf("dt", name);
        const auto dd = h.in("dd", {{"class", "mono"}});
        time_at(h, seconds * 1000);
    };
    const auto texts = [](const std::vector<std::string>& all) {
        std::string out;
        for (const auto& text : all) out += (out.empty() ? "" : ", ") + text;
        return out;
    };
    if (status.certificate) {
        const auto& certificate = *status.certificate;
        row("Subject", certificate.subject_utf8());
        row("Issuer", certificate.issuer_utf8());
        row("Serial", certificate.serial());
        row("SHA-256", certificate.fingerprint());
        time_row("Valid from", certificate.not_before());
        time_row("Valid until", certificate.not_after());
        row("Alternative names", texts(certificate.alternative_names()));
        for (const auto& extension : certificate.puppet_extensions())
            row(extension.name, extension.value);
    } else if (status.request) {
        row("Subject", status.request->subject_utf8());
        row("SHA-256", status.request->fingerprint());
        row("Alternative names", texts(status.request->alternative_names()));
        for (const auto& [oid, value] : status.request->attributes())
            row(pki::puppet_name(oid), value);
        for (const auto& extension : status.request->extensions())
            row(extension.name, extension.value);
    }
}

void action_buttons(Html& h, const CertificateStatus& status) {
    const auto chips = h.in("p", {{"class", "in chips"}});
    const bool waits = status.state == CertificateStatus::State::Requested;
    for (const auto& action : kActions) {
        if (action.id == "sign" ? !waits : action.id == "revoke" && waits) continue;
        if (action.id == "revoke" && status.state == CertificateStatus::State::Revoked) continue;
        h.leaf("a",
               {{"class", action.id == "sign" ? "btn pri" : "btn"},
                {"href", Url({"certificates", status.name}).with("confirm", action.id)}},
               action.verb);
    }
}

void write_confirm(Html& h, const Visit& visit, const CertificateStatus& status,
                   const CertificateAction& action) {
    const auto form =
        h.in("form", {{"class", "empty"},
                      {"method", "post"},
                      {"action", Url({"certificates", status.name, std::string(action.id)})}});
    visit.csrf_field(h);
    if (status.request && action.id == "sign") {
        // The server signs only the request that this page shows. Another one may arrive meanwhile.
        h.empty("input", {{"type", "hidden"},
                          {"name", "fingerprint"},
                          {"value", status.request->fingerprint()}});
    }
    {
        const auto question = h.in("b");
        h.foreign(fmt::format(fmt::runtime(action.question), status.name), 400);
    }
    h.leaf("p", action.effect);
    const auto chips = h.in("p", {{"class", "chips"}});
    h.leaf("button", {{"class", "pri"}}, action.verb);
    h.leaf("a", {{"class", "btn"}, {"href", Url({"certificates", status.name})}}, "Cancel");
}

}  // namespace

Result<Response> certificates_page(Visit& visit) {
    auto* ca = BUNRAKU_TRY(authority_of(visit));
    const auto waiting = BUNRAKU_TRY(ca->waiting());
    auto issued = BUNRAKU_TRY(ca->issued());
    const auto find = visit.query("find");
    std::erase_if(issued, [&](const CertificateStatus& status) {
        return status.name.find(find) == std::string::npos;
    });
    std::ranges::stable_sort(issued, {}, expiry_ms);
    const auto all = issued.size();
    const auto page = visit.number("page", 1, all / kRowsOfPage + 1);
    const auto first = std::min(all, (page - 1) * kRowsOfPage);
    const auto shown = std::span(issued).subspan(first, std::min(kRowsOfPage, all - first));
    Html h;
    write_waiting(h, waiting);
    {
        const auto form = h.in("form", {{"class", "head"}});
        h.leaf("label", {{"class", "vh"}, {"for", "find"}}, "Search certificates");
        h.empty("input", {{"id", "find"},
                          {"name", "find"},
                          {"type", "search"},
                          {"size", 40},
                          {"value", find},
                          {"placeholder", "Part of a name"}});
        h.leaf("button", "Search");
    }
    write_issued(h, visit, shown);
    if (all > kRowsOfPage) {
        const auto pager = h.in("nav", {{"class", "pager"}, {"aria-label", "Pages"}});
        h.leaf("span", fmt::format("{} of {}, those that expire first", shown.size(), all));
        const auto link = [&](std::size_t to, std::string_view text) {
            h.link(Url({"certificates"}).with("find", find).with("page", std::to_string(to)), text);
        };
        if (page > 1) link(page - 1, "Previous page");
        if (first + shown.size() < all) link(page + 1, "Next page");
    }
    return visit.page({.title = "Certificates", .nav = "certificates"}, std::move(h));
}

Result<Response> certificate_page(Visit& visit) {
    auto* ca = BUNRAKU_TRY(authority_of(visit));
    const std::string name(visit.param("name"));
    const auto status = BUNRAKU_TRY(ca->find(name));
    if (!status) return not_found(fmt::format("{} has no certificate and no request.", name));
    Html h, crumb;
    crumb.link(Url({"certificates"}), "Certificates");
    if (const auto* done = action_of(visit.query("done"))) {
        const auto bar = h.in("p", {{"class", "note-bar"}, {"role", "status"}});
        h.text(fmt::format("Done: {}.", done->done));
    }
    {
        const bool waits = status->state == CertificateStatus::State::Requested;
        const auto panel = open_panel(h, waits ? "Request" : "Certificate");
        write_details(h, *status);
        const auto* action = action_of(visit.query("confirm"));
        if (visit.viewer.may(Right::Operate)) {
            if (action) {
                write_confirm(h, visit, *status, *action);
            } else {
                action_buttons(h, *status);
            }
        }
    }
    return visit.page({.title = name, .nav = "certificates", .crumb = crumb.take()}, std::move(h));
}

Result<Response> certificate_action(Visit& visit) {
    auto* ca = BUNRAKU_TRY(authority_of(visit));
    const std::string name(visit.param("name"));
    const auto* action = action_of(visit.param("action"));
    if (!action) return not_found("There is no such action.");
    const auto note = [&](std::string_view result) {
        return visit.console.audit.add(visit.viewer,
                                       {.action = fmt::format("certificate.{}", action->id),
                                        .target = name,
                                        .address = visit.request.peer.address,
                                        .result = result},
                                       visit.console.context.runtime.now_ns());
    };
    BUNRAKU_TRY_VOID(note("begun"));
    const auto done = action->run(*ca, name, visit);
    BUNRAKU_TRY_VOID(note(done ? "done" : done.error().message));
    if (!done) return base::failure(done.error().message, kNotFound);
    const bool gone = action->id == "clean";
    return visit.redirect(gone ? Url({"certificates"})
                               : Url({"certificates", name}).with("done", action->id));
}

}  // namespace bunraku::console
