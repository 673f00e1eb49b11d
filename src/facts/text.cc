// Parsers and formats of facts: they take text, so that captured files test them.
#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#include "facts/context.h"

namespace bunraku::facts {

std::optional<std::string> Context::try_read(const std::string& path) {
    auto content = system.files.read(path);
    if (!content) return std::nullopt;
    return std::move(*content);
}
std::string Context::read(const std::string& path) { return try_read(path).value_or(""); }
std::string Context::read_word(const std::string& path) { return std::string(trim(read(path))); }
std::vector<std::string> Context::list(const std::string& path) {
    auto names = system.files.list(path);
    return names ? std::move(*names) : std::vector<std::string>();
}

std::string_view trim(base::TextView s) { return base::trim(s, std::string_view(" \t\r\n\0", 5)); }

std::vector<std::string_view> split_lines(base::TextView text) { return base::lines(text); }

std::vector<std::string_view> split_words(base::TextView line) {
    return base::words(line, " \t\r\n");
}

std::int64_t to_integer(std::string_view text) {
    std::int64_t n = 0;
    std::from_chars(text.data(), text.data() + text.size(), n);
    return n;
}

std::string human_bytes(std::uint64_t bytes) {
    if (bytes < 1024) return fmt::format("{} bytes", bytes);
    constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double number = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    while (unit + 1 < std::size(kUnits) && std::round(number * 100) / 100 >= 1024) {
        number /= 1024;
        ++unit;
    }
    return fmt::format("{:.2f} {}", number, kUnits[unit]);
}

std::string human_hertz(std::uint64_t hertz) {
    constexpr const char* kUnits[] = {"", "k", "M", "G", "T"};
    auto number = static_cast<double>(hertz);
    std::size_t unit = 0;
    while (unit + 1 < std::size(kUnits) && number >= 1000) {
        number /= 1000;
        ++unit;
    }
    return fmt::format("{:.2f} {}Hz", number, kUnits[unit]);
}

std::string capacity(std::uint64_t used, std::uint64_t total) {
    if (used == total) return "100%";
    if (used == 0 || total == 0) return "0%";
    return fmt::format("{:.2f}%", 100.0 * static_cast<double>(used) / static_cast<double>(total));
}

std::string shell_variable(std::string_view text, std::string_view key) {
    for (std::string_view line : split_lines(text)) {
        line = trim(line);
        if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != '=') {
            continue;
        }
        std::string_view value = trim(line.substr(key.size() + 1));
        if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
            value.back() == value.front()) {
            value = value.substr(1, value.size() - 2);
        }
        return std::string(value);
    }
    return {};
}

Value release_hash(Context& context, std::string_view version) {
    if (version.empty()) return Value::undef();
    Fields fields(context);
    fields.add("full", context.text(version));
    std::size_t dot = version.find('.');
    fields.add("major", context.text(version.substr(0, dot)));
    if (dot != std::string_view::npos) {
        std::string_view rest = version.substr(dot + 1);
        fields.add("minor", context.text_or_undef(rest.substr(0, rest.find('.'))));
    }
    return fields.build();
}

UptimeParts uptime_parts(std::int64_t seconds) {
    UptimeParts parts{};
    parts.seconds = seconds;
    parts.hours = seconds / 3600;
    parts.days = parts.hours / 24;
    if (parts.days == 0) {
        parts.text = fmt::format("{}:{:02} hours", parts.hours, seconds / 60 % 60);
    } else if (parts.days == 1) {
        parts.text = "1 day";
    } else {
        parts.text = fmt::format("{} days", parts.days);
    }
    return parts;
}

MemoryInfo parse_meminfo(std::string_view text) {
    MemoryInfo info;
    std::uint64_t free = 0, buffers = 0, cached = 0, reclaimable = 0;
    bool has_available = false;
    for (std::string_view line : split_lines(text)) {
        auto words = split_words(line);
        if (words.size() < 2) continue;
        std::uint64_t bytes = static_cast<std::uint64_t>(to_integer(words[1])) * 1024;
        if (words[0] == "MemTotal:") info.total = bytes;
        if (words[0] == "MemFree:") free = bytes;
        if (words[0] == "Buffers:") buffers = bytes;
        if (words[0] == "Cached:") cached = bytes;
        if (words[0] == "SReclaimable:") reclaimable = bytes;
        if (words[0] == "SwapTotal:") info.swap_total = bytes;
        if (words[0] == "SwapFree:") info.swap_free = bytes;
        if (words[0] == "MemAvailable:") {
            info.available = bytes;
            has_available = true;
        }
    }
    // Kernels before 3.14 do not give the sum themselves.
    if (!has_available) info.available = free + buffers + cached + reclaimable;
    return info;
}

CpuInfo parse_cpuinfo(std::string_view text) {
    CpuInfo info;
    std::set<std::int64_t> packages;
    int siblings = 0;
    for (std::string_view line : split_lines(text)) {
        std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        std::string_view key = trim(line.substr(0, colon)), value = trim(line.substr(colon + 1));
        if (key == "processor") ++info.count;
        if (key == "model name" || key == "cpu") info.models.emplace_back(value);
        if (key == "physical id") packages.insert(to_integer(value));
        if (key == "cpu MHz" || key == "clock") {
            info.hertz = static_cast<std::uint64_t>(to_integer(value)) * 1'000'000;
        }
        if (key == "cpu cores") info.cores = static_cast<int>(to_integer(value));
        if (key == "siblings") siblings = static_cast<int>(to_integer(value));
        if (key == "flags" && !info.hypervisor_flag) {
            for (std::string_view flag : split_words(value)) {
                if (flag == "hypervisor") info.hypervisor_flag = true;
            }
        }
    }
    info.physical = static_cast<int>(packages.size());
    if (info.cores > 0 && siblings > 0) info.threads = std::max(1, siblings / info.cores);
    return info;
}

namespace {

struct Distribution {
    std::string_view id, name, family;
};
/// The `ID` of os-release and what Facter makes of it.
constexpr Distribution kDistributions[] = {
    {"debian", "Debian", "Debian"},
    {"ubuntu", "Ubuntu", "Debian"},
    {"linuxmint", "Linuxmint", "Debian"},
    {"devuan", "Devuan", "Debian"},
    {"raspbian", "Debian", "Debian"},
    {"rhel", "RedHat", "RedHat"},
    {"centos", "CentOS", "RedHat"},
    {"fedora", "Fedora", "RedHat"},
    {"rocky", "Rocky", "RedHat"},
    {"almalinux", "AlmaLinux", "RedHat"},
    {"ol", "OracleLinux", "RedHat"},
    {"amzn", "Amazon", "RedHat"},
    {"scientific", "Scientific", "RedHat"},
    {"virtuozzo", "VirtuozzoLinux", "RedHat"},
    {"photon", "PhotonOS", "RedHat"},
    {"mariner", "Mariner", "RedHat"},
    {"sles", "SLES", "Suse"},
    {"sled", "SLED", "Suse"},
    {"opensuse", "OpenSuSE", "Suse"},
    {"opensuse-leap", "OpenSuSE", "Suse"},
    {"opensuse-tumbleweed", "OpenSuSE", "Suse"},
    {"arch", "Archlinux", "Archlinux"},
    {"manjaro", "Manjarolinux", "Archlinux"},
    {"gentoo", "Gentoo", "Gentoo"},
    {"alpine", "Alpine", "Linux"},
    {"slackware", "Slackware", "Slackware"},
    {"mageia", "Mageia", "Mandrake"},
};

/// The first dotted number in a text.
std::string first_version(std::string_view text) {
    std::size_t begin = text.find_first_of("0123456789");
    if (begin == std::string_view::npos) return {};
    std::size_t end = std::min(text.find_first_not_of("0123456789.", begin), text.size());
    while (end > begin && text[end - 1] == '.') --end;
    return std::string(text.substr(begin, end - begin));
}

}  // namespace

OsInfo parse_os(std::string_view os_release, std::string_view debian_version,
                std::string_view redhat_release) {
    OsInfo info;
    std::string id = shell_variable(os_release, "ID");
    info.release = shell_variable(os_release, "VERSION_ID");
    info.codename = shell_variable(os_release, "VERSION_CODENAME");
    info.description = shell_variable(os_release, "PRETTY_NAME");
    for (const Distribution& d : kDistributions) {
        if (d.id == id) {
            info.name = d.name;
            info.family = d.family;
        }
    }
    if (info.name.empty()) {
        info.name = shell_variable(os_release, "NAME");
        if (info.name.empty()) info.name = "Linux";
        std::string like = shell_variable(os_release, "ID_LIKE");
        info.family = info.name;
        for (std::string_view word : split_words(like)) {
            for (const Distribution& d : kDistributions) {
                if (d.id == word) info.family = d.family;
            }
        }
    }
    info.distro_id = info.name;
    if (info.name == "Debian") {
        // "12.11", or "trixie/sid" for what has no number yet.
        if (std::string version = first_version(debian_version); !version.empty()) {
            info.release = version;
        }
    } else if (info.family == "RedHat" && info.name != "Amazon") {
        std::size_t at = redhat_release.find("release ");
        if (at != std::string_view::npos) {
            std::string version = first_version(redhat_release.substr(at));
            if (!version.empty()) info.release = version;
        }
    }
    if (info.codename.empty()) {
        std::string version = shell_variable(os_release, "VERSION");
        std::size_t open = version.find('('), close = version.rfind(')');
        if (open != std::string::npos && close != std::string::npos && close > open) {
            info.codename = version.substr(open + 1, close - open - 1);
        }
    }
    return info;
}

std::vector<MountEntry> parse_mounts(std::string_view text) {
    std::vector<MountEntry> mounts;
    // The kernel writes blanks and the like as octal numbers.
    auto unescape = [](std::string_view s) {
        std::string out;
        for (std::size_t i = 0; i < s.size(); ++i) {
            if (s[i] == '\\' && i + 3 < s.size() && s[i + 1] >= '0' && s[i + 1] <= '3') {
                out += static_cast<char>((s[i + 1] - '0') * 64 + (s[i + 2] - '0') * 8 +
                                         (s[i + 3] - '0'));
                i += 3;
            } else {
                out += s[i];
            }
        }
        return out;
    };
    for (std::string_view line : split_lines(text)) {
        auto words = split_words(line);
        if (words.size() < 4) continue;
        MountEntry m{unescape(words[0]), unescape(words[1]), std::string(words[2]), {}};
        bool kernel_own = m.path.starts_with("/proc") || m.path.starts_with("/sys");
        if ((kernel_own && m.filesystem != "tmpfs") || m.filesystem == "autofs") continue;
        std::string_view options = words[3];
        while (!options.empty()) {
            std::size_t comma = options.find(',');
            m.options.emplace_back(options.substr(0, comma));
            options =
                comma == std::string_view::npos ? std::string_view() : options.substr(comma + 1);
        }
        mounts.push_back(std::move(m));
    }
    return mounts;
}

std::string parse_default_route(std::string_view text) {
    for (std::string_view line : split_lines(text)) {
        auto words = split_words(line);
        if (words.size() >= 8 && words[1] == "00000000" && words[7] == "00000000") {
            return std::string(words[0]);
        }
    }
    return {};
}

std::string parse_filesystems(std::string_view text) {
    std::set<std::string_view> names;
    for (std::string_view line : split_lines(text)) {
        auto words = split_words(line);
        if (words.size() == 1 && words[0] != "fuseblk") names.insert(words[0]);
    }
    return fmt::format("{}", fmt::join(names, ","));
}

std::string_view hypervisor_of_product(std::string_view product) {
    constexpr std::pair<std::string_view, std::string_view> kProducts[] = {
        {"VMware", "vmware"},
        {"VirtualBox", "virtualbox"},
        {"Parallels", "parallels"},
        {"KVM", "kvm"},
        {"Virtual Machine", "hyperv"},
        {"RHEV Hypervisor", "rhev"},
        {"oVirt Node", "ovirt"},
        {"HVM domU", "xenhvm"},
        {"Bochs", "bochs"},
        {"OpenBSD", "vmm"},
        {"BHYVE", "bhyve"},
    };
    for (const auto& [part, name] : kProducts) {
        if (product.find(part) != std::string_view::npos) return name;
    }
    return {};
}

}  // namespace bunraku::facts
