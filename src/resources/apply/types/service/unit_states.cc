// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/types/service/unit_states.h"

#include <algorithm>

#include "core/base/text.h"
#include "resources/apply/execution.h"
#include "resources/apply/ral_catalog.h"

namespace bunraku::apply {
namespace {

constexpr std::int64_t kHolds_ns = 5'000'000'000;

// Reports whether the unit can be part of a combined query, that is, systemctl prints exactly one
// line for it, in the order of the names. For an init script, systemctl runs another program, whose
// output is out of order. For a pattern it prints many lines.
bool plain_unit(Context& context, std::string_view name) {
    if (name.empty() || name.find_first_of("*?[@/\\ \t\n") != std::string_view::npos) return false;
    const std::string file =
        std::string(name) + (name.find('.') == std::string_view::npos ? ".service" : "");
    constexpr std::string_view kFolders[] = {"/etc/systemd/system", "/run/systemd/system",
                                             "/usr/local/lib/systemd/system",
                                             "/usr/lib/systemd/system", "/lib/systemd/system"};
    return std::ranges::any_of(kFolders, [&](std::string_view folder) {
        return context.system.files.lstat(sys::join(folder, file)).has_value();
    });
}

}  // namespace

UnitStates& UnitStates::of(Context& context) {
    auto& cache = context.parsed_types["service units"];
    if (!cache) cache = std::make_shared<UnitStates>();
    return *std::static_pointer_cast<UnitStates>(cache);
}

std::optional<std::string> UnitStates::answer(const Resource& service, std::string_view verb,
                                              std::string_view attribute, Answers& cache) {
    if (!service.catalog) return std::nullopt;  // a resource from instances()
    Context& context = service.context();
    const std::int64_t now = context.system.clock.monotonic_ns();
    if (!cache.fresh || cache.actions != context.actions || now - cache.queried_ns > kHolds_ns) {
        cache = {.by_name = {}, .actions = context.actions, .queried_ns = now, .fresh = true};
        std::vector<std::string> names;
        for (const Resource* r : service.catalog->resources()) {
            if (r->type_name() != "service" || r->provider() != service.provider()) continue;
            const Param* p = r->find(attribute);
            if (!p || !r->get("status").is_undef()) continue;
            std::string name = r->name();
            if (std::ranges::find(names, name) != names.end() || !plain_unit(context, name))
                continue;
            names.push_back(std::move(name));
        }
        if (names.size() < 2) return std::nullopt;
        std::vector<std::string> argv{command_path(context, "systemctl"), std::string(verb), "--"};
        argv.insert(argv.end(), names.begin(), names.end());
        const Executed done =
            execute(context, argv, {.fail_on_error = false, .combine = false, .query = true});
        const auto lines = base::lines(done.output);
        if (lines.size() == names.size()) {
            for (std::size_t i = 0; i < names.size(); ++i)
                cache.by_name.emplace(std::move(names[i]), base::trim(lines[i]));
        }
    }
    const auto at = cache.by_name.find(service.name());
    if (at == cache.by_name.end()) return std::nullopt;
    return at->second;
}

std::optional<bool> UnitStates::active(const Resource& service) {
    const auto state = answer(service, "is-active", "ensure", active_);
    if (!state) return std::nullopt;
    return *state == "active" || *state == "reloading" || *state == "refreshing";
}

std::optional<std::string> UnitStates::enabled(const Resource& service) {
    return answer(service, "is-enabled", "enable", enabled_);
}

}  // namespace bunraku::apply
