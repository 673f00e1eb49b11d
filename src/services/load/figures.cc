// SPDX-License-Identifier: Apache-2.0
#include "services/load/figures.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/codec/json_text.h"

namespace bunraku::load {

namespace {

constexpr std::string_view kNames[] = {"run",           "connect",       "catalog unchanged",
                                       "node",          "plugins",       "catalog",
                                       "file metadata", "file contents", "report"};
static_assert(std::size(kNames) == static_cast<std::size_t>(Step::kSize));
constexpr double kQuantiles[] = {0.5, 0.9, 0.99};
/// Limit of distinct error texts, which servers may vary without bound. Further ones are counted
/// together.
constexpr std::size_t kKinds = 40;

double per_second(std::uint64_t count, double seconds) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

}  // namespace

std::string_view step_name(Step step) { return kNames[static_cast<std::size_t>(step)]; }

void Figures::done(Step step, std::int64_t nanoseconds, std::uint64_t sent,
                   std::uint64_t received) {
    BUNRAKU_ASSERT(step < Step::kSize);
    auto& line = lines_[static_cast<std::size_t>(step)];
    line.time.record(static_cast<std::uint64_t>(std::max<std::int64_t>(0, nanoseconds) / 1000));
    line.sent.add(sent);
    line.received.add(received);
}

void Figures::failed(Step step, std::string_view kind, std::string example) {
    std::lock_guard lock(mutex_);
    BUNRAKU_ASSERT(step < Step::kSize);
    auto key = std::pair(step, std::string(kind));
    if (errors_.size() >= kKinds && !errors_.contains(key)) key.second = "others";
    auto& error = errors_[key];
    BUNRAKU_ASSERT(errors_.size() <= kKinds + lines_.size());
    ++error.count;
    if (error.example.empty()) error.example = std::move(example);
}

std::map<std::pair<Step, std::string>, Figures::Error> Figures::errors() const {
    std::lock_guard lock(mutex_);
    return errors_;
}

std::uint64_t Figures::failures() const {
    std::uint64_t out = 0;
    for (const auto& [key, error] : errors()) out += error.count;
    return out;
}

std::uint64_t Figures::requests() const {
    std::uint64_t out = 0;
    for (auto i = static_cast<std::size_t>(Step::Unchanged); i < lines_.size(); ++i)
        out += lines_[i].time.count();
    return out;
}

double Figures::milliseconds(Step step, double quantile) const {
    const auto& time = at(step).time;
    // The middle of a histogram bucket may exceed the maximum.
    return std::min(time.quantile(quantile), static_cast<double>(time.max())) / 1000;
}

std::string Figures::progress(double seconds) const {
    return fmt::format("{:.0f} s: {} runs, {:.1f}/s, {} running, p99 {:.0f} ms, {} failed", seconds,
                       count(Step::Run), per_second(count(Step::Run), seconds), running.value(),
                       milliseconds(Step::Run, 0.99), runs_failed.value());
}

std::string Figures::text(const LoadSummary& around) const {
    std::string out = fmt::format(
        "{} agents, {} runs in {:.1f} s{}: {:.2f} runs and {:.1f} requests a second, {} failed\n",
        around.agents, count(Step::Run), around.seconds, around.interrupted ? " (interrupted)" : "",
        per_second(count(Step::Run), around.seconds), per_second(requests(), around.seconds),
        runs_failed.value());
    out += fmt::format("{:<18}{:>9}{:>10}{:>10}{:>10}{:>10}{:>10}{:>12}\n", "", "count", "each s",
                       "p50 ms", "p90 ms", "p99 ms", "max ms", "KiB each");
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        const auto& line = lines_[i];
        const auto n = line.time.count();
        if (n == 0) continue;
        out += fmt::format("{:<18}{:>9}{:>10.1f}", kNames[i], n, per_second(n, around.seconds));
        for (const double q : kQuantiles)
            out += fmt::format("{:>10.1f}", milliseconds(static_cast<Step>(i), q));
        const auto bytes = line.sent.value() + line.received.value();
        out += fmt::format("{:>10.1f}{:>12.1f}\n", static_cast<double>(line.time.max()) / 1000,
                           static_cast<double>(bytes) / 1024 / static_cast<double>(n));
    }
    const auto note = [&](const base::Counter& counter, std::string_view what) {
        if (counter.value()) out += fmt::format("{} {}\n", counter.value(), what);
    };
    note(put_off, "times the server asked an agent to return later (503 with Retry-After)");
    note(absent, "runs were skipped or aborted, as requested");
    note(late,
         "runs began more than a second late: the server, or this machine, could not keep up");
    for (const auto& [key, error] : errors()) {
        out += fmt::format("{} × {}: {}\n    {}\n", error.count, step_name(key.first), key.second,
                           error.example);
    }
    out += fmt::format("This program itself used {:.1f} s of CPU\n", around.own_cpu_seconds);
    return out;
}

std::string Figures::json(const LoadSummary& around) const {
    std::string steps, wrong;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        const auto& line = lines_[i];
        const auto n = line.time.count();
        if (n == 0) continue;
        const auto step = static_cast<Step>(i);
        steps += fmt::format(
            R"({}{}:{{"count":{},"rate":{:.3f},"mean_ms":{:.3f},"p50_ms":{:.3f},"p90_ms":{:.3f},)"
            R"("p99_ms":{:.3f},"max_ms":{:.3f},"bytes_sent":{},"bytes_received":{}}})",
            steps.empty() ? "" : ",", codec::json_string(kNames[i]), n,
            per_second(n, around.seconds), line.time.mean() / 1000, milliseconds(step, 0.5),
            milliseconds(step, 0.9), milliseconds(step, 0.99),
            static_cast<double>(line.time.max()) / 1000, line.sent.value(), line.received.value());
    }
    for (const auto& [key, error] : errors()) {
        wrong += fmt::format(R"({}{{"step":{},"kind":{},"count":{},"example":{}}})",
                             wrong.empty() ? "" : ",", codec::json_string(step_name(key.first)),
                             codec::json_string(key.second), error.count,
                             codec::json_string(error.example));
    }
    return fmt::format(
        R"({{"agents":{},"seconds":{:.3f},"interrupted":{},"runs":{},"runs_failed":{},)"
        R"("runs_per_second":{:.3f},"requests":{},"requests_per_second":{:.3f},"put_off":{},)"
        R"("absent":{},"late":{},"certificates_made":{},"own_cpu_seconds":{:.3f},)"
        R"("steps":{{{}}},"errors":[{}]}})"
        "\n",
        around.agents, around.seconds, around.interrupted, count(Step::Run), runs_failed.value(),
        per_second(count(Step::Run), around.seconds), requests(),
        per_second(requests(), around.seconds), put_off.value(), absent.value(), late.value(),
        fresh.value(), around.own_cpu_seconds, steps, wrong);
}

}  // namespace bunraku::load
