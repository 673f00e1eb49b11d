// SPDX-License-Identifier: Apache-2.0
#include "services/console/job_parts.h"

#include <algorithm>
#include <fmt/format.h>

#include "services/console/format.h"
#include "services/console/parts.h"

namespace bunraku::console {

namespace {

void write_button(Html& h, const Visit& visit, const JobForm& to, std::string_view action,
                  std::string_view label) {
    const auto form = h.in("form", {{"method", "post"}, {"action", to.target}});
    visit.csrf_field(h);
    for (const auto& [name, value] : to.fields)
        h.empty("input", {{"type", "hidden"}, {"name", name}, {"value", value}});
    h.leaf("button", {{"name", "action"}, {"value", action}}, label);
}

std::string number(std::size_t n) { return number_text(static_cast<std::int64_t>(n)); }

}  // namespace

void write_job(Html& h, const Visit& visit, const Job& job, const JobForm& form,
               const Markup& done) {
    const auto line = h.in("div", {{"class", "in progress"}});
    if (!job.ended()) {
        const auto all = std::max(job.all(), std::size_t{1});
        h.empty("progress",
                {{"max", all}, {"value", std::min(job.done(), all)}, {"aria-label", "Progress"}});
        h.leaf("span", {{"role", "status"}},
               job.state() == Job::State::Waiting
                   ? "Waits until the server has finished other work."
                   : fmt::format("{} of {} {} examined", number(job.done()), number(job.all()),
                                 form.unit));
        return write_button(h, visit, form, "stop", "Stop");
    }
    if (job.state() == Job::State::Done) {
        h.raw(done);
    } else {
        state_mark(h, State::Failed);
        h.leaf("b", job.state() == Job::State::Failed ? "Failed." : "Stopped.");
        const auto why = h.in("span");
        h.foreign(job.problem());
    }
    {
        const auto when = h.in("span", {{"class", "m"}});
        h.text("computed ");
        time_ago(h, job.ended_ms(), visit.now_ms);
    }
    write_button(h, visit, form, "again", "Compute again");
}

Html::Element open_job_part(Html& h, std::string_view id, const Job& job) {
    return h.in("div",
                {{"id", id}, {"data-poll", std::to_string(kPollSeconds * 1000), !job.ended()}});
}

}  // namespace bunraku::console
