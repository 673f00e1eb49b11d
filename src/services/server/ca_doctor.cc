// SPDX-License-Identifier: Apache-2.0
// `ca doctor` lists expiry dates. `ca rollover` replaces the authority by the next one
// (docs/design/0123).
#include <algorithm>
#include <fmt/format.h>

#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "net/pki/crl.h"
#include "services/server/ca_actions.h"
#include "services/server/ca_client.h"
#include "services/server/ca_settings.h"

namespace bunraku::server {

using base::failure;
using base::Result;

namespace {

constexpr std::int64_t kDay = 86400;
/// Time between the creation of the next authority and its first signature. By then, all agents
/// have fetched its certificate.
constexpr std::int64_t kSwitchDelay = 7 * kDay;

enum class Health : std::uint8_t { Good, Soon, Over };

constexpr const char* kHealthNames[] = {"good", "soon", "over"};

struct Finding {
    const char* kind;
    std::string name;
    std::int64_t ends = 0;
    Health health = Health::Good;
    std::string note;
};

struct Examination {
    std::int64_t now = 0, within = 30 * kDay;
    std::string place;
    std::vector<Finding> findings;
    std::vector<std::string> problems;  ///< problems without an expiry date
    std::vector<std::string> holders;   ///< names with certificates from the previous authority
    std::size_t agents = 0, requests = 0;

    void add(const char* kind, std::string name, std::int64_t ends, std::int64_t early,
             std::string note = {}) {
        const auto health = ends <= now           ? Health::Over
                            : ends <= now + early ? Health::Soon
                                                  : Health::Good;
        findings.push_back({kind, std::move(name), ends, health, std::move(note)});
    }
    Health worst() const {
        auto out = problems.empty() ? Health::Good : Health::Soon;
        for (const auto& f : findings) out = std::max(out, f.health);
        return out;
    }
};

/// Returns how early to warn. A new authority takes time to reach all agents.
std::int64_t early_for(const pki::Certificate& authority, std::int64_t within) {
    const auto life = authority.not_after() - authority.not_before();
    return std::max(within, std::min(365 * kDay, life / 5));
}

Result<void> examine_authority(const config::Settings& settings, Examination& out) {
    auto ca = BUNRAKU_TRY(read_ca_settings(settings));
    auto folder = BUNRAKU_TRY(pki::AuthorityFolder::open(ca.paths, ca_now));
    out.place = ca.paths.cadir;
    const auto next = folder.next_authority(), previous = folder.previous_authority();
    for (const auto& a : folder.bundle()) {
        const char* role = a == folder.certificate() ? "signs"
                           : next && a == *next      ? "next: signs after `ca rollover switch`"
                           : previous && a == *previous
                               ? "previous: `ca rollover finish` removes it"
                               : "above";
        out.add("authority", a.common_name(), a.not_after(), early_for(a, out.within), role);
    }
    const auto lists = [&](const std::string& path, const char* kind) -> Result<void> {
        for (const auto& crl : BUNRAKU_TRY(pki::read_crls(path))) {
            const auto facts = pki::facts_of(crl);
            out.add(kind, facts.issuer_name, facts.next_update, out.within,
                    fmt::format("{} revoked", facts.revoked));
        }
        return {};
    };
    BUNRAKU_TRY_VOID(lists(ca.paths.cacrl, "list"));
    if (ca.enable_infra_crl) BUNRAKU_TRY_VOID(lists(ca.paths.infra_crl(), "infra list"));
    using State = pki::CertificateStatus::State;
    for (const auto& status : BUNRAKU_TRY(folder.statuses(pki::AuthorityFolder::Listed::Both))) {
        if (status.state == State::Requested) out.requests++;
        if (status.state != State::Signed) continue;
        out.agents++;
        const auto ends = status.certificate->not_after();
        if (ends <= out.now + out.within) out.add("agent", status.name, ends, out.within);
    }
    out.holders = BUNRAKU_TRY(folder.holders_of_previous());
    auto& disk = sys::disk();
    const auto local = settings.text("localcacert");
    if (auto known = pki::read_certificates(local)) {
        for (const auto& a : folder.bundle()) {
            if (std::find(known->begin(), known->end(), a) == known->end())
                out.problems.push_back(fmt::format("{} lacks {}", local, a.common_name()));
        }
    }
    const auto list = settings.text("hostcrl");
    auto here = disk.read(list), there = disk.read(ca.paths.cacrl);
    if (here && there && *here != *there) {
        out.problems.push_back(
            fmt::format("{} is not {}: is the server running?", list, ca.paths.cacrl));
    }
    return {};
}

/// Examines the files that every machine of the site has.
void examine_machine(const config::Settings& settings, bool with_authorities, Examination& out) {
    if (auto own = pki::read_certificates(settings.text("hostcert"))) {
        out.add("certificate", own->at(0).common_name(), own->at(0).not_after(), out.within,
                settings.text("hostcert"));
    } else {
        out.problems.push_back(own.error().message);
    }
    if (!with_authorities) return;
    out.place = settings.text("ssldir");
    if (auto known = pki::read_certificates(settings.text("localcacert"))) {
        for (const auto& a : *known)
            out.add("authority", a.common_name(), a.not_after(), early_for(a, out.within));
    } else {
        out.problems.push_back(known.error().message);
    }
    if (settings.text("certificate_revocation") == "false") return;
    if (auto lists = pki::read_crls(settings.text("hostcrl"))) {
        for (const auto& crl : *lists) {
            const auto facts = pki::facts_of(crl);
            out.add("list", facts.issuer_name, facts.next_update, out.within);
        }
    } else {
        out.problems.push_back(lists.error().message);
    }
}

std::string left_text(std::int64_t seconds) {
    const auto days = (seconds < 0 ? -seconds : seconds) / kDay;
    if (seconds < 0) return fmt::format("{} days ago", days);
    return days == 0 ? "today" : fmt::format("in {} day{}", days, days == 1 ? "" : "s");
}

void print_text(const CaInput& input, const Examination& e) {
    fmt::print(input.out, "{}\n", e.place);
    std::size_t width = 0;
    for (const auto& f : e.findings) width = std::max(width, f.name.size());
    for (const auto& f : e.findings) {
        fmt::print(input.out, "  {:<4}  {:<11}  {:<{}}  {}  {}{}{}\n",
                   f.health == Health::Over   ? "OVER"
                   : f.health == Health::Soon ? "soon"
                                              : "",
                   f.kind, f.name, width, pki::puppet_time(f.ends), left_text(f.ends - e.now),
                   f.note.empty() ? "" : "  ", f.note);
    }
    for (const auto& p : e.problems) fmt::print(input.out, "  soon  {}\n", p);
    if (e.agents > 0 || e.requests > 0)
        fmt::print(input.out, "Certificates: {}, waiting requests: {}\n", e.agents, e.requests);
    if (!e.holders.empty()) {
        fmt::print(input.out, "{} hold a certificate of the previous authority:\n",
                   e.holders.size());
        for (const auto& name : e.holders) fmt::print(input.out, "  {}\n", name);
    }
    if (e.worst() == Health::Good)
        fmt::print(input.out, "Nothing expires within {} days.\n", e.within / kDay);
}

void print_json(const CaInput& input, const Examination& e) {
    using codec::json_string;
    std::string findings, problems, holders;
    for (const auto& f : e.findings) {
        findings += fmt::format(
            "{}{{\"kind\":{},\"name\":{},\"ends\":\"{}\",\"seconds_left\":{},\"state\":\"{}\","
            "\"note\":{}}}",
            findings.empty() ? "" : ",", json_string(f.kind), json_string(f.name),
            pki::puppet_time(f.ends), f.ends - e.now, kHealthNames[static_cast<int>(f.health)],
            json_string(f.note));
    }
    const auto add = [](std::string& list, const std::string& text) {
        list += (list.empty() ? "" : ",") + json_string(text);
    };
    for (const auto& p : e.problems) add(problems, p);
    for (const auto& h : e.holders) add(holders, h);
    fmt::print(
        input.out,
        "{{\"state\":\"{}\",\"place\":{},\"findings\":[{}],\"problems\":[{}],\"certificates\":{},"
        "\"requests\":{},\"previous_chain\":[{}]}}\n",
        kHealthNames[static_cast<int>(e.worst())], json_string(e.place), findings, problems,
        e.agents, e.requests, holders);
}

/// Prints the next stage as text.
void print_next_stage(const CaInput& input, const pki::AuthorityPaths& paths,
                      const pki::Certificate& next) {
    fmt::print(
        input.out,
        "{} was added to the signing authority in {}\n"
        "Agents of Puppet 8 and Bunraku fetch it by themselves (ca_refresh_interval); those of\n"
        "Puppet 7 fetch authorities once: make {} a file resource there\n"
        "From {} on: {} ca rollover switch\n",
        next.common_name(), paths.cacert, input.settings.text("localcacert"),
        pki::puppet_time(next.not_before() + kDay + kSwitchDelay), input.program);
}

CaOutcome begin(const CaInput& input, const CaSettings& ca, const pki::AuthorityFolder& folder) {
    std::int64_t ttl = ca.ca_ttl;
    if (!input.ttl.empty()) {
        auto parsed_ttl = ca_ttl(input, input.ttl);
        if (!parsed_ttl) return 1;
        ttl = *parsed_ttl;
    }
    const auto today = pki::puppet_time(ca_now()).substr(0, 10);
    const auto name = !input.ca_name.empty()
                          ? input.ca_name
                          : fmt::format("{} {}", input.settings.text("ca_name"), today);
    auto next = BUNRAKU_TRY(folder.begin_rollover(
        {name, ttl, "", [&] { return make_ca_key(input.settings, &folder.key()); }}));
    print_next_stage(input, ca.paths, next);
    return 0;
}

CaOutcome change_over(const CaInput& input, const pki::AuthorityFolder& folder) {
    auto next = folder.next_authority();
    if (!next)
        return failure("There is no next authority: start a rollover with 'ca rollover begin'");
    const auto since = next->not_before() + kDay;
    if (ca_now() < since + kSwitchDelay && !input.force) {
        return ca_wrong(
            input, {fmt::format("    {} exists since {}: agents that have not fetched it yet would "
                                "refuse what it signs.",
                                next->common_name(), pki::puppet_time(since)),
                    fmt::format("    Wait until {}, or use --force",
                                pki::puppet_time(since + kSwitchDelay))});
    }
    BUNRAKU_TRY_VOID(folder.switch_authority());
    fmt::print(
        input.out,
        "{} signs from now on. Certificates of the previous authority remain valid and are renewed "
        "in time\n"
        "To list the nodes that still have one, run: {} ca doctor. Then run: {} ca rollover "
        "finish\n",
        next->common_name(), input.program, input.program);
    return 0;
}

CaOutcome finish(const CaInput& input, const pki::AuthorityFolder& folder) {
    auto previous = folder.previous_authority();
    if (!previous) return failure("There is no previous authority to remove");
    const auto holders = BUNRAKU_TRY(folder.holders_of_previous());
    if (!holders.empty() && !input.force) {
        std::vector<std::string> lines{
            fmt::format("    These nodes have certificates of {}, which would no longer be trusted "
                        "(use --force to continue):",
                        previous->common_name())};
        for (const auto& name : holders) lines.push_back("      " + name);
        return ca_wrong(input, lines);
    }
    BUNRAKU_TRY_VOID(folder.end_rollover());
    fmt::print(input.out, "Dropped {}\n", previous->common_name());
    return 0;
}

}  // namespace

CaOutcome ca_doctor(const CaInput& input) {
    Examination e;
    e.now = ca_now();
    if (!input.within.empty()) {
        auto within = ca_ttl(input, input.within);
        if (!within) return 1;
        e.within = *within;
    }
    const bool authority = sys::disk().exists(input.settings.text("cakey"));
    if (authority) BUNRAKU_TRY_VOID(examine_authority(input.settings, e));
    examine_machine(input.settings, !authority, e);
    if (input.json) {
        print_json(input, e);
    } else {
        print_text(input, e);
    }
    return static_cast<int>(e.worst());
}

CaOutcome ca_rollover(const CaInput& input) {
    const auto& stage = input.stage;
    if (!stage.empty() && stage != "begin" && stage != "switch" && stage != "finish")
        return ca_wrong(
            input,
            {fmt::format("    Invalid stage '{}': expected begin, switch or finish", stage)});
    if (BUNRAKU_TRY(ca_must_stop(input))) return 1;
    auto ca = BUNRAKU_TRY(read_ca_settings(input.settings));
    auto folder = BUNRAKU_TRY(pki::AuthorityFolder::open(ca.paths, ca_now));
    if (stage == "switch") return change_over(input, folder);
    if (stage == "finish") return finish(input, folder);
    if (auto next = folder.next_authority()) {
        print_next_stage(input, ca.paths, *next);
        return 0;
    }
    return begin(input, ca, folder);
}

}  // namespace bunraku::server
