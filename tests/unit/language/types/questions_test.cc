// SPDX-License-Identifier: Apache-2.0
// Queries about types with the results of Puppet 8.11, one per line (questions.txt).
//
// p TYPE: its text; n, g, e: normalised, generalised, with aliases expanded; a T | U: whether T
// accepts U; c: common type; q: equality; m: mismatch text; i, s VALUE: inferred type, in detail; I
// TYPE | VALUE: instance and mismatch; A: access as in the language; S SIGNATURES | ARGUMENTS:
// error text for a call that matches no signature; P STRUCT | HASH: class parameters.
#include <fstream>
#include <gtest/gtest.h>
#include <string>

#include "core/value/build.h"
#include "language/syntax/ast.h"
#include "language/syntax/parser.h"
#include "language/types/factory.h"
#include "language/types/mismatch.h"

using namespace bunraku;

namespace {

class Requester {
public:
    std::string ask(const std::string& question) {
        try {
            return answer(question[0], question.substr(2));
        } catch (const base::PuppetError& e) {
            return "ERR " + e.message();
        }
    }

private:
    std::string answer(char op, const std::string& rest) {
        const auto bar = rest.find(" | ");
        const std::string left = rest.substr(0, bar);
        const std::string right = bar == std::string::npos ? "" : rest.substr(bar + 3);
        switch (op) {
            case 'p': return type(left)->to_string();
            case 'n': return types::normalize(ctx_, type(left))->to_string();
            case 'g': return types::generalize(ctx_, type(left))->to_string();
            case 'e': return types::to_alias_expanded_string(type(left));
            case 'a': return types::is_assignable(ctx_, type(left), type(right)) ? "true" : "false";
            case 'c': return types::common_type(ctx_, type(left), type(right))->to_string();
            case 'q': return types::equal(type(left), type(right)) ? "true" : "false";
            case 'm': return types::describe_type_mismatch(ctx_, "x", type(left), type(right));
            case 'i': return types::to_debug_string(types::infer(ctx_, literal(left)));
            case 's': return types::to_debug_string(types::infer_set(ctx_, literal(left)));
            case 'I': {
                const types::Type* t = type(left);
                const value::Value v = literal(right);
                return (types::is_instance(ctx_, t, v) ? "true " : "false ") +
                       types::describe_mismatch(ctx_, "x", t, v);
            }
            case 'A': return access(left);
            case 'S': return call(literal(left), literal(right));
            case 'P': return parameters(left, literal(right));
            default: return "?";
        }
    }

    const types::Type* type(const std::string& text) { return types::parse_type(ctx_, text); }
    const syntax::Node* parse(const std::string& text) {
        trees_.push_back(syntax::parse("", text));
        return trees_.back()->program->body;
    }
    value::Value literal(const std::string& text) {
        return types::interpret_any(ctx_, parse(text));
    }

    std::string access(const std::string& text) {
        const auto& node = syntax::to<syntax::AccessExpression>(parse(text));
        std::vector<value::Value> keys;
        for (const syntax::Node* k : node.keys) keys.push_back(types::interpret_any(ctx_, k));
        return value::to_text(types::access_type(ctx_, types::interpret(ctx_, node.left), keys));
    }

    std::string call(const value::Value& list, const value::Value& args) {
        std::vector<types::Signature> signatures;
        for (const value::Value& s : list.as_array()) {
            types::Signature signature;
            signature.type = types::as<types::CallableType>(s.as_array()[0].as_type());
            for (const value::Value& name : s.as_array().subspan(1))
                signature.parameter_names.push_back(name.as_string());
            signatures.push_back(signature);
        }
        auto values = args.as_array();
        const types::Type* block = nullptr;
        if (!values.empty() && values.back().is_type() &&
            types::is(values.back().as_type(), types::TypeKind::Callable)) {
            block = values.back().as_type();
            values = values.first(values.size() - 1);
        }
        return types::describe_call(ctx_, "foo", signatures, values, block).value_or("NONE");
    }

    std::string parameters(const std::string& text, const value::Value& given) {
        std::vector<types::NamedParameter> named;
        for (const auto& e : types::to<types::StructType>(type(text)).elements)
            named.push_back({e.name, e.value, !types::is(e.key, types::TypeKind::Optional)});
        return types::describe_parameters(ctx_, "Class[Foo]", named, given.as_hash());
    }

    base::Arena arena_;
    types::Context ctx_{arena_, nullptr};
    std::vector<std::shared_ptr<const syntax::Tree>> trees_;
};

TEST(Questions, MatchPuppet811) {
    std::ifstream file(BUNRAKU_TEST_DATA "/unit/language/types/questions.txt");
    ASSERT_TRUE(file) << BUNRAKU_TEST_DATA;
    Requester requester;
    std::string line;
    int asked = 0;
    while (std::getline(file, line)) {
        const auto tab = line.find('\t');
        ASSERT_NE(tab, std::string::npos) << line;
        std::string answer;
        for (char c : requester.ask(line.substr(0, tab)))
            answer += c == '\n' ? "\\n" : std::string(1, c);
        EXPECT_EQ(answer, line.substr(tab + 1)) << line.substr(0, tab);
        ++asked;
    }
    EXPECT_GT(asked, 1000);
}

}  // namespace
