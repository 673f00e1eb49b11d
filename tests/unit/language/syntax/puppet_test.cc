// SPDX-License-Identifier: Apache-2.0
// Trees, errors and findings of Puppet 8.11 (recorded from its Parser, PNTransformer and
// validator).
#include <gtest/gtest.h>

#include "language/syntax/parser.h"

namespace bunraku::syntax {
namespace {

struct Case {
    const char* source;
    const char* expected;
};

/// Returns the tree as PN, or "MESSAGE|LINE|COLUMN|CODE".
std::string pn(const char* text, const ParseOptions& options) {
    try {
        return dump_pn(parse("", text, options)->program);
    } catch (const base::PuppetError& error) {
        const auto& where = error.where();
        return error.message() + "|" + std::to_string(where.line) + "|" +
               std::to_string(where.column) + "|" + error.issue_code();
    }
}

/// Returns one finding per line as "severity|MESSAGE|LINE|COLUMN|CODE".
std::string findings(const char* text, const ParseOptions& options) {
    std::string out;
    for (const auto& d : validate(*parse("", text, options), {.tasks = options.tasks})) {
        const char* severity = d.deprecation                 ? "deprecation"
                               : d.level == base::Level::Err ? "error"
                                                             : "warning";
        if (!out.empty()) out += "\n";
        out += std::string(severity) + "|" + d.message + "|" + std::to_string(d.where.line) + "|" +
               std::to_string(d.where.column) + "|" + d.issue_code;
    }
    return out;
}

TEST(SyntaxTree, MatchesPuppetDump) {
    const Case cases[] = {
        {"$a = 1 + 2 * 3 - 4 / -5 % 6", R"_((= (var "a") (- (+ 1 (* 2 3)) (% (/ 4 -5) 6))))_"},
        {"1 << 2 >> 3 == 4 and 5 != 6 or !7 in $x",
         R"_((or (and (== (>> (<< 1 2) 3) 4) (!= 5 6)) (in (! 7) (var "x"))))_"},
        {"-$a[1].foo(2)",
         R"_((- (call-method {:functor (. (access (var "a") 1) (qn "foo")) :args [2]})))_"},
        {"$a ? { 1 => 'x', default => 2 } + 1",
         R"_((+ (? (var "a") [(=> 1 "x") (=> (default) 2)]) 1))_"},
        {"$x and $a ? b => c + d",
         R"_((and (var "x") (? (var "a") [(=> (qn "b") (+ (qn "c") (qn "d")))])))_"},
        {"[1, a => 2, b => 3, *$x, type, function]",
         R"_((array 1 (hash (=> (qn "a") 2) (=> (qn "b") 3)) (unfold (var "x")) "type" "function"))_"},
        {"{ 'a' => 1, type => function, [1] => {}, }",
         R"_((hash (=> "a" 1) (=> "type" "function") (=> (array 1) (hash))))_"},
        {"0x1F + 017 + 1.5e-3 + 12345678901234567890",
         "(+ (+ (+ (int {:radix 16 :value 31}) (int {:radix 8 :value 15})) 0.0015) "
         "12345678901234567890)"},
        {"$a = $b = 2", R"_((= (var "a") (= (var "b") 2)))_"},
        {"a -> b ~> c <- d <~ e",
         R"_((<~ (<- (~> (-> (qn "a") (qn "b")) (qn "c")) (qn "d")) (qn "e")))_"},
        {"notice 'x', 2", R"_((invoke {:functor (qn "notice") :args ["x" 2]}))_"},
        {"include a, b; fail('x')",
         R"_((block (invoke {:functor (qn "include") :args [(qn "a") (qn "b")]}) (invoke {:functor (qn "fail") :args ["x"]})))_"},
        {"notice { a => 1 }", R"_((invoke {:functor (qn "notice") :args [(hash (=> "a" 1))]}))_"},
        {"foo { a => 1 }", R"_((block (qn "foo") (hash (=> "a" 1))))_"},
        {"f(1, a => 2,) |Integer $x, *$y| >> Foo[1] { $x }",
         R"_((invoke {:functor (qn "f") :args [1 (hash (=> (qn "a") 2))] :block (lambda {:params {:x {:type (qr "Integer")} :y {:splat true}} :returns (access (qr "Foo") 1) :body [(var "x")]})}))_"},
        {"$a.each |$i, $v = 3| { $i }.join(',')",
         R"_((call-method {:functor (. (call-method {:functor (. (var "a") (qn "each")) :args [] :block (lambda {:params {:i {} :v {:value 3}} :body [(var "i")]})}) (qn "join")) :args [","]}))_"},
        {"Integer[1, a => 2, default]('3')",
         R"_((invoke {:functor (access (qr "Integer") 1 (hash (=> (qn "a") 2)) (default)) :args ["3"]}))_"},
        {"type($x)", R"_((invoke {:functor (qn "type") :args [(var "x")]}))_"},
        {"file { 'x': ensure => present, * => $h; ['y', 'z']: , mode +> 1 }",
         R"_((resource {:type (qn "file") :bodies [{:title "x" :ops [(=> "ensure" (qn "present")) (splat-hash (var "h"))]} {:title (array "y" "z") :ops [(+> "mode" 1)]}]}))_"},
        {"@file { 'x': } @@Foo['x'] { a => 1 }",
         R"_((block (resource {:type (qn "file") :bodies [{:title "x" :ops []}] :form "virtual"}) (resource-override {:resources (access (qr "Foo") "x") :ops [(=> "a" 1)] :form "exported"})))_"},
        {"File { a => 1, } File['x'] { b +> 2 }",
         R"_((block (resource-defaults {:type (qr "File") :ops [(=> "a" 1)]}) (resource-override {:resources (access (qr "File") "x") :ops [(+> "b" 2)]})))_"},
        {"class { 'a': b => 1; 'c': }",
         R"_((resource {:type (qn "class") :bodies [{:title "a" :ops [(=> "b" 1)]} {:title "c" :ops []}]}))_"},
        {"Foo <| a == 1 or b != 'c' |> { d => 1 } Foo <<| |>>",
         R"_((block (collect {:type (qr "Foo") :query (virtual-query (or (== (qn "a") 1) (!= (qn "b") "c"))) :ops [(=> "d" 1)]}) (collect {:type (qr "Foo") :query (exported-query)})))_"},
        {"if $a { 1 } elsif $b { 2 } else { 3 } unless $c { } else { 4 }",
         R"_((block (if {:test (var "a") :then [1] :else [(if {:test (var "b") :then [2] :else [3]})]}) (unless {:test (var "c") :else [4]})))_"},
        {R"_(case $x { 1, 'a': { b } /re\/x/: { } default: { 1 2 } })_",
         R"_((case (var "x") [{:when [1 "a"] :then [(qn "b")]} {:when [(regexp "re/x")] :then [(nop)]} {:when [(default)] :then [1 2]}]))_"},
        {"class a::b(String $x = 'y', Optional[Integer] *$z) inherits default { class c { define d "
         "{ } } }",
         R"_((class {:name "a::b" :parent "default" :params {:x {:type (qr "String") :value "y"} :z {:type (access (qr "Optional") (qr "Integer")) :splat true}} :body [(class {:name "a::b::c" :body [(define {:name "a::b::c::d"})]})]}))_"},
        {"define a($b) { } function c() >> Integer { 1 }",
         R"_((block (define {:name "a" :params {:b {}}}) (function {:name "c" :body [1] :returns (qr "Integer")})))_"},
        {"node 'a.b', c.d-e.1 , default, /x/ { 1 } node foo-bar inherits x { }",
         "Syntax error at 'd-e'|1|15|SYNTAX_ERROR"},
        {"type A = B type C = Object { a => 1 } type D = E { x => 1 } type F = { } type G = H[1,]",
         R"_((block (type-alias "A" (qr "B")) (type-alias "C" (access (qr "Object") (hash (=> (qn "a") 1)))) (type-alias "D" (access (qr "Object") (hash (=> (qn "x") 1) (=> (qn "parent") (qr "E"))))) (type-alias "F" (access (qr "Object") (hash))) (type-alias "G" (access (qr "H") 1))))_"},
        {"type A[1] = B type C inherits D { 1 } type E { }",
         R"_((block (type-mapping (access (qr "A") 1) (qr "B")) (type-definition "C" "D" (block 1)) (type-definition "E" nil (nop))))_"},
        {R"_("a${b}c$d.e${f.g[1]}${h + 1}${i['x']}${type}")_",
         R"_((concat "a" (str (var "b")) "c" (str (var "d")) ".e" (str (access (call-method {:functor (. (var "f") (qn "g")) :args []}) 1)) (str (+ (qn "h") 1)) (str (access (var "i") "x")) (str (var "type"))))_"},
        {R"_("a$-b\n\t\s\u{1F600}\u0041\q\\$x" 'a\'b\\c\d')_",
         "(block (concat \"a$-b\\n\\t \360\237\230\200A\\\\q\\\\\" (str (var \"x\"))) "
         "\"a'b\\\\c\\\\d\")"},
        {R"_("${"x${'y'}"}" "" '' "${}")_", "Syntax error at ''|1|26|SYNTAX_ERROR"},
        {"foo-bar _x ::a::b ::A::B $::x::y $_z",
         R"_((block "foo-bar" "_x" (qn "::a::b") (qr "::A::B") (var "::x::y") (var "_z")))_"},
        {"undef true default private attr",
         R"_((block nil true (default) (reserved "private") (reserved "attr")))_"},
        {R"_(@("A B":json/tL)
  {"x": "$b ${c[1]} \t \
  "}
    d
  | A B
)_",
         R"_((heredoc {:syntax "json" :text (concat "{\"x\": \"" (str (var "b")) " " (str (access (var "c") 1)) " \t \"}\n  d\n")}))_"},
        {R"_([@(A), @("B"/)]
 x
 A
 $y\n
 - B
)_",
         R"_((array (heredoc {:text " x\n"}) (heredoc {:text (concat " " (str (var "y")) "\n")})))_"},
        {"f /a/ / b / c", R"_((block (/ (/ (qn "f") (qn "a")) (regexp " b ")) (qn "c")))_"},
        {R"_(# comment
/* more */ 1 # x
)_",
         "1"},
        {"(1) (2) [3] {a => 4} [5]",
         "Expression is not valid as a resource, resource-default, or resource-override|1|9|"},
        {"$a[1] [2]", R"_((block (access (var "a") 1) (array 2)))_"},
    };
    for (const Case& c : cases) EXPECT_EQ(pn(c.source, {}), c.expected) << c.source;
}

TEST(SyntaxError, TextAndLocation) {
    const Case cases[] = {
        {"$a = ", "Syntax error at end of input|0|0|SYNTAX_ERROR"},
        {"}", "Syntax error at '}'|1|1|SYNTAX_ERROR"},
        {"a, b", "illegal comma separated argument list|1|2|"},
        {"$a = 1, notice 2", "illegal comma separated argument list|1|7|"},
        {"f(1", "Syntax error at end of input|0|0|SYNTAX_ERROR"},
        {"f(1,,2)", "Syntax error at ','|1|5|SYNTAX_ERROR"},
        {"$a.b(1,)", "Syntax error at ')'|1|8|SYNTAX_ERROR"},
        {"file { x }", "Syntax error at '}'|1|10|SYNTAX_ERROR"},
        {"file { 'x' => 1 }", "Syntax error at '=>'|1|12|SYNTAX_ERROR"},
        {"foo {a +> 1}", "Syntax error resource body without title or hash with +>|1|5|"},
        {"1 { a => 1 }",
         "Expression is not valid as a resource, resource-default, or resource-override|1|1|"},
        {"@foo", "Virtual (@) can only be applied to a Resource Expression|1|1|"},
        {"@@ 1", "Exported (@@) can only be applied to a Resource Expression|1|1|"},
        {R"_(class "a" { })_", "A quoted string is not valid as a name here|1|7|"},
        {"class class { }", "'class' keyword not allowed at this location|1|7|"},
        {"class { }", "Syntax error at '}'|1|9|SYNTAX_ERROR"},
        {"node { }", "Syntax error at '{'|1|6|SYNTAX_ERROR"},
        {"case $x { }", "Syntax error at '}'|1|11|SYNTAX_ERROR"},
        {"$a ? { }", "Syntax error at '}'|1|8|SYNTAX_ERROR"},
        {R"_("abc)_", R"_(Unclosed quote after '"' followed by 'abc...'|1|2|UNCLOSED_QUOTE)_"},
        {R"_("a${b)_", "Unclosed quote after 'b' followed by '<eof>'|1|6|UNCLOSED_QUOTE"},
        {R"_("a $b c)_", "Unclosed quote after 'b' followed by ' c...'|1|6|UNCLOSED_QUOTE"},
        {"'abc", R"_(Unclosed quote after "'" followed by 'abc...'|1|2|UNCLOSED_QUOTE)_"},
        {"/* x", "Unclosed multiline comment|1|1|UNCLOSED_MLCOMMENT"},
        {"0xZ", "Not a valid hex number 0xZ|1|1|INVALID_HEX_NUMBER"},
        {"08", "Not a valid octal number 08|1|1|INVALID_OCTAL_NUMBER"},
        {"1.2.3x", "Not a valid decimal number 2.3x|1|3|INVALID_DECIMAL_NUMBER"},
        {"1e", "Not a valid decimal number 1e|1|1|INVALID_DECIMAL_NUMBER"},
        {"12ab", "Illegal number '12ab'|1|1|ILLEGAL_NUMBER"},
        {"1.5abc", "Not a valid decimal number 1.5abc|1|1|INVALID_DECIMAL_NUMBER"},
        {"::1", "Illegal fully qualified name|1|3|ILLEGAL_FULLY_QUALIFIED_NAME"},
        {"Foo::bar", "Illegal class reference|1|5|ILLEGAL_CLASS_REFERENCE"},
        {"::Foo::bar",
         "Illegal fully qualified class reference|1|9|ILLEGAL_FULLY_QUALIFIED_CLASS_REFERENCE"},
        {"@(x",
         "Unclosed parenthesis after '@(' followed by '@(x...'|1|1|HEREDOC_UNCLOSED_PARENTHESIS"},
        {"@(x)", "Heredoc without any following lines of text|1|5|HEREDOC_WITHOUT_TEXT"},
        {R"_(@()
)_",
         "Invalid syntax in heredoc expected "
         "@(endtag[:syntax][/escapes])|1|4|HEREDOC_INVALID_SYNTAX"},
        {R"_(@(x:1)
)_",
         "Invalid syntax in heredoc expected "
         "@(endtag[:syntax][/escapes])|1|7|HEREDOC_INVALID_SYNTAX"},
        {R"_(@(x/zz)
)_",
         "An escape char for @() may only appear once. Got 'z, z'|1|8|HEREDOC_MULTIPLE_AT_ESCAPES"},
        {R"_(@(x/q)
)_",
         "Invalid heredoc escape char. Only t, r, n, s,  u, L, $ allowed. Got "
         "'q'|1|7|HEREDOC_INVALID_ESCAPE"},
        {R"_(@(x)
 a
)_",
         "Heredoc without end-tagged line|2|1|HEREDOC_WITHOUT_END_TAGGED_LINE"},
        {"~ 1", "Syntax error at '~'|1|1|SYNTAX_ERROR"},
        {"^", "Syntax error at ''|1|1|SYNTAX_ERROR"},
        {"$a = \303\251", "Syntax error at ''|1|6|SYNTAX_ERROR"},
        {"/[/", "premature end of char-class: /[/|0|0|"},
        {"/(?/", "end pattern in group: /(?/|0|0|"},
        {"\357\273\2771",
         "Illegal UTF-8 Byte Order mark at beginning of input: [EF BB BF] - remove these from the "
         "puppet source|0|0|ILLEGAL_BOM"},
        {"else", "Syntax error at 'else'|1|1|SYNTAX_ERROR"},
        {"foo { in a", "Syntax error at 'a'|1|10|SYNTAX_ERROR"},
        {"if a { ", "Syntax error at end of input|0|0|SYNTAX_ERROR"},
        {"function x", "Syntax error at end of input|0|0|SYNTAX_ERROR"},
        {"type x", "Syntax error at 'x'|1|6|SYNTAX_ERROR"},
        {"a b", R"_((block (qn "a") (qn "b")))_"},
        {"$x = [1 2]", "Syntax error at '2'|1|9|SYNTAX_ERROR"},
        {"{ a }", "Syntax error at '}'|1|5|SYNTAX_ERROR"},
        {"f(a => 1 2)", "Syntax error at '2'|1|10|SYNTAX_ERROR"},
        {"1 +", "Syntax error at end of input|0|0|SYNTAX_ERROR"},
        {R"_("${x y}")_", "Syntax error at 'y'|1|6|SYNTAX_ERROR"},
        {"/x/ ) /[/", "Syntax error at ')'|1|5|SYNTAX_ERROR"},
        {"plan x { }", R"_((block (qn "plan") (block (qn "x") (hash))))_"},
        {"$a += 1 $b -= 2", R"_((block (+= (var "a") 1) (-= (var "b") 2)))_"},
        {R"_(@("E")
 ${b c}
 | E
)_",
         "Syntax error at 'c'|2|6|SYNTAX_ERROR"},
    };
    for (const Case& c : cases) EXPECT_EQ(pn(c.source, {}), c.expected) << c.source;
}

TEST(Epp, TreesAndErrors) {
    const Case cases[] = {
        {"", "(lambda {:body [(epp)]})"},
        {"a", R"_((lambda {:body [(epp (render-s "a"))]}))_"},
        {"<% 1 %>b", R"_((lambda {:body [(epp 1 (render-s "b"))]}))_"},
        {R"_(a <%= $x %>
<%# c -%>
 b <%- | $x, Integer $y = 1 | -%> c)_",
         "Syntax error at '|'|3|8|SYNTAX_ERROR"},
        {R"_(<%- | $x = 1, | -%>
<%= $x -%>
 x <%% y %%> z
<% if $x { -%>
 a
<% } else { %>b<% } %>)_",
         R"_((lambda {:params {:x {:value 1}} :body [(epp (render (var "x")) (render-s " x <% y %> z\n") (if {:test (var "x") :then [(render-s " a\n")] :else [(render-s "b")]}))]}))_"},
        {"<%= { a => 1 } %><%= { $x } %><%= f($x) |$y| { %>z<% } %>",
         "Syntax error at '%>'|1|48|SYNTAX_ERROR"},
        {"a <% b", "Unbalanced epp tag, reached <eof> without closing tag.|1|7|EPP_UNBALANCED_TAG"},
        {"a <%",
         "Unbalanced embedded expression - opening <% and reaching end of "
         "input|1|5|EPP_UNBALANCED_EXPRESSION"},
        {"a <%# b", "Reaching end after opening <%# without seeing %>|1|5|EPP_UNBALANCED_COMMENT"},
        {"<%= $x", "Unbalanced epp tag, reached <eof> without closing tag.|1|7|EPP_UNBALANCED_TAG"},
        {"<%= 1 2 %>", "Syntax error at '2'|1|7|SYNTAX_ERROR"},
        {"a <%# c %>", "(lambda {:body [(epp)]})"},
        {"a <%%", "(lambda {:body [(epp)]})"},
        {"<% | $x | %>a", R"_((lambda {:params {:x {}} :body [(epp (render-s "a"))]}))_"},
        {"b <% | $x | %>a", "Syntax error at '|'|1|6|SYNTAX_ERROR"},
        {"<%- |$x, $x, *$y| -%>",
         "(lambda {:params {:x {} :x {} :y {:splat true}} :body [(epp)]})"},
        {"a<%= [1] %>[2]",
         R"_((lambda {:body [(epp (render-s "a") (render (array 1)) (render-s "[2]"))]}))_"},
    };
    for (const Case& c : cases) EXPECT_EQ(pn(c.source, {.epp = true}), c.expected) << c.source;
}

TEST(Validator, Findings) {
    const Case cases[] = {
        {"$a 1",
         "error|This Variable has no effect. A value was produced and then forgotten (one or more "
         "preceding expressions may have the wrong form)|1|1|IDEM_EXPRESSION_NOT_LAST"},
        {"1 2 3",
         "error|This Literal Integer has no effect. A value was produced and then forgotten (one "
         "or more preceding expressions may have the wrong form)|1|1|IDEM_EXPRESSION_NOT_LAST"},
        {"$a += 1",
         "error|The operator '+=' is no longer supported. See "
         "http://links.puppet.com/remove-plus-equals|1|4|APPENDS_DELETES_NO_LONGER_SUPPORTED"},
        {"$x::y = 1",
         "error|Illegal attempt to assign to 'x::y'. Cannot assign to variables in other "
         "namespaces|1|1|CROSS_SCOPE_ASSIGNMENT"},
        {"$1 = 2",
         "error|Illegal attempt to assign to the numeric match result variable '$1'. Numeric "
         "variables are not assignable|1|1|ILLEGAL_NUMERIC_ASSIGNMENT"},
        {"1 = 2",
         "error|Illegal attempt to assign to 'a Literal Integer'. Not an assignable "
         "reference|1|1|ILLEGAL_ASSIGNMENT"},
        {"$a[1] = 2",
         "error|Illegal attempt to assign via [index/key]. Not an assignable "
         "reference|1|1|ILLEGAL_INDEXED_ASSIGNMENT"},
        {"[$a, 1] = 2",
         "error|Illegal attempt to assign to 'a Literal Integer'. Not an assignable "
         "reference|1|6|ILLEGAL_ASSIGNMENT"},
        {"private",
         "error|Use of reserved word: private, must be quoted if intended to be a String "
         "value|1|1|RESERVED_WORD"},
        {"class A { }",
         "error|Unacceptable name. The name 'A' is unacceptable as the name of a Host Class "
         "Definition|1|1|ILLEGAL_DEFINITION_NAME"},
        {"class a { function b() { } }",
         "error|A Function Definition may only appear at toplevel|1|11|NOT_ABSOLUTE_TOP_LEVEL"},
        {"if true { class a { } }",
         "error|Classes, definitions, and nodes may only appear at toplevel or inside other "
         "classes|1|11|NOT_TOP_LEVEL"},
        {"[1].each |$x| { class a { } }",
         "error|Classes, definitions, and nodes may only appear at toplevel or inside other "
         "classes|1|17|NOT_TOP_LEVEL"},
        {"class a($x, $x, $title, *$y) { 1 }",
         R"_(error|Parameter $y has 'captures rest' - not supported in a Host Class Definition|1|26|CAPTURES_REST_NOT_SUPPORTED
error|The parameter 'x' is declared more than once in the parameter list|1|13|DUPLICATE_PARAMETER
error|The parameter $title redefines a built in parameter in the Host Class Definition|1|17|RESERVED_PARAMETER
error|This Literal Integer has no effect. A Host Class Definition can not end with a value-producing expression without other effect|1|32|IDEM_NOT_ALLOWED_LAST)_"},
        {"class a { $x = 1 $x }",
         "error|This Variable has no effect. A Host Class Definition can not end with a "
         "value-producing expression without other effect|1|18|IDEM_NOT_ALLOWED_LAST"},
        {"define a { 1 }",
         "error|This Literal Integer has no effect. A 'define' expression can not end with a "
         "value-producing expression without other effect|1|12|IDEM_NOT_ALLOWED_LAST"},
        {"function plan() { }",
         "deprecation|Use of future reserved word: 'plan'|1|1|FUTURE_RESERVED_WORD"},
        {"type Integer = String", ""},
        {"class a(Optional[[String]] $x) { }",
         "deprecation|The parameter '$x' must be a literal type, not a "
         "Puppet::Pops::Model::AccessExpression|1|28|ILLEGAL_NONLITERAL_PARAMETER_TYPE"},
        {"$0x1 = 1",
         "error|Illegal numeric variable name, The given name '0x1' must be a decimal value if it "
         "starts with a digit 0-9|1|1|ILLEGAL_NUMERIC_VAR_NAME"},
        {"$01",
         "error|Illegal numeric variable name, The given name '01' must be a decimal value if it "
         "starts with a digit 0-9|1|1|ILLEGAL_NUMERIC_VAR_NAME"},
        {"$Foo",
         R"_(error|Illegal variable name, The given name 'Foo' does not conform to the naming rule /^((::)?[a-z]\w*)*((::)?[a-z_]\w*)$/|1|1|ILLEGAL_VAR_NAME)_"},
        {"$a::_b::c",
         R"_(error|Illegal variable name, The given name 'a::_b::c' does not conform to the naming rule /^((::)?[a-z]\w*)*((::)?[a-z_]\w*)$/|1|1|ILLEGAL_VAR_NAME)_"},
        {"{a => 1, a => 2, 1 => 2, 1 => 3, [1] => 1, [1] => 2}",
         R"_(error|The key 'a' is declared more than once|1|12|DUPLICATE_KEY
error|The key '1' is declared more than once|1|28|DUPLICATE_KEY
error|The key '[1]' is declared more than once|1|48|DUPLICATE_KEY)_"},
        {"case $a { default: {} default: {} }",
         "error|This 'case' statement already has a 'default' entry - this is a "
         "duplicate|1|23|DUPLICATE_DEFAULT"},
        {"$a ? { default => 1, default => 2 }",
         "error|This Selector Expression already has a 'default' entry - this is a "
         "duplicate|1|22|DUPLICATE_DEFAULT"},
        {"file { 'x': * => $a, * => $b }",
         "error|Unfolding of attributes from Hash can only be used once per resource "
         "body|1|22|MULTIPLE_ATTRIBUTES_UNFOLD"},
        {"file { 'x': a +> 1 }",
         "error|Illegal +> operation on attribute a. This operator can not be used in a Resource "
         "Instance Definition|1|13|ILLEGAL_ATTRIBUTE_APPEND"},
        {"File { a +> 1 }",
         "error|Illegal +> operation on attribute a. This operator can not be used in a Resource "
         "Defaults Expression|1|8|ILLEGAL_ATTRIBUTE_APPEND"},
        {"@File { a => 1 }",
         "error|Resource Defaults are not virtualizable|1|1|NOT_VIRTUALIZEABLE"},
        {"@File['x'] { a => 1 }",
         "error|Resource Defaults are not virtualizable|1|1|NOT_VIRTUALIZEABLE"},
        {"@class { 'a': }", "error|Classes are not virtualizable|1|1|CLASS_NOT_VIRTUALIZABLE"},
        {"foo { a => 1 }",
         "error|This expression is invalid. Did you try declaring a 'foo' resource without a "
         "title?|1|1|RESOURCE_WITHOUT_TITLE"},
        {"class a { foo { a => 1 } }",
         "error|This expression is invalid. Did you try declaring a 'foo' resource without a "
         "title?|1|11|RESOURCE_WITHOUT_TITLE"},
        {"node 'a b' { }",
         "error|The hostname 'a b' contains illegal characters (only letters, digits, '_', '-', "
         "and '.' are allowed)|1|6|ILLEGAL_HOSTNAME_CHARS"},
        {R"_(node "a${b}" { })_",
         "error|An interpolated expression is not allowed in a hostname of a "
         "node|1|10|ILLEGAL_HOSTNAME_INTERPOLATION"},
        {"node a inherits b { }",
         "error|Node inheritance is not supported in Puppet >= 4.0.0. See "
         "http://links.puppet.com/"
         "puppet-node-inheritance-deprecation|1|17|ILLEGAL_NODE_INHERITANCE"},
        {"node a { 1 }",
         "error|This Literal Integer has no effect. A Node Definition can not end with a "
         "value-producing expression without other effect|1|10|IDEM_NOT_ALLOWED_LAST"},
        {"Foo <| a > 1 |>",
         "error|Illegal query expression. A '>' expression cannot be used in a "
         "query|1|10|ILLEGAL_QUERY_EXPRESSION"},
        {"Foo <| a == 1 and !b |>",
         "error|Illegal query expression. A 'not' expression cannot be used in a "
         "query|1|19|ILLEGAL_QUERY_EXPRESSION"},
        {"foo <| |>",
         "error|Illegal expression. A Name is unacceptable as type name in a Virtual "
         "Query|1|1|ILLEGAL_EXPRESSION"},
        {"$a = Foo <| |>",
         "error|Invalid use of expression. A Virtual Query does not produce a "
         "value|1|6|NOT_RVALUE"},
        {"$a = class a { }",
         R"_(error|Invalid use of expression. A Host Class Definition does not produce a value|1|6|NOT_RVALUE
error|Classes, definitions, and nodes may only appear at toplevel or inside other classes|1|6|NOT_TOP_LEVEL)_"},
        {"1.foo |*$a, $b| { }",
         "error|Parameter $a is not last, and has 'captures rest'|1|9|CAPTURES_REST_NOT_LAST"},
        {"f() |$a = ($b = 1)| { }",
         "error|Assignment not allowed here|1|15|ILLEGAL_ASSIGNMENT_CONTEXT"},
        {"f() |$a = g() |$c| { $d = 1 }| { }", ""},
        {"$a()",
         "error|Illegal expression. A Variable is unacceptable as function name in a Function "
         "Call|1|1|ILLEGAL_EXPRESSION"},
        {R"_("a"(1))_",
         "error|Illegal expression. A String is unacceptable as function name in a Function "
         "Call|1|1|ILLEGAL_EXPRESSION"},
        {"99999999999999999999",
         "error|A Literal Integer resulted in a value outside of Puppet Integer max range, got "
         "'+0x56bc75e2d630fffff'|1|1|NUMERIC_OVERFLOW"},
        {"0xfffffffffffffffff",
         "error|A Literal Integer resulted in a value outside of Puppet Integer max range, got "
         "'+0xfffffffffffffffff'|1|1|NUMERIC_OVERFLOW"},
        {"function f() >> Foo[1] { }", ""},
        {"a -> class b { }",
         R"_(error|Invalid use of expression. A Host Class Definition does not produce a value|1|6|NOT_RVALUE
error|Classes, definitions, and nodes may only appear at toplevel or inside other classes|1|6|NOT_TOP_LEVEL)_"},
        {R"_(@(E:json)
 {"a": }
 | E
)_",
         R"_(error|Invalid produced text having syntax: 'json'. JSON syntax checker: Cannot parse invalid JSON string. "859: unexpected token at '{"a": }\n'"|2|1|ILLEGAL_JSON)_"},
        {R"_(@(E:json)
 [1]
 | E
)_",
         ""},
        {R"_(@(E:base64)
 YQ
 | E
)_",
         "error|Invalid produced text having syntax: 'base64'. Base64 syntax checker: Cannot parse "
         "invalid Base64 string - padding is not correct|2|1|ILLEGAL_BASE64"},
        {R"_(@(E:pp)
 $a = 
 | E
)_",
         R"_(error|Invalid produced text having syntax: 'pp'. PP syntax checker: "Syntax error at end of input"|2|1|ILLEGAL_PP)_"},
        {"!$a $b",
         "error|This 'not' expression has no effect. A value was produced and then forgotten (one "
         "or more preceding expressions may have the wrong form)|1|1|IDEM_EXPRESSION_NOT_LAST"},
        {"if $a { } $b",
         "error|This 'if' statement has no effect. A value was produced and then forgotten (one or "
         "more preceding expressions may have the wrong form)|1|1|IDEM_EXPRESSION_NOT_LAST"},
        {"if $a { 1 } 2",
         "error|This 'if' statement has no effect. A value was produced and then forgotten (one or "
         "more preceding expressions may have the wrong form)|1|1|IDEM_EXPRESSION_NOT_LAST"},
        {"unless $a { } case $b { 1: { } } ($c) ($d = 1)",
         R"_(error|This 'unless' Statement has no effect. A value was produced and then forgotten (one or more preceding expressions may have the wrong form)|1|1|IDEM_EXPRESSION_NOT_LAST
error|Illegal expression. A Function Call is unacceptable as function name in a Function Call|1|15|ILLEGAL_EXPRESSION
error|Illegal expression. A 'case' statement is unacceptable as function name in a Function Call|1|15|ILLEGAL_EXPRESSION)_"},
        {"type A[1] = B",
         "error|Expressions of type a Type Mapping are not supported in this version of "
         "Puppet|1|6|UNSUPPORTED_EXPRESSION"},
        {R"_(type Runtime[ruby, x] = [/a/, "b"])_",
         "error|Illegal type mapping. Expected a Type on the left side, got A Type "
         "Mapping|1|6|ILLEGAL_TYPE_MAPPING"},
        {"type A { }",
         "error|Expressions of type a Type Definition are not supported in this version of "
         "Puppet|1|1|UNSUPPORTED_EXPRESSION"},
    };
    for (const Case& c : cases) EXPECT_EQ(findings(c.source, {}), c.expected) << c.source;
}

TEST(Validator, Templates) {
    const Case cases[] = {
        {"<% 1 %>b",
         "error|This Literal Integer has no effect. A value was produced and then forgotten (one "
         "or more preceding expressions may have the wrong form)|1|4|IDEM_EXPRESSION_NOT_LAST"},
        {"<%- |$x, $x, *$y| -%>",
         R"_(error|Parameter $y has 'captures rest' - not supported in an Epp Template|1|15|CAPTURES_REST_NOT_SUPPORTED
error|The parameter 'x' is declared more than once in the parameter list|1|10|DUPLICATE_PARAMETER)_"},
    };
    for (const Case& c : cases)
        EXPECT_EQ(findings(c.source, {.epp = true}), c.expected) << c.source;
}

}  // namespace
}  // namespace bunraku::syntax
