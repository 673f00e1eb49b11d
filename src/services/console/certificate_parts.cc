// SPDX-License-Identifier: Apache-2.0
#include "services/console/certificate_parts.h"

#include "services/console/parts.h"

namespace bunraku::console {

void certificate_word(Html& h, const pki::CertificateStatus& status, std::int64_t now_ms) {
    constexpr std::int64_t kSoonMs = 30LL * 24 * 3600 * 1000;
    if (!status.certificate) return state_word(h, State::Noop, "waiting");
    const auto expires = status.certificate->not_after() * 1000;
    if (status.state == pki::CertificateStatus::State::Revoked) {
        state_word(h, State::Never, "revoked");
    } else if (expires <= now_ms) {
        state_word(h, State::Failed, "expired");
    } else if (expires - now_ms < kSoonMs) {
        state_word(h, State::Silent, "expires soon");
    } else {
        state_word(h, State::Unchanged, "signed");
    }
}

}  // namespace bunraku::console
