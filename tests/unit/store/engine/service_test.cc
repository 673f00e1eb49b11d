// SPDX-License-Identifier: Apache-2.0
// Tests commands through queue and workers, and archives, on both backends.
#include "store/engine/service.h"

#include <atomic>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>
#include <thread>

#include "backends.h"
#include "store/engine/anonymize.h"
#include "store/engine/archive.h"
#include "store/engine/exports.h"
#include "store/engine/store.h"

namespace bunraku::store {
namespace {

using std::chrono::milliseconds;

class ServiceOn : public OnBackend {
protected:
    std::unique_ptr<Service> start(const std::string& where, const std::string& queue) {
        ServiceOptions options;
        options.database = where;
        options.queue_folder = folder_ / queue;
        options.durable = false;
        options.workers = 3;
        options.lifetimes.report_ttl_ms = 0;  // the reports of this test are old
        options.lifetimes.catalog_history_ttl_ms = 0;
        auto service = Service::start(std::move(options));
        EXPECT_TRUE(service) << service.error().message;
        return service ? std::move(*service) : nullptr;
    }
    static std::string facts(std::string_view certname, int value) {
        return fmt::format(
            R"({{"certname":"{}","environment":"e","producer":"p","producer_timestamp":)"
            R"("2023-11-14T22:{:02}:{:02}Z","values":{{"common":"x","n":{},"a":{{"b":[{}]}}}},)"
            R"("package_inventory":[["bash","5","apt"]]}})",
            certname, value / 60, value % 60, value, value);
    }
    static std::string catalog(std::string_view certname, int value) {
        return fmt::format(
            R"({{"certname":"{}","version":"1","environment":"e","transaction_uuid":null,)"
            R"("catalog_uuid":null,"code_id":null,"producer":"p","producer_timestamp":)"
            R"("2023-11-14T22:{:02}:{:02}Z","resources":[{{"type":"Class","title":"main",)"
            R"("exported":false,"tags":["class"],"parameters":{{}}}},{{"type":"File","title":)"
            R"("/{}","exported":true,"tags":["x"],"parameters":{{"mode":"0644"}}}}],"edges":)"
            R"([{{"source":{{"type":"Class","title":"main"}},"target":{{"type":"File","title":)"
            R"("/{}"}},"relationship":"contains"}}]}})",
            certname, value / 60, value % 60, value, value);
    }
    static std::string report(std::string_view certname) {
        return fmt::format(
            R"({{"certname":"{}","puppet_version":"8","report_format":12,)"
            R"("configuration_version":"c","start_time":"2023-11-14T22:00:00Z","end_time":)"
            R"("2023-11-14T22:00:00Z","producer_timestamp":"2023-11-14T22:00:00Z","producer":)"
            R"(null,"environment":"e","transaction_uuid":null,"catalog_uuid":null,"code_id":null,)"
            R"("cached_catalog_status":null,"status":"changed","noop":false,"noop_pending":false,)"
            R"("corrective_change":false,"metrics":[],"logs":[],"resources":[{{"timestamp":)"
            R"("2023-11-14T22:00:00Z","resource_type":"File","resource_title":"/1","skipped":)"
            R"(false,"file":null,"line":null,"containment_path":["C"],"corrective_change":null,)"
            R"("events":[{{"status":"success","timestamp":"2023-11-14T22:00:00Z","property":)"
            R"("mode","name":null,"new_value":"a","old_value":"b","message":"m",)"
            R"("corrective_change":null}}]}}]}})",
            certname);
    }
    static std::string rows(Service& service, std::string_view sql) {
        auto reader = service.reader();
        if (!reader) return reader.error().message;
        auto s = (*reader)->prepare_once(sql);
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
    static constexpr std::string_view kCounts =
        "SELECT (SELECT count(*) FROM certnames), (SELECT count(*) FROM catalog_resources),"
        " (SELECT count(*) FROM factset_facts), (SELECT count(*) FROM certname_packages),"
        " (SELECT count(*) FROM reports), (SELECT count(*) FROM resource_events),"
        " (SELECT count(*) FROM resources), (SELECT count(*) FROM facts)";
};
BUNRAKU_ON_BACKENDS(ServiceOn);

TEST_P(ServiceOn, ReportsConcurrentDuplicateExports) {
    base::Counters counters;
    std::mutex mutex;
    std::vector<std::string> said;
    ServiceOptions options;
    options.database = where_;
    options.queue_folder = folder_ / "q";
    options.durable = false;
    options.workers = 3;
    options.counters = &counters;
    options.log = [&](std::string_view, const std::string& text) {
        std::lock_guard lock(mutex);
        said.push_back(text);
    };
    auto started = Service::start(std::move(options));
    ASSERT_TRUE(started) << started.error().message;
    Service& service = **started;
    ASSERT_TRUE(service.with_writer(
        [](Writer& writer) { return remember_collections(writer, "m", {"File"}); }));
    constexpr int kRounds = 20;
    std::vector<std::thread> threads;
    for (const char* node : {"a", "b"}) {
        threads.emplace_back([&, node] {
            for (int i = 0; i < kRounds; ++i) {
                ASSERT_TRUE(service.submit({CommandKind::ReplaceCatalog, 9, node, now_ms(), 0},
                                           catalog(node, i)));
            }
        });
    }
    for (auto& t : threads) t.join();
    ASSERT_TRUE(service.drain(milliseconds(60000)));
    service.stop();
    // Both catalogs are stored, and the log names both sides of the clash.
    auto count_messages = [&](std::string_view first, std::string_view second) {
        const std::string text = fmt::format(
            "A duplicate resource was found while collecting exported resources, with the type and"
            " title File[/{}]: exported by {} and exported by {}, collected by m",
            kRounds - 1, first, second);
        return std::count(said.begin(), said.end(), text);
    };
    EXPECT_GE(count_messages("a", "b") + count_messages("b", "a"), 1)
        << fmt::format("{}", fmt::join(said, "\n"));
    EXPECT_GE(counters.total("bunraku_export_clashes_total"), 1);
}

TEST_P(ServiceOn, ParallelWorkersPreserveOrderPerNode) {
    auto service = start(where_, "q");
    ASSERT_TRUE(service);
    std::vector<std::thread> threads;
    constexpr int kNodes = 4, kRounds = 40;
    for (int n = 0; n < kNodes; ++n) {
        threads.emplace_back([&, n] {
            std::string name = fmt::format("n{}", n);
            for (int i = 0; i < kRounds; ++i) {
                ASSERT_TRUE(service->submit({CommandKind::ReplaceFacts, 5, name, now_ms(), 0},
                                            facts(name, i)));
                ASSERT_TRUE(service->submit({CommandKind::ReplaceCatalog, 9, name, now_ms(), 0},
                                            catalog(name, i)));
            }
            ASSERT_TRUE(
                service->submit({CommandKind::StoreReport, 8, name, now_ms(), 0}, report(name)));
        });
    }
    // The garbage collector runs while they write.
    threads.emplace_back([&] {
        for (int i = 0; i < 10; ++i) {
            auto done = service->clean(CleanWhat{.packages = true});
            EXPECT_TRUE(done) << done.error().message;
            std::this_thread::sleep_for(milliseconds(10));
        }
    });
    for (auto& t : threads) t.join();
    ASSERT_TRUE(service->drain(milliseconds(60000)));
    EXPECT_EQ(rows(*service,
                   "SELECT c.certname, f.match FROM certnames c JOIN factset_facts l"
                   " ON l.certname_id = c.id JOIN facts f ON f.id = l.fact_id"
                   " WHERE f.name = 'n' ORDER BY 1"),
              "n0|39, n1|39, n2|39, n3|39");
    EXPECT_EQ(rows(*service,
                   "SELECT c.certname, r.title FROM certnames c JOIN catalog_resources l"
                   " ON l.certname_id = c.id JOIN resources r ON r.id = l.resource_id"
                   " WHERE r.type = 'File' ORDER BY 1"),
              "n0|/39, n1|/39, n2|/39, n3|/39");
    ASSERT_TRUE(service->clean(CleanWhat{.other = true}));
    EXPECT_EQ(rows(*service, kCounts), "4|8|12|4|4|4|2|3");
    EXPECT_TRUE(Queue::dead_letters(folder_ / "q")->empty());
    EXPECT_TRUE(*service->delete_node("n0"));
    EXPECT_FALSE(*service->delete_node("n0"));
}

TEST_P(ServiceOn, WaitsForCompletionAndStoresDeadLetters) {
    auto service = start(where_, "q");
    ASSERT_TRUE(service);
    auto good = service->submit({CommandKind::ReplaceFacts, 5, "a", now_ms(), 0}, facts("a", 1));
    ASSERT_TRUE(good);
    EXPECT_TRUE(service->wait(*good, milliseconds(20000)));
    EXPECT_EQ(good->completion->state, Completion::State::Done);
    auto bad = service->submit({CommandKind::ReplaceFacts, 5, "a", now_ms(), 0}, "{not json");
    ASSERT_TRUE(bad);
    EXPECT_TRUE(service->wait(*bad, milliseconds(20000)));
    EXPECT_EQ(bad->completion->state, Completion::State::Failed);
    auto letters = Queue::dead_letters(folder_ / "q");
    ASSERT_EQ(letters->size(), 1U);
    EXPECT_EQ(letters->front().reason,
              "Json parse error at line 1, column 2: expected a field name");
    auto next = service->submit({CommandKind::ReplaceFacts, 5, "a", now_ms(), 0}, facts("a", 2));
    EXPECT_TRUE(service->wait(*next, milliseconds(20000)));
    EXPECT_EQ(next->completion->state, Completion::State::Done);
    // The service detects commands that another process resubmits; this one fails again.
    ASSERT_TRUE(Queue::resubmit(folder_ / "q", letters->front().name));
    for (int i = 0; i < 1000 && service->health().queue.discarded < 2; ++i)
        std::this_thread::sleep_for(milliseconds(10));
    EXPECT_EQ(service->health().queue.discarded, 2U);
}

TEST_P(ServiceOn, RollsBackOnlyFailedCommandOfBatch) {
    auto service = start(where_, "q");
    ASSERT_TRUE(service);
    auto other = Database::open(where_, Database::Access::ReadWrite, 10000);
    ASSERT_TRUE(other) << other.error().message;
    Database& db = **other;
    // Events are written last, after the report and its node.
    auto ruled = db.execute(
        db.postgresql() ? "ALTER TABLE resource_events ADD CHECK (message <> 'refused')"
                        : "CREATE TRIGGER refuses BEFORE INSERT ON resource_events"
                          " WHEN new.message = 'refused' BEGIN SELECT raise(ABORT, 'no'); END");
    ASSERT_TRUE(ruled) << ruled.error().message;
    std::string refused = report("bad");
    refused.replace(refused.find(R"("message":"m")"), 13, R"("message":"refused")");
    std::vector<Service::Ticket> good;
    auto submit = [&](CommandKind kind, int version, std::string_view name, std::string body) {
        auto ticket =
            service->submit({kind, version, std::string(name), now_ms(), 0}, std::move(body));
        EXPECT_TRUE(ticket);
        return *ticket;
    };
    {
        // Blocks writes for a while, so that the waiting commands form one batch.
        auto lock = Transaction::begin(db);
        ASSERT_TRUE(lock);
        if (db.postgresql()) {
            ASSERT_TRUE(db.execute("LOCK TABLE certnames IN EXCLUSIVE MODE"));
        }
        good.push_back(submit(CommandKind::ReplaceFacts, 5, "first", facts("first", 1)));
        std::this_thread::sleep_for(milliseconds(100));
        good.push_back(submit(CommandKind::ReplaceFacts, 5, "a", facts("a", 2)));
        submit(CommandKind::StoreReport, 8, "bad", refused);
        good.push_back(submit(CommandKind::ReplaceCatalog, 9, "b", catalog("b", 3)));
        good.push_back(submit(CommandKind::StoreReport, 8, "a", report("a")));
    }
    for (const auto& ticket : good) {
        EXPECT_TRUE(service->wait(ticket, milliseconds(20000)));
        EXPECT_EQ(ticket.completion->state, Completion::State::Done);
    }
    EXPECT_EQ(rows(*service, "SELECT certname FROM certnames ORDER BY 1"), "a, b, first");
    EXPECT_EQ(rows(*service, kCounts), "3|2|6|2|1|1|2|5");
    EXPECT_EQ(service->health().queue.depth, 1U);
}

TEST_P(ServiceOn, ArchivesContainEverything) {
    auto service = start(where_, "q");
    ASSERT_TRUE(service);
    // The second name is not a valid file name.
    for (const char* name : {"a", "../\xc3\xa9"}) {
        ASSERT_TRUE(
            service->submit({CommandKind::ReplaceFacts, 5, name, now_ms(), 0}, facts(name, 1)));
        ASSERT_TRUE(
            service->submit({CommandKind::ReplaceCatalog, 9, name, now_ms(), 0}, catalog(name, 1)));
        // One report has no environment.
        std::string sent = report(name), environment = R"("environment":"e")";
        if (*name != 'a')
            sent.replace(sent.find(environment), environment.size(), R"("environment":"")");
        ASSERT_TRUE(
            service->submit({CommandKind::StoreReport, 8, name, now_ms(), 0}, std::move(sent)));
    }
    ASSERT_TRUE(service->submit({CommandKind::ConfigureExpiration, 1, "a", now_ms(), 0},
                                R"({"certname":"a","expire":{"facts":false}})"));
    ASSERT_TRUE(service->submit(
        {CommandKind::ReplaceCatalogInputs, 1, "a", now_ms(), 0},
        R"({"certname":"a","catalog_uuid":"11111111-2222-3333-4444-555555555550","inputs":[["hiera","k"]]})"));
    ASSERT_TRUE(service->submit({CommandKind::DeactivateNode, 3, "a", now_ms(), 0},
                                R"({"certname":"a","producer_timestamp":4000000000000})"));
    ASSERT_TRUE(service->drain(milliseconds(60000)));
    std::string counts = rows(*service, kCounts);
    EXPECT_EQ(counts, "2|4|6|2|2|2|2|3");
    std::string hashes = rows(*service, "SELECT hash FROM catalogs ORDER BY certname_id");
    std::string bytes;
    {
        auto archive = ArchiveExport::start(where_, "");
        ASSERT_TRUE(archive) << archive.error().message;
        for (;;) {
            auto more = (*archive)->next(bytes);
            ASSERT_TRUE(more) << more.error().message;
            if (!*more) break;
        }
    }
    auto other = start(folder_ / "other.sqlite3", "q2");
    auto figures =
        import_archive(bytes, [&](const CommandHeader& h, std::string body) -> Result<void> {
            auto ticket = other->submit(h, std::move(body));
            if (!ticket) return std::unexpected(ticket.error());
            return {};
        });
    ASSERT_TRUE(figures) << figures.error().message;
    EXPECT_EQ(figures->catalogs, 2U);
    EXPECT_EQ(figures->facts, 2U);
    EXPECT_EQ(figures->reports, 2U);
    EXPECT_EQ(figures->others, 3U);
    ASSERT_TRUE(other->drain(milliseconds(60000)));
    EXPECT_EQ(rows(*other, kCounts), counts);
    EXPECT_EQ(rows(*other, "SELECT type, name FROM catalog_input_contents"), "hiera|k");
    EXPECT_EQ(rows(*other, "SELECT certname, deactivated FROM certnames ORDER BY 1"),
              "../\xc3\xa9|null, a|4000000000000");
    EXPECT_TRUE(Queue::dead_letters(folder_ / "q2")->empty());
    EXPECT_FALSE(import_archive(
        "not an archive", [](const CommandHeader&, std::string) -> Result<void> { return {}; }));
}

TEST(Anonymizer, HidesDataAccordingToProfile) {
    // Returns the value if it is unchanged, and "-" if it is hidden.
    auto text = [](std::string_view before, std::string_view after) {
        return before == after ? std::string(after) : "-";
    };
    struct {
        std::string_view profile, kept;
    } cases[] = {
        {"none", "n e Foo::Bar File t t mode Kernel kernel role /f 7 m m Foo File[t] src file foo"},
        {"low", "- e Foo::Bar File t t mode Kernel kernel role /f 7 m - Foo File[t] src file foo"},
        {"moderate", "- - - File - t mode - kernel - - 7 - - - - - file -"},
        {"full", "- - - - - - - - - - - - - - - - - - -"},
    };
    for (const auto& c : cases) {
        auto a = *Anonymizer::of_profile(c.profile, "salt");
        std::vector<std::string> kept = {
            text("n", a.node("n")),
            text("e", a.environment("e")),
            text("Foo::Bar", a.type("Foo::Bar")),
            text("File", a.type("File")),
            text("t", a.title("File", "t")),
            text("t", a.title("Package", "t")),
            text("mode", a.parameter_name("mode")),
            text("Kernel", a.fact_name("Kernel")),
            text("kernel", a.fact_name("kernel")),
            text("role", a.fact_name("role")),
            text("/f", a.file("/f")),
            text("7", a.line("7")),
            text("m", a.message("ensure", "m")),
            text("m", a.log_message("m")),
            text("Foo", a.reference("Foo")),
            text("File[t]", a.reference("File[t]")),
            text("src", a.source("src")),
            text("file", a.tag("file")),
            text("foo", a.tag("foo")),
        };
        EXPECT_EQ(fmt::format("{}", fmt::join(kept, " ")), c.kept) << c.profile;
    }
    auto low = *Anonymizer::of_profile("low", "salt"),
         moderate = *Anonymizer::of_profile("moderate", "salt"),
         full = *Anonymizer::of_profile("full", "salt");
    EXPECT_EQ(low.parameters(R"({"ensure":"x","mode":"1"})"), R"({"ensure":"x","mode":"1"})");
    EXPECT_EQ(moderate.parameter_value("ensure", "\"x\""), "\"x\"");
    for (const auto* a : {&low, &moderate, &full}) {
        EXPECT_EQ(a->parameter_value("db_password", "\"x\"").find('x'), std::string::npos);
        EXPECT_NE(a->parameter_value("api_key", "12345"), "12345");
        EXPECT_EQ(a->fact_value("my_private", R"({"secret":["deep"]})").find("deep"),
                  std::string::npos);
        EXPECT_NE(a->message("password", "m"), "m");
    }
    // Anonymized values have the same shape, equal values stay equal, and types and identifiers
    // stay valid for importers.
    EXPECT_EQ(full.parameter_value("a", R"([true,null,{}])"), "[true,null,{}]");
    EXPECT_EQ(full.title("A", "same"), full.title("B", "same"));
    EXPECT_EQ(full.reference("File[t]"), full.type("File") + "[" + full.title("File", "t") + "]");
    EXPECT_EQ(full.type("Foo::Bar").find("::"), 13U);
    EXPECT_EQ(full.uuid("x").size(), 36U);
    EXPECT_EQ(moderate.metrics(R"([{"category":"time","name":"total","value":1},)"
                               R"({"category":"time","name":"file","value":2}])"),
              R"([{"category":"time","name":"total","value":1},)"
              R"({"category":"time","name":"file","value":2}])");
    EXPECT_EQ(
        moderate.metrics(R"([{"category":"time","name":"my_type","value":1}])").find("my_type"),
        std::string::npos);
    EXPECT_EQ(low.logs(R"([{"file":"/f","level":"err","line":3,"message":"m","source":"s",)"
                       R"("tags":["err"],"time":"t"}])")
                  .find("\"m\""),
              std::string::npos);
    EXPECT_FALSE(Anonymizer::of_profile("some", ""));
}

}  // namespace
}  // namespace bunraku::store
