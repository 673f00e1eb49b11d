// SPDX-License-Identifier: Apache-2.0
#include "services/agent/locks.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/value/rich_data.h"

namespace bunraku::agent {

using base::Result;

namespace {

Result<void> make_folder_of(const std::string& path) {
    return sys::disk().make_directories(std::string(sys::directory_name(path)), 0755);
}

}  // namespace

bool is_agent(int pid) {
    if (pid <= 0 || ::kill(pid, 0) != 0) return false;
    auto line = sys::disk().read(fmt::format("/proc/{}/cmdline", pid));
    if (!line) return true;
    std::ranges::replace(*line, '\0', ' ');
    return line->find("puppet") != std::string::npos || line->find("bunraku") != std::string::npos;
}

Result<bool> RunLock::acquire() {
    BUNRAKU_TRY_VOID(make_folder_of(path_));
    // Puppet's agent does not hold a kernel lock, so the process in the file is checked.
    if (const int owner = lock_.owner(); owner != 0 && owner != ::getpid() && is_agent(owner)) {
        const auto line = sys::disk().read(fmt::format("/proc/{}/cmdline", owner)).value_or("");
        if (line.find("bunraku") == std::string::npos) return false;
    }
    return lock_.acquire();
}

std::optional<std::string> disabled(const config::Settings& settings) {
    const auto path = settings.text("agent_disabled_lockfile");
    if (!sys::disk().exists(path)) return std::nullopt;
    base::Arena arena;
    const auto data = value::parse_json(arena, sys::disk().read(path).value_or(""));
    if (!data || !data->is_hash()) return "";
    const auto* reason = data->as_hash().find("disabled_message");
    return reason && reason->is_string() ? std::string(reason->as_string()) : std::string();
}

Result<void> disable(const config::Settings& settings, const std::string& reason) {
    const auto path = settings.text("agent_disabled_lockfile");
    // The reason of the first administrator who disabled the agent is not overwritten.
    if (sys::disk().exists(path)) return {};
    BUNRAKU_TRY_VOID(make_folder_of(path));
    return sys::disk().replace(
        path, fmt::format(R"({{"disabled_message":{}}})", codec::json_string(reason)),
        {.mode = 0644});
}

Result<void> enable(const config::Settings& settings) {
    const auto path = settings.text("agent_disabled_lockfile");
    if (!sys::disk().exists(path)) return {};
    return sys::disk().remove(path);
}

}  // namespace bunraku::agent
