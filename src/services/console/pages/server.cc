// SPDX-License-Identifier: Apache-2.0
// The figures of this server: store, queue, compiles, caches, process.
#include <algorithm>
#include <fmt/format.h>

#include "services/console/format.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"
#include "services/server/debug_status.h"
#include "services/server/process_figures.h"

namespace bunraku::console {

namespace {

class FigureList {
public:
    FigureList(Html& h, std::string_view title)
        : h_(h),
          panel_(open_panel(h, title)),
          in_(h.in("div", {{"class", "in"}})),
          list_(h.in("dl", {{"class", "kv"}})) {}
    void add(std::string_view name, std::string_view value) {
        h_.leaf("dt", name);
        const auto dd = h_.in("dd");
        h_.foreign(value, 1000);
    }
    void add(std::string_view name, std::int64_t value) { add(name, number_text(value)); }
    /// Adds a value with its course over the last hour.
    void add(std::string_view name, std::string_view value, const std::vector<double>& course,
             std::string_view label) {
        h_.leaf("dt", name);
        const auto dd = h_.in("dd");
        h_.text(value);
        if (course.size() < 2) return;
        h_.text(" ");
        sparkline(h_, course, label);
    }

private:
    Html& h_;
    Panel panel_;
    Html::Element in_, list_;
};

constexpr std::size_t kMostDeadLetters = 50;
using Sample = ServerHistory::Sample;

std::string of_last_minute(const std::vector<double>& course) {
    if (course.empty()) return "counted after a minute";
    return fmt::format("{} in the last minute",
                       number_text(static_cast<std::int64_t>(course.back())));
}

void write_store(Html& h, const Visit& visit) {
    auto& service = *visit.console.store;
    const auto health = service.health();
    FigureList figures(h, "Store");
    figures.add("Database", service.backend() == store::Backend::Sqlite ? "SQLite" : "PostgreSQL");
    figures.add("State", health.database_up ? "reachable" : "unreachable");
    if (!health.problem.empty()) {
        // The text of the database may name hosts and statements.
        figures.add("Latest problem", visit.viewer.may(Right::Administer)
                                          ? std::string_view(health.problem)
                                          : "the server's log has it");
    }
    const auto& history = visit.console.history;
    const auto commands = history.per_minute(&Sample::commands);
    figures.add("Commands received", of_last_minute(commands), commands,
                "Commands received in each minute of the last hour");
    figures.add("Waiting commands", number_text(static_cast<std::int64_t>(health.queue.depth)),
                history.values(&Sample::queue), "Waiting commands over the last hour");
    figures.add("Dead letters", static_cast<std::int64_t>(health.dead_letters));
}

/// Lists the commands that could not be stored. Their reasons may quote the database or the data of
/// nodes, so only operators see them.
void write_dead_letters(Html& h, const Visit& visit) {
    auto letters = store::Queue::dead_letters(visit.console.store->options().queue_folder);
    if (!letters || letters->empty()) return;
    std::ranges::stable_sort(*letters, std::ranges::greater{}, &store::DeadLetter::failed_at);
    const auto panel = open_panel(
        h,
        fmt::format("Dead letters ({})", number_text(static_cast<std::int64_t>(letters->size()))));
    const bool reasons = visit.viewer.may(Right::Operate);
    {
        constexpr Column kColumns[] = {{"Node"}, {"Command"}, {"Reason"}, {"Failed", true}};
        const auto table = open_table(h, kColumns, "Dead letters");
        for (std::size_t i = 0; i < std::min(kMostDeadLetters, letters->size()); ++i) {
            const auto& letter = (*letters)[i];
            const auto row = h.in("tr");
            {
                const auto td = h.in("td");
                node_link(h, letter.header.certname);
            }
            cell(h, fmt::format("{} v{}", store::command_name(letter.header.kind),
                                letter.header.version));
            if (reasons) {
                cell(h, letter.reason);
            } else {
                h.leaf("td", {{"class", "m"}}, "operators can see it");
            }
            const auto td = h.in("td", {{"class", "r nw"}});
            time_ago(h, letter.failed_at, visit.now_ms);
        }
    }
    const auto footer = h.in("footer");
    h.text("Correct the cause, then resubmit them with ")
        .leaf("code", "bunraku db dead-letters resubmit NAME");
}

void write_compiles(Html& h, const Visit& visit) {
    const auto& counters = visit.console.context.counters;
    FigureList figures(h, "Compiles");
    base::Histogram compile, wait;
    counters.total(server::kCompileTime, compile);
    counters.total(server::kCompileWait, wait);
    const auto course = visit.console.history.per_minute(&Sample::compiles);
    figures.add("Compiled", of_last_minute(course), course,
                "Compiles in each minute of the last hour");
    figures.add("Since the start", static_cast<std::int64_t>(compile.count()));
    if (compile.count() > 0) {
        figures.add("Median time", latency_text(compile.quantile(0.5)));
        figures.add("95th percentile", latency_text(compile.quantile(0.95)));
        figures.add("Longest time", latency_text(static_cast<double>(compile.max())));
        figures.add("Wait for a slot, 95th percentile", latency_text(wait.quantile(0.95)));
    }
    const auto count = [&](std::string_view name) {
        return static_cast<std::int64_t>(counters.total(name));
    };
    if (count("bunraku_compile_slots") == 0) return;  // without the role `compiler`
    figures.add("Compile slots", fmt::format("{} of {} free", count("bunraku_compile_slots_free"),
                                             count("bunraku_compile_slots")));
    figures.add("Cached catalogs", count("bunraku_catalogs_kept"));
    figures.add("Catalogs from the cache", count("bunraku_catalogs_reused_total"));
    figures.add("Failed", count("bunraku_catalogs_failed_total"));
    figures.add("Refused", count("bunraku_compiles_refused_total"));
    figures.add("Ruby workers", count("bunraku_ruby_workers"));
}

void write_requests(Html& h, const Visit& visit) {
    const auto& counters = visit.console.context.counters;
    base::Histogram requests;
    counters.total("bunraku_http_request_seconds", requests);
    FigureList figures(h, "Requests");
    const auto course = visit.console.history.per_minute(&Sample::requests);
    figures.add("Received", of_last_minute(course), course,
                "Requests in each minute of the last hour");
    figures.add("Since the start", static_cast<std::int64_t>(requests.count()));
    if (requests.count() == 0) return;
    figures.add("Median time", latency_text(requests.quantile(0.5)));
    figures.add("95th percentile", latency_text(requests.quantile(0.95)));
    figures.add("Rate over 5 minutes", fmt::format("{:.1f} per second", requests.rate(5)));
}

void write_process(Html& h, const Console& console) {
    const auto process = server::process_figures();
    FigureList figures(h, "Process");
    figures.add("Version", console.context.version);
    figures.add("Uptime", span_text(process.uptime_ms));
    figures.add("Memory", bytes_text(process.resident_bytes),
                console.history.values(&Sample::memory), "Memory over the last hour");
    figures.add("CPU time", seconds_text(process.cpu_seconds));
    figures.add("Threads", static_cast<std::int64_t>(process.threads));
    figures.add("Open files",
                fmt::format("{} of {}", number_text(static_cast<std::int64_t>(process.open_files)),
                            number_text(static_cast<std::int64_t>(process.max_open_files))));
    figures.add("Console sessions", static_cast<std::int64_t>(console.sessions.size()));
}

}  // namespace

base::Result<Response> server_page(Visit& visit) {
    Html h;
    {
        const auto columns = h.in("div", {{"class", "cols c66"}});
        {
            const auto left = h.in("div");
            write_store(h, visit);
            write_compiles(h, visit);
        }
        const auto right = h.in("div");
        write_requests(h, visit);
        write_process(h, visit.console);
    }
    write_dead_letters(h, visit);
    return visit.page({.title = "Server", .nav = "server"}, std::move(h));
}

}  // namespace bunraku::console
