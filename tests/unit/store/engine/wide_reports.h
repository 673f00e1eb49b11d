// SPDX-License-Identifier: Apache-2.0
// Stores reports in the tables of schema 10, for tests of migrations.
#pragma once

#include <string>

#include "store/db/database.h"

namespace bunraku::store {

/// Returns SQL that replaces the tables of reports by those of schema 10, with the same reports,
/// and drops the tables that schema 11 added. The triggers and indexes of `reports` are dropped.
std::string wide_reports(query::Backend backend);

}  // namespace bunraku::store
