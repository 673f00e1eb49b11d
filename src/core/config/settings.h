// Every Puppet setting: name, kind, default, documentation; puppet.conf, command line and code
// merged.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/config/settings_table.h"

namespace bunraku::sys {
class FileSystem;
}

namespace bunraku::config {

/// Values in the order command line, section, [main], default; `$name` in them is interpolated.
class Settings {
public:
    /// The defaults of this machine and user: for root /etc/puppetlabs and so on, or, where only
    /// Debian's package was set up, /etc/puppet and so on; unprivileged, the XDG directories.
    static Settings defaults();
    /// The same for a machine that `files` shows.
    static Settings defaults(std::shared_ptr<sys::FileSystem> files, bool root);
    /// The same explicit values over the defaults of root: what catalogs show as $settings::x, so
    /// that they don't depend on who compiles them.
    Settings as_root() const;
    /// Takes the place of what a file said before. A missing file is an empty one. `section` is the
    /// run mode: user, agent, server.
    base::Result<void> load_file(const std::string& puppet_conf, std::string_view section);
    /// The same from text; `name` is for messages.
    base::Result<void> load_text(std::string_view text, const std::string& name,
                                 std::string_view section);
    /// From the command line or `--setting`; unknown names are kept (module settings,
    /// `$settings::x`).
    void set(std::string name, std::string value);
    /// Interpolated text, durations in seconds; nullopt where nobody knows the setting. What Puppet
    /// calls nil is "" (see `is_nil`).
    std::optional<std::string> get(SettingName name) const;
    std::string text(SettingName name) const { return get(name).value_or(""); }
    bool boolean(SettingName name) const;
    long integer(SettingName name) const;
    /// A list setting, or a path list, in its parts.
    std::vector<std::string> list(SettingName name) const;
    /// Why Puppet would not start, in its words; nothing where it would.
    std::optional<std::string> start_problem() const;
    /// Why what was said of this setting cannot be used, in Puppet's words.
    std::optional<std::string> problem(SettingName name) const;
    /// The first such problem of any setting.
    std::optional<std::string> any_problem() const;
    /// Said by command line or file, rather than a default.
    bool is_set(SettingName name) const;
    bool on_command_line(SettingName name) const;
    /// Without a value, where Puppet's default is nil: undef in $settings::x.
    bool is_nil(SettingName name) const;
    /// All names that have a value.
    std::vector<std::string> names() const;
    const std::string& run_mode() const { return run_mode_; }
    void set_run_mode(std::string mode) { run_mode_ = std::move(mode); }

private:
    const std::string* find_raw(std::string_view name) const;
    std::string interpolate(std::string_view raw, int depth) const;
    std::string value_of(std::string_view name, int depth) const;
    /// A default that depends on the machine; may hold $other settings.
    std::string machine_default(std::string_view name, int depth) const;
    bool exists(const std::string& path) const;

    using Map = std::map<std::string, std::string, std::less<>>;
    Map command_line_, section_, main_;
    std::shared_ptr<sys::FileSystem> files_;
    bool root_ = true, debian_ = false;
    std::string run_mode_ = "user";
    std::string misplaced_;  ///< settings that stand in puppet.conf and may not
};

/// What Puppet makes of a value in puppet.conf or on the command line before all else: without
/// quotes around it and blanks behind it, true and false in lower case.
std::string translated(std::string_view value);

/// This machine's name as Puppet's default certname: the fully qualified host name in lower case,
/// without asking the DNS.
std::string default_certname();
/// Its parts: host and domain ("" where unknown).
struct HostName {
    std::string host, domain;
    std::string fqdn() const { return domain.empty() ? host : host + "." + domain; }
};
HostName host_name();

}  // namespace bunraku::config
