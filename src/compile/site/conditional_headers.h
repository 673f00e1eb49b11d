// What a server and an agent of ours say to each other beyond Puppet's protocol, so that neither
// facts nor catalog travel while nothing changed (docs/design/0106).
#pragma once

#include <string_view>

namespace bunraku::site {

/// Of the agent: the fingerprint of the facts that count, or any text beside the facts themselves.
inline constexpr std::string_view kFactsHeader = "Bunraku-Facts";
/// Of the server: the paths of those facts, percent-encoded, with spaces between.
inline constexpr std::string_view kPathsHeader = "Bunraku-Fact-Paths";
/// Of both: what stands for all plugins of the environment.
inline constexpr std::string_view kPluginsHeader = "Bunraku-Plugins";

/// Of the agent, with a report that may be named again: "new", or the name of the report that this
/// one differs from in times and logs alone. Of the server: the name. 412: it knows none such.
inline constexpr std::string_view kReportHeader = "Bunraku-As-Report";

}  // namespace bunraku::site
