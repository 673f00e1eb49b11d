// SPDX-License-Identifier: Apache-2.0
// Tests PQL, AST and regular expressions as text. The expected values are those of PuppetDB 7.12.1.
#include <gtest/gtest.h>

#include "store/query/are_regex.h"
#include "store/query/compile.h"
#include "store/query/field_path.h"
#include "store/query/number_text.h"
#include "store/query/pql.h"
#include "store/query/time_text.h"

using namespace bunraku::query;

namespace {

std::string pql(std::string_view text) {
    try {
        return to_json(parse_pql(text));
    } catch (const QueryError& e) {
        return e.message;
    }
}

TEST(Pql, ConvertsToAst) {
    struct Case {
        std::string_view text, ast;
    } cases[] = {
        {"nodes{}", R"(["from","nodes"])"},
        {" nodes [ certname , count() ] { } ",
         R"(["from","nodes",["extract",["certname",["function","count"]]]])"},
        {"nodes{ a = 1 or b = 2 and c = 3 or d = 4 }",
         R"(["from","nodes",["or",["=","a",1],["and",["=","b",2],["=","c",3]],["=","d",4]]])"},
        {"nodes{ !(a != 'x' or a !~ 'y') }",
         R"(["from","nodes",["not",["or",["not",["=","a","x"]],["not",["~","a","y"]]]]])"},
        {"nodes[certname]{ certname in facts[certname]{ name = 'a' } limit 2 }",
         R"(["from","nodes",["extract",["certname"],["in","certname",["from","facts",["extract",["certname"],["=","name","a"]]]]],["limit",2]])"},
        {"facts{ [certname, name] in fact_contents[certname, name]{} }",
         R"(["from","facts",["in",["certname","name"],["from","fact_contents",["extract",["certname","name"]]]]])"},
        {"nodes{ certname in ['a', 'b'] order by certname desc, deactivated offset 3 }",
         R"(["from","nodes",["in","certname",["array",["a","b"]]],["order_by",[["certname","desc"],"deactivated"]],["offset",3]])"},
        {"fact_contents{ path ~> ['a', '.*'] and value < -1.5E-2 }",
         R"(["from","fact_contents",["and",["~>","path",["a",".*"]],["<","value",-0.015]]])"},
        {R"(inventory[facts.os."a.b".c]{ facts.match("eth.*").ip is not null })",
         R"(["from","inventory",["extract",["facts.os.\"a.b\".c"],["null?","facts.match(\"eth.*\").ip",false]]])"},
        {"reports[count(), to_string(end_time, 'HH24')]{ group by to_string(end_time, 'HH24') }",
         R"(["from","reports",["extract",[["function","count"],["function","to_string","end_time","HH24"]],["group_by",["function","to_string","end_time","HH24"]]]])"},
        {"nodes{ facts { name = \"a\\u0041\" } and resources {} }",
         R"(["from","nodes",["and",["subquery","facts",["=","name","aA"]],["subquery","resources"]]])"},
        {R"(resources{ title = 'It\'s \d' and line is null and exported = true })",
         R"(["from","resources",["and",["=","title","It's \\d"],["null?","line",true],["=","exported",true]]])"},
    };
    for (const Case& c : cases) EXPECT_EQ(pql(c.text), c.ast) << c.text;
}

TEST(Pql, ReportsErrors) {
    EXPECT_EQ(pql("nodes{certname}"),
              "PQL parse error at line 1, column 15:\n\nnodes{certname}\n              ^\n\n"
              "Expected one of:\n\nis not null\nis null\n#\"\\s+\"\nin\n!~\n!=\n=\n>\n<\n<=\n>="
              "\n~>\n~\n");
    EXPECT_EQ(pql("nodes[facts.os"),
              "PQL parse error at line 1, column 15:\n\nnodes[facts.os\n              ^\n\n"
              "Expected one of:\n\n]\n#\"\\s+\"\n,\n.\n");
    EXPECT_EQ(pql("nodes{ certname in x }"),
              "PQL parse error at line 1, column 20:\n\nnodes{ certname in x }\n"
              "                   ^\n\nExpected one of:\n\nevents\nedges\ninventory\n"
              "fact_contents\nfact_paths\nfactsets\nenvironments\nnodes\nresources\n"
              "package_inventory\npackages\ncatalogs\nreports\nfacts\n[\n#\"\\s+\"\n");
    EXPECT_EQ(
        pql("nodes{ certname = }"),
        "PQL parse error at line 1, column 19:\n\nnodes{ certname = }\n                  ^\n\n"
        "Expected one of:\n\n[\nfalse\ntrue\n#\"[0-9]+\"\n-\n'\n\"\n");
    EXPECT_EQ(pql("nodes[certname { }"),
              "PQL parse error at line 1, column 16:\n\nnodes[certname { }\n               ^\n\n"
              "Expected one of:\n\n]\n,\n");
    EXPECT_EQ(pql("unicorns{}").substr(0, 60),
              "PQL parse error at line 1, column 1:\n\nunicorns{}\n^\n\nExpected");
    std::string deep = "nodes{" + std::string(5000, '(');
    EXPECT_EQ(pql(deep), "The query is nested more than 200 levels deep");
}

std::string json(std::string_view text) {
    try {
        return to_json(read_query_json(text));
    } catch (const QueryError& e) {
        return e.message;
    }
}

TEST(AstJson, ReadsAndLocatesErrors) {
    EXPECT_EQ(json(R"( ["a", 1, -2.5e3, true, null, {"k": "\u00e9\ud83d\ude00"}] )"),
              R"(["a",1,-2500.0,true,null,{"k":"é😀"}])");
    EXPECT_EQ(json("["),
              "Json parse error at line 1, column 2:\n\n[\n^\n\nUnexpected end-of-input: expected "
              "close marker for Array (start marker at [Source: (StringReader); line: 1, column: "
              "1])");
    EXPECT_EQ(json("nodes").substr(0, 36), "Json parse error at line 1, column 6");
    // Recorded from PuppetDB 7.12.1: the end position of a token, and other messages of Jackson.
    struct {
        std::string_view text, column, ends;
    } recorded[] = {
        {"nodes{}", "6:\n\nnodes{}\n    ^\n",
         "Unrecognized token 'nodes': was expecting (JSON String, Number, Array, Object or token "
         "'null', 'true' or 'false')"},
        {R"(["=",nul])", "9:\n\n[\"=\",nul]\n       ^\n", "or token 'null', 'true' or 'false')"},
        {R"(["=","a",01])", "11:", "Invalid numeric value: Leading zeroes not allowed"},
        {R"(["=","a",NaN])", "13:",
         "Non-standard token 'NaN': enable `JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS` to allow"},
        {"]", "2:",
         "Unexpected close marker ']': expected '}' (for root starting at [Source: (StringReader); "
         "line: 1, column: 0])"},
        {"/*x*/[]", "2:",
         "Unexpected character ('/' (code 47)): maybe a (non-standard) comment? (not recognized as "
         "one since Feature 'ALLOW_COMMENTS' not enabled for parser)"},
        {"[\"=\",\"x\n",
         "9:", "Unexpected end-of-input: was expecting closing quote for a string value"},
    };
    for (const auto& r : recorded) {
        std::string message = json(r.text);
        std::string begins = "Json parse error at line 1, column " + std::string(r.column);
        EXPECT_TRUE(message.starts_with(begins) && message.ends_with(r.ends)) << message;
    }
    EXPECT_EQ(json("[\"a\tb\"]"), R"(["a\tb"])");
    EXPECT_EQ(json("[1] [2]"),
              "Only one query may be sent in a request. Found JSON [2] after the query [1]");
    EXPECT_EQ(json(std::string(100000, '[')), "The query is nested more than 200 levels deep");
}

TEST(AreRegex, MatchesPostgresqlSemantics) {
    struct Case {
        std::string_view pattern, text;
        bool matches;
    } cases[] = {
        {"web", "www.web.x", true},
        {"^web", "aweb", false},
        {"a$", "a\n", false},
        {"a.b", "a\nb", true},
        {"\\d{2}", "a12", true},
        {"\\mfoo\\M", "a foo b", true},
        {"\\mfoo\\M", "afoo", false},
        {"[[:alpha:]_]+\\y", "ab_ c", true},
        {"(?i)ABC", "xabc", true},
        {"***=a.b", "a.b", true},
        {"***=a.b", "axb", false},
        {"(a)(b)\\2\\1", "abba", true},
        {"[]x]", "]", true},
        {"[^]x]", "]", false},
        {"a{2,}", "aa", true},
        {"x{", "x{", true},
        {"☃+", "☃☃", true},
        {"[à-ü]", "é", true},
        {"(?=b)b", "ab", true},
        {"", "anything", true},
        {"a|", "", true},
        {"(?n)^b$", "a\nb\nc", true},
    };
    for (const Case& c : cases) {
        EXPECT_EQ(AreRegex::compile(c.pattern)->matches(c.text), c.matches)
            << c.pattern << " on " << c.text;
    }
    auto wrong = [](std::string_view pattern) {
        try {
            AreRegex::compile(pattern);
            return std::string("fine");
        } catch (const QueryError& e) {
            return e.message.substr(e.message.find(": ") + 2);
        }
    };
    EXPECT_EQ(wrong("("), "invalid regular expression: parentheses () not balanced");
    EXPECT_EQ(wrong("*["), "invalid regular expression: quantifier operand invalid");
    EXPECT_EQ(wrong("[a"), "invalid regular expression: brackets [] not balanced");
    EXPECT_EQ(wrong("[z-a]"), "invalid regular expression: invalid character range");
    EXPECT_EQ(wrong("a{2,1}"), "invalid regular expression: invalid repetition count(s)");
    EXPECT_EQ(wrong("\\q"), "invalid regular expression: invalid escape \\ sequence");
    EXPECT_EQ(wrong("(a)\\2"), "invalid regular expression: invalid backreference number");
    // A pattern with exponential backtracking ends in a limited time.
    EXPECT_THROW(AreRegex::compile("(a+)+$b")->matches(std::string(60, 'a') + "c"), QueryError);
}

TEST(TimeText, ReadsAndFormats) {
    EXPECT_EQ(parse_query_time("2001-01-02T03:04:05.678Z"), 978404645678);
    EXPECT_EQ(parse_query_time("2001-01-02T04:04:05+01:00"), 978404645000);
    EXPECT_EQ(parse_query_time("2001-01-02"), 978393600000);
    EXPECT_EQ(parse_query_time("2001-002"), 978393600000);
    EXPECT_EQ(parse_query_time("20010102T030405Z"), 978404645000);
    EXPECT_EQ(parse_query_time("2001-01-02 03:04:05"), 978404645000);
    EXPECT_EQ(parse_query_time("2001-01-02T"), 978393600000);
    EXPECT_EQ(parse_query_time("2001"), 978307200000);
    EXPECT_EQ(parse_query_time("+2001"), 978307200000);
    EXPECT_EQ(parse_query_time("0"), -62167219200000);
    EXPECT_LT(parse_query_time("-5"), parse_query_time("10"));
    EXPECT_LT(parse_query_time("2001"), parse_query_time("123456"));
    EXPECT_EQ(parse_query_time("Tue, 02 Jan 2001 03:04:05 +0000"), 978404645000);
    for (std::string_view bad :
         {"", "x", "2001-13-01", "2001-02-30", "12:00", "2001-01-01T25:00"}) {
        EXPECT_EQ(parse_query_time(bad), std::nullopt) << bad;
    }
    EXPECT_EQ(time_to_char(978404645678, "YYYY-MM-DD HH24:MI:SS.MS"), "2001-01-02 03:04:05.678");
    EXPECT_EQ(time_to_char(978404645678, "FMDay, DDth FMMonth \"of\" YY, HH12 AM"),
              "Tuesday, 02nd January of 01, 03 AM");
    EXPECT_EQ(time_to_char(978404645678, "MONTH|Mon|day|Q|IW"), "JANUARY  |Jan|tuesday  |1|01");
    EXPECT_EQ(time_to_char(978404645678, "TZ tz bc TMMonth|TMDay|DYth|DDSP"),
              "UTC utc ad January|Tuesday|TUE|02");
    // Formatted by PostgreSQL 15.
    EXPECT_EQ(time_to_char(978404645678,
                           "ff1 ff2 ff3 ff4 ff5 ff6|iddd|iyy|i|y,yyy|of|tzh|tzm|MOnth|dAy|RM|rm"),
              "6 67 678 6780 67800 678000|002|001|1|2,001|+00|+00|00|MOnth|3A1|I   |i   ");
    struct {
        double number;
        std::string_view format, text;
    } numbers[] = {
        {1, "S999", "  +1"},    {12, "RN", "            XII"},
        {12, "FMRN", "XII"},    {4000, "FMRN", "###############"},
        {3, "9th", " 3rd"},     {12, "9th", " #"},
        {12, "L999", "   12"},  {12, "B999", "  12"},
        {12, "EEEE", " 1e+01"}, {12, "9.9EEEE", " 1.2e+01"},
    };
    for (const auto& n : numbers) EXPECT_EQ(number_to_char(n.number, n.format), n.text) << n.format;
    EXPECT_EQ(number_to_char(42, "999999999"), "        42");
    EXPECT_EQ(number_to_char(-1234.5, "FM9,999.00"), "-1,234.50");
    EXPECT_EQ(number_to_char(7, "000"), " 007");
    EXPECT_EQ(number_to_char(12345, "999"), " ###");
}

TEST(FieldPath, ParsesNames) {
    auto parts = parse_field(R"(facts."a.b".c[3].match("x.*").5)");
    ASSERT_EQ(parts.size(), 5u);
    EXPECT_EQ(parts[1].name, "a.b");
    EXPECT_EQ(parts[2].name, "c");
    EXPECT_EQ(parts[2].index, 3);
    EXPECT_EQ(parts[3].kind, FieldPart::Match);
    EXPECT_EQ(parts[3].name, "x.*");
    EXPECT_EQ(parts[4].name, "5");
    EXPECT_THROW(parse_field("facts."), QueryError);
    EXPECT_EQ(encode_path_name("5"), "\"5\"");
    EXPECT_EQ(encode_path_name("a#~b"), "a\\#~b");
}

}  // namespace
