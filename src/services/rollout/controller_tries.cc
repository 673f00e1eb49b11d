// SPDX-License-Identifier: Apache-2.0
// Tries: one node gets another version for a limited time. A try changes the target of a node as a
// rollout does, so it raises the epoch, and the node moves only once all servers know it.
#include <fmt/format.h>

#include "resources/catalog/wire_time.h"
#include "services/rollout/controller.h"

namespace bunraku::rollout {

using base::failure;
using base::Result;

Result<TryStatus> Controller::set_try(store::NodeTry entry, std::int64_t seconds) {
    const auto version = options_.deployed.find(entry.environment, entry.version);
    if (!version) return failure(version.error().message, kNotFound);
    entry.version = version->name;
    {
        const std::lock_guard lock(mutex_);
        BUNRAKU_TRY_VOID(options_.service->with_writer([&](store::Writer& writer) -> Result<void> {
            entry.ends = BUNRAKU_TRY(store::database_time(writer.db())) + seconds * 1000;
            return store::set_try(writer, entry);
        }));
        options_.log.log(base::Level::Notice,
                         fmt::format("{} tries version {} of environment {} until {} (by {})",
                                     entry.certname, entry.version, entry.environment,
                                     catalog::format_wire_time(entry.ends), entry.actor));
        BUNRAKU_TRY_VOID(options_.versions->reload());
    }
    (void)tick();
    const std::string waiting = awaited_server(entry.environment, entry.version);
    return TryStatus{.entry = std::move(entry), .waiting = waiting};
}

Result<void> Controller::end_try(std::string_view environment, std::string_view node) {
    {
        const std::lock_guard lock(mutex_);
        BUNRAKU_TRY_VOID(options_.service->with_writer([&](store::Writer& writer) -> Result<void> {
            BUNRAKU_TRY(store::remove_try(writer, environment, node));
            return {};
        }));
        BUNRAKU_TRY_VOID(options_.versions->reload());
    }
    (void)tick();
    return {};
}

Result<void> Controller::end_tries(std::int64_t now) {
    if (!options_.versions->has_ended_try(now)) return {};
    std::vector<store::NodeTry> ended;
    BUNRAKU_TRY_VOID(options_.service->with_writer([&](store::Writer& writer) -> Result<void> {
        ended = BUNRAKU_TRY(store::end_tries(writer, now));
        return {};
    }));
    for (const store::NodeTry& one : ended) {
        options_.log.log(base::Level::Notice,
                         fmt::format("The try of version {} of environment {} by {} has ended",
                                     one.version, one.environment, one.certname));
    }
    return options_.versions->reload();
}

}  // namespace bunraku::rollout
