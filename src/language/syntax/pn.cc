// SPDX-License-Identifier: Apache-2.0
// Writes the tree as PN (puppet-specifications, models/pn.md), like Puppet's PNTransformer (8.11).
#include <fmt/format.h>
#include <iterator>
#include <string>

#include "core/base/assert.h"
#include "core/value/value.h"
#include "language/syntax/parser.h"
#include "language/syntax/visit.h"

namespace bunraku::syntax {

namespace {

bool is_nothing(const Node* node) { return node == nullptr || node->kind == NodeKind::Nop; }

class PnWriter {
public:
    std::string out;

    void write(const Node* node) {
        if (node == nullptr) {
            out += "(nop)";
        } else {
            as_its_kind(node, [this](const auto& n) { one(n); });
        }
    }

private:
    void quote(std::string_view text) {
        out += '"';
        for (char c : text) {
            switch (c) {
                case '\t': out += "\\t"; break;
                case '\n': out += "\\n"; break;
                case '\r': out += "\\r"; break;
                case '"': out += "\\\""; break;
                case '\\': out += "\\\\"; break;
                default:
                    if (static_cast<unsigned char>(c) < 0x20) {
                        fmt::format_to(std::back_inserter(out), "\\o{:03o}",
                                       static_cast<unsigned char>(c));
                    } else {
                        out += c;
                    }
            }
        }
        out += '"';
    }
    void integer(const LiteralInteger& number, bool negative) {
        if (!number.overflow.empty()) {
            if (negative) out += '-';
            out += number.overflow;
        } else {
            fmt::format_to(std::back_inserter(out), "{}", negative ? -number.value : number.value);
        }
    }
    template <class List>
    void items(const List& list) {
        bool first = true;
        for (const auto* item : list) {
            if (!first) out += ' ';
            first = false;
            write(item);
        }
    }
    template <class List>
    void list(const List& nodes) {
        out += '[';
        items(nodes);
        out += ']';
    }
    /// Writes "(name a b ..)" with the given nodes or ranges of nodes.
    void call(std::string_view name, std::initializer_list<const Node*> nodes) {
        out.append("(").append(name);
        for (const Node* node : nodes) {
            out += ' ';
            write(node);
        }
        out += ')';
    }
    template <class List>
    void call_list(std::string_view name, const List& nodes) {
        out.append("(").append(name);
        if (!nodes.empty()) out += ' ';
        items(nodes);
        out += ')';
    }
    void call_text(std::string_view name, std::string_view text) {
        out.append("(").append(name).append(" ");
        quote(text);
        out += ')';
    }
    /// Writes the ":key " of a map entry. The first key directly follows the brace.
    void key(std::string_view name) {
        BUNRAKU_ASSERT(!out.empty());
        if (out.back() != '{') out += ' ';
        out.append(":").append(name).append(" ");
    }
    void entry(std::string_view name, const Node* node) {
        key(name);
        write(node);
    }
    template <class List>
    void entry_list(std::string_view name, const List& nodes) {
        key(name);
        list(nodes);
    }
    void entry_text(std::string_view name, std::string_view text) {
        key(name);
        quote(text);
    }
    void open(std::string_view name) { out.append("(").append(name).append(" {"); }
    void close() { out += "})"; }
    void block(std::string_view name, const Node* body) {
        key(name);
        if (const auto* statements = as<BlockExpression>(body)) {
            list(statements->statements);
        } else {
            out += '[';
            write(body);
            out += ']';
        }
    }
    void parameters(ParameterList list) {
        if (list.empty()) return;
        key("params");
        out += '{';
        for (const Parameter* parameter : list) {
            key(parameter->name);
            out += '{';
            parameter_entries(*parameter);
        }
        out += '}';
    }
    void parameter_entries(const Parameter& parameter) {
        if (parameter.type_expr) entry("type", parameter.type_expr);
        if (parameter.captures_rest) {
            key("splat");
            out += "true";
        }
        if (parameter.value) entry("value", parameter.value);
        out += '}';
    }
    void definition(std::string_view type, const NamedDefinition& node, std::string_view parent,
                    const Node* return_type) {
        open(type);
        entry_text("name", node.name);
        if (!parent.empty()) entry_text("parent", parent);
        parameters(node.parameters);
        if (node.body) block("body", node.body);
        if (return_type) entry("returns", return_type);
        close();
    }
    template <class T>
    void conditional(std::string_view name, const T& node) {
        open(name);
        entry("test", node.test);
        if (!is_nothing(node.then_expr)) block("then", node.then_expr);
        if (!is_nothing(node.else_expr)) block("else", node.else_expr);
        close();
    }
    template <class T>
    void invocation(std::string_view with_value, std::string_view without, const T& node) {
        open(node.rval_required ? with_value : without);
        entry("functor", node.functor);
        entry_list("args", node.arguments);
        if (node.lambda) entry("block", node.lambda);
        close();
    }
    template <class List>
    void choice(std::string_view name, const Node* of, const List& options) {
        out += name;
        write(of);
        out += ' ';
        list(options);
        out += ')';
    }
    void form(ResourceForm form) {
        if (form == ResourceForm::Regular) return;
        entry_text("form", form == ResourceForm::Virtual ? "virtual" : "exported");
    }
    void query(std::string_view name, const Node* expr) {
        if (is_nothing(expr)) {
            out.append("(").append(name).append(")");
        } else {
            call(name, {expr});
        }
    }

    // The PN form of each kind of node.
    void one(const Nop&) { out += "(nop)"; }
    void one(const LiteralUndef&) { out += "nil"; }
    void one(const LiteralDefault&) { out += "(default)"; }
    void one(const LiteralBoolean& n) { out += n.value ? "true" : "false"; }
    void one(const LiteralInteger& n) {
        if (n.radix == 10) return integer(n, false);
        open("int");
        key("radix");
        out += n.radix == 8 ? "8" : "16";
        key("value");
        integer(n, false);
        close();
    }
    void one(const LiteralFloat& n) { out += value::format_float(n.value); }
    void one(const LiteralString& n) { quote(n.value); }
    void one(const LiteralRegularExpression& n) { call_text("regexp", n.pattern); }
    void one(const QualifiedName& n) { call_text("qn", n.value); }
    void one(const QualifiedReference& n) { call_text("qr", n.cased_value); }
    void one(const ReservedWord& n) { call_text("reserved", n.word); }
    void one(const ConcatenatedString& n) { call_list("concat", n.segments); }
    void one(const TextExpression& n) { call("str", {n.expr}); }
    void one(const HeredocExpression& n) {
        open("heredoc");
        if (!n.syntax.empty()) entry_text("syntax", n.syntax);
        entry("text", n.text_expr);
        close();
    }
    void one(const VariableExpression& n) {
        if (const auto* qualified = as<QualifiedName>(n.expr)) {
            call_text("var", qualified->value);
        } else {
            call("var", {n.expr});
        }
    }
    void one(const ParenthesizedExpression& n) { call("paren", {n.expr}); }
    void one(const NotExpression& n) { call("!", {n.expr}); }
    void one(const UnaryMinusExpression& n) {
        if (const auto* number = as<LiteralInteger>(n.expr)) {
            integer(*number, true);
        } else if (const auto* real = as<LiteralFloat>(n.expr)) {
            out += value::format_float(-real->value);
        } else {
            call("-", {n.expr});
        }
    }
    void one(const UnfoldExpression& n) { call("unfold", {n.expr}); }
    void one(const BinaryNode& n) { call(op_text(n.op), {n.left, n.right}); }
    void one(const InExpression& n) { call("in", {n.left, n.right}); }
    void one(const AndExpression& n) { call("and", {n.left, n.right}); }
    void one(const OrExpression& n) { call("or", {n.left, n.right}); }
    void one(const AccessExpression& n) {
        out += "(access ";
        write(n.left);
        if (!n.keys.empty()) out += ' ';
        items(n.keys);
        out += ')';
    }
    void one(const NamedAccessExpression& n) { call(".", {n.left, n.right}); }
    void one(const LiteralList& n) { call_list("array", n.values); }
    void one(const KeyedEntry& n) { call("=>", {n.key, n.value}); }
    void one(const LiteralHash& n) { call_list("hash", n.entries); }
    void one(const BlockExpression& n) { call_list("block", n.statements); }
    void one(const IfExpression& n) { conditional("if", n); }
    void one(const UnlessExpression& n) { conditional("unless", n); }
    void one(const CaseOption& n) {
        out += '{';
        entry_list("when", n.values);
        block("then", n.then_expr);
        out += '}';
    }
    void one(const CaseExpression& n) { choice("(case ", n.test, n.options); }
    void one(const SelectorEntry& n) { call("=>", {n.matching_expr, n.value_expr}); }
    void one(const SelectorExpression& n) { choice("(? ", n.left, n.selectors); }
    void one(const CallNamedFunctionExpression& n) { invocation("call", "invoke", n); }
    void one(const CallMethodExpression& n) { invocation("call-method", "invoke-method", n); }
    void one(const LambdaExpression& n) {
        open("lambda");
        parameters(n.parameters);
        if (n.return_type) entry("returns", n.return_type);
        if (n.body) block("body", n.body);
        close();
    }
    void one(const Parameter& n) {
        out += '{';
        entry_text("name", n.name);
        parameter_entries(n);
    }
    void one(const FunctionDefinition& n) { definition("function", n, {}, n.return_type); }
    void one(const PlanDefinition& n) { definition("plan", n, {}, n.return_type); }
    void one(const HostClassDefinition& n) { definition("class", n, n.parent_class, nullptr); }
    void one(const ResourceTypeDefinition& n) { definition("define", n, {}, nullptr); }
    void one(const NodeDefinition& n) {
        open("node");
        entry_list("matches", n.host_matches);
        if (n.parent) entry("parent", n.parent);
        if (n.body) block("body", n.body);
        close();
    }
    void one(const TypeAlias& n) {
        out += "(type-alias ";
        quote(n.name);
        out += ' ';
        write(n.type_expr);
        out += ')';
    }
    void one(const TypeDefinition& n) {
        out += "(type-definition ";
        quote(n.name);
        out += ' ';
        if (n.parent.empty()) {
            out += "nil";
        } else {
            quote(n.parent);
        }
        out += ' ';
        write(n.body);
        out += ')';
    }
    void one(const TypeMapping& n) { call("type-mapping", {n.type_expr, n.mapping_expr}); }
    void one(const AttributeOperation& n) {
        out.append("(").append(op_text(n.op)).append(" ");
        quote(n.attribute_name);
        out += ' ';
        write(n.value_expr);
        out += ')';
    }
    void one(const AttributesOperation& n) { call("splat-hash", {n.expr}); }
    void one(const ResourceBody& n) {
        // This node only occurs within a resource, where it is a bare map.
        out += '{';
        entry("title", n.title);
        entry_list("ops", n.operations);
        out += '}';
    }
    void one(const ResourceExpression& n) {
        open("resource");
        entry("type", n.type_name);
        entry_list("bodies", n.bodies);
        form(n.form);
        close();
    }
    void one(const ResourceDefaultsExpression& n) {
        open("resource-defaults");
        entry("type", n.type_ref);
        entry_list("ops", n.operations);
        form(n.form);
        close();
    }
    void one(const ResourceOverrideExpression& n) {
        open("resource-override");
        entry("resources", n.resources);
        entry_list("ops", n.operations);
        form(n.form);
        close();
    }
    void one(const VirtualQuery& n) { query("virtual-query", n.expr); }
    void one(const ExportedQuery& n) { query("exported-query", n.expr); }
    void one(const CollectExpression& n) {
        open("collect");
        entry("type", n.type_expr);
        entry("query", n.query);
        if (!n.operations.empty()) entry_list("ops", n.operations);
        close();
    }
    void one(const EppExpression& n) {
        if (const auto* statements = as<BlockExpression>(n.body)) {
            call_list("epp", statements->statements);
        } else if (n.body) {
            call("epp", {n.body});
        } else {
            out += "(epp)";
        }
    }
    void one(const RenderStringExpression& n) { call_text("render-s", n.value); }
    void one(const RenderExpression& n) { call("render", {n.expr}); }
    void one(const ApplyExpression& n) {
        // Puppet's transformer does not support this node. The form is our own.
        open("apply");
        entry_list("args", n.arguments);
        if (n.body) block("body", n.body);
        close();
    }
    void one(const Program& n) { write(n.body); }
};

}  // namespace

std::string dump_pn(const Node* node) {
    PnWriter writer;
    writer.write(node);
    return std::move(writer.out);
}

}  // namespace bunraku::syntax
