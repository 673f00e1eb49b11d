// SPDX-License-Identifier: Apache-2.0
// A certificate authority in puppetserver's folder layout. Bunraku and puppetserver can each take
// over the other's folder.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "net/pki/authority.h"
#include "net/pki/crl.h"
#include "net/pki/request.h"

namespace bunraku::pki {

/// The paths of the files. The settings of puppet.conf may change each of them.
struct AuthorityPaths {
    std::string cadir;
    std::string cacert, cakey, capub, cacrl;    ///< ca_crt.pem, ca_key.pem, ca_pub.pem, ca_crl.pem
    std::string inventory, serial;              ///< inventory.txt, serial
    std::string requests, signed_certificates;  ///< requests/, signed/
    /// Returns the default names below `cadir`.
    static AuthorityPaths in(const std::string& cadir);
    std::string root_key() const { return cadir + "/root_key.pem"; }
    std::string infra_crl() const { return cadir + "/infra_crl.pem"; }
    std::string infra_inventory() const { return cadir + "/infra_inventory.txt"; }
    std::string infra_serials() const { return cadir + "/infra_serials"; }
    /// Keys of the next and of the previous authority during a roll-over.
    std::string next_key() const { return cadir + "/next_key.pem"; }
    std::string previous_key() const { return cadir + "/previous_key.pem"; }
    /// Names and key digests of revoked certificates.
    std::string revoked_keys() const { return cadir + "/revoked_keys"; }
    std::string lock() const { return cadir + "/.lock"; }
    std::string request_of(const std::string& name) const { return requests + "/" + name + ".pem"; }
    std::string certificate_of(const std::string& name) const {
        return signed_certificates + "/" + name + ".pem";
    }
};

/// puppetserver's limit: 50 years of 365 days.
inline constexpr std::int64_t kLongestTtl = 1576800000;

/// The state of a signed certificate or of a request.
struct CertificateStatus {
    enum class State : std::uint8_t { Requested, Signed, Revoked } state = State::Requested;
    std::string name;
    std::optional<Certificate> certificate;
    std::optional<Request> request;
};

/// A certificate authority on disk. Safe for concurrent threads and processes: every change holds
/// the lock file. Each file is replaced as a whole. A serial is marked as used before a certificate
/// gets it.
class AuthorityFolder {
public:
    /// Returns seconds since the epoch.
    using Now = std::function<std::int64_t()>;

    /// The required files of an authority that exist, and those that are missing.
    struct Inventory {
        std::vector<std::string> found, missing;
    };
    static Inventory look(const AuthorityPaths& paths);

    struct NewAuthority {
        std::string name;  ///< the common name
        std::int64_t ttl = 5 * 365 * 86400;
        /// If set, a root with this name signs the issuing authority, as with
        /// `puppetserver ca setup`, and its key is stored in root_key.pem. If empty, the issuing
        /// authority is self-signed.
        std::string root_name;
        std::function<base::Result<PrivateKey>()> key = make_key;
    };
    /// Creates an authority. Fails if any of its files exists.
    static base::Result<AuthorityFolder> create(const AuthorityPaths& paths,
                                                const NewAuthority& what, Now now);
    /// Imports an authority: the issuing certificate, those above it, and their lists. The caller
    /// must have checked them.
    static base::Result<AuthorityFolder> create(const AuthorityPaths& paths,
                                                const std::vector<Certificate>& bundle,
                                                const PrivateKey& key, const std::vector<Crl>& crls,
                                                Now now);
    /// Opens an existing authority. Fails if files are missing or do not match.
    static base::Result<AuthorityFolder> open(const AuthorityPaths& paths, Now now);

    const AuthorityPaths& paths() const { return paths_; }
    /// Returns the issuing certificate.
    const Certificate& certificate() const { return bundle_[issuing_]; }
    const std::vector<Certificate>& bundle() const { return bundle_; }
    const PrivateKey& key() const { return key_; }

    base::Result<std::vector<Crl>> crls() const;
    /// Returns the list of the issuing authority.
    base::Result<Crl> own_crl() const;

    bool has_certificate(const std::string& name) const;
    bool has_request(const std::string& name) const;
    /// Fails with ENOENT if there is no such certificate.
    base::Result<Certificate> read_certificate(const std::string& name) const;
    base::Result<Request> read_request(const std::string& name) const;
    base::Result<std::string> certificate_text(const std::string& name) const;
    base::Result<std::string> request_text(const std::string& name) const;

    base::Result<void> save_request(const std::string& name, const Request& request) const;
    /// Returns false if there was no such request.
    base::Result<bool> delete_request(const std::string& name) const;
    base::Result<bool> delete_certificate(const std::string& name) const;

    /// The contents of a certificate in addition to its name and key.
    struct Terms {
        std::int64_t ttl = 5 * 365 * 86400;
        /// the name itself is added automatically
        std::vector<std::string> alternative_names;
        std::vector<std::pair<std::string, std::string>> extensions;  ///< OIDs and texts
    };
    /// Signs a certificate, records it in the inventory, stores it in signed/ and deletes the
    /// request of that name.
    base::Result<Certificate> sign(const std::string& name, evp_pkey_st* subject_key,
                                   const Terms& terms) const;
    /// Signs this request, even if the folder now contains another one of that name. Deletes the
    /// request in the folder only if it is the same.
    base::Result<Certificate> sign(const std::string& name, const Request& request,
                                   std::int64_t ttl) const;
    /// Returns the terms that a request asks for.
    static Terms terms_of(const Request& request, std::int64_t ttl);
    /// Makes a new certificate with the contents of the old one, which stays valid. Fails with
    /// EACCES if the old one is revoked, or if any certificate of its name and key was. Checks
    /// under the lock, so that a concurrent revocation cannot be missed.
    base::Result<Certificate> renew(const Certificate& old, std::int64_t ttl) const;

    /// Whether revocation deletes the certificate files.
    enum class Files : std::uint8_t { Keep, Delete };
    /// Revokes all valid certificates of these names, and refuses their keys for renewal. Returns
    /// the number of newly revoked certificates. Fails with ENOENT if a name has neither a valid
    /// certificate in the inventory nor a file in signed/.
    base::Result<std::size_t> revoke(const std::vector<std::string>& names,
                                     Files files = Files::Keep) const;
    /// Reports whether there is something to revoke: a file in signed/, or a certificate in the
    /// inventory that is valid and not revoked.
    bool can_revoke(const std::string& name) const;
    /// Stores newer lists of the authorities above ours. Errors are puppetserver's.
    base::Result<void> update_crls(const std::vector<Crl>& newer) const;
    /// Signs new versions of the lists whose keys are available, if they are in the second half of
    /// their validity or if `all` is true. Returns the number of new lists.
    base::Result<std::size_t> refresh_crls(bool all = false) const;
    /// Removes duplicate entries from our list and returns their number.
    base::Result<std::size_t> prune_crl() const;
    /// Removes these serials (hexadecimal) from our list and returns the number removed.
    base::Result<std::size_t> prune_crl(const std::vector<std::string>& serials) const;
    /// Which certificates of the inventory, by their time.
    enum class Certificates : std::uint8_t { All, Valid, Expired };
    /// Returns the serials (hexadecimal) in the inventory of certificates of this name, or of
    /// every name if it is nullopt.
    std::vector<std::string> inventory_serials(const std::optional<std::string>& name,
                                               Certificates wanted = Certificates::All) const;

    // During a roll-over, the next authority is published next to the signing one until all nodes
    // know it. Then it starts to sign. The previous authority is removed once no node has a
    // certificate from it.
    /// Return the next and the previous authority, if they exist.
    std::optional<Certificate> next_authority() const;
    std::optional<Certificate> previous_authority() const;
    /// Reports whether this is one of our signing authorities: next, current or previous.
    bool is_ours(const Certificate& authority) const;
    /// Makes the next authority and publishes its certificate and list next to ours. If ours was
    /// signed by an authority whose key is available, the same authority signs the next one.
    base::Result<Certificate> begin_rollover(const NewAuthority& what) const;
    /// Makes the next authority the signing one. The caller must open() the folder again.
    base::Result<void> switch_authority() const;
    /// Returns the names with valid certificates from the previous authority.
    base::Result<std::vector<std::string>> holders_of_previous() const;
    /// Removes the previous authority, its list and its key. The caller must open() the folder
    /// again.
    base::Result<void> end_rollover() const;
    /// Makes infra_crl.pem with an empty list of ours and the lists of the authorities above.
    base::Result<void> make_infra_crl() const;
    /// Writes infra_serials from infra_inventory.txt. Returns the names that have no certificate.
    base::Result<std::vector<std::string>> write_infra_serials() const;

    base::Result<CertificateStatus> status(const std::string& name) const;
    enum class Listed : std::uint8_t { Requests, Certificates, Both };
    /// Returns requests, then certificates, each sorted by name. Skips files that cannot be read.
    base::Result<std::vector<CertificateStatus>> statuses(Listed listed) const;

private:
    AuthorityFolder(AuthorityPaths paths, std::vector<Certificate> bundle, PrivateKey key, Now now)
        : paths_(std::move(paths)),
          bundle_(std::move(bundle)),
          key_(std::move(key)),
          now_(std::move(now)) {}
    /// An authority of the bundle with its key.
    struct Signer {
        const Certificate* authority;
        PrivateKey key;
        bool root;  ///< true if it signs only authorities
    };
    std::vector<Signer> signers() const;
    std::optional<Certificate> authority_of_key(const std::string& path) const;
    base::Result<void> add_to_lists(std::vector<Crl>& lists,
                                    const std::vector<std::string>& serials) const;
    base::Result<std::string> take_serial() const;
    base::Result<void> note(const Certificate& certificate) const;
    base::Result<void> write(const std::string& path, const std::string& text,
                             std::uint32_t mode) const;
    base::Result<void> write_crls(const std::string& path, const std::vector<Crl>& crls) const;
    base::Result<std::size_t> own_crl_in(const std::vector<Crl>& crls,
                                         const std::string& path) const;
    base::Result<Draft> draft_of(const std::string& name, const Terms& terms) const;
    /// The following functions require the lock.
    base::Result<Certificate> issue_certificate(const std::string& name, Draft draft,
                                                evp_pkey_st* subject_key) const;
    base::Result<std::size_t> revoke_serials(std::vector<std::string> serials) const;
    base::Result<void> refuse_revoked(const Certificate& certificate) const;
    base::Result<void> note_revoked_key(const std::string& name) const;
    base::Result<void> forget_revoked_key(const std::string& name, evp_pkey_st* key) const;

    AuthorityPaths paths_;
    std::vector<Certificate> bundle_;
    std::size_t issuing_ = 0;
    PrivateKey key_;
    Now now_;
};

/// Formats a time like inventories and puppetserver's responses: "2026-11-22T22:46:37UTC".
std::string puppet_time(std::int64_t seconds);

}  // namespace bunraku::pki
