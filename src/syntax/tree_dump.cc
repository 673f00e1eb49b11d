#include "syntax/tree_dump.h"

#include <fmt/format.h>
#include <vector>

#include "value/value.h"

namespace bunraku::syntax {

namespace {

/// With its slashes escaped, as Ruby shows it.
std::string regular_expression(const LiteralRegularExpression& n) {
    const auto* rep = static_cast<const value::RegexpRep*>(n.regexp_rep);
    if (!rep) return fmt::format("/{}/", n.pattern);
    std::string out;
    value::print_source(out, value::Value::regexp(rep));
    return out;
}

bool blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Some line of the text begins with a blank.
bool begins_blank(std::string_view s) {
    for (std::size_t i = 0; i < s.size(); ++i)
        if ((i == 0 || s[i - 1] == '\n') && blank(s[i])) return true;
    return false;
}
/// Some line of the text ends with a blank or an opening parenthesis.
bool ends_open(std::string_view s) {
    for (std::size_t i = 1; i <= s.size(); ++i)
        if ((i == s.size() || s[i] == '\n') && (blank(s[i - 1]) || s[i - 1] == '(')) return true;
    return false;
}

class ListWriter {
public:
    void node(const Node* node);

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
    void binary(const Node* n) {
        const auto& b = *static_cast<const BinaryNode*>(n);
        call(op_text(b.op), {b.left, b.right});
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
        // Without an else the indent stays, as in Puppet.
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
    /// Text of a node on its own, as inside `$`.
    static std::string alone(const Node* n) {
        ListWriter inner;
        inner.node(n);
        return inner.text();
    }

    std::vector<std::string> parts_;
    std::size_t indent_ = 0;
};

void ListWriter::node(const Node* n) {
    using K = NodeKind;
    if (!n) return put("()");
    switch (n->kind) {
        case K::Nop: return put(":nop");
        case K::LiteralUndef: return put(":undef");
        case K::LiteralDefault: return put(":default");
        case K::LiteralBoolean: return put(to<LiteralBoolean>(n).value ? "true" : "false");
        case K::LiteralInteger: {
            const auto& i = to<LiteralInteger>(n);
            return put(i.radix == 16  ? fmt::format("0x{:X}", i.value)
                       : i.radix == 8 ? fmt::format("0{:o}", i.value)
                                      : fmt::format("{}", i.value));
        }
        case K::LiteralFloat: return put(value::format_float(to<LiteralFloat>(n).value));
        case K::LiteralString: return put(fmt::format("'{}'", to<LiteralString>(n).value));
        case K::LiteralRegularExpression:
            return put(regular_expression(to<LiteralRegularExpression>(n)));
        case K::QualifiedName: return put(to<QualifiedName>(n).value);
        case K::QualifiedReference: return put(to<QualifiedReference>(n).cased_value);
        case K::ReservedWord:
            open("reserved");
            put(to<ReservedWord>(n).word);
            return close();
        case K::ConcatenatedString: return list("cat", to<ConcatenatedString>(n).segments);
        case K::TextExpression: return call("str", {to<TextExpression>(n).expr});
        case K::HeredocExpression: {
            const auto& h = to<HeredocExpression>(n);
            open(fmt::format("@({})", h.syntax));
            ++indent_;
            line();
            node(h.text_expr);
            --indent_;
            line();
            return close();
        }
        case K::VariableExpression: return put("$" + alone(to<VariableExpression>(n).expr));
        case K::ParenthesizedExpression: return node(to<ParenthesizedExpression>(n).expr);
        case K::NotExpression:
            open("!");
            put(alone(to<NotExpression>(n).expr));
            return close();
        case K::UnaryMinusExpression: return call("-", {to<UnaryMinusExpression>(n).expr});
        case K::UnfoldExpression: return call("unfold", {to<UnfoldExpression>(n).expr});
        case K::AssignmentExpression:
        case K::ArithmeticExpression:
        case K::RelationshipExpression:
        case K::ComparisonExpression:
        case K::MatchExpression: return binary(n);
        case K::InExpression:
            return call("in", {to<InExpression>(n).left, to<InExpression>(n).right});
        case K::AndExpression:
            return call("&&", {to<AndExpression>(n).left, to<AndExpression>(n).right});
        case K::OrExpression:
            return call("||", {to<OrExpression>(n).left, to<OrExpression>(n).right});
        case K::AccessExpression: {
            const auto& a = to<AccessExpression>(n);
            open("slice");
            node(a.left);
            if (a.keys.size() <= 1) {
                node(a.keys.empty() ? nullptr : a.keys[0]);
            } else {
                list({}, a.keys);
            }
            return close();
        }
        case K::NamedAccessExpression:
            return call(".",
                        {to<NamedAccessExpression>(n).left, to<NamedAccessExpression>(n).right});
        case K::LiteralList: return list("[]", to<LiteralList>(n).values);
        case K::KeyedEntry: return call({}, {to<KeyedEntry>(n).key, to<KeyedEntry>(n).value});
        case K::LiteralHash: return list("{}", to<LiteralHash>(n).entries);
        case K::BlockExpression:
            open("block");
            lines(to<BlockExpression>(n).statements);
            line();
            return close();
        case K::IfExpression: {
            const auto& i = to<IfExpression>(n);
            return conditional("if", i.test, i.then_expr, i.else_expr);
        }
        case K::UnlessExpression: {
            const auto& u = to<UnlessExpression>(n);
            return conditional("unless", u.test, u.then_expr, u.else_expr);
        }
        case K::CaseOption: {
            const auto& o = to<CaseOption>(n);
            open("when");
            list({}, o.values);
            call("then", {o.then_expr});
            return close();
        }
        case K::CaseExpression:
            open("case");
            node(to<CaseExpression>(n).test);
            lines(to<CaseExpression>(n).options);
            return close();
        case K::SelectorEntry:
            open();
            node(to<SelectorEntry>(n).matching_expr);
            put("=>");
            node(to<SelectorEntry>(n).value_expr);
            return close();
        case K::SelectorExpression:
            open("?");
            node(to<SelectorExpression>(n).left);
            for (const auto* each : to<SelectorExpression>(n).selectors) node(each);
            return close();
        case K::CallNamedFunctionExpression:
            return call_expression(to<CallNamedFunctionExpression>(n), "call", "invoke");
        case K::CallMethodExpression:
            return call_expression(to<CallMethodExpression>(n), "call-method", "invoke-method");
        case K::LambdaExpression: {
            const auto& l = to<LambdaExpression>(n);
            open("lambda");
            parameters(l.parameters);
            return_type(l.return_type);
            body(l.body);
            return close();
        }
        case K::Parameter: {
            const auto& p = to<Parameter>(n);
            const std::string name = (p.captures_rest ? "*" : "") + std::string(p.name);
            if (!p.value && !p.type_expr) return put(name);
            open(p.value && p.type_expr ? "=t" : p.value ? "=" : "t");
            if (p.type_expr) node(p.type_expr);
            put(name);
            if (p.value) node(p.value);
            return close();
        }
        case K::FunctionDefinition: {
            const auto& f = to<FunctionDefinition>(n);
            return definition("function", f, {}, f.return_type);
        }
        case K::PlanDefinition: return definition("plan", to<PlanDefinition>(n));
        case K::HostClassDefinition: {
            const auto& c = to<HostClassDefinition>(n);
            return definition("class", c, c.parent_class);
        }
        case K::ResourceTypeDefinition: return definition("define", to<ResourceTypeDefinition>(n));
        case K::NodeDefinition: {
            const auto& d = to<NodeDefinition>(n);
            open("node");
            list("matches", d.host_matches);
            if (d.parent) call("parent", {d.parent});
            body(d.body);
            return close();
        }
        case K::TypeAlias:
            open("type-alias");
            put(to<TypeAlias>(n).name);
            node(to<TypeAlias>(n).type_expr);
            return close();
        case K::TypeDefinition:
            open("type-definition");
            put(to<TypeDefinition>(n).name);
            put(to<TypeDefinition>(n).parent);
            node(to<TypeDefinition>(n).body);
            return close();
        case K::TypeMapping:
            return call("type-mapping",
                        {to<TypeMapping>(n).type_expr, to<TypeMapping>(n).mapping_expr});
        case K::AttributeOperation: {
            const auto& a = to<AttributeOperation>(n);
            open();
            put(a.attribute_name);
            put(op_text(a.op));
            node(a.value_expr);
            return close();
        }
        case K::AttributesOperation: return call("* =>", {to<AttributesOperation>(n).expr});
        case K::ResourceBody:
            open();
            node(to<ResourceBody>(n).title);
            lines(to<ResourceBody>(n).operations);
            return close();
        case K::ResourceExpression: {
            const auto& r = to<ResourceExpression>(n);
            open(form(r.form) + "resource");
            node(r.type_name);
            lines(r.bodies);
            return close();
        }
        case K::ResourceDefaultsExpression: {
            const auto& r = to<ResourceDefaultsExpression>(n);
            open(form(r.form) + "resource-defaults");
            node(r.type_ref);
            lines(r.operations);
            return close();
        }
        case K::ResourceOverrideExpression: {
            const auto& r = to<ResourceOverrideExpression>(n);
            open(form(r.form) + "override");
            node(r.resources);
            lines(r.operations);
            return close();
        }
        case K::VirtualQuery: return query("<| |>", to<VirtualQuery>(n).expr);
        case K::ExportedQuery: return query("<<| |>>", to<ExportedQuery>(n).expr);
        case K::CollectExpression: {
            // The operations are not shown.
            const auto& c = to<CollectExpression>(n);
            open("collect");
            node(c.type_expr);
            ++indent_;
            line();
            node(c.query);
            --indent_;
            return close();
        }
        case K::EppExpression:
            open("epp");
            body(to<EppExpression>(n).body);
            return close();
        case K::RenderStringExpression:
            open("render-s");
            put(fmt::format(" '{}'", to<RenderStringExpression>(n).value));
            return close();
        case K::RenderExpression: return call("render", {to<RenderExpression>(n).expr});
        case K::ApplyExpression: {
            const auto& a = to<ApplyExpression>(n);
            open("apply");
            for (const Node* each : a.arguments) node(each);
            body(a.body);
            return close();
        }
        case K::Program: return node(to<Program>(n).body);
    }
}

}  // namespace

std::string dump_lists(const Program& program) {
    ListWriter writer;
    writer.node(program.body);
    return writer.text();
}

}  // namespace bunraku::syntax
