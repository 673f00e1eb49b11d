// SPDX-License-Identifier: Apache-2.0
// The syntax tree: Puppet's own model (Puppet::Pops::Model, 8.11) as plain structs in an arena.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/arena.h"
#include "core/base/assert.h"
#include "core/base/symbol.h"
#include "language/syntax/source.h"

namespace bunraku::syntax {

// clang-format off
/// One row for each kind of node, named as in Puppet's model.
#define BUNRAKU_AST_NODES(X) \
    X(Nop) X(LiteralUndef) X(LiteralDefault) X(LiteralBoolean) X(LiteralInteger) \
    X(LiteralFloat) X(LiteralString) X(LiteralRegularExpression) X(QualifiedName) \
    X(QualifiedReference) X(ReservedWord) X(ConcatenatedString) X(TextExpression) \
    X(HeredocExpression) X(VariableExpression) X(ParenthesizedExpression) X(NotExpression) \
    X(UnaryMinusExpression) X(UnfoldExpression) X(AssignmentExpression) \
    X(ArithmeticExpression) X(RelationshipExpression) X(ComparisonExpression) \
    X(MatchExpression) X(InExpression) X(AndExpression) X(OrExpression) X(AccessExpression) \
    X(NamedAccessExpression) X(LiteralList) X(KeyedEntry) X(LiteralHash) X(BlockExpression) \
    X(IfExpression) X(UnlessExpression) X(CaseOption) X(CaseExpression) X(SelectorEntry) \
    X(SelectorExpression) X(CallNamedFunctionExpression) X(CallMethodExpression) \
    X(LambdaExpression) X(Parameter) X(FunctionDefinition) X(PlanDefinition) \
    X(HostClassDefinition) X(ResourceTypeDefinition) X(NodeDefinition) X(TypeAlias) \
    X(TypeDefinition) X(TypeMapping) X(AttributeOperation) X(AttributesOperation) \
    X(ResourceBody) X(ResourceExpression) X(ResourceDefaultsExpression) \
    X(ResourceOverrideExpression) X(VirtualQuery) X(ExportedQuery) X(CollectExpression) \
    X(EppExpression) X(RenderStringExpression) X(RenderExpression) X(ApplyExpression) \
    X(Program)
// clang-format on

enum class NodeKind : std::uint8_t {
#define X(name) name,
    BUNRAKU_AST_NODES(X)
#undef X
};

/// Returns the name of the kind, such as "LiteralInteger".
std::string_view node_kind_name(NodeKind kind);

/// The base of all nodes. Offsets are byte offsets into `source`.
struct Node {
    NodeKind kind;
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
    const Source* source = nullptr;

    explicit Node(NodeKind k) : kind(k) {}
    base::Location where() const { return source ? source->locate(offset) : base::Location{}; }
    /// Returns the source text that the node was parsed from.
    std::string_view text() const {
        return source ? source->text().substr(offset, length) : std::string_view();
    }
};

using NodeList = std::span<const Node* const>;

#define BUNRAKU_NODE(name)                            \
    static constexpr NodeKind kKind = NodeKind::name; \
    name() : Node(kKind) {}

struct Nop : Node {
    BUNRAKU_NODE(Nop)
};
struct LiteralUndef : Node {
    BUNRAKU_NODE(LiteralUndef)
};
struct LiteralDefault : Node {
    BUNRAKU_NODE(LiteralDefault)
};
struct LiteralBoolean : Node {
    BUNRAKU_NODE(LiteralBoolean) bool value = false;
};
struct LiteralInteger : Node {
    BUNRAKU_NODE(LiteralInteger) std::int64_t value = 0;
    int radix = 10;
    std::string_view
        /// the decimal digits, if `value` cannot hold them (validate() then reports an error)
        overflow;
};
struct LiteralFloat : Node {
    BUNRAKU_NODE(LiteralFloat) double value = 0;
};
struct LiteralString : Node {
    BUNRAKU_NODE(LiteralString) std::string_view value;
};
/// `regex` is the compiled regex::Regex. The tree's arena owns it and the parser sets it. It is a
/// void pointer so that this header does not depend on the regex module.
struct LiteralRegularExpression : Node {
    BUNRAKU_NODE(LiteralRegularExpression) std::string_view pattern;
    const void* regexp_rep = nullptr; /* value::RegexpRep */
};
/// A bare word: a lower case name, possibly qualified.
struct QualifiedName : Node {
    BUNRAKU_NODE(QualifiedName) std::string_view value;
    base::Symbol symbol;
};
/// A capitalised name: a reference to a type or a class. `value` is in lower case, `cased_value` is
/// the name as written.
struct QualifiedReference : Node {
    BUNRAKU_NODE(QualifiedReference) std::string_view cased_value;
    std::string_view value;
};
struct ReservedWord : Node {
    BUNRAKU_NODE(ReservedWord) std::string_view word;
    bool future = false;
};
struct ConcatenatedString : Node {
    BUNRAKU_NODE(ConcatenatedString) NodeList segments;
};
struct TextExpression : Node {
    BUNRAKU_NODE(TextExpression) const Node* expr = nullptr;
};
struct HeredocExpression : Node {
    BUNRAKU_NODE(HeredocExpression) std::string_view syntax;
    const Node* text_expr = nullptr;
};
/// `expr` is a QualifiedName, or a LiteralInteger for $1. `name` is the name as text without
/// the "$"; a leading "::" is retained.
struct VariableExpression : Node {
    BUNRAKU_NODE(VariableExpression)
    const Node* expr = nullptr;
    base::Symbol name;
    bool qualified = false;  ///< True if the name contains "::".
    bool numeric = false;    ///< True for $0, $1, and so on.
    std::uint32_t number = 0;
};
struct ParenthesizedExpression : Node {
    BUNRAKU_NODE(ParenthesizedExpression) const Node* expr = nullptr;
};
struct NotExpression : Node {
    BUNRAKU_NODE(NotExpression) const Node* expr = nullptr;
};
struct UnaryMinusExpression : Node {
    BUNRAKU_NODE(UnaryMinusExpression) const Node* expr = nullptr;
};
struct UnfoldExpression : Node {
    BUNRAKU_NODE(UnfoldExpression) const Node* expr = nullptr;
};

/// All operators. Each node documents which of them it can have.
enum class Op : std::uint8_t {
    Assign,
    PlusAssign,
    MinusAssign,  // AssignmentExpression
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    ShiftLeft,
    ShiftRight,  // ArithmeticExpression
    Before,
    Notify,
    BeforeReverse,
    NotifyReverse,  // RelationshipExpression: -> ~> <- <~
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,  // ComparisonExpression
    Match,
    NotMatch,  // MatchExpression
    Set,
    Append,  // AttributeOperation: => +>
};
/// Returns the operator as written: "+=", "->", and so on.
std::string_view op_text(Op op);

/// The base of the nodes with two operands. It does not appear in a tree itself.
struct BinaryNode : Node {
    using Node::Node;
    const Node* left = nullptr;
    const Node* right = nullptr;
    Op op = Op::Add;
};
#define BUNRAKU_BINARY_NODE(name)                         \
    struct name : BinaryNode {                            \
        static constexpr NodeKind kKind = NodeKind::name; \
        name() : BinaryNode(kKind) {}                     \
    };
BUNRAKU_BINARY_NODE(AssignmentExpression)
BUNRAKU_BINARY_NODE(ArithmeticExpression)
BUNRAKU_BINARY_NODE(RelationshipExpression)
BUNRAKU_BINARY_NODE(ComparisonExpression)
BUNRAKU_BINARY_NODE(MatchExpression)
BUNRAKU_BINARY_NODE(InExpression)
BUNRAKU_BINARY_NODE(AndExpression)
BUNRAKU_BINARY_NODE(OrExpression)
#undef BUNRAKU_BINARY_NODE

struct AccessExpression : Node {
    BUNRAKU_NODE(AccessExpression) const Node* left = nullptr;
    NodeList keys;
};
struct NamedAccessExpression : Node {
    BUNRAKU_NODE(NamedAccessExpression) const Node* left = nullptr;
    const Node* right = nullptr;
};
struct LiteralList : Node {
    BUNRAKU_NODE(LiteralList) NodeList values;
};
struct KeyedEntry : Node {
    BUNRAKU_NODE(KeyedEntry) const Node* key = nullptr;
    const Node* value = nullptr;
};
struct LiteralHash : Node {
    BUNRAKU_NODE(LiteralHash) std::span<const KeyedEntry* const> entries;
};
struct BlockExpression : Node {
    BUNRAKU_NODE(BlockExpression) NodeList statements;
};
/// The branches may be null or a Nop if they are empty in the source, as in Puppet's model.
struct IfExpression : Node {
    BUNRAKU_NODE(IfExpression) const Node* test = nullptr;
    const Node* then_expr = nullptr;
    const Node* else_expr = nullptr;
};
struct UnlessExpression : Node {
    BUNRAKU_NODE(UnlessExpression) const Node* test = nullptr;
    const Node* then_expr = nullptr;
    const Node* else_expr = nullptr;
};
struct CaseOption : Node {
    BUNRAKU_NODE(CaseOption) NodeList values;
    const Node* then_expr = nullptr;
};
struct CaseExpression : Node {
    BUNRAKU_NODE(CaseExpression) const Node* test = nullptr;
    std::span<const CaseOption* const> options;
};
struct SelectorEntry : Node {
    BUNRAKU_NODE(SelectorEntry) const Node* matching_expr = nullptr;
    const Node* value_expr = nullptr;
};
struct SelectorExpression : Node {
    BUNRAKU_NODE(SelectorExpression) const Node* left = nullptr;
    std::span<const SelectorEntry* const> selectors;
};

struct Parameter : Node {
    BUNRAKU_NODE(Parameter)
    std::string_view name;
    base::Symbol symbol;
    const Node* value = nullptr;      ///< default value; may be null
    const Node* type_expr = nullptr;  ///< null if the parameter has no type
    bool captures_rest = false;
};
using ParameterList = std::span<const Parameter* const>;

struct LambdaExpression : Node {
    BUNRAKU_NODE(LambdaExpression)
    ParameterList parameters;
    const Node* body = nullptr;
    const Node* return_type = nullptr;
};
struct CallNamedFunctionExpression : Node {
    BUNRAKU_NODE(CallNamedFunctionExpression)
    const Node* functor =
        nullptr;  ///< QualifiedName, QualifiedReference (Integer(..)), or another expression
    NodeList arguments;
    const LambdaExpression* lambda = nullptr;
    bool rval_required = false;
};
struct CallMethodExpression : Node {
    BUNRAKU_NODE(CallMethodExpression)
    const NamedAccessExpression* functor = nullptr;
    NodeList arguments;
    const LambdaExpression* lambda = nullptr;
    bool rval_required = false;
};

/// The base of the definitions that have a name, parameters and a body.
struct NamedDefinition : Node {
    using Node::Node;
    std::string_view name;  ///< fully qualified and in lower case, as Puppet reports it
    ParameterList parameters;
    const Node* body = nullptr;
};
struct FunctionDefinition : NamedDefinition {
    static constexpr NodeKind kKind = NodeKind::FunctionDefinition;
    FunctionDefinition() : NamedDefinition(kKind) {}
    const Node* return_type = nullptr;
};
struct PlanDefinition : NamedDefinition {
    static constexpr NodeKind kKind = NodeKind::PlanDefinition;
    PlanDefinition() : NamedDefinition(kKind) {}
    const Node* return_type = nullptr;
};
struct HostClassDefinition : NamedDefinition {
    static constexpr NodeKind kKind = NodeKind::HostClassDefinition;
    HostClassDefinition() : NamedDefinition(kKind) {}
    std::string_view parent_class;  ///< may be empty
};
struct ResourceTypeDefinition : NamedDefinition {
    static constexpr NodeKind kKind = NodeKind::ResourceTypeDefinition;
    ResourceTypeDefinition() : NamedDefinition(kKind) {}
};
struct NodeDefinition : Node {
    BUNRAKU_NODE(NodeDefinition)
    NodeList
        host_matches;  ///< LiteralString, QualifiedName.., LiteralRegularExpression, LiteralDefault
    const Node* parent = nullptr;
    const Node* body = nullptr;
};
struct TypeAlias : Node {
    BUNRAKU_NODE(TypeAlias) std::string_view name;
    const Node* type_expr = nullptr;
};
struct TypeDefinition : Node {
    BUNRAKU_NODE(TypeDefinition) std::string_view name;
    std::string_view parent;
    const Node* body = nullptr;
};
struct TypeMapping : Node {
    BUNRAKU_NODE(TypeMapping) const Node* type_expr = nullptr;
    const Node* mapping_expr = nullptr;
};

struct AttributeOperation : Node {
    BUNRAKU_NODE(AttributeOperation) std::string_view attribute_name;
    Op op = Op::Set;
    const Node* value_expr = nullptr;
};
/// `* => hash`
struct AttributesOperation : Node {
    BUNRAKU_NODE(AttributesOperation) const Node* expr = nullptr;
};
struct ResourceBody : Node {
    BUNRAKU_NODE(ResourceBody) const Node* title = nullptr;
    NodeList operations;
};

enum class ResourceForm : std::uint8_t { Regular, Virtual, Exported };
struct ResourceExpression : Node {
    BUNRAKU_NODE(ResourceExpression)
    ResourceForm form = ResourceForm::Regular;
    const Node* type_name =
        /// QualifiedName (including "class"), QualifiedReference, AccessExpression and others
        nullptr;
    std::span<const ResourceBody* const> bodies;
};
struct ResourceDefaultsExpression : Node {
    BUNRAKU_NODE(ResourceDefaultsExpression)
    ResourceForm form = ResourceForm::Regular;
    const Node* type_ref = nullptr;
    NodeList operations;
};
struct ResourceOverrideExpression : Node {
    BUNRAKU_NODE(ResourceOverrideExpression)
    ResourceForm form = ResourceForm::Regular;
    const Node* resources = nullptr;
    NodeList operations;
};
/// `expr` is null or a Nop for an empty query.
struct VirtualQuery : Node {
    BUNRAKU_NODE(VirtualQuery) const Node* expr = nullptr;
};
struct ExportedQuery : Node {
    BUNRAKU_NODE(ExportedQuery) const Node* expr = nullptr;
};
struct CollectExpression : Node {
    BUNRAKU_NODE(CollectExpression)
    const Node* type_expr = nullptr;
    const Node* query = nullptr;  ///< VirtualQuery or ExportedQuery
    NodeList operations;
};

/// The root of an EPP text. Its parameters are the parameters of the enclosing LambdaExpression, as
/// in Puppet's model.
struct EppExpression : Node {
    BUNRAKU_NODE(EppExpression) bool parameters_specified = false;
    const Node* body = nullptr;
};
struct RenderStringExpression : Node {
    BUNRAKU_NODE(RenderStringExpression) std::string_view value;
};
struct RenderExpression : Node {
    BUNRAKU_NODE(RenderExpression) const Node* expr = nullptr;
};
struct ApplyExpression : Node {
    BUNRAKU_NODE(ApplyExpression) NodeList arguments;
    const Node* body = nullptr;
};

/// The root of every tree.
struct Program : Node {
    BUNRAKU_NODE(Program)
    const Node* body = nullptr;
    NodeList
        /// every class, define, node, function, plan and type in the text, in source order
        definitions;
};
#undef BUNRAKU_NODE

/// Returns the node as a T, or null if it is of another kind.
template <class T>
const T* as(const Node* node) {
    return node && node->kind == T::kKind ? static_cast<const T*>(node) : nullptr;
}
/// Returns the node as a T without a check. The node must be of that kind.
template <class T>
const T& to(const Node* node) {
    BUNRAKU_ASSERT(node && node->kind == T::kKind);
    return *static_cast<const T*>(node);
}

/// A parsed text together with everything that its nodes point to. It is immutable after parsing
/// and can be shared between threads.
struct Tree {
    std::unique_ptr<Source> source;
    base::Arena arena;
    const Program* program = nullptr;
    std::vector<base::Diagnostic> warnings;  ///< lexer warnings about unrecognized escapes
};

}  // namespace bunraku::syntax
