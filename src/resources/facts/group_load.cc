// SPDX-License-Identifier: Apache-2.0
// The facts memory, processors, load_averages and system_uptime.
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <set>
#include <sys/utsname.h>
#include <unistd.h>

#include "resources/facts/context.h"

namespace bunraku::facts {

namespace {

Value memory_part(Context& context, std::uint64_t total, std::uint64_t available) {
    std::uint64_t used = total > available ? total - available : 0;
    auto count = [](std::uint64_t n) { return Value::integer(static_cast<std::int64_t>(n)); };
    return Fields(context)
        .add("available", context.text(human_bytes(available)))
        .add("available_bytes", count(available))
        .add("capacity", context.text(fmt::format("{:.2f}%", 100.0 * static_cast<double>(used) /
                                                                 static_cast<double>(total))))
        .add("total", context.text(human_bytes(total)))
        .add("total_bytes", count(total))
        .add("used", context.text(human_bytes(used)))
        .add("used_bytes", count(used))
        .build();
}

Value decimal(std::string_view text) {
    double d = 0;
    std::from_chars(text.data(), text.data() + text.size(), d);
    return Value::floating(d);
}

}  // namespace

Value resolve_memory(Context& context) {
    MemoryInfo info = parse_meminfo(context.read("/proc/meminfo"));
    if (info.total == 0) return Value::undef();
    Fields fields(context);
    if (info.swap_total > 0) {
        fields.add("swap", memory_part(context, info.swap_total, info.swap_free));
    }
    fields.add("system", memory_part(context, info.total, info.available));
    return fields.build();
}

namespace {

/// The kernel's processor topology, used if /proc/cpuinfo does not contain it.
struct Topology {
    int packages = 0, cores_per_package = 0, threads_per_core = 0;
};
Topology read_topology(Context& context) {
    const std::string base = "/sys/devices/system/cpu";
    std::set<std::string> packages, cores, threads;
    for (const std::string& name : context.list(base)) {
        if (!name.starts_with("cpu") ||
            name.find_first_not_of("0123456789", 3) != std::string::npos || name.size() < 4)
            continue;
        const std::string topology_path = fmt::format("{}/{}/topology/", base, name);
        const std::string package = context.read_word(topology_path + "physical_package_id");
        if (package.empty()) continue;
        packages.insert(package);
        cores.insert(package + " " + context.read_word(topology_path + "core_id"));
        threads.insert(name);
    }
    Topology out;
    out.packages = static_cast<int>(packages.size());
    if (out.packages == 0) return out;
    out.cores_per_package = static_cast<int>(cores.size() / packages.size());
    out.threads_per_core = static_cast<int>(threads.size() / cores.size());
    return out;
}

}  // namespace

Value resolve_processors(Context& context) {
    CpuInfo info = parse_cpuinfo(context.read("/proc/cpuinfo"));
    if (info.count == 0) return Value::undef();
    // Count as lscpu does; on most architectures /proc/cpuinfo does not contain the topology.
    if (const Topology topology = read_topology(context); topology.packages > 0) {
        if (info.physical == 0) info.physical = topology.packages;
        info.cores = topology.cores_per_package;
        info.threads = topology.threads_per_core;
    }
    std::vector<Value> models;
    for (const std::string& m : info.models) models.push_back(context.text(m));
    utsname names{};
    ::uname(&names);
    // Where `uname -p` prints "unknown", as on Debian, OpenFact 5.6 takes `uname -m`.
    const std::string isa = names.machine;
    std::vector<std::string> extensions = {isa};
    if (isa == "x86_64") std::ranges::copy(cpu_levels(info), std::back_inserter(extensions));
    std::ranges::sort(extensions);
    std::vector<Value> extension_values;
    for (const std::string& e : extensions) extension_values.push_back(context.text(e));
    Fields fields(context);
    if (info.cores > 0) fields.add("cores", context.integer(info.cores));
    fields.add("count", context.integer(info.count));
    fields.add("extensions", value::make_array(context.arena, extension_values));
    fields.add("isa", context.text(isa));
    fields.add("models", value::make_array(context.arena, models));
    fields.add("physicalcount", context.integer(info.physical));
    if (info.hertz > 0) fields.add("speed", context.text(human_hertz(info.hertz)));
    if (info.threads > 0) fields.add("threads", context.integer(info.threads));
    return fields.build();
}

Value resolve_load_averages(Context& context) {
    std::string text = context.read("/proc/loadavg");
    auto words = split_words(text);
    if (words.size() < 3) return Value::undef();
    return Fields(context)
        .add("15m", decimal(words[2]))
        .add("1m", decimal(words[0]))
        .add("5m", decimal(words[1]))
        .build();
}

Value resolve_system_uptime(Context& context) {
    std::string text = context.read("/proc/uptime");
    if (text.empty()) return Value::undef();
    std::int64_t seconds = to_integer(text);
    // The uptime of a container is the age of its first process.
    if (detect_virtuality(context).container == "docker") {
        const std::string stat = context.read("/proc/1/stat");
        const auto words =
            split_words(std::string_view(stat).substr(std::min(stat.rfind(')') + 1, stat.size())));
        const std::int64_t ticks = ::sysconf(_SC_CLK_TCK);
        if (words.size() > 19 && ticks > 0) seconds -= to_integer(words[19]) / ticks;
    }
    UptimeParts parts = uptime_parts(std::max<std::int64_t>(seconds, 0));
    return Fields(context)
        .add("days", context.integer(parts.days))
        .add("hours", context.integer(parts.hours))
        .add("seconds", context.integer(parts.seconds))
        .add("uptime", context.text(parts.text))
        .build();
}

}  // namespace bunraku::facts
