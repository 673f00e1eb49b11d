// SPDX-License-Identifier: Apache-2.0
// HTTP headers between our server and our agent, in addition to Puppet's protocol. With them, an
// unchanged run transfers neither facts nor catalog (docs/design/0106).
#pragma once

#include <string_view>

namespace bunraku::site {

/// From the agent, with all requests of a run: its transaction_uuid. The server answers all of them
/// from one version of the environment (docs/design/0400).
inline constexpr std::string_view kRunHeader = "Bunraku-Run";

/// From the agent: the fingerprint of the relevant facts. If the request contains the facts, any
/// text.
inline constexpr std::string_view kFactsHeader = "Bunraku-Facts";
/// From the server: the paths of those facts, percent-encoded and separated by spaces.
inline constexpr std::string_view kPathsHeader = "Bunraku-Fact-Paths";
/// From both: an identifier of the content of all plugins of the environment.
inline constexpr std::string_view kPluginsHeader = "Bunraku-Plugins";

/// From the server, with a catalog and with the status 304: the agent should ask for
/// /bunraku/v1/nodes/NODE/removals.
inline constexpr std::string_view kRemovalsHeader = "Bunraku-Removals";

/// From the agent, with a report that later reports may refer to: "new", or the name of an earlier
/// report that only differs in times and logs. From the server: the name of the report. The status
/// 412 means that the server does not know the name.
inline constexpr std::string_view kReportHeader = "Bunraku-As-Report";

}  // namespace bunraku::site
