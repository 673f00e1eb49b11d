// SPDX-License-Identifier: Apache-2.0
#include "net/pki/authority_folder.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/sys/lock.h"
#include "net/pki/verify.h"

namespace bunraku::pki {

using base::failure;
using base::Result;

namespace {

constexpr std::uint32_t kPublic = 0644, kSecret = 0640;

/// Parses the content of the file `serial`: hexadecimal, with or without a line end.
std::optional<std::uint64_t> parse_serial(std::string_view text) {
    text = base::trim(text);
    std::uint64_t out = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, 16);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return {};
    return out;
}

/// Returns the highest serial in an inventory, not counting random serials.
std::uint64_t highest_serial(std::string_view inventory) {
    std::uint64_t out = 0;
    for (std::string_view line : base::split(inventory, '\n')) {
        if (!line.starts_with("0x")) continue;
        line = line.substr(2, line.find(' ') - 2);
        if (auto serial = line.size() <= 15 ? parse_serial(line) : std::nullopt)
            out = std::max(out, *serial);
    }
    return out;
}

/// Turns both "10" and "0x000A" into "A". Returns an empty text if `text` is not a number.
std::string hex_serial(const std::string& text) {
    BIGNUM* number = nullptr;
    const bool hex = text.starts_with("0x");
    const std::string digits = hex ? text.substr(2) : text;
    const int read = hex ? BN_hex2bn(&number, digits.c_str()) : BN_dec2bn(&number, digits.c_str());
    std::string out;
    if (number && read == static_cast<int>(digits.size())) {
        char* plain = BN_bn2hex(number);
        out = plain ? plain : "";
        OPENSSL_free(plain);
    }
    BN_free(number);
    return out;
}

std::string pem_of(const std::vector<Certificate>& certificates) {
    std::string out;
    for (const auto& c : certificates) out += c.pem();
    return out;
}

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> out;
    auto names = sys::disk().list(folder);
    for (const auto& name : names ? *names : std::vector<std::string>())
        if (name.size() > 4 && name.ends_with(".pem") && name[0] != '.')
            out.push_back(name.substr(0, name.size() - 4));
    return out;
}

/// Returns a line for revoked_keys: the name and the SHA-256 of the public key.
std::string revoked_key_line(const std::string& name, EVP_PKEY* key) {
    unsigned char* der = nullptr;
    const int size = i2d_PUBKEY(key, &der);
    const std::string bytes(reinterpret_cast<const char*>(der),
                            static_cast<std::size_t>(std::max(size, 0)));
    OPENSSL_free(der);
    return fmt::format("{} {}", name, codec::hex_digest(codec::DigestKind::Sha256, bytes));
}

Result<void> make_folders(const AuthorityPaths& paths) {
    BUNRAKU_TRY_VOID(sys::disk().make_directories(paths.cadir, 0755));
    BUNRAKU_TRY_VOID(sys::disk().make_directories(paths.requests, 0755));
    return sys::disk().make_directories(paths.signed_certificates, 0755);
}

}  // namespace

std::string puppet_time(std::int64_t seconds) {
    std::time_t time = seconds;
    std::tm tm{};
    ::gmtime_r(&time, &tm);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}UTC", tm.tm_year + 1900, tm.tm_mon + 1,
                       tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

AuthorityPaths AuthorityPaths::in(const std::string& cadir) {
    return {cadir,
            cadir + "/ca_crt.pem",
            cadir + "/ca_key.pem",
            cadir + "/ca_pub.pem",
            cadir + "/ca_crl.pem",
            cadir + "/inventory.txt",
            cadir + "/serial",
            cadir + "/requests",
            cadir + "/signed"};
}

AuthorityFolder::Inventory AuthorityFolder::look(const AuthorityPaths& paths) {
    Inventory out;
    for (const auto* path :
         {&paths.cacert, &paths.cacrl, &paths.cakey, &paths.inventory, &paths.serial})
        (sys::disk().exists(*path) ? out.found : out.missing).push_back(*path);
    return out;
}

Result<void> AuthorityFolder::write(const std::string& path, const std::string& text,
                                    std::uint32_t mode) const {
    sys::WriteOptions options;
    options.mode = mode;
    options.sync = true;
    // Files that root writes get the owner of the CA folder, because puppetserver runs as the user
    // puppet.
    struct stat folder{};
    if (::geteuid() == 0 && ::stat(paths_.cadir.c_str(), &folder) == 0) {
        options.uid = folder.st_uid;
        options.gid = folder.st_gid;
    }
    return sys::disk().replace(path, text, options);
}

Result<void> AuthorityFolder::write_crls(const std::string& path,
                                         const std::vector<Crl>& crls) const {
    std::string text;
    for (const auto& crl : crls) text += crl_pem(crl);
    return write(path, text, kPublic);
}

Result<AuthorityFolder> AuthorityFolder::create(const AuthorityPaths& paths,
                                                const NewAuthority& what, Now now) {
    const std::int64_t time = now();
    Draft draft;
    draft.authority = true;
    draft.not_before = time - 86400;
    draft.not_after = time + what.ttl;
    auto key = BUNRAKU_TRY(what.key());
    std::vector<Certificate> bundle;
    std::vector<Crl> crls;
    std::optional<PrivateKey> root_key;
    draft.common_name = what.name;
    if (what.root_name.empty()) {
        draft.serial = "01";
        bundle.push_back(BUNRAKU_TRY(make_certificate(draft, key.native(), nullptr, key)));
    } else {
        root_key = BUNRAKU_TRY(what.key());
        Draft top = draft;
        top.common_name = what.root_name;
        top.serial = "01";
        auto root = BUNRAKU_TRY(make_certificate(top, root_key->native(), nullptr, *root_key));
        draft.serial = "02";
        bundle.push_back(BUNRAKU_TRY(make_certificate(draft, key.native(), &root, *root_key)));
        bundle.push_back(root);
    }
    crls.push_back(BUNRAKU_TRY(next_crl(nullptr, bundle[0], key, {}, time - 86400)));
    if (root_key)
        crls.push_back(
            BUNRAKU_TRY(next_crl(nullptr, bundle[1], *root_key, {}, time - 86400, what.ttl)));
    auto out = BUNRAKU_TRY(create(paths, bundle, key, crls, std::move(now)));
    // The CA certificate uses a serial, which other certificates must not reuse.
    if (!root_key) {
        auto lock = BUNRAKU_TRY(sys::FileLock::acquire(paths.lock()));
        (void)BUNRAKU_TRY(out.take_serial());
        BUNRAKU_TRY_VOID(out.note(bundle[0]));
    } else {
        BUNRAKU_TRY_VOID(out.write(paths.root_key(), root_key->pem(), kSecret));
    }
    return out;
}

Result<AuthorityFolder> AuthorityFolder::create(const AuthorityPaths& paths,
                                                const std::vector<Certificate>& bundle,
                                                const PrivateKey& key, const std::vector<Crl>& crls,
                                                Now now) {
    auto existing = look(paths);
    if (!existing.found.empty())
        return failure(fmt::format("A certificate authority exists already: {}", existing.found[0]),
                       EEXIST);
    BUNRAKU_TRY_VOID(make_folders(paths));
    auto lock = BUNRAKU_TRY(sys::FileLock::acquire(paths.lock()));
    // Another process may have created the CA meanwhile.
    if (auto again = look(paths); !again.found.empty())
        return failure(fmt::format("A certificate authority exists already: {}", again.found[0]),
                       EEXIST);
    AuthorityFolder out(paths, bundle, key, std::move(now));
    for (std::size_t i = 0; i < bundle.size(); i++)
        if (key.belongs_to(bundle[i])) out.issuing_ = i;
    // The caller has checked them.
    BUNRAKU_ALWAYS_ASSERT(out.issuing_ < bundle.size() && key.belongs_to(out.certificate()));
    BUNRAKU_TRY_VOID(out.write(paths.capub, key.public_pem(), kPublic));
    BUNRAKU_TRY_VOID(out.write(paths.cakey, key.pem(), kSecret));
    BUNRAKU_TRY_VOID(out.write(paths.cacert, pem_of(bundle), kPublic));
    BUNRAKU_TRY_VOID(out.write_crls(paths.cacrl, crls));
    BUNRAKU_TRY_VOID(out.write_crls(paths.infra_crl(), crls));
    for (const auto& path : {paths.infra_inventory(), paths.infra_serials()})
        if (!sys::disk().exists(path)) BUNRAKU_TRY_VOID(out.write(path, "", kPublic));
    BUNRAKU_TRY_VOID(out.write(paths.inventory, "", kPublic));
    BUNRAKU_TRY_VOID(out.write(paths.serial, "0001", kPublic));
    return out;
}

Result<AuthorityFolder> AuthorityFolder::open(const AuthorityPaths& paths, Now now) {
    auto existing = look(paths);
    if (!existing.missing.empty()) {
        const auto lines = [](const std::vector<std::string>& list) {
            std::string out;
            for (const auto& line : list) out += line + "\n";
            return out;
        };
        return failure(
            fmt::format("Cannot initialize CA with partial state; need all files or none.\n"
                        "Found:\n{}Missing:\n{}",
                        lines(existing.found), lines(existing.missing)),
            ENOENT);
    }
    BUNRAKU_TRY_VOID(make_folders(paths));
    auto bundle = BUNRAKU_TRY(read_certificates(paths.cacert));
    auto key = BUNRAKU_TRY(read_private_key(paths.cakey));
    AuthorityFolder out(paths, std::move(bundle), std::move(key), std::move(now));
    const auto issuing = std::find_if(out.bundle_.begin(), out.bundle_.end(),
                                      [&](const auto& c) { return out.key_.belongs_to(c); });
    if (issuing == out.bundle_.end()) {
        return failure(fmt::format("The private key {} does not belong to any certificate in {}",
                                   paths.cakey, paths.cacert));
    }
    out.issuing_ = static_cast<std::size_t>(issuing - out.bundle_.begin());
    BUNRAKU_ASSERT(out.issuing_ < out.bundle_.size());
    (void)BUNRAKU_TRY(out.own_crl());
    struct stat status{};
    // Corrects the mode as puppetserver does.
    if (::stat(paths.cakey.c_str(), &status) == 0 && (status.st_mode & 0137) != 0)
        BUNRAKU_TRY_VOID(sys::disk().set_mode(paths.cakey, kSecret));
    return out;
}

Result<std::vector<Crl>> AuthorityFolder::crls() const { return read_crls(paths_.cacrl); }

Result<std::size_t> AuthorityFolder::own_crl_in(const std::vector<Crl>& crls,
                                                const std::string& path) const {
    for (std::size_t i = 0; i < crls.size(); i++)
        if (is_issued_by(crls[i], certificate())) return i;
    return failure(
        fmt::format("{} contains no revocation list of {}", path, certificate().subject_utf8()));
}

Result<Crl> AuthorityFolder::own_crl() const {
    auto all = BUNRAKU_TRY(crls());
    return all[BUNRAKU_TRY(own_crl_in(all, paths_.cacrl))];
}

bool AuthorityFolder::has_certificate(const std::string& name) const {
    return sys::disk().exists(paths_.certificate_of(name));
}

bool AuthorityFolder::has_request(const std::string& name) const {
    return sys::disk().exists(paths_.request_of(name));
}

Result<std::string> AuthorityFolder::certificate_text(const std::string& name) const {
    return sys::disk().read(paths_.certificate_of(name));
}

Result<std::string> AuthorityFolder::request_text(const std::string& name) const {
    return sys::disk().read(paths_.request_of(name));
}

Result<Certificate> AuthorityFolder::read_certificate(const std::string& name) const {
    auto text = BUNRAKU_TRY(certificate_text(name));
    return Certificate::from_pem(text, paths_.certificate_of(name));
}

Result<Request> AuthorityFolder::read_request(const std::string& name) const {
    auto text = BUNRAKU_TRY(request_text(name));
    return Request::from_pem(text, paths_.request_of(name));
}

Result<void> AuthorityFolder::save_request(const std::string& name, const Request& request) const {
    return write(paths_.request_of(name), request.pem(), kPublic);
}

Result<bool> AuthorityFolder::delete_request(const std::string& name) const {
    if (auto gone = sys::disk().remove(paths_.request_of(name)); !gone) {
        if (gone.error().code == ENOENT) return false;
        return std::unexpected(gone.error());
    }
    return true;
}

Result<bool> AuthorityFolder::delete_certificate(const std::string& name) const {
    if (auto gone = sys::disk().remove(paths_.certificate_of(name)); !gone) {
        if (gone.error().code == ENOENT) return false;
        return std::unexpected(gone.error());
    }
    return true;
}

Result<std::string> AuthorityFolder::take_serial() const {
    auto text = BUNRAKU_TRY(sys::disk().read(paths_.serial));
    auto serial = parse_serial(text);
    if (!serial) return failure(fmt::format("{} contains no serial number", paths_.serial));
    // If the file is from a backup, serials must not be reused.
    auto inventory = sys::disk().read(paths_.inventory);
    const auto next = std::max(*serial, inventory ? highest_serial(*inventory) + 1 : 0);
    BUNRAKU_ASSERT(next >= *serial);
    if (next == UINT64_MAX)
        return failure(fmt::format("{} contains the last serial number", paths_.serial));
    BUNRAKU_TRY_VOID(write(paths_.serial, fmt::format("{:04X}", next + 1), kPublic));
    return fmt::format("{:04X}", next);
}

Result<void> AuthorityFolder::note(const Certificate& certificate) const {
    auto line =
        fmt::format("{} {} {} {}\n", certificate.serial(), puppet_time(certificate.not_before()),
                    puppet_time(certificate.not_after()), certificate.subject());
    auto text = sys::disk().read(paths_.inventory);
    // After a crash, the last line may be incomplete. It stays unchanged, and the new line starts
    // below it.
    if (text && !text->empty() && text->back() != '\n') line.insert(0, "\n");
    return sys::disk().append(paths_.inventory, line, kPublic);
}

Result<Certificate> AuthorityFolder::issue_certificate(const std::string& name, Draft draft,
                                                       evp_pkey_st* subject_key) const {
    BUNRAKU_ASSERT(issuing_ < bundle_.size() && key_.belongs_to(certificate()));
    BUNRAKU_ASSERT(!draft.authority);
    draft.serial = BUNRAKU_TRY(take_serial());
    auto out = BUNRAKU_TRY(make_certificate(draft, subject_key, &certificate(), key_));
    // The order matters: a certificate must be in the inventory before a client can obtain it.
    BUNRAKU_TRY_VOID(note(out));
    BUNRAKU_TRY_VOID(write(paths_.certificate_of(name), out.pem(), kPublic));
    return out;
}

AuthorityFolder::Terms AuthorityFolder::terms_of(const Request& request, std::int64_t ttl) {
    Terms out;
    out.ttl = ttl;
    out.alternative_names = request.alternative_names();
    for (auto& extension : request.extensions()) {
        if (extension.oid == "2.5.29.17") continue;
        out.extensions.emplace_back(std::move(extension.oid), std::move(extension.value));
    }
    return out;
}

Result<Draft> AuthorityFolder::draft_of(const std::string& name, const Terms& terms) const {
    if (terms.ttl > kLongestTtl)
        return failure(
            fmt::format("Config setting ca_ttl must have a value below {}", kLongestTtl));
    Draft draft;
    draft.common_name = name;
    draft.not_before = now_() - 86400;
    draft.not_after = now_() + terms.ttl;
    // A certificate must not outlive its issuer; clients renew it before that.
    if (const auto end = certificate().not_after(); end > now_())
        draft.not_after = std::min(draft.not_after, end);
    draft.alternative_names = terms.alternative_names;
    const auto own = "DNS:" + name;
    if (std::find(draft.alternative_names.begin(), draft.alternative_names.end(), own) ==
        draft.alternative_names.end()) {
        draft.alternative_names.push_back(own);
    }
    draft.extensions = terms.extensions;
    return draft;
}

Result<Certificate> AuthorityFolder::sign(const std::string& name, evp_pkey_st* subject_key,
                                          const Terms& terms) const {
    auto draft = BUNRAKU_TRY(draft_of(name, terms));
    auto lock = BUNRAKU_TRY(sys::FileLock::acquire(paths_.lock()));
    auto out = BUNRAKU_TRY(issue_certificate(name, std::move(draft), subject_key));
    BUNRAKU_TRY_VOID(forget_revoked_key(name, subject_key));
    (void)BUNRAKU_TRY(delete_request(name));
    return out;
}

Result<Certificate> AuthorityFolder::sign(const std::string& name, const Request& request,
                                          std::int64_t ttl) const {
    auto draft = BUNRAKU_TRY(draft_of(name, terms_of(request, ttl)));
    auto lock = BUNRAKU_TRY(sys::FileLock::acquire(paths_.lock()));
    auto out = BUNRAKU_TRY(issue_certificate(name, std::move(draft), request.public_key()));
    BUNRAKU_TRY_VOID(forget_revoked_key(name, request.public_key()));
    if (auto waiting = read_request(name); waiting && waiting->pem() == request.pem())
        (void)BUNRAKU_TRY(delete_request(name));
    return out;
}

Result<Certificate> AuthorityFolder::renew(const Certificate& old, std::int64_t ttl) const {
    const auto name = old.common_name();
    Terms terms;
    terms.ttl = ttl;
    terms.alternative_names = old.alternative_names();
    for (auto& extension : old.puppet_extensions())
        terms.extensions.emplace_back(std::move(extension.oid), std::move(extension.value));
    auto draft = BUNRAKU_TRY(draft_of(name, terms));
    auto lock = BUNRAKU_TRY(sys::FileLock::acquire(paths_.lock()));
    BUNRAKU_TRY_VOID(refuse_revoked(old));
    return issue_certificate(name, std::move(draft), public_key_of(old));
}

Result<void> AuthorityFolder::refuse_revoked(const Certificate& certificate) const {
    const auto name = certificate.common_name();
    const auto refused = failure(
        fmt::format("The certificate {} of {}, or its key, is revoked", certificate.serial(), name),
        EACCES);
    for (const auto& crl : BUNRAKU_TRY(crls())) {
        for (const auto& authority : bundle_) {
            if (authority.subject() == certificate.issuer() && is_issued_by(crl, authority) &&
                is_revoked(crl, certificate))
                return refused;
        }
    }
    const auto keys = sys::disk().read(paths_.revoked_keys());
    if (!keys) return {};
    const auto line = revoked_key_line(name, public_key_of(certificate));
    for (std::string_view known : base::split(*keys, '\n'))
        if (known == line) return refused;
    return {};
}

Result<void> AuthorityFolder::note_revoked_key(const std::string& name) const {
    const auto certificate = read_certificate(name);
    if (!certificate) return {};
    const auto line = revoked_key_line(name, public_key_of(*certificate));
    auto keys = sys::disk().read(paths_.revoked_keys()).value_or("");
    if (!keys.empty() && keys.back() != '\n') keys += '\n';
    if (("\n" + keys).find("\n" + line + "\n") != std::string::npos) return {};
    return write(paths_.revoked_keys(), keys + line + "\n", kPublic);
}

Result<void> AuthorityFolder::forget_revoked_key(const std::string& name, evp_pkey_st* key) const {
    const auto keys = sys::disk().read(paths_.revoked_keys());
    if (!keys) return {};
    const auto line = revoked_key_line(name, key);
    std::string rest;
    for (std::string_view known : base::split(*keys, '\n'))
        if (!known.empty() && known != line) rest += fmt::format("{}\n", known);
    BUNRAKU_ASSERT(rest.size() <= keys->size() + 1);
    return rest == *keys ? Result<void>() : write(paths_.revoked_keys(), rest, kPublic);
}

std::vector<std::string> AuthorityFolder::inventory_serials(const std::optional<std::string>& name,
                                                            Certificates wanted) const {
    std::vector<std::string> out;
    const auto inventory = sys::disk().read(paths_.inventory);
    if (!inventory) return out;
    const auto now = puppet_time(now_());
    for (std::string_view line : base::split(*inventory, '\n')) {
        // "0x0002 2026-11-22T22:51:57UTC 2031-11-22T22:51:57UTC /CN=a.example"
        const auto parts = base::words(line);
        if (parts.size() != 4 || !parts[0].starts_with("0x")) continue;
        if (name && parts[3] != "/CN=" + *name) continue;
        // All times have the same format, so comparing the texts compares the times.
        const bool expired = parts[2] <= now;
        if (wanted == Certificates::All || expired == (wanted == Certificates::Expired))
            out.emplace_back(parts[0].substr(2));
    }
    return out;
}

bool AuthorityFolder::can_revoke(const std::string& name) const {
    if (has_certificate(name)) return true;
    const auto crl = own_crl();
    if (!crl) return false;
    const auto serials = inventory_serials(name, Certificates::Valid);
    return std::ranges::any_of(serials, [&](const auto& s) { return !is_revoked(*crl, s); });
}

Result<std::size_t> AuthorityFolder::revoke(const std::vector<std::string>& names,
                                            Files files) const {
    // The lock covers all steps. A concurrent renewal either happens before and is in the
    // inventory, or happens after and is refused.
    auto lock = BUNRAKU_TRY(sys::FileLock::acquire(paths_.lock()));
    std::vector<std::string> serials;
    for (const auto& name : names) {
        auto known = inventory_serials(name, Certificates::Valid);
        auto file = read_certificate(name);
        if (!file && known.empty()) return std::unexpected(file.error());
        if (file) known.push_back(file->serial().substr(2));
        serials.insert(serials.end(), known.begin(), known.end());
        BUNRAKU_TRY_VOID(note_revoked_key(name));
    }
    const auto count = BUNRAKU_TRY(revoke_serials(std::move(serials)));
    if (files == Files::Delete)
        for (const auto& name : names) (void)BUNRAKU_TRY(delete_certificate(name));
    return count;
}

Result<std::size_t> AuthorityFolder::revoke_serials(std::vector<std::string> serials) const {
    auto all = BUNRAKU_TRY(crls());
    const auto own = BUNRAKU_TRY(own_crl_in(all, paths_.cacrl));
    std::erase_if(serials, [&](const auto& s) { return is_revoked(all[own], s); });
    std::sort(serials.begin(), serials.end());
    serials.erase(std::unique(serials.begin(), serials.end()), serials.end());
    if (serials.empty()) return 0;
    BUNRAKU_ASSERT(own < all.size() && std::ranges::is_sorted(serials));
    BUNRAKU_TRY_VOID(add_to_lists(all, serials));
    // The list of infrastructure nodes is written first, so that its readers never know less than
    // readers of the full list.
    const auto listed = sys::disk().read(paths_.infra_serials()).value_or(std::string());
    std::vector<std::string> infra;
    for (auto line : base::split(listed, '\n')) {
        const auto hex = hex_serial(std::string(base::trim(line)));
        for (const auto& serial : serials)
            if (!hex.empty() && hex == hex_serial("0x" + serial)) infra.push_back(serial);
    }
    if (!infra.empty() && sys::disk().exists(paths_.infra_crl())) {
        auto lists = BUNRAKU_TRY(read_crls(paths_.infra_crl()));
        (void)BUNRAKU_TRY(own_crl_in(lists, paths_.infra_crl()));
        BUNRAKU_TRY_VOID(add_to_lists(lists, infra));
        BUNRAKU_TRY_VOID(write_crls(paths_.infra_crl(), lists));
    }
    BUNRAKU_TRY_VOID(write_crls(paths_.cacrl, all));
    return serials.size();
}

Result<void> AuthorityFolder::update_crls(const std::vector<Crl>& newer) const {
    for (const auto& crl : newer) {
        const auto facts = facts_of(crl);
        if (facts.delta) return failure("Cannot support delta CRL.");
        if (facts.authority_key.empty()) {
            return failure("One or more submitted CRLs do not have an authority key identifier.");
        }
    }
    auto lock = BUNRAKU_TRY(sys::FileLock::acquire(paths_.lock()));
    auto all = BUNRAKU_TRY(crls());
    const auto own = BUNRAKU_TRY(own_crl_in(all, paths_.cacrl));
    for (std::size_t i = 0; i < all.size(); i++) {
        // Other programs cannot change our own list.
        if (i == own) continue;
        const auto key = facts_of(all[i]).authority_key;
        for (const auto& crl : newer) {
            const auto facts = facts_of(crl);
            if (facts.authority_key != key || same_crl(crl, all[i])) continue;
            const auto now = facts_of(all[i]).number.value_or(-1);
            const auto number = facts.number.value_or(-1);
            if (number == now) return failure("Could not determine newest CRL.");
            if (number > now) all[i] = crl;
        }
    }
    // All lists must be valid, and the issuing authority must still be valid under them.
    auto verified = verify(certificate(), bundle_, all, RevocationCheck::Chain);
    if (!verified.good())
        return failure(fmt::format("Invalid certs and/or CRLs: {}", verified.message));
    // The issuing authority's list is first, as puppetserver writes them.
    std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(own),
                all.begin() + static_cast<std::ptrdiff_t>(own) + 1);
    BUNRAKU_ALWAYS_ASSERT(is_issued_by(all.front(), certificate()));
    BUNRAKU_TRY_VOID(write_crls(paths_.cacrl, all));
    if (!sys::disk().exists(paths_.infra_crl())) return {};
    auto infra = read_crls(paths_.infra_crl());
    if (!infra) return {};
    for (auto& crl : *infra) {
        for (std::size_t i = 1; i < all.size(); i++)
            if (facts_of(crl).authority_key == facts_of(all[i]).authority_key) crl = all[i];
    }
    return write_crls(paths_.infra_crl(), *infra);
}

Result<std::size_t> AuthorityFolder::refresh_crls(bool all) const {
    auto lock = BUNRAKU_TRY(sys::FileLock::acquire(paths_.lock()));
    const auto keys = signers();
    std::size_t count = 0;
    for (const auto& path : {paths_.cacrl, paths_.infra_crl()}) {
        if (!sys::disk().exists(path)) continue;
        auto lists = BUNRAKU_TRY(read_crls(path));
        bool changed = false;
        for (auto& crl : lists) {
            const auto facts = facts_of(crl);
            if (!all && now_() < facts.last_update + (facts.next_update - facts.last_update) / 2)
                continue;
            for (const auto& signer : keys) {
                if (!is_issued_by(crl, *signer.authority)) continue;
                crl = BUNRAKU_TRY(next_crl(crl, *signer.authority, signer.key, {}, now_()));
                changed = true;
                count++;
                break;
            }
        }
        if (changed) BUNRAKU_TRY_VOID(write_crls(path, lists));
    }
    return count;
}

Result<void> AuthorityFolder::make_infra_crl() const {
    auto lock = BUNRAKU_TRY(sys::FileLock::acquire(paths_.lock()));
    auto all = BUNRAKU_TRY(crls());
    const auto own = BUNRAKU_TRY(own_crl_in(all, paths_.cacrl));
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(own));
    all.insert(all.begin(),
               BUNRAKU_TRY(next_crl(nullptr, certificate(), key_, {}, now_() - 86400)));
    BUNRAKU_ALWAYS_ASSERT(is_issued_by(all.front(), certificate()));
    return write_crls(paths_.infra_crl(), all);
}

Result<std::vector<std::string>> AuthorityFolder::write_infra_serials() const {
    std::vector<std::string> missing;
    auto names = sys::disk().read(paths_.infra_inventory());
    if (!names) return missing;
    std::string out;
    for (auto line : base::split(*names, '\n')) {
        const std::string name(base::trim(line));
        if (name.empty()) continue;
        if (name.find('/') != std::string::npos || !has_certificate(name)) {
            missing.push_back(name);
            continue;
        }
        out += BUNRAKU_TRY(read_certificate(name)).serial_decimal() + "\n";
    }
    BUNRAKU_TRY_VOID(write(paths_.infra_serials(), out, kPublic));
    return missing;
}

Result<CertificateStatus> AuthorityFolder::status(const std::string& name) const {
    CertificateStatus out;
    out.name = name;
    if (has_certificate(name)) {
        out.certificate = BUNRAKU_TRY(read_certificate(name));
        auto crl = BUNRAKU_TRY(own_crl());
        out.state = is_revoked(crl, *out.certificate) ? CertificateStatus::State::Revoked
                                                      : CertificateStatus::State::Signed;
    } else {
        out.request = BUNRAKU_TRY(read_request(name));
    }
    return out;
}

Result<std::vector<CertificateStatus>> AuthorityFolder::statuses(Listed listed) const {
    std::vector<CertificateStatus> out;
    if (listed != Listed::Certificates) {
        for (const auto& name : names_in(paths_.requests)) {
            auto request = read_request(name);
            if (!request) continue;
            out.push_back({CertificateStatus::State::Requested, name, {}, std::move(*request)});
        }
    }
    if (listed == Listed::Requests) return out;
    auto crl = BUNRAKU_TRY(own_crl());
    for (const auto& name : names_in(paths_.signed_certificates)) {
        auto certificate = read_certificate(name);
        if (!certificate) continue;
        const auto state = is_revoked(crl, *certificate) ? CertificateStatus::State::Revoked
                                                         : CertificateStatus::State::Signed;
        out.push_back({state, name, std::move(*certificate), {}});
    }
    return out;
}

}  // namespace bunraku::pki
