// The tree as PN (puppet-specifications, models/pn.md), as Puppet's PNTransformer (8.11) has it.
#include <fmt/format.h>
#include <iterator>
#include <string>

#include "syntax/parser.h"
#include "value/value.h"

namespace bunraku::syntax {

namespace {

bool is_nothing(const Node* node) { return node == nullptr || node->kind == NodeKind::Nop; }

class PnWriter {
public:
    std::string out;

    void write(const Node* node);

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
    /// "(name a b ..)" of what is given: nodes, or ranges of them.
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
    /// ":key " of a map entry; the first one directly behind the brace.
    void key(std::string_view name) {
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
            if (parameter->type_expr) entry("type", parameter->type_expr);
            if (parameter->captures_rest) {
                key("splat");
                out += "true";
            }
            if (parameter->value) entry("value", parameter->value);
            out += '}';
        }
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
};

void PnWriter::write(const Node* node) {
    if (node == nullptr) {
        out += "(nop)";
        return;
    }
    switch (node->kind) {
        case NodeKind::Nop: out += "(nop)"; break;
        case NodeKind::LiteralUndef: out += "nil"; break;
        case NodeKind::LiteralDefault: out += "(default)"; break;
        case NodeKind::LiteralBoolean:
            out += to<LiteralBoolean>(node).value ? "true" : "false";
            break;
        case NodeKind::LiteralInteger: {
            const auto& number = to<LiteralInteger>(node);
            if (number.radix == 10) {
                integer(number, false);
            } else {
                open("int");
                key("radix");
                out += number.radix == 8 ? "8" : "16";
                key("value");
                integer(number, false);
                close();
            }
            break;
        }
        case NodeKind::LiteralFloat:
            out += value::format_float(to<LiteralFloat>(node).value);
            break;
        case NodeKind::LiteralString: quote(to<LiteralString>(node).value); break;
        case NodeKind::LiteralRegularExpression:
            call_text("regexp", to<LiteralRegularExpression>(node).pattern);
            break;
        case NodeKind::QualifiedName: call_text("qn", to<QualifiedName>(node).value); break;
        case NodeKind::QualifiedReference:
            call_text("qr", to<QualifiedReference>(node).cased_value);
            break;
        case NodeKind::ReservedWord: call_text("reserved", to<ReservedWord>(node).word); break;
        case NodeKind::ConcatenatedString:
            call_list("concat", to<ConcatenatedString>(node).segments);
            break;
        case NodeKind::TextExpression: call("str", {to<TextExpression>(node).expr}); break;
        case NodeKind::HeredocExpression: {
            const auto& heredoc = to<HeredocExpression>(node);
            open("heredoc");
            if (!heredoc.syntax.empty()) entry_text("syntax", heredoc.syntax);
            entry("text", heredoc.text_expr);
            close();
            break;
        }
        case NodeKind::VariableExpression: {
            const Node* name = to<VariableExpression>(node).expr;
            if (const auto* qualified = as<QualifiedName>(name)) {
                call_text("var", qualified->value);
            } else {
                call("var", {name});
            }
            break;
        }
        case NodeKind::ParenthesizedExpression:
            call("paren", {to<ParenthesizedExpression>(node).expr});
            break;
        case NodeKind::NotExpression: call("!", {to<NotExpression>(node).expr}); break;
        case NodeKind::UnaryMinusExpression: {
            const Node* expr = to<UnaryMinusExpression>(node).expr;
            if (const auto* number = as<LiteralInteger>(expr)) {
                integer(*number, true);
            } else if (const auto* real = as<LiteralFloat>(expr)) {
                out += value::format_float(-real->value);
            } else {
                call("-", {expr});
            }
            break;
        }
        case NodeKind::UnfoldExpression: call("unfold", {to<UnfoldExpression>(node).expr}); break;
        case NodeKind::AssignmentExpression:
        case NodeKind::ArithmeticExpression:
        case NodeKind::RelationshipExpression:
        case NodeKind::ComparisonExpression:
        case NodeKind::MatchExpression: {
            const auto& binary = *static_cast<const BinaryNode*>(node);
            call(op_text(binary.op), {binary.left, binary.right});
            break;
        }
        case NodeKind::InExpression:
        case NodeKind::AndExpression:
        case NodeKind::OrExpression: {
            const auto& binary = *static_cast<const BinaryNode*>(node);
            call(node->kind == NodeKind::InExpression    ? "in"
                 : node->kind == NodeKind::AndExpression ? "and"
                                                         : "or",
                 {binary.left, binary.right});
            break;
        }
        case NodeKind::AccessExpression: {
            const auto& access = to<AccessExpression>(node);
            out += "(access ";
            write(access.left);
            if (!access.keys.empty()) out += ' ';
            items(access.keys);
            out += ')';
            break;
        }
        case NodeKind::NamedAccessExpression: {
            const auto& access = to<NamedAccessExpression>(node);
            call(".", {access.left, access.right});
            break;
        }
        case NodeKind::LiteralList: call_list("array", to<LiteralList>(node).values); break;
        case NodeKind::KeyedEntry:
            call("=>", {to<KeyedEntry>(node).key, to<KeyedEntry>(node).value});
            break;
        case NodeKind::LiteralHash: call_list("hash", to<LiteralHash>(node).entries); break;
        case NodeKind::BlockExpression:
            call_list("block", to<BlockExpression>(node).statements);
            break;
        case NodeKind::IfExpression: conditional("if", to<IfExpression>(node)); break;
        case NodeKind::UnlessExpression: conditional("unless", to<UnlessExpression>(node)); break;
        case NodeKind::CaseOption:
            out += '{';
            entry_list("when", to<CaseOption>(node).values);
            block("then", to<CaseOption>(node).then_expr);
            out += '}';
            break;
        case NodeKind::CaseExpression:
            out += "(case ";
            write(to<CaseExpression>(node).test);
            out += ' ';
            list(to<CaseExpression>(node).options);
            out += ')';
            break;
        case NodeKind::SelectorEntry:
            call("=>", {to<SelectorEntry>(node).matching_expr, to<SelectorEntry>(node).value_expr});
            break;
        case NodeKind::SelectorExpression:
            out += "(? ";
            write(to<SelectorExpression>(node).left);
            out += ' ';
            list(to<SelectorExpression>(node).selectors);
            out += ')';
            break;
        case NodeKind::CallNamedFunctionExpression:
            invocation("call", "invoke", to<CallNamedFunctionExpression>(node));
            break;
        case NodeKind::CallMethodExpression:
            invocation("call-method", "invoke-method", to<CallMethodExpression>(node));
            break;
        case NodeKind::LambdaExpression: {
            const auto& lambda = to<LambdaExpression>(node);
            open("lambda");
            parameters(lambda.parameters);
            if (lambda.return_type) entry("returns", lambda.return_type);
            if (lambda.body) block("body", lambda.body);
            close();
            break;
        }
        case NodeKind::Parameter: {
            const auto& parameter = to<Parameter>(node);
            out += '{';
            entry_text("name", parameter.name);
            if (parameter.type_expr) entry("type", parameter.type_expr);
            if (parameter.captures_rest) {
                key("splat");
                out += "true";
            }
            if (parameter.value) entry("value", parameter.value);
            out += '}';
            break;
        }
        case NodeKind::FunctionDefinition:
            definition("function", to<FunctionDefinition>(node), {},
                       to<FunctionDefinition>(node).return_type);
            break;
        case NodeKind::PlanDefinition:
            definition("plan", to<PlanDefinition>(node), {}, to<PlanDefinition>(node).return_type);
            break;
        case NodeKind::HostClassDefinition:
            definition("class", to<HostClassDefinition>(node),
                       to<HostClassDefinition>(node).parent_class, nullptr);
            break;
        case NodeKind::ResourceTypeDefinition:
            definition("define", to<ResourceTypeDefinition>(node), {}, nullptr);
            break;
        case NodeKind::NodeDefinition: {
            const auto& definition = to<NodeDefinition>(node);
            open("node");
            entry_list("matches", definition.host_matches);
            if (definition.parent) entry("parent", definition.parent);
            if (definition.body) block("body", definition.body);
            close();
            break;
        }
        case NodeKind::TypeAlias:
            out += "(type-alias ";
            quote(to<TypeAlias>(node).name);
            out += ' ';
            write(to<TypeAlias>(node).type_expr);
            out += ')';
            break;
        case NodeKind::TypeDefinition: {
            const auto& definition = to<TypeDefinition>(node);
            out += "(type-definition ";
            quote(definition.name);
            out += ' ';
            if (definition.parent.empty()) {
                out += "nil";
            } else {
                quote(definition.parent);
            }
            out += ' ';
            write(definition.body);
            out += ')';
            break;
        }
        case NodeKind::TypeMapping:
            call("type-mapping",
                 {to<TypeMapping>(node).type_expr, to<TypeMapping>(node).mapping_expr});
            break;
        case NodeKind::AttributeOperation: {
            const auto& operation = to<AttributeOperation>(node);
            out.append("(").append(op_text(operation.op)).append(" ");
            quote(operation.attribute_name);
            out += ' ';
            write(operation.value_expr);
            out += ')';
            break;
        }
        case NodeKind::AttributesOperation:
            call("splat-hash", {to<AttributesOperation>(node).expr});
            break;
        case NodeKind::ResourceBody:
            // Only within a resource; there it is a bare map.
            out += '{';
            entry("title", to<ResourceBody>(node).title);
            entry_list("ops", to<ResourceBody>(node).operations);
            out += '}';
            break;
        case NodeKind::ResourceExpression:
            open("resource");
            entry("type", to<ResourceExpression>(node).type_name);
            entry_list("bodies", to<ResourceExpression>(node).bodies);
            form(to<ResourceExpression>(node).form);
            close();
            break;
        case NodeKind::ResourceDefaultsExpression:
            open("resource-defaults");
            entry("type", to<ResourceDefaultsExpression>(node).type_ref);
            entry_list("ops", to<ResourceDefaultsExpression>(node).operations);
            form(to<ResourceDefaultsExpression>(node).form);
            close();
            break;
        case NodeKind::ResourceOverrideExpression:
            open("resource-override");
            entry("resources", to<ResourceOverrideExpression>(node).resources);
            entry_list("ops", to<ResourceOverrideExpression>(node).operations);
            form(to<ResourceOverrideExpression>(node).form);
            close();
            break;
        case NodeKind::VirtualQuery: query("virtual-query", to<VirtualQuery>(node).expr); break;
        case NodeKind::ExportedQuery: query("exported-query", to<ExportedQuery>(node).expr); break;
        case NodeKind::CollectExpression:
            open("collect");
            entry("type", to<CollectExpression>(node).type_expr);
            entry("query", to<CollectExpression>(node).query);
            if (!to<CollectExpression>(node).operations.empty()) {
                entry_list("ops", to<CollectExpression>(node).operations);
            }
            close();
            break;
        case NodeKind::EppExpression: {
            const Node* body = to<EppExpression>(node).body;
            if (const auto* statements = as<BlockExpression>(body)) {
                call_list("epp", statements->statements);
            } else if (body) {
                call("epp", {body});
            } else {
                out += "(epp)";
            }
            break;
        }
        case NodeKind::RenderStringExpression:
            call_text("render-s", to<RenderStringExpression>(node).value);
            break;
        case NodeKind::RenderExpression: call("render", {to<RenderExpression>(node).expr}); break;
        case NodeKind::ApplyExpression: {
            // Puppet's transformer doesn't know it; this is our own form.
            const auto& apply = to<ApplyExpression>(node);
            open("apply");
            entry_list("args", apply.arguments);
            if (apply.body) block("body", apply.body);
            close();
            break;
        }
        case NodeKind::Program: write(to<Program>(node).body); break;
    }
}

}  // namespace

std::string dump_pn(const Node* node) {
    PnWriter writer;
    writer.write(node);
    return std::move(writer.out);
}

}  // namespace bunraku::syntax
