// SPDX-License-Identifier: Apache-2.0
#include "services/server/population.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "store/query/pql.h"

namespace bunraku::server {

namespace {

/// Returns the number in the answer `[{"count":N}]` of a query, or nullopt if the query fails.
std::optional<std::int64_t> counted(store::QueryEngine& engine, std::string_view pql) {
    try {
        const auto answer = engine.run_text(pql);
        if (!answer) return std::nullopt;
        const auto colon = answer->find(':');
        if (colon == std::string::npos) return std::nullopt;
        auto digits = std::string_view(*answer).substr(colon + 1);
        digits = digits.substr(0, digits.find_first_not_of("0123456789"));
        return base::parse_integer<std::int64_t>(digits);
    } catch (const query::QueryError&) {
        return std::nullopt;
    }
}

}  // namespace

void BackgroundCount::request() {
    asked_ = true;
    if (scheduled_.exchange(true)) return;
    (void)executor_.post_after(sys::Duration(pause_.load()), [this] {
        // A change during the count starts another one afterwards.
        asked_ = false;
        const auto began = executor_.now();
        count_();
        pause_ = std::max(kPause, (executor_.now() - began) * 50).count();
        scheduled_ = false;
        if (asked_) request();
    });
}

Population::Population(sys::Executor& executor)
    : cheap_(executor, [this] { count_nodes_and_resources(); }),
      scan_(executor, [this] { count_distinct(); }),
      undeclared_scan_(executor, [this] { count_undeclared(); }) {}

void Population::start(base::Counters& counters, std::shared_ptr<store::QueryEngine> engine) {
    BUNRAKU_ASSERT(engine && !engine_.load());
    engine_ = std::move(engine);
    const auto add = [&](const char* name, const char* help, std::atomic<std::int64_t>& value) {
        counters.gauge(name, help, {}, [this, &value] {
            changed();
            return static_cast<double>(value.load());
        });
    };
    add("bunraku_population_active_nodes", "Nodes that are active.", active_);
    add("bunraku_population_inactive_nodes", "Nodes that are deactivated or expired.", inactive_);
    add("bunraku_population_resources", "Resources of all active nodes.", resources_);
    add("bunraku_population_distinct_resources",
        "Different resources (type, title and parameters) that are stored.", distinct_);
    add("bunraku_undeclared", "Resources that active nodes no longer declare.", undeclared_);
    changed();
}

void Population::changed() {
    cheap_.request();
    scan_.request();
    undeclared_scan_.request();
}

void Population::count_nodes_and_resources() {
    const auto engine = engine_.load();
    if (!engine) return;
    const auto update = [&](std::atomic<std::int64_t>& value, std::string_view pql) {
        if (const auto number = counted(*engine, pql)) value = *number;
    };
    update(active_, "nodes[count()]{}");
    update(inactive_, "nodes[count()]{ node_state = 'inactive' }");
    update(resources_, "resources[count()]{}");
}

void Population::count_distinct() {
    const auto engine = engine_.load();
    if (!engine) return;
    if (const auto number = engine->distinct_resources()) distinct_ = *number;
}

void Population::count_undeclared() {
    const auto engine = engine_.load();
    if (!engine) return;
    if (const auto number = engine->undeclared_resources()) undeclared_ = *number;
}

}  // namespace bunraku::server
