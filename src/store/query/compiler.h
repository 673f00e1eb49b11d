// SPDX-License-Identifier: Apache-2.0
// The internals of compile_query(). Only the files of the compiler include them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "store/query/compile.h"
#include "store/query/field_path.h"

namespace bunraku::query {

/// One SELECT under construction: its entity, and the joins required so far.
struct SelectContext {
    const Entity* entity = nullptr;
    std::vector<bool> joined;
    /// True inside a conjunction that contains exported = true, where the small index tables can be
    /// used.
    bool exported = false;
    /// True if an index on tags or titles finds few rows, so that other indexes are not needed.
    bool selective = false;
    /// True if the conjunction selects one node, or one type and title. There are few rows, so each
    /// one can be examined.
    bool few = false;
    /// Conditions refer to the linked content, or to its owner.
    bool by_content = false, by_owner = false;
    bool driving_set_chosen = false;  ///< see at_once()
    /// True if few sets match. PostgreSQL then receives the sets as a list, so that it uses the
    /// index.
    bool listed = false;
    /// True if the facts of all nodes are read. A join with all values of a fact then replaces
    /// lookups per node.
    bool all_facts = false;
    std::vector<std::string> joined_facts;  ///< names of these facts, with the aliases fj0, fj1, ..
    Sql fact_joins;
    /// The type that the conjunction requires; may be null.
    const std::string* type = nullptr;
    /// True under a "not", where conditions must distinguish false from unknown.
    bool negated = false;
    bool newest = false;  ///< true if the query selects only newest reports
    int levels = 0;       ///< enclosing "and", "or" and "not" after flattening; see kMaxLevels

    explicit SelectContext(const Entity& e) : entity(&e), joined(e.joins.size(), false) {}
};

class QueryCompiler {
public:
    explicit QueryCompiler(Backend backend) : dialect_(backend) {}

    /// The parts of a SELECT statement.
    struct Select {
        SelectContext context;
        std::vector<OutputColumn> columns;
        std::vector<Sql> expressions;
        std::vector<FieldType> types;
        std::optional<Sql> where;
        std::vector<Sql> group_by;
        Sql order_by;
        std::optional<std::int64_t> limit, offset;
        Sql from_extra;          ///< additional joins
        bool expensive = false;  ///< true if a column is expensive to compute
        explicit Select(const Entity& e) : context(e) {}
    };
    Select select(const Entity& entity, const Ast& query);
    void order(Select& select, const std::vector<OrderTerm>& terms);
    /// Whether a statement has order, limit and offset.
    enum class Paging { Page, AllRows };
    /// Returns the complete statement. `from` replaces the FROM clause of the entity; tables that
    /// it contains are not joined again.
    Sql render(const Select& select, Paging paging, const Sql* from = nullptr);
    /// Returns a subquery of "in", in parentheses. The stack of SQLite's parser has a hundred
    /// entries, and each subquery takes about nine. The time of PostgreSQL's planner grows
    /// exponentially with the nesting, because it joins the tables of all of them. So a subquery
    /// that itself contains several becomes a common table expression of the statement.
    Sql subquery(const Select& select);

    /// Returns nullopt if the condition has no effect ("any" state).
    std::optional<Sql> condition(SelectContext& context, const Ast& query, int depth);

    /// Returns the column of a field and marks the joins that it needs.
    std::string column(SelectContext& context, const Field& field);
    void need(SelectContext& context, std::string_view alias);
    const Dialect& dialect() const { return dialect_; }
    /// Reports whether a condition refers to exported resources.
    bool exported_asked() const { return exported_asked_; }
    void count_term();

private:
    struct Located {
        const Field* field = nullptr;
        std::vector<FieldPart> path;  ///< without the name of the field
    };
    /// Finds a field that can be queried, with or without a dotted path. Throws an error that lists
    /// the valid fields.
    Located locate(SelectContext& context, const Ast& name);

    struct Anchors {
        bool narrow = false, titled = false;
    };
    /// Collects terms that help to choose between indexes from all parts of a conjunction.
    void collect_anchors(SelectContext& context, const Ast& query, Anchors& found, int depth);
    std::optional<Sql> junction(SelectContext& context, const Ast& query, int depth);
    std::optional<Sql> negation(SelectContext& context, const Ast& query, int depth);
    std::optional<Sql> binary(SelectContext& context, const Ast& query, int depth);
    Sql compare_field(SelectContext& context, std::string_view op, const Ast& left,
                      const Ast& value);
    Sql compare_column(SelectContext& context, std::string_view op, const Field& field,
                       const Ast& value);
    Sql compare_text(SelectContext& context, std::string_view op, const Field& field,
                     const Ast& value);
    Sql compare_bool(SelectContext& context, std::string_view op, const Field& field,
                     const Ast& value);
    Sql compare_number(SelectContext& context, std::string_view op, const Field& field,
                       const Ast& value);
    Sql compare_hash(SelectContext& context, std::string_view op, const Field& field,
                     const Ast& value);
    Sql compare_text_array(SelectContext& context, std::string_view op, const Field& field,
                           const Ast& value);
    Sql compare_json_text(SelectContext& context, std::string_view op, const Field& field,
                          const Ast& value);
    Sql compare_container(SelectContext& context, std::string_view op, const Field& field,
                          const Ast& value);
    Sql compare_inputs(std::string_view op, const Ast& value);
    Sql false_if_missing(SelectContext& context, const Field& field, Sql match);
    Sql compare_function(SelectContext& context, std::string_view op, const Ast& function,
                         const Ast& value);
    Sql compare_fact(SelectContext& context, std::string_view op, const Ast& name,
                     const Ast& value);
    Sql compare_parameter(SelectContext& context, std::string_view op, const std::string& name,
                          const Ast& value);
    /// Compares a parameter with a scalar, using the index.
    Sql parameter_is(SelectContext& context, const std::string& name, const Ast& value);
    Sql compare_tags(SelectContext& context, std::string_view op, std::string text);
    Sql compare_path(SelectContext& context, std::string_view op, const Field& field,
                     const Ast& value);
    Sql compare_dotted(SelectContext& context, std::string_view op, const Located& at,
                       const Ast& value);
    Sql dotted_facts(SelectContext& context, std::string_view op, const Located& at,
                     const Ast& value);
    Sql dotted_parameters(SelectContext& context, std::string_view op, const Located& at,
                          const Ast& value);
    /// Returns the end of "(NODE IN (SELECT ..", which makes the database compute the set of nodes
    /// separately.
    std::string_view set_subquery_end(SelectContext& context) const;
    Sql null_check(SelectContext& context, const Ast& query);
    Sql membership(SelectContext& context, const Ast& query, int depth);
    Sql in_array(SelectContext& context, const Ast& left, const Ast& values);
    /// Does the same for ["fact", NAME].
    Sql fact_in_array(SelectContext& context, const Ast& left, const Ast& values);
    /// Returns the times as they are stored, with null in place of invalid ones.
    Ast stored_times(const Ast& values) const;
    Sql in_select(SelectContext& context, const std::vector<std::string>& fields, Select& inner);
    Select inner_select(const Ast& query, int depth);
    Sql implicit_subquery(SelectContext& context, const Ast& query, int depth);
    std::optional<Sql> node_state(SelectContext& context, const Ast& value);
    Sql latest_report(SelectContext& context, const Ast& value);

    /// Compiles a condition on a fact's value. `alias` refers to facts or fact_leaves.
    Sql fact_value(std::string_view alias, std::string_view op, const Ast& value);
    Sql fact_value_in(std::string_view alias, const std::vector<Ast>& values);
    /// Compares the JSON at `path` by order or pattern, which also applies to arrays and maps.
    Sql structured_facts(SelectContext& context, std::string_view op,
                         const std::vector<FieldPart>& path, const Ast& value);
    /// Compiles conditions on paths with match("..").
    Sql matched_facts(SelectContext& context, std::string_view op,
                      const std::vector<FieldPart>& path, const Ast& value);
    /// Selects the nodes that have such a leaf (alias xl, its path xp).
    Sql nodes_with_leaves(SelectContext& context, const Sql& where) const;
    /// Selects the nodes whose fact `name` (alias x) matches `where`, which may be empty.
    Sql nodes_with_fact(SelectContext& context, const std::string& name, const Sql& where) const;
    /// Returns the text of a JSON string, NULL for null, and the JSON text of other values,
    /// like "#>> '{}'".
    Sql plain_json(const Sql& json) const;
    Sql plain_matches(const Sql& json, const Ast& pattern) const;
    /// Compares in the order of jsonb: [] < null < strings < numbers < booleans < arrays < maps.
    Sql compare_json(const Sql& json, std::string_view op, const Ast& value) const;
    /// Implements PostgreSQL's "->": names apply only to maps, indexes only to arrays.
    Sql json_steps(const Sql& json, std::span<const Step> steps) const;
    /// Implements PostgreSQL's "#>": digits apply to maps and arrays.
    Sql json_at_path(const Sql& json, std::span<const Step> steps) const;
    /// Matches `expression` against the pattern, which is bound.
    Sql matches(std::string_view expression, std::string pattern) const;
    Sql time_value(const Ast& value) const;
    /// Casts a column to text, number or another type, so that columns of different types can be
    /// compared.
    std::string comparable(std::string_view column, FieldType from, FieldType to) const;

    // select.cc
    /// The parts of an "extract".
    struct Extract {
        std::vector<Ast> items;
        Ast condition;                  ///< null if there is none
        const Ast* grouping = nullptr;  ///< in the query

        /// Reports whether the projection calls a function that combines rows.
        bool aggregates() const;
    };
    static Extract read_extract(const Ast& query);
    void check_items(Select& select, const Extract& extract, int depth);
    void add_columns(Select& select, const Extract& extract);
    std::vector<std::string> group_by(Select& select, const Extract& extract);
    void group_by_field(Select& select, const Field& field, const std::string& name);
    static void check_grouped(const Select& select, const Extract& extract,
                              const std::vector<std::string>& groups);
    void add_column(Select& select, const Ast& item);
    void add_function(Select& select, const Ast& call);

    // select_function.cc
    /// The field to which a function is applied.
    struct Argument {
        const Ast* field = nullptr;
        Sql sql;
        FieldType type{};
        bool json = false;
    };
    Sql function_expression(SelectContext& context, const Ast& call, OutputColumn::Kind* kind,
                            bool* aggregate);
    static void check_function_field(const SelectContext& context, const Ast& call);
    /// Returns the number in a JSON value, or SQL null if it is not a number.
    Sql numeric_expression(const Argument& of) const;
    static Sql count_expression(const Argument& of);
    static Sql json_type_expression(const Argument& of);
    Sql to_string_expression(const Argument& of, const Ast& format) const;
    Sql aggregate_expression(const Argument& of, const std::string& name,
                             OutputColumn::Kind* kind) const;

    // select.cc
    Sql projection(SelectContext& context, std::string_view name, OutputColumn::Kind* kind,
                   FieldType* type);
    Select select_at(const Entity& entity, const Ast& query, int depth);
    void agent_reports(Select& select, const Ast& condition_ast);

    Sql body(const Select& select, Paging paging, const Sql* from);

    Dialect dialect_;
    int terms_ = 0;
    std::vector<Sql> common_;  ///< see subquery(): c0, c1, ..; each may refer to earlier ones
    bool adding_agent_filter_ = true;
    bool exported_asked_ = false;
};

/// Reports whether a condition refers to the type of reports outside its subqueries.
bool mentions_report_type(const Ast& condition);
OutputColumn::Kind shown_as(FieldType type);
/// Reports whether queries can call a function of this name.
bool known_function(std::string_view name);
/// Returns the field, or the field before the first dot if that one has parts; null if there is
/// none.
const Field* field_or_base(const Entity& entity, std::string_view name);

/// Compiles event counts or their sums.
CompiledQuery compile_event_counts(const Ast& query, const QueryOptions& options, Backend backend,
                                   bool aggregate);
/// Restricts a SELECT over the entity events to the events that distinct_resources selects.
void only_newest_events(QueryCompiler& compiler, QueryCompiler::Select& select,
                        const DistinctResources& range, const Ast& query);

/// Returns the operator in lower case; an unknown one is returned unchanged.
std::string lower_op(const Ast& query);
bool is_group_by(const Ast& query);
/// Joins terms as a balanced tree, so that the nesting stays shallow.
Sql join_balanced(std::vector<Sql> terms, std::string_view word);
/// Returns how deep the parentheses of `sql` are nested.
int depth_of(std::string_view sql);

}  // namespace bunraku::query
