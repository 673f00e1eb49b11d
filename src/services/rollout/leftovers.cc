// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/leftovers.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <set>
#include <utility>

#include "services/rollout/controller_pass.h"
#include "services/rollout/evidence.h"
#include "store/engine/history.h"

namespace bunraku::rollout {

namespace {

/// Types whose changes stay, because no catalog mentions the old state.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kOneWay{{
    {"Package", "the package keeps the version that was installed"},
    {"Exec", "the command has run"},
    {"Service", "the service was restarted or stopped"},
}};

/// Quotes a text for a shell. A text that begins with "-" is not read as an option.
std::string shell_argument(std::string_view text) {
    std::string out = text.starts_with('-') ? "-- '" : "'";
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

/// What runs did to a resource.
struct Effects {
    bool created = false, removed = false, failed = false;
    bool changed = false;              ///< also by a refresh, which has no property
    std::set<std::string> properties;  ///< that were changed
};

/// `runs` are in the order of time.
Effects effects_of(const std::vector<const JudgedRun*>& runs, std::string_view resource) {
    Effects out;
    for (const JudgedRun* run : runs) {
        for (const JudgedEvent& event : run->events) {
            if (event.resource != resource || event.noop || event.corrective) continue;
            if (event.failed) {
                out.failed = true;
                continue;
            }
            if (event.removed) {
                out = {.removed = true};
                continue;
            }
            out.created = out.created || event.created;
            out.changed = true;
            if (!event.property.empty()) out.properties.insert(event.property);
        }
    }
    return out;
}

/// Describes what remains of a resource that only the new version declares.
std::string what_of_added(std::string_view type, const Effects& effects, bool ran) {
    if (type != "Exec" && !store::may_remain(type)) return {};
    if (!ran) return "only the new version declares it";
    if (type == "Exec")
        return effects.changed  ? "the command has run"
               : effects.failed ? "the command has failed"
                                : "";
    if (effects.created) return "the new version created it";
    if (!effects.properties.empty())
        return fmt::format("it existed before, and the new version changed {}",
                           fmt::join(effects.properties, ", "));
    if (effects.changed) return "it existed before, and the new version restarted it";
    return effects.failed ? "the new version failed to change it" : "";
}

/// Describes what stays of a resource that both versions declare.
std::string what_of_changed(std::string_view type, const PlannedGroup& group,
                            const Effects& effects) {
    if (!effects.changed) return {};
    const std::string property = group.parameter.substr(0, group.parameter.find('.'));
    if (group.before.empty() && effects.properties.contains(property))
        return fmt::format("the previous version does not declare {}, which was changed", property);
    // Otherwise the previous version installs the package that it declares.
    const bool names_version = group.parameter == "ensure" && group.before != R"("present")" &&
                               group.before != R"("installed")" && group.before != R"("latest")";
    if (type == "Package" && names_version) return {};
    const auto* at = std::ranges::find(kOneWay, type, &decltype(kOneWay)::value_type::first);
    return at == kOneWay.end() ? std::string() : std::string(at->second);
}

/// Returns the parameters of these resources in the newest catalog of the node that declares them.
base::Result<std::map<std::string, DeclaredParameters, std::less<>>> declared_parameters(
    store::Database& db, const std::string& certname, std::set<std::string, std::less<>> wanted,
    std::int64_t since) {
    constexpr std::size_t kMostCatalogs = 10;
    std::map<std::string, DeclaredParameters, std::less<>> out;
    std::size_t read = 0;
    for (const auto& version : BUNRAKU_TRY(store::catalog_versions(db, certname))) {
        if (wanted.empty() || version.valid_until.value_or(since) < since || ++read > kMostCatalogs)
            break;
        const auto past = BUNRAKU_TRY(store::catalog_at(db, certname, version.valid_from));
        if (!past) continue;
        for (const catalog::Resource& resource : past->catalog.resources) {
            const auto reference = resource.ref.to_string();
            if (wanted.erase(reference) == 0) continue;
            DeclaredParameters& parameters = out[reference];
            for (const catalog::Parameter& one : resource.parameters)
                if (one.value.is_string()) parameters.emplace(one.name, one.value.as_string());
        }
    }
    return out;
}

const PlannedNode* planned_node(const Plan& plan, const std::string& name) {
    const auto at = std::ranges::lower_bound(plan.nodes, name, {}, &PlannedNode::name);
    return at != plan.nodes.end() && at->name == name ? &*at : nullptr;
}

/// Returns the leftovers of a node that had no run with the new version before `since`.
base::Result<std::vector<Leftover>> leftovers_since(store::Database& db, const Plan& plan,
                                                    const PlannedNode& node, std::int64_t since) {
    KnownRuns known;
    auto runs = BUNRAKU_TRY(read_runs(db, node.name, plan.environment, since, known));
    std::erase_if(runs, [](const JudgedRun& run) { return run.elsewhere; });
    return leftovers(plan, node, runs);
}

}  // namespace

std::string removal_command(std::string_view type, std::string_view title,
                            const DeclaredParameters& parameters) {
    const auto parameter = [&](std::string_view name) {
        const auto at = parameters.find(name);
        return at == parameters.end() ? std::string() : at->second;
    };
    const auto resource = [&](std::string_view kind, std::string_view name,
                              std::string_view option) {
        const std::string value = parameter(option);
        return fmt::format(
            "puppet resource {} {} ensure=absent{}", kind, shell_argument(name),
            value.empty() ? "" : fmt::format(" {}={}", option, shell_argument(value)));
    };
    if (type == "File") {
        const std::string path = parameter("path").empty() ? std::string(title) : parameter("path");
        if (!path.starts_with('/')) return {};
        return fmt::format("{} {}", parameter("ensure") == "directory" ? "rmdir" : "rm",
                           shell_argument(path));
    }
    const std::string name = parameter("name").empty() ? std::string(title) : parameter("name");
    if (type == "Package") return resource("package", name, "provider");
    if (type == "Cron") return resource("cron", name, "user");
    if (type == "Host") return resource("host", name, "target");
    if (type == "Service") return "systemctl disable --now " + shell_argument(name);
    if (type == "User") return "userdel " + shell_argument(name);
    if (type == "Group") return "groupdel " + shell_argument(name);
    return {};
}

std::vector<Leftover> leftovers(const Plan& plan, const PlannedNode& node,
                                const std::vector<JudgedRun>& runs) {
    std::vector<const JudgedRun*> sorted;
    for (const JudgedRun& run : runs) sorted.push_back(&run);
    std::ranges::stable_sort(sorted, {}, &JudgedRun::start);
    std::vector<Leftover> out;
    for (const auto index : node.groups) {
        const PlannedGroup& group = plan.groups[index];
        Leftover one{.node = node.name, .resource = with_identity(group.reference, node)};
        const auto type = parts_of(one.resource).first;
        const Effects effects = effects_of(sorted, one.resource);
        if (group.kind == "plugins") {
            one.what = "custom facts, types and providers have run";
        } else if (group.kind == "added") {
            one.what = what_of_added(type, effects, !runs.empty());
            one.created = effects.created && !one.what.empty();
        } else if (group.kind == "removed" && effects.removed) {
            one.what = "it was removed or purged";
        } else {
            one.what = what_of_changed(type, group, effects);
        }
        if (!one.what.empty()) out.push_back(std::move(one));
    }
    std::ranges::stable_sort(out, {}, &Leftover::resource);
    const auto [first, last] = std::ranges::unique(out, {}, &Leftover::resource);
    out.erase(first, last);
    return out;
}

base::Result<std::vector<store::RolloutMember>> moved_members(store::Database& db,
                                                              const store::RolloutRow& row) {
    auto out = BUNRAKU_TRY(store::rollout_members(db, row.id));
    std::erase_if(out, [&](const auto& one) { return !one.judged || one.wave >= row.moved; });
    std::ranges::sort(out, {}, [](const store::RolloutMember& one) {
        return std::pair(!is_bad_name(one.verdict), std::string_view(one.certname));
    });
    return out;
}

base::Result<std::vector<Leftover>> read_leftovers(store::Database& db,
                                                   const store::RolloutRow& row, const Plan& plan,
                                                   std::span<const store::RolloutMember> members,
                                                   const ByText<store::NodeVersion>& versions) {
    std::vector<Leftover> out;
    for (const store::RolloutMember& member : members) {
        const PlannedNode* planned = planned_node(plan, member.certname);
        if (!planned) continue;
        const auto version = versions.find(member.certname);
        const bool moved = version != versions.end() && version->second.version == row.to;
        auto all = BUNRAKU_TRY(
            leftovers_since(db, plan, *planned, moved ? version->second.since : row.started));
        std::set<std::string, std::less<>> created;
        for (const Leftover& one : all)
            if (one.created) created.insert(one.resource);
        const auto declared =
            BUNRAKU_TRY(declared_parameters(db, member.certname, std::move(created), row.started));
        for (Leftover& one : all) {
            const auto at = declared.find(one.resource);
            const auto [type, title] = parts_of(one.resource);
            // Without the history of catalogs, only the title is known.
            if (one.created)
                one.command = removal_command(
                    type, title, at == declared.end() ? DeclaredParameters() : at->second);
            out.push_back(std::move(one));
        }
    }
    return out;
}

base::Result<std::vector<store::UndeclaredResource>> read_removals(store::Database& db,
                                                                   const store::RolloutRow& row,
                                                                   const Plan& plan,
                                                                   const std::string& certname) {
    auto out = BUNRAKU_TRY(store::undeclared_resources(db, {.certname = certname,
                                                            .state = store::UndeclaredState::Open,
                                                            .limit = store::kMostUndeclared}));
    std::erase_if(out, [&](const store::UndeclaredResource& one) {
        const auto& types = plan.rules.rollback;
        return !one.created || one.removal.empty() ||
               std::ranges::find(types, one.type) == types.end();
    });
    const PlannedNode* planned = planned_node(plan, certname);
    if (out.empty() || !planned) return std::vector<store::UndeclaredResource>();
    std::set<std::string> created;
    for (const Leftover& one : BUNRAKU_TRY(leftovers_since(db, plan, *planned, row.started)))
        if (one.created) created.insert(one.resource);
    std::erase_if(out, [&](const store::UndeclaredResource& one) {
        return !created.contains(fmt::format("{}[{}]", one.type, one.title));
    });
    return out;
}

}  // namespace bunraku::rollout
