// SPDX-License-Identifier: Apache-2.0
// Puppet's settings: name, kind, default and documentation, merged from puppet.conf, the command
// line and code.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/config/compatibility.h"
#include "core/config/settings_table.h"

namespace bunraku::sys {
class FileSystem;
}

namespace bunraku::config {

/// All settings. Values are looked up in the order command line, section, [main], default, and
/// `$name` in them is interpolated.
class Settings {
public:
    /// Returns the defaults for this machine and user. Root gets /etc/puppetlabs and so on, or
    /// /etc/puppet and so on if only Debian's package is set up. Other users get the XDG
    /// directories.
    static Settings defaults();
    /// Returns the defaults for the machine whose files are `files`.
    static Settings defaults(std::shared_ptr<sys::FileSystem> files, bool root);
    /// Returns the same explicit values with root's defaults. Catalogs show them as $settings::x,
    /// so that they do not depend on the user who compiles.
    Settings as_root() const;
    /// Loads a file and replaces the values of an earlier file. A missing file counts as empty.
    /// `section` is the run mode: user, agent, server.
    base::Result<void> load_file(const std::string& puppet_conf, std::string_view section);
    /// Loads from a text; `name` is for messages.
    base::Result<void> load_text(std::string_view text, const std::string& name,
                                 std::string_view section);
    /// Sets a value from the command line or `--setting`. Unknown names are accepted (module
    /// settings, `$settings::x`).
    void set(std::string name, std::string value);
    /// Returns the interpolated text, with durations in seconds. Returns nullopt if the setting is
    /// unknown, and "" if its value is nil in Puppet (see `is_nil`).
    std::optional<std::string> get(SettingName name) const;
    std::string text(SettingName name) const { return get(name).value_or(""); }
    bool boolean(SettingName name) const;
    long integer(SettingName name) const;
    /// Returns the parts of a list setting or a path list.
    std::vector<std::string> list(SettingName name) const;
    /// Returns Puppet's message if it would refuse to start, or nullopt.
    std::optional<std::string> start_problem() const;
    /// Returns Puppet's message if the value of this setting is not valid, or nullopt.
    std::optional<std::string> problem(SettingName name) const;
    /// Returns the first such message for any setting.
    std::optional<std::string> any_problem() const;
    /// Reports whether the command line or a file sets the value.
    bool is_set(SettingName name) const;
    bool on_command_line(SettingName name) const;
    /// Reports whether the setting has no value and Puppet's default is nil: undef in $settings::x.
    bool is_nil(SettingName name) const;
    /// Returns the value of `compatibility`, or the default if the value is invalid.
    Compatibility compatibility() const;
    /// Returns all names that have a value, without the settings that the compatibility level
    /// removes.
    std::vector<std::string> names() const;
    const std::string& run_mode() const { return run_mode_; }
    void set_run_mode(std::string mode) { run_mode_ = std::move(mode); }

private:
    const std::string* find_raw(std::string_view name) const;
    std::string interpolate(std::string_view raw, int depth) const;
    std::string value_of(std::string_view name, int depth) const;
    /// Returns a default that depends on the machine or the compatibility level. It may contain
    /// $other settings.
    std::string machine_default(std::string_view name, int depth) const;
    bool exists(const std::string& path) const;

    using Map = std::map<std::string, std::string, std::less<>>;
    Map command_line_, section_, main_;
    std::shared_ptr<sys::FileSystem> files_;
    bool root_ = true, debian_ = false;
    std::string run_mode_ = "user";
    std::string misplaced_;  ///< settings in puppet.conf that are not allowed there
};

/// Converts a value from puppet.conf or the command line as Puppet does first: removes quotes
/// around it and blanks after it, and turns true and false into lower case.
std::string translated(std::string_view value);

/// Returns Puppet's default certname: this machine's fully qualified host name in lower case, found
/// without the DNS.
std::string default_certname();
/// The host and domain of this machine; `domain` is "" if unknown.
struct HostName {
    std::string host, domain;
    std::string fqdn() const { return domain.empty() ? host : host + "." + domain; }
};
HostName host_name();

}  // namespace bunraku::config
