#include "server/ca_upkeep.h"

#include <fmt/format.h>

#include "pki/crl.h"
#include "sys/file_system.h"

namespace bunraku::server {

using base::Result;

namespace {

constexpr std::int64_t kSoon = std::int64_t{90} * 86400;

/// A certificate of another authority, or none, is not ours to renew.
Result<bool> renew_server_certificate(const config::Settings& settings, const CaSettings& ca,
                                      const pki::AuthorityFolder& authority, std::int64_t now) {
    const auto path = settings.text("hostcert");
    auto files = sys::make_real_file_system();
    if (!files->exists(path)) return false;
    auto old = BUNRAKU_TRY(pki::read_certificates(path)).at(0);
    const auto life = old.not_after() - old.not_before();
    if (now < old.not_after() - life / 3) return false;
    bool ours = false;
    for (const auto& a : authority.bundle())
        ours |= a.subject() == old.issuer() && authority.is_ours(a);
    if (!ours || old.common_name() != settings.text("certname")) return false;
    // Of the key that is there.
    auto key = BUNRAKU_TRY(pki::read_private_key(settings.text("hostprivkey")));
    if (!key.belongs_to(old)) return false;
    auto fresh = BUNRAKU_TRY(authority.renew(old, ca.ca_ttl));
    auto status = BUNRAKU_TRY(files->stat(path));
    sys::WriteOptions options;
    options.mode = status.mode & 07777;
    options.uid = status.uid;
    options.gid = status.gid;
    options.sync = true;
    BUNRAKU_TRY_VOID(files->replace(path, fresh.pem(), options));
    return true;
}

}  // namespace

Result<Upkeep> keep_up(const config::Settings& settings, const CaSettings& ca,
                       const pki::AuthorityFolder& authority, std::int64_t now) {
    Upkeep out;
    out.lists = BUNRAKU_TRY(authority.refresh_crls());
    if (out.lists > 0)
        out.done.push_back(fmt::format("Signed {} revocation lists anew", out.lists));
    out.server_certificate = BUNRAKU_TRY(renew_server_certificate(settings, ca, authority, now));
    if (out.server_certificate) {
        out.done.push_back(
            fmt::format("Renewed this server's certificate: {}", settings.text("hostcert")));
    }
    const auto tell = [&](const std::string& what, std::int64_t end, const char* help) {
        if (end > now + kSoon) return;
        out.warnings.push_back(fmt::format("{} {} {}: {}", what, end > now ? "ends" : "has ended",
                                           pki::puppet_time(end), help));
    };
    const auto next = authority.next_authority();
    for (const auto& a : authority.bundle()) {
        tell("The authority " + a.common_name(), a.not_after(),
             next ? "a roll-over is under way, see `bunraku ca doctor`"
                  : "begin `bunraku ca rollover`, or import what its own authority signs");
    }
    for (const auto& crl : BUNRAKU_TRY(authority.crls())) {
        const auto facts = pki::facts_of(crl);
        tell("The revocation list of " + facts.issuer_name, facts.next_update,
             "its authority's key is not here; PUT a newer one to "
             "/puppet-ca/v1/certificate_revocation_list");
    }
    return out;
}

}  // namespace bunraku::server
