// SPDX-License-Identifier: Apache-2.0
#include "services/console/console.h"

#include "core/sys/disk.h"
#include "services/console/code_states.h"
#include "services/console/published_modules.h"

namespace bunraku::console {

Console::Console(const server::Context& server)
    : context(server),
      store(server.store),
      queries(server.queries),
      tokens(*server.tokens),
      fleet(store, server.aside, server.runtime),
      live(fleet, server.aside, server.runtime),
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

Console::~Console() = default;

base::Result<void> Console::read_rules() {
    auto rules = std::make_shared<const AccessRules>(BUNRAKU_TRY(AccessRules::read(rules_path)));
    const std::lock_guard lock(rules_mutex_);
    rules_ = std::move(rules);
    return {};
}

}  // namespace bunraku::console
