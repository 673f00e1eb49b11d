// SPDX-License-Identifier: Apache-2.0
#include "services/console/visit.h"

#include "core/base/number.h"
#include "core/value/rich_data.h"
#include "services/console/frame.h"
#include "store/query/compile.h"
#include "store/query/pql.h"

namespace bunraku::console {

using base::Result;

Result<Rows> Rows::parse(std::string_view json) {
    Rows out;
    out.values_ = BUNRAKU_TRY(value::parse_json(*out.arena_, json));
    if (!out.values_.is_array()) return base::failure("A query did not return a list");
    return out;
}

std::string_view Visit::query(std::string_view name) const {
    const auto* found = request.query_value(name);
    return found ? std::string_view(*found) : std::string_view();
}

std::size_t Visit::number(std::string_view name, std::size_t otherwise, std::size_t most) const {
    const auto number = base::parse_integer<std::size_t>(query(name));
    return number && *number >= 1 && *number <= most ? *number : otherwise;
}

std::string_view Visit::field(std::string_view name) const {
    for (const auto& [field, value] : form_)
        if (field == name) return value;
    return {};
}

Result<std::shared_ptr<const Fleet>> Visit::fleet() {
    if (!known_fleet) known_fleet = BUNRAKU_TRY(console.fleet.current(&stale));
    return known_fleet;
}

Result<Rows> Visit::run(std::string_view text) {
    query::QueryOptions options;
    options.time_limit_ms = 30'000;  // a page that takes longer would slow down agents
    const auto from =
        query::looks_like_ast(text) ? query::read_query_json(text) : query::parse_pql(text);
    const auto json = BUNRAKU_TRY(console.queries->run_root(from, options));
    return Rows::parse(json);
}

void keep_visible(const Visit& visit, std::vector<store::RunRow>& runs) {
    if (visit.viewer.sees_all()) return;
    std::erase_if(runs, [&](const store::RunRow& run) {
        return !visit.known_fleet || !visit.viewer.sees(visit.known_fleet->environment(run));
    });
}

Response Visit::page(Head head, Html body) { return framed(*this, std::move(head), body.take()); }

Response Visit::redirect(std::string_view target) const {
    Response out;
    out.status = 303;
    out.headers.set("Location", is_safe_target(target) ? target : kRoot);
    return out;
}

void Visit::csrf_field(Html& h) const {
    h.empty("input", {{"type", "hidden"}, {"name", "csrf"}, {"value", csrf}});
}

}  // namespace bunraku::console
