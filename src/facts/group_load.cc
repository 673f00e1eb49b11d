// memory, processors, load_averages, system_uptime.
#include <charconv>
#include <sys/utsname.h>

#include "facts/context.h"

namespace bunraku::facts {

namespace {

Value memory_part(Context& context, std::uint64_t total, std::uint64_t available) {
    std::uint64_t used = total > available ? total - available : 0;
    auto count = [](std::uint64_t n) { return Value::integer(static_cast<std::int64_t>(n)); };
    return Fields(context)
        .add("available", context.text(human_bytes(available)))
        .add("available_bytes", count(available))
        .add("capacity", context.text(capacity(used, total)))
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

Value resolve_processors(Context& context) {
    CpuInfo info = parse_cpuinfo(context.read("/proc/cpuinfo"));
    if (info.count == 0) return Value::undef();
    std::vector<Value> models;
    for (const std::string& m : info.models) models.push_back(context.text(m));
    Fields fields(context);
    if (info.cores > 0) fields.add("cores", context.integer(info.cores));
    fields.add("count", context.integer(info.count));
    // `uname -p` knows nothing on most distributions.
    utsname names{};
    ::uname(&names);
    bool redhat = context.try_read("/etc/redhat-release").has_value();
    fields.add("isa", context.text(redhat ? names.machine : "unknown"));
    if (!models.empty()) fields.add("models", value::make_array(context.arena, models));
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
    UptimeParts parts = uptime_parts(to_integer(text));
    return Fields(context)
        .add("days", context.integer(parts.days))
        .add("hours", context.integer(parts.hours))
        .add("seconds", context.integer(parts.seconds))
        .add("uptime", context.text(parts.text))
        .build();
}

}  // namespace bunraku::facts
