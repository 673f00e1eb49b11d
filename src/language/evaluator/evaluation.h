// SPDX-License-Identifier: Apache-2.0
// Declarations that the files of the evaluator share: one function for every kind of node, and the
// interpreter's caches.
#pragma once

#include <fmt/format.h>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/assert.h"
#include "language/evaluator/closure.h"
#include "language/evaluator/fact_walks.h"
#include "language/evaluator/interpreter.h"
#include "language/evaluator/labels.h"

namespace bunraku::evaluator {

using syntax::Node;
using syntax::NodeKind;
using value::Kind;

/// Arguments of a call or elements of a list. Up to eight values need no heap allocation.
class ValueBuffer {
public:
    ValueBuffer() = default;
    ValueBuffer(const ValueBuffer&) = delete;
    void push(const Value& v) {
        if (size_ < kInline)
            inline_[size_++] = v;
        else
            push_slow(v);
    }
    std::size_t size() const { return size_; }
    std::span<const Value> view() const {
        BUNRAKU_ASSERT(more_.empty() ? size_ <= kInline : size_ == more_.size());
        return {more_.empty() ? inline_ : more_.data(), size_};
    }
    Value& operator[](std::size_t i) {
        BUNRAKU_ASSERT(i < size_);
        return more_.empty() ? inline_[i] : more_[i];
    }

private:
    static constexpr std::size_t kInline = 8;
    void push_slow(const Value& v) {
        if (more_.empty()) more_.assign(inline_, inline_ + size_);
        more_.push_back(v);
        ++size_;
        BUNRAKU_ASSERT(size_ > kInline && size_ == more_.size());
    }
    Value inline_[kInline];
    std::size_t size_ = 0;
    std::vector<Value> more_;
};

/// A hash table with open addressing that maps pointers to pointers.
template <class T>
class PointerMap {
public:
    T* find(const void* key) const {
        if (slots_.empty()) return nullptr;
        for (std::size_t i = hash(key) & mask_;; i = (i + 1) & mask_) {
            if (slots_[i].key == key) return slots_[i].value;
            if (!slots_[i].key) return nullptr;
        }
    }
    void set(const void* key, T* value) {
        BUNRAKU_ASSERT(key);
        if ((size_ + 1) * 2 > slots_.size()) grow();
        std::size_t i = hash(key) & mask_;
        while (slots_[i].key && slots_[i].key != key) i = (i + 1) & mask_;
        if (!slots_[i].key) ++size_;
        slots_[i] = {key, value};
        BUNRAKU_ASSERT(size_ * 2 <= slots_.size());
    }

private:
    struct Slot {
        const void* key = nullptr;
        T* value = nullptr;
    };
    static std::size_t hash(const void* p) {
        auto x = reinterpret_cast<std::uintptr_t>(p) >> 3;
        return (x * 0x9E3779B97F4A7C15ULL) >> 20;
    }
    void grow() {
        std::vector<Slot> old = std::move(slots_);
        slots_.assign(old.empty() ? 256 : old.size() * 2, Slot{});
        mask_ = slots_.size() - 1;
        BUNRAKU_ASSERT((slots_.size() & mask_) == 0);
        size_ = 0;
        for (const Slot& s : old)
            if (s.key) set(s.key, s.value);
    }
    std::vector<Slot> slots_;
    std::size_t mask_ = 0;
    std::size_t size_ = 0;
};

struct Interpreter::Impl final : types::Loader {
    explicit Impl(Interpreter& interpreter) : in(interpreter) {}
    const types::Type* find_type(std::string_view name) override;

    Interpreter& in;
    PointerMap<const Callable> callables;  // by the address of the function name's symbol text
    PointerMap<const types::Type> types;   // by node
    PointerMap<const LambdaInfo> lambdas;  // by node
    FactWalks walks;
    std::vector<Scope*> free_scopes;
    std::unordered_set<std::string> warned;
    bool resolving = false;
};

/// The semantics of each kind of node. All members are static. It is a struct only because the
/// interpreter declares it a friend.
struct Evaluation {
    static Value eval(Interpreter& in, const Node* node, Scope& scope);
    /// Like eval, for a node that is not a literal; adds locations to errors. It is inlined into
    /// `eval`, because an additional call would be measurably slower.
    [[gnu::always_inline]] static inline Value eval_located(Interpreter& in, const Node* node,
                                                            Scope& scope);
    static Value eval_compound(Interpreter& in, const Node* node, Scope& scope);
    /// Like eval_located, and reports the expression to the watcher.
    static Value eval_watched(Interpreter& in, const Node* node, Scope& scope);

    // variables.cc
    static Value variable(Interpreter& in, const syntax::VariableExpression& node, Scope& scope);
    static const Value* find_variable(Scope& scope, Symbol name);
    static const Value* find_qualified(Interpreter& in, Scope& scope, std::string_view name);
    static const Value* find_match(Scope& scope, std::uint32_t number);
    static Value unknown_variable(Interpreter& in, std::string_view name, const Node* site);
    static void assign_fact(Interpreter& in, const syntax::AssignmentExpression& node,
                            const Value& v, FactReads::Path path);
    static Value assignment(Interpreter& in, const syntax::AssignmentExpression& node,
                            Scope& scope);
    static void assign_to(Interpreter& in, const Node* target, const Value& v,
                          const syntax::AssignmentExpression& node, Scope& scope);
    static void check_assignable(const Node* target, Interpreter& in);
    static void set_match(Interpreter& in, Scope& scope, const Value& subject,
                          const regex::Regex& regex, bool& matched);

    // expressions.cc
    static Value literal_list(Interpreter& in, const syntax::LiteralList& node, Scope& scope);
    static Value literal_hash(Interpreter& in, const syntax::LiteralHash& node, Scope& scope);
    static Value concatenated(Interpreter& in, const syntax::ConcatenatedString& node,
                              Scope& scope);
    static Value text(Interpreter& in, const syntax::TextExpression& node, Scope& scope);
    static Value heredoc(Interpreter& in, const syntax::HeredocExpression& node, Scope& scope);
    static Value unfold_expression(Interpreter& in, const syntax::UnfoldExpression& node,
                                   Scope& scope);
    /// Evaluates nodes into `out` and unfolds splats.
    static void unfold(Interpreter& in, syntax::NodeList nodes, Scope& scope, ValueBuffer& out);
    static void unfold_value(Interpreter& in, const Value& v, ValueBuffer& out);
    static Value comparison(Interpreter& in, const syntax::ComparisonExpression& node,
                            Scope& scope);
    static Value match(Interpreter& in, const syntax::MatchExpression& node, Scope& scope);
    static Value in_expression(Interpreter& in, const syntax::InExpression& node, Scope& scope);
    static Value epp(Interpreter& in, const syntax::EppExpression& node, Scope& scope);
    static Value render(Interpreter& in, const syntax::RenderExpression& node, Scope& scope);
    static Value qualified_reference(Interpreter& in, const syntax::QualifiedReference& node);

    // control.cc
    static Value block(Interpreter& in, const syntax::BlockExpression& node, Scope& scope);
    static Value if_expression(Interpreter& in, const syntax::IfExpression& node, Scope& scope);
    static Value unless_expression(Interpreter& in, const syntax::UnlessExpression& node,
                                   Scope& scope);
    static Value case_expression(Interpreter& in, const syntax::CaseExpression& node, Scope& scope);
    static Value selector(Interpreter& in, const syntax::SelectorExpression& node, Scope& scope);
    static bool option_matches(Interpreter& in, const Value& subject, const Node* option,
                               Scope& scope);

    // arithmetic.cc
    static Value arithmetic(Interpreter& in, const syntax::ArithmeticExpression& node,
                            Scope& scope);
    static Value unary_minus(Interpreter& in, const syntax::UnaryMinusExpression& node,
                             Scope& scope);
    static Value coerce_numeric(Interpreter& in, const Value& v, const Node* site);

    // access.cc
    static Value access(Interpreter& in, const syntax::AccessExpression& node, Scope& scope);
    static Value access_fact(Interpreter& in, const syntax::AccessExpression& node, Scope& scope,
                             const Value& left, FactReads::Path path);
    static Value access_in(Interpreter& in, const syntax::AccessExpression& node, Scope& scope,
                           const Value& left);
    static void record_dug_path(Interpreter& in, std::string_view function,
                                std::span<const Value> args, FactReads::Path path);

    // calls.cc
    static Value call_named(Interpreter& in, const syntax::CallNamedFunctionExpression& node,
                            Scope& scope);
    static Value walk_fact(Interpreter& in, const syntax::Node& node,
                           const syntax::LambdaExpression& block, Scope& scope,
                           std::string_view function, const Value& hash, FactReads::Path path);
    static Value call_method(Interpreter& in, const syntax::CallMethodExpression& node,
                             Scope& scope);
    static Value call_with_block(Interpreter& in, std::string_view name,
                                 std::span<const Value> args,
                                 const syntax::LambdaExpression* lambda, const Node* site,
                                 Scope& scope);
    static Value invoke(Interpreter& in, const Callable& callable, std::span<const Value> args,
                        const Callable* block, const Node* site, Scope& scope,
                        bool on_stack = true);

    // resources.cc
    static Value resource(Interpreter& in, const syntax::ResourceExpression& node, Scope& scope);
    static Value resource_defaults(Interpreter& in, const syntax::ResourceDefaultsExpression& node,
                                   Scope& scope);
    static Value resource_override(Interpreter& in, const syntax::ResourceOverrideExpression& node,
                                   Scope& scope);
    static Value collect(Interpreter& in, const syntax::CollectExpression& node, Scope& scope);
    static Value relationship(Interpreter& in, const syntax::RelationshipExpression& node,
                              Scope& scope);
    static void attributes(Interpreter& in, syntax::NodeList operations, Scope& scope,
                           std::vector<Attribute>& out);

    // closure.cc
    static const LambdaInfo& lambda_info(Interpreter& in, const Node* node,
                                         syntax::ParameterList parameters, const Node* body,
                                         const Node* return_type, Scope& scope,
                                         bool by_name = false);
    static Scope* take_scope(Interpreter& in, ScopeKind kind, Scope* parent);
    static void give_back(Interpreter& in, Scope* scope);
    /// Reports whether the number and the types of the arguments match the parameters.
    static bool fits(Interpreter& in, const LambdaInfo& info, std::span<const Value> args);
    /// Throws the error for a call whose arguments do not match.
    [[noreturn]] static void mismatch(Interpreter& in, const LambdaInfo& info,
                                      std::string_view callee, std::span<const Value> args,
                                      const Callable* block);
    /// Binds the arguments and runs the body. `callee` is "lambda" or the function's name.
    /// `checked` is true if the arguments are known to match.
    static Value run_lambda(Interpreter& in, const LambdaInfo& info, std::string_view callee,
                            ScopeKind kind, Scope& closure_scope, std::span<const Value> args,
                            bool checked);
    static void bind_arguments(Interpreter& in, const LambdaInfo& info, std::string_view callee,
                               Scope& scope, std::span<const Value> args, bool checked);
    static void check_depth(Interpreter& in);
    static Value finish_completion(Interpreter& in) { return in.take_completion(); }
    static bool pending(Interpreter& in) { return in.pending_ != Completion::Normal; }
    static int& depth(Interpreter& in) { return in.depth_; }
    static const Interpreter::CallFrame*& frame(Interpreter& in) { return in.frame_; }
    static Interpreter::Impl& impl(Interpreter& in) { return *in.impl_; }
    static std::uintptr_t stack_floor(Interpreter& in) { return in.stack_floor_; }
    static Value illegal_completion(Interpreter& in);

    template <class... Args>
    [[noreturn]] static void fail(Interpreter& in, const Node* site, std::string_view code,
                                  fmt::format_string<Args...> format, Args&&... args) {
        in.fail(fmt::format(format, std::forward<Args>(args)...), code, site);
    }
};

/// Returns from the calling function if a completion is pending.
#define BUNRAKU_RETURN_IF_PENDING(in)             \
    do {                                          \
        if (Evaluation::pending(in)) [[unlikely]] \
            return Value::undef();                \
    } while (false)

/// Evaluates a sub-expression into a new variable. Returns from the calling function if a
/// completion is pending.
#define BUNRAKU_EVAL(name, in, node, scope)               \
    const Value name = Evaluation::eval(in, node, scope); \
    BUNRAKU_RETURN_IF_PENDING(in)

/// Throws "Error while evaluating ..., DETAIL", as for an ArgumentError that Ruby code raises.
template <class... Args>
[[noreturn]] void runtime_error(fmt::format_string<Args...> format, Args&&... args) {
    throw base::PuppetError(fmt::format(format, std::forward<Args>(args)...));
}

/// Returns the node inside any parentheses.
inline const Node* unwind_parentheses(const Node* node) {
    while (node && node->kind == NodeKind::ParenthesizedExpression)
        node = static_cast<const syntax::ParenthesizedExpression*>(node)->expr;
    return node;
}

/// Compares like Ruby's ==: as value::equal, but numbers compare by value.
bool ruby_equals(const Value& a, const Value& b);
/// Converts like Ruby's String#downcase (all of Unicode).
std::string downcase(std::string_view text);
/// Returns generalize(infer(v)) as text; "Undef" and "Default" for these two values.
std::string generalized_type_name(Interpreter& in, const Value& v);

}  // namespace bunraku::evaluator
