// SPDX-License-Identifier: Apache-2.0
// The facts identity, path, timezone, and the versions of Facter, Puppet and the agent package.
#include <cstdlib>
#include <ctime>

#include "resources/facts/context.h"

namespace bunraku::facts {

Value resolve_identity(Context& context) {
    auto& users = context.system.users;
    std::uint32_t uid = users.effective_uid(), gid = users.effective_gid();
    Fields fields(context);
    fields.add("gid", context.integer(gid));
    if (auto group = users.group(gid)) fields.add("group", context.text(group->name));
    fields.add("privileged", Value::boolean(uid == 0));
    fields.add("uid", context.integer(uid));
    if (auto user = users.user(uid)) fields.add("user", context.text(user->name));
    return fields.build();
}

Value resolve_path(Context& context) {
    const char* path = std::getenv("PATH");
    return path ? context.text(path) : Value::undef();
}

Value resolve_timezone(Context& context) {
    time_t now = context.system.clock.now_ns() / 1'000'000'000;
    tm local{};
    ::localtime_r(&now, &local);
    return context.text_or_undef(local.tm_zone ? local.tm_zone : "");
}

Value resolve_facterversion(Context& context) {
    return Value::string(config::facter_version(context.level));
}
Value resolve_puppetversion(Context& context) {
    return Value::string(config::puppet_version(context.level));
}

Value resolve_aio_agent_version(Context& context) {
    return context.text_or_undef(context.read_word("/opt/puppetlabs/puppet/VERSION"));
}

}  // namespace bunraku::facts
