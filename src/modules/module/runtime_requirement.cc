// SPDX-License-Identifier: Apache-2.0
#include "modules/module/runtime_requirement.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/semver.h"

namespace bunraku::module {

std::optional<Dependency> unmet_runtime(std::span<const Dependency> requirements,
                                        config::Compatibility level) {
    const auto on = [&](std::string_view name) -> const Dependency* {
        const auto it = std::ranges::find(requirements, name, &Dependency::name);
        return it == requirements.end() ? nullptr : &*it;
    };
    const Dependency* openvox = on("openvox");
    const Dependency* puppet = on("puppet");
    const bool is_openvox = !config::implementation(level).empty();
    if (!is_openvox && openvox && !puppet) return *openvox;
    const Dependency* counts = is_openvox && openvox ? openvox : puppet;
    if (!counts) return std::nullopt;
    const auto range = base::SemVerRange::parse(counts->requirement);
    const auto version = base::SemVer::parse(config::puppet_version(level));
    if (!range || !version || range->includes(*version)) return std::nullopt;
    return *counts;
}

std::string unmet_runtime_text(const Dependency& unmet, config::Compatibility level) {
    return fmt::format("requires {} {}, but the version is {} ({})", unmet.name, unmet.requirement,
                       config::puppet_version(level), config::level_name(level));
}

void warn_of_runtimes(const InstalledModules& modules, const InstalledModules* before,
                      config::Compatibility level, base::LogSink& log) {
    for (const InstalledModule* m : modules.effective()) {
        const InstalledModule* old = before ? before->named(m->name) : nullptr;
        if (old && old->path == m->path && old->version == m->version) continue;
        if (const auto unmet = unmet_runtime(m->requirements, level)) {
            log.log(base::Level::Warning,
                    fmt::format("Module '{}' (v{}) {}", m->full_name(), m->version,
                                unmet_runtime_text(*unmet, level)));
        }
    }
}

}  // namespace bunraku::module
