// SPDX-License-Identifier: Apache-2.0
// Tests HOCON against the results of Ruby's hocon 1.3.1: data as JSON, errors after "! ".
#include "core/codec/hocon.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace bunraku::codec {
namespace {

std::string hocon_text(const std::string& s) {
    std::string out = "\"";
    for (char c : s) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '\n')
            out += "\\n";
        else if (c == '\t')
            out += "\\t";
        else
            out += c;
    }
    return out + '"';
}

std::string json(const YamlNode& n) {
    using Kind = YamlNode::Kind;
    std::string out;
    switch (n.kind) {
        case Kind::Null: return "null";
        case Kind::Boolean: return n.boolean ? "true" : "false";
        case Kind::Integer: return std::to_string(n.integer);
        case Kind::Float: return fmt::format("{}", n.number);
        case Kind::String: return hocon_text(n.text);
        case Kind::Sequence:
            for (const auto& item : n.items) out += (out.empty() ? "" : ",") + json(item);
            return "[" + out + "]";
        case Kind::Mapping:
            for (const auto& e : n.entries)
                out += (out.empty() ? "" : ",") + json(e.first) + ":" + json(e.second);
            return "{" + out + "}";
    }
    return out;
}

struct Case {
    const char* text;
    const char* expected;
};

constexpr Case kCases[] = {
    {"a=1", "{\"a\":1}"},
    {"a : 010", "{\"a\":8}"},
    {"a : 08", "{\"a\":\"08\"}"},
    {"a: 1.50", "{\"a\":1.5}"},
    {"a: 1e3", "{\"a\":1000}"},
    {"a: -5", "{\"a\":-5}"},
    {"a: - 5", "{\"a\":\"- 5\"}"},
    {"a: +5",
     "! String: 1: Expecting a value but got wrong token: '5' ('+' not followed by =, '5' not "
     "allowed after '+') (if you intended '5' ('+' not followed by =, '5' not allowed after '+') "
     "to be part of a key or string value, try enclosing the key or value in double quotes"},
    {"a=1 2", "{\"a\":\"1 2\"}"},
    {"a = 1 . 2", "{\"a\":\"1 . 2\"}"},
    {"a= 10.0.0.1", "{\"a\":\"10.0.0.1\"}"},
    {"a= 10 seconds", "{\"a\":\"10 seconds\"}"},
    {"a = 5s, b = \"x\" y", "{\"a\":\"5s\",\"b\":\"x y\"}"},
    {"a=1\nb=2", "{\"a\":1,\"b\":2}"},
    {"{a:1,,b:2}", "! String: 1: expecting a close brace or a field name here, got ','"},
    {"{a:1,}", "{\"a\":1}"},
    {"a=[1,2,]", "{\"a\":[1,2]}"},
    {"a=[1,,2]",
     "! String: 1: List should have had new element after a comma, instead had token: ',' (if you "
     "want the comma or ',' to be part of a string value, then double-quote it)"},
    {"a=[\n1\n2\n]", "{\"a\":[1,2]}"},
    {"a.b.c=1", "{\"a\":{\"b\":{\"c\":1}}}"},
    {"a.\"b.c\".d=1", "{\"a\":{\"b.c\":{\"d\":1}}}"},
    {"\"a b\" = 1", "{\"a b\":1}"},
    {"a b = 1", "{\"a b\":1}"},
    {"1.2=x", "{\"1\":{\"2\":\"x\"}}"},
    {"a b.c d = 1", "{\"a b\":{\"c d\":1}}"},
    {"a={x:1},a={y:2}", "{\"a\":{\"y\":2,\"x\":1}}"},
    {"a={x:1}\na=null\na={y:2}", "{\"a\":{\"y\":2}}"},
    {"a=1\na=2", "{\"a\":2}"},
    {"a=true b", "{\"a\":\"true b\"}"},
    {"a=true", "{\"a\":true}"},
    {"a=yes", "{\"a\":\"yes\"}"},
    {"a=null", "{\"a\":null}"},
    {"a = null x", "{\"a\":\"null x\"}"},
    {"a=[1] [2]", "{\"a\":[1,2]}"},
    {"a={x:1} {y:2}", "{\"a\":{\"y\":2,\"x\":1}}"},
    {"a=[1]{x:1}",
     "! String: 1: Cannot concatenate object or list with a non-object-or-list, "
     "SimpleConfigList([1]) and SimpleConfigObject({\"x\":1}) are not compatible"},
    {"a=${b},b=1", "{\"a\":1,\"b\":1}"},
    {"a=${b}", "! String: 1: Could not resolve substitution to a value: ${b}"},
    {"a=${?b}", "{}"},
    {"a=${?b} x", "{\"a\":\" x\"}"},
    {"a=[${?b},1]", "{\"a\":[1]}"},
    {"a=x${?b}y", "{\"a\":\"xy\"}"},
    {"a=${?NOPE_X}", "{}"},
    {"p=/bin,p=${p}\":/usr\"", "{\"p\":\"/bin:/usr\"}"},
    {"p=${p}",
     "! String: 1: Could not resolve substitution to a value: ${p} was part of a cycle of "
     "substitutions involving ${p}, ${p}"},
    {"p=${?p}x", "{\"p\":\"x\"}"},
    {"a=[1],a+=2", "{\"a\":[1,2]}"},
    {"a+=2", "{\"a\":[2]}"},
    {"a={x:1},a+=2",
     "! String: 1: Cannot concatenate object or list with a non-object-or-list, "
     "SimpleConfigObject({\"x\":1}) and SimpleConfigList([2]) are not compatible"},
    {"a={b:1,c:${a.b}}", "{\"a\":{\"b\":1,\"c\":1}}"},
    {"a=${b},b=${a}",
     "! String: 1: Could not resolve substitution to a value: ${a} was part of a cycle of "
     "substitutions involving ${b}, ${a}, ${b}"},
    {"a={b=${a}}",
     "! String: 1: Could not resolve substitution to a value: ${a} was part of a cycle of "
     "substitutions involving ${a}, ${a}"},
    {"a=\"\"\"x \"y\" z\"\"\"", "{\"a\":\"x \\\"y\\\" z\"}"},
    {"a=\"\"\"l1\nl2\"\"\"\"", "{\"a\":\"l1\\nl2\\\"\"}"},
    {"a=\"\\u0041\\n\\t\\\"\"", "{\"a\":\"A\\n\\t\\\"\"}"},
    {"a=\"unterminated",
     "! String: 1: Expecting a value but got wrong token: '-1' (End of input but string quote was "
     "still open) (if you intended '-1' (End of input but string quote was still open) to be part "
     "of a key or string value, try enclosing the key or value in double quotes"},
    {"a=$",
     "! String: 1: Expecting a value but got wrong token: '-1' ('$' not followed by {, '-1' not "
     "allowed after '$') (if you intended '-1' ('$' not followed by {, '-1' not allowed after '$') "
     "to be part of a key or string value, try enclosing the key or value in double quotes"},
    {"a=b$c",
     "! String: 1: Expecting close brace } or a comma, got 'c' ('$' not followed by {, 'c' not "
     "allowed after '$') (if you intended 'c' ('$' not followed by {, 'c' not allowed after '$') "
     "to be part of a key or string value, try enclosing the key or value in double quotes"},
    {"a=b:c",
     "! String: 1: Expecting close brace } or a comma, got ':' (if you intended ':' to be part of "
     "a key or string value, try enclosing the key or value in double quotes"},
    {"a=b#c", "{\"a\":\"b\"}"},
    {"a=b//c", "{\"a\":\"b\"}"},
    {"a=http://x",
     "! String: 1: Expecting close brace } or a comma, got ':' (if you intended ':' to be part of "
     "a key or string value, try enclosing the key or value in double quotes"},
    {"a=@x",
     "! String: 1: Expecting a value but got wrong token: '@' (Reserved character '@' is not "
     "allowed outside quotes) (if you intended '@' (Reserved character '@' is not allowed outside "
     "quotes) to be part of a key or string value, try enclosing the key or value in double "
     "quotes"},
    {"a=x?",
     "! String: 1: Expecting close brace } or a comma, got '?' (Reserved character '?' is not "
     "allowed outside quotes) (if you intended '?' (Reserved character '?' is not allowed outside "
     "quotes) to be part of a key or string value, try enclosing the key or value in double "
     "quotes"},
    {"a=x!",
     "! String: 1: Expecting close brace } or a comma, got '!' (Reserved character '!' is not "
     "allowed outside quotes) (if you intended '!' (Reserved character '!' is not allowed outside "
     "quotes) to be part of a key or string value, try enclosing the key or value in double "
     "quotes"},
    {"a=`x`",
     "! String: 1: Expecting a value but got wrong token: '`' (Reserved character '`' is not "
     "allowed outside quotes) (if you intended '`' (Reserved character '`' is not allowed outside "
     "quotes) to be part of a key or string value, try enclosing the key or value in double "
     "quotes"},
    {"a={", "! String: 1: expecting a close brace or a field name here, got end of file"},
    {"a=[1",
     "! String: 1: List should have ended with ] or had a comma, instead had token: end of file "
     "(if you want end of file to be part of a string value, then double-quote it)"},
    {"a=}",
     "! String: 1: Expecting a value but got wrong token: '}' (if you intended '}' to be part of a "
     "key or string value, try enclosing the key or value in double quotes"},
    {"[1,2]", "! String: 1:  has type LIST rather than object at file root"},
    {"", "{}"},
    {"  ", "{}"},
    {"# only\n", "{}"},
    {"{}", "{}"},
    {"a", "! String: 1: Key 'a' may not be followed by token: end of file"},
    {"a b", "! String: 1: Key 'a b' may not be followed by token: end of file"},
    {"=1", "! String: 1: expecting a close brace or a field name here, got '='"},
    {"a=", "! String: 1: Expecting a value but got wrong token: end of file"},
    {"a=,b=1",
     "! String: 1: Expecting a value but got wrong token: ',' (if you intended ',' to be part of a "
     "key or string value, try enclosing the key or value in double quotes"},
    {"a\n=1", "{\"a\":1}"},
    {"a=\n1", "{\"a\":1}"},
    {"a{b:1}", "{\"a\":{\"b\":1}}"},
    {"a{b{c=1}}", "{\"a\":{\"b\":{\"c\":1}}}"},
    {"a.b=1,a.c=2", "{\"a\":{\"c\":2,\"b\":1}}"},
    {"a={b:1},a.b=2,a.c=3", "{\"a\":{\"c\":3,\"b\":2}}"},
    {"a.=1",
     "! path has a leading, trailing, or two adjacent period '.' (use quoted \"\" empty string if "
     "you want an empty element)"},
    {".a=1",
     "! path has a leading, trailing, or two adjacent period '.' (use quoted \"\" empty string if "
     "you want an empty element)"},
    {"a..b=1",
     "! path has a leading, trailing, or two adjacent period '.' (use quoted \"\" empty string if "
     "you want an empty element)"},
    {"a=1.", "{\"a\":\"1.\"}"},
    {"a=.5", "{\"a\":\".5\"}"},
    {"a=1.2.3", "{\"a\":\"1.2.3\"}"},
    {"a=1x", "{\"a\":\"1x\"}"},
    {"a=x1", "{\"a\":\"x1\"}"},
    {"a = [ {b:1} , {c:2} ]", "{\"a\":[{\"b\":1},{\"c\":2}]}"},
    {"a=1b, c=[1 2, x y]", "{\"a\":\"1b\",\"c\":[\"1 2\",\"x y\"]}"},
    {"a=\" x \" y \" z\"", "{\"a\":\" x  y  z\"}"},
    {"a = x y\t z  \nb=1", "{\"a\":\"x y\\t z\",\"b\":1}"},
    {"a=${x}${y},x=1,y=2", "{\"a\":\"12\",\"x\":1,\"y\":2}"},
    {"a=${x} ${y},x=1,y=2", "{\"a\":\"1 2\",\"x\":1,\"y\":2}"},
    {"a=${x}${y},x=[1],y=[2]", "{\"a\":[1,2],\"x\":[1],\"y\":[2]}"},
    {"a=${x}${y},x={b:1},y={c:2}", "{\"a\":{\"c\":2,\"b\":1},\"x\":{\"b\":1},\"y\":{\"c\":2}}"},
    {"a=${x}[3],x=[1]", "{\"a\":[1,3],\"x\":[1]}"},
    {"include \"inc.conf\"", "{}"},
    {"include required(\"nope.conf\")",
     "! String: 1: expecting include parameter to be quoted filename, file(), classpath(), or "
     "url(). No spaces are allowed before the open paren. Not expecting: 'required('"},
    {"include \"nope\"", "{}"},
    {"a=1.0", "{\"a\":1}"},
    {"a=-0", "{\"a\":0}"},
    {"a=-", "{\"a\":\"-\"}"},
    {"a=--1", "{\"a\":\"--1\"}"},
    {"a=1-2", "{\"a\":\"1-2\"}"},
    {"a=\"x\".y", "{\"a\":\"x.y\"}"},
    {"a=x.y", "{\"a\":\"x.y\"}"},
    {"a=x\\\ny",
     "! String: 1: Expecting close brace } or a comma, got '\\' (Reserved character '\\' is not "
     "allowed outside quotes) (if you intended '\\' (Reserved character '\\' is not allowed "
     "outside quotes) to be part of a key or string value, try enclosing the key or value in "
     "double quotes"},
    {"a=[a b,c]", "{\"a\":[\"a b\",\"c\"]}"},
    {"\"\" = 1", "{\"\":1}"},
    {"a = \"\"", "{\"a\":\"\"}"},
    {"a = \"\" \"\"", "{\"a\":\" \"}"},
    {"a:1 b:2",
     "! String: 1: Expecting close brace } or a comma, got ':' (if you intended ':' to be part of "
     "a key or string value, try enclosing the key or value in double quotes"},
    {"{a:1} b", "! String: 1: Document has trailing tokens after first object or array: 'b'"},
    {"{a:1}\n{b:2}", "! String: 2: Document has trailing tokens after first object or array: '{'"},
    {"a={b:1},a=${a}{c:2}", "{\"a\":{\"c\":2,\"b\":1}}"},
    {"a=${c}, b=${a}, c=5", "{\"a\":5,\"b\":5,\"c\":5}"},
    {"bar : { foo : 42, baz : ${bar.foo} }, bar : { foo : 43 }",
     "{\"bar\":{\"foo\":43,\"baz\":43}}"},
    {"a=${b.c.d}, b={c={d=1}}", "{\"a\":1,\"b\":{\"c\":{\"d\":1}}}"},
    {"a=[${x}],x={y:${z}},z=1", "{\"a\":[{\"y\":1}],\"x\":{\"y\":1},\"z\":1}"},
    {"a=${\"b.c\"},\"b.c\"=1", "{\"a\":1,\"b.c\":1}"},
    {"a=${ b },b=1", "{\"a\":1,\"b\":1}"},
    {"a=${b c},\"b c\"=1", "{\"a\":1,\"b c\":1}"},
    {"a=${}", "! String: 1: Expecting a field name or path here, but got nothing"},
    {"a=${b",
     "! String: 1: Expecting a value but got wrong token: 'end of file' (Substitution ${ was not "
     "closed with a }) (if you intended 'end of file' (Substitution ${ was not closed with a }) to "
     "be part of a key or string value, try enclosing the key or value in double quotes"},
    {"include = 1", "! String: 1: include keyword is not followed by a quoted string, but by: '='"},
    {"include x",
     "! String: 1: expecting include parameter to be quoted filename, file(), classpath(), or "
     "url(). No spaces are allowed before the open paren. Not expecting: 'x'"},
    {"a = include", "{\"a\":\"include\"}"},
    {"a.include=1", "{\"a\":{\"include\":1}}"},
    {"a:[1,\n2,\n\n3]", "{\"a\":[1,2,3]}"},
    {"a=1 // c\nb=2 # d", "{\"a\":1,\"b\":2}"},
    {"a=1;b=2",
     "! String: 1: Expecting close brace } or a comma, got '=' (if you intended '=' to be part of "
     "a key or string value, try enclosing the key or value in double quotes"},
    {"﻿a=1", "{\"﻿a\":1}"},
    {"a=tru", "{\"a\":\"tru\"}"},
    {"a=trueish", "{\"a\":\"trueish\"}"},
    {"a=1true", "{\"a\":\"1true\"}"},
    {"a=nullx", "{\"a\":\"nullx\"}"},
    {"a: [true false]", "{\"a\":[\"true false\"]}"},
    {"a=5 , b=6 ,", "{\"a\":5,\"b\":6}"},
    {"a='x'", "{\"a\":\"'x'\"}"},
    {"a={\"b\":[1,{\"c\":null}]}", "{\"a\":{\"b\":[1,{\"c\":null}]}}"},
};

TEST(Hocon, MatchesRuby) {
    for (const Case& c : kCases) {
        const auto parsed = parse_hocon(c.text);
        EXPECT_EQ(parsed ? json(*parsed) : "! " + parsed.error().message, c.expected) << c.text;
    }
}

// Cases in which Ruby's hocon 1.3.1 violates the specification of HOCON and Bunraku follows it.
TEST(Hocon, FollowsSpecification) {
    auto read = [](const char* text) {
        const auto parsed = parse_hocon(text);
        return parsed ? json(*parsed) : "! " + parsed.error().message;
    };
    EXPECT_EQ(read("base={x:1,y:2},a=${base}{x:3,z:${a.x}}"),
              R"({"base":{"x":1,"y":2},"a":{"x":3,"z":3,"y":2}})");
    EXPECT_EQ(read("a:{b:${c}},c:{d:1},a:{b:{e:2}}"), R"({"a":{"b":{"e":2,"d":1}},"c":{"d":1}})");
}

// Java's parser, which reads files and not only texts.
TEST(Hocon, IncludesByName) {
    HoconContext around;
    around.read = [](const std::string& path) -> std::optional<std::string> {
        if (path == "one.conf") return "b = 1";
        if (path == "/two.conf") return "c = ${a}";
        if (path == "three.json") return R"({"d":{"x":1}})";
        return std::nullopt;
    };
    around.relative = true;
    auto read = [&](const char* text) {
        const auto parsed = parse_hocon(text, around);
        return parsed ? json(*parsed) : "! " + parsed.error().message;
    };
    EXPECT_EQ(read("a=0\ninclude \"one\"\ninclude \"one.conf\""), R"({"a":0,"b":1})");
    EXPECT_EQ(read("a=0\ninclude file(\"/two.conf\")"), R"({"a":0,"c":0})");
    EXPECT_EQ(read("x { include \"three\", d.y = 2 }"), R"({"x":{"d":{"y":2,"x":1}}})");
    EXPECT_EQ(read("a=0\ninclude \"none\""), R"({"a":0})");
    EXPECT_EQ(read("include required(\"one\")"), R"({"b":1})");
    EXPECT_EQ(read("a=0\ninclude required(file(\"/two.conf\"))"), R"({"a":0,"c":0})");
    EXPECT_EQ(read("include required(\"none\")"), "! String: 1: none is not there");
}

TEST(Hocon, Limits) {
    EXPECT_FALSE(parse_hocon(std::string(5000, '{')));
    EXPECT_FALSE(parse_hocon("a=" + std::string(5000, '[')));
    std::string text = "a0=[1,1]\n";
    for (int i = 1; i < 60; ++i) text += fmt::format("a{}=[${{a{}}},${{a{}}}]\n", i, i - 1, i - 1);
    EXPECT_FALSE(parse_hocon(text));
}

}  // namespace
}  // namespace bunraku::codec
