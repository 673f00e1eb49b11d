// SPDX-License-Identifier: Apache-2.0
// The actions of `ca` for its folder: setup, import, enable, migrate, prune and delete.
#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <set>

#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "net/pki/authority.h"
#include "net/pki/crl.h"
#include "net/pki/verify.h"
#include "services/server/ca_actions.h"
#include "services/server/ca_client.h"
#include "services/server/ca_settings.h"

namespace bunraku::server {

using base::Result;

namespace {

/// The default of puppetserver-ca, which is longer than Puppet's own default.
constexpr std::int64_t kSetupTtl = std::int64_t{15} * 365 * 86400;

Result<CaSettings> settings_of(const CaInput& input) {
    auto out = BUNRAKU_TRY(read_ca_settings(input.settings));
    if (!input.settings.is_set("ca_ttl")) out.ca_ttl = kSetupTtl;
    return out;
}

void apply_names(CaInput& input) {
    if (!input.certnames.empty()) input.settings.set("certname", input.certnames[0]);
    if (!input.ca_name.empty()) input.settings.set("ca_name", input.ca_name);
    if (!input.alternative_names.empty())
        input.settings.set("dns_alt_names", input.alternative_names);
}

/// Returns true and prints an error if a file that would be written exists.
bool something_there(const CaInput& input, const pki::AuthorityPaths& paths, bool root) {
    const auto& settings = input.settings;
    std::vector<std::string> files{paths.cacert, paths.cacrl, paths.infra_crl()};
    for (const char* setting : {"hostcert", "localcacert", "hostcrl"})
        files.push_back(settings.text(std::string_view(setting)));
    for (const auto& path :
         {paths.capub, paths.inventory, paths.infra_inventory(), paths.infra_serials(),
          paths.serial, paths.certificate_of(settings.text("certname"))}) {
        files.push_back(path);
    }
    if (root) files.push_back(paths.root_key());
    files.push_back(paths.cakey);
    auto& disk = sys::disk();
    std::vector<std::string> lines;
    for (const auto& path : files)
        if (disk.exists(path)) lines.push_back(fmt::format("Existing file at '{}'", path));
    if (lines.empty()) return false;
    lines.emplace_back(
        "If you would really like to replace your CA, please delete the existing files first.\n"
        "Note that any certificates that were issued by this CA will become invalid if you\n"
        "replace it!");
    ca_wrong(input, lines);
    return true;
}

Result<void> finish_new_authority(const CaInput& input, const CaSettings& ca,
                                  const pki::AuthorityFolder& folder) {
    (void)BUNRAKU_TRY(publish_authority(input.settings, ca.paths));
    (void)BUNRAKU_TRY(ensure_server_certificate(input.settings, folder, ca.ca_ttl));
    return {};
}

/// The validated input of `import`, or the errors found.
struct Imported {
    std::vector<pki::Certificate> bundle;
    std::optional<pki::PrivateKey> key;
    std::vector<pki::Crl> lists;
    std::vector<std::string> errors;
};

Imported read_import(const CaInput& input) {
    Imported out;
    auto& errors = out.errors;
    auto& disk = sys::disk();
    for (const auto& path : {input.bundle, input.private_key, input.lists})
        if (!disk.access(path, 4)) errors.push_back(fmt::format("Could not read file '{}'", path));
    if (!errors.empty()) return out;
    const auto parse = [&](const std::string& path, const char* what, auto read, auto& into) {
        auto text = disk.read(path).value_or(std::string());
        auto found = read(text, path);
        if (found) {
            into = std::move(*found);
            return;
        }
        errors.push_back("Could not parse " + path);
        errors.push_back(text.find("-----BEGIN") == std::string::npos
                             ? fmt::format("Could not detect any {} within {}", what, path)
                             : found.error().message);
    };
    parse(input.bundle, "certs", pki::parse_certificates, out.bundle);
    if (auto key = pki::read_private_key(input.private_key)) {
        out.key = std::move(*key);
    } else {
        errors.push_back("Could not parse " + input.private_key);
    }
    parse(input.lists, "crls", pki::parse_crls, out.lists);
    if (!out.key || out.bundle.empty()) return out;
    const auto signing = std::find_if(out.bundle.begin(), out.bundle.end(),
                                      [&](const auto& c) { return out.key->belongs_to(c); });
    if (signing == out.bundle.end()) {
        errors.emplace_back("Could not find certificate matching private key");
        return out;
    }
    if (!errors.empty()) return out;
    if (std::none_of(out.lists.begin(), out.lists.end(),
                     [&](const auto& crl) { return pki::is_issued_by(crl, *signing); })) {
        auto fresh = pki::next_crl(nullptr, *signing, *out.key, {}, ca_now() - 86400);
        if (fresh) out.lists.insert(out.lists.begin(), std::move(*fresh));
    }
    const auto verified = pki::verify(*signing, out.bundle, out.lists, pki::RevocationCheck::Chain);
    if (!verified.good() || verified.issuer_unknown) {
        errors.emplace_back("Leaf certificate could not be validated");
        errors.push_back(fmt::format(
            "Validating cert store returned: {} - {}", verified.code,
            verified.issuer_unknown ? "unable to get local issuer certificate" : verified.message));
    }
    return out;
}

}  // namespace

CaOutcome ca_setup(CaInput& input) {
    apply_names(input);
    auto ca = BUNRAKU_TRY(settings_of(input));
    if (something_there(input, ca.paths, true)) return 1;
    const auto chance =
        codec::hex_digest(codec::DigestKind::Sha256, BUNRAKU_TRY(pki::make_key()).public_pem());
    const auto& settings = input.settings;
    auto folder = BUNRAKU_TRY(pki::AuthorityFolder::create(
        ca.paths,
        {settings.text("ca_name"), ca.ca_ttl, "Puppet Root CA: " + chance.substr(0, 14),
         [&] { return make_ca_key(settings); }},
        ca_now));
    BUNRAKU_TRY_VOID(finish_new_authority(input, ca, folder));
    fmt::print(input.out, "Generation succeeded. Find your files in {}\n", ca.paths.cadir);
    return 0;
}

CaOutcome ca_import(CaInput& input) {
    apply_names(input);
    auto read = read_import(input);
    if (!read.errors.empty()) return ca_wrong(input, read.errors);
    auto ca = BUNRAKU_TRY(settings_of(input));
    if (something_there(input, ca.paths, false)) return 1;
    auto folder = BUNRAKU_TRY(
        pki::AuthorityFolder::create(ca.paths, read.bundle, *read.key, read.lists, ca_now));
    BUNRAKU_TRY_VOID(finish_new_authority(input, ca, folder));
    fmt::print(input.out, "Import succeeded. Find your files in {}\n", ca.paths.cadir);
    return 0;
}

CaOutcome ca_enable(const CaInput& input) {
    if (!input.infra) return 0;
    auto ca = BUNRAKU_TRY(read_ca_settings(input.settings));
    auto& disk = sys::disk();
    if (const auto inventory = ca.paths.infra_inventory(); !disk.exists(inventory)) {
        return ca_wrong(input,
                        {fmt::format("  Please create an inventory file at '{}' with the certnames "
                                     "of your\n  infrastructure nodes before proceeding with "
                                     "infra CRL setup!\"",
                                     inventory)});
    }
    if (const auto list = ca.paths.infra_crl(); disk.exists(list)) {
        return ca_wrong(input,
                        {fmt::format("Existing file at '{}'", list),
                         "  If you would really like to reinitialize your infrastructure CRL, "
                         "please delete\n  the existing files and run this command again."});
    }
    auto folder = BUNRAKU_TRY(pki::AuthorityFolder::open(ca.paths, ca_now));
    BUNRAKU_TRY_VOID(folder.make_infra_crl());
    (void)BUNRAKU_TRY(folder.write_infra_serials());
    fmt::print(input.out, "Infra CRL files created.\n");
    return 0;
}

CaOutcome ca_migrate(const CaInput& input) {
    if (BUNRAKU_TRY(ca_server_running(input.settings)) != CaServer::Away) {
        fmt::print(input.err,
                   "Puppetserver service is running. Please stop it before attempting to run this "
                   "command.\n");
        return 1;
    }
    // The target is the default folder for this configuration. The source is the configured folder,
    // or else Puppet 6's default.
    auto usual = config::Settings::defaults();
    usual.set("confdir", input.settings.text("confdir"));
    const auto to = usual.text("cadir");
    const auto from = input.settings.is_set("cadir") ? input.settings.text("cadir")
                                                     : input.settings.text("ssldir") + "/ca";
    auto& disk = sys::disk();
    if (disk.exists(to)) {
        return ca_wrong(input,
                        {fmt::format("Existing file at '{}'", to),
                         fmt::format("Migration will not overwrite the directory at {}. Have you "
                                     "already\nrun this migration tool? Is this a puppet 7 "
                                     "installation? It is likely that you have\nalready "
                                     "successfully run the migration or do not need to run it.",
                                     to)});
    }
    if (!disk.exists(from)) {
        return ca_wrong(input,
                        {fmt::format("No CA dir found at {}. Please check the configured cadir "
                                     "setting in your\npuppet.conf file and verify its contents.",
                                     from)});
    }
    const std::string above(sys::directory_name(to));
    if (!disk.exists(above)) BUNRAKU_TRY_VOID(disk.make_directories(above, 0755));
    BUNRAKU_TRY_VOID(disk.rename(from, to));
    BUNRAKU_TRY_VOID(disk.make_link(to, from));
    fmt::print(input.out,
               "CA dir successfully migrated to {}. Symlink placed at {}\n"
               "for backwards compatibility. The puppetserver can be safely restarted now.\n",
               to, from);
    return 0;
}

CaOutcome ca_prune(const CaInput& input) {
    if (BUNRAKU_TRY(ca_must_stop(input))) return 1;
    auto ca = BUNRAKU_TRY(read_ca_settings(input.settings));
    auto folder = BUNRAKU_TRY(pki::AuthorityFolder::open(ca.paths, ca_now));
    fmt::print(input.out, "Total number of certificates found in Puppet's CRL is: {}.\n",
               pki::facts_of(BUNRAKU_TRY(folder.own_crl())).revoked);
    std::size_t all = 0;
    const auto report = [&](std::size_t count, const char* what) {
        all += count;
        if (count > 0) fmt::print(input.out, "Removed {} {} from Puppet's CRL.\n", count, what);
    };
    const bool only_duplicates = !input.expired && !input.entries;
    if (input.duplicates || only_duplicates)
        report(BUNRAKU_TRY(folder.prune_crl()), "duplicated certs");
    if (input.expired)
        report(BUNRAKU_TRY(folder.prune_crl(folder.inventory_serials(
                   std::nullopt, pki::AuthorityFolder::Certificates::Expired))),
               "expired certs");
    if (input.entries) {
        std::vector<std::string> serials;
        for (const auto& text : input.serials) {
            const auto hex = text.starts_with("0x") ? text.substr(2) : text;
            const bool good = !hex.empty() &&
                              hex.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
            if (!good)
                return ca_wrong(input, {fmt::format("    '{}' is not a serial number", text)});
            serials.push_back(hex);
        }
        for (const auto& name : input.certnames)
            for (auto& serial : folder.inventory_serials(name))
                serials.push_back(std::move(serial));
        report(BUNRAKU_TRY(folder.prune_crl(serials)), "certs");
    }
    if (all == 0) {
        fmt::print(input.out, "No {} revocations found in the CRL.\n",
                   only_duplicates ? "duplicate" : "matching");
    }
    return 0;
}

CaOutcome ca_delete(const CaInput& input) {
    if (BUNRAKU_TRY(ca_must_stop(input))) return 1;
    auto ca = BUNRAKU_TRY(read_ca_settings(input.settings));
    auto folder = BUNRAKU_TRY(pki::AuthorityFolder::open(ca.paths, ca_now));
    using State = pki::CertificateStatus::State;
    auto all = BUNRAKU_TRY(folder.statuses(pki::AuthorityFolder::Listed::Certificates));
    std::set<std::string> names;
    for (const auto& status : all) {
        const bool over = status.certificate->not_after() < ca_now();
        const bool wanted = input.all || (input.expired && over) ||
                            (input.revoked && status.state == State::Revoked);
        if (wanted) names.insert(status.name);
    }
    bool missing = false;
    for (const auto& name : input.certnames) {
        if (name.find('/') == std::string::npos && folder.has_certificate(name)) {
            names.insert(name);
            continue;
        }
        fmt::print(input.err, "Could not find certificate file at {}\n",
                   ca.paths.certificate_of(name));
        missing = true;
    }
    std::size_t count = 0;
    for (const auto& name : names) {
        fmt::print(input.out, "Deleting certificate at {}\n", ca.paths.certificate_of(name));
        if (BUNRAKU_TRY(folder.delete_certificate(name))) count++;
    }
    fmt::print(input.out, "{} certificate{} deleted.\n", count, count == 1 ? "" : "s");
    return missing ? 24 : 0;
}

}  // namespace bunraku::server
