// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "resources/catalog/json_text.h"
#include "support.h"

namespace bunraku::catalog {
namespace {

std::string without_line_ends(std::string_view text) {
    std::string out(text);
    out.erase(std::remove(out.begin(), out.end(), '\n'), out.end());
    return out;
}

// Recorded from Puppet 8.11 (catalog.filter(&:virtual?).to_json). Version and identifier are fixed,
// and each resource is on its own line.
constexpr std::string_view kRecorded =
    R"json({"tags":["settings","foo","class"],"name":"n1","version":1700000000,"code_id":null,"catalog_uuid":"2d45f062-63f3-4d19-9143-609c2f828524","catalog_format":2,"environment":"production","resources":[
{"type":"Stage","title":"main","tags":["stage"],"exported":false,"kind":"compilable_type","parameters":{"name":"main"}},
{"type":"Class","title":"Settings","tags":["class","settings"],"exported":false,"kind":"unknown"},
{"type":"Class","title":"main","tags":["class"],"exported":false,"kind":"unknown","parameters":{"name":"main"}},
{"type":"Class","title":"Foo","tags":["class","foo"],"file":"/m.pp","line":2,"exported":false,"kind":"class","parameters":{"s":"x","n":3},"sensitive_parameters":["s"]},
{"type":"Notify","title":"in","tags":["notify","in","class","foo"],"file":"/m.pp","line":1,"exported":false,"kind":"compilable_type","parameters":{"message":3}},
{"type":"File","title":"/tmp/x/","tags":["ab","c","file","class"],"file":"/m.pp","line":4,"exported":false,"kind":"compilable_type","parameters":{"path":"/tmp/x","ensure":"directory","mode":"0644","tag":["Ab","c"],"alias":"al"},"sensitive_parameters":["mode"]},
{"type":"Exec","title":"ttl","tags":["exec","ttl","class"],"file":"/m.pp","line":5,"exported":false,"kind":"compilable_type","parameters":{"command":"/bin/true","before":"Notify[in]"}},
{"type":"Exec","title":"/bin/foo","tags":["exec","class"],"file":"/m.pp","line":6,"exported":false,"kind":"compilable_type","parameters":{"noop":true,"environment":[]}},
{"type":"D::E","title":"q","tags":["d::e","d","e","q","class"],"file":"/m.pp","line":7,"exported":false,"kind":"defined_type","parameters":{"x":{"__ptype":"Hash","__pvalue":["k",{"__ptype":"Default"},1,{"__ptype":"Regexp","__pvalue":"a.*b"},"s",{"__ptype":"Sensitive","__pvalue":"in"},"t",{"__ptype":"Pcore::IntegerType","from":1,"to":2},"ts",{"__ptype":"Timespan","__pvalue":"1-00:00:00.0"}]}}},
{"type":"Package","title":"pk","tags":["package","pk","class"],"file":"/m.pp","line":12,"exported":false,"kind":"compilable_type","parameters":{"ensure":"1.0"}},
{"type":"User","title":"u","tags":["user","u","class"],"file":"/m.pp","line":13,"exported":false,"kind":"compilable_type","parameters":{"uid":3}},
{"type":"User","title":"u2","tags":["user","u2","class"],"file":"/m.pp","line":14,"exported":false,"kind":"compilable_type","parameters":{"name":"uu","uid":3}},
{"type":"Notify","title":"d-q","tags":["notify","d-q","d::e","d","e","q","class"],"file":"/m.pp","line":3,"exported":false,"kind":"compilable_type","parameters":{"message":[1,2.5,{"a":null},"Class[Foo]","File[/tmp/x]"],"require":"File[/tmp/x/]"}}],
"edges":[{"source":"Stage[main]","target":"Class[Settings]"},{"source":"Stage[main]","target":"Class[main]"},{"source":"Stage[main]","target":"Class[Foo]"},{"source":"Class[Foo]","target":"Notify[in]"},{"source":"Class[main]","target":"File[/tmp/x/]"},{"source":"Class[main]","target":"Exec[ttl]"},{"source":"Class[main]","target":"Exec[/bin/foo]"},{"source":"Class[main]","target":"D::E[q]"},{"source":"Class[main]","target":"Package[pk]"},{"source":"Class[main]","target":"User[u]"},{"source":"Class[main]","target":"User[u2]"},{"source":"D::E[q]","target":"Notify[d-q]"}],
"classes":["settings","foo"]})json";

TEST(AgentJson, RoundTripsPuppetCatalogs) {
    Catalog catalog = catalog_of(kRecorded);
    EXPECT_EQ(to_agent_json(catalog, {.naming = &kNaming}), without_line_ends(kRecorded));
    const Resource* file = catalog.find("File", "/tmp/x/");
    ASSERT_NE(file, nullptr);
    ASSERT_NE(file->parameter("mode"), nullptr);
    EXPECT_TRUE(file->parameter("mode")->is(value::Kind::Sensitive));
}

TEST(AgentJson, AcceptsVersion4Response) {
    std::string wrapped = "{\"catalog\":" + without_line_ends(kRecorded) + "}";
    EXPECT_EQ(to_agent_json(catalog_of(wrapped), {.naming = &kNaming}),
              without_line_ends(kRecorded));
}

struct NamevarCase {
    const char* type;
    const char* title;
    std::vector<std::pair<const char*, const char*>> parameters;
    const char* expected;
};

TEST(AgentJson, NamevarsComeFirstUnlessEqualToTitle) {
    const NamevarCase cases[] = {
        {"File", "/x", {{"mode", "1"}, {"path", "/x"}}, R"({"mode":"1"})"},
        {"File", "/x", {{"mode", "1"}, {"path", "/y"}}, R"({"path":"/y","mode":"1"})"},
        {"File", "/x/", {{"mode", "1"}}, R"({"path":"/x","mode":"1"})"},
        {"File", "a", {{"name", "/y"}}, R"({"path":"/y"})"},
        {"File", "/x", {}, ""},
        {"Exec", "t", {{"cwd", "/"}, {"command", "c"}}, R"({"command":"c","cwd":"/"})"},
        {"Package", "p", {{"ensure", "1"}, {"name", "p"}}, R"({"ensure":"1"})"},
        {"Package", "p", {{"ensure", "1"}, {"name", "q"}}, R"({"name":"q","ensure":"1"})"},
        {"Class", "main", {}, R"({"name":"main"})"},
        {"Stage", "main", {}, R"({"name":"main"})"},
        {"Stage", "other", {}, ""},
        {"A::B", "main", {{"x", "1"}}, R"({"x":"1"})"},
    };
    for (const NamevarCase& c : cases) {
        Catalog catalog;
        Resource& r = catalog.resources.emplace_back();
        r.ref = {c.type, c.title};
        for (auto& [name, text] : c.parameters) {
            r.parameters.push_back({name, Value::string(text)});
        }
        std::string expected = std::string("\"exported\":false") +
                               (*c.expected ? ",\"parameters\":" : "") + c.expected + "}]";
        std::string got = to_agent_json(catalog, {.naming = &kNaming});
        EXPECT_NE(got.find(expected), std::string::npos) << got << "\n wanted " << expected;
    }
}

TEST(AgentJson, Values) {
    base::Arena arena;
    FakeReference ref("file", "/x");
    Value r = ref.value();
    Value pair[] = {Value::integer(1), r};
    Value nested[] = {Value::array(pair), Value::undef()};
    value::HashBuilder keyed(arena), marked(arena), numbered(arena);
    keyed.set(r, Value::undef());
    marked.set("__ptype", Value::integer(1));
    numbered.set(Value::integer(1), Value::string("x"));
    struct {
        const char* name;
        Value value;
        const char* rich;
        const char* exact;
        const char* stringified;
        const char* strings;
    } cases[] = {
        {"a", Value::undef(), "null", "null", "null", "\"\""},
        {"a", Value::boolean(true), "true", "true", "true", "true"},
        {"a", Value::integer(-7), "-7", "-7", "-7", "\"-7\""},
        {"a", Value::floating(1.5), "1.5", "1.5", "1.5", "\"1.5\""},
        {"a", Value::string("\"\\\b\x01\x7f/\n\xc3\xa9\xff"),
         "\"\\\"\\\\\\b\\u0001\x7f/\\n\xc3\xa9\xef\xbf\xbd\"", nullptr, nullptr, nullptr},
        {"a", Value::default_value(), R"({"__ptype":"Default"})", nullptr, R"("default")",
         R"("default")"},
        {"a", r, R"("File[/x]")",
         R"({"__ptype":"Pcore::ResourceType","type_name":"file","title":"/x"})", R"("File[/x]")",
         R"("File[/x]")"},
        {"a", Value::array(nested), R"([1,"File[/x]",null])", nullptr, R"([1,"File[/x]",null])",
         R"(["1","File[/x]",""])"},
        {"require", Value::array(nested), R"([1,"File[/x]"])", nullptr, nullptr, nullptr},
        {"a", keyed.build(), R"({"File[/x]":null})", nullptr, R"({"File[/x]":null})", "{}"},
        {"a", marked.build(), R"({"__ptype":"Hash","__pvalue":["__ptype",1]})", nullptr,
         R"({"reserved key: __ptype":1})", R"({"reserved key: __ptype":"1"})"},
        {"a", numbered.build(), R"({"__ptype":"Hash","__pvalue":[1,"x"]})", nullptr, R"({"1":"x"})",
         R"({"1":"x"})"},
        {"a", value::make_sensitive(arena, Value::integer(1)),
         R"({"__ptype":"Sensitive","__pvalue":1})", nullptr, R"("Sensitive [value redacted]")",
         R"("Sensitive [value redacted]")"},
    };
    for (auto& c : cases) {
        const char* expected[] = {c.rich, c.exact ? c.exact : c.rich, c.stringified, c.strings};
        if (std::string_view(c.rich).find("File[") != std::string_view::npos && !c.exact) {
            expected[1] = nullptr;
        }
        for (int form = 0; form < 4; ++form) {
            if (!expected[form]) continue;
            std::string out;
            append_json_parameter(out, c.name, c.value, static_cast<ValueForm>(form));
            EXPECT_EQ(out, expected[form]) << "form " << form;
        }
    }
}

TEST(AgentJson, HidesVirtualResourcesUnlessAsked) {
    Catalog catalog = catalog_of(R"({"name":"n","version":"x","environment":"e","resources":[
        {"type":"Stage","title":"a","exported":false},
        {"type":"notify","title":"b","exported":true,"virtual":true}],
        "edges":[{"source":"Stage[a]","target":"Notify[b]"}],"classes":[]})");
    EXPECT_EQ(to_agent_json(catalog),
              R"({"tags":[],"name":"n","version":"x","code_id":null,"catalog_uuid":null,)"
              R"("catalog_format":0,"environment":"e","resources":[{"type":"Stage","title":"a",)"
              R"("tags":[],"exported":false}],"edges":[],"classes":[]})");
    EXPECT_EQ(to_agent_json(catalog, {.naming = nullptr, .keep_virtual = true}),
              R"({"tags":[],"name":"n","version":"x","code_id":null,"catalog_uuid":null,)"
              R"("catalog_format":0,"environment":"e","resources":[{"type":"Stage","title":"a",)"
              R"("tags":[],"exported":false},{"type":"Notify","title":"b","tags":[],)"
              R"("exported":true,"virtual":true}],"edges":[{"source":"Stage[a]",)"
              R"("target":"Notify[b]"}],"classes":[]})");
}

TEST(AgentJson, Refusals) {
    const std::pair<std::string, std::string> cases[] = {
        {"", "Unexpected end-of-input (line: 1, column: 1)"},
        {"{\"name\":\"\xff\"}", "not valid UTF-8 at byte 9"},
        {"[]", "Could not intern from json: expected an object, got an array"},
        {"{}", "Could not intern from json: name: required key is missing"},
        {R"({"name":"n","tags":[1]})",
         "Could not intern from json: tags[0]: expected a string, got an integer"},
        {R"({"name":"n","resources":[{"title":"x"}]})",
         "Could not intern from json: resources[0].type: No resource type provided in serialized "
         "data"},
        {R"({"name":"n","resources":[{"type":"A"}]})",
         "Could not intern from json: resources[0].title: No resource title provided in "
         "serialized data"},
        {R"({"name":"n","resources":[{"type":"A","title":"t","line":-1}]})",
         "Could not intern from json: resources[0].line: expected a line number"},
        {R"({"name":"n","resources":[{"type":"A","title":"t","parameters":[]}]})",
         "Could not intern from json: resources[0].parameters: expected an object, got an array"},
        {R"({"name":"n","edges":[{"source":"A[t]","target":"B"}]})",
         "Could not intern from json: edges[0].source: Could not find relationship source "
         "\"A[t]\""},
        {R"({"name":"n","resources":[{"type":"A","title":"t"}],)"
         R"("edges":[{"source":"A[t]","target":"B"}]})",
         "Could not intern from json: edges[0].target: 'B' is not a valid resource reference"},
    };
    for (auto& [json, message] : cases) {
        auto got = read_agent_json(json);
        ASSERT_FALSE(got) << json;
        EXPECT_EQ(got.error().message, message);
    }
}

}  // namespace
}  // namespace bunraku::catalog
