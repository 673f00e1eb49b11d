// SPDX-License-Identifier: Apache-2.0
// What pages show of a job: its progress with a button that stops it, or how it ended with a button
// that starts it again.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "services/console/html.h"
#include "services/console/jobs.h"
#include "services/console/visit.h"

namespace bunraku::console {

/// How often pages of an unfinished job are loaded again.
inline constexpr int kPollSeconds = 2;

/// The form of the buttons.
struct JobForm {
    Url target;
    std::vector<std::pair<std::string_view, std::string>> fields = {};
    std::string_view unit = "nodes";  ///< what the job examines
};
/// Writes the line of a job. `done` is shown if it has a result.
void write_job(Html& h, const Visit& visit, const Job& job, const JobForm& form,
               const Markup& done);
/// Opens the part of a page that depends on a job, which the browser loads again until the job has
/// ended. `id` identifies it within the page.
[[nodiscard]] Html::Element open_job_part(Html& h, std::string_view id, const Job& job);

}  // namespace bunraku::console
