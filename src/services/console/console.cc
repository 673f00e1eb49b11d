// SPDX-License-Identifier: Apache-2.0
#include "services/console/console.h"

#include "core/sys/disk.h"
#include "services/console/code_states.h"
#include "services/console/published_modules.h"
#include "services/console/rollout_parts.h"

namespace bunraku::console {

Console::Console(const server::Context& server)
    : context(server),
      store(server.store),
      queries(server.queries),
      tokens(*server.tokens),
      reads(server.runtime.executor(
          {.threads = 2,
           .name = "console",
           .error =
               [&log = server.log](const std::string& what) { log.log(base::Level::Err, what); }})),
      fleet(store, *reads, server.runtime),
      live(fleet, server.aside, *reads, server.runtime,
           [rollouts = server.rollouts] { return rollout_stamps(rollouts.get()); }),
      history(server.counters, server.aside),
      explanations(server),
      audit(server.state_directory + "/console-audit.jsonl"),
      rules_path(server.settings.text("confdir") + "/console.conf"),
      code(std::make_unique<CodeStates>(server)),
      published(std::make_unique<PublishedModules>(server.state_directory + "/forge")),
      jobs(server.runtime),
      rules_(std::make_shared<const AccessRules>()) {}

void Console::remove_link_file() const {
    auto& files = sys::disk();
    if (files.exists(link_file())) (void)files.remove(link_file());
}

Console::~Console() { reads->stop(); }

base::Result<void> Console::read_rules() {
    auto rules = std::make_shared<const AccessRules>(BUNRAKU_TRY(AccessRules::read(rules_path)));
    const std::lock_guard lock(rules_mutex_);
    rules_ = std::move(rules);
    return {};
}

}  // namespace bunraku::console
