// SPDX-License-Identifier: Apache-2.0
// The state and services that all pages of the console share.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "core/base/counters.h"
#include "core/base/diagnostic.h"
#include "core/sys/executor.h"
#include "services/console/audit.h"
#include "services/console/explanations.h"
#include "services/console/failures.h"
#include "services/console/fleet.h"
#include "services/console/jobs.h"
#include "services/console/live.h"
#include "services/console/rules.h"
#include "services/console/server_history.h"
#include "services/console/sessions.h"
#include "services/server/role.h"
#include "services/server/tokens.h"
#include "store/engine/query_engine.h"
#include "store/engine/service.h"

namespace bunraku::console {

class CodeStates;
class PublishedModules;

struct Console {
    explicit Console(const server::Context& server);
    ~Console();

    const server::Context& context;
    std::shared_ptr<store::Service> store;
    /// Runs the queries of the API. Pages read through it where an entity has the data.
    std::shared_ptr<store::QueryEngine> queries;
    server::ApiTokens& tokens;
    /// Runs tasks that read the store for open pages. If the store is slow, only these wait.
    std::unique_ptr<sys::Executor> reads;
    FleetWatch fleet;
    LiveEvents live;
    ServerHistory history;
    Explanations explanations;
    FailureKinds failures;
    Sessions sessions;
    AuditLog audit;
    std::string rules_path;
    std::unique_ptr<CodeStates> code;
    std::unique_ptr<PublishedModules> published;
    JobRunner jobs;  ///< stops first, because jobs use the members above

    std::shared_ptr<const AccessRules> rules() const {
        const std::lock_guard lock(rules_mutex_);
        return rules_;
    }
    /// Reads console.conf. If it has an error, the old rules stay in use.
    base::Result<void> read_rules();
    /// The file with the one-time link, which only the server's user can read.
    std::string link_file() const { return context.state_directory + "/console-link"; }
    void remove_link_file() const;
    std::int64_t now_ms() const { return context.runtime.now_ms(); }
    std::int64_t now_s() const { return now_ms() / 1000; }

private:
    mutable std::mutex rules_mutex_;
    std::shared_ptr<const AccessRules> rules_;
};

}  // namespace bunraku::console
