// SPDX-License-Identifier: Apache-2.0
#include "services/console/node_filter.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <unordered_set>

#include "core/value/hash_access.h"

namespace bunraku::console {

using base::Result;
using store::NodeRow;

namespace {

constexpr auto kOrders =
    std::to_array<std::string_view>({"state", "name", "-name", "last", "-last"});
/// Bytes of a condition; longer ones do not fit into addresses.
constexpr std::size_t kMostFilter = 8000;

/// Returns the names of the nodes that match a PQL condition.
Result<std::unordered_set<std::string>> matching_names(Visit& visit, const std::string& pql) {
    const auto rows = BUNRAKU_TRY(visit.run(fmt::format("nodes[certname] {{ {} }}", pql)));
    std::unordered_set<std::string> out;
    for (const auto& row : rows) out.insert(value::text_at(row, "certname"));
    return out;
}

void sort_nodes(std::vector<const NodeRow*>& nodes, std::string_view order, std::int64_t now_ms) {
    const auto state = [&](const NodeRow* node) { return state_of(node->run, now_ms); };
    const auto last = [](const NodeRow* node) { return node->run.end; };
    // The nodes are sorted by name already.
    if (order == "-name") {
        std::ranges::reverse(nodes);
    } else if (order == "last") {
        std::ranges::stable_sort(nodes, {}, last);
    } else if (order == "-last") {
        std::ranges::stable_sort(nodes, std::ranges::greater{}, last);
    } else if (order == "state") {
        std::ranges::stable_sort(nodes, {}, state);
    }
}

}  // namespace

Result<NodeFilter> NodeFilter::of(const Visit& visit) {
    NodeFilter out;
    out.environment = visit.query("environment");
    out.state = visit.query("state");
    out.code = visit.query("code");
    out.fact = visit.query("fact");
    out.value = visit.query("value");
    out.missing = visit.query("missing") == "true";
    out.pql = visit.query("filter");
    out.columns = visit.query("columns");
    out.default_columns = !visit.request.query_value("columns");
    out.order = visit.query("order");
    if (out.order.empty()) out.order = "state";
    if (std::ranges::find(kOrders, out.order) == kOrders.end())
        return base::failure(fmt::format("There is no order '{}'", out.order), 404);
    if (!out.state.empty() && !state_named(out.state))
        return base::failure(fmt::format("There is no state '{}'", out.state), 404);
    if (out.pql.size() > kMostFilter)
        return base::failure("The filter is too long for an address", 404);
    if (!out.pql.empty() && !visit.viewer.sees_all()) {
        return base::failure("Filters in PQL read all environments, and you may see only some",
                             404);
    }
    return out;
}

Url NodeFilter::url() const {
    auto out = Url({"nodes"}).with("environment", environment).with("state", state);
    out.with("code", code).with("fact", fact).with("value", value);
    out.with("missing", missing ? "true" : "").with("filter", pql);
    // Url leaves out empty values, but no columns differ from the usual ones.
    if (!default_columns) out.with("columns", columns.empty() ? "," : columns);
    return std::move(out).with("order", order == "state" ? "" : order);
}

Result<std::vector<const NodeRow*>> filtered_nodes(Visit& visit, const Fleet& fleet,
                                                   const NodeFilter& filter) {
    std::shared_ptr<const Grouping> grouping;
    if (!filter.fact.empty()) grouping = BUNRAKU_TRY(visit.console.fleet.grouping(filter.fact));
    std::optional<std::unordered_set<std::string>> names;
    if (!filter.pql.empty()) names = BUNRAKU_TRY(matching_names(visit, filter.pql));
    const auto state = state_named(filter.state);
    std::vector<const NodeRow*> out;
    for (const NodeRow& node : fleet.nodes) {
        const auto environment = fleet.environment(node.run);
        if (!visit.viewer.sees(environment)) continue;
        if (!filter.environment.empty() && environment != filter.environment) continue;
        if (state && state_of(node.run, visit.now_ms) != *state) continue;
        if (!filter.code.empty() && node.run.code != filter.code) continue;
        if (grouping) {
            const bool known = grouping->values.contains(node.run.node);
            if (filter.missing ? known : !known || grouping->of(node) != filter.value) continue;
        }
        if (names && !names->contains(node.certname)) continue;
        out.push_back(&node);
    }
    sort_nodes(out, filter.order, visit.now_ms);
    return out;
}

}  // namespace bunraku::console
