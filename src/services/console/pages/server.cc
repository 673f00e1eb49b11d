// SPDX-License-Identifier: Apache-2.0
// The figures of this server: store, queue, compiles, caches, process.
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

private:
    Html& h_;
    Panel panel_;
    Html::Element in_, list_;
};

void write_store(Html& h, store::Service& service) {
    const auto health = service.health();
    FigureList figures(h, "Store");
    figures.add("Database", service.backend() == store::Backend::Sqlite ? "SQLite" : "PostgreSQL");
    figures.add("State", health.database_up ? "answers" : "does not answer");
    if (!health.problem.empty()) figures.add("Latest problem", health.problem);
    figures.add("Commands that wait", static_cast<std::int64_t>(health.queue.depth));
    figures.add("Dead letters", static_cast<std::int64_t>(health.dead_letters));
}

void write_compiles(Html& h, const base::Counters& counters) {
    FigureList figures(h, "Catalogs");
    base::Histogram compile, wait;
    counters.total(server::kCompileTime, compile);
    counters.total(server::kCompileWait, wait);
    figures.add("Compiles since the start", static_cast<std::int64_t>(compile.count()));
    if (compile.count() > 0) {
        figures.add("Median compile", seconds_text(compile.quantile(0.5) / 1e6));
        figures.add("95th percentile", seconds_text(compile.quantile(0.95) / 1e6));
        figures.add("Longest compile", seconds_text(static_cast<double>(compile.max()) / 1e6));
        figures.add("95th percentile of the wait for a slot",
                    seconds_text(wait.quantile(0.95) / 1e6));
    }
}

void write_requests(Html& h, const base::Counters& counters) {
    base::Histogram requests;
    counters.total("bunraku_http_request_seconds", requests);
    FigureList figures(h, "Requests");
    figures.add("Since the start", static_cast<std::int64_t>(requests.count()));
    if (requests.count() == 0) return;
    figures.add("Median", seconds_text(requests.quantile(0.5) / 1e6));
    figures.add("95th percentile", seconds_text(requests.quantile(0.95) / 1e6));
    figures.add("A second, average of 5 minutes", fmt::format("{:.1f}", requests.rate(5)));
}

void write_process(Html& h, const Console& console) {
    const auto process = server::process_figures();
    FigureList figures(h, "Process");
    figures.add("Version", console.context.version);
    figures.add("Runs for", span_text(process.uptime_ms));
    figures.add("Memory", bytes_text(process.resident_bytes));
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
            write_store(h, *visit.console.store);
            write_compiles(h, visit.console.context.counters);
        }
        const auto right = h.in("div");
        write_requests(h, visit.console.context.counters);
        write_process(h, visit.console);
    }
    return visit.page({.title = "Server", .nav = "server"}, std::move(h));
}

}  // namespace bunraku::console
