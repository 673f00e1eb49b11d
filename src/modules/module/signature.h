// SPDX-License-Identifier: Apache-2.0
// Signatures of releases: minisign files next to the archives, and rules about accepted signers.
// Verification is offline. The format is compatible with `minisign -V` in both directions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/codec/ed25519.h"
#include "modules/module/names.h"

namespace bunraku::module {

/// Suffix that is appended to the name of an archive.
inline constexpr std::string_view kSignatureSuffix = ".minisig";
/// Maximum size of a signature file.
inline constexpr std::uint64_t kMaxSignature = 16 << 10;

/// A public key in minisign's format.
struct PublicKey {
    std::string id;   ///< 8 bytes
    std::string key;  ///< 32 bytes
    /// Returns the key as one line: "RW...".
    std::string text() const;
    /// Returns the key number as minisign displays it.
    std::string number() const;
    /// Parses the line alone, or a key file with its comment.
    static base::Result<PublicKey> parse(std::string_view text);
    static PublicKey of(const codec::SigningKey& key);
    bool operator==(const PublicKey&) const = default;
};

/// Returns a signature file for `bytes`. The trusted comment is signed too.
std::string sign_minisign(const codec::SigningKey& key, std::string_view bytes,
                          std::string_view trusted_comment);

/// A parsed signature file.
struct Minisign {
    /// true if the signature is of the file's BLAKE2b hash instead of the file
    bool hashed = false;
    std::string key_id, signature, trusted_comment, comment_signature;
    static base::Result<Minisign> parse(std::string_view text);
    bool verifies(const PublicKey& key, std::string_view bytes) const;
};

/// Rules about trusted signers and required signatures. `who` is "*", an author, or a module
/// ("acme-web").
struct SignatureRules {
    struct Signer {
        std::string who;
        PublicKey key;
    };
    std::vector<Signer> signers;
    std::vector<std::string> required;

    bool empty() const { return signers.empty() && required.empty(); }
    /// Reports whether a rule applies to this module, so that its signature is needed.
    bool concerns(const ModuleName& module) const;
    /// Checks whether a release may be accepted with this signature file, which is empty if there
    /// is none. The error gives the reason. If no signature is required, an unknown signer is
    /// accepted, but an invalid signature is not.
    base::Result<void> check(const ReleaseName& release, std::string_view bytes,
                             std::string_view signature) const;
    /// Returns lines "signer\tWHO\tKEY" and "require_signed\tWHO". read_line() ignores other lines.
    std::string text() const;
    bool read_line(std::string_view line);
};

/// Reports whether `who` is "*", AUTHOR or AUTHOR-NAME.
bool valid_who(std::string_view who);

}  // namespace bunraku::module
