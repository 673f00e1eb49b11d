// SPDX-License-Identifier: Apache-2.0
// HTTP headers between our server and our agent, in addition to Puppet's protocol. With them, an
// unchanged run transfers neither facts nor catalog (docs/design/0106).
#pragma once

#include <string_view>

namespace bunraku::site {

/// The agent sends its transaction_uuid with all requests of a run. The server answers all of them
/// from one version of the environment (docs/design/0400).
inline constexpr std::string_view kRunHeader = "Bunraku-Run";

/// The agent sends the fingerprint of the relevant facts. If the request contains the facts, the
/// value may be any text.
inline constexpr std::string_view kFactsHeader = "Bunraku-Facts";
/// The server sends the paths of those facts, percent-encoded and separated by spaces.
inline constexpr std::string_view kPathsHeader = "Bunraku-Fact-Paths";
/// Both sides send the identifier that they have for the content of all plugins of the environment.
inline constexpr std::string_view kPluginsHeader = "Bunraku-Plugins";

/// The server sends this header with a catalog or with the status 304 if the agent should request
/// /bunraku/v1/nodes/NODE/removals.
inline constexpr std::string_view kRemovalsHeader = "Bunraku-Removals";

/// The agent sends this header with a report to which later reports may refer. The value is "new",
/// or the name of an earlier report that differs only in times and logs. The server returns the
/// name of the report, or the status 412 if it does not know the name.
inline constexpr std::string_view kReportHeader = "Bunraku-As-Report";

}  // namespace bunraku::site
