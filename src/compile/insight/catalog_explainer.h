// Tells the reasons for what a watched compile did, while all that it made is there.
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

    /// Where the value of a parameter comes from.
    Reason parameter(const compiler::Resource& resource, std::string_view name);
    /// The parameters that its title gives, where the type reads it.
    void titled(const compiler::Resource& resource, Reasons& out) const;
    /// Who declared it, under which conditions; who included a class.
    void declaration(const compiler::Resource& resource, Reasons& out);
    /// Why it is not in the catalog.
    void missing(const types::Reference& reference, Reasons& out, int depth = 0);

private:
    using Id = History::Id;

    Reason reason(std::string kind, std::string text, const syntax::Node* node = nullptr) const;
    void put(Reason& reason, std::string_view file, int line) const;
    void put(Reason& reason, const syntax::Node* node) const;
    /// The value in JSON; with `hidden`, or where it is Sensitive, empty.
    std::string json(const Value& v, bool hidden) const;
    /// "is VALUE", cut; where it is not to be shown a word for that.
    std::string is(const Value& v, bool hidden) const;
    static bool holds_secret(const Value& v);
    /// Something secret was read on the way to its value.
    bool secret(Id id);

    std::optional<Id> child(Id of, const syntax::Node* node) const;
    Value value_of(Id in, const syntax::Node* node) const;
    void origins(const compiler::Resource& resource, std::string_view name, Reasons& out,
                 bool hidden);
    Reason origin(const compiler::Resource& resource, const History::Origin& origin, bool hidden);
    void set_in(Id statement, const History::Origin& origin, Reason& into, bool hidden);
    /// What the value of an expression was made of.
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
    /// The condition of `id`, in whose part `part` something stands; nullopt: it is none.
    std::optional<Reason> condition(Id id, const syntax::Node* part, bool hidden);
    bool is_case(Id id, const value::Value& v, const syntax::Node* option) const;
    const syntax::Node* branch_taken(Id id) const;
    void literal(const syntax::Node* node, Reasons& out, bool hidden);
    /// The conditions under which a variable was assigned.
    void assigned_under(Id assignment, Reasons& out, bool hidden);
    /// The files that a call gets its answer from: of templates, of `file`.
    void files(Id id, Reasons& out);
    /// The conditions around an event, and why its class, define or node was evaluated.
    void around(Id id, Reasons& out);
    void body(const compiler::Resource& resource, Reasons& out);
    void included(const compiler::Resource& resource, Reasons& out);
    evaluator::Scope& scope_of(Id id);
    std::string owner(const compiler::Resource& resource) const;
    bool first_time(const void* what, std::string_view name);

    // narrator_parts.cc
    /// A part of a value: where it is written (null: at no one place), and what it was made of.
    struct Part {
        const syntax::Node* code = nullptr;
        Reasons because;
        bool by_default = false;  ///< the default of a function's parameter
    };
    using Path = std::vector<Value>;
    /// What stands at `path` in the value of an expression, followed through variables, parameters
    /// and merges; nullopt: nothing is known of parts, all of it counts.
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
    /// What a function that declares resources was given for a parameter.
    std::optional<Part> part_given(const compiler::Resource& resource,
                                   const History::Origin& origin, const Path& path, bool hidden);
    /// Puts the part below a sentence.
    void tell(Part&& part, Reasons& out, bool hidden);

    // narrator_missing.cc
    struct Candidate;
    void search(const types::Reference& reference, std::vector<Candidate>& out);
    void kept_out(const Candidate& candidate, Reasons& out, int depth);
    void titles(Id id, Reasons& out);
    bool not_reached(Id from, const Candidate& candidate, Reasons& out);

    const History& history_;
    compiler::Compilation& compilation_;
    hiera::Lookup& lookup_;
    std::string root_;
    std::set<std::pair<const void*, std::string>> reported_;
    /// Beyond, an explanation is none: who asks for a class with hundreds of parameters reads no
    /// more.
    static constexpr std::size_t kMostReasons = 5000;
    static constexpr int kDeepest = 200;
    std::unordered_map<Id, bool> secrets_;
    std::size_t count_ = 0;
    int depth_ = 0;
};

}  // namespace bunraku::insight
