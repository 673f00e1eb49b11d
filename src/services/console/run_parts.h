// SPDX-License-Identifier: Apache-2.0
// Panels of the page of a run: where the time went, and what was skipped.
#pragma once

#include "core/base/result.h"
#include "services/console/html.h"
#include "services/console/run_analysis.h"
#include "services/console/visit.h"
#include "store/engine/runs.h"

namespace bunraku::console {

/// Writes the metrics of the category "time": config retrieval, types, and so on.
void write_times(Html& h, const Rows& metrics);
/// Writes the resources that took the longest.
void write_slowest(Html& h, const ResourceTimes& times);
/// Writes the chain of resources that decides how long a run takes at least, if the store still has
/// the catalog of the run.
base::Result<void> write_critical_path(Html& h, Visit& visit, const store::Run& run,
                                       const ResourceTimes& times);
/// Writes what was skipped, grouped by the resource whose failure was the reason.
void write_skipped(Html& h, const Rows& logs);

}  // namespace bunraku::console
