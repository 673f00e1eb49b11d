// The working parts of compile_query; not for others.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "store/query/compile.h"
#include "store/query/field_path.h"

namespace bunraku::query {

/// One SELECT under construction: which entity, and which of its joins are needed so far.
struct SelectContext {
    const Entity* entity = nullptr;
    std::vector<bool> joined;
    /// Inside a conjunction that says exported = true: the small index tables may be asked.
    bool exported = false;
    /// An index on tags or titles finds few rows: others should not be tried.
    bool selective = false;
    /// The conjunction names one node, or one type and title: few rows, each of which may be looked
    /// at.
    bool few = false;
    /// Conditions spoke of what rows link to, of what owns them.
    bool by_content = false, by_owner = false;
    bool led = false;  ///< see at_once
    /// Few sets suit: PostgreSQL is given them as a list, by which it uses the index.
    bool listed = false;
    /// Every node's facts are asked: by a join with all values of the fact, not node by node.
    bool all_facts = false;
    std::vector<std::string> joined_facts;  ///< their names, as aliases fj0, fj1, ..
    Sql fact_joins;
    /// The type that the conjunction names.
    const std::string* type = nullptr;
    /// Under a "not": conditions must tell false from unknown.
    bool negated = false;
    /// What is compared stands itself under a "not", or three, or any odd number.
    bool directly_negated = false;

    explicit SelectContext(const Entity& e) : entity(&e), joined(e.joins.size(), false) {}
};

class QueryCompiler {
public:
    explicit QueryCompiler(Backend backend) : dialect_(backend) {}

    /// What was selected: the parts of the statement.
    struct Select {
        SelectContext context;
        std::vector<OutputColumn> columns;
        std::vector<Sql> expressions;
        std::vector<FieldType> types;
        std::optional<Sql> where;
        std::vector<Sql> group_by;
        Sql order_by;
        std::optional<std::int64_t> limit, offset;
        Sql from_extra;     ///< more joins
        bool dear = false;  ///< some column takes long to make
        explicit Select(const Entity& e) : context(e) {}
    };
    Select select(const Entity& entity, const Ast& query);
    void order(Select& select, const std::vector<OrderTerm>& terms);
    /// "SELECT .. FROM .." of a finished select. `paged`: with order, limit and offset.
    /// `from`: in place of the entity's own; what it names is not joined again.
    Sql render(const Select& select, bool paged, const Sql* from = nullptr);
    /// A subquery of "in", in parentheses. SQLite's parser has a stack of a hundred entries, of
    /// which each takes about nine: one that holds several itself becomes a common table expression
    /// of the statement.
    Sql subquery(const Select& select);

    /// nullopt: the condition says nothing ("any" state).
    std::optional<Sql> condition(SelectContext& context, const Ast& query, int depth);

    /// The column of a field; what it needs is joined.
    std::string column(SelectContext& context, const Field& field);
    void need(SelectContext& context, std::string_view alias);
    const Dialect& dialect() const { return dialect_; }
    /// Whether conditions spoke of exported resources.
    bool exported_asked() const { return exported_asked_; }
    void count_term();

private:
    struct Located {
        const Field* field = nullptr;
        std::vector<FieldPart> path;  ///< without the field itself
    };
    /// A field that may be asked, dotted or not; throws the message that lists what may be.
    Located locate(SelectContext& context, const Ast& name);

    struct Anchors {
        bool narrow = false, titled = false;
    };
    /// What a conjunction says that helps to choose between indexes, wherever it says it.
    void look_ahead(SelectContext& context, const Ast& query, Anchors& found, int depth);
    std::optional<Sql> junction(SelectContext& context, const Ast& query, int depth);
    std::optional<Sql> negation(SelectContext& context, const Ast& query, int depth);
    std::optional<Sql> binary(SelectContext& context, const Ast& query, int depth);
    Sql compare_field(SelectContext& context, std::string_view op, const Ast& left,
                      const Ast& value);
    Sql compare_function(SelectContext& context, std::string_view op, const Ast& function,
                         const Ast& value);
    Sql compare_fact(SelectContext& context, std::string_view op, const Ast& name,
                     const Ast& value);
    Sql compare_parameter(SelectContext& context, std::string_view op, const std::string& name,
                          const Ast& value);
    /// Equality of a parameter and a scalar, by index.
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
    /// The end of "(NODE IN (SELECT ..": a set of nodes by what they have, found by itself.
    std::string_view at_once(SelectContext& context) const;
    Sql null_check(SelectContext& context, const Ast& query);
    Sql membership(SelectContext& context, const Ast& query, int depth);
    Sql in_array(SelectContext& context, const Ast& left, const Ast& values);
    Sql in_select(SelectContext& context, const std::vector<std::string>& fields, Select& inner);
    Select inner_select(const Ast& query, int depth);
    Sql implicit_subquery(SelectContext& context, const Ast& query, int depth);
    std::optional<Sql> node_state(SelectContext& context, const Ast& value);
    Sql latest_report(SelectContext& context, const Ast& value);

    /// A condition on a fact's value; `alias` is that of facts or fact_leaves.
    Sql fact_value(std::string_view alias, std::string_view op, const Ast& value);
    Sql fact_value_in(std::string_view alias, const std::vector<Ast>& values);
    /// What is compared by order or pattern, which sees arrays and maps too: the JSON at `path`.
    Sql structured_facts(SelectContext& context, std::string_view op,
                         const std::vector<FieldPart>& path, const Ast& value);
    /// Paths with a match("..").
    Sql matched_facts(SelectContext& context, std::string_view op,
                      const std::vector<FieldPart>& path, const Ast& value);
    /// The node is among those that have such a leaf (xl, its path xp).
    Sql nodes_with_leaves(SelectContext& context, const Sql& where) const;
    /// The node is among those whose fact `name` (x) suits `where`, which may be empty.
    Sql nodes_with_fact(SelectContext& context, const std::string& name, const Sql& where) const;
    /// The text of a JSON string, the JSON text of anything else, NULL for null: "#>> '{}'".
    Sql plain_json(const Sql& json) const;
    Sql plain_matches(const Sql& json, const Ast& pattern) const;
    /// Compares as jsonb does, in its order: [] < null < strings < numbers < booleans < arrays <
    /// maps.
    Sql compare_json(const Sql& json, std::string_view op, const Ast& value) const;
    /// PostgreSQL's "->": names lead into maps only, indexes into arrays only.
    Sql json_steps(const Sql& json, std::span<const Step> steps) const;
    /// PostgreSQL's "#>": digits lead into maps and arrays.
    Sql json_at_path(const Sql& json, std::span<const Step> steps) const;
    /// `expression` matches the bound pattern.
    Sql matches(std::string_view expression, std::string pattern) const;
    Sql time_value(const Ast& value) const;
    /// A column as text, number or other type so that two different ones can be compared.
    std::string comparable(std::string_view column, FieldType from, FieldType to) const;

    // select.cc
    void add_column(Select& select, const Ast& item, int depth);
    void add_function(Select& select, const Ast& call);
    Sql function_expression(SelectContext& context, const Ast& call, OutputColumn::Kind* kind,
                            bool* aggregate);
    Sql projection(SelectContext& context, std::string_view name, OutputColumn::Kind* kind,
                   FieldType* type);
    Select select_at(const Entity& entity, const Ast& query, int depth);
    void agent_reports(Select& select, const Ast& condition_ast);

    Sql body(const Select& select, bool paged, const Sql* from);

    Dialect dialect_;
    int terms_ = 0;
    std::vector<Sql> common_;  ///< see subquery(): c0, c1, ..; each may use those before it
    bool adding_agent_filter_ = true;
    bool exported_asked_ = false;

    friend class EventCounts;
};

/// Whether a condition speaks of the type of reports, outside its subqueries.
bool mentions_report_type(const Ast& condition);
OutputColumn::Kind shown_as(FieldType type);

/// Event counts and their sums.
CompiledQuery compile_event_counts(const Ast& query, const QueryOptions& options, Backend backend,
                                   bool aggregate);
/// The events that distinct_resources leaves, as a SELECT over the entity events.
void only_newest_events(QueryCompiler& compiler, QueryCompiler::Select& select,
                        const DistinctResources& range, const Ast& query);

/// Operators in lower case; an unknown one as it is.
std::string lower_op(const Ast& query);
bool is_group_by(const Ast& query);
/// Terms joined so that no chain of operators gets deep.
Sql join_balanced(std::vector<Sql> terms, std::string_view word);
/// Returns how deep the parentheses of `sql` are nested.
int depth_of(std::string_view sql);

}  // namespace bunraku::query
