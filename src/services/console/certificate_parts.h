// SPDX-License-Identifier: Apache-2.0
// How pages show the state of a certificate.
#pragma once

#include <cstdint>

#include "net/pki/authority_folder.h"
#include "services/console/html.h"

namespace bunraku::console {

/// Writes "signed", "expires soon", "expired", "revoked" or "waiting" with its mark.
void certificate_word(Html& h, const pki::CertificateStatus& status, std::int64_t now_ms);

}  // namespace bunraku::console
