// SPDX-License-Identifier: Apache-2.0
// The certificate authority of this process, for other roles.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "net/pki/authority_folder.h"

namespace bunraku::server {

/// Errors have ENOENT as code if there is no such request or certificate. Thread-safe.
class CaAccess {
public:
    virtual ~CaAccess() = default;
    virtual base::Result<std::vector<pki::CertificateStatus>> waiting() = 0;
    /// Returns signed and revoked certificates.
    virtual base::Result<std::vector<pki::CertificateStatus>> issued() = 0;
    virtual base::Result<std::optional<pki::CertificateStatus>> find(const std::string& name) = 0;
    /// Signs the waiting request if it has this SHA-256 fingerprint.
    virtual base::Result<void> sign_one(const std::string& name,
                                        const std::string& fingerprint) = 0;
    virtual base::Result<void> revoke_one(const std::string& name) = 0;
    /// Revokes the certificate and deletes it, or deletes a waiting request.
    virtual base::Result<void> clean_one(const std::string& name) = 0;
};

}  // namespace bunraku::server
