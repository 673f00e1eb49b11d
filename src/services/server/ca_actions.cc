// SPDX-License-Identifier: Apache-2.0
#include "services/server/ca_actions.h"

#include <fmt/format.h>

#include "core/base/number.h"
#include "services/server/ca_client.h"

namespace bunraku::server {

int ca_wrong(const CaInput& input, const std::vector<std::string>& lines) {
    fmt::print(input.err, "Error:\n");
    for (const auto& line : lines) fmt::print(input.err, "{}\n", line);
    return 1;
}

std::optional<std::int64_t> ca_ttl(const CaInput& input, const std::string& text) {
    std::string_view number = text;
    std::int64_t unit = 1;
    if (!number.empty()) {
        switch (number.back()) {
            case 'y': unit = std::int64_t{365} * 86400; break;
            case 'd': unit = 86400; break;
            case 'h': unit = 3600; break;
            case 'm': unit = 60; break;
            default: break;
        }
        if (unit != 1 || number.back() == 's') number.remove_suffix(1);
    }
    auto value = base::parse_integer<std::int64_t>(number);
    if (value && *value >= 0 && *value <= 10'000'000'000 && number[0] != '+') return *value * unit;
    ca_wrong(input, {fmt::format(" '{}' is an invalid ttl value", text),
                     "Value should match regex \"^(\\d+)(s|m|h|d|y)?$\""});
    return std::nullopt;
}

base::Result<bool> ca_must_stop(const CaInput& input) {
    if (BUNRAKU_TRY(ca_server_running(input.settings)) != CaServer::Foreign) return false;
    fmt::print(input.err,
               "Puppetserver service is running. Please stop it before attempting to run this "
               "command.\n");
    return true;
}

}  // namespace bunraku::server
