// SPDX-License-Identifier: Apache-2.0
// Tests every way in which a catalog of version 4 can be invalid, and the error messages.
#include <fmt/format.h>

#include "resources/catalog/wire.h"
#include "support.h"

namespace bunraku::catalog {
namespace {

constexpr std::string_view kResource =
    R"({"type":"File","title":"/a","aliases":["x"],"exported":false,"file":"/m.pp","line":1,)"
    R"("tags":["a"],"parameters":{"mode":"0644"}})";
constexpr std::string_view kOther =
    R"({"type":"Apache::Vhost","title":"b","aliases":[],"exported":true,"file":"/m.pp","line":2,)"
    R"("tags":[],"parameters":{}})";
constexpr std::string_view kEdge =
    R"({"source":{"type":"File","title":"/a"},"target":{"type":"Apache::Vhost","title":"b"},)"
    R"("relationship":"contains"})";

std::string document() {
    return fmt::format(
        R"({{"name":"n","version":"1","environment":"e","transaction-uuid":null,"edges":[{}],)"
        R"("resources":[{},{}]}})",
        kEdge, kResource, kOther);
}

struct Case {
    std::string from, to;  ///< text to replace once in the valid document
    std::string message;   ///< empty if the document is still valid
};

void check(int version, const std::string& good, const std::vector<Case>& cases) {
    auto whole = read_wire(version, good);
    ASSERT_TRUE(whole) << whole.error().message;
    for (const Case& c : cases) {
        std::string text = good;
        std::size_t at = text.find(c.from);
        ASSERT_NE(at, std::string::npos) << c.from;
        text.replace(at, c.from.size(), c.to);
        auto got = read_wire(version, text);
        if (c.message.empty()) {
            EXPECT_TRUE(got) << text << "\n" << got.error().message;
        } else {
            ASSERT_FALSE(got) << text;
            EXPECT_EQ(got.error().message, c.message);
        }
    }
}

TEST(WireV4, Violations) {
    const std::string source = R"("source":{"type":"File","title":"/a"})";
    const std::string r0 = "resources[0]", r1 = "resources[1]";
    std::vector<Case> cases = {
        // The main object.
        {document(), "[]", "expected an object, got an array"},
        {document(), "null", "expected an object, got null"},
        {document(), "{", "Unexpected end-of-input (line: 1, column: 2)"},
        {document(), document() + "x", ""},
        {"\"name\":\"n\"", "\"name\":\"\xff\"", "not valid UTF-8 at byte 9"},
        {"\"name\":\"n\"", "\"name\":\"\xc0\x80\"", "not valid UTF-8 at byte 9"},
        {"\"name\":\"n\"", "\"name\":\"\xed\xa0\x80\"", "not valid UTF-8 at byte 9"},
        {"\"name\":\"n\"", "\"name\":\"\xc3\xa9\"", ""},
        {"\"name\":\"n\"", "\"name\":null", "name: expected a string, got null"},
        {"\"name\":\"n\"", "\"name\":\"\"", "name: may not be empty"},
        {"\"name\":\"n\",", "", "name: required key is missing"},
        {"\"version\":\"1\"", "\"version\":1", "version: expected a string, got an integer"},
        {"\"version\":\"1\",", "", "version: required key is missing"},
        {"\"environment\":\"e\"", "\"environment\":null",
         "environment: expected a string, got null"},
        {"\"environment\":\"e\",", "", "environment: required key is missing"},
        {"\"transaction-uuid\":null", "\"transaction-uuid\":\"u\"", ""},
        {"\"transaction-uuid\":null", "\"transaction-uuid\":1",
         "transaction-uuid: expected a string, got an integer"},
        {"\"transaction-uuid\":null,", "", "transaction-uuid: required key is missing"},
        {"{\"name\"", "{\"api_version\":1,\"name\"",
         "api_version: unknown key in a catalog of version 4"},
        {"\"edges\":[", "\"edges\":null,\"resources\":[", "unexpected"},
        // Resources.
        {std::string(kResource), "null", r0 + ": expected an object, got null"},
        {"{\"type\":\"File\",\"title\":\"/a\",\"al", "{\"title\":\"/a\",\"al",
         r0 + ".type: required key is missing"},
        {"\"type\":\"File\",\"title\":\"/a\",\"al", "\"type\":\"File\",\"al",
         r0 + ".title: required key is missing"},
        {"\"aliases\":[\"x\"],", "", r0 + ".aliases: required key is missing"},
        {"\"exported\":false,", "", r0 + ".exported: required key is missing"},
        {"\"file\":\"/m.pp\",\"line\":1,", "\"line\":1,", r0 + ".file: required key is missing"},
        {"\"line\":1,", "", r0 + ".line: required key is missing"},
        {"\"tags\":[\"a\"],", "", r0 + ".tags: required key is missing"},
        {",\"parameters\":{\"mode\":\"0644\"}", "", r0 + ".parameters: required key is missing"},
        {"\"line\":1,", "\"line\":1,\"kind\":\"x\",",
         r0 + ".kind: unknown key in a catalog of version 4"},
        {"{\"type\":\"File\",\"title\":\"/a\",\"al", "{\"type\":\"file\",\"title\":\"/a\",\"al",
         r0 + ".type: the type 'file' must be capitalized in every segment"},
        {"{\"type\":\"Apache::Vhost\",\"title\":\"b\",\"al",
         "{\"type\":\"Apache::vhost\",\"title\":\"b\",\"al",
         r1 + ".type: the type 'Apache::vhost' must be capitalized in every segment"},
        {"{\"type\":\"Apache::Vhost\",\"title\":\"b\",\"al",
         "{\"type\":\"Apache:Vhost\",\"title\":\"b\",\"al",
         r1 + ".type: the type 'Apache:Vhost' must be capitalized in every segment"},
        {"{\"type\":\"Apache::Vhost\",\"title\":\"b\",\"al", "{\"type\":\"\",\"title\":\"b\",\"al",
         r1 + ".type: the type '' must be capitalized in every segment"},
        {"\"title\":\"/a\",\"al", "\"title\":5,\"al",
         r0 + ".title: expected a string, got an integer"},
        {"\"aliases\":[\"x\"]", "\"aliases\":\"x\"",
         r0 + ".aliases: expected an array, got a string"},
        {"\"aliases\":[\"x\"]", "\"aliases\":[\"x\",{}]",
         r0 + ".aliases[1]: expected a string, got an object"},
        {"\"exported\":false", "\"exported\":\"false\"",
         r0 + ".exported: expected a boolean, got a string"},
        {"\"file\":\"/m.pp\"", "\"file\":null", r0 + ".file: expected a string, got null"},
        {"\"line\":1,", "\"line\":\"1\",", r0 + ".line: expected an integer, got a string"},
        {"\"line\":1,", "\"line\":1.0,", r0 + ".line: expected an integer, got a float"},
        {"\"line\":1,", "\"line\":0,", r0 + ".line: expected a positive integer, got 0"},
        {"\"line\":1,", "\"line\":-3,", r0 + ".line: expected a positive integer, got -3"},
        {"\"tags\":[\"a\"]", "\"tags\":{}", r0 + ".tags: expected an array, got an object"},
        {"\"tags\":[\"a\"]", "\"tags\":[null]", r0 + ".tags[0]: expected a string, got null"},
        {"\"tags\":[\"a\"]", "\"tags\":[\"a\",\"Bc\"]", r0 + ".tags[1]: 'Bc' is not a valid tag"},
        {"\"tags\":[\"a\"]", "\"tags\":[\"-a\"]", r0 + ".tags[0]: '-a' is not a valid tag"},
        {"\"tags\":[\"a\"]", "\"tags\":[\"\"]", r0 + ".tags[0]: '' is not a valid tag"},
        {"\"tags\":[\"a\"]", "\"tags\":[\"a::b-c.d_1:e\",\"\xc3\xa9\"]", ""},
        {"{\"mode\":\"0644\"}", "[]", r0 + ".parameters: expected an object, got an array"},
        {"{\"mode\":\"0644\"}", "{\"mode\":null}", r0 + ".parameters.mode: null is not allowed"},
        {"{\"mode\":\"0644\"}", "{\"mode\":[{\"a b\":[1,null]}]}",
         r0 + ".parameters.mode[0][\"a b\"][1]: null is not allowed"},
        {"{\"mode\":\"0644\"}", "{\"mode\":[true,1,2.5,{\"a\":{}}]}", ""},
        {std::string(kOther), std::string(kResource), r1 + ": duplicate resource File[/a]"},
        // Edges.
        {std::string(kEdge), "", ""},
        {std::string(kEdge), std::string(kEdge) + "," + std::string(kEdge), ""},
        {std::string(kEdge), "1", "edges[0]: expected an object, got an integer"},
        {source + ",", "", "edges[0].source: required key is missing"},
        {source, "\"source\":\"File[/a]\"", "edges[0].source: expected an object, got a string"},
        {source, "\"source\":{\"type\":\"File\"}",
         "edges[0].source.title: required key is missing"},
        {source, "\"source\":{\"title\":\"/a\"}", "edges[0].source.type: required key is missing"},
        {source, "\"source\":{\"type\":\"file\",\"title\":\"/a\"}",
         "edges[0].source.type: the type 'file' must be capitalized in every segment"},
        {source, "\"source\":{\"type\":\"File\",\"title\":\"/a\",\"x\":1}",
         "edges[0].source.x: unknown key in a catalog of version 4"},
        {source, "\"source\":{\"type\":\"File\",\"title\":null}",
         "edges[0].source.title: expected a string, got null"},
        {source, "\"source\":{\"type\":\"File\",\"title\":\"x\"}",
         "edges[0].source: File[x] doesn't exist in the catalog's resources"},
        {"\"title\":\"b\"},\"rel", "\"title\":\"c\"},\"rel",
         "edges[0].target: Apache::Vhost[c] doesn't exist in the catalog's resources"},
        {"\"relationship\":\"contains\"", "\"relationship\":\"requires\"",
         "edges[0].relationship: 'requires' is not a valid relationship"},
        {"\"relationship\":\"contains\"", "\"relationship\":null",
         "edges[0].relationship: expected a string, got null"},
        {",\"relationship\":\"contains\"", "", "edges[0].relationship: required key is missing"},
        {"\"relationship\":\"contains\"", "\"relationship\":\"contains\",\"label\":1",
         "edges[0].label: unknown key in a catalog of version 4"},
    };
    for (const char* name : {"before", "required-by", "notifies", "subscription-of"}) {
        cases.push_back(
            {"\"relationship\":\"contains\"", fmt::format("\"relationship\":\"{}\"", name), ""});
    }
    // Two cases with their own messages.
    std::erase_if(cases,
                  [](const Case& c) { return c.message == "unexpected" || c.to.ends_with("}x"); });
    cases.push_back({document(), document() + "x",
                     fmt::format("unexpected text after the document (line: 1, column: {})",
                                 document().size() + 1)});
    cases.push_back({"\"edges\":[" + std::string(kEdge) + "]", "\"edges\":null",
                     "edges: expected an array, got null"});
    cases.push_back(
        {"\"edges\":[" + std::string(kEdge) + "],", "", "edges: required key is missing"});
    std::string resources = fmt::format(R"("resources":[{},{}])", kResource, kOther);
    cases.push_back({resources, "\"resources\":{}", "resources: expected an array, got an object"});
    cases.push_back({"," + resources, "", "resources: required key is missing"});
    check(4, document(), cases);
}

TEST(WireV4, RefusesDeepNesting) {
    std::string deep(100000, '[');
    auto got = read_wire(4, deep);
    ASSERT_FALSE(got);
    EXPECT_NE(got.error().message.find("nested too deeply"), std::string::npos);
}

TEST(WireV9, AcceptsOnlyWhatPuppetSends) {
    std::string good =
        R"({"certname":"n","version":"1","environment":"e","transaction_uuid":"t",)"
        R"("catalog_uuid":"c","code_id":null,"job_id":null,)"
        R"("producer_timestamp":"2023-11-14T22:13:20.125Z","producer":"p","edges":[],)"
        R"("resources":[{"type":"A","title":"t","exported":false,"kind":"x","tags":[],)"
        R"("parameters":{"alias":["b"],"n":null}}]})";
    check(9, good,
          {
              {"\"environment\":\"e\",", "", ""},
              {"\"transaction_uuid\":\"t\"", "\"transaction_uuid\":null", ""},
              {"\"job_id\":null,", "", ""},
              {"\"producer\":\"p\"", "\"producer\":null", ""},
              {"{\"certname\"", "{\"new\":1,\"certname\"", ""},
              {"\"tags\":[]", "\"tags\":[],\"file\":null,\"line\":null", ""},
              {"\"certname\":\"n\",", "", "certname: required key is missing"},
              {"\"code_id\":null,", "", "code_id: required key is missing"},
              {"\"producer\":\"p\",", "", "producer: required key is missing"},
              {"\"tags\":[]", "\"tags\":[],\"line\":0",
               "resources[0].line: expected a positive integer, got 0"},
              {"\"tags\":[],", "", "resources[0].tags: required key is missing"},
              {"2023-11-14T22", "2023-11-14 at 22",
               "producer_timestamp: '2023-11-14 at 22:13:20.125Z' is not an ISO 8601 date and "
               "time"},
          });
    auto read = read_wire(9, good);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->catalog.resources[0].aliases, std::vector<std::string>{"b"});
    EXPECT_EQ(read->catalog.resources[0].parameters.size(), 1U);
}

}  // namespace
}  // namespace bunraku::catalog
