// SPDX-License-Identifier: Apache-2.0
// Event counts: the number of events of each status per resource, class or node, and the sums of
// these counts.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/text_view.h"
#include "store/query/compiler.h"
#include "store/query/conditions.h"
#include "store/query/counting.h"

namespace bunraku::query {

using conditions::bad;

namespace {

constexpr std::string_view kCounts[] = {"failures", "skips", "successes", "noops"};
constexpr std::string_view kStatuses[] = {"failure", "skipped", "success", "noop"};

std::vector<std::string_view> group_of(base::TextView summarize_by BUNRAKU_LIFETIMEBOUND) {
    if (summarize_by == "certname") return {"certname"};
    if (summarize_by == "containing_class") return {"containing_class"};
    if (summarize_by == "resource") return {"resource_type", "resource_title"};
    bad(fmt::format("Unsupported value for 'summarize_by': '{}'", summarize_by));
}

Sql counts_condition(const Ast& filter) {
    if (!filter.is_array() || filter.size() == 0) {
        bad(fmt::format("{} is not well-formed: queries must contain at least one operator",
                        to_clojure(filter)));
    }
    std::string op = lower_op(filter);
    bool known = op == "=" || op == ">" || op == "<" || op == ">=" || op == "<=";
    if (!known) {
        bad(fmt::format("{} is not well-formed: query operator '{}' is unknown", to_clojure(filter),
                        filter.op()));
    }
    if (filter.size() != 3) {
        bad(fmt::format("{} requires exactly two arguments, but {} were supplied", op,
                        filter.size() - 1));
    }
    std::string field = filter[1].is_text() ? entity_name_of(filter[1].as_text()) : "";
    if (std::find(std::begin(kCounts), std::end(kCounts), field) == std::end(kCounts)) {
        bad(op == "="
                ? fmt::format("{} is not a queryable object for event counts",
                              filter[1].is_text() ? filter[1].as_text() : to_clojure(filter[1]))
                : fmt::format("{} operator does not support object '{}' for event counts", op,
                              filter[1].is_text() ? filter[1].as_text() : to_clojure(filter[1])));
    }
    if (!filter[2].is_number()) {
        bad(fmt::format("Argument \"{}\" is incompatible with numeric field \"{}\".",
                        filter[2].is_text() ? filter[2].as_text() : to_clojure(filter[2]), field));
    }
    Sql out("(");
    out << field << " " << op << " ";
    if (filter[2].is_int()) return out.bind(filter[2].as_int()) << ")";
    return out.bind(filter[2].as_real()) << ")";
}

}  // namespace

void only_newest_events(QueryCompiler& compiler, QueryCompiler::Select& select,
                        const DistinctResources& range, const Ast& query) {
    // Selects the newest event of each property of a resource within the times. If several have the
    // same time, all are selected.
    bool pg = compiler.dialect().postgresql();
    std::string_view same = pg ? "IS NOT DISTINCT FROM" : "IS";
    Sql extra(
        "JOIN (SELECT de.certname_id, de.resource_type, de.resource_title, de.property,"
        " de.name, max(de.timestamp) AS newest FROM resource_events de");
    // A condition on the latest report also restricts the events among which the newest is chosen.
    bool latest = to_json(query).find("[\"=\",\"latest_report?\",true]") != std::string::npos;
    if (latest) {
        extra << " JOIN certnames dc ON dc.id = de.certname_id AND dc.latest_report_id ="
                 " de.report_id";
    }
    extra << " WHERE de.timestamp >= ";
    extra.bind(range.start) << " AND de.timestamp <= ";
    extra.bind(range.end);
    extra << " GROUP BY de.certname_id, de.resource_type, de.resource_title, de.property, de.name)"
             " newest ON newest.certname_id = ev.certname_id AND newest.resource_type ="
             " ev.resource_type AND newest.resource_title = ev.resource_title AND newest.newest ="
             " ev.timestamp";
    extra << fmt::format(" AND newest.property {0} ev.property AND newest.name {0} ev.name", same);
    select.from_extra = std::move(extra);
}

namespace {

/// Compiles the counts of events by `subject`, a name that group_of() knows.
class CountedEvents {
public:
    CountedEvents(const Ast& query, const QueryOptions& options, Backend backend)
        : query_(query),
          options_(options),
          compiler_(backend),
          events_(!options.distinct && refers_only_to_newest_events(query)
                      ? newest_events()
                      : *find_entity("events")) {}

    Sql counts(std::string_view subject) {
        const std::vector<std::string_view> group = group_of(subject);
        BUNRAKU_ASSERT(!group.empty());
        const Sql inner = events_of(group);
        std::string names;
        for (std::string_view g : group) {
            names += names.empty() ? "" : ", ";
            names += g;
        }
        Sql out("SELECT ");
        for (std::size_t i = 0; i < std::size(kCounts); ++i) {
            out << fmt::format("{}sum(CASE WHEN status = '{}' THEN 1 ELSE 0 END) AS {}",
                               i ? ", " : "", kStatuses[i], kCounts[i]);
        }
        out << ", " << names << " FROM (" << inner << ") counted_events GROUP BY " << names;
        const Ast& filter = options_.counts_filter;
        if (filter.is_null() || (filter.is_array() && filter.size() == 0)) return out;
        Sql filtered("SELECT * FROM (");
        filtered << out << ") counts WHERE " << counts_condition(filter);
        return filtered;
    }

    /// Returns one row with the sums for each name in `subjects`, separated by commas.
    Sql sums(std::string_view subjects) {
        Sql all;
        std::string_view rest = subjects;
        // Trailing commas are ignored, but at least one name is required.
        while (rest.ends_with(',')) rest.remove_suffix(1);
        do {
            const std::size_t comma = rest.find(',');
            const std::string_view by = rest.substr(0, comma);
            rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
            if (!all.text.empty()) all << " UNION ALL ";
            const Sql one = counts(by);
            all << "SELECT ";
            for (std::string_view name : kCounts) {
                all << fmt::format("coalesce(sum(CASE WHEN {0} > 0 THEN 1 ELSE 0 END), 0) AS {0}, ",
                                   name);
            }
            all << fmt::format("count(*) AS total, '{}' AS summarize_by FROM (", by) << one
                << ") summed_counts";
        } while (!rest.empty());
        return all;
    }

private:
    /// Selects the columns of the group, the status, and the node of each event.
    Sql events_of(const std::vector<std::string_view>& group) {
        Ast fields = Ast::array();
        for (std::string_view g : group) fields.items().push_back(Ast::text(std::string(g)));
        fields.items().push_back(Ast::text("status"));
        if (std::find(group.begin(), group.end(), "certname") == group.end()) {
            fields.items().push_back(Ast::text("certname"));
        }
        Ast wanted = Ast::array({Ast::text("extract"), std::move(fields)});
        if (!query_.is_null()) wanted.items().push_back(query_);
        QueryCompiler::Select select = compiler_.select(events_, wanted);
        if (options_.distinct) only_newest_events(compiler_, select, *options_.distinct, query_);
        BUNRAKU_ASSERT(select.expressions.size() == select.columns.size());
        for (std::size_t i = 0; i < select.expressions.size(); ++i) {
            select.expressions[i] << " AS " << select.columns[i].name;
        }
        Sql inner = compiler_.render(select, QueryCompiler::Paging::AllRows);
        if (options_.count_by.value_or("resource") != "certname") return inner;
        Sql once("SELECT DISTINCT * FROM (");
        once << inner.text << ") AS each_node";
        once.values = inner.values;
        return once;
    }

    const Ast& query_;
    const QueryOptions& options_;
    QueryCompiler compiler_;
    const Entity& events_;
};

/// Returns the ORDER BY clause, or an empty string without terms.
std::string order_of_counts(const std::vector<OrderTerm>& terms,
                            const std::vector<std::string_view>& group) {
    std::vector<std::string_view> orderable(std::begin(kCounts), std::end(kCounts));
    orderable.insert(orderable.end(), group.begin(), group.end());
    std::string order;
    for (const OrderTerm& term : terms) {
        if (std::find(orderable.begin(), orderable.end(), term.field) == orderable.end()) {
            bad(fmt::format(
                "Unrecognized column '{}' specified in :order_by; Supported columns are '{}'",
                term.field, fmt::join(orderable, "', '")));
        }
        order += fmt::format("{}{}{}{}", order.empty() ? " ORDER BY " : ", ", term.field,
                             term.descending ? " DESC" : "",
                             term.descending ? " NULLS FIRST" : " NULLS LAST");
    }
    return order;
}

void add_page(Sql& sql, const QueryOptions& options, Backend backend) {
    if (options.limit) {
        sql << " LIMIT ";
        sql.bind(*options.limit);
    } else if (options.offset && backend == Backend::Sqlite) {
        sql << " LIMIT -1";
    }
    if (options.offset) {
        sql << " OFFSET ";
        sql.bind(*options.offset);
    }
}

}  // namespace

CompiledQuery compile_event_counts(const Ast& query, const QueryOptions& options, Backend backend,
                                   bool aggregate) {
    const std::string summarize_by = options.summarize_by.value_or("");
    if (!options.summarize_by) bad("Missing required query parameter 'summarize_by'");
    if (!aggregate) group_of(summarize_by);
    const std::string count_by = options.count_by.value_or("resource");
    if (count_by != "resource" && count_by != "certname") {
        bad(fmt::format("Unsupported value for 'count_by': '{}'", count_by));
    }
    CountedEvents events(query, options, backend);
    CompiledQuery out;
    for (std::string_view name : kCounts) {
        out.columns.push_back({std::string(name), OutputColumn::Number});
    }
    if (aggregate) {
        out.sql = events.sums(summarize_by);
        out.columns.push_back({"total", OutputColumn::Number});
        out.columns.push_back({"summarize_by", OutputColumn::Text});
        return out;
    }
    const std::vector<std::string_view> group = group_of(summarize_by);
    out.subject_type = summarize_by;
    out.subject_from = out.columns.size();
    BUNRAKU_ASSERT(out.subject_from == std::size(kCounts));
    for (std::string_view g : group) {
        out.columns.push_back({g == "resource_type" ? "type" : "title", OutputColumn::Text});
    }
    Sql sql = events.counts(summarize_by);
    if (options.include_total) {
        out.count = Sql("SELECT count(*) FROM (");
        out.count << sql << ") counted";
    }
    sql << order_of_counts(options.order_by, group);
    add_page(sql, options, backend);
    out.explain = options.explain;
    if (options.explain) {
        Sql explained(backend == Backend::Postgresql
                          ? "EXPLAIN (VERBOSE,ANALYZE,BUFFERS,FORMAT JSON) "
                          : "EXPLAIN QUERY PLAN ");
        explained << sql;
        sql = std::move(explained);
    }
    out.sql = std::move(sql);
    return out;
}

}  // namespace bunraku::query
