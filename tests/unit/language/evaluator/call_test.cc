// SPDX-License-Identifier: Apache-2.0
// Tests calls, lambdas, dispatch and control completions, with a few functions defined by the test.
#include <gtest/gtest.h>

#include "core/value/build.h"
#include "support.h"

namespace bunraku::evaluator {
namespace {

Value each(const Call& call) {
    for (const Value& v : call[0].as_array()) {
        call.yield({v});
        if (call.interpreter.pending() == Completion::Normal) continue;
        if (call.interpreter.pending() == Completion::Break) call.interpreter.take_completion();
        break;
    }
    return call[0];
}

const Builtin kFunctions[] = {
    {"each", "", {{"Array list, Callable[1,1] &block", each}}},
    {"with", "", {{"Any *arg, Callable &block", [](const Call& c) { return c.yield(c.args); }}}},
    {"plus",
     "",
     {{"Integer a, Integer b?",
       [](const Call& c) {
           return Value::integer(c[0].as_integer() + (c.size() > 1 ? c[1].as_integer() : 0));
       }},
      {"String a, Any *rest", [](const Call& c) { return c[0]; }}}},
    {"next",
     "",
     {{"Any value?",
       [](const Call& c) {
           c.interpreter.set_pending(Completion::Next, c.at(0), c.site);
           return Value::undef();
       }}}},
    {"break",
     "",
     {{"",
       [](const Call& c) {
           c.interpreter.set_pending(Completion::Break, c.at(0), c.site);
           return Value::undef();
       }}}},
    {"return",
     "",
     {{"Any value?",
       [](const Call& c) {
           c.interpreter.set_pending(Completion::Return, c.at(0), c.site);
           return Value::undef();
       }}}},
    {"never",
     "",
     {{"", [](const Call&) { return Value::undef(); }},
      {"Any x", [](const Call&) { return Value::string("is not for that"); }, true}}},
    {"explode", "", {{"", [](const Call&) -> Value { throw base::PuppetError("no luck"); }}}},
};
std::span<const Builtin> family() { return kFunctions; }
const Family kFamilies[] = {family};

struct Case {
    const char* code;
    const char* expected;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.code; }
class Calling : public testing::TestWithParam<Case> {};

TEST_P(Calling, Gives) {
    Bench bench(kFamilies);
    EXPECT_EQ(bench.run(GetParam().code), GetParam().expected) << GetParam().code;
}

const Case kCalls[] = {
    {"plus(1, 2)", "3"},
    {"1.plus(2)", "3"},
    {"plus(*[1, 2])", "3"},
    {"plus('a', 1, 2)", "'a'"},
    {"with(1, 2) |$a, $b| { $a + $b }", "3"},
    {"with(1) |$a, $b = $a + 1| { $b }", "2"},
    {"with(1, 2, 3) |$a, *$rest| { $rest }", "[2, 3]"},
    {"with(1) |$a, *$rest| { $rest }", "[]"},
    {"with(1, 2) |$a| { $a }", "1"},
    {"with(1) |$a, $b| { $a }",
     "Evaluation Error: Parameter $b is required but no value was given (line: 1, column: 14)"},
    {"with(a) |Integer $a| { $a }",
     "Evaluation Error: Error while evaluating a Function Call, block parameter 'a' expects an "
     "Integer value, got String (line: 1, column: 1)"},
    {"$x = 1 with(2) |$y| { $x + $y }", "3"},
    {"with(1) |$x| { $z = 5 } $z",
     "Evaluation Error: Unknown variable: 'z'. (line: 1, column: 25)"},
    {"with() |$a = $b, $b = 1| { $a }",
     "Evaluation Error: Error while evaluating a Function Call, lambda: default expression for $a "
     "tries to illegally access not yet evaluated $b (line: 1, column: 1)"},
    {"nope(1)", "Evaluation Error: Unknown function: 'nope'. (line: 1, column: 1)"},
    {"plus(1.5)",
     "Evaluation Error: Error while evaluating a Function Call, 'plus' parameter 'a' expects a "
     "value "
     "of type Integer or String, got Float (line: 1, column: 1)"},
    {"each([1]) |$a, $b| { }",
     "Evaluation Error: Error while evaluating a Function Call, 'each' block expects 1 argument, "
     "got "
     "2 (line: 1, column: 1)"},
    {"each(1) |$a| { }",
     "Evaluation Error: Error while evaluating a Function Call, 'each' parameter 'list' expects an "
     "Array value, got Integer (line: 1, column: 1)"},
    {"never(1)",
     "Evaluation Error: Error while evaluating a Function Call, 'never' is not for that (line: 1, "
     "column: 1)"},
    {"[1, explode()]",
     "Evaluation Error: Error while evaluating a Function Call, no luck (line: 1, column: 5)"},
    {"1.explode",
     "Evaluation Error: Error while evaluating a Method call, 'explode' expects no arguments, got "
     "1 "
     "(line: 1, column: 2)"},
};
INSTANTIATE_TEST_SUITE_P(Calls, Calling, testing::ValuesIn(kCalls));

const Case kCompletions[] = {
    {"with(1) |$x| { if $x == 1 { next(100) } 200 }", "100"},
    {"each([1, 2, 3]) |$x| { if $x == 2 { break() } if $x == 3 { explode() } }", "[1, 2, 3]"},
    {"each([1, 2]) |$x| { with($x) |$y| { break() } explode() }", "[1, 2]"},
    {"each([1]) |$x| { [next(1), explode()] }", "[1]"},
    {"next()", "next() from context where this is illegal (file: unknown, line: 1)"},
    {"break()", "break() from context where this is illegal (file: unknown, line: 1)"},
    {"with(1) |$x| { return(1) }",
     "return() from context where this is illegal (file: unknown, line: 1)"},
};
INSTANTIATE_TEST_SUITE_P(Completions, Calling, testing::ValuesIn(kCompletions));

/// Functions written in Puppet; finds them by name as a compile does.
class Definitions final : public DefinitionHost {
public:
    const Callable* find_function(Interpreter& in, std::string_view name) override {
        for (const auto* definition : functions)
            if (definition->name == name) return in.make_function(*definition, in.top_scope());
        return nullptr;
    }
    const types::Type* find_type(Interpreter&, std::string_view) override { return nullptr; }
    std::vector<const syntax::FunctionDefinition*> functions;
};

std::string run_with_functions(const std::string& code) {
    Bench bench(kFamilies);
    Definitions definitions;
    bench.in.hosts().definitions = &definitions;
    const auto tree = syntax::parse("", code);
    for (const syntax::Node* node : tree->program->definitions)
        if (const auto* f = syntax::as<syntax::FunctionDefinition>(node))
            definitions.functions.push_back(f);
    bench.trees.push_back(tree);
    try {
        return value::to_source(bench.in.evaluate_program(*tree->program, bench.in.top_scope()));
    } catch (const base::PuppetError& error) {
        return error.full_text();
    }
}

TEST(PuppetFunctions, Give) {
    const Case cases[] = {
        {"function f($x) { $x + 1 } f(1)", "2"},
        {"function f(Integer $x = 3) >> Integer { $x } f()", "3"},
        {"function f($x) { return(5) 6 } f(1)", "5"},
        {"function f($x) { with(1) |$y| { return($y) } 6 } f(1)", "1"},
        {"function f($x) { next(7) } [1, f(1)]", "[1, 7]"},
        {"$t = 4 function f() { $t } f()", "4"},
        {"function f($n) { if $n == 0 { 0 } else { f($n - 1) + 1 } } f(100)", "100"},
        {"function f(Integer $x) { $x } f(a)",
         "Evaluation Error: Error while evaluating a Function Call, 'f' parameter 'x' expects an "
         "Integer value, got String (line: 1, column: 31)"},
        {"function f($x) { $x } f()",
         "Evaluation Error: Error while evaluating a Function Call, 'f' expects 1 argument, got "
         "none "
         "(line: 1, column: 23)"},
        {"function f($n) { f($n) } f(1)",
         "Evaluation Error: Error while evaluating a Function Call, stack level too deep (line: 1, "
         "column: 18)"},
    };
    for (const Case& c : cases) EXPECT_EQ(run_with_functions(c.code), c.expected) << c.code;
}

}  // namespace
}  // namespace bunraku::evaluator
