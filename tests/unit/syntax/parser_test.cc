#include "syntax/parser.h"

#include <gtest/gtest.h>

namespace bunraku::syntax {
namespace {

/// The tree as PN, or "error: TEXT".
std::string pn(std::string text, ParseOptions options = {}) {
    try {
        return dump_pn(parse("", std::move(text), options)->program);
    } catch (const base::PuppetError& error) {
        return "error: " + error.full_text();
    }
}

struct Case {
    const char* source;
    const char* expected;
};

// Recorded from Puppet 8.11 (`puppet parser dump --format pn`).
TEST(Parser, Pn) {
    const Case cases[] = {
        {"$a = 1 + 2 * 3", R"((= (var "a") (+ 1 (* 2 3))))"},
        {"notice 'x', 2", R"((invoke {:functor (qn "notice") :args ["x" 2]}))"},
        {R"("a${x.y[1]}b")",
         R"((concat "a" (str (access (call-method {:functor (. (var "x") (qn "y")) :args []}) 1)) "b"))"},
        {"file { 'x': ensure => present }",
         R"((resource {:type (qn "file") :bodies [{:title "x" :ops [(=> "ensure" (qn "present"))]}]}))"},
    };
    for (const Case& c : cases) EXPECT_EQ(pn(c.source), c.expected) << c.source;
}

}  // namespace
}  // namespace bunraku::syntax
