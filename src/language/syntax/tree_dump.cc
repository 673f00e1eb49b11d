// SPDX-License-Identifier: Apache-2.0
#include "language/syntax/tree_dump.h"

#include <fmt/format.h>
#include <vector>

#include "core/value/value.h"
#include "language/syntax/visit.h"

namespace bunraku::syntax {

namespace {

/// Returns the expression with escaped slashes, as Ruby shows it.
std::string regular_expression(const LiteralRegularExpression& n) {
    const auto* rep = static_cast<const value::RegexpRep*>(n.regexp_rep);
    if (!rep) return fmt::format("/{}/", n.pattern);
    std::string out;
    value::print_source(out, value::Value::regexp(rep));
    return out;
}

bool blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Reports whether some line of the text begins with a blank.
bool begins_blank(std::string_view s) {
    for (std::size_t i = 0; i < s.size(); ++i)
        if ((i == 0 || s[i - 1] == '\n') && blank(s[i])) return true;
    return false;
}
/// Reports whether some line of the text ends with a blank or an opening parenthesis.
bool ends_open(std::string_view s) {
    for (std::size_t i = 1; i <= s.size(); ++i)
        if ((i == s.size() || s[i] == '\n') && (blank(s[i - 1]) || s[i - 1] == '(')) return true;
    return false;
}

class ListWriter {
public:
    void node(const Node* node) {
        if (!node) return put("()");
        as_its_kind(node, [this](const auto& n) { one(n); });
    }

    std::string text() const {
        std::string out;
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            if (i > 0 && parts_[i] != ")" && !ends_open(parts_[i - 1]) && !begins_blank(parts_[i]))
                out += ' ';
            out += parts_[i];
        }
        return out;
    }

private:
    void put(std::string_view text) { parts_.emplace_back(text); }
    void open(std::string_view name = {}) {
        put("(");
        if (!name.empty()) put(name);
    }
    void close() { put(")"); }
    void line() { parts_.push_back("\n" + std::string(indent_ * 2, ' ')); }
    void empty() {
        open();
        close();
    }
    void call(std::string_view name, std::initializer_list<const Node*> nodes) {
        open(name);
        for (const Node* each : nodes) node(each);
        close();
    }
    template <class List>
    void list(std::string_view name, const List& nodes) {
        open(name);
        for (const auto* each : nodes) node(each);
        close();
    }
    template <class List>
    void block(std::string_view name, const Node* of, const List& nodes) {
        open(name);
        node(of);
        lines(nodes);
        close();
    }
    template <class List>
    void lines(const List& nodes) {
        ++indent_;
        for (const auto* each : nodes) {
            line();
            node(each);
        }
        --indent_;
    }
    void parameters(ParameterList all) {
        if (!all.empty()) list("parameters", all);
    }
    void body(const Node* node_or_null) {
        if (node_or_null) {
            node(node_or_null);
        } else {
            empty();
        }
    }
    void return_type(const Node* type) {
        if (type) call("return_type", {type});
    }
    void conditional(std::string_view name, const Node* test, const Node* then_expr,
                     const Node* else_expr) {
        open(name);
        node(test);
        ++indent_;
        line();
        open("then");
        ++indent_;
        node(then_expr);
        --indent_;
        close();
        if (else_expr && else_expr->kind != NodeKind::Nop) {
            line();
            open("else");
            ++indent_;
            node(else_expr);
            --indent_;
            close();
            --indent_;
        }
        // Without an else the indentation remains, as in Puppet.
        close();
    }
    static std::string form(ResourceForm form) {
        return form == ResourceForm::Virtual    ? "virtual-"
               : form == ResourceForm::Exported ? "exported-"
                                                : "";
    }
    template <class T>
    void call_expression(const T& n, std::string_view plain, std::string_view invoke) {
        open(n.rval_required ? plain : invoke);
        node(n.functor);
        for (const Node* each : n.arguments) node(each);
        if (n.lambda) node(n.lambda);
        close();
    }
    void query(std::string_view name, const Node* expr) {
        open(name);
        if (expr && expr->kind != NodeKind::Nop) node(expr);
        close();
    }
    void definition(std::string_view type, const NamedDefinition& n, std::string_view parent = {},
                    const Node* returns = nullptr) {
        open(type);
        put(n.name);
        if (!parent.empty()) {
            open("inherits");
            put(parent);
            close();
        }
        parameters(n.parameters);
        return_type(returns);
        body(n.body);
        close();
    }
    /// Returns the text of a single node, as inside `$`.
    static std::string alone(const Node* n) {
        ListWriter inner;
        inner.node(n);
        return inner.text();
    }

    // The text form of each kind of node.
    void one(const Nop&) { put(":nop"); }
    void one(const LiteralUndef&) { put(":undef"); }
    void one(const LiteralDefault&) { put(":default"); }
    void one(const LiteralBoolean& n) { put(n.value ? "true" : "false"); }
    void one(const LiteralInteger& n) {
        put(n.radix == 16  ? fmt::format("0x{:X}", n.value)
            : n.radix == 8 ? fmt::format("0{:o}", n.value)
                           : fmt::format("{}", n.value));
    }
    void one(const LiteralFloat& n) { put(value::format_float(n.value)); }
    void one(const LiteralString& n) { put(fmt::format("'{}'", n.value)); }
    void one(const LiteralRegularExpression& n) { put(regular_expression(n)); }
    void one(const QualifiedName& n) { put(n.value); }
    void one(const QualifiedReference& n) { put(n.cased_value); }
    void one(const ReservedWord& n) {
        open("reserved");
        put(n.word);
        close();
    }
    void one(const ConcatenatedString& n) { list("cat", n.segments); }
    void one(const TextExpression& n) { call("str", {n.expr}); }
    void one(const HeredocExpression& n) {
        open(fmt::format("@({})", n.syntax));
        ++indent_;
        line();
        node(n.text_expr);
        --indent_;
        line();
        close();
    }
    void one(const VariableExpression& n) { put("$" + alone(n.expr)); }
    void one(const ParenthesizedExpression& n) { node(n.expr); }
    void one(const NotExpression& n) {
        open("!");
        put(alone(n.expr));
        close();
    }
    void one(const UnaryMinusExpression& n) { call("-", {n.expr}); }
    void one(const UnfoldExpression& n) { call("unfold", {n.expr}); }
    void one(const BinaryNode& n) { call(op_text(n.op), {n.left, n.right}); }
    void one(const InExpression& n) { call("in", {n.left, n.right}); }
    void one(const AndExpression& n) { call("&&", {n.left, n.right}); }
    void one(const OrExpression& n) { call("||", {n.left, n.right}); }
    void one(const AccessExpression& n) {
        open("slice");
        node(n.left);
        if (n.keys.size() <= 1) {
            node(n.keys.empty() ? nullptr : n.keys[0]);
        } else {
            list({}, n.keys);
        }
        close();
    }
    void one(const NamedAccessExpression& n) { call(".", {n.left, n.right}); }
    void one(const LiteralList& n) { list("[]", n.values); }
    void one(const KeyedEntry& n) { call({}, {n.key, n.value}); }
    void one(const LiteralHash& n) { list("{}", n.entries); }
    void one(const BlockExpression& n) {
        open("block");
        lines(n.statements);
        line();
        close();
    }
    void one(const IfExpression& n) { conditional("if", n.test, n.then_expr, n.else_expr); }
    void one(const UnlessExpression& n) { conditional("unless", n.test, n.then_expr, n.else_expr); }
    void one(const CaseOption& n) {
        open("when");
        list({}, n.values);
        call("then", {n.then_expr});
        close();
    }
    void one(const CaseExpression& n) { block("case", n.test, n.options); }
    void one(const SelectorEntry& n) {
        open();
        node(n.matching_expr);
        put("=>");
        node(n.value_expr);
        close();
    }
    void one(const SelectorExpression& n) {
        open("?");
        node(n.left);
        for (const auto* each : n.selectors) node(each);
        close();
    }
    void one(const CallNamedFunctionExpression& n) { call_expression(n, "call", "invoke"); }
    void one(const CallMethodExpression& n) { call_expression(n, "call-method", "invoke-method"); }
    void one(const LambdaExpression& n) {
        open("lambda");
        parameters(n.parameters);
        return_type(n.return_type);
        body(n.body);
        close();
    }
    void one(const Parameter& n) {
        const std::string name = (n.captures_rest ? "*" : "") + std::string(n.name);
        if (!n.value && !n.type_expr) return put(name);
        open(n.value && n.type_expr ? "=t" : n.value ? "=" : "t");
        if (n.type_expr) node(n.type_expr);
        put(name);
        if (n.value) node(n.value);
        close();
    }
    void one(const FunctionDefinition& n) { definition("function", n, {}, n.return_type); }
    void one(const PlanDefinition& n) { definition("plan", n); }
    void one(const HostClassDefinition& n) { definition("class", n, n.parent_class); }
    void one(const ResourceTypeDefinition& n) { definition("define", n); }
    void one(const NodeDefinition& n) {
        open("node");
        list("matches", n.host_matches);
        if (n.parent) call("parent", {n.parent});
        body(n.body);
        close();
    }
    void one(const TypeAlias& n) {
        open("type-alias");
        put(n.name);
        node(n.type_expr);
        close();
    }
    void one(const TypeDefinition& n) {
        open("type-definition");
        put(n.name);
        put(n.parent);
        node(n.body);
        close();
    }
    void one(const TypeMapping& n) { call("type-mapping", {n.type_expr, n.mapping_expr}); }
    void one(const AttributeOperation& n) {
        open();
        put(n.attribute_name);
        put(op_text(n.op));
        node(n.value_expr);
        close();
    }
    void one(const AttributesOperation& n) { call("* =>", {n.expr}); }
    void one(const ResourceBody& n) { block({}, n.title, n.operations); }
    void one(const ResourceExpression& n) {
        block(form(n.form) + "resource", n.type_name, n.bodies);
    }
    void one(const ResourceDefaultsExpression& n) {
        block(form(n.form) + "resource-defaults", n.type_ref, n.operations);
    }
    void one(const ResourceOverrideExpression& n) {
        block(form(n.form) + "override", n.resources, n.operations);
    }
    void one(const VirtualQuery& n) { query("<| |>", n.expr); }
    void one(const ExportedQuery& n) { query("<<| |>>", n.expr); }
    void one(const CollectExpression& n) {
        // The dump omits the operations.
        open("collect");
        node(n.type_expr);
        ++indent_;
        line();
        node(n.query);
        --indent_;
        close();
    }
    void one(const EppExpression& n) {
        open("epp");
        body(n.body);
        close();
    }
    void one(const RenderStringExpression& n) {
        open("render-s");
        put(fmt::format(" '{}'", n.value));
        close();
    }
    void one(const RenderExpression& n) { call("render", {n.expr}); }
    void one(const ApplyExpression& n) {
        open("apply");
        for (const Node* each : n.arguments) node(each);
        body(n.body);
        close();
    }
    void one(const Program& n) { node(n.body); }

    std::vector<std::string> parts_;
    std::size_t indent_ = 0;
};

}  // namespace

std::string dump_lists(const Program& program) {
    ListWriter writer;
    writer.node(program.body);
    return writer.text();
}

}  // namespace bunraku::syntax
