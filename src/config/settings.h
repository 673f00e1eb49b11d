// Every Puppet setting: name, kind, default, documentation; puppet.conf, command line and code
// merged.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bunraku::config {

struct SettingSpec {
    std::string_view name;
    enum class Kind {
        String,
        Boolean,
        Integer,
        Duration,
        Path,
        PathList,
        Enum,
        List
    } kind = Kind::String;
    std::string_view default_value;  ///< may hold $other settings
    std::string_view doc;
};
/// The table of all settings, by name.
const std::vector<SettingSpec>& all_settings();

/// Values in the order command line, section, [main], default; `$name` in them is interpolated.
class Settings {
public:
    /// Defaults for root (/etc/puppetlabs...) or, unprivileged, the XDG directories.
    static Settings defaults();
    base::Result<void> load_file(const std::string& puppet_conf, std::string_view section);
    /// From the command line or `--setting`; unknown names are kept (module settings,
    /// `$settings::x`).
    void set(std::string name, std::string value);
    /// Interpolated text; nullopt where nobody knows the setting.
    std::optional<std::string> get(std::string_view name) const;
    std::string text(std::string_view name) const { return get(name).value_or(""); }
    bool boolean(std::string_view name) const;
    long integer(std::string_view name) const;
    /// All names that have a value.
    std::vector<std::string> names() const;

private:
    std::map<std::string, std::string, std::less<>> command_line_, section_, main_;
};

}  // namespace bunraku::config
