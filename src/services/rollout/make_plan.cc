// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/make_plan.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>

#include "compile/insight/fleet_selection.h"
#include "compile/insight/folded_names.h"
#include "compile/insight/node_identity.h"
#include "compile/insight/report.h"
#include "core/base/text.h"
#include "core/value/rich_data.h"
#include "resources/facts/facts.h"
#include "services/rollout/waves.h"

namespace bunraku::rollout {

using base::Result;
using insight::Impact;

namespace {

/// Longer values are cut in the plan, which people read.
constexpr std::size_t kMostText = 4000;

/// A node without a report for this time may be switched off. Agents run at least once a day.
constexpr std::chrono::hours kSwitchedOff{25};

std::string shortened(const std::string& text) {
    return text.size() <= kMostText ? text : text.substr(0, kMostText) + "...";
}

PlannedGroup planned(const insight::Group& group) {
    const insight::Change& change = group.change;
    PlannedGroup out{.kind = std::string(insight::kind_name(change.kind)),
                     .reference = change.reference,
                     .parameter = change.parameter,
                     .file = change.file,
                     .before = shortened(change.before),
                     .after = shortened(change.after),
                     .because = {}};
    for (const insight::Cause& cause : group.because) out.because.push_back(cause.text());
    return out;
}

/// Returns the value of a fact such as "facts.os.family" as text.
std::string fact_text(const value::Value& facts, std::string_view name) {
    if (name.starts_with("facts.")) name.remove_prefix(6);
    const value::Value found = facts::dig(facts, std::string(name));
    return found.is_string() ? std::string(found.as_string()) : value::to_json(found);
}

/// Names the kind of a change. Changed plugins may work with one system and fail with another.
std::string kind_of(const PlannedGroup& group, const value::Value& facts) {
    if (group.kind == "plugins") {
        return fmt::format("plugins {} on {} with agent {}", group.reference,
                           fact_text(facts, "os.family"), fact_text(facts, "puppetversion"));
    }
    const auto type = group.reference.substr(0, group.reference.find('['));
    std::string out = group.kind;
    for (const std::string& part : {type, group.parameter, group.file})
        if (!part.empty()) out += " " + part;
    return out;
}

/// Collects the values behind the placeholders in the node's groups.
void add_identity(PlannedNode& node, const Plan& plan, const value::Value& facts) {
    std::string texts;
    for (const auto group : node.groups) {
        const std::string& reference = plan.groups[group].reference;
        if (reference.find("%{") != reference.npos) texts += reference + "\n";
    }
    if (texts.empty()) return;
    const insight::NodeIdentity identity(node.name, facts);
    for (const auto& [text, placeholder] : identity.parts())
        if (texts.find(placeholder) != texts.npos) node.identity.emplace(placeholder, text);
}

class Planner {
public:
    Planner(Plan& plan, const Impact& impact, std::span<const site::FleetNode> nodes,
            const std::map<std::string, std::int64_t>& contacts)
        : plan_(plan), impact_(impact), contacts_(contacts) {
        for (const site::FleetNode& node : nodes) facts_.emplace(node.name, &node);
        for (const auto& [name, time] : contacts) last_contact_ = std::max(last_contact_, time);
    }

    void run() {
        for (const insight::Group& group : impact_.groups) plan_.groups.push_back(planned(group));
        plan_.notes = impact_.notes;
        numbers_.resize(plan_.groups.size());
        for (const insight::EvaluatedNode& node : impact_.nodes) add(node);
        std::ranges::sort(plan_.nodes, {}, &PlannedNode::name);
        distribute();
    }

private:
    bool excluded(const std::string& name) const {
        return std::ranges::any_of(plan_.rules.exclude, [&](const std::string& pattern) {
            return insight::fits(pattern, name);
        });
    }

    void add(const insight::EvaluatedNode& node) {
        if (excluded(node.name))
            return plan_.excluded.push_back({node.name, "rollout.yaml excludes it"});
        PlannedNode out{.name = node.name,
                        .verdict = std::string(insight::verdict_name(node.verdict)),
                        .groups = node.groups,
                        .identity = {}};
        if (node.verdict == insight::Verdict::Unjudged) {
            plan_.unpredictable.push_back({node.name, node.why});
        } else if (node.varies) {
            plan_.unpredictable.push_back(
                {node.name, "its catalog differs from compile to compile"});
        }
        plan_.nodes.push_back(std::move(out));
    }

    /// Returns for how long before the last contact with any node this one was not heard of. The
    /// clock of this machine does not count, because the store may be a copy.
    std::chrono::milliseconds quiet_time(const std::string& name) const {
        const auto at = contacts_.find(name);
        return std::chrono::milliseconds(at == contacts_.end() ? 0 : last_contact_ - at->second);
    }

    void distribute() {
        std::vector<Candidate> candidates;
        std::vector<std::size_t> touched;
        for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
            PlannedNode& node = plan_.nodes[i];
            base::Arena arena;
            const auto known = facts_.find(node.name);
            const auto facts = known == facts_.end()
                                   ? value::Value()
                                   : site::with_facts(arena, *known->second).facts;
            add_identity(node, plan_, facts);
            if (!node.touched()) continue;
            const std::chrono::seconds late(plan_.rules.silent_after_s);
            Candidate one{.name = node.name,
                          .kinds = {},
                          .stratum = {},
                          .late = quiet_time(node.name) > late,
                          .silent = quiet_time(node.name) >
                                    std::max<std::chrono::seconds>(late, kSwitchedOff)};
            for (const auto group : node.groups) one.kinds.push_back(kind_number(group, facts));
            for (const std::string& name : plan_.rules.spread)
                one.stratum += fact_text(facts, name) + "\n";
            candidates.push_back(std::move(one));
            touched.push_back(i);
        }
        const std::string seed = plan_.from.version + " " + plan_.to.version;
        const auto canaries = choose_canaries(candidates, plan_.rules, seed);
        std::vector<std::string> silent;
        for (const Candidate& one : candidates)
            if (one.silent) silent.push_back(one.name);
        if (!silent.empty()) {
            plan_.notes.push_back(
                fmt::format("not chosen as canaries, because they have not reported lately: {}",
                            insight::folded_names(silent, 8)));
        }
        for (const auto kind : uncovered_kinds(candidates, canaries))
            plan_.uncovered.push_back(names_[kind]);
        std::ranges::sort(plan_.uncovered);
        const Waves waves = make_waves(candidates, canaries, plan_.rules, seed);
        plan_.waves = waves.names;
        for (std::size_t i = 0; i < touched.size(); ++i)
            plan_.nodes[touched[i]].wave = waves.wave[i];
    }

    /// Returns the number of the kind of a group. Only kinds of plugins depend on facts.
    std::uint32_t kind_number(std::uint32_t group, const value::Value& facts) {
        const bool plugins = plan_.groups[group].kind == "plugins";
        if (!plugins && numbers_[group]) return *numbers_[group];
        const auto [at, fresh] = kinds_.emplace(kind_of(plan_.groups[group], facts), names_.size());
        if (fresh) names_.push_back(at->first);
        if (!plugins) numbers_[group] = at->second;
        return at->second;
    }

    Plan& plan_;
    const Impact& impact_;
    const std::map<std::string, std::int64_t>& contacts_;
    std::int64_t last_contact_ = 0;
    std::vector<std::optional<std::uint32_t>> numbers_;  ///< numbers of kinds, by group
    std::map<std::string, std::uint32_t> kinds_;         ///< their numbers by name
    std::vector<std::string> names_;                     ///< names of kinds by number
    std::map<std::string_view, const site::FleetNode*> facts_;
};

std::string node_count(std::size_t count) {
    return fmt::format("{} node{}", count, count == 1 ? "" : "s");
}

std::vector<std::string> names_in(const Plan& plan, std::int64_t wave) {
    std::vector<std::string> out;
    for (const PlannedNode& node : plan.nodes)
        if (node.touched() && node.wave == wave) out.push_back(node.name);
    return out;
}

}  // namespace

Result<Plan> make_plan(const PlanInput& input, const Impact& impact,
                       std::span<const site::FleetNode> nodes) {
    Plan out;
    out.program = input.program;
    out.made = input.made;
    out.environment = input.environment;
    out.from = input.from;
    out.to = input.to;
    out.rules_text = input.rules_text;
    out.rules = BUNRAKU_TRY(read_rules(input.rules_text));
    Planner(out, impact, nodes, input.contacts).run();
    if (out.nodes.empty()) return base::failure("The plan has no nodes");
    return out;
}

std::string plan_summary(const Plan& plan) {
    const auto touched =
        static_cast<std::size_t>(std::ranges::count_if(plan.nodes, &PlannedNode::touched));
    std::string out = fmt::format("{}: {} -> {}\n{} changed, {} untouched (they move at once)\n",
                                  plan.environment, plan.from.version, plan.to.version,
                                  node_count(touched), plan.nodes.size() - touched);
    for (std::size_t i = 0; i < plan.waves.size(); ++i) {
        const auto names = names_in(plan, static_cast<std::int64_t>(i));
        out += fmt::format("wave {} ({}): {}{}{}\n", i, plan.waves[i], node_count(names.size()),
                           names.empty() ? "" : ": ", insight::folded_names(names, 8));
    }
    constexpr std::size_t kMost = 20;
    std::vector<std::size_t> counts(plan.groups.size());
    for (const PlannedNode& node : plan.nodes)
        for (const std::uint32_t group : node.groups) ++counts[group];
    for (std::size_t i = 0; i < std::min(kMost, plan.groups.size()); ++i) {
        const PlannedGroup& g = plan.groups[i];
        out += fmt::format("  {} {}{}{}: {}\n", g.kind, g.reference, g.parameter.empty() ? "" : " ",
                           g.parameter, node_count(counts[i]));
    }
    if (plan.groups.size() > kMost)
        out += fmt::format("  and {} more changes\n", plan.groups.size() - kMost);
    for (const auto& kind : plan.uncovered)
        out += fmt::format("Note: no canary has this kind of change: {}\n", kind);
    for (const auto& [name, why] : plan.unpredictable)
        out += fmt::format("Note: {} cannot be predicted: {}\n", name, why);
    if (!plan.excluded.empty())
        out += fmt::format("{} excluded\n", node_count(plan.excluded.size()));
    for (const auto& note : plan.notes) out += "Note: " + note + "\n";
    return out;
}

}  // namespace bunraku::rollout
