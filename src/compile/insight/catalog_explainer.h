// SPDX-License-Identifier: Apache-2.0
// Explains the results of a recorded compile while its data still exists.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compile/compiler/compilation.h"
#include "compile/insight/explain.h"
#include "language/hiera/lookup.h"

namespace bunraku::insight {

using compiler::History;
using value::Value;

class CatalogExplainer {
public:
    using Reasons = std::vector<Reason>;
    CatalogExplainer(const History& history, compiler::Compilation& compilation,
                     hiera::Lookup& lookup);

    /// Explains the value of a parameter.
    Reason parameter(const compiler::Resource& resource, std::string_view name);
    /// Explains the parameters that the resource's title sets, if the type parses titles.
    void titled(const compiler::Resource& resource, Reasons& out) const;
    /// Explains where and under which conditions a resource was declared, or why a class was
    /// included.
    void declaration(const compiler::Resource& resource, Reasons& out);
    /// Explains why a resource is not in the catalog.
    void missing(const types::Reference& reference, Reasons& out, int depth = 0);

private:
    using Id = History::Id;

    Reason reason(std::string kind, std::string text, const syntax::Node* node = nullptr) const;
    void put(Reason& reason, std::string_view file, int line) const;
    void put(Reason& reason, const syntax::Node* node) const;
    /// Returns the value as JSON. Empty if `hidden` is true or the value is Sensitive.
    std::string json(const Value& v, bool hidden) const;
    /// Returns "is VALUE", shortened, with a placeholder for a hidden value.
    std::string is(const Value& v, bool hidden) const;
    static bool holds_secret(const Value& v);
    /// Reports whether the value depends on a secret.
    bool secret(Id id);

    std::optional<Id> child(Id of, const syntax::Node* node) const;
    Value value_of(Id in, const syntax::Node* node) const;
    void origins(const compiler::Resource& resource, std::string_view name, Reasons& out,
                 bool hidden);
    Reason origin(const compiler::Resource& resource, const History::Origin& origin, bool hidden);
    /// Explains a parameter whose value is from Hiera.
    Reason data_origin(const compiler::Resource& resource, std::string_view parameter, bool hidden);
    void set_in(Id statement, const History::Origin& origin, Reason& into, bool hidden);
    /// Explains the sources of an expression's value.
    void sources(Id of, const syntax::Node* expression, Reasons& out, bool hidden);
    void sources(Id id, Reasons& out, bool hidden, bool in_template = false);
    void children(Id id, Reasons& out, bool hidden, bool in_template = false);
    bool call(Id id, Reasons& out, bool hidden);
    void variable(Id id, Reasons& out, bool hidden);
    Reason argument(const History::Event& event, std::string_view name, const std::string& shown,
                    bool hidden);
    void top_variable(const History::Event& event, Reasons& out, bool hidden);
    bool fact(Id id, Reasons& out, bool hidden);
    std::optional<std::pair<std::string, std::string>> fact_path(Id id) const;
    bool element(Id id, Reasons& out, bool hidden);
    bool referenced_parameter(Id id, Reasons& out, bool hidden);
    void data(const hiera::Lookup::Question& question, evaluator::Scope& scope, const Value& found,
              Reason& into, bool hidden);
    void interpolated(std::string_view text, Reasons& out);
    void levels(const hiera::ExplainNode& step, const std::string& level, Reasons& out);
    /// Explains the condition `id` for code in its part `part`. Returns nullopt if the event is not
    /// a condition.
    std::optional<Reason> condition(Id id, const syntax::Node* part, bool hidden);
    bool is_case(Id id, const value::Value& v, const syntax::Node* option) const;
    const syntax::Node* branch_taken(Id id) const;
    void literal(const syntax::Node* node, Reasons& out, bool hidden);
    /// Explains the conditions under which a variable was assigned.
    void assigned_under(Id assignment, Reasons& out, bool hidden);
    /// Adds the files that a call reads: templates, and the files of `file`.
    void files(Id id, Reasons& out);
    /// Explains the conditions around an event, and why its class, define or node was evaluated.
    void around(Id id, Reasons& out);
    void body(const compiler::Resource& resource, Reasons& out);
    void included(const compiler::Resource& resource, Reasons& out);
    evaluator::Scope& scope_of(Id id);
    std::string owner(const compiler::Resource& resource) const;
    bool first_time(const void* what, std::string_view name);

    // catalog_explainer_parts.cc
    /// A part of a value: the code that sets it (null if it is not at a single location), and its
    /// sources.
    struct Part {
        const syntax::Node* code = nullptr;
        Reasons because;
        bool by_default = false;  ///< True for the default of a function's parameter.
    };
    using Path = std::vector<Value>;
    /// Finds the part at `path` in the value of an expression. Follows variables, parameters and
    /// merges. Returns nullopt if parts are not known; then the whole value counts.
    std::optional<Part> part(Id in, const syntax::Node* expression, const Path& path, bool hidden);
    std::optional<Part> part_of(std::optional<Id> event, const syntax::Node* node, const Path& path,
                                bool hidden);
    std::optional<Part> part_of_variable(const History::Event& event, const Path& path,
                                         bool hidden);
    std::optional<Part> part_of_parameter(const History::Event& event, const Path& path,
                                          bool hidden);
    std::optional<Part> part_of_argument(const History::Event& event, const Path& path,
                                         bool hidden);
    std::optional<Part> part_of_merged(Id call, const std::vector<const syntax::Node*>& all,
                                       const Path& path, bool deep, bool hidden);
    /// Finds the part of a function's arguments that set a parameter. For functions that declare
    /// resources.
    std::optional<Part> part_given(const compiler::Resource& resource,
                                   const History::Origin& origin, const Path& path, bool hidden);
    /// Adds the part to `out` as a reason.
    void add_part(Part&& part, Reasons& out, bool hidden);

    // catalog_explainer_missing.cc
    struct Candidate;
    void search(const types::Reference& reference, std::vector<Candidate>& out);
    void explain_candidate(const Candidate& candidate, Reasons& out, int depth);
    void titles(Id id, Reasons& out);
    bool not_reached(Id from, const Candidate& candidate, Reasons& out);

    const History& history_;
    compiler::Compilation& compilation_;
    hiera::Lookup& lookup_;
    std::string root_;
    std::set<std::pair<const void*, std::string>> reported_;
    /// Maximum number of reasons in an explanation. A longer one, such as for a class with hundreds
    /// of parameters, would not be useful.
    static constexpr std::size_t kMostReasons = 5000;
    static constexpr int kDeepest = 200;
    std::unordered_map<Id, bool> secrets_;
    std::size_t count_ = 0;
    int depth_ = 0;
};

}  // namespace bunraku::insight
