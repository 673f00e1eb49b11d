// Every Puppet setting: name, kind, default, documentation; puppet.conf, command line and code
// merged.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bunraku::config {

struct SettingSpec {
    std::string_view name;
    enum class Kind : std::uint8_t {
        String,
        Boolean,
        Integer,
        Duration,  ///< read as "30m", given as seconds
        Ttl,       ///< a duration or "unlimited"
        Path,
        PathList,
        Enum,
        List
    } kind = Kind::String;
    std::string_view default_value;  ///< may hold $other settings
    std::string_view doc;
    bool nil_default = false;  ///< undef rather than "" where nothing is set
};
/// The table of all settings, sorted by name.
const std::vector<SettingSpec>& all_settings();
/// Null where Puppet has no setting of that name.
const SettingSpec* find_setting(std::string_view name);

/// Values in the order command line, section, [main], default; `$name` in them is interpolated.
class Settings {
public:
    /// Defaults for root (/etc/puppetlabs...) or, unprivileged, the XDG directories.
    static Settings defaults();
    /// The same explicit values over the defaults of an all-in-one package run by root: what
    /// catalogs show as $settings::x, so that they don't depend on who compiles them.
    Settings as_all_in_one() const;
    /// A missing file is an empty one. `section` is the run mode: user, agent, server.
    base::Result<void> load_file(const std::string& puppet_conf, std::string_view section);
    /// The same from text; `name` is for messages.
    base::Result<void> load_text(std::string_view text, const std::string& name,
                                 std::string_view section);
    /// From the command line or `--setting`; unknown names are kept (module settings,
    /// `$settings::x`).
    void set(std::string name, std::string value);
    /// Interpolated text, durations in seconds; nullopt where nobody knows the setting. What Puppet
    /// calls nil is "" (see `is_nil`).
    std::optional<std::string> get(std::string_view name) const;
    std::string text(std::string_view name) const { return get(name).value_or(""); }
    bool boolean(std::string_view name) const;
    long integer(std::string_view name) const;
    /// A list setting, or a path list, in its parts.
    std::vector<std::string> list(std::string_view name) const;
    /// Said by command line or file, rather than a default.
    bool is_set(std::string_view name) const;
    /// Without a value, where Puppet's default is nil: undef in $settings::x.
    bool is_nil(std::string_view name) const;
    /// All names that have a value.
    std::vector<std::string> names() const;
    const std::string& run_mode() const { return run_mode_; }
    void set_run_mode(std::string mode) { run_mode_ = std::move(mode); }

private:
    const std::string* find_raw(std::string_view name) const;
    std::string interpolate(std::string_view raw, int depth) const;
    std::string value_of(std::string_view name, int depth) const;
    std::string machine_default(std::string_view name) const;

    using Map = std::map<std::string, std::string, std::less<>>;
    Map command_line_, section_, main_;
    bool system_directories_ = true;
    std::string run_mode_ = "user";
};

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
