// SPDX-License-Identifier: Apache-2.0
// Tests the rows that commands write, on both backends; the formats are those that PuppetDB 7.12
// accepts.
#include "store/db/command.h"

#include <fmt/format.h>

#include "backends.h"
#include "store/db/writer.h"
#include "store/engine/garbage.h"
#include "store/query/report_sql.h"

namespace bunraku::store {
namespace {

constexpr std::int64_t kReceived = 1700000000000;
/// A UUID without its last digit.
constexpr std::string_view kUuid = "11111111-2222-3333-4444-55555555555";

class Command : public OnBackend {
protected:
    void SetUp() override {
        OnBackend::SetUp();
        if (where_.empty()) return;
        auto opened = Writer::open(where_, {});
        ASSERT_TRUE(opened) << opened.error().message;
        writer_ = std::move(*opened);
    }

    /// Returns "stored", "unchanged", .., or the error.
    std::string put(CommandKind kind, int version, std::string body,
                    const CommandOptions& options = {}) {
        // Single quotes replace double quotes: 'x' for "x".
        for (char& c : body) {
            if (c == '\'') c = '"';
        }
        CommandHeader header{kind, version, "n", kReceived, 0};
        auto prepared = prepare_command(header, body, options);
        if (!prepared) return prepared.error().message;
        auto transaction = writer_->begin();
        if (!transaction) return transaction.error().message;
        auto applied = (*prepared)->apply(*writer_);
        if (!applied) {
            writer_->forget();
            return applied.error().message;
        }
        auto done = transaction->commit();
        if (!done) return done.error().message;
        constexpr const char* kNames[] = {"stored", "unchanged", "obsolete", "duplicate"};
        return kNames[static_cast<int>(*applied)];
    }

    std::string catalog(int at, std::string_view resources, std::string_view edges = "",
                        std::string_view more = "") {
        return put(CommandKind::ReplaceCatalog, 9,
                   fmt::format("{{'certname':'n','version':'v{0}','environment':'production',"
                               "'transaction_uuid':'{4}{0}','catalog_uuid':null,'code_id':null,"
                               "'job_id':null,'producer':'p','producer_timestamp':"
                               "'2023-11-14T22:13:2{0}.000Z','edges':[{2}],'resources':[{1}]{3}}}",
                               at, resources, edges, more, kUuid));
    }
    static std::string resource(std::string_view type, std::string_view title,
                                std::string_view parameters = "", std::string_view tags = "'t'",
                                bool exported = false) {
        return fmt::format(
            "{{'type':'{}','title':'{}','exported':{},'file':'/f','line':3,"
            "'tags':[{}],'parameters':{{{}}}}}",
            type, title, exported, tags, parameters);
    }
    static std::string edge(std::string_view from, std::string_view to,
                            std::string_view kind = "contains") {
        return fmt::format(
            "{{'source':{{'type':'A','title':'{}'}},'target':{{'type':'A','title':"
            "'{}'}},'relationship':'{}'}}",
            from, to, kind);
    }
    std::string facts(int at, std::string_view values, std::string_view more = "") {
        return put(CommandKind::ReplaceFacts, 5,
                   fmt::format("{{'certname':'n','environment':'production','producer':'p',"
                               "'producer_timestamp':'2023-11-14T22:13:2{}.000Z','values':{{{}}}"
                               "{}}}",
                               at, values, more));
    }

    /// Returns rows as "a|b, c|d".
    std::string rows(std::string_view sql) {
        auto s = writer_->db().prepare_once(sql);
        if (!s) return s.error().message;
        std::string out;
        for (;;) {
            auto row = s->step();
            if (!row) return row.error().message;
            if (!*row) return out;
            if (!out.empty()) out += ", ";
            for (int i = 0; i < s->columns(); ++i) {
                if (i > 0) out += '|';
                out += s->is_null(i) ? "null" : s->text(i);
            }
        }
    }
    std::string titles() {
        return rows(
            "SELECT r.type, r.title FROM catalog_resources l JOIN resources r"
            " ON r.id = l.resource_id ORDER BY 1, 2");
    }
    std::string edges() {
        return rows("SELECT s.title, t.title, e.kind FROM catalogs c " +
                    writer_->dialect().edges("c", "e") +
                    " JOIN resources s ON s.id = e.source JOIN resources t ON t.id = e.target"
                    " ORDER BY 1, 2, 3");
    }

    std::unique_ptr<Writer> writer_;
};
BUNRAKU_ON_BACKENDS(Command);

TEST_P(Command, WritesOnlyTheDifferenceOfCatalogs) {
    std::string a = resource("A", "1", "'x':1,'b':[true,null]"), b = resource("A", "2"),
                c = resource("A", "3", "'e':'new'", "'z','a','z'", true);
    EXPECT_EQ(catalog(1, a + "," + b, edge("1", "2")), "stored");
    EXPECT_EQ(titles(), "A|1, A|2");
    EXPECT_EQ(edges(), "1|2|0");
    EXPECT_EQ(catalog(2, a + "," + b, edge("1", "2")), "unchanged");
    EXPECT_EQ(rows("SELECT version, transaction_uuid, api_version FROM catalogs"),
              fmt::format("v2|{}2|9", kUuid));
    EXPECT_EQ(catalog(1, c), "obsolete");
    EXPECT_EQ(titles(), "A|1, A|2");
    std::string hash = rows("SELECT " + writer_->dialect().hex("hash") + " FROM catalogs");
    // The order does not affect the content hash.
    EXPECT_EQ(catalog(3, b + "," + a, edge("1", "2")), "unchanged");
    EXPECT_EQ(rows("SELECT " + writer_->dialect().hex("hash") + " FROM catalogs"), hash);
    EXPECT_EQ(catalog(4, a + "," + c, edge("3", "1", "before")), "stored");
    EXPECT_EQ(titles(), "A|1, A|3");
    EXPECT_EQ(edges(), "3|1|1");
    EXPECT_EQ(rows("SELECT tag FROM exported_tags ORDER BY 1"), "a, z");
    EXPECT_EQ(rows("SELECT name, value, member FROM exported_params"), "e|\"new\"|0");
    EXPECT_EQ(rows("SELECT count(*) FROM resources"), "3");
    auto gone = remove_content(*writer_, 100, INT64_MAX);
    ASSERT_TRUE(gone) << gone.error().message;
    EXPECT_EQ(gone->removed, 1U);
    EXPECT_EQ(rows("SELECT title FROM resources ORDER BY 1"), "1, 3");
    EXPECT_EQ(rows("SELECT count(*) FROM parameters"), "2");
    // A removed resource can be added again.
    EXPECT_EQ(catalog(5, a + "," + b), "stored");
    EXPECT_EQ(titles(), "A|1, A|2");
}

TEST_P(Command, OldCatalogFormats) {
    const std::string body =
        "{'name':'n','version':'1','environment':'e','transaction-uuid':'t','edges':[],"
        "'resources':[{'type':'A','title':'1','aliases':[],'exported':false,'file':'/f','line':3,"
        "'tags':['t'],'parameters':{}}]";
    EXPECT_EQ(put(CommandKind::ReplaceCatalog, 4, body + "}"), "stored");
    EXPECT_EQ(rows("SELECT producer_timestamp, catalog_uuid, producer_id FROM catalogs"),
              "1700000000000|t|null");
    EXPECT_EQ(
        put(CommandKind::ReplaceCatalog, 5, body + ",'producer-timestamp':'2023-11-15T00:00:00Z'}"),
        "unchanged");
    EXPECT_EQ(put(CommandKind::ReplaceCatalog, 5, body + ",'producer-timestamp':null}"),
              "obsolete");
    EXPECT_EQ(
        put(CommandKind::ReplaceCatalog, 3, "{'metadata':{'api_version':1},'data':" + body + "}}"),
        "obsolete");
    std::string wrapped = "{'metadata':{'api_version':1},'data':" + body + "}}";
    for (std::size_t at = 0; (at = wrapped.find('\'', at)) != std::string::npos; at += 2) {
        wrapped.replace(at, 1, "\\'");
    }
    EXPECT_EQ(put(CommandKind::ReplaceCatalog, 3, "'" + wrapped + "'"), "obsolete");
    EXPECT_EQ(put(CommandKind::ReplaceCatalog, 6, "'" + wrapped + "'"),
              "Json parse error at line 1, column 1: a catalog must be a JSON map");
    EXPECT_EQ(put(CommandKind::ReplaceCatalog, 10, body + "}"),
              "Version 10 of command \"replace catalog\" is not supported");
}

TEST_P(Command, ValidatesFormats4And5Strictly) {
    const std::string good =
        "{'name':'n','version':'1','environment':'e','transaction-uuid':null,'edges':[],"
        "'resources':[{'type':'A','title':'1','aliases':[],'exported':false,'file':'/f','line':3,"
        "'tags':['t'],'parameters':{'p':'v'}}]}";
    const struct {
        std::string from, to, why;
    } cases[] = {
        {"'version':'1'", "'version':1", "version: expected a string, got an integer"},
        {"'environment':'e',", "", "environment: required key is missing"},
        {"'environment':'e'", "'environment':null", "environment: expected a string, got null"},
        {"'aliases':[],", "", "resources[0].aliases: required key is missing"},
        {",'parameters':{'p':'v'}", "", "resources[0].parameters: required key is missing"},
        {"'file':'/f'", "'file':null", "resources[0].file: expected a string, got null"},
        {"'line':3", "'line':0", "resources[0].line: expected a positive integer, got 0"},
        {"'line':3", "'line':'3'", "resources[0].line: expected an integer, got a string"},
        {"'p':'v'", "'p':[null]", "resources[0].parameters.p[0]: null is not allowed"},
        {"'type':'A'", "'type':'a'",
         "resources[0].type: the type 'a' must be capitalized in every segment"},
        {"'p':'v'", "'p':'\\ud800'", "incomplete surrogate pair (line: 1, column: 207)"},
        {"'p':'v'", "'p':'\xff'", "not valid UTF-8 at byte 199"},
        {"'edges':[]", "'edges':[],'job_id':'5'", "job_id: unknown key in a catalog of version 4"},
    };
    for (const auto& c : cases) {
        std::string body = good;
        body.replace(body.find(c.from), c.from.size(), c.to);
        EXPECT_EQ(put(CommandKind::ReplaceCatalog, 4, body),
                  "Catalog wire format version 4: " + c.why);
    }
    EXPECT_EQ(put(CommandKind::ReplaceCatalog, 4, "'" + good.substr(0, 1) + "'"),
              "Catalog wire format version 4: expected an object, got a string");
    EXPECT_EQ(put(CommandKind::ReplaceCatalog, 4, good), "stored");
}

TEST_P(Command, ReportsReasonForInvalidCatalogs) {
    std::string a = resource("A", "1");
    struct {
        std::string resources, edges, why;
    } cases[] = {
        {a + "," + a, "", "Duplicate resource 'A[1]' in the catalog"},
        {a, edge("1", "2"), "Edge refers to resource 'A[2]', which doesn't exist in the catalog."},
        {a, edge("1", "1", "loves"), "Edge has invalid relationship type 'loves'"},
        {resource("A", "1", "", "'Upper'"), "",
         "Resource 'A[1]' has an invalid tag 'Upper'. Tags must match the pattern "
         "/[[\\p{L}&&[^\\p{Lu}]]\\p{N}_][[\\p{L}&&[^\\p{Lu}]]\\p{N}_:.-]*/."},
        {"{'type':'A','title':'1','exported':false,'parameters':{}}", "",
         "Resource 'A[1]' has no 'tags'"},
        {resource("A", "1", "'a':tru"), "",
         "Json parse error at line 1, column 103: Unrecognized token 'tru'"},
    };
    for (const auto& c : cases) {
        std::string got = catalog(1, c.resources, c.edges);
        if (c.why.starts_with("Json")) {
            EXPECT_TRUE(got.ends_with("Unrecognized token 'tru'")) << got;
        } else {
            EXPECT_EQ(got, c.why);
        }
    }
    EXPECT_EQ(catalog(1, resource("A", "1", "", "'über','x:y.z-1','_a'")), "stored");
    EXPECT_EQ(put(CommandKind::ReplaceCatalog, 9, "{'certname':'n'"),
              "Json parse error at line 1, column 16: Unexpected end-of-input");
    EXPECT_TRUE(put(CommandKind::ReplaceFacts, 5,
                    "{'certname':'n','values':{'a':" + std::string(5000, '[') + "}")
                    .ends_with("nested too deeply"));
}

TEST_P(Command, MissingDiffersFromEmpty) {
    const std::string said = ",'exported':false,'tags':[]";
    EXPECT_EQ(catalog(1, "{'type':'A','title':'1','file':'','line':0" + said +
                             "},{'type':'A','title':'2','file':null,'line':null" + said +
                             "},{'type':'A','title':'3','file':'/f','line':-1" + said +
                             "},{'type':'A','title':'4','parameters':null" + said + "}"),
              "stored");
    // PuppetDB accepts a catalog without these two keys.
    EXPECT_EQ(put(CommandKind::ReplaceCatalog, 8,
                  "{'certname':'m','version':'1','catalog_uuid':null,'code_id':null,'job_id':'j',"
                  "'producer_timestamp':'20231114T221320Z','edges':[],'resources':[]}"),
              "stored");
    EXPECT_EQ(rows("SELECT c.producer_timestamp, c.environment_id, c.transaction_uuid, c.job_id"
                   " FROM catalogs c JOIN certnames n ON n.id = c.certname_id"
                   " WHERE n.certname = 'm'"),
              "1700000000000|null|null|null");
    EXPECT_EQ(rows("SELECT title, file, line FROM resources ORDER BY 1"),
              "1||0, 2|null|null, 3|/f|-1, 4|null|null");
    EXPECT_EQ(
        rows("SELECT DISTINCT " + writer_->dialect().json_text("parameters") + " FROM parameters"),
        "{}");
}

TEST_P(Command, OddTextsAndNumbers) {
    // Bytes that are not UTF-8: Latin-1, truncated, a surrogate.
    EXPECT_EQ(facts(1,
                    "'a':'x\xe9y','b':'\xc3','c\xff':'\xed\xa0','d':1e23,'e':-2.5E22,'f':1e60,"
                    "'g':9007199254740993.0,'h':1.5e15,'i':12.0"),
              "stored");
    EXPECT_EQ(
        rows("SELECT name, match FROM facts ORDER BY 1"),
        "a|\"x\xef\xbf\xbdy\", b|\"\xef\xbf\xbd\", c\xef\xbf\xbd|\"\xef\xbf\xbd\xef\xbf\xbd\","
        " d|100000000000000000000000, e|-25000000000000000000000, f|1" +
            std::string(60, '0') + ", g|9007199254740992, h|1500000000000000, i|12.0");
}

TEST_P(Command, FactsAndTheirPaths) {
    EXPECT_EQ(facts(1,
                    "'os':{'name':'Debian','release':{'major':12}},'up':true,'n':null,"
                    "'ips':['a',1.5],'empty':{},'0':{'1':'x'},'nul':'a\\u0000b'"),
              "stored");
    EXPECT_EQ(rows("SELECT name, match, number FROM facts ORDER BY 1"),
              "0|{\"1\":\"x\"}|null, empty|{}|null, ips|[\"a\",1.5]|null, n|null|null,"
              " nul|\"a\xef\xbf\xbd"
              "b\"|null, os|{\"name\":\"Debian\",\"release\":{\"major\":12}}"
              "|null, up|true|null");
    EXPECT_EQ(rows("SELECT p.path, p.depth, p.type, l.match FROM fact_leaves l JOIN fact_paths p"
                   " ON p.id = l.path_id ORDER BY 1"),
              "\"0\"#~\"1\"|1|string|\"x\", ips#~0|1|string|\"a\", ips#~1|1|float|1.5,"
              " n|0|null|null, nul|0|string|\"a\xef\xbf\xbd"
              "b\", os#~name|1|string|\"Debian\","
              " os#~release#~major|2|integer|12, up|0|boolean|true");
    EXPECT_EQ(facts(2, "'up':true"), "stored");
    EXPECT_EQ(rows("SELECT f.name FROM factset_facts l JOIN facts f ON f.id = l.fact_id"), "up");
    EXPECT_EQ(facts(1, "'up':false"), "obsolete");
    EXPECT_EQ(facts(3, "'up':true"), "unchanged");
    EXPECT_EQ(facts(4, "'up':true",
                    ",'package_inventory':[['a','1','apt'],['a','1','apt'],"
                    "['b','2','gem']]"),
              "unchanged");
    EXPECT_EQ(rows("SELECT p.name, p.version, p.provider FROM certname_packages l"
                   " JOIN packages p ON p.id = l.package_id ORDER BY 1"),
              "a|1|apt, b|2|gem");
    EXPECT_EQ(facts(5, "'up':true"), "unchanged");
    EXPECT_EQ(rows("SELECT count(*) FROM certname_packages"), "0");
    CommandOptions block;
    block.blocklist.names = {"up.*", "x"};
    block.blocklist.regex = true;
    ASSERT_TRUE(block.blocklist.prepare());
    EXPECT_EQ(put(CommandKind::ReplaceFacts, 3,
                  "{'name':'n','environment':'e','producer-timestamp':'2023-11-15 00:00:00 +01',"
                  "'values':{'uptime':'1','kept':'2'}}",
                  block),
              "stored");
    EXPECT_EQ(rows("SELECT f.name FROM factset_facts l JOIN facts f ON f.id = l.fact_id"), "kept");
    EXPECT_EQ(facts(6, "'a':1"), "obsolete");
}

TEST_P(Command, Reports) {
    auto report = [&](int version, int at, std::string_view fields) {
        return put(
            CommandKind::StoreReport, version,
            fmt::format("{{'certname':'n','puppet_version':'8.1','report_format':12,"
                        "'configuration_version':'c','start_time':'2023-11-14T22:13:2{0}Z',"
                        "'end_time':'2023-11-14T22:13:2{0}+00:00','environment':'e',"
                        "'transaction_uuid':null,'producer_timestamp':"
                        "'2023-11-14T22:13:2{0}.5Z','status':'changed','noop':false,"
                        "'metrics':[{{'category':'c','name':'n','value':1.5}}],'logs':[]{1}}}",
                        at, fields));
    };
    std::string v8 =
        ",'producer':null,'noop_pending':false,'corrective_change':false,'catalog_uuid':null,"
        "'code_id':null,'cached_catalog_status':null,'resources':[{'timestamp':"
        "'2023-11-14T22:13:20Z','resource_type':'A','resource_title':'1','skipped':false,"
        "'file':null,'line':4,'containment_path':['Stage[main]','Cls','A[1]'],"
        "'corrective_change':true,'events':[{'status':'success','timestamp':"
        "'2023-11-14T22:13:20Z','property':'p','name':null,'old_value':{'x':1},'new_value':'y',"
        "'corrective_change':true,'message':'m'},{'status':'success','timestamp':"
        "'2023-11-14T22:13:20Z','property':'p','name':null,'old_value':{'x':1},'new_value':'y',"
        "'corrective_change':true,'message':'m'}]},{'timestamp':'2023-11-14T22:13:20Z',"
        "'resource_type':'A','resource_title':'2','skipped':true,'file':null,'line':null,"
        "'containment_path':[],'corrective_change':null,'events':[]}]";
    EXPECT_EQ(report(8, 2, v8), "stored");
    EXPECT_EQ(report(8, 2, v8), "duplicate");
    EXPECT_EQ(rows("SELECT seq, status, resource_title, property, " +
                   writer_->dialect().json_text("new_value") +
                   ", line, containing_class"
                   " FROM resource_events ORDER BY seq"),
              "0|success|1|p|\"y\"|4|Cls, 1|skipped|2|null|null|null|null");
    EXPECT_EQ(report(8, 1, v8), "stored");
    EXPECT_EQ(rows("SELECT r.producer_timestamp FROM certnames n"
                   " JOIN reports r ON r.id = n.latest_report_id"),
              "1700000002500");
    EXPECT_EQ(report(8, 3, v8 + ",'type':'plan'"), "stored");
    EXPECT_EQ(rows("SELECT latest_report_timestamp FROM certnames"), "1700000002500");
    EXPECT_EQ(report(6, 4,
                     ",'resources':[],'logs':[{'level':'','message':'','source':'','tags':null,"
                     "'time':'2023-11-14T22:13:20Z','file':null,'line':null}]"),
              "stored");
    EXPECT_EQ(report(5, 5,
                     ",'resource_events':[{'resource_type':'A','resource_title':'1','file':null,"
                     "'line':null,'containment_path':[],'status':'failure','timestamp':"
                     "'2023-11-14T22:13:20Z','property':null,'old_value':null,'new_value':null,"
                     "'message':null}]"),
              "stored");
    EXPECT_EQ(rows("SELECT status FROM resource_events ORDER BY report_id DESC LIMIT 1"),
              "failure");
    EXPECT_EQ(put(CommandKind::StoreReport, 3,
                  "{'certname':'n','puppet-version':'3','report-format':4,"
                  "'configuration-version':'c','start-time':'2013-01-01T00:00:00Z','end-time':"
                  "'2013-01-01T00:00:00Z','resource-events':[],'transaction-uuid':null,"
                  "'environment':'e'}"),
              "stored");
    EXPECT_EQ(report(8, 6, ",'producer':null"),
              "Invalid store report command: missing required key 'resources'");
    // All keys are required, and unknown keys are refused. Each case replaces a text in the
    // document and expects an error.
    struct {
        std::string_view from, to, why;
    } wrong[] = {
        {"'file':null,'line':4,", "'line':4,", "a resource is missing the key 'file'"},
        {"'containment_path':[],", "", "a resource is missing the key 'containment_path'"},
        {"'skipped':true", "'skipped':true,'provider':'x'",
         "a resource has an unknown key 'provider'"},
        {"'message':'m'", "'x':1", "an event has an unknown key 'x'"},
        {",'message':'m'", "", "an event is missing the key 'message'"},
        {"'corrective_change':true,'message'", "'message'",
         "an event is missing the key 'corrective_change'"},
        {"'code_id':null", "'code_id':null,'transfer':1",
         "the report has an unknown key 'transfer'"},
        {"'code_id':null",
         "'code_id':null,'logs':[{'level':'a','message':'','source':'','tags':[]}]",
         "a log is missing the key 'file'"},
        {"'code_id':null", "'code_id':null,'metrics':[{'category':'a','name':'b'}]",
         "a metric is missing the key 'value'"},
    };
    for (const auto& w : wrong) {
        std::string text = v8;
        text.replace(text.find(w.from), w.from.size(), w.to);
        EXPECT_EQ(report(8, 6, text), fmt::format("Invalid store report command: {}", w.why));
    }
    std::string text = v8;
    text.replace(text.find("'code_id'"), 0, "'logs':null,'metrics':null,");
    EXPECT_EQ(report(8, 6, text), "stored");
    using query::ReportText;
    auto part = [&](ReportText text_of) {
        return writer_->dialect().json_text(
            query::report_text_sql(writer_->dialect(), text_of, "r"));
    };
    EXPECT_EQ(rows("SELECT " + part(ReportText::Metrics) + ", " + part(ReportText::Logs) +
                   " FROM reports r ORDER BY r.id DESC LIMIT 1"),
              "null|null");
    // Removes them in steps.
    Lifetimes lifetimes;
    EXPECT_EQ(purge_reports(*writer_, lifetimes, kReceived + 30LL * 86400 * 1000, 100)->done, 7U);
    EXPECT_EQ(rows("SELECT (SELECT count(*) FROM reports), (SELECT count(*) FROM report_data),"
                   " (SELECT count(*) FROM resource_events), (SELECT count(*) FROM certnames"
                   " WHERE latest_report_id IS NULL)"),
              "0|0|0|1");
}

TEST_P(Command, RefusesMissingAndUnknownKeys) {
    using K = CommandKind;
    struct {
        K kind;
        int version;
        std::string_view body, why;
    } cases[] = {
        {K::ReplaceFacts, 5,
         "{'certname':'n','environment':'e','values':{},'producer_timestamp':'2023-11-14'}",
         "replace facts command: missing required key 'producer'"},
        {K::ReplaceFacts, 4,
         "{'certname':'n','environment':'e','values':{},'producer_timestamp':'2023-11-14','x':1}",
         "replace facts command: unknown key 'x'"},
        {K::DeactivateNode, 3, "{'certname':'n','x':1}",
         "deactivate node command: unknown key 'x'"},
        {K::ConfigureExpiration, 1, "{'certname':'n','expire':{'facts':true},'x':1}",
         "configure expiration command: unknown key 'x'"},
        {K::ConfigureExpiration, 1, "{'certname':'n','expire':{'facts':null}}",
         "configure expiration command: missing required key 'facts'"},
        {K::ReplaceCatalogInputs, 1, "{'certname':'n','inputs':[['a','b']]}",
         "replace catalog inputs command: missing required key 'catalog_uuid'"},
    };
    for (const auto& c : cases) {
        EXPECT_EQ(put(c.kind, c.version, std::string(c.body)), fmt::format("Invalid {}", c.why));
    }
    EXPECT_EQ(rows("SELECT count(*) FROM certnames"), "0");
}

TEST_P(Command, ReportsUpToVersion7MayOmitLists) {
    auto report = [&](int version, std::string_view more) {
        return put(
            CommandKind::StoreReport, version,
            fmt::format("{{'certname':'n','puppet_version':'8.1','report_format':12,"
                        "'configuration_version':'{0}{2}','start_time':'2023-11-14T22:13:20Z',"
                        "'end_time':'2023-11-14T22:13:20Z','environment':'e','metrics':null,"
                        "'transaction_uuid':null,'producer_timestamp':'2023-11-14T22:13:20Z',"
                        "'status':'changed','noop':false,'logs':null{1}}}",
                        version, more, more.size()));
    };
    const std::string v7 = ",'catalog_uuid':null,'code_id':null,'cached_catalog_status':null";
    const std::string resource =
        ",'resources':[{'timestamp':'2023-11-14T22:13:20Z','resource_type':'A',"
        "'resource_title':'1','skipped':false,'file':null,'line':4,'containment_path':null}]";
    EXPECT_EQ(report(5, ""), "stored");
    EXPECT_EQ(report(5, ",'resource_events':null"), "stored");
    EXPECT_EQ(report(6, ""), "stored");
    EXPECT_EQ(report(6, ",'resources':null"), "stored");
    EXPECT_EQ(report(6, resource), "stored");
    EXPECT_EQ(report(7, v7), "stored");
    EXPECT_EQ(report(7, v7 + resource), "stored");
    EXPECT_EQ(report(8, v7), "Invalid store report command: missing required key 'resources'");
}

TEST_P(Command, ValidatesUuidsTimesAndTexts) {
    using K = CommandKind;
    auto inputs = [&](std::string_view uuid) {
        return put(
            K::ReplaceCatalogInputs, 1,
            fmt::format("{{'certname':'n','catalog_uuid':'{}','inputs':[['a','b']]}}", uuid));
    };
    // All formats that PostgreSQL reads are stored in one format.
    for (const char* uuid :
         {"123E4567-E89B-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000",
          "{123e4567-e89b-12d3-a456-426614174000}", "123e-4567-e89b-12d3-a456-4266-1417-4000"}) {
        EXPECT_EQ(inputs(uuid).find("must be"), std::string::npos) << uuid;
        EXPECT_EQ(rows("SELECT catalog_uuid FROM catalog_inputs"),
                  "123e4567-e89b-12d3-a456-426614174000");
    }
    for (const char* uuid : {"", "t", "123e4567-e89b-12d3-a456-42661417400", "1-1-1-1-1",
                             " 123e4567-e89b-12d3-a456-426614174000"}) {
        EXPECT_NE(inputs(uuid).find("'catalog_uuid' must be a UUID"), std::string::npos) << uuid;
    }
    auto facts_at = [&](std::string_view time, std::string_view environment) {
        return put(K::ReplaceFacts, 5,
                   fmt::format("{{'certname':'n','environment':'{}','producer':'p',"
                               "'producer_timestamp':{},'values':{{}}}}",
                               environment, time));
    };
    EXPECT_EQ(facts_at("1700000000001", "e"), "stored");
    EXPECT_NE(facts_at("1700000000002", "a\\u0000b").find("'environment' may not contain U+0000"),
              std::string::npos);
    EXPECT_EQ(facts_at("1700000000003", "a\\\\u0000b"), "unchanged");
    auto report = [&](std::string_view time) {
        return put(K::StoreReport, 5,
                   fmt::format("{{'certname':'n','puppet_version':'8.1','report_format':12,"
                               "'configuration_version':'c','start_time':{},"
                               "'end_time':'2023-11-14T22:13:20Z','environment':'e','metrics':[],"
                               "'transaction_uuid':null,'producer_timestamp':"
                               "'2023-11-14T22:13:20Z','status':'changed','noop':false,"
                               "'logs':[]}}",
                               time));
    };
    EXPECT_EQ(report("'2023-11-14T22:13:20.123456789+01:00'"), "stored");
    for (const char* time : {"1700000000000", "'2023-11-14'", "'2023-11-14T22:13:20'", "null"}) {
        EXPECT_NE(report(time).find("'start_time' must be"), std::string::npos) << time;
    }
}

TEST_P(Command, DeactivationsOutOfOrder) {
    using K = CommandKind;
    // The newest time is stored.
    for (const char* time : {"2023-11-14T22:13:30Z", "2023-11-14T22:13:25Z"}) {
        put(K::DeactivateNode, 3,
            fmt::format("{{'certname':'z','producer_timestamp':'{}'}}", time));
    }
    EXPECT_EQ(rows("SELECT deactivated FROM certnames WHERE certname = 'z'"), "1700000010000");
    put(K::DeactivateNode, 3, "{'certname':'z','producer_timestamp':'2023-11-14T22:13:35Z'}");
    EXPECT_EQ(rows("SELECT deactivated FROM certnames WHERE certname = 'z'"), "1700000015000");
    EXPECT_EQ(put(K::ReplaceCatalogInputs, 1,
                  "{'certname':'z','catalog_uuid':'11111111-2222-3333-4444-555555555550','inputs':["
                  "['hiera','a']],"
                  "'producer_timestamp':'2023-11-14T22:13:50Z'}"),
              "stored");
    put(K::DeactivateNode, 3, "{'certname':'z','producer_timestamp':'2023-11-14T22:13:36Z'}");
    // Inputs that are not newer are ignored, but they show that the node is active.
    for (const char* time : {"2023-11-14T22:13:50Z", "2023-11-14T22:13:40Z"}) {
        EXPECT_EQ(put(K::ReplaceCatalogInputs, 1,
                      fmt::format("{{'certname':'z','catalog_uuid':'11111111-2222-3333-4444-"
                                  "555555555550','inputs':[['x','y']],"
                                  "'producer_timestamp':'{}'}}",
                                  time)),
                  "obsolete");
    }
    EXPECT_EQ(rows("SELECT deactivated FROM certnames WHERE certname = 'z'"), "null");
}

TEST_P(Command, DeactivatesAndReactivatesNodes) {
    using K = CommandKind;
    EXPECT_EQ(facts(5, "'a':1"), "stored");
    EXPECT_EQ(
        put(K::DeactivateNode, 3, "{'certname':'n','producer_timestamp':'2023-11-14T22:13:21Z'}"),
        "obsolete");
    EXPECT_EQ(
        put(K::DeactivateNode, 3, "{'certname':'n','producer_timestamp':'2023-11-14T22:13:26Z'}"),
        "stored");
    EXPECT_EQ(rows("SELECT deactivated FROM certnames"), "1700000006000");
    EXPECT_EQ(facts(6, "'a':1"), "unchanged");
    EXPECT_EQ(rows("SELECT deactivated FROM certnames"), "1700000006000");
    EXPECT_EQ(facts(7, "'a':1"), "unchanged");
    EXPECT_EQ(rows("SELECT deactivated FROM certnames"), "null");
    EXPECT_EQ(put(K::DeactivateNode, 2, "{'certname':'x'}"), "stored");
    EXPECT_EQ(put(K::DeactivateNode, 1, "'y'"), "stored");
    EXPECT_EQ(rows("SELECT certname, deactivated FROM certnames ORDER BY 1"),
              "n|null, x|1700000000000, y|1700000000000");
    EXPECT_EQ(put(K::ConfigureExpiration, 1, "{'certname':'n','expire':{'facts':false}}"),
              "stored");
    EXPECT_EQ(put(K::ConfigureExpiration, 1, "{'certname':'n','expire':{'facts':true}}"),
              "obsolete");
    EXPECT_EQ(put(K::ReplaceCatalogInputs, 1,
                  "{'certname':'n','catalog_uuid':'11111111-2222-3333-4444-555555555550','inputs':["
                  "['hiera','b'],['hiera','a']]}"),
              "stored");
    EXPECT_EQ(rows("SELECT type, name FROM catalog_input_contents ORDER BY 2"), "hiera|a, hiera|b");
    Lifetimes lifetimes;
    std::int64_t later = kReceived + 10LL * 86400 * 1000;
    EXPECT_EQ(expire_nodes(*writer_, lifetimes, later, 100)->done, 0U);
    EXPECT_EQ(put(K::ConfigureExpiration, 1,
                  "{'certname':'n','expire':{'facts':true},'producer_timestamp':"
                  "'2023-11-16T00:00:00Z'}"),
              "stored");
    EXPECT_EQ(expire_nodes(*writer_, lifetimes, later, 100)->done, 1U);
    EXPECT_EQ(purge_nodes(*writer_, lifetimes, later, 100)->done, 0U);
    EXPECT_EQ(purge_nodes(*writer_, lifetimes, later + 15LL * 86400 * 1000, 100)->done, 3U);
    EXPECT_EQ(rows("SELECT (SELECT count(*) FROM certnames), (SELECT count(*) FROM factsets),"
                   " (SELECT count(*) FROM factset_facts)"),
              "0|0|0");
    ASSERT_TRUE(remove_content(*writer_, 100, INT64_MAX));
    EXPECT_EQ(rows("SELECT (SELECT count(*) FROM facts), (SELECT count(*) FROM fact_leaves)"),
              "0|0");
    auto unused = unused_names(writer_->db(), 100);
    ASSERT_TRUE(unused) << unused.error().message;
    ASSERT_TRUE(purge_names(*writer_, *unused));
    EXPECT_EQ(rows("SELECT (SELECT count(*) FROM fact_paths), (SELECT count(*) FROM producers)"),
              "0|0");
}

}  // namespace
}  // namespace bunraku::store
