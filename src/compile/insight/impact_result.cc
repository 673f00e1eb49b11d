// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/impact_result.h"

#include <algorithm>
#include <fmt/format.h>

#include "compile/insight/fleet_selection.h"
#include "compile/insight/report.h"

namespace bunraku::insight {

namespace {

bool matters(const std::string& condition, const Group& group) {
    const Kind kind = group.change.kind;
    const bool error = kind == Kind::Conflict || kind == Kind::Fails ||
                       kind == Kind::FailsOtherwise || kind == Kind::Finding;
    if (condition == "errors") return error;
    if (condition == "changes") return kind != Kind::FailsAsBefore;
    const auto& c = group.change;
    return !c.reference.empty() &&
           (fits(condition, c.reference) || fits(condition, c.reference + "::" + c.parameter));
}

}  // namespace

std::string impact_for_file(const std::string& path, const Impact& impact, int exit_code,
                            std::string_view version) {
    if (path.ends_with(".md")) return impact_markdown(impact);
    if (path.ends_with(".sarif")) return impact_sarif(impact, version);
    if (path.ends_with(".txt")) return impact_text(impact, {.whole = true, .exit_code = exit_code});
    return impact_json(impact);
}

void add_unjudged(Impact& impact,
                  const std::vector<std::pair<std::string, std::string>>& unjudged) {
    for (const auto& [name, why] : unjudged)
        impact.nodes.push_back(
            {.name = name, .verdict = Verdict::Unjudged, .why = why, .groups = {}});
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
    for (const auto& node : impact.nodes) {
        if (node.verdict != Verdict::Unjudged) continue;
        auto it = std::ranges::find(reasons, node.why, &decltype(reasons)::value_type::first);
        if (it == reasons.end()) it = reasons.insert(it, {node.why, {}});
        it->second.push_back(node.name);
    }
    constexpr std::size_t kReasons = 10, kNamed = 4;
    for (std::size_t i = 0; i < std::min(reasons.size(), kReasons); ++i) {
        const auto& [why, names] = reasons[i];
        if (names.size() == 1) {
            impact.notes.push_back(fmt::format("{} was not judged: {}", names[0], why));
            continue;
        }
        const auto named = std::min(names.size(), kNamed);
        const std::vector<std::string> first(names.begin(),
                                             names.begin() + static_cast<std::ptrdiff_t>(named));
        impact.notes.push_back(fmt::format(
            "{} nodes were not judged ({}{}): {}", names.size(), fmt::join(first, ", "),
            names.size() > named ? fmt::format(" and {} more", names.size() - named) : "", why));
    }
}

int impact_exit_code(const Impact& impact, const std::vector<std::string>& fail_on) {
    for (const auto& condition : fail_on) {
        if (std::ranges::any_of(impact.groups,
                                [&](const auto& g) { return matters(condition, g); }))
            return 2;
    }
    return impact.count(Verdict::Unjudged) > 0 ? 3 : 0;
}

}  // namespace bunraku::insight
