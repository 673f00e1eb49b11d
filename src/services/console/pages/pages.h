// SPDX-License-Identifier: Apache-2.0
// The pages, one file each. pages.cc has the table.
#pragma once

#include "services/console/page.h"

namespace bunraku::console {

base::Result<Response> account_page(Visit& visit);
base::Result<Response> certificates_page(Visit& visit);
base::Result<Response> certificate_page(Visit& visit);
base::Result<Response> certificate_action(Visit& visit);
base::Result<Response> events_page(Visit& visit);
base::Result<Response> change_page(Visit& visit);
base::Result<Response> change_json(Visit& visit);
base::Result<Response> change_markdown(Visit& visit);
base::Result<Response> change_action(Visit& visit);
base::Result<Response> code_page(Visit& visit);
base::Result<Response> code_action(Visit& visit);
base::Result<Response> definition_page(Visit& visit);
base::Result<Response> exports_page(Visit& visit);
base::Result<Response> exported_type_page(Visit& visit);
base::Result<Response> failure_page(Visit& visit);
base::Result<Response> failures_page(Visit& visit);
base::Result<Response> fleet_page(Visit& visit);
/// Writes what to do if the store has no nodes.
void write_no_nodes(Html& h, const Visit& visit);
base::Result<Response> modules_page(Visit& visit);
base::Result<Response> modules_action(Visit& visit);
base::Result<Response> module_page(Visit& visit);
base::Result<Response> node_page(Visit& visit);
base::Result<Response> node_catalog_page(Visit& visit);
base::Result<Response> node_catalogs_page(Visit& visit);
base::Result<Response> node_difference_page(Visit& visit);
base::Result<Response> node_exports_page(Visit& visit);
base::Result<Response> node_facts_page(Visit& visit);
base::Result<Response> node_packages_page(Visit& visit);
base::Result<Response> node_runs_page(Visit& visit);
base::Result<Response> nodes_page(Visit& visit);
base::Result<Response> package_page(Visit& visit);
base::Result<Response> packages_page(Visit& visit);
base::Result<Response> query_page(Visit& visit);
base::Result<Response> query_csv(Visit& visit);
base::Result<Response> query_json(Visit& visit);
base::Result<Response> rollouts_page(Visit& visit);
base::Result<Response> rollout_page(Visit& visit);
base::Result<Response> rollout_action(Visit& visit);
base::Result<Response> run_page(Visit& visit);
base::Result<Response> schema_json(Visit& visit);
base::Result<Response> search_page(Visit& visit);
base::Result<Response> server_page(Visit& visit);

}  // namespace bunraku::console
