// SPDX-License-Identifier: Apache-2.0
#include "services/console/pages/pages.h"

#include "services/console/node_filter.h"

namespace bunraku::console {

namespace {

constexpr Page kPages[] = {
    {"GET", "/", "by environment", Right::View, Scope::Filtered, fleet_page},
    {"GET", "/nodes", NodeFilter::kParameters, Right::View, Scope::Filtered, nodes_page},
    {"GET", "/nodes/{node}", "", Right::View, Scope::Filtered, node_page},
    {"GET", "/nodes/{node}/runs", "before", Right::View, Scope::Filtered, node_runs_page},
    {"GET", "/nodes/{node}/facts", "find at", Right::View, Scope::Filtered, node_facts_page},
    {"GET", "/nodes/{node}/catalog", "resource why to find in page", Right::View, Scope::Filtered,
     node_catalog_page},
    {"GET", "/nodes/{node}/catalogs", "", Right::View, Scope::Filtered, node_catalogs_page},
    {"GET", "/nodes/{node}/difference", "from to", Right::View, Scope::Filtered,
     node_difference_page},
    {"GET", "/nodes/{node}/exports", "", Right::View, Scope::Filtered, node_exports_page},
    {"GET", "/nodes/{node}/packages", "", Right::View, Scope::Filtered, node_packages_page},
    {"GET", "/runs/{run}", "log", Right::View, Scope::Filtered, run_page},
    {"GET", "/failures", "", Right::View, Scope::Filtered, failures_page},
    {"GET", "/failures/{kind}", "", Right::View, Scope::Filtered, failure_page},
    {"GET", "/change", "from to page", Right::View, Scope::Filtered, change_page},
    {"GET", "/change.json", "from to", Right::View, Scope::Filtered, change_json},
    {"GET", "/change.md", "from to", Right::View, Scope::Filtered, change_markdown},
    {"POST", "/change", "", Right::View, Scope::Filtered, change_action},
    {"GET", "/code", "environment kind find unused page", Right::View, Scope::Filtered, code_page},
    {"POST", "/code", "", Right::View, Scope::Filtered, code_action},
    {"GET", "/code/{kind}", "environment name", Right::View, Scope::Filtered, definition_page},
    {"GET", "/exports", "", Right::View, Scope::WholeFleet, exports_page},
    {"GET", "/exports/{type}", "show after node", Right::View, Scope::WholeFleet,
     exported_type_page},
    {"GET", "/modules", "find page", Right::View, Scope::Filtered, modules_page},
    {"POST", "/modules", "", Right::View, Scope::Filtered, modules_action},
    {"GET", "/modules/{module}", "version", Right::View, Scope::Filtered, module_page},
    {"GET", "/query", "q page", Right::View, Scope::WholeFleet, query_page},
    {"GET", "/query.csv", "q", Right::View, Scope::WholeFleet, query_csv},
    {"GET", "/query.json", "q", Right::View, Scope::WholeFleet, query_json},
    {"GET", "/packages", "find page", Right::View, Scope::WholeFleet, packages_page},
    {"GET", "/packages/{package}", "version", Right::View, Scope::WholeFleet, package_page},
    {"GET", "/certificates", "find page", Right::View, Scope::WholeFleet, certificates_page},
    {"GET", "/certificates/{name}", "confirm done", Right::View, Scope::WholeFleet,
     certificate_page},
    {"POST", "/certificates/{name}/{action}", "", Right::Operate, Scope::WholeFleet,
     certificate_action},
    {"GET", "/events", "last follow", Right::View, Scope::Filtered, events_page},
    {"GET", "/rollouts", "environment page", Right::View, Scope::Filtered, rollouts_page},
    {"GET", "/rollouts/{rollout}", "wave verdict page confirm done", Right::View, Scope::Filtered,
     rollout_page},
    {"POST", "/rollouts/{rollout}/{action}", "", Right::Operate, Scope::Filtered, rollout_action},
    {"GET", "/schema.json", "", Right::View, Scope::Filtered, schema_json},
    {"GET", "/search", "q", Right::View, Scope::Filtered, search_page},
    {"GET", "/server", "", Right::View, Scope::WholeFleet, server_page},
    {"GET", "/account", "", Right::View, Scope::Filtered, account_page},
};

}  // namespace

std::span<const Page> all_pages() { return kPages; }

}  // namespace bunraku::console
