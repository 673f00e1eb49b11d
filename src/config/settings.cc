#include "config/settings.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "codec/ini.h"
#include "sys/file_system.h"

namespace bunraku::config {

namespace {

using Kind = SettingSpec::Kind;

/// Names that mean another setting.
std::string_view real_name(std::string_view name) {
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

std::string xdg(const char* variable, std::string_view fallback) {
    if (const char* dir = std::getenv(variable); dir && dir[0] == '/') return dir;
    return home_directory() + std::string(fallback);
}

/// "30m" is 1800; anything else stays as it is.
std::string seconds(std::string_view text) {
    long n = 0;
    auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (ec != std::errc() || end == text.data()) return std::string(text);
    std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    long factor = unit.empty() || unit == "s" ? 1
                  : unit == "m"               ? 60
                  : unit == "h"               ? 3600
                  : unit == "d"               ? 86400
                  : unit == "y"               ? 31536000
                                              : 0;
    if (factor == 0 || n > 1'000'000'000'000) return std::string(text);
    return std::to_string(n * factor);
}

/// Options behind a path in puppet.conf: "/x { owner = root, mode = 0755 }".
std::string without_file_options(std::string value) {
    std::size_t open = value.find('{');
    if (open == std::string::npos || (open > 0 && value[open - 1] == '$')) return value;
    std::size_t close = value.find('}', open);
    if (close == std::string::npos) return value;
    value.erase(open, close - open + 1);
    while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.pop_back();
    return value;
}

}  // namespace

const SettingSpec* find_setting(std::string_view name) {
    const auto& table = all_settings();
    auto it = std::lower_bound(table.begin(), table.end(), name,
                               [](const SettingSpec& s, std::string_view n) { return s.name < n; });
    return it != table.end() && it->name == name ? &*it : nullptr;
}

Settings Settings::defaults() {
    Settings s;
    s.system_directories_ = geteuid() == 0;
    return s;
}

Settings Settings::as_all_in_one() const {
    Settings s = *this;
    s.system_directories_ = true;
    return s;
}

base::Result<void> Settings::load_file(const std::string& path, std::string_view section) {
    auto files = sys::make_real_file_system();
    auto text = files->read(path);
    if (!text) {
        run_mode_ = section;
        // Not there is as good as empty; there but not readable by this user as well, as Puppet has
        // it for its default file.
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
    auto file = codec::parse_ini(text);
    if (!file) return base::failure(fmt::format("{} (file: {})", file.error().message, name));
    for (const auto& part : file->sections) {
        // [master] is the older name of [server].
        bool mine = part.name == section || (section == "server" && part.name == "master");
        if (part.name != "main" && !mine) continue;
        Map& target = mine ? section_ : main_;
        for (const auto& entry : part.entries) {
            std::string_view key = real_name(entry.name);
            const SettingSpec* spec = find_setting(key);
            bool path = spec && (spec->kind == Kind::Path || spec->kind == Kind::PathList);
            // The first of several wins, and [server] over [master].
            std::string value = path ? without_file_options(entry.value) : entry.value;
            if (part.name == "server") {
                target.insert_or_assign(std::string(key), std::move(value));
            } else {
                target.try_emplace(std::string(key), std::move(value));
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

bool Settings::is_set(std::string_view name) const { return find_raw(name) != nullptr; }

bool Settings::is_nil(std::string_view name) const {
    if (is_set(name)) return false;
    const SettingSpec* spec = find_setting(name);
    return spec && spec->nil_default;
}

std::string Settings::machine_default(std::string_view name) const {
    if (name == "certname") return default_certname();
    if (name == "cadir") {
        return system_directories_ ? "/etc/puppetlabs/puppetserver/ca"
                                   : xdg("XDG_CONFIG_HOME", "/.config") + "/puppetlabs/ca";
    }
    if (system_directories_) {
        if (name == "confdir") return "/etc/puppetlabs/puppet";
        if (name == "codedir") return "/etc/puppetlabs/code";
        if (name == "vardir") return "/opt/puppetlabs/puppet/cache";
        if (name == "publicdir") return "/opt/puppetlabs/puppet/public";
        if (name == "rundir") return "/var/run/puppetlabs";
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
        if (dir && dir[0] == '/') return std::string(dir) + "/puppetlabs";
        return xdg("XDG_STATE_HOME", "/.local/state") + "/puppetlabs/run";
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
        // $environment is left for whoever knows the environment.
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
    // A setting that names itself, directly or around a corner, ends here.
    if (depth > 20) return {};
    name = real_name(name);
    const SettingSpec* spec = find_setting(name);
    const std::string* raw = find_raw(name);
    std::string value;
    if (raw) {
        value = name == "code" ? *raw : interpolate(*raw, depth);
    } else if (spec && spec->default_value.starts_with("$~")) {
        value = machine_default(spec->default_value.substr(2));
    } else if (spec) {
        value = interpolate(spec->default_value, depth);
    }
    if (!spec) return value;
    switch (spec->kind) {
        case Kind::Duration:
        case Kind::Ttl: return seconds(value);
        case Kind::Path:
            if (value.empty() || value == ":memory:" || value.find('$') != std::string::npos) {
                return value;
            }
            if (value.back() == '/' && name == "manifest") return sys::expand_path(value) + "/";
            return sys::expand_path(value);
        case Kind::Boolean:
            if (value == "yes" || value == "1") return "true";
            if (value == "no" || value == "0") return "false";
            return value;
        default: return value;
    }
}

std::optional<std::string> Settings::get(std::string_view name) const {
    if (!is_set(name) && !find_setting(name)) return std::nullopt;
    return value_of(name, 0);
}

bool Settings::boolean(std::string_view name) const { return text(name) == "true"; }

long Settings::integer(std::string_view name) const {
    std::string value = text(name);
    long n = 0;
    std::from_chars(value.data(), value.data() + value.size(), n);
    return n;
}

std::vector<std::string> Settings::list(std::string_view name) const {
    const SettingSpec* spec = find_setting(name);
    char separator = spec && spec->kind == Kind::PathList ? ':' : ',';
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
    for (const SettingSpec& s : all_settings()) out.emplace_back(s.name);
    for (const Map* map : {&command_line_, &section_, &main_}) {
        for (const auto& [name, value] : *map) out.push_back(name);
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

}  // namespace bunraku::config
