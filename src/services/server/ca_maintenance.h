// SPDX-License-Identifier: Apache-2.0
// Periodic maintenance of a certificate authority, so that no part of it expires unnoticed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/settings.h"
#include "services/server/ca_settings.h"

namespace bunraku::server {

struct MaintenanceResult {
    std::size_t lists = 0;              ///< number of renewed lists
    bool server_certificate = false;    ///< true if it was renewed
    bool rolled = false;                ///< true if the folder must be reopened
    std::vector<std::string> done;      ///< log lines
    std::vector<std::string> warnings;  ///< items that expire soon and need an administrator
};

/// Maintains an authority. Renews revocation lists whose keys are available in the second half of
/// their lifetime. Renews this server's certificate in the last third of its lifetime. Warns about
/// items that expire within 90 days. Unless an administrator does it manually, creates the next
/// authority in the last fifth of the present one's lifetime, and signs with the next one in the
/// last tenth. Removes the previous authority when no node has a certificate of it any more, or
/// after it has expired.
base::Result<MaintenanceResult> maintain(const config::Settings& settings, const CaSettings& ca,
                                         const pki::AuthorityFolder& authority, std::int64_t now);

}  // namespace bunraku::server
