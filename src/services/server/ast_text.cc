// SPDX-License-Identifier: Apache-2.0
#include "services/server/ast_text.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "core/value/hash_access.h"
#include "core/value/rich_data.h"

namespace bunraku::server {

using value::Value;

namespace {

constexpr int kMaxTreeDepth = 500;
/// Limit of the output, because references can expand a small document to a large text.
constexpr std::size_t kMaxTreeCode = 4 << 20;

struct UnsupportedTree {
    std::string message;
};

/// Writes a double-quoted string or a part of one. The result is always on one line.
std::string quoted_part(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '\n': out += "\\n"; break;
            case '\r': out += "\\r"; break;
            case '\t': out += "\\t"; break;
            case '"':
            case '\\':
            case '$': out += '\\'; [[fallthrough]];
            default: out += c;
        }
    }
    return out;
}

class AstWriter {
public:
    explicit AstWriter(const Value& root) : root_(root) {}

    AstText text() {
        write(root_);
        return {std::move(out_), file_};
    }

private:
    /// Returns true for types that never need parentheses as an operand.
    static bool is_whole_word(std::string_view type) {
        constexpr std::string_view kAlone[] = {"AccessExpression",
                                               "CallFunctionExpression",
                                               "CallMethodExpression",
                                               "CallNamedFunctionExpression",
                                               "ConcatenatedString",
                                               "HeredocExpression",
                                               "LiteralBoolean",
                                               "LiteralDefault",
                                               "LiteralList",
                                               "LiteralRegularExpression",
                                               "LiteralString",
                                               "LiteralUndef",
                                               "ParenthesizedExpression",
                                               "QualifiedName",
                                               "QualifiedReference",
                                               "ReservedWord",
                                               "VariableExpression"};
        return std::ranges::find(kAlone, type) != std::end(kAlone);
    }

    /// Resolves a reference such as "$['statements'][0]['locator']".
    const Value& referred(std::string_view path) {
        const Value* at = &root_;
        const auto bad = [&] { return UnsupportedTree{fmt::format("No such part: {}", path)}; };
        if (!path.starts_with('$')) throw bad();
        std::string_view rest = path.substr(1);
        while (!rest.empty()) {
            const auto end = rest.find(']');
            if (rest[0] != '[' || end == std::string_view::npos) throw bad();
            const auto step = rest.substr(1, end - 1);
            rest.remove_prefix(end + 1);
            if (step.size() >= 2 && step.front() == '\'' && step.back() == '\'') {
                at = value::at(*at, step.substr(1, step.size() - 2));
            } else {
                std::size_t index = 0;
                const auto* last = step.data() + step.size();
                if (std::from_chars(step.data(), last, index).ptr != last || !at->is_array() ||
                    index >= at->as_array().size())
                    throw bad();
                at = &at->as_array()[index];
            }
            if (!at) throw bad();
        }
        return *at;
    }

    const Value& real(const Value& tree) {
        const Value* out = &tree;
        for (int n = 0; value::text_at(*out, "__ptype") == "LocalRef"; ++n) {
            if (n > kMaxTreeDepth) throw UnsupportedTree{"The references are circular"};
            out = &referred(value::text_at(*out, "__pvalue"));
        }
        return *out;
    }

    const Value* member(const Value& tree, std::string_view name) {
        const Value* found = value::at(tree, name);
        return found && !found->is_undef() ? &real(*found) : nullptr;
    }

    const Value& needed(const Value& tree, std::string_view name) {
        const Value* found = member(tree, name);
        if (!found) {
            throw UnsupportedTree{
                fmt::format("{} has no {}", value::text_at(tree, "__ptype"), name)};
        }
        return *found;
    }

    std::vector<const Value*> list(const Value& tree, std::string_view name) {
        std::vector<const Value*> out;
        const Value* found = member(tree, name);
        if (found && found->is_array())
            for (const auto& one : found->as_array()) out.push_back(&real(one));
        return out;
    }

    static std::string type_of(const Value& tree) {
        auto type = value::text_at(tree, "__ptype");
        constexpr std::string_view kPrefix = "Puppet::AST::";
        return type.starts_with(kPrefix) ? type.substr(kPrefix.size()) : "";
    }

    void put(std::string_view text) {
        out_ += text;
        if (out_.size() > kMaxTreeCode) throw UnsupportedTree{"The code is too long"};
    }

    /// Writes line breaks up to the original line of a tree.
    void reach(const Value& tree) {
        const Value* locator = member(tree, "locator");
        const Value* offset = value::at(tree, "offset");
        if (!locator || !offset || !offset->is(value::Kind::Integer)) return;
        if (file_.empty()) file_ = value::text_at(*locator, "file");
        const Value* index = value::at(*locator, "line_index");
        if (!index || !index->is_array()) return;
        const auto starts = index->as_array();
        const auto next =
            std::ranges::upper_bound(starts, offset->as_integer(), {}, [](const Value& start) {
                return start.is(value::Kind::Integer) ? start.as_integer() : 0;
            });
        const auto line = static_cast<std::size_t>(next - starts.begin());
        for (; line_ < line; ++line_) put("\n");
    }

    void several(const std::vector<const Value*>& trees, std::string_view between = ", ") {
        for (std::size_t i = 0; i < trees.size(); ++i) {
            if (i > 0) put(between);
            write(*trees[i]);
        }
    }

    /// Writes a tree as an operand.
    void write_closed(const Value& tree) {
        if (is_whole_word(type_of(tree))) return write(tree);
        put("(");
        write(tree);
        put(")");
    }

    void body(const Value* tree) {
        put("{ ");
        if (tree) write(*tree);
        put(" }");
    }

    void binary(const Value& tree, std::string_view operation) {
        write_closed(needed(tree, "left_expr"));
        put(fmt::format(" {} ", operation));
        write_closed(needed(tree, "right_expr"));
    }

    void relationship(const Value& tree) {
        write(needed(tree, "left_expr"));
        put(fmt::format(" {} ", value::text_at(tree, "operator")));
        const Value& right = needed(tree, "right_expr");
        if (type_of(right) == "RelationshipExpression") return write_closed(right);
        write(right);
    }

    void parameters(const Value& tree, std::string_view open, std::string_view close) {
        put(open);
        bool first = true;
        for (const Value* one : list(tree, "parameters")) {
            if (!first) put(", ");
            first = false;
            if (const Value* type = member(*one, "type_expr")) {
                write(*type);
                put(" ");
            }
            const Value* rest = member(*one, "captures_rest");
            if (rest && rest->truthy()) put("*");
            put("$" + value::text_at(*one, "name"));
            if (const Value* value = member(*one, "value")) {
                put(" = ");
                write(*value);
            }
        }
        put(close);
    }

    void returned(const Value& tree) {
        if (const Value* type = member(tree, "return_type")) {
            put(" >> ");
            write(*type);
        }
        put(" ");
    }

    void call(const Value& tree) {
        const Value& functor = needed(tree, "functor_expr");
        if (type_of(tree) == "CallMethodExpression") {
            write_closed(needed(functor, "left_expr"));
            put(".");
            write(needed(functor, "right_expr"));
        } else {
            write_closed(functor);
        }
        put("(");
        several(list(tree, "arguments"));
        put(")");
        if (const Value* lambda = member(tree, "lambda")) {
            put(" ");
            parameters(*lambda, "|", "|");
            returned(*lambda);
            body(member(*lambda, "body"));
        }
    }

    void operations(const Value& tree) {
        for (const Value* one : list(tree, "operations")) {
            if (const Value* all = member(*one, "expr")) {
                put("* => ");
                write(*all);
            } else {
                put(fmt::format("{} {} ", value::text_at(*one, "attribute_name"),
                                value::text_at(*one, "operator")));
                write(needed(*one, "value_expr"));
            }
            put(", ");
        }
    }

    void form(const Value& tree) {
        const auto form = value::text_at(tree, "form");
        put(form == "virtual" ? "@" : form == "exported" ? "@@" : "");
    }

    void resource(const Value& tree) {
        form(tree);
        write(needed(tree, "type_name"));
        put(" { ");
        for (const Value* one : list(tree, "bodies")) {
            reach(*one);
            if (const Value* title = member(*one, "title")) write_closed(*title);
            put(": ");
            operations(*one);
            put("; ");
        }
        put("}");
    }

    void changed(const Value& tree, std::string_view what) {
        form(tree);
        write(needed(tree, what));
        put(" { ");
        operations(tree);
        put("}");
    }

    void collect(const Value& tree) {
        const Value& query = needed(tree, "query");
        const bool exported = type_of(query) == "ExportedQuery";
        write(needed(tree, "type_expr"));
        put(exported ? " <<| " : " <| ");
        if (const Value* wanted = member(query, "expr")) write(*wanted);
        put(exported ? " |>>" : " |>");
        if (list(tree, "operations").empty()) return;
        put(" { ");
        operations(tree);
        put("}");
    }

    void definition(const Value& tree, std::string_view word) {
        put(fmt::format("{} {}", word, value::text_at(tree, "name")));
        parameters(tree, "(", ")");
        if (const auto parent = value::text_at(tree, "parent_class"); !parent.empty())
            put(" inherits " + parent);
        returned(tree);
        body(member(tree, "body"));
    }

    void node(const Value& tree) {
        put("node ");
        several(list(tree, "host_matches"));
        if (const Value* parent = member(tree, "parent")) {
            put(" inherits ");
            write(*parent);
        }
        put(" ");
        body(member(tree, "body"));
    }

    void condition(const Value& tree, std::string_view word) {
        put(word);
        put(" ");
        write(needed(tree, "test"));
        put(" ");
        body(member(tree, "then_expr"));
        const Value* other = member(tree, "else_expr");
        if (!other || type_of(*other) == "Nop") return;
        put(" else ");
        body(other);
    }

    void choice(const Value& tree) {
        put("case ");
        write(needed(tree, "test"));
        put(" { ");
        for (const Value* one : list(tree, "options")) {
            several(list(*one, "values"));
            put(": ");
            body(member(*one, "then_expr"));
            put(" ");
        }
        put("}");
    }

    void selector(const Value& tree) {
        write_closed(needed(tree, "left_expr"));
        put(" ? { ");
        for (const Value* one : list(tree, "selectors")) {
            write_closed(needed(*one, "matching_expr"));
            put(" => ");
            write_closed(needed(*one, "value_expr"));
            put(", ");
        }
        put("}");
    }

    void hash(const Value& tree) {
        put("{ ");
        for (const Value* one : list(tree, "entries")) {
            write_closed(needed(*one, "key"));
            put(" => ");
            write(needed(*one, "value"));
            put(", ");
        }
        put("}");
    }

    void concatenation(const Value& tree) {
        put("\"");
        for (const Value* one : list(tree, "segments")) {
            if (type_of(*one) == "LiteralString") {
                put(quoted_part(value::text_at(*one, "value")));
            } else {
                // Without the parentheses, a name would be read as a variable.
                put("${(");
                write(type_of(*one) == "TextExpression" ? needed(*one, "expr") : *one);
                put(")}");
            }
        }
        put("\"");
    }

    void statements(const Value& tree) {
        bool first = true;
        for (const Value* one : list(tree, "statements")) {
            if (!first) put("; ");
            first = false;
            reach(*one);
            const auto type = type_of(*one);
            // A brace or bracket at the start of a statement would be parsed as part of the
            // previous one.
            const bool loose = type == "LiteralHash" || type == "LiteralList";
            loose ? write_closed_always(*one) : write(*one);
        }
    }

    void write_closed_always(const Value& tree) {
        put("(");
        write(tree);
        put(")");
    }

    void write(const Value& given) {
        struct Nesting {
            explicit Nesting(int& counter) : depth(counter) {
                if (++depth > kMaxTreeDepth) throw UnsupportedTree{"The tree is nested too deeply"};
            }
            ~Nesting() { --depth; }
            int& depth;
        } nesting(depth_);
        const Value& tree = real(given);
        if (&given == &root_) reach(tree);
        const auto type = type_of(tree);
        const auto word = [&](std::string_view name) { return value::text_at(tree, name); };
        using Member = void (AstWriter::*)(const Value&);
        struct Kind {
            std::string_view type;
            Member write;
        };
        static constexpr Kind kKinds[] = {
            {"BlockExpression", &AstWriter::statements},
            {"ApplyBlockExpression", &AstWriter::statements},
            {"RelationshipExpression", &AstWriter::relationship},
            {"CallFunctionExpression", &AstWriter::call},
            {"CallMethodExpression", &AstWriter::call},
            {"CallNamedFunctionExpression", &AstWriter::call},
            {"ResourceExpression", &AstWriter::resource},
            {"CollectExpression", &AstWriter::collect},
            {"NodeDefinition", &AstWriter::node},
            {"CaseExpression", &AstWriter::choice},
            {"SelectorExpression", &AstWriter::selector},
            {"LiteralHash", &AstWriter::hash},
            {"ConcatenatedString", &AstWriter::concatenation},
        };
        for (const auto& kind : kKinds)
            if (kind.type == type) return (this->*kind.write)(tree);
        if (type.empty() || type == "Nop") return;
        if (type == "AssignmentExpression" || type == "ArithmeticExpression" ||
            type == "ComparisonExpression" || type == "MatchExpression")
            return binary(tree, word("operator"));
        if (type == "InExpression") return binary(tree, "in");
        if (type == "AndExpression") return binary(tree, "and");
        if (type == "OrExpression") return binary(tree, "or");
        if (type == "IfExpression") return condition(tree, "if");
        if (type == "UnlessExpression") return condition(tree, "unless");
        if (type == "ResourceDefaultsExpression") return changed(tree, "type_ref");
        if (type == "ResourceOverrideExpression") return changed(tree, "resources");
        if (type == "HostClassDefinition") return definition(tree, "class");
        if (type == "ResourceTypeDefinition") return definition(tree, "define");
        if (type == "FunctionDefinition") return definition(tree, "function");
        if (type == "NotExpression" || type == "UnaryMinusExpression" ||
            type == "UnfoldExpression") {
            put(type == "NotExpression" ? "!" : type == "UnaryMinusExpression" ? "-" : "*");
            return write_closed(needed(tree, "expr"));
        }
        if (type == "ParenthesizedExpression") return write_closed_always(needed(tree, "expr"));
        if (type == "HeredocExpression") return write(needed(tree, "text_expr"));
        if (type == "VariableExpression") {
            put("$");
            return write(needed(tree, "expr"));
        }
        if (type == "AccessExpression") {
            write_closed(needed(tree, "left_expr"));
            put("[");
            several(list(tree, "keys"));
            return put("]");
        }
        if (type == "LiteralList") {
            put("[");
            several(list(tree, "values"));
            return put("]");
        }
        if (type == "TypeAlias") {
            put(fmt::format("type {} = ", word("name")));
            return write(needed(tree, "type_expr"));
        }
        if (type == "LiteralString") return put("\"" + quoted_part(word("value")) + "\"");
        if (type == "LiteralInteger" || type == "LiteralFloat" || type == "LiteralBoolean") {
            auto text = value::to_json(needed(tree, "value"));
            std::erase(text, '+');  // sign of an exponent
            return put(text);
        }
        if (type == "LiteralUndef") return put("undef");
        if (type == "LiteralDefault") return put("default");
        if (type == "LiteralRegularExpression") return put(word("pattern"));
        if (type == "QualifiedName") return put(word("value"));
        if (type == "QualifiedReference") return put(word("cased_value"));
        if (type == "ReservedWord") return put(word("word"));
        throw UnsupportedTree{
            fmt::format("{} cannot be compiled separately from its program", type)};
    }

    const Value& root_;
    std::string out_, file_;
    std::size_t line_ = 1;
    int depth_ = 0;
};

}  // namespace

base::Result<AstText> ast_text(const Value& tree) {
    try {
        return AstWriter(tree).text();
    } catch (const UnsupportedTree& e) {
        return base::failure(e.message);
    }
}

}  // namespace bunraku::server
