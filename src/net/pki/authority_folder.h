// A certificate authority as puppetserver keeps it on disk. Either program can go on with what the
// other has left.
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

/// Where the parts are; the settings of puppet.conf may take each elsewhere.
struct AuthorityPaths {
    std::string cadir;
    std::string cacert, cakey, capub, cacrl;    ///< ca_crt.pem, ca_key.pem, ca_pub.pem, ca_crl.pem
    std::string inventory, serial;              ///< inventory.txt, serial
    std::string requests, signed_certificates;  ///< requests/, signed/
    /// The usual names below `cadir`.
    static AuthorityPaths in(const std::string& cadir);
    std::string root_key() const { return cadir + "/root_key.pem"; }
    std::string infra_crl() const { return cadir + "/infra_crl.pem"; }
    std::string infra_inventory() const { return cadir + "/infra_inventory.txt"; }
    std::string infra_serials() const { return cadir + "/infra_serials"; }
    /// Of an authority that does not sign yet, and of one that does no more (roll-over).
    std::string next_key() const { return cadir + "/next_key.pem"; }
    std::string previous_key() const { return cadir + "/previous_key.pem"; }
    /// Names and digests of keys whose certificates were revoked.
    std::string revoked_keys() const { return cadir + "/revoked_keys"; }
    std::string lock() const { return cadir + "/.lock"; }
    std::string request_of(const std::string& name) const { return requests + "/" + name + ".pem"; }
    std::string certificate_of(const std::string& name) const {
        return signed_certificates + "/" + name + ".pem";
    }
};

/// puppetserver's limit: 50 years of 365 days.
inline constexpr std::int64_t kLongestTtl = 1576800000;

/// What is known of a signed certificate or a request.
struct CertificateStatus {
    enum class State : std::uint8_t { Requested, Signed, Revoked } state = State::Requested;
    std::string name;
    std::optional<Certificate> certificate;
    std::optional<Request> request;
};

/// Safe for threads, and for processes beside each other: what writes holds the lock file. Every
/// file is replaced as a whole; a serial is gone for good before it is used.
class AuthorityFolder {
public:
    /// Seconds since the epoch.
    using Now = std::function<std::int64_t()>;

    /// Of the files that an authority cannot be without, those that are there and those that are
    /// not.
    struct Inventory {
        std::vector<std::string> found, missing;
    };
    static Inventory look(const AuthorityPaths& paths);

    struct NewAuthority {
        std::string name;  ///< the common name
        std::int64_t ttl = 5 * 365 * 86400;
        /// With one: it signs the issuing authority, as `puppetserver ca setup` makes it, and its
        /// key stays in root_key.pem. Empty: the issuing authority vouches for itself.
        std::string root_name;
        std::function<base::Result<PrivateKey>()> key = make_key;
    };
    /// Where nothing is yet.
    static base::Result<AuthorityFolder> create(const AuthorityPaths& paths,
                                                const NewAuthority& what, Now now);
    /// From elsewhere: issuing authority, those above it, their lists. They were checked.
    static base::Result<AuthorityFolder> create(const AuthorityPaths& paths,
                                                const std::vector<Certificate>& bundle,
                                                const PrivateKey& key, const std::vector<Crl>& crls,
                                                Now now);
    /// Fails where files are missing or do not belong together.
    static base::Result<AuthorityFolder> open(const AuthorityPaths& paths, Now now);

    const AuthorityPaths& paths() const { return paths_; }
    /// The issuing one.
    const Certificate& certificate() const { return bundle_[issuing_]; }
    const std::vector<Certificate>& bundle() const { return bundle_; }
    const PrivateKey& key() const { return key_; }

    base::Result<std::vector<Crl>> crls() const;
    /// The list of the issuing authority among them.
    base::Result<Crl> own_crl() const;

    bool has_certificate(const std::string& name) const;
    bool has_request(const std::string& name) const;
    /// Fails with ENOENT where there is none.
    base::Result<Certificate> read_certificate(const std::string& name) const;
    base::Result<Request> read_request(const std::string& name) const;
    base::Result<std::string> certificate_text(const std::string& name) const;
    base::Result<std::string> request_text(const std::string& name) const;

    base::Result<void> save_request(const std::string& name, const Request& request) const;
    /// False: there was none.
    base::Result<bool> delete_request(const std::string& name) const;
    base::Result<bool> delete_certificate(const std::string& name) const;

    /// What a certificate is to have beyond its name and key.
    struct Terms {
        std::int64_t ttl = 5 * 365 * 86400;
        std::vector<std::string> alternative_names;                   ///< the name itself is added
        std::vector<std::pair<std::string, std::string>> extensions;  ///< OIDs and texts
    };
    /// Signs, notes it in the inventory, puts it into signed/ and drops the request of that name.
    base::Result<Certificate> sign(const std::string& name, evp_pkey_st* subject_key,
                                   const Terms& terms) const;
    /// Signs these bytes, whatever request waits in the folder by now; drops that one only if it is
    /// the same.
    base::Result<Certificate> sign(const std::string& name, const Request& request,
                                   std::int64_t ttl) const;
    /// The terms that a request asks for.
    static Terms terms_of(const Request& request, std::int64_t ttl);
    /// A new one that says what the old said. The old stays good. Fails with EACCES if the old one
    /// is revoked, or any certificate of its name and key was; under the lock, so that nobody who
    /// is being revoked renews.
    base::Result<Certificate> renew(const Certificate& old, std::int64_t ttl) const;

    /// What becomes of the files of certificates that are revoked.
    enum class Files : std::uint8_t { Keep, Delete };
    /// Revokes all certificates of these names that are still good, and their keys for renewal;
    /// returns how many were not revoked before. Fails with ENOENT if a name never had one that is
    /// still good.
    base::Result<std::size_t> revoke(const std::vector<std::string>& names,
                                     Files files = Files::Keep) const;
    /// Whether there is something to revoke: a file in signed/, or a certificate that the inventory
    /// knows, is still good and is not revoked.
    bool can_revoke(const std::string& name) const;
    /// Takes over newer lists of the authorities above ours. Errors are puppetserver's.
    base::Result<void> update_crls(const std::vector<Crl>& newer) const;
    /// Signs lists anew whose keys are here and that are in the second half of their time (`all`:
    /// whatever their time). How many.
    base::Result<std::size_t> refresh_crls(bool all = false) const;
    /// Drops what is twice in our list; how many.
    base::Result<std::size_t> prune_crl() const;
    /// Drops these serials (hexadecimal) from our list; how many were in it.
    base::Result<std::size_t> prune_crl(const std::vector<std::string>& serials) const;
    /// Serials in hexadecimal of what the inventory knows of `name` (empty: of anybody), those that
    /// have ended or all.
    std::vector<std::string> inventory_serials(const std::string& name, bool ended) const;

    // A roll-over: the next authority stands beside the one that signs until everybody knows it,
    // then signs; the one before goes when nobody has a certificate of it.
    /// The next authority, if there is one; and the one before.
    std::optional<Certificate> next_authority() const;
    std::optional<Certificate> previous_authority() const;
    /// An authority of ours, whether it signs, will or did.
    bool is_ours(const Certificate& authority) const;
    /// Makes the next authority and puts it and its list beside ours. Where ours was signed by an
    /// authority whose key is here, that signs the next one too.
    base::Result<Certificate> begin_rollover(const NewAuthority& what) const;
    /// From now on the next authority signs; open() the folder anew.
    base::Result<void> switch_authority() const;
    /// Names whose certificates are good and the previous authority's.
    base::Result<std::vector<std::string>> holders_of_previous() const;
    /// Drops the previous authority, its list and its key; open() the folder anew.
    base::Result<void> end_rollover() const;
    /// An empty list for infra_crl.pem, with those of the authorities above.
    base::Result<void> make_infra_crl() const;
    /// infra_serials of infra_inventory.txt; names without a certificate are given back.
    base::Result<std::vector<std::string>> write_infra_serials() const;

    base::Result<CertificateStatus> status(const std::string& name) const;
    /// Requests, then certificates, each by name. What cannot be read is left out.
    base::Result<std::vector<CertificateStatus>> statuses(bool requests, bool certificates) const;

private:
    AuthorityFolder(AuthorityPaths paths, std::vector<Certificate> bundle, PrivateKey key, Now now)
        : paths_(std::move(paths)),
          bundle_(std::move(bundle)),
          key_(std::move(key)),
          now_(std::move(now)) {}
    /// An authority of the bundle and its key.
    struct Signer {
        const Certificate* authority;
        PrivateKey key;
        bool root;  ///< signs authorities alone
    };
    std::vector<Signer> signers() const;
    std::optional<Certificate> authority_of_key(const std::string& path) const;
    base::Result<void> add_to_lists(std::vector<Crl>& lists,
                                    const std::vector<std::string>& serials) const;
    std::vector<std::string> serials_of(const std::string& name) const;
    base::Result<std::string> take_serial() const;
    base::Result<void> note(const Certificate& certificate) const;
    base::Result<void> write(const std::string& path, const std::string& text,
                             std::uint32_t mode) const;
    base::Result<void> write_crls(const std::string& path, const std::vector<Crl>& crls) const;
    base::Result<std::size_t> own_crl_in(const std::vector<Crl>& crls,
                                         const std::string& path) const;
    base::Result<Draft> draft_of(const std::string& name, const Terms& terms) const;
    /// These want the lock held.
    base::Result<Certificate> keep(const std::string& name, Draft draft,
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

/// "2026-11-22T22:46:37UTC", as inventories and puppetserver's answers write times.
std::string puppet_time(std::int64_t seconds);

}  // namespace bunraku::pki
