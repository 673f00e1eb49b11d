// SPDX-License-Identifier: Apache-2.0
// Queries in PQL or as an AST, with the result as a table, CSV or JSON.
#include <algorithm>
#include <fmt/format.h>

#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "services/console/format.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"
#include "store/query/compile.h"
#include "store/query/pql.h"

namespace bunraku::console {

using base::Result;
using value::Value;

namespace {

constexpr std::size_t kRowsOfPage = 100;
constexpr std::size_t kMostRows = 10'000;
constexpr std::size_t kMostColumns = 60;
constexpr std::size_t kMostCell = 500;
/// A result is in memory as a text and as values. The limits keep a viewer from slowing down
/// agents.
constexpr std::size_t kMostResult = std::size_t{32} << 20;  // bytes
constexpr std::int64_t kMostTime = 30'000;                  // milliseconds

struct Preset {
    std::string_view title, query;
};
constexpr Preset kPresets[] = {
    {"Nodes by operating system", "inventory[facts.os.name, count()] { group by facts.os.name }"},
    {"Nodes with a class", "nodes[certname] { resources { type = 'Class' and title = 'Ntp' } }"},
    {"Files with mode 0777",
     "resources[certname, title] { type = 'File' and parameters.mode = '0777' }"},
    {"Runs in noop that would change something",
     "nodes[certname, report_timestamp] { latest_report_noop_pending = true }"},
    {"Packages by version",
     "package_inventory[package_name, version, count()] { group by package_name, version }"},
    {"Failed events of the latest runs",
     "events[certname, resource_type, resource_title, message] { latest_report? = true and status "
     "= 'failure' }"},
    {"Nodes of an environment", "nodes[certname] { catalog_environment = 'production' }"},
};

/// Returns the number in ["limit", N] or ["offset", N] of a query.
std::optional<std::int64_t> own_number(const query::Ast& from, std::string_view op) {
    for (const auto& item : from.items())
        if (item.is_op(op) && item.size() == 2 && item[1].is_int()) return item[1].as_int();
    return std::nullopt;
}

/// Runs the visitor's query, and returns at most `most` rows after the first `skip`. A limit and an
/// offset in the query apply before.
Result<Rows> run_limited(Visit& visit, std::size_t most, std::size_t skip) {
    const auto text = visit.query("q");
    const auto from =
        query::looks_like_ast(text) ? query::read_query_json(text) : query::parse_pql(text);
    const auto skipped = static_cast<std::int64_t>(skip);
    query::QueryOptions options;
    options.limit = static_cast<std::int64_t>(most);
    if (const auto own = own_number(from, "limit")) {
        if (*own <= skipped) return Rows::parse("[]");
        options.limit = std::min(*options.limit, *own - skipped);
    }
    if (const auto offset = own_number(from, "offset").value_or(0) + skipped; offset > 0)
        options.offset = offset;
    options.time_limit_ms = kMostTime;
    const auto parsed = query::parse_from(query::root_query(from), options);
    auto cursor = BUNRAKU_TRY(visit.console.queries->start(parsed.entity, parsed.query, options));
    std::string json;
    while (BUNRAKU_TRY(cursor->next(json))) {
        if (json.size() > kMostResult)
            return base::failure("The result is too large: select columns, or add a limit");
    }
    return Rows::parse(json);
}

std::string cell_of(const Value& value) {
    if (value.is_undef()) return {};
    return value.is_string() ? std::string(value.as_string()) : value::to_json(value);
}

/// Returns the names of the columns of a result: the keys of its rows.
std::vector<std::string> columns_of_rows(const Rows& rows) {
    std::vector<std::string> out;
    for (const Value& row : rows) {
        if (!row.is_hash()) return {"value"};
        for (const auto& entry : row.as_hash().entries) {
            const auto name = entry.key.as_string();
            if (std::ranges::find(out, name) == out.end() && out.size() < kMostColumns)
                out.emplace_back(name);
        }
        // All rows of an entity have the same keys.
        break;
    }
    return out;
}

const Value* field_of(const Value& row, const std::string& name) {
    return row.is_hash() ? value::at(row, name) : &row;
}

void write_result(Html& h, const Rows& rows, std::size_t shown) {
    const auto names = columns_of_rows(rows);
    std::vector<Column> columns;
    for (const auto& name : names) columns.push_back({name});
    const auto table = open_table(h, columns, "Result");
    for (std::size_t i = 0; i < shown; ++i) {
        const auto row = h.in("tr");
        for (const auto& name : names) {
            const Value* field = field_of(rows[i], name);
            const auto td = h.in("td", {{"class", "r", field && field->is_numeric()}});
            if (!field) continue;
            if (name == "certname" && field->is_string()) {
                node_link(h, field->as_string());
            } else if ((name == "latest_report_hash" || name == "report") && field->is_string()) {
                h.link(Url({"runs", field->as_string()}), field->as_string().substr(0, 12));
            } else {
                h.foreign(cell_of(*field), kMostCell);
            }
        }
    }
}

void write_editor(Html& h, const Visit& visit) {
    const auto panel = h.in("section", {{"class", "panel"}});
    const auto form = h.in("form", {{"class", "in"}});
    h.leaf("label", {{"class", "vh"}, {"for", "q"}}, "Query in PQL, or as an AST");
    h.leaf("textarea",
           {{"id", "q"},
            {"name", "q"},
            {"rows", 6},
            {"spellcheck", "false"},
            {"data-complete", "query"},
            {"aria-describedby", "q-hint"}},
           visit.query("q"));
    const auto line = h.in("p", {{"class", "head"}});
    h.leaf("button", {{"class", "pri"}}, "Run");
    const auto hint = h.in("span", {{"class", "m"}, {"id", "q-hint"}});
    h.text("PQL such as ").leaf("code", "nodes { certname ~ 'web' }");
}

void write_presets(Html& h) {
    const auto panel = open_panel(h, "Examples");
    const auto list = h.in("ul", {{"class", "todo no-mark"}});
    for (const Preset& preset : kPresets) {
        const auto item = h.in("li");
        h.link(Url({"query"}).with("q", preset.query), preset.title);
    }
}

/// Appends a cell of a CSV file (RFC 4180). A leading character that makes spreadsheets run a
/// formula is quoted with an apostrophe.
void append_csv(std::string& out, std::string_view text) {
    std::string cell(text);
    if (!cell.empty() && std::string_view("=+-@\t\r").find(cell[0]) != std::string_view::npos)
        cell.insert(0, 1, '\'');
    if (cell.find_first_of(",\"\r\n") == std::string::npos) {
        out += cell;
        return;
    }
    out += '"';
    for (const char c : cell) {
        if (c == '"') out += '"';
        out += c;
    }
    out += '"';
}

Response download(std::string_view type, std::string_view name, std::string body) {
    Response out;
    out.headers.set("Content-Type", type);
    out.headers.set("Content-Disposition", fmt::format("attachment; filename=\"{}\"", name));
    out.body = std::move(body);
    return out;
}

}  // namespace

Result<Response> query_page(Visit& visit) {
    const auto page = visit.number("page", 1, kMostRows / kRowsOfPage);
    Html h, heading;
    {
        const auto head = heading.in("div", {{"class", "head"}});
        heading.leaf("h1", "Query");
        if (!visit.query("q").empty()) {
            const auto tools = heading.in("div", {{"class", "tools"}});
            for (const auto& [name, path] :
                 {std::pair("CSV", "query.csv"), std::pair("JSON", "query.json")}) {
                heading.leaf("a",
                             {{"class", "btn"}, {"href", Url({path}).with("q", visit.query("q"))}},
                             name);
            }
        }
    }
    Head head{.title = "Query", .nav = "query"};
    {
        const auto columns = h.in("div", {{"class", "cols c84"}});
        {
            const auto left = h.in("div");
            write_editor(h, visit);
            if (!visit.query("q").empty()) {
                try {
                    const auto rows =
                        BUNRAKU_TRY(run_limited(visit, kRowsOfPage + 1, (page - 1) * kRowsOfPage));
                    const auto shown = std::min(kRowsOfPage, rows.size());
                    Html beside;
                    beside.leaf("span", {{"class", "m"}},
                                rows.size() > kRowsOfPage
                                    ? fmt::format("rows {} to {}, and more",
                                                  (page - 1) * kRowsOfPage + 1, page * kRowsOfPage)
                                    : count_text(static_cast<std::int64_t>(shown), "row", "rows"));
                    const auto panel = open_panel(h, "Result", beside.take());
                    if (rows.empty()) {
                        empty_state(h, "No rows", "The query is valid, and nothing matches it.");
                    } else {
                        write_result(h, rows, shown);
                    }
                    const auto footer = h.in("footer");
                    const auto link = [&](std::size_t to, std::string_view text) {
                        h.link(Url({"query"})
                                   .with("q", visit.query("q"))
                                   .with("page", std::to_string(to)),
                               text);
                    };
                    if (page > 1) link(page - 1, "Previous page");
                    if (rows.size() > kRowsOfPage) link(page + 1, "Next page");
                } catch (const query::QueryError& error) {
                    head.status = error.status;
                    const auto panel = open_panel(h, "The query is not valid");
                    const auto in = h.in("div", {{"class", "in"}});
                    const auto pre = h.in("pre", {{"class", "diff"}, {"tabindex", "0"}});
                    const auto code = h.in("code");
                    h.foreign(error.message);
                }
            }
        }
        const auto right = h.in("div");
        write_presets(h);
    }
    head.heading = heading.take();
    return visit.page(std::move(head), std::move(h));
}

Result<Response> query_csv(Visit& visit) {
    const auto rows = BUNRAKU_TRY(run_limited(visit, kMostRows, 0));
    const auto names = columns_of_rows(rows);
    std::string out;
    const auto line = [&](const auto& cell) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (i > 0) out += ',';
            append_csv(out, cell(names[i]));
        }
        out += "\r\n";
    };
    line([](const std::string& name) { return name; });
    for (const Value& row : rows) {
        line([&](const std::string& name) {
            const Value* field = field_of(row, name);
            return field ? cell_of(*field) : std::string();
        });
    }
    return download("text/csv;charset=utf-8", "query.csv", std::move(out));
}

Result<Response> query_json(Visit& visit) {
    const auto rows = BUNRAKU_TRY(run_limited(visit, kMostRows, 0));
    std::string out = "[";
    for (const Value& row : rows) {
        out += out.size() > 1 ? ",\n" : "\n";
        value::write_json(out, row);
    }
    return download("application/json", "query.json", out + "\n]\n");
}

}  // namespace bunraku::console
