// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/leftovers.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace bunraku::rollout {

namespace {

/// How a resource of a type is removed. "{}" is the quoted title.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kRemovals{{
    {"File", "rm {}"},
    {"Package", "puppet resource package {} ensure=absent"},
    {"Service", "systemctl disable --now {}"},
    {"Cron", "puppet resource cron {} ensure=absent"},
    {"User", "userdel {}"},
    {"Group", "groupdel {}"},
    {"Host", "puppet resource host {} ensure=absent"},
}};

/// Types whose changed parameters stay, because no catalog mentions the old value.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kOneWay{{
    {"Package", "the package keeps the version that was installed"},
    {"Exec", "the command has run"},
    {"Service", "the service was restarted or stopped"},
}};

std::string quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'') {
            out += "'\\''";
        } else {
            out += c;
        }
    }
    return out + "'";
}

/// Splits "File[/etc/motd]".
std::pair<std::string_view, std::string_view> parts_of(std::string_view reference) {
    const auto open = reference.find('[');
    if (open == std::string_view::npos || !reference.ends_with(']')) return {reference, {}};
    return {reference.substr(0, open), reference.substr(open + 1, reference.size() - open - 2)};
}

bool was_created(const std::vector<JudgedRun>& runs, std::string_view resource) {
    return std::ranges::any_of(runs, [&](const JudgedRun& run) {
        return std::ranges::any_of(run.events, [&](const JudgedEvent& event) {
            return event.resource == resource && event.property == "ensure" && !event.failed &&
                   !event.noop && !event.corrective;
        });
    });
}

bool was_changed(const std::vector<JudgedRun>& runs, std::string_view resource) {
    return std::ranges::any_of(runs, [&](const JudgedRun& run) {
        return std::ranges::any_of(run.events, [&](const JudgedEvent& event) {
            return event.resource == resource && !event.failed && !event.noop;
        });
    });
}

}  // namespace

std::string removal_command(std::string_view type, std::string_view title) {
    const auto at = std::ranges::find(kRemovals, type, &decltype(kRemovals)::value_type::first);
    if (at == kRemovals.end()) return {};
    std::string out(at->second);
    // A title that begins with "-" must not be read as an option.
    std::string argument = quoted(title);
    if (title.starts_with('-')) argument = "-- " + argument;
    return out.replace(out.find("{}"), 2, argument);
}

std::vector<Leftover> leftovers(const Plan& plan, const PlannedNode& node,
                                const std::vector<JudgedRun>& runs) {
    std::vector<Leftover> out;
    for (const auto index : node.groups) {
        const PlannedGroup& group = plan.groups[index];
        const std::string reference = with_identity(group.reference, node);
        const auto [type, title] = parts_of(reference);
        if (group.kind == "added") {
            const bool created = was_created(runs, reference);
            out.push_back({.node = node.name,
                           .resource = reference,
                           .what = created ? "the new version created it"
                                           : "only the new version declares it",
                           .created = created,
                           .command = removal_command(type, title)});
        } else if (group.kind == "plugins") {
            out.push_back({.node = node.name,
                           .resource = reference,
                           .what = "custom facts, types and providers have run",
                           .command = {}});
        } else if (was_changed(runs, reference)) {
            const auto at = std::ranges::find(kOneWay, type, &decltype(kOneWay)::value_type::first);
            if (at != kOneWay.end())
                out.push_back({.node = node.name,
                               .resource = reference,
                               .what = std::string(at->second),
                               .command = {}});
        } else if (group.kind == "removed" && was_created(runs, reference)) {
            out.push_back({.node = node.name,
                           .resource = reference,
                           .what = "it was removed or purged",
                           .command = {}});
        }
    }
    std::ranges::sort(out, {}, &Leftover::resource);
    const auto [first, last] = std::ranges::unique(out, {}, &Leftover::resource);
    out.erase(first, last);
    return out;
}

}  // namespace bunraku::rollout
