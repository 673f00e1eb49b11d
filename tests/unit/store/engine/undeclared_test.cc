// SPDX-License-Identifier: Apache-2.0
// Tests the journal of resources that are no longer declared, on both backends.
#include "store/engine/undeclared.h"

#include <fmt/format.h>

#include "backends.h"
#include "store/db/command.h"
#include "store/engine/created_resources.h"
#include "store/engine/garbage.h"
#include "store/engine/impl.h"
#include "store/engine/store.h"
#include "store/engine/undeclared_removal.h"

namespace bunraku::store {
namespace {

/// Returns a resource at /m.pp:3. `parameters` are the members of a JSON object.
std::string resource(std::string_view type, std::string_view title,
                     std::string_view parameters = "",
                     std::string_view more = R"("exported":false,"line":3)") {
    return fmt::format(
        R"({{"type":"{}","title":"{}",{},"tags":[],"file":"/m.pp","parameters":{{{}}}}})", type,
        title, more, parameters);
}

std::string file(std::string_view title, std::string_view parameters = "") {
    return resource("File", title, parameters);
}

class Undeclared : public OnWriter {
protected:
    /// Stores a catalog that was made at this second and is version "v<second>".
    void put(int second, const std::string& resources, const std::string& edges = "",
             const std::string& node = "n") {
        put_catalog(*writer_, node,
                    fmt::format(R"({{"certname":"{2}","version":"v{0}","environment":"prod",)"
                                R"("transaction_uuid":null,"catalog_uuid":null,"code_id":"c{0}",)"
                                R"("producer":"p","producer_timestamp":"1970-01-01T00:00:{0:02}Z",)"
                                R"("resources":[{1}],"edges":[{3}]}})",
                                second, resources, node, edges),
                    second);
    }

    /// Stores a report of node n with one event per element: `"property":..,"new_value":..`.
    void report(int second, std::string_view type, std::string_view title, std::string_view event,
                std::string_view kind = "agent") {
        const std::string time = fmt::format("1970-01-01T00:00:{:02}Z", second);
        const std::string events =
            event.empty()
                ? ""
                : fmt::format(R"({{"timestamp":"{}","name":null,"message":"m",{}}})", time, event);
        const std::string body = fmt::format(
            R"({{"certname":"n","puppet_version":"8","report_format":12,"type":"{4}",)"
            R"("configuration_version":"c","start_time":"{0}","end_time":"{0}",)"
            R"("producer_timestamp":"{0}","producer":null,"environment":"e",)"
            R"("transaction_uuid":null,"catalog_uuid":null,"code_id":null,)"
            R"("cached_catalog_status":null,"status":"changed","noop":false,)"
            R"("noop_pending":false,"corrective_change":false,"metrics":[],"logs":[],)"
            R"("resources":[{{"timestamp":"{0}","resource_type":"{1}","resource_title":"{2}",)"
            R"("skipped":false,"file":null,"line":null,"containment_path":["C"],)"
            R"("corrective_change":false,"events":[{3}]}}]}})",
            time, type, title, events, kind);
        auto prepared = prepare_command({CommandKind::StoreReport, 8, "n", 1, 0}, body, {});
        ASSERT_TRUE(prepared) << prepared.error().message;
        auto transaction = writer_->begin();
        ASSERT_TRUE(transaction && (*prepared)->apply(*writer_) && transaction->commit());
    }

    /// Returns "Type[title](name) since/v9/c9 [created] [again TIME], ..".
    std::string list(UndeclaredState state, const std::string& node = "n") {
        auto rows = undeclared_resources(writer_->db(), {.certname = node, .state = state});
        if (!rows) return rows.error().message;
        std::string out;
        for (const UndeclaredResource& r : *rows) {
            out += fmt::format("{}{}[{}]", out.empty() ? "" : ", ", r.type, r.title);
            if (r.name != r.title) out += fmt::format("({})", r.name);
            out += fmt::format(" {}{}", r.since / 1000, r.created ? " created" : "");
            if (r.removed) out += fmt::format(" removed {}", *r.removed / 1000);
            if (r.declared_again) out += fmt::format(" again {}", *r.declared_again / 1000);
        }
        return out;
    }
    std::string recent() { return list(UndeclaredState::Recent); }
    std::string settled() { return list(UndeclaredState::Settled); }

    std::int64_t rows() {
        auto s = writer_->db().prepare_once("SELECT count(*) FROM undeclared");
        return s && *s->step() ? s->integer(0) : -1;
    }
};
BUNRAKU_ON_BACKENDS(Undeclared);

constexpr std::string_view kCreated =
    R"("status":"success","property":"ensure","old_value":"absent","new_value":"file",)"
    R"("corrective_change":false)";

TEST_P(Undeclared, RecordsWhatACatalogLost) {
    put(10, file("/a") + "," + file("/b"));
    EXPECT_EQ(rows(), 0);
    put(20, file("/b"));
    EXPECT_EQ(recent(), "File[/a] 20");
    EXPECT_EQ(settled(), "");
    put(30, file("/b"));
    EXPECT_EQ(recent(), "");
    EXPECT_EQ(settled(), "File[/a] 20");
    const auto found = undeclared_resources(writer_->db(), {});
    ASSERT_EQ(found->size(), 1U);
    const UndeclaredResource& r = found->front();
    EXPECT_EQ(r.certname, "n");
    EXPECT_EQ(r.environment, "prod");
    EXPECT_EQ(r.version, "v20");
    EXPECT_EQ(r.code_id, "c20");
    EXPECT_EQ(r.file, "/m.pp");
    EXPECT_EQ(r.line, 3);
    EXPECT_EQ(
        undeclared_json(*found),
        R"([{"certname":"n","type":"File","title":"/a","name":"/a",)"
        R"("since":"1970-01-01T00:00:20.000Z","declared_again":null,"removed":null,"environment":"prod",)"
        R"("version":"v20","code_id":"c20","file":"/m.pp","line":3,"created_by_us":false,)"
        R"("removal":null}])");
}

TEST_P(Undeclared, ClosesWhatIsDeclaredAgain) {
    put(10, file("/a") + "," + file("/b"));
    put(20, file("/b"));
    put(30, file("/a") + "," + file("/b"));
    EXPECT_EQ(settled(), "");
    EXPECT_EQ(recent(), "File[/a] 20 again 30");
    put(40, file("/b"));
    EXPECT_EQ(recent(), "File[/a] 40");
    // Another title with the same path is the same file.
    put(50, file("again", R"("path":"/a/")") + "," + file("/b"));
    EXPECT_EQ(recent(), "File[/a] 40 again 50");
    EXPECT_EQ(rows(), 1);
}

TEST_P(Undeclared, ComparesNamesAndNotTitles) {
    put(10, file("one", R"("path":"/a")") + "," + file("two", R"("path":"/b")"));
    put(20, file("one", R"("path":"/c")") + "," + file("three", R"("path":"/b")"));
    EXPECT_EQ(recent(), "File[one](/a) 20");
    put(30, file("one", R"("path":"/c","mode":"0600")") + "," + file("three", R"("path":"/b")"));
    EXPECT_EQ(settled(), "File[one](/a) 20");
}

TEST_P(Undeclared, IgnoresWhatLeavesNothing) {
    const std::string rest = file("/b");
    const std::string edges =
        R"({"source":{"type":"Site","title":"s"},"target":{"type":"File","title":"/b"},)"
        R"("relationship":"contains"})";
    put(10,
        rest + "," + resource("Exec", "e") + "," + resource("Notify", "n") + "," +
            resource("Class", "C") + "," + resource("A::Define", "d") + "," +
            resource("Site", "s") + "," + file("/gone", R"("ensure":"absent")") + "," +
            resource("File", "/exported", "", R"("exported":true,"line":4)") + "," +
            resource("Rubytype", "r", R"("name":"x")"),
        edges);
    put(20, rest);
    EXPECT_EQ(recent(), "Rubytype[r](x) 20");
}

TEST_P(Undeclared, ReportsShowThatTheAgentCreatedIt) {
    put(10, file("/a") + "," + file("/b") + "," + resource("Service", "s") + "," + file("/z"));
    report(11, "File", "/a", kCreated);
    report(12, "File", "/b",
           R"("status":"success","property":"ensure","old_value":"absent","new_value":"file",)"
           R"("corrective_change":true)");
    report(13, "Service", "s",
           R"("status":"success","property":"enable","old_value":"false","new_value":"true",)"
           R"("corrective_change":false)");
    put(20, file("/z"));
    EXPECT_EQ(recent(), "File[/a] 20 created, File[/b] 20, Service[s] 20 created");
    // The mark follows the resource when it is declared again, under another title too.
    put(30, file("other", R"("path":"/a")") + "," + file("/z"));
    put(40, file("another", R"("path":"/a")") + "," + file("/z"));
    put(50, file("/z"));
    EXPECT_EQ(recent(), "File[another](/a) 50 created");
}

TEST_P(Undeclared, MarksOnlyCreationsOfTheAgent) {
    put(10, file("/a") + "," + file("/b") + "," + file("/c") + "," + file("/d") + "," + file("/z"));
    report(11, "File", "/a",
           R"("status":"noop","property":"ensure","old_value":"absent","new_value":"file",)"
           R"("corrective_change":false)");
    report(12, "File", "/b", kCreated, "plan");
    report(14, "File", "/d", kCreated);
    report(15, "File", "/d",
           R"("status":"success","property":"ensure","old_value":"file","new_value":"absent",)"
           R"("corrective_change":true)");
    // Older than the newest report: the file may have been removed meanwhile.
    report(13, "File", "/c", kCreated);
    put(20, file("/z"));
    EXPECT_EQ(recent(), "File[/a] 20, File[/b] 20, File[/c] 20, File[/d] 20");
}

TEST_P(Undeclared, RemovalClosesTheRow) {
    constexpr std::string_view kRemoved =
        R"("status":"success","property":"ensure","old_value":"file","new_value":"absent",)"
        R"("corrective_change":false)";
    put(10, file("one", R"("path":"/a")") + "," + file("/b") + "," + file("/z"));
    report(11, "File", "one", kCreated);
    put(20, file("/z"));
    report(19, "File", "/b", kRemoved);
    EXPECT_EQ(recent(), "File[one](/a) 20 created, File[/b] 20");
    report(21, "File", "/a", kRemoved);
    report(22, "Tidyfile", "/b", kRemoved);
    EXPECT_EQ(recent(), "File[one](/a) 20 created removed 21");
    EXPECT_EQ(settled(), "File[/b] 20");
    put(30, file("/a") + "," + file("/z"));
    put(40, file("/z"));
    EXPECT_EQ(recent(), "File[/a] 40");
}

TEST_P(Undeclared, TwoReportsAreTwoRuns) {
    put(10, file("/a") + "," + file("/b"));
    put(20, file("/b"));
    report(19, "File", "/b", "");
    report(21, "File", "/b", "");
    report(22, "File", "/b", "", "plan");
    EXPECT_EQ(settled(), "");
    report(51, "File", "/b", "");
    EXPECT_EQ(settled(), "File[/a] 20");
    EXPECT_EQ(recent(), "");
}

TEST_P(Undeclared, ListsActiveNodesInPages) {
    for (const char* node : {"b", "a"}) {
        put(10, file("/1") + "," + file("/2") + "," + file("/z"), "", node);
        put(20, file("/z"), "", node);
        put(30, file("/z"), "", node);
    }
    std::string names;
    for (std::size_t offset = 0; offset < 6; offset += 2) {
        const auto rows = undeclared_resources(writer_->db(), {.limit = 2, .offset = offset});
        ASSERT_TRUE(rows) << rows.error().message;
        for (const auto& r : *rows) names += r.certname + r.name + " ";
    }
    EXPECT_EQ(names, "a/1 a/2 b/1 b/2 ");
    EXPECT_EQ(*count_undeclared(writer_->db()), 4);
    ASSERT_TRUE(writer_->db().execute("UPDATE certnames SET expired = 1 WHERE certname = 'a'"));
    EXPECT_EQ(undeclared_resources(writer_->db(), {})->size(), 2U);
    EXPECT_EQ(*count_undeclared(writer_->db()), 2);
    EXPECT_EQ(list(UndeclaredState::Settled, "a"), "File[/1] 20, File[/2] 20");
    EXPECT_EQ(list(UndeclaredState::Settled, "nobody"), "");
}

TEST_P(Undeclared, RemovesOldRowsAndThoseOfPurgedNodes) {
    put(10, file("/a") + "," + file("/b") + "," + file("/z"));
    report(11, "File", "/a", kCreated);
    put(20, file("/z"));
    put(30, file("/a") + "," + file("/z"));
    Lifetimes lifetimes;
    lifetimes.catalog_history_ttl_ms = 1000;
    EXPECT_EQ(rows(), 2);
    ASSERT_TRUE(purge_versions(*writer_, lifetimes, 31'000, 100));
    EXPECT_EQ(rows(), 2);
    ASSERT_TRUE(purge_versions(*writer_, lifetimes, 31'001, 100));
    EXPECT_EQ(recent(), "");
    EXPECT_EQ(settled(), "File[/b] 20");
    auto transaction = writer_->begin();
    ASSERT_TRUE(transaction);
    ASSERT_TRUE(*purge_node(*writer_, "n"));
    ASSERT_TRUE(transaction->commit());
    EXPECT_EQ(rows(), 0);
}

TEST_P(Undeclared, LimitsTheRowsOfANode) {
    const auto many = [](int first, int count) {
        std::string out = file("/z");
        for (int i = first; i < first + count; ++i) out += "," + file(fmt::format("/{:05}", i));
        return out;
    };
    put(10, many(0, 3));
    put(20, file("/z"));
    put(30, many(2, 4999));
    put(40, file("/z"));
    // Of 5,001 rows, the one with the oldest time is removed.
    EXPECT_EQ(rows(), 5000);
    const auto found = undeclared_resources(
        writer_->db(), {.certname = "n", .state = UndeclaredState::Settled, .limit = 1});
    ASSERT_EQ(found->size(), 1U);
}

TEST(RemovalJson, DescribesSafeRemovals) {
    constexpr std::string_view kSha =
        "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    EXPECT_EQ(removal_json("File", "t", R"({"path":"/a/","content":"hello"})"),
              fmt::format(R"({{"path":"/a","sha256":"{}"}})", kSha));
    EXPECT_EQ(removal_json("File", "/a", R"({"ensure":"file","content":"hello"})"),
              fmt::format(R"({{"path":"/a","sha256":"{}"}})", kSha));
    EXPECT_EQ(removal_json("File", "/a", R"({"ensure":"directory"})"), "");
    EXPECT_EQ(removal_json("File", "/a", R"({"ensure":"link","target":"/b","content":"x"})"), "");
    EXPECT_EQ(removal_json("File", "/a", R"({"source":"puppet:///modules/m/f"})"), "");
    EXPECT_EQ(removal_json("File", "/a", R"({"content":"{md5}00000000000000000000000000000000"})"),
              "");
    EXPECT_EQ(removal_json("File", "c:/a", R"({"content":"hello"})"), "");
    EXPECT_EQ(removal_json("Package", "p", R"({"ensure":"latest"})"), R"({"name":"p"})");
    EXPECT_EQ(removal_json("Package", "p", R"({"name":"n","provider":"pip"})"),
              R"({"name":"n","provider":"pip"})");
    EXPECT_EQ(removal_json("Service", "s", R"({"enable":true})"), R"({"name":"s"})");
    EXPECT_EQ(removal_json("Cron", "c", R"({"user":"bob","command":"x"})"),
              R"({"name":"c","user":"bob"})");
    EXPECT_EQ(removal_json("User", "u", R"({"managehome":false})"), R"({"name":"u"})");
    EXPECT_EQ(removal_json("User", "u", R"({"managehome":true})"), "");
    EXPECT_EQ(removal_json("Mount", "/m", R"({})"), "");
    EXPECT_EQ(removal_json("File", "/a", "[]"), "");
}

TEST(ExistenceChange, ClassifiesEvents) {
    using enum Existence;
    EXPECT_EQ(existence_change("Package", "ensure", R"("purged")", R"("1.0")"), Created);
    EXPECT_EQ(existence_change("Package", "ensure", R"("1.0")", R"("2.0")"), Same);
    EXPECT_EQ(existence_change("Package", "ensure", R"("1.0")", R"("purged")"), Removed);
    EXPECT_EQ(existence_change("Package", "ensure", R"("absent")", R"("purged")"), Same);
    EXPECT_EQ(existence_change("Package", "ensure", "", R"("1.0")"), Same);
    EXPECT_EQ(existence_change("Service", "ensure", R"("stopped")", R"("running")"), Same);
    EXPECT_EQ(existence_change("Service", "enable", "false", "true"), Created);
    EXPECT_EQ(existence_change("Service", "enable", R"("true")", R"("false")"), Removed);
    EXPECT_EQ(existence_change("File", "mode", R"("absent")", R"("0644")"), Same);
}

TEST(CatalogOfThisProcess, RecordsWhatItLost) {
    TempFolder folder;
    auto store = open_store(folder / "store.sqlite3");
    const std::string a = R"({"type":"File","title":"/a","tags":[],"exported":false})";
    const std::string b = R"({"type":"File","title":"/b","tags":[],"exported":false})";
    ASSERT_TRUE(store->replace_catalog("n", 10'000, catalog_of("n", a + "," + b)));
    ASSERT_TRUE(store->replace_catalog("n", 20'000, catalog_of("n", b)));
    auto db = Database::open(folder / "store.sqlite3", Database::Access::Read, 1000);
    ASSERT_TRUE(db);
    const auto rows = undeclared_resources(**db, {.state = UndeclaredState::Recent});
    ASSERT_EQ(rows->size(), 1U);
    EXPECT_EQ(rows->front().title, "/a");
    EXPECT_EQ(rows->front().version, "1");
}

}  // namespace
}  // namespace bunraku::store
