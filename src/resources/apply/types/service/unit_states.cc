#include "resources/apply/types/service/unit_states.h"

#include <algorithm>

#include "core/base/text.h"
#include "resources/apply/execution.h"
#include "resources/apply/ral_catalog.h"

namespace bunraku::apply {
namespace {

constexpr std::int64_t kHolds_ns = 5'000'000'000;

// Of an init script systemctl asks another program, out of turn, and of a pattern it answers with
// many lines: only names of which it gives one line each, in their order, are asked together.
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
    auto& kept = context.parsed_types["service units"];
    if (!kept) kept = std::make_shared<UnitStates>();
    return *std::static_pointer_cast<UnitStates>(kept);
}

std::optional<std::string> UnitStates::answer(const Resource& service, std::string_view verb,
                                              std::string_view attribute, Answers& kept) {
    if (!service.catalog) return std::nullopt;  // one of a list
    Context& context = service.context();
    const std::int64_t now = context.system.clock.monotonic_ns();
    if (!kept.fresh || kept.actions != context.actions || now - kept.asked_ns > kHolds_ns) {
        kept = {.by_name = {}, .actions = context.actions, .asked_ns = now, .fresh = true};
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
                kept.by_name.emplace(std::move(names[i]), base::trim(lines[i]));
        }
    }
    const auto at = kept.by_name.find(service.name());
    if (at == kept.by_name.end()) return std::nullopt;
    return at->second;
}

std::optional<bool> UnitStates::active(const Resource& service) {
    const auto said = answer(service, "is-active", "ensure", active_);
    if (!said) return std::nullopt;
    return *said == "active" || *said == "reloading" || *said == "refreshing";
}

std::optional<std::string> UnitStates::enabled(const Resource& service) {
    return answer(service, "is-enabled", "enable", enabled_);
}

}  // namespace bunraku::apply
