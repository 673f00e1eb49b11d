// A small certificate authority in memory: self-signed certificates, and those that tests need.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "pki/certificate.h"

namespace bunraku::pki {

/// A certificate and its key.
struct Identity {
    Certificate certificate;
    PrivateKey key;
};

/// A new P-256 key.
base::Result<PrivateKey> make_key();

/// What a certificate is to say.
struct Subject {
    std::string common_name;
    std::vector<std::string> alternative_names;  ///< "DNS:x", "IP:127.0.0.1"
    int days = 5 * 365;
    /// OIDs and texts, which are signed as UTF8String.
    std::vector<std::pair<std::string, std::string>> extensions;
};

/// A certificate that vouches for itself, for servers that have no authority.
base::Result<Identity> make_self_signed(const Subject& subject);

/// Signs with a key of its own.
class Authority {
public:
    /// "Puppet CA: NAME" and the like.
    static base::Result<Authority> create(const std::string& common_name);
    base::Result<Identity> issue(const Subject& subject);
    /// The next crl() has it.
    void revoke(const Certificate& certificate);
    base::Result<std::string> crl_pem() const;
    const Certificate& certificate() const { return self_.certificate; }

private:
    explicit Authority(Identity self) : self_(std::move(self)) {}
    Identity self_;
    std::vector<Certificate> revoked_;
};

}  // namespace bunraku::pki
