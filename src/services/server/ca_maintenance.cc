// SPDX-License-Identifier: Apache-2.0
#include "services/server/ca_maintenance.h"

#include <fmt/format.h>

#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "net/pki/crl.h"

namespace bunraku::server {

using base::Result;

namespace {

constexpr std::int64_t kSoon = std::int64_t{90} * 86400;
/// Divisors of an authority's lifetime: the next authority is created when a fifth is left, and
/// signs when a tenth is left.
constexpr int kBeginPart = 5, kSwitchPart = 10;
/// Minimum time for agents to download the next authority. It includes one day by which the
/// certificate is backdated.
constexpr std::int64_t kOverlap = std::int64_t{8} * 86400;

/// Renews the server's certificate. Does nothing if the certificate does not exist or another
/// authority issued it.
Result<bool> renew_server_certificate(const config::Settings& settings, const CaSettings& ca,
                                      const pki::AuthorityFolder& authority, std::int64_t now) {
    const auto path = settings.text("hostcert");
    auto& files = sys::disk();
    if (!files.exists(path)) return false;
    auto old = BUNRAKU_TRY(pki::read_certificates(path)).at(0);
    const auto life = old.not_after() - old.not_before();
    if (now < old.not_after() - life / 3) return false;
    bool ours = false;
    for (const auto& a : authority.bundle())
        ours |= a.subject() == old.issuer() && authority.is_ours(a);
    if (!ours || old.common_name() != settings.text("certname")) return false;
    // Only a certificate for the existing key is renewed.
    auto key = BUNRAKU_TRY(pki::read_private_key(settings.text("hostprivkey")));
    if (!key.belongs_to(old)) return false;
    auto fresh = BUNRAKU_TRY(authority.renew(old, ca.ca_ttl));
    auto status = BUNRAKU_TRY(files.stat(path));
    sys::WriteOptions options;
    options.mode = status.mode & 07777;
    options.uid = status.uid;
    options.gid = status.gid;
    options.sync = true;
    BUNRAKU_TRY_VOID(files.replace(path, fresh.pem(), options));
    return true;
}

/// Performs the next step of a CA rollover, if it is due.
Result<void> roll_over(const config::Settings& settings, const CaSettings& ca,
                       const pki::AuthorityFolder& authority, std::int64_t now,
                       MaintenanceResult& out) {
    const auto share_left = [&](const pki::Certificate& c, int part) {
        return c.not_after() - now <= (c.not_after() - c.not_before()) / part;
    };
    if (const auto previous = authority.previous_authority()) {
        if (!share_left(*previous, kSwitchPart)) return {};
        const bool ended = previous->not_after() <= now;
        if (!ended && !BUNRAKU_TRY(authority.holders_of_previous()).empty()) return {};
        BUNRAKU_TRY_VOID(authority.end_rollover());
        out.done.push_back(fmt::format("Dropped the authority {}: {}", previous->common_name(),
                                       ended ? "it has expired" : "no node needs it any more"));
        out.rolled = true;
        return {};
    }
    const auto& present = authority.certificate();
    if (const auto next = authority.next_authority()) {
        if (!share_left(present, kSwitchPart) || now < next->not_before() + kOverlap) return {};
        BUNRAKU_TRY_VOID(authority.switch_authority());
        out.done.push_back(fmt::format(
            "{} signs from now on; certificates of {} remain valid and are renewed in time",
            next->common_name(), present.common_name()));
        out.rolled = true;
        return {};
    }
    if (!share_left(present, kBeginPart)) return {};
    const auto name =
        fmt::format("{} {}", settings.text("ca_name"), pki::puppet_time(now).substr(0, 10));
    auto next = authority.begin_rollover(
        {name, ca.ca_ttl, "", [&] { return make_ca_key(settings, &authority.key()); }});
    if (!next) {
        // Another authority must sign it, whose key is not on this machine.
        if (share_left(present, kSwitchPart)) out.warnings.push_back(next.error().message);
        return {};
    }
    out.done.push_back(
        fmt::format("Created the next authority, {}: agents download it automatically (those of "
                    "Puppet 7 do not: see "
                    "`bunraku ca rollover`), and it signs from {} on",
                    name,
                    pki::puppet_time(present.not_after() -
                                     (present.not_after() - present.not_before()) / kSwitchPart)));
    out.rolled = true;
    return {};
}

}  // namespace

Result<MaintenanceResult> maintain(const config::Settings& settings, const CaSettings& ca,
                                   const pki::AuthorityFolder& authority, std::int64_t now) {
    MaintenanceResult out;
    out.lists = BUNRAKU_TRY(authority.refresh_crls());
    if (out.lists > 0) out.done.push_back(fmt::format("Renewed {} revocation lists", out.lists));
    // Read before the rollover, which may remove it.
    const auto previous = authority.previous_authority();
    if (ca.allow_auto_rollover) BUNRAKU_TRY_VOID(roll_over(settings, ca, authority, now, out));
    out.server_certificate = BUNRAKU_TRY(renew_server_certificate(settings, ca, authority, now));
    if (out.server_certificate) {
        out.done.push_back(
            fmt::format("Renewed this server's certificate: {}", settings.text("hostcert")));
    }
    if (BUNRAKU_TRY(ensure_second_certificate(settings, ca, authority, now))) {
        out.server_certificate = true;
        out.done.push_back(
            fmt::format("Created this server's second certificate, with a P-256 key: {}",
                        second_certificate_path(settings)));
    }
    const auto report = [&](const std::string& what, std::int64_t end, const char* help) {
        if (end > now + kSoon) return;
        out.warnings.push_back(fmt::format("{} {} {}: {}", what, end > now ? "ends" : "has ended",
                                           pki::puppet_time(end), help));
    };
    const auto next = authority.next_authority();
    for (const auto& a : authority.bundle()) {
        // The certificates of the previous authority expire with it and are renewed before that.
        // `ca doctor` lists the nodes that have not renewed theirs.
        if (previous && a == *previous) continue;
        report("The authority " + a.common_name(), a.not_after(),
               next ? "a rollover is in progress, see `bunraku ca doctor`"
                    : "run `bunraku ca rollover`, or import a certificate signed by its issuer");
    }
    for (const auto& crl : BUNRAKU_TRY(authority.crls())) {
        const auto facts = pki::facts_of(crl);
        report("The revocation list of " + facts.issuer_name, facts.next_update,
               "its authority's key is not on this server; PUT a newer list to "
               "/puppet-ca/v1/certificate_revocation_list");
    }
    return out;
}

}  // namespace bunraku::server
