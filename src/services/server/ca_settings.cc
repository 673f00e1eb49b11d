// SPDX-License-Identifier: Apache-2.0
#include "services/server/ca_settings.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/codec/hocon.h"
#include "core/config/layout.h"
#include "core/config/setting_aliases.h"
#include "core/config/settings.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "net/http/auth_conf.h"
#include "net/http/conf_files.h"

namespace bunraku::server {

using base::failure;
using base::Result;
using codec::YamlNode;

namespace {

/// Returns the setting, or the value in ca.conf if it is not set.
std::string ca_text(const config::Settings& settings, const YamlNode* file, std::string_view name) {
    auto text = aliased_setting(settings, name);
    if (!text.empty()) return text;
    const auto* node = codec::find_member(file, name);
    if (!node) return {};
    switch (node->kind) {
        case YamlNode::Kind::Boolean: return node->boolean ? "true" : "false";
        case YamlNode::Kind::Integer: return std::to_string(node->integer);
        case YamlNode::Kind::String: return node->text;
        default: return {};
    }
}

Result<bool> ca_flag(const config::Settings& settings, const YamlNode* file, std::string_view name,
                     bool otherwise) {
    auto text = ca_text(settings, file, name);
    if (text.empty()) return otherwise;
    if (text == "true" || text == "false") return text == "true";
    return failure(fmt::format("The setting {} is neither true nor false: {}", name, text));
}

/// Parses a duration such as "90d", "1y" or "3600".
std::optional<std::int64_t> ca_duration(std::string_view text) {
    std::int64_t factor = 1;
    if (!text.empty() && (text.back() < '0' || text.back() > '9')) {
        switch (text.back()) {
            case 'y': factor = 365 * 86400; break;
            case 'd': factor = 86400; break;
            case 'h': factor = 3600; break;
            case 'm': factor = 60; break;
            case 's': break;
            default: return std::nullopt;
        }
        text.remove_suffix(1);
    }
    if (text.empty() || text.size() > 10) return std::nullopt;
    std::int64_t out = 0;
    for (char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        out = out * 10 + (c - '0');
    }
    return out * factor;
}

/// Returns options that give a file the same owner as its folder.
sys::WriteOptions owned_as(const std::string& path, std::uint32_t mode) {
    sys::WriteOptions out;
    out.mode = mode;
    out.sync = true;
    struct stat folder{};
    if (::geteuid() == 0 && ::stat(std::string(sys::directory_name(path)).c_str(), &folder) == 0) {
        out.uid = folder.st_uid;
        out.gid = folder.st_gid;
    }
    return out;
}

Result<void> put(const std::string& path, const std::string& text, std::uint32_t mode) {
    auto& files = sys::disk();
    const std::string folder(sys::directory_name(path));
    if (!files.exists(folder))
        BUNRAKU_TRY_VOID(files.make_directories(folder, mode == 0640 ? 0750 : 0755));
    return files.replace(path, text, owned_as(path, mode));
}

}  // namespace

Result<CaSettings> read_ca_settings(const config::Settings& settings) {
    if (auto problem = config::authority_problem(settings, sys::disk()); !problem.empty())
        return failure(problem);
    CaSettings out;
    out.paths = pki::AuthorityPaths::in(settings.text("cadir"));
    out.paths.cacert = settings.text("cacert");
    out.paths.cakey = settings.text("cakey");
    out.paths.capub = settings.text("capub");
    out.paths.cacrl = settings.text("cacrl");
    out.paths.inventory = settings.text("cert_inventory");
    out.paths.serial = settings.text("serial");
    out.paths.requests = settings.text("csrdir");
    out.paths.signed_certificates = settings.text("signeddir");
    out.autosign = settings.text("autosign");
    out.allow_duplicate_certs = settings.boolean("allow_duplicate_certs");
    out.ca_ttl = settings.integer("ca_ttl");
    if (out.ca_ttl <= 0 || out.ca_ttl > pki::kLongestTtl) {
        return failure(
            fmt::format("Config setting ca_ttl must have a value below {}", pki::kLongestTtl));
    }
    YamlNode document;
    const auto path =
        BUNRAKU_TRY(http::puppetserver_section_file(settings, "certificate-authority", "ca.conf"));
    if (auto text = sys::disk().read(path)) {
        auto read = codec::parse_hocon(*text, http::hocon_context(path));
        if (!read) return failure(fmt::format("{}: {}", path, read.error().message));
        document = std::move(*read);
    } else if (text.error().code != ENOENT && text.error().code != ENOTDIR) {
        return failure(text.error().message);
    }
    const auto* file = codec::find_member(&document, "certificate-authority");
    out.rules.alternative_names =
        BUNRAKU_TRY(ca_flag(settings, file, "allow-subject-alt-names", false));
    out.rules.authorization_extensions =
        BUNRAKU_TRY(ca_flag(settings, file, "allow-authorization-extensions", false));
    out.allow_auto_renewal = BUNRAKU_TRY(ca_flag(settings, file, "allow-auto-renewal", true));
    out.allow_auto_rollover = BUNRAKU_TRY(ca_flag(settings, file, "allow-auto-rollover", true));
    out.server_ec_certificate =
        BUNRAKU_TRY(ca_flag(settings, file, "server-ec-certificate", false));
    out.enable_infra_crl = BUNRAKU_TRY(ca_flag(settings, file, "enable-infra-crl", false));
    if (auto text = ca_text(settings, file, "auto-renewal-cert-ttl"); !text.empty()) {
        out.auto_renewal_ttl = ca_duration(text);
        if (!out.auto_renewal_ttl || *out.auto_renewal_ttl <= 0) {
            return failure(
                fmt::format("The setting auto-renewal-cert-ttl is not a duration: {}", text));
        }
    }
    return out;
}

Result<pki::PrivateKey> make_ca_key(const config::Settings& settings,
                                    const pki::PrivateKey* present) {
    if (present && !settings.is_set("ca_key_type") && present->is_rsa())
        return pki::make_rsa_key(std::max(2048, EVP_PKEY_get_bits(present->native())));
    const auto kind = settings.text("ca_key_type");
    if (kind == "rsa") return pki::make_rsa_key(static_cast<int>(settings.integer("keylength")));
    if (kind.empty() || kind == "ec") return pki::make_key();
    return failure(fmt::format("The setting ca_key_type is neither ec nor rsa: {}", kind));
}

std::vector<std::string> server_names(const config::Settings& settings,
                                      const std::string& alternative_names) {
    const auto certname = settings.text("certname");
    const auto more =
        alternative_names.empty() ? settings.text("dns_alt_names") : alternative_names;
    return pki::alternative_name_list((more.empty() ? "puppet" : more) + "," + certname);
}

Result<bool> ensure_server_certificate(const config::Settings& settings,
                                       const pki::AuthorityFolder& authority, std::int64_t ttl) {
    auto& files = sys::disk();
    const auto hostcert = settings.text("hostcert"), hostprivkey = settings.text("hostprivkey");
    const bool has_key = files.exists(hostprivkey);
    if (files.exists(hostcert)) {
        if (has_key) return false;
        return failure(fmt::format("Found master cert '{}' but master private key '{}' is missing",
                                   hostcert, hostprivkey));
    }
    const auto certname = settings.text("certname");
    if (auto problem = pki::name_problem(certname, certname))
        return failure(fmt::format("The certname '{}' cannot be used: {}", certname, *problem));
    auto key = has_key ? BUNRAKU_TRY(pki::read_private_key(hostprivkey))
                       : BUNRAKU_TRY(make_ca_key(settings, &authority.key()));
    if (!has_key) BUNRAKU_TRY_VOID(put(hostprivkey, key.pem(), 0640));
    BUNRAKU_TRY_VOID(put(settings.text("hostpubkey"), key.public_pem(), 0644));
    pki::AuthorityFolder::Terms terms;
    terms.ttl = ttl;
    terms.alternative_names = server_names(settings, "");
    terms.extensions = {{pki::puppet_oid("pp_cli_auth"), "true"}};
    if (auto text = files.read(settings.text("csr_attributes"))) {
        auto asked =
            BUNRAKU_TRY(pki::parse_request_attributes(*text, settings.text("csr_attributes")));
        for (auto& [name, value] : asked.extension_requests) {
            auto oid = pki::puppet_oid(name);
            if (oid.empty()) oid = name;
            const bool ours = pki::in_puppet_tree(oid, 1) || pki::in_puppet_tree(oid, 2);
            if (ours) terms.extensions.emplace_back(oid, value);
        }
    }
    auto certificate = BUNRAKU_TRY(authority.sign(certname, key.native(), terms));
    BUNRAKU_TRY_VOID(put(hostcert, certificate.pem(), 0644));
    return true;
}

std::string second_certificate_path(const config::Settings& settings) {
    return settings.text("ssldir") + "/server_ec_cert.pem";
}

std::string second_key_path(const config::Settings& settings) {
    return settings.text("ssldir") + "/server_ec_key.pem";
}

Result<bool> ensure_second_certificate(const config::Settings& settings, const CaSettings& ca,
                                       const pki::AuthorityFolder& authority, std::int64_t now) {
    if (!ca.server_ec_certificate) return false;
    const auto first = pki::read_private_key(settings.text("hostprivkey"));
    if (!first || !first->is_rsa()) return false;
    const auto path = second_certificate_path(settings);
    auto key = pki::read_private_key(second_key_path(settings));
    if (const auto old = pki::read_certificates(path); old && key) {
        const auto& there = old->front();
        const auto life = there.not_after() - there.not_before();
        if (key->belongs_to(there) && now < there.not_after() - life / 3) return false;
    }
    if (!key) {
        key = pki::make_key();
        if (!key) return std::unexpected(key.error());
        BUNRAKU_TRY_VOID(put(second_key_path(settings), key->pem(), 0640));
    }
    pki::AuthorityFolder::Terms terms;
    terms.ttl = ca.ca_ttl;
    terms.alternative_names = server_names(settings, "");
    auto made = BUNRAKU_TRY(authority.sign(settings.text("certname"), key->native(), terms));
    BUNRAKU_TRY_VOID(put(path, made.pem(), 0644));
    return true;
}

Result<bool> publish_authority(const config::Settings& settings, const pki::AuthorityPaths& paths) {
    auto& files = sys::disk();
    const auto localcacert = settings.text("localcacert"), hostcrl = settings.text("hostcrl");
    if (!files.exists(localcacert) && localcacert != paths.cacert) {
        const auto certificates = BUNRAKU_TRY(files.read(paths.cacert));
        BUNRAKU_TRY_VOID(put(localcacert, certificates, 0644));
    }
    // If another authority issued this machine's certificate, that authority's files are not
    // changed.
    auto trusted = BUNRAKU_TRY(pki::read_certificates(localcacert));
    auto ours = BUNRAKU_TRY(pki::read_certificates(paths.cacert));
    const auto has = [](const std::vector<pki::Certificate>& all, const pki::Certificate& one) {
        return std::find(all.begin(), all.end(), one) != all.end();
    };
    if (std::none_of(trusted.begin(), trusted.end(), [&](const auto& t) { return has(ours, t); }))
        return false;
    bool changed = false;
    // Adds the next authority of a rollover. Other authorities in the file remain.
    std::string more;
    for (const auto& c : ours)
        if (!has(trusted, c)) more += c.pem();
    if (!more.empty()) {
        const auto there = BUNRAKU_TRY(files.read(localcacert));
        const bool line = there.empty() || there.back() == '\n';
        BUNRAKU_TRY_VOID(put(localcacert, there + (line ? "" : "\n") + more, 0644));
        changed = true;
    }
    if (hostcrl == paths.cacrl) return changed;
    auto text = BUNRAKU_TRY(files.read(paths.cacrl));
    // An unreadable list must not be published.
    (void)BUNRAKU_TRY(pki::parse_crls(text, paths.cacrl));
    if (auto there = files.read(hostcrl); there && *there == text) return changed;
    BUNRAKU_TRY_VOID(put(hostcrl, text, 0644));
    return true;
}

Result<pki::AuthorityFolder> ensure_authority(const config::Settings& settings,
                                              const CaSettings& ca, pki::AuthorityFolder::Now now,
                                              const std::function<void(const std::string&)>& made) {
    const auto open = [&]() -> Result<pki::AuthorityFolder> {
        if (!pki::AuthorityFolder::look(ca.paths).found.empty())
            return pki::AuthorityFolder::open(ca.paths, now);
        auto fresh = pki::AuthorityFolder::create(
            ca.paths,
            {settings.text("ca_name"), ca.ca_ttl, "", [&] { return make_ca_key(settings); }}, now);
        if (fresh) {
            made(fmt::format("Created a certificate authority, {}, in {}",
                             fresh->certificate().common_name(), ca.paths.cadir));
        }
        return fresh;
    };
    auto authority = BUNRAKU_TRY(open());
    (void)BUNRAKU_TRY(publish_authority(settings, ca.paths));
    if (BUNRAKU_TRY(ensure_server_certificate(settings, authority, ca.ca_ttl))) {
        std::string names;
        for (std::string_view name : server_names(settings, ""))
            names +=
                fmt::format("{}{}", names.empty() ? "" : ", ", name.substr(name.find(':') + 1));
        made(fmt::format("Created this server's certificate for {}: {}", names,
                         settings.text("hostcert")));
        made(
            fmt::format("On each node: puppet ssl bootstrap --server {} (or bunraku ssl bootstrap)",
                        settings.text("certname")));
        made(
            ca.autosign == "true"
                ? std::string("Their requests are signed automatically (autosign)")
                : std::string(
                      "Then on this server: bunraku ca list, and bunraku ca sign --certname NAME"));
    }
    return authority;
}

}  // namespace bunraku::server
