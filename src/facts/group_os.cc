// os: the distribution, its release, the architecture and SELinux.
#include <sys/utsname.h>

#include "facts/context.h"

namespace bunraku::facts {

namespace {

Value selinux(Context& context) {
    Fields fields(context);
    std::string mountpoint;
    const std::string mounts = context.read("/proc/self/mounts");
    for (std::string_view line : split_lines(mounts)) {
        auto words = split_words(line);
        if (words.size() >= 3 && words[2] == "selinuxfs") mountpoint = words[1];
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

/// Debian's own names for machine types.
std::string architecture(const OsInfo& os, std::string machine) {
    bool i386 = machine.size() == 4 && machine[0] == 'i' && machine.ends_with("86");
    if (os.family == "Debian" && machine == "x86_64") return "amd64";
    if (i386) return "i386";
    return machine;
}

}  // namespace

OsInfo read_os(sys::FileSystem& files) {
    const auto text = [&](const char* path) { return files.read(path).value_or(""); };
    std::string os_release = text("/etc/os-release");
    if (os_release.empty()) os_release = text("/usr/lib/os-release");
    return parse_os(os_release, text("/etc/debian_version"), text("/etc/redhat-release"));
}

Value resolve_os(Context& context) {
    const OsInfo os = read_os(context.system.files);
    utsname names{};
    ::uname(&names);
    // Ubuntu's major release is the whole: 22.04.
    Value release;
    if (os.name == "Ubuntu") {
        release = Fields(context)
                      .add("full", context.text(os.release))
                      .add("major", context.text(os.release))
                      .build();
    } else {
        release = release_hash(context, os.release);
    }
    Value distro = Fields(context)
                       .add("codename", context.text_or_undef(os.codename))
                       .add("description", context.text_or_undef(os.description))
                       .add("id", context.text_or_undef(os.distro_id))
                       .add("release", release)
                       .build();
    return Fields(context)
        .add("architecture", context.text(architecture(os, names.machine)))
        .add("distro", distro)
        .add("family", context.text(os.family))
        .add("hardware", context.text(names.machine))
        .add("name", context.text(os.name))
        .add("release", release)
        .add("selinux", selinux(context))
        .build();
}

}  // namespace bunraku::facts
