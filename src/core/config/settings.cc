// SPDX-License-Identifier: Apache-2.0
#include "core/config/settings.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/base/text_view.h"
#include "core/codec/ini.h"
#include "core/config/file_options.h"
#include "core/config/layout.h"
#include "core/config/munge.h"
#include "core/config/system_paths.h"
#include "core/sys/file_system.h"

namespace bunraku::config {

namespace {

/// Resolves aliases of setting names.
std::string_view real_name(base::TextView name BUNRAKU_LIFETIMEBOUND) {
    return name == "serverport" ? std::string_view("masterport") : name;
}

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string home_directory() {
    if (const char* home = std::getenv("HOME"); home && *home) return home;
    if (const passwd* pw = getpwuid(geteuid()); pw && pw->pw_dir) return pw->pw_dir;
    return "/";
}

/// Expands the parts of a path list. A part that contains an unresolved $name stays unchanged.
std::string expanded_list(std::string_view value) {
    std::string out;
    while (!value.empty()) {
        const std::size_t colon = value.find(':');
        const std::string_view part = value.substr(0, colon);
        value = colon == std::string_view::npos ? std::string_view() : value.substr(colon + 1);
        if (part.empty()) continue;
        if (!out.empty()) out += ':';
        out += part.starts_with('$') ? std::string(part) : sys::expand_path(part);
    }
    return out;
}

std::string xdg(const char* variable, std::string_view fallback) {
    if (const char* dir = std::getenv(variable); dir && dir[0] == '/') return dir;
    return home_directory() + std::string(fallback);
}

/// Returns the folder that systemd made for a unit with RuntimeDirectory=, or the default (OpenVox
/// 8.23). systemd separates several folders by colons.
std::string runtime_directory(std::string fallback) {
    const char* dir = std::getenv("RUNTIME_DIRECTORY");
    if (!dir || dir[0] != '/') return fallback;
    const std::string_view all = dir;
    return std::string(all.substr(0, all.find(':')));
}

/// Reports whether Puppet allows the section in puppet.conf.
bool is_section(std::string_view name) {
    return name == "main" || name == "server" || name == "master" || name == "agent" ||
           name == "user";
}

std::string illegal_section(const codec::IniSection& section, const std::string& file) {
    return fmt::format(
        "Illegal section '{}' in config file at (file: {}, line: {}). The only valid puppet.conf "
        "sections are: [main, server, master, agent, user]. Please use the directory environments "
        "feature to specify environments. (See "
        "https://puppet.com/docs/puppet/latest/environments_about.html)",
        section.name, file, section.line);
}

}  // namespace

bool uses_system_paths(std::uint32_t uid, std::string_view name) {
    // Debian's range for system users ends at 999.
    return uid == 0 || (uid < 1000 && name == "puppet");
}

Settings Settings::defaults() {
    const uid_t uid = geteuid();
    const passwd* user = uid != 0 && uid < 1000 ? getpwuid(uid) : nullptr;
    return defaults(sys::make_real_file_system(),
                    uses_system_paths(uid, user ? user->pw_name : ""));
}

Settings Settings::defaults(std::shared_ptr<sys::FileSystem> files, bool root) {
    Settings s;
    s.files_ = std::move(files);
    s.root_ = root;
    s.debian_ = s.files_ && find_layout(*s.files_).debian;
    return s;
}

Settings Settings::as_root() const {
    Settings s = *this;
    s.root_ = true;
    return s;
}

bool Settings::exists(const std::string& path) const {
    return files_ && files_->stat(path).has_value();
}

std::string translated(std::string_view value) {
    for (const std::string_view word : {"true", "false"})
        if (base::same_ignoring_case(value, word)) return std::string(word);
    const auto quote = [](char c) { return c == '"' || c == '\''; };
    if (!value.empty() && quote(value.front())) value.remove_prefix(1);
    if (!value.empty() && quote(value.back())) value.remove_suffix(1);
    return std::string(value.substr(0, value.find_last_not_of(base::kBlanks) + 1));
}

base::Result<void> Settings::load_file(const std::string& path, std::string_view section) {
    if (!files_) files_ = sys::make_real_file_system();
    auto text = files_->read(path);
    if (!text) {
        run_mode_ = section;
        section_.clear();
        main_.clear();
        // A missing file counts as empty. So does a file that this user may not read, as for
        // Puppet's default file.
        if (text.error().code == ENOENT || text.error().code == ENOTDIR ||
            (text.error().code == EACCES && !is_set("config"))) {
            return {};
        }
        return std::unexpected(text.error());
    }
    return load_text(*text, path, section);
}

base::Result<void> Settings::load_text(std::string_view text, const std::string& name,
                                       std::string_view section) {
    run_mode_ = section;
    section_.clear();
    main_.clear();
    misplaced_.clear();
    auto file = codec::parse_ini(text);
    if (!file) {
        // Puppet quotes the line including its newline.
        const bool ended = std::ranges::count(text, '\n') >= file.error().code;
        return base::failure(fmt::format("{}{} (file: {}, line: {})", file.error().message,
                                         ended ? "\n" : "", name, file.error().code));
    }
    for (const auto& part : file->sections) {
        if (!is_section(part.name)) return base::failure(illegal_section(part, name));
        for (const auto& entry : part.entries) {
            if (entry.name != "manifest" && entry.name != "modulepath" &&
                entry.name != "config_version") {
                continue;
            }
            misplaced_ += (misplaced_.empty() ? "" : ", ") + entry.name;
        }
        // [master] is the older name of [server].
        bool mine = part.name == section || (section == "server" && part.name == "master");
        if (part.name != "main" && !mine) continue;
        Map& target = mine ? section_ : main_;
        for (const auto& entry : part.entries) {
            std::string_view key = real_name(entry.name);
            // The first of several entries wins, and [server] wins over [master].
            auto value = without_file_options(translated(entry.value));
            if (!value) {
                return base::failure(fmt::format("{} (file: {}, line: {})", value.error().message,
                                                 name, entry.line));
            }
            if (part.name == "server") {
                target.insert_or_assign(std::string(key), std::move(value->text));
            } else {
                target.try_emplace(std::string(key), std::move(value->text));
            }
        }
    }
    return {};
}

void Settings::set(std::string name, std::string value) {
    std::string_view real = real_name(name);
    command_line_.insert_or_assign(std::string(real), std::move(value));
}

const std::string* Settings::find_raw(std::string_view name) const {
    name = real_name(name);
    for (const Map* map : {&command_line_, &section_, &main_}) {
        if (auto it = map->find(name); it != map->end()) return &it->second;
    }
    return nullptr;
}

bool Settings::is_set(SettingName name) const { return find_raw(name) != nullptr; }

bool Settings::on_command_line(SettingName name) const {
    return command_line_.contains(real_name(name.view()));
}

bool Settings::is_nil(SettingName name) const {
    if (is_set(name)) return false;
    const SettingSpec* spec = find_setting(name);
    return spec && spec->nil_default;
}

Compatibility Settings::compatibility() const {
    const std::string* raw = find_raw("compatibility");
    return (raw ? level_from_name(*raw) : std::nullopt).value_or(kDefaultLevel);
}

std::string Settings::machine_default(std::string_view name, int depth) const {
    if (name == "server" && !root_ && changed(compatibility(), Change::DefaultServer)) return {};
    if (name == "server") return "puppet";
    if (const auto text = default_at(compatibility(), name)) return std::string(*text);
    if (name == "certname") return default_certname();
    if (name == "cadir") {
        // The location in older versions, if it exists.
        const std::string old = value_of("ssldir", depth + 1) + "/ca";
        if (exists(old)) return old;
        if (!root_) return xdg("XDG_CONFIG_HOME", "/.config") + "/puppetlabs/ca";
        return debian_ ? "/etc/puppet/puppetserver/ca" : "/etc/puppetlabs/puppetserver/ca";
    }
    if (name == "hiera_config") {
        const std::string codedir_hiera = value_of("codedir", depth + 1) + "/hiera.yaml";
        return exists(codedir_hiera) ? codedir_hiera : "$confdir/hiera.yaml";
    }
    if (name == "basemodulepath") {
        return debian_ ? "$codedir/modules:/usr/share/puppet/modules"
                       : "$codedir/modules:/opt/puppetlabs/puppet/modules";
    }
    if (name == "vendormoduledir") {
        return debian_ ? "/usr/share/puppet/vendor_modules"
                       : "/opt/puppetlabs/puppet/vendor_modules";
    }
    if (name == "ssldir") return debian_ && root_ ? "/var/lib/puppet/ssl" : "$confdir/ssl";
    if (root_ && debian_) {
        // The same paths as `puppet config print` of Debian's puppet-agent 7.23.
        if (name == "confdir") return "/etc/puppet";
        if (name == "codedir") return "/etc/puppet/code";
        if (name == "vardir") return "/var/cache/puppet";
        if (name == "publicdir") return "/var/cache/puppet/public";
        if (name == "rundir") return runtime_directory("/run/puppet");
        if (name == "logdir") return "/var/log/puppet";
        return {};
    }
    if (root_) {
        if (name == "confdir") return "/etc/puppetlabs/puppet";
        if (name == "codedir") return "/etc/puppetlabs/code";
        if (name == "vardir") return "/opt/puppetlabs/puppet/cache";
        if (name == "publicdir") return "/opt/puppetlabs/puppet/public";
        if (name == "rundir") return runtime_directory("/var/run/puppetlabs");
        if (name == "logdir") return "/var/log/puppetlabs/puppet";
        return {};
    }
    if (name == "confdir") return xdg("XDG_CONFIG_HOME", "/.config") + "/puppetlabs/puppet";
    if (name == "codedir") return xdg("XDG_CONFIG_HOME", "/.config") + "/puppetlabs/code";
    if (name == "vardir") return xdg("XDG_STATE_HOME", "/.local/state") + "/puppetlabs/puppet";
    if (name == "publicdir") return xdg("XDG_STATE_HOME", "/.local/state") + "/puppetlabs/public";
    if (name == "logdir") return xdg("XDG_STATE_HOME", "/.local/state") + "/puppetlabs/log";
    if (name == "rundir") {
        const char* dir = std::getenv("XDG_RUNTIME_DIR");
        return runtime_directory(dir && dir[0] == '/'
                                     ? std::string(dir) + "/puppetlabs"
                                     : xdg("XDG_STATE_HOME", "/.local/state") + "/puppetlabs/run");
    }
    return {};
}

std::string Settings::interpolate(std::string_view raw, int depth) const {
    if (raw.find('$') == std::string_view::npos) return std::string(raw);
    std::string out;
    for (std::size_t i = 0; i < raw.size();) {
        if (raw[i] != '$') {
            out += raw[i++];
            continue;
        }
        std::size_t begin = i + 1;
        bool braces = begin < raw.size() && raw[begin] == '{';
        if (braces) ++begin;
        std::size_t end = begin;
        while (end < raw.size() && is_word(raw[end])) ++end;
        if (end == begin || (braces && (end >= raw.size() || raw[end] != '}'))) {
            out += raw[i++];
            continue;
        }
        std::string_view name = raw.substr(begin, end - begin);
        std::size_t next = braces ? end + 1 : end;
        // $environment stays unresolved, for the code that knows the environment.
        bool known = name == "run_mode" || is_set(name) || find_setting(name) != nullptr;
        if (name == "environment" || !known) {
            out += raw.substr(i, next - i);
        } else if (name == "run_mode") {
            out += run_mode_;
        } else {
            out += value_of(name, depth + 1);
        }
        i = next;
    }
    return out;
}

std::string Settings::value_of(std::string_view name, int depth) const {
    // Stops the recursion of a setting that refers to itself, directly or indirectly.
    BUNRAKU_ASSERT(depth >= 0);
    if (depth > 20) return {};
    name = real_name(name);
    const SettingSpec* spec = find_setting(name);
    const std::string* raw = find_raw(name);
    std::string value;
    if (raw) {
        value = name == "code" ? *raw : interpolate(*raw, depth);
    } else if (spec && spec->default_value.starts_with("$~")) {
        value = interpolate(machine_default(spec->default_value.substr(2), depth), depth);
    } else if (spec) {
        value = interpolate(spec->default_value, depth);
    }
    if (!spec) return value;
    using Kind = SettingSpec::Kind;
    switch (spec->kind) {
        case Kind::Duration:
        case Kind::Ttl: return duration_seconds(value).value_or(value);
        case Kind::Path:
            // Not every value is a path: "no_manifest" means an environment without manifests.
            if (value.empty() || value == ":memory:" || value == "no_manifest" ||
                value.find('$') != std::string::npos) {
                return value;
            }
            if (value.back() == '/' && name == "manifest") return sys::expand_path(value) + "/";
            return sys::expand_path(value);
        case Kind::PathList: return expanded_list(value);
        case Kind::Integer:
        case Kind::Port: return ruby_integer(value).value_or(value);
        case Kind::Priority: return priority_number(value).value_or(value);
        case Kind::Revocation: return value == "true" ? "chain" : value;
        case Kind::Autosign: return value.starts_with('/') ? sys::expand_path(value) : value;
        default: return value;
    }
}

std::optional<std::string> Settings::get(SettingName name) const {
    if (!is_set(name) && !find_setting(name)) return std::nullopt;
    if (removed_setting(Compatibility::OpenVox9, name) && removed_setting(compatibility(), name))
        return std::nullopt;
    return value_of(name, 0);
}

bool Settings::boolean(SettingName name) const { return text(name) == "true"; }

long Settings::integer(SettingName name) const {
    return base::parse_integer<long>(text(name)).value_or(0);
}

std::vector<std::string> Settings::list(SettingName name) const {
    const SettingSpec* spec = find_setting(name);
    char separator = spec && spec->kind == SettingSpec::Kind::PathList ? ':' : ',';
    std::vector<std::string> out;
    std::string value = text(name);
    std::string_view rest = value;
    while (!rest.empty()) {
        std::size_t at = rest.find(separator);
        std::string_view item = rest.substr(0, at);
        rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
        while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
        while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
        if (!item.empty()) out.emplace_back(item);
    }
    return out;
}

std::vector<std::string> Settings::names() const {
    std::vector<std::string> out;
    for (const SettingSpec& s : kSettings) out.emplace_back(s.name);
    for (const Map* map : {&command_line_, &section_, &main_}) {
        for (const auto& [name, value] : *map) out.push_back(name);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    const Compatibility level = compatibility();
    std::erase_if(out, [&](const std::string& name) { return removed_setting(level, name); });
    return out;
}

}  // namespace bunraku::config
