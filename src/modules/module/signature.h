// Signatures of releases: minisign's files beside the archives, and who may sign what. Verified
// offline; `minisign -V` takes what is signed here, and the other way round.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/codec/ed25519.h"
#include "modules/module/names.h"

namespace bunraku::module {

/// What stands behind an archive's name.
inline constexpr std::string_view kSignatureSuffix = ".minisig";
/// No signature is longer.
inline constexpr std::uint64_t kMaxSignature = 16 << 10;

/// A public key of minisign's.
struct PublicKey {
    std::string id;   ///< 8 bytes
    std::string key;  ///< 32 bytes
    /// "RW...": one line.
    std::string text() const;
    /// The key's number as minisign shows it.
    std::string number() const;
    /// The line alone, or the file with its comment.
    static base::Result<PublicKey> parse(std::string_view text);
    static PublicKey of(const codec::SigningKey& key);
    bool operator==(const PublicKey&) const = default;
};

/// A signature file for `bytes`. The trusted comment is signed too.
std::string sign_minisign(const codec::SigningKey& key, std::string_view bytes,
                          std::string_view trusted_comment);

/// A signature file, taken apart.
struct Minisign {
    bool hashed = false;  ///< BLAKE2b of the file was signed, else the file
    std::string key_id, signature, trusted_comment, comment_signature;
    static base::Result<Minisign> parse(std::string_view text);
    bool verifies(const PublicKey& key, std::string_view bytes) const;
};

/// Who may sign, and what must be signed. `who`: "*", an author or a module ("acme-web").
struct SignatureRules {
    struct Signer {
        std::string who;
        PublicKey key;
    };
    std::vector<Signer> signers;
    std::vector<std::string> required;

    bool empty() const { return signers.empty() && required.empty(); }
    /// Is a signature of any interest for this module?
    bool concerns(const ModuleName& module) const;
    /// May a release be taken with this signature file (empty: it has none)? The error says why
    /// not. What need not be signed may have a signature of somebody unknown, never a wrong one.
    base::Result<void> check(const ReleaseName& release, std::string_view bytes,
                             std::string_view signature) const;
    /// Lines "signer\tWHO\tKEY" and "require_signed\tWHO"; others are left alone.
    std::string text() const;
    bool read_line(std::string_view line);
};

/// "*", AUTHOR or AUTHOR-NAME.
bool valid_who(std::string_view who);

}  // namespace bunraku::module
