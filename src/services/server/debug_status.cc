// SPDX-License-Identifier: Apache-2.0
#include "services/server/debug_status.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/sys/clock.h"
#include "services/server/process_figures.h"

namespace bunraku::server {

using base::Counters;
using base::Histogram;

namespace {

std::uint64_t whole_ms(double microseconds) {
    return static_cast<std::uint64_t>(microseconds / 1e3 + 0.5);
}

struct RouteTimes {
    std::string name;
    const Histogram* histogram;
};

std::vector<RouteTimes> times_by_route(const Counters& counters) {
    std::vector<RouteTimes> out;
    counters.visit([&](const Counters::Sample& s) {
        if (s.name != "bunraku_http_request_seconds" || !s.histogram || s.histogram->count() == 0)
            return;
        if (auto name = puppetserver_route(s.labels[0].second); !name.empty())
            out.push_back({std::move(name), s.histogram});
    });
    return out;
}

std::string in_experimental(const std::string& json) {
    return fmt::format(R"({{"experimental":{}}})", json);
}

/// Returns {"count", "mean", "aggregate"} in the format of these lists. `about` is the key of the
/// name.
std::string measured_row(std::string_view about, std::string_view name, const Histogram& h) {
    return fmt::format(R"({{"{}":{},"count":{},"mean":{},"aggregate":{}}})", about,
                       codec::json_string(name), h.count(), whole_ms(h.mean()),
                       whole_ms(static_cast<double>(h.sum())));
}

}  // namespace

std::string puppetserver_route(std::string_view pattern) {
    if (!pattern.starts_with("/puppet/v")) return {};
    std::string out;
    for (const auto segment : base::words(pattern, "/")) {
        if (!out.empty()) out += '-';
        if (!segment.starts_with('{')) {
            out += segment;
        } else if (segment == "{module}") {
            out += ":module-name";
        } else if (segment == "{name}") {
            out += pattern.starts_with("/puppet/v3/plans") ? ":plan-name" : ":task-name";
        } else {
            out += "/*/";
        }
    }
    // puppetserver's pattern for these routes includes the rest of the path.
    if (out.starts_with("puppet-v3-environment_")) out += "-/*/";
    return out;
}

std::string jvm_metrics() {
    const auto p = process_figures();
    const auto usage = fmt::format(R"({{"init":0,"committed":{0},"max":{1},"used":{0}}})",
                                   p.resident_bytes, p.virtual_bytes);
    constexpr std::string_view kNothing = R"({"init":0,"committed":0,"max":-1,"used":0})";
    const auto seconds = std::max(1e-3, static_cast<double>(p.uptime_ms) / 1e3);
    return in_experimental(fmt::format(
        R"({{"jvm-metrics":{{"cpu-usage":{:.4f},"gc-cpu-usage":0.0,"up-time-ms":{},)"
        R"("start-time-ms":{},"threading":{{"thread-count":{},"peak-thread-count":{}}},)"
        R"("heap-memory":{},"non-heap-memory":{},"memory-pools":{{}},"gc-stats":{{}},)"
        R"("nio-buffer-pools":{{}},"file-descriptors":{{"used":{},"max":{}}}}}}})",
        100 * p.cpu_seconds / seconds, p.uptime_ms, static_cast<std::int64_t>(p.start_time * 1e3),
        p.threads, p.threads, usage, kNothing, p.open_files, p.max_open_files));
}

std::string route_metrics(const Counters& counters) {
    auto routes = times_by_route(counters);
    Histogram total;
    for (const auto& route : routes) total.absorb(*route.histogram);
    std::ranges::stable_sort(routes, std::greater{},
                             [](const auto& r) { return r.histogram->sum(); });
    std::string list = measured_row("route-id", "total", total);
    for (const auto& route : routes)
        list += "," + measured_row("route-id", route.name, *route.histogram);
    return in_experimental(
        fmt::format(R"({{"http-metrics":[{}],"http-client-metrics":[]}})", list));
}

std::string pool_metrics(const CompileSlots::Figures& f, const Counters& counters) {
    const auto* waits = counters.find_histogram(kCompileWait);
    const auto* times = counters.find_histogram(kCompileTime);
    const auto mean = [](const Histogram* h) { return h ? whole_ms(h->mean()) : 0; };
    std::string timers;
    const auto timer = [&](std::string_view name, const Histogram& h) {
        timers +=
            fmt::format(R"({}{}:{{"count":{},"mean":{},"max":{},"rate":{:.6f}}})",
                        timers.empty() ? "" : ",", codec::json_string(name), h.count(),
                        whole_ms(h.mean()), whole_ms(static_cast<double>(h.max())), h.rate(5));
    };
    const Histogram none;
    timer("total", times ? *times : none);
    for (const auto& route : times_by_route(counters)) {
        std::string name = route.name.substr(0, route.name.find("-/*/"));
        std::erase(name, ':');
        timer(name, *route.histogram);
    }
    const auto busy = f.total - f.free;
    return in_experimental(fmt::format(
        R"({{"jruby-pool-lock-status":{{"current-state":":not-in-use","last-change-time":"{}"}},)"
        R"("metrics":{{"num-jrubies":{},"num-free-jrubies":{},"requested-count":{},)"
        R"("borrow-count":{},"return-count":{},"borrow-timeout-count":{},"borrow-retry-count":0,)"
        R"("queue-limit-hit-count":{},"queue-limit-hit-rate":{:.4f},"num-pool-locks":0,)"
        R"("average-free-jrubies":{:.1f},"average-requested-jrubies":{:.1f},)"
        R"("average-borrow-time":{},"average-wait-time":{},"average-lock-wait-time":0,)"
        R"("average-lock-held-time":0,"borrow-timers":{{{}}},"borrowed-instances":[],)"
        R"("requested-instances":[]}}}})",
        sys::iso8601_utc(static_cast<std::int64_t>(process_figures().start_time * 1e9), 3), f.total,
        f.free, f.asked, f.taken, f.returned, f.timed_out, f.refused,
        f.asked > 0 ? static_cast<double>(f.refused) / static_cast<double>(f.asked) : 0.0,
        static_cast<double>(f.free), static_cast<double>(busy + f.waiting), mean(times),
        mean(waits), timers));
}

std::string profiler_metrics(const Counters& counters) {
    const auto* times = counters.find_histogram(kCompileTime);
    const Histogram none;
    return in_experimental(
        fmt::format(R"({{"function-metrics":[],"resource-metrics":[],"catalog-metrics":[{}],)"
                    R"("puppetdb-metrics":[],"inline-metrics":[]}})",
                    measured_row("metric", "compile", times ? *times : none)));
}

}  // namespace bunraku::server
