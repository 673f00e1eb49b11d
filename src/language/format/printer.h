// SPDX-License-Identifier: Apache-2.0
// Turns a manifest into a layout. The syntax tree gives the structure; the lexemes, which the
// printer reads in their order, give the texts, the comments and the line breaks of the author.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "language/format/layout.h"
#include "language/format/lexemes.h"
#include "language/syntax/ast.h"

namespace bunraku::format {

class Printer {
public:
    /// `manifest` must outlive the layout. The printer moves the comments of its lexemes.
    Printer(Manifest& manifest, Layout& out)
        : lexemes_(manifest.lexemes), source_(*manifest.tree->source), out_(out) {}

    /// Writes the whole manifest. Throws base::PuppetError if the lexemes do not match the tree.
    void program(const syntax::Program& program);

private:
    using Node = syntax::Node;
    using NodeList = syntax::NodeList;
    using Tok = syntax::Tok;
    using Separator = Layout::Kind;  // Line, Soft or Hard
    using Item = std::function<void(std::size_t)>;

    /// How a bracketed list is written.
    struct ListStyle {
        Tok close;
        bool blanks = false;  ///< blanks inside of the brackets of a list in one line
        bool comma = false;   ///< a comma after the last item if there are several lines
        bool hug = false;     ///< the brackets of a single item are next to it
        /// A line break within an item, or within an item that is not the last one, breaks the
        /// list.
        bool follow_items = false, follow_inner_items = false;
        bool always_break = false;
    };
    /// A statement has several lines if it has a block. A value may be in one line.
    enum class Position : std::uint8_t { Statement, Value };
    /// The line of an entry up to its key, and the blanks before its arrow, as indexes in the
    /// layout.
    struct Arrow {
        std::size_t key, pad;
    };

    // Lexemes (printer.cc).
    Lexeme& here() { return lexemes_[at_]; }
    bool is(Tok kind) const { return lexemes_[at_].kind == kind; }
    [[noreturn]] void mismatch() const;
    void token();
    void token(Tok kind);
    void joined_token();
    void write_lexeme();
    void comments(bool joined);
    bool ends_line(const Lexeme& lexeme, std::size_t comment) const;
    void drop();
    void operator_token();
    void separator(Separator kind, bool blank);
    void start_item(Separator kind, bool first);
    void finish_items(Separator kind);

    // Lists and blocks (printer_lists.cc).
    void list(const ListStyle& style, std::size_t count, const Item& item);
    bool formatting_is_off();
    std::size_t unformatted(std::size_t i, std::size_t count, const Item& item);
    void skip_comma();
    void arrow(std::size_t key);
    void align(const std::vector<Arrow>& arrows);
    void value(const Node* node);
    void statements(NodeList list, Position position);
    void end_statement();
    bool block(const Node* body, Position position);
    void block_of_definition(const Node* body);
    void inline_block(const Node* body);

    // Expressions (printer_expressions.cc).
    void expr(const Node* node);
    void binary(const syntax::BinaryNode& node);
    void relationship(const syntax::BinaryNode& node);
    void entry(const syntax::KeyedEntry& entry);
    void items(const ListStyle& style, NodeList nodes);
    void hash(const syntax::LiteralHash& node, std::size_t count);
    void arguments(NodeList nodes);
    void statement_arguments(NodeList nodes);
    void call_part(const syntax::CallMethodExpression& call);
    bool if_parts(const syntax::IfExpression& node, Position position);
    bool unless_parts(const syntax::UnlessExpression& node, Position position);
    void conditional(const Node* node, Position position);
    void lambda(const syntax::LambdaExpression* node);

    void one(const Node&) { mismatch(); }
    void one(const syntax::ParenthesizedExpression& node);
    void one(const syntax::NotExpression& node) { unary(node.expr); }
    void one(const syntax::UnaryMinusExpression& node) { unary(node.expr); }
    void one(const syntax::UnfoldExpression& node) { unary(node.expr); }
    void one(const syntax::AssignmentExpression& node);
    void one(const syntax::BinaryNode& node) { binary(node); }
    void one(const syntax::RelationshipExpression& node) { relationship(node); }
    void one(const syntax::AccessExpression& node);
    void one(const syntax::LiteralList& node);
    void one(const syntax::KeyedEntry& node) { entry(node); }
    void one(const syntax::LiteralHash& node) { hash(node, node.entries.size()); }
    void one(const syntax::BlockExpression& node);
    void one(const syntax::IfExpression& node) { conditional(&node, Position::Value); }
    void one(const syntax::UnlessExpression& node) { conditional(&node, Position::Value); }
    void one(const syntax::CaseExpression& node);
    void one(const syntax::SelectorExpression& node);
    void one(const syntax::CallNamedFunctionExpression& node);
    void one(const syntax::CallMethodExpression& node);
    void unary(const Node* operand);

    // Definitions (printer_definitions.cc).
    enum class Parameters : std::uint8_t { AsWritten, OnePerLine };
    void parameters(Tok close, syntax::ParameterList list, Parameters how);
    void parameter(const syntax::Parameter& node);
    void class_parameters(const syntax::NamedDefinition& node);
    void host();
    void one(const syntax::FunctionDefinition& node);
    void one(const syntax::PlanDefinition& node);
    void one(const syntax::HostClassDefinition& node);
    void one(const syntax::ResourceTypeDefinition& node);
    void one(const syntax::NodeDefinition& node);
    void one(const syntax::TypeAlias& node);
    void one(const syntax::TypeDefinition& node);
    void one(const syntax::TypeMapping& node);
    void one(const syntax::ApplyExpression& node);
    void alias_target(const Node* type);

    // Resources (printer_resources.cc).
    void virtual_marks();
    void attribute(const Node* operation);
    bool attributes(NodeList operations);
    void attribute_block(NodeList operations);
    void short_resource(const syntax::ResourceBody& body);
    void tall_body(const syntax::ResourceBody& body, std::string_view end);
    void tall_resource(std::span<const syntax::ResourceBody* const> bodies);
    void one(const syntax::ResourceExpression& node);
    void one(const syntax::ResourceDefaultsExpression& node);
    void one(const syntax::ResourceOverrideExpression& node);
    void one(const syntax::CollectExpression& node);

    std::vector<Lexeme>& lexemes_;
    const syntax::Source& source_;
    Layout& out_;
    std::size_t at_ = 0;    ///< index of the next lexeme
    std::size_t item_ = 0;  ///< index in the layout of the line on which the current item starts
    std::vector<Arrow>* arrows_ = nullptr;  ///< the arrows of the current list; may be null
};

}  // namespace bunraku::format
