// SPDX-License-Identifier: Apache-2.0
// Parsers and formatters for facts. They work on text, so that tests can use captured files.
#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#include "core/base/assert.h"
#include "resources/facts/context.h"

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
    BUNRAKU_ASSERT(unit < std::size(kUnits) && number >= 0.9);
    return fmt::format("{:.2f} {}", std::round(number * 100) / 100, kUnits[unit]);
}

std::string human_hertz(std::uint64_t hertz) {
    constexpr const char* kUnits[] = {"", "k", "M", "G", "T"};
    std::size_t unit = 0;
    std::uint64_t power = 1;
    while (unit + 1 < std::size(kUnits) && hertz / power >= 1000) {
        power *= 1000;
        ++unit;
    }
    BUNRAKU_ASSERT(unit < std::size(kUnits) && power >= 1);
    // Ruby rounds 2.445 up, even if the nearest double is below that number.
    const double rounded =
        std::round(static_cast<double>(hertz) * 100 / static_cast<double>(power)) / 100;
    return fmt::format("{:.2f} {}Hz", rounded, kUnits[unit]);
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
    std::uint64_t free = 0, buffers = 0, cached = 0;
    bool has_available = false;
    for (std::string_view line : split_lines(text)) {
        auto words = split_words(line);
        if (words.size() < 2) continue;
        std::uint64_t bytes = static_cast<std::uint64_t>(to_integer(words[1])) * 1024;
        if (words[0] == "MemTotal:") info.total = bytes;
        if (words[0] == "MemFree:") free = bytes;
        if (words[0] == "Buffers:") buffers = bytes;
        if (words[0] == "Cached:") cached = bytes;
        if (words[0] == "SwapTotal:") info.swap_total = bytes;
        if (words[0] == "SwapFree:") info.swap_free = bytes;
        if (words[0] == "MemAvailable:") {
            info.available = bytes;
            has_available = true;
        }
    }
    // Kernels before 3.14 do not provide MemAvailable.
    if (!has_available) info.available = free + buffers + cached;
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
        if (key == "flags" && info.flags.empty()) {
            for (std::string_view flag : split_words(value)) info.flags.emplace(flag);
        }
    }
    info.physical = static_cast<int>(packages.size());
    if (info.cores > 0 && siblings > 0) info.threads = std::max(1, siblings / info.cores);
    return info;
}

std::vector<std::string> cpu_levels(const CpuInfo& info) {
    static constexpr std::pair<const char*, std::string_view> kLevels[] = {
        {"x86_64-v1", "cmov cx8 fpu fxsr lm mmx syscall sse2"},
        {"x86_64-v2", "cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3"},
        {"x86_64-v3", "abm avx avx2 bmi1 bmi2 f16c fma movbe xsave"},
        {"x86_64-v4", "avx512f avx512bw avx512cd avx512dq avx512vl"},
    };
    std::vector<std::string> out;
    for (const auto& [name, needed] : kLevels) {
        const auto words = split_words(needed);
        if (std::ranges::all_of(words,
                                [&](std::string_view flag) { return info.flags.contains(flag); }))
            out.emplace_back(name);
    }
    return out;
}

std::vector<MountEntry> parse_mounts(std::string_view text) {
    std::vector<MountEntry> mounts;
    // The kernel writes whitespace and similar characters as octal escapes.
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
