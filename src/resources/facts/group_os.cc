// SPDX-License-Identifier: Apache-2.0
// The fact os: the distribution, its release, the architecture and SELinux.
#include <sys/utsname.h>

#include "resources/facts/context.h"

namespace bunraku::facts {

namespace {

Value selinux(Context& context) {
    Fields fields(context);
    std::string mountpoint;
    const std::string mounts = context.read("/proc/self/mounts");
    for (std::string_view line : split_lines(mounts)) {
        const auto words = split_words(line);
        if (words.size() > 1 && line.find("selinuxfs") != line.npos && mountpoint.empty())
            mountpoint = words[1];
    }
    std::string config = context.read("/etc/selinux/config");
    bool enabled = !mountpoint.empty() && !config.empty();
    fields.add("enabled", Value::boolean(enabled));
    if (enabled) {
        bool enforced = context.read_word(mountpoint + "/enforce") == "1";
        fields.add("config_mode", context.text_or_undef(shell_variable(config, "SELINUX")));
        fields.add("config_policy", context.text_or_undef(shell_variable(config, "SELINUXTYPE")));
        fields.add("current_mode", Value::string(enforced ? "enforcing" : "permissive"));
        fields.add("enforced", Value::boolean(enforced));
        fields.add("policy_version",
                   context.text_or_undef(context.read_word(mountpoint + "/policyvers")));
    }
    return fields.build();
}

/// Returns the architecture; Debian has different names for machine types.
std::string architecture(const OsInfo& os, std::string machine) {
    const bool i386 =
        machine.size() == 4 && machine[0] == 'i' && machine[1] >= '3' && machine.ends_with("86");
    if (os.rules_family == "debian" && machine == "x86_64") return "amd64";
    if (i386 || machine == "pentium") return "i386";
    return machine;
}

Value release_value(Context& context, const ReleaseParts& release) {
    if (release.full.empty()) return Value::undef();
    return Fields(context)
        .add("full", context.text(release.full))
        .add("major", context.text(release.major))
        .add("minor", context.text_or_undef(release.minor))
        .add("patch", context.text_or_undef(release.patch))
        .build();
}

/// Returns the end of support according to os-release (OpenFact 5.2).
Value support(Context& context) {
    auto text = context.read("/etc/os-release");
    if (text.empty()) text = context.read("/usr/lib/os-release");
    return Fields(context)
        .add("end", context.text_or_undef(shell_variable(text, "SUPPORT_END")))
        .build_or_undef();
}

}  // namespace

Value resolve_os(Context& context) {
    const OsInfo os = read_os(context.system.files, &context.system.processes);
    utsname names{};
    ::uname(&names);
    Value distro = Fields(context)
                       .add("codename", context.text_or_undef(os.codename))
                       .add("description", context.text_or_undef(os.description))
                       .add("id", context.text_or_undef(os.distro_id))
                       .add("release", release_value(context, os.distro_release))
                       .add("specification", context.text_or_undef(os.specification))
                       .build_or_undef();
    return Fields(context)
        .add("architecture", context.text(architecture(os, names.machine)))
        .add("distro", distro)
        .add("family", context.text(os.family))
        .add("hardware", context.text(names.machine))
        .add("name", context.text(os.name))
        .add("release", release_value(context, os.release))
        .add("selinux", selinux(context))
        .add("support", support(context))
        .build();
}

}  // namespace bunraku::facts
