// What a certificate authority needs now and then, so that nothing of it ends unnoticed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/settings.h"
#include "services/server/ca_settings.h"

namespace bunraku::server {

struct MaintenanceResult {
    std::size_t lists = 0;              ///< signed anew
    bool server_certificate = false;    ///< renewed
    bool rolled = false;                ///< the folder is to be opened anew
    std::vector<std::string> done;      ///< lines for the log
    std::vector<std::string> warnings;  ///< what will end, and nobody here can help it
};

/// Signs lists anew whose keys are here and that are in the second half of their time, renews this
/// server's certificate in the last third of its life, and says what ends within 90 days. Where
/// nobody does it by hand, the next authority stands beside the present one in the last fifth of
/// its life, signs in the last tenth, and the one before goes when nobody has a certificate of it
/// any more or it has ended.
base::Result<MaintenanceResult> maintain(const config::Settings& settings, const CaSettings& ca,
                                         const pki::AuthorityFolder& authority, std::int64_t now);

}  // namespace bunraku::server
