// SPDX-License-Identifier: Apache-2.0
#include "resources/catalog/wire.h"

#include <fmt/format.h>

#include "resources/catalog/json_text.h"
#include "resources/catalog/wire_time.h"
#include "support.h"

namespace bunraku::catalog {
namespace {

/// Returns the JSON with sorted keys and without blanks, so that only the content counts.
std::string canonical(std::string_view json) {
    base::Arena arena;
    auto v = value::parse_json(arena, json);
    EXPECT_TRUE(v) << v.error().message;
    std::string out;
    if (v) append_json_value(out, *v, ValueForm::Exact, true);
    return out;
}

// A catalog as Puppet 8.11 sends it to agents, and as the PuppetDB terminus (8.8) sends it. The
// test changes identifiers, times, the number of a redacted object, and `kind` (which PuppetDB
// drops). It omits exported resources and a type as a value, which only the type system can print.
constexpr std::string_view kAgent =
    R"json({"tags":["settings","foo","class"],"name":"n1","version":1700000000,"code_id":null,"catalog_uuid":"2d45f062-63f3-4d19-9143-609c2f828524","catalog_format":2,"environment":"production","resources":[
{"type":"Stage","title":"main","tags":["stage"],"exported":false,"kind":"compilable_type","parameters":{"name":"main"}},
{"type":"Class","title":"Settings","tags":["class","settings"],"exported":false,"kind":"unknown"},
{"type":"Class","title":"main","tags":["class"],"exported":false,"kind":"unknown","parameters":{"name":"main"}},
{"type":"Class","title":"Foo","tags":["class","foo"],"file":"/m.pp","line":2,"exported":false,"kind":"class","parameters":{"s":"x","n":3},"sensitive_parameters":["s"]},
{"type":"Notify","title":"in","tags":["notify","in","class","foo"],"file":"/m.pp","line":1,"exported":false,"kind":"compilable_type","parameters":{"message":3}},
{"type":"File","title":"/tmp/x/","tags":["ab","c","file","class"],"file":"/m.pp","line":4,"exported":false,"kind":"compilable_type","parameters":{"path":"/tmp/x","ensure":"directory","mode":"0644","tag":["Ab","c"],"alias":"al"},"sensitive_parameters":["mode"]},
{"type":"Exec","title":"ttl","tags":["exec","ttl","class"],"file":"/m.pp","line":5,"exported":false,"kind":"compilable_type","parameters":{"command":"/bin/true","before":"Notify[in]"}},
{"type":"Exec","title":"/bin/foo","tags":["exec","class"],"file":"/m.pp","line":6,"exported":false,"kind":"compilable_type","parameters":{"noop":true,"environment":[]}},
{"type":"D::E","title":"q","tags":["d::e","d","e","q","class"],"file":"/m.pp","line":7,"exported":false,"kind":"defined_type","parameters":{"x":{"__ptype":"Hash","__pvalue":["k",{"__ptype":"Default"},1,{"__ptype":"Regexp","__pvalue":"a.*b"},"s",{"__ptype":"Sensitive","__pvalue":"in"},"ts",{"__ptype":"Timespan","__pvalue":"1-00:00:00.0"}]}}},
{"type":"Package","title":"pk","tags":["package","pk","class"],"file":"/m.pp","line":12,"exported":false,"kind":"compilable_type","parameters":{"ensure":"1.0"}},
{"type":"User","title":"u","tags":["user","u","class"],"file":"/m.pp","line":13,"exported":false,"kind":"compilable_type","parameters":{"uid":3}},
{"type":"User","title":"u2","tags":["user","u2","class"],"file":"/m.pp","line":14,"exported":false,"kind":"compilable_type","parameters":{"name":"uu","uid":3}},
{"type":"Notify","title":"d-q","tags":["notify","d-q","d::e","d","e","q","class"],"file":"/m.pp","line":3,"exported":false,"kind":"compilable_type","parameters":{"message":[1,2.5,{"a":null},"Class[Foo]","File[/tmp/x]"],"require":"File[/tmp/x/]"}}],
"edges":[{"source":"Stage[main]","target":"Class[Settings]"},{"source":"Stage[main]","target":"Class[main]"},{"source":"Stage[main]","target":"Class[Foo]"},{"source":"Class[Foo]","target":"Notify[in]"},{"source":"Class[main]","target":"File[/tmp/x/]"},{"source":"Class[main]","target":"Exec[ttl]"},{"source":"Class[main]","target":"Exec[/bin/foo]"},{"source":"Class[main]","target":"D::E[q]"},{"source":"Class[main]","target":"Package[pk]"},{"source":"Class[main]","target":"User[u]"},{"source":"Class[main]","target":"User[u2]"},{"source":"D::E[q]","target":"Notify[d-q]"}],
"classes":["settings","foo"]})json";
constexpr std::string_view kTerminus =
    R"json({"version":"1700000000","code_id":null,"catalog_uuid":"2d45f062-63f3-4d19-9143-609c2f828524","resources":[
{"type":"Stage","title":"main","tags":["stage"],"exported":false,"parameters":{"name":"main","alias":["main"]}},
{"type":"Class","title":"Settings","tags":["class","settings"],"exported":false,"parameters":{}},
{"type":"Class","title":"main","tags":["class"],"exported":false,"parameters":{"name":"main","alias":["main"]}},
{"type":"Class","title":"Foo","tags":["class","foo"],"file":"/m.pp","line":2,"exported":false,"parameters":{"n":3}},
{"type":"Notify","title":"in","tags":["notify","in","class","foo"],"file":"/m.pp","line":1,"exported":false,"parameters":{"message":3}},
{"type":"File","title":"/tmp/x/","tags":["ab","c","file","class"],"file":"/m.pp","line":4,"exported":false,"parameters":{"path":"/tmp/x","ensure":"directory","tag":["Ab","c"],"alias":["/tmp/x","al"]}},
{"type":"Exec","title":"ttl","tags":["exec","ttl","class"],"file":"/m.pp","line":5,"exported":false,"parameters":{"command":"/bin/true","before":"Notify[in]"}},
{"type":"Exec","title":"/bin/foo","tags":["exec","class"],"file":"/m.pp","line":6,"exported":false,"parameters":{"noop":true,"environment":[]}},
{"type":"D::E","title":"q","tags":["d::e","d","e","q","class"],"file":"/m.pp","line":7,"exported":false,"parameters":{"x":{"k":"default","1":"/a.*b/","s":"Sensitive [value redacted]","ts":"1-00:00:00.0"}}},
{"type":"Package","title":"pk","tags":["package","pk","class"],"file":"/m.pp","line":12,"exported":false,"parameters":{"ensure":"1.0"}},
{"type":"User","title":"u","tags":["user","u","class"],"file":"/m.pp","line":13,"exported":false,"parameters":{"uid":3}},
{"type":"User","title":"u2","tags":["user","u2","class"],"file":"/m.pp","line":14,"exported":false,"parameters":{"name":"uu","uid":3,"alias":["uu"]}},
{"type":"Notify","title":"d-q","tags":["notify","d-q","d::e","d","e","q","class"],"file":"/m.pp","line":3,"exported":false,"parameters":{"message":[1,2.5,{"a":null},"Class[Foo]","File[/tmp/x]"],"require":"File[/tmp/x/]"}}],"edges":[
{"source":{"type":"Stage","title":"main"},"target":{"type":"Class","title":"Settings"},"relationship":"contains"},
{"source":{"type":"Stage","title":"main"},"target":{"type":"Class","title":"main"},"relationship":"contains"},
{"source":{"type":"Stage","title":"main"},"target":{"type":"Class","title":"Foo"},"relationship":"contains"},
{"source":{"type":"Class","title":"Foo"},"target":{"type":"Notify","title":"in"},"relationship":"contains"},
{"source":{"type":"Class","title":"main"},"target":{"type":"File","title":"/tmp/x/"},"relationship":"contains"},
{"source":{"type":"Class","title":"main"},"target":{"type":"Exec","title":"ttl"},"relationship":"contains"},
{"source":{"type":"Class","title":"main"},"target":{"type":"Exec","title":"/bin/foo"},"relationship":"contains"},
{"source":{"type":"Class","title":"main"},"target":{"type":"D::E","title":"q"},"relationship":"contains"},
{"source":{"type":"Class","title":"main"},"target":{"type":"Package","title":"pk"},"relationship":"contains"},
{"source":{"type":"Class","title":"main"},"target":{"type":"User","title":"u"},"relationship":"contains"},
{"source":{"type":"Class","title":"main"},"target":{"type":"User","title":"u2"},"relationship":"contains"},
{"source":{"type":"D::E","title":"q"},"target":{"type":"Notify","title":"d-q"},"relationship":"contains"},
{"relationship":"before","source":{"type":"Exec","title":"ttl"},"target":{"type":"Notify","title":"in"}},
{"relationship":"required-by","source":{"type":"File","title":"/tmp/x/"},"target":{"type":"Notify","title":"d-q"}}],"job_id":null,"certname":"n1","transaction_uuid":"tu","environment":"production","producer_timestamp":"2023-11-14T22:13:20.125Z","producer":"server"})json";

TEST(Wire, Version9MatchesTerminus) {
    WireEnvelope envelope{.transaction_uuid = "tu",
                          .job_id = {},
                          .producer = "server",
                          .producer_timestamp = 1700000000125};
    auto got = write_wire(9, catalog_of(kAgent), envelope, kNaming);
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(canonical(*got), canonical(kTerminus));
    auto read = read_wire(9, kTerminus);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->catalog.resources.size(), 13U);
    EXPECT_EQ(read->catalog.edges.size(), 12U);
    EXPECT_EQ(read->relations.size(), 14U);
    EXPECT_EQ(read->envelope.producer_timestamp, 1700000000125);
}

/// A file with a path other than its title, an exec that requires it by that path, secrets and rich
/// values.
Catalog small() {
    Catalog c = catalog_of(R"({"name":"n","version":17,"catalog_uuid":"cu","code_id":"co",
        "environment":"e","resources":[
        {"type":"Stage","title":"main","tags":["stage"],"exported":false},
        {"type":"File","title":"f","tags":["file","f"],"file":"/m.pp","line":3,"exported":false,
         "parameters":{"path":"/f","mode":7,"alias":["z","a"],"s":"secret"},
         "sensitive_parameters":["s"]},
        {"type":"Exec","title":"e","tags":["exec"],"file":"/m.pp","line":4,"exported":true,
         "parameters":{"command":"c","require":["File[/f/]"],"x":{"k":null,"l":[1,null,2.5]},
         "subscribe":"File[z]","before":"Notify[n]","notify":["Notify[n]"]}},
        {"type":"Notify","title":"n","tags":[],"file":"/m.pp","line":5,"exported":false},
        {"type":"Notify","title":"v","tags":[],"exported":false,"virtual":true}],
        "edges":[{"source":"Stage[main]","target":"File[f]"},
                 {"source":"Stage[main]","target":"Notify[v]"}]})");
    return c;
}

constexpr std::string_view kLiteralRest =
    R"("edges":[{"source":{"type":"Stage","title":"main"},"target":{"type":"File","title":"f"},)"
    R"("relationship":"contains"},)"
    R"({"source":{"type":"Exec","title":"e"},"target":{"type":"Notify","title":"n"},)"
    R"("relationship":"before"},)"
    R"({"source":{"type":"File","title":"f"},"target":{"type":"Exec","title":"e"},)"
    R"("relationship":"required-by"},)"
    R"({"source":{"type":"Exec","title":"e"},"target":{"type":"Notify","title":"n"},)"
    R"("relationship":"notifies"},)"
    R"({"source":{"type":"File","title":"f"},"target":{"type":"Exec","title":"e"},)"
    R"("relationship":"subscription-of"}],)"
    R"("resources":[{"type":"Stage","title":"main","aliases":[],"exported":false,"file":"",)"
    R"("line":1,"tags":["stage"],"parameters":{"name":"main"}},)"
    R"({"type":"File","title":"f","aliases":["/f","a","z"],"exported":false,"file":"/m.pp",)"
    R"("line":3,"tags":["file","f"],"parameters":{"path":"/f","mode":"7","alias":["a","z"]}},)"
    R"({"type":"Exec","title":"e","aliases":[],"exported":true,"file":"/m.pp","line":4,)"
    R"("tags":["exec"],"parameters":{"command":"c","require":["File[/f/]"],)"
    R"("x":{"l":["1","","2.5"]},"subscribe":"File[z]","before":"Notify[n]",)"
    R"("notify":["Notify[n]"]}},)"
    R"({"type":"Notify","title":"n","aliases":[],"exported":false,"file":"/m.pp","line":5,)"
    R"("tags":[],"parameters":{}}]})";

TEST(Wire, WritesTheLiteralVersions) {
    auto v4 = write_wire(4, small(), {}, kNaming);
    ASSERT_TRUE(v4) << v4.error().message;
    EXPECT_EQ(*v4, std::string(R"({"name":"n","version":"17","environment":"e",)"
                               R"("transaction-uuid":null,)") +
                       std::string(kLiteralRest));
    WireEnvelope envelope{
        .transaction_uuid = "t", .job_id = "j", .producer = "p", .producer_timestamp = 1};
    auto v5 = write_wire(5, small(), envelope, kNaming);
    ASSERT_TRUE(v5) << v5.error().message;
    EXPECT_EQ(*v5, std::string(R"({"name":"n","version":"17","environment":"e",)"
                               R"("transaction-uuid":"t",)"
                               R"("producer-timestamp":"1970-01-01T00:00:00.001Z",)") +
                       std::string(kLiteralRest));
}

TEST(Wire, WritesTheLaterVersions) {
    struct {
        int version;
        std::string head;
    } cases[] = {
        {6, R"("transaction_uuid":"t","producer_timestamp":"1970-01-01T00:00:00.001Z",)"},
        {7, R"("transaction_uuid":"t","code_id":"co",)"
            R"("producer_timestamp":"1970-01-01T00:00:00.001Z",)"},
        {8, R"("transaction_uuid":"t","catalog_uuid":"cu","code_id":"co",)"
            R"("producer_timestamp":"1970-01-01T00:00:00.001Z",)"},
        {9, R"("transaction_uuid":"t","catalog_uuid":"cu","code_id":"co","job_id":"j",)"
            R"("producer_timestamp":"1970-01-01T00:00:00.001Z","producer":"p",)"},
    };
    for (auto& c : cases) {
        WireEnvelope envelope{
            .transaction_uuid = "t", .job_id = "j", .producer = "p", .producer_timestamp = 1};
        auto got = write_wire(c.version, small(), envelope, kNaming);
        ASSERT_TRUE(got) << got.error().message;
        std::size_t edges = got->find("\"edges\"");
        EXPECT_EQ(got->substr(0, edges),
                  R"({"certname":"n","version":"17","environment":"e",)" + c.head);
        std::size_t resources = got->find("\"resources\"");
        EXPECT_EQ(got->substr(resources),
                  R"("resources":[{"type":"Stage","title":"main","exported":false,)"
                  R"("tags":["stage"],"parameters":{"name":"main","alias":["main"]}},)"
                  R"({"type":"File","title":"f","exported":false,"file":"/m.pp","line":3,)"
                  R"("tags":["file","f"],)"
                  R"("parameters":{"path":"/f","mode":7,"alias":["/f","a","z"]}},)"
                  R"({"type":"Exec","title":"e","exported":true,"file":"/m.pp","line":4,)"
                  R"("tags":["exec"],"parameters":{"command":"c","require":["File[/f/]"],)"
                  R"("x":{"k":null,"l":[1,null,2.5]},"subscribe":"File[z]",)"
                  R"("before":"Notify[n]","notify":["Notify[n]"]}},)"
                  R"({"type":"Notify","title":"n","exported":false,"file":"/m.pp","line":5,)"
                  R"("tags":[],"parameters":{}}]})");
    }
}

TEST(Wire, EveryVersionSurvivesARoundTrip) {
    WireEnvelope envelope{.transaction_uuid = "t",
                          .job_id = "j",
                          .producer = "p",
                          .producer_timestamp = 1700000000125};
    for (int version = oldest_wire_version(); version <= newest_wire_version(); ++version) {
        auto first = write_wire(version, small(), envelope, kNaming);
        ASSERT_TRUE(first);
        auto read = read_wire(version, *first);
        ASSERT_TRUE(read) << version << ": " << read.error().message;
        auto again = write_wire(version, read->catalog, read->envelope, kNaming);
        ASSERT_TRUE(again) << again.error().message;
        EXPECT_EQ(*again, *first) << version;
        EXPECT_EQ(read->relations.size(), 5U);
        EXPECT_EQ(read->catalog.catalog_uuid, version < 8 ? "t" : "cu");
    }
}

TEST(Wire, TypesWithSeveralNamevars) {
    Catalog c = catalog_of(R"({"name":"n","resources":[
        {"type":"Package","title":"ssh","parameters":{"name":"openssh","alias":"a"}}]})");
    auto v4 = write_wire(4, c, {}, kNaming), v9 = write_wire(9, c, {}, kNaming);
    ASSERT_TRUE(v4 && v9);
    EXPECT_NE(v4->find(R"("aliases":["a","openssh"])"), std::string::npos) << *v4;
    EXPECT_NE(v9->find(R"("parameters":{"name":"openssh","alias":"a"})"), std::string::npos) << *v9;
}

TEST(Wire, UnknownVersions) {
    for (int version : {-1, 0, 3, 10}) {
        std::string message = fmt::format("Unknown catalog wire format version {}", version);
        EXPECT_EQ(write_wire(version, {}).error().message, message);
        EXPECT_EQ(read_wire(version, "{}").error().message, message);
    }
}

TEST(Wire, CapitalizesTypeNames) {
    const std::pair<const char*, bool> cases[] = {
        {"File", true},           {"Apache::Vhost", true},
        {"A1_b::C", true},        {"file", false},
        {"Apache::vhost", false}, {"FILE", false},
        {"Apache:Vhost", false},  {"::File", false},
        {"File::", false},        {"", false},
        {"_File", false},
    };
    for (const auto& [type, right] : cases) {
        EXPECT_EQ(is_type_name(type), right) << type;
        // Both in a reference and as the type of a resource.
        Catalog catalog = catalog_of(
            fmt::format(R"({{"name":"n","resources":[{{"type":"A","title":"t","parameters":)"
                        R"({{"require":"{}[x]"}}}}]}})",
                        type));
        auto got = write_wire(9, catalog);
        ASSERT_FALSE(got);
        EXPECT_EQ(got.error().message.find("correct format") == std::string::npos, right)
            << type << ": " << got.error().message;
    }
}

TEST(Wire, RefusesDanglingRelationships) {
    struct {
        const char* value;
        const char* more;
        const char* why;
    } cases[] = {
        {"File[/gone]", "", "File[/gone] doesn't seem to be in the catalog"},
        {"file[/gone]", "",
         "file[/gone] doesn't seem to be in the correct format. Resource references should be "
         "formatted as: Classname['title'] or Modulename::Classname['title'] (take careful note "
         "of the capitalization)."},
        {"nonsense", "",
         "nonsense doesn't seem to be in the correct format. Resource references should be "
         "formatted as: Classname['title'] or Modulename::Classname['title'] (take careful note "
         "of the capitalization)."},
        {"File[v]", R"(,{"type":"File","title":"v","exported":true,"virtual":true})",
         "File[v] is exported but not collected"},
        {"File[v]", R"(,{"type":"File","title":"v","exported":false,"virtual":true})",
         "File[v] doesn't seem to be in the catalog"},
    };
    for (auto& c : cases) {
        Catalog catalog = catalog_of(
            fmt::format(R"({{"name":"n","resources":[{{"type":"A","title":"t","parameters":)"
                        R"({{"require":"{}"}}}}{}]}})",
                        c.value, c.more));
        auto got = write_wire(9, catalog);
        ASSERT_FALSE(got);
        EXPECT_EQ(got.error().message,
                  fmt::format("Invalid relationship: A[t] {{ require => {} }}, because {}", c.value,
                              c.why));
    }
}

// Results of Puppet's ToDataConverter and ToStringifiedConverter (8.11); the store saves the
// string.
TEST(Wire, BinaryStrings) {
    const std::pair<ValueForm, const char*> cases[] = {
        {ValueForm::Rich, R"([{"__ptype":"Binary","__pvalue":"YWJj"},"abc"])"},
        {ValueForm::Exact, R"(["abc","abc"])"},
        {ValueForm::Stringified, R"(["YWJj","abc"])"},
        {ValueForm::Strings, R"(["YWJj","abc"])"},
    };
    const value::Value items[] = {value::Value::bytes("abc"), value::Value::string("abc")};
    for (const auto& [form, want] : cases) {
        std::string out;
        append_json_value(out, value::Value::array(items), form);
        EXPECT_EQ(out, want);
    }
}

TEST(Wire, Times) {
    struct {
        const char* text;
        std::optional<std::int64_t> ms;
    } cases[] = {
        {"2023-11-14T22:13:20.125Z", 1700000000125},
        {"2023-11-14T23:13:20.125+01:00", 1700000000125},
        {"2023-11-14T21:13:20.125-0100", 1700000000125},
        {"2023-11-14T22:13:20Z", 1700000000000},
        {"2023-11-14T22:13:20.1256789Z", 1700000000125},
        {"1969-12-31T23:59:59.999Z", -1},
        {"2023-02-29T00:00:00Z", std::nullopt},
        {"2023-11-14T24:00:00Z", std::nullopt},
        {"2023-11-14T22:13:20", std::nullopt},
        {"2023-11-14T22:13:20.Z", std::nullopt},
        {"2023-11-14", std::nullopt},
        {"2023-11-14T22:13:20Zx", std::nullopt},
        {"yesterday", std::nullopt},
        {"", std::nullopt},
    };
    for (auto& c : cases) EXPECT_EQ(parse_wire_time(c.text), c.ms) << c.text;
    EXPECT_EQ(format_wire_time(1700000000125), "2023-11-14T22:13:20.125Z");
    EXPECT_EQ(format_wire_time(-1), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace bunraku::catalog
