// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fstream>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

namespace bunraku::store {
namespace {

using catalog::to_agent_json;

constexpr std::string_view kWeb =
    R"({"type":"Stage","title":"main","tags":["stage"]},
       {"type":"Sshkey","title":"web","tags":["sshkey","web"],"file":"/m.pp","line":3,
        "exported":true,"virtual":true,"kind":"compilable_type",
        "parameters":{"type":"dsa","key":"k","n":5,"s":"secret","list":["a",1]},
        "sensitive_parameters":["s"]},
       {"type":"Notify","title":"n","parameters":{"require":"Stage[main]"}})";
constexpr std::string_view kEdges =
    R"(,"edges":[{"source":"Stage[main]","target":"Notify[n]"}],"classes":["c"],"tags":["t"])";

/// Sets the history to zero, so that old content is removed immediately.
void disable_history(const std::string& path) {
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &raw), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(raw, "INSERT INTO store_meta VALUES ('history_ttl', 0)", nullptr,
                           nullptr, nullptr),
              SQLITE_OK);
    sqlite3_close(raw);
}

TEST(Store, CreatesFileReadableOnlyByOwner) {
    TempFolder folder;
    std::string path = folder / "deep/er/store.sqlite";
    umask(0);
    auto store = open_store(path);
    ASSERT_TRUE(store->replace_catalog("a", 1, catalog_of("a", kWeb)));
    for (const char* suffix : {"", "-wal", "-shm"}) {
        struct stat st;
        ASSERT_EQ(stat((path + suffix).c_str(), &st), 0) << suffix;
        EXPECT_EQ(st.st_mode & 0777, 0600U) << suffix;
    }
    umask(022);
}

TEST(Store, CatalogSurvivesReopening) {
    TempFolder folder;
    catalog::Catalog given = catalog_of("a", kWeb, kEdges);
    given.code_id = "code";
    given.catalog_uuid = "uuid";
    catalog::WireEnvelope envelope{.transaction_uuid = "t", .job_id = "j", .producer = "p"};
    {
        auto store = open_store(folder / "s", {.key_file = folder / "key"});
        auto report = store->replace_catalog("a", 1700000000125, given, envelope);
        ASSERT_TRUE(report) << report.error().message;
        EXPECT_EQ(report->outcome, Outcome::Stored);
        EXPECT_EQ(report->inserted, 3U);
    }
    auto store = open_store(folder / "s", {.key_file = folder / "key"});
    auto kept = store->newest_catalog("a");
    ASSERT_TRUE(kept) << kept.error().message;
    ASSERT_TRUE(*kept);
    EXPECT_EQ(to_agent_json((*kept)->catalog, {.keep_virtual = true}),
              to_agent_json(given, {.keep_virtual = true}));
    EXPECT_EQ((*kept)->envelope.transaction_uuid, "t");
    EXPECT_EQ((*kept)->envelope.job_id, "j");
    EXPECT_EQ((*kept)->envelope.producer, "p");
    EXPECT_EQ((*kept)->envelope.producer_timestamp, 1700000000125);
    EXPECT_FALSE(*store->newest_catalog("b"));
    auto status = store->node("a");
    ASSERT_TRUE(status && *status);
    EXPECT_EQ((*status)->catalog_timestamp, 1700000000125);
    EXPECT_EQ((*status)->catalog_environment, "production");
    EXPECT_EQ((*status)->resources, 3U);
    EXPECT_EQ((*status)->exported, 1U);
    EXPECT_EQ((*status)->catalog_hash.size(), 40U);
}

TEST(Store, WritesOnlyTheDifference) {
    TempFolder folder;
    auto store = open_store(folder / "s");
    disable_history(folder / "s");
    struct {
        std::string resources;
        std::int64_t at;
        Outcome outcome;
        std::size_t inserted, updated, deleted;
        std::string exported;
    } steps[] = {
        {R"({"type":"A","title":"1","exported":true},{"type":"A","title":"2"})", 100,
         Outcome::Stored, 2, 0, 0, "n:1"},
        {R"({"type":"A","title":"1","exported":true},{"type":"A","title":"2"})", 200,
         Outcome::Unchanged, 0, 0, 0, "n:1"},
        {R"({"type":"A","title":"3"})", 199, Outcome::Obsolete, 0, 0, 0, "n:1"},
        // With a different order, only the order is written.
        {R"({"type":"A","title":"2"},{"type":"A","title":"1","exported":true})", 200,
         Outcome::Stored, 0, 0, 0, "n:1"},
        {R"({"type":"A","title":"2","exported":true},{"type":"A","title":"3","exported":true})",
         300, Outcome::Stored, 0, 2, 0, "n:2 n:3"},
        {R"({"type":"A","title":"2","parameters":{"x":1}},{"type":"A","title":"3"})", 400,
         Outcome::Stored, 0, 2, 0, ""},
        {"", 500, Outcome::Stored, 0, 0, 2, ""},
    };
    for (auto& s : steps) {
        catalog::Catalog given = catalog_of("n", s.resources);
        auto got = store->replace_catalog("n", s.at, given);
        ASSERT_TRUE(got) << got.error().message;
        EXPECT_EQ(got->outcome, s.outcome) << s.at;
        EXPECT_EQ(got->inserted, s.inserted) << s.at;
        EXPECT_EQ(got->updated, s.updated) << s.at;
        EXPECT_EQ(got->deleted, s.deleted) << s.at;
        EXPECT_EQ(found(*store, "A"), s.exported) << s.at;
        if (s.outcome == Outcome::Obsolete) continue;
        EXPECT_EQ(to_agent_json((*store->newest_catalog("n"))->catalog), to_agent_json(given));
    }
    EXPECT_EQ(*store->collect_garbage(), 6U);
}

TEST(Store, UpdatesEdgesWithCatalog) {
    TempFolder folder;
    auto store = open_store(folder / "s");
    auto put = [&](std::int64_t at, std::string_view require) {
        return *store->replace_catalog(
            "n", at,
            catalog_of("n", R"({"type":"A","title":"1"},{"type":"A","title":"2"},
                {"type":"B","title":"b","parameters":{"require":")" +
                                std::string(require) + R"("}})"));
    };
    EXPECT_EQ(put(1, "A[1]").inserted, 3U);
    ReplaceReport second = put(2, "A[2]");
    EXPECT_EQ(second.outcome, Outcome::Stored);
    EXPECT_EQ(second.updated, 1U);
    EXPECT_EQ(put(3, "A[2]").outcome, Outcome::Unchanged);
    auto bad = store->replace_catalog(
        "n", 4, catalog_of("n", R"({"type":"B","title":"b","parameters":{"require":"A[1]"}})"));
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().message,
              "Invalid relationship: B[b] { require => A[1] }, because A[1] doesn't seem to be in "
              "the catalog");
    EXPECT_EQ((*store->node("n"))->resources, 3U);
}

TEST(Store, DeactivatesAndReactivatesNodes) {
    TempFolder folder;
    auto store = open_store(folder / "s");
    auto put = [&](const char* node, std::int64_t at) {
        auto got = store->replace_catalog(
            node, at,
            catalog_of(node, fmt::format(R"({{"type":"A","title":"{}","exported":true}})", node)));
        ASSERT_TRUE(got) << got.error().message;
    };
    put("b", 100);
    put("a", 100);
    put("c", 100);
    EXPECT_EQ(found(*store, "A"), "a:a b:b c:c");
    EXPECT_EQ(found(*store, "A", nullptr, "b"), "a:a c:c");
    EXPECT_EQ(found(*store, "B"), "");
    EXPECT_FALSE(*store->deactivate_node("unknown", 1));
    EXPECT_FALSE(*store->deactivate_node("b", 99));  // the node sent data after this time
    EXPECT_TRUE(*store->deactivate_node("b", 200));
    EXPECT_EQ(found(*store, "A"), "a:a c:c");
    put("b", 150);  // before the deactivation: stored, but still inactive
    EXPECT_EQ(found(*store, "A"), "a:a c:c");
    auto names = [&](bool active) {
        std::string out;
        auto nodes = store->nodes(active);
        for (const NodeStatus& n : *nodes) {
            out += n.certname + (n.active() ? " " : "! ");
        }
        return out;
    };
    EXPECT_EQ(names(true), "a c ");
    EXPECT_EQ(names(false), "a b! c ");
    EXPECT_EQ((*store->node("b"))->deactivated, 200);
    put("b", 201);
    EXPECT_EQ(found(*store, "A"), "a:a b:b c:c");
    EXPECT_TRUE(*store->purge_node("a"));
    EXPECT_FALSE(*store->purge_node("a"));
    EXPECT_EQ(names(false), "b c ");
    EXPECT_EQ(found(*store, "A"), "b:b c:c");
    EXPECT_FALSE(*store->node("a"));
}

TEST(Store, RefusesUnsupportedCatalogs) {
    TempFolder folder;
    auto store = open_store(folder / "s");
    auto twice = store->replace_catalog(
        "n", 1, catalog_of("n", R"({"type":"A","title":"x"},{"type":"A","title":"x"})"));
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().message, "The catalog of n contains A[x] twice");
    EXPECT_EQ(store->replace_catalog("", 1, catalog_of("n", "")).error().message,
              "A catalog without a certname cannot be stored");
    EXPECT_TRUE(store->nodes(false)->empty());
}

TEST(Store, AcceptsWireCatalogs) {
    TempFolder folder;
    auto store = open_store(folder / "s");
    auto text = catalog::write_wire(9, catalog_of("a", kWeb, kEdges),
                                    {.transaction_uuid = "t", .producer_timestamp = 5});
    ASSERT_TRUE(text) << text.error().message;
    auto wire = catalog::read_wire(9, *text);
    ASSERT_TRUE(wire) << wire.error().message;
    auto report = store->replace_catalog(*wire);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ((*store->node("a"))->catalog_timestamp, 5);
    EXPECT_EQ(found(*store, "Sshkey"), "a:web");
    EXPECT_EQ(store->replace_catalog(*wire)->outcome, Outcome::Unchanged);
}

TEST(Store, ProcessesWriteConcurrently) {
    TempFolder folder;
    std::string path = folder / "s";
    constexpr int kProcesses = 4, kRounds = 10;
    std::vector<pid_t> children;
    for (int p = 0; p < kProcesses; ++p) {
        pid_t pid = fork();
        ASSERT_GE(pid, 0);
        if (pid == 0) {
            // The processes also compete for the creation of the file.
            auto store = Store::open(path, {.busy_timeout_ms = 60000, .durable = false});
            if (!store) _exit(2);
            for (int i = 0; i < kRounds; ++i) {
                std::string own = fmt::format(
                    R"({{"type":"A","title":"{}","exported":true,"parameters":{{"i":{}}}}})", p, i);
                std::string node = "n" + std::to_string(p);
                if (!(*store)->replace_catalog(node, i, catalog_of(node, own))) _exit(3);
                if (!(*store)->replace_catalog("shared", i, catalog_of("shared", own))) _exit(4);
                base::Arena arena;
                if (!(*store)->find_exported("A", nullptr, node, arena)) _exit(5);
            }
            _exit(0);
        }
        children.push_back(pid);
    }
    for (pid_t pid : children) {
        int status = 0;
        waitpid(pid, &status, 0);
        EXPECT_EQ(WEXITSTATUS(status), 0);
    }
    auto store = open_store(path);
    EXPECT_EQ(found(*store, "A", nullptr, "shared"), "n0:0 n1:1 n2:2 n3:3");
    EXPECT_EQ((*store->node("shared"))->resources, 1U);
    EXPECT_EQ((*store->node("shared"))->catalog_timestamp, kRounds - 1);
}

TEST(Store, KilledWriterLeavesPreviousCatalog) {
    TempFolder folder;
    std::string path = folder / "s";
    {
        auto store = open_store(path);
        ASSERT_TRUE(store->replace_catalog(
            "n", 1, catalog_of("n", R"({"type":"A","title":"old","exported":true})")));
    }
    sqlite3* raw = nullptr;
    pid_t pid = fork();
    if (pid == 0) {
        sqlite3_open(path.c_str(), &raw);
        sqlite3_exec(raw, "BEGIN IMMEDIATE; DELETE FROM resources", nullptr, nullptr, nullptr);
        _exit(0);  // like kill -9: no commit, rollback or close
    }
    int status = 0;
    waitpid(pid, &status, 0);
    auto store = open_store(path);
    EXPECT_EQ(found(*store, "A"), "n:old");
}

TEST(Store, ReportsWhyItCannotOpen) {
    TempFolder folder;
    std::ofstream(folder / "file") << "this is a text file, quite long enough for a header page, "
                                      "so that nobody takes it for an empty one..............";
    auto message = [](const std::string& path, StoreOptions options = {}) {
        auto store = Store::open(path, options);
        return store ? std::string("opened") : store.error().message;
    };
    EXPECT_EQ(message(""), "The store has no path");
    EXPECT_EQ(message(folder / "file"),
              fmt::format("Could not use the store {}/file: it is not a database", folder.path()));
    EXPECT_EQ(message(folder / "file/x"),
              fmt::format("Could not open the store {}/file/x: Not a directory", folder.path()));
    EXPECT_EQ(message(folder / "file/x/y"),
              fmt::format("Could not create the folder of the store {}/file/x: Not a directory",
                          folder.path()));
    EXPECT_EQ(message(folder.path()),
              fmt::format("Could not open the store {}: Is a directory", folder.path()));
    EXPECT_EQ(
        message(folder / "none", {.read_only = true}),
        fmt::format("Could not open the store {}/none: No such file or directory", folder.path()));
    sqlite3* raw = nullptr;
    sqlite3_open((folder / "other").c_str(), &raw);
    sqlite3_exec(raw, "CREATE TABLE t (x)", nullptr, nullptr, nullptr);
    sqlite3_close(raw);
    EXPECT_EQ(message(folder / "other"),
              fmt::format("Could not open the store {}/other: it is a database of another program",
                          folder.path()));
    {
        auto store = open_store(folder / "new");
    }
    sqlite3_open((folder / "new").c_str(), &raw);
    sqlite3_exec(raw,
                 "PRAGMA user_version = 99;"
                 " UPDATE store_meta SET value = 98 WHERE name = 'usable_since'",
                 nullptr, nullptr, nullptr);
    sqlite3_close(raw);
    EXPECT_EQ(message(folder / "new"),
              fmt::format("Could not open the store {}/new: it was written by a newer program "
                          "(schema 99, this one knows 11)",
                          folder.path()));
}

TEST(Store, ReportsReadOnlyFolder) {
    TempFolder folder;
    chmod(folder.path().c_str(), 0555);
    pid_t pid = fork();
    if (pid == 0) {
        // Root may write everywhere, so the process drops its privileges.
        if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) _exit(2);
        auto store = Store::open(folder / "s");
        if (store) _exit(3);
        std::string expected =
            fmt::format("Could not open the store {}/s: Permission denied", folder.path());
        _exit(store.error().message == expected ? 0 : 4);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Store, FullDiskChangesNothing) {
    TempFolder folder;
    std::string path = folder / "s";
    auto store = open_store(path);
    ASSERT_TRUE(store->replace_catalog(
        "n", 1, catalog_of("n", R"({"type":"A","title":"old","exported":true})")));
    // A process with a file size limit; SQLite reports this as a full disk.
    pid_t pid = fork();
    if (pid == 0) {
        auto own = Store::open(path);
        if (!own) _exit(2);
        std::string big(2000000, 'x');
        catalog::Catalog c =
            catalog_of("n", R"({"type":"A","title":"new","parameters":{"x":")" + big + R"("}})");
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit limit = {500000, 500000};
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(3);
        auto got = (*own)->replace_catalog("n", 2, c);
        if (got) _exit(4);
        _exit(got.error().message.starts_with("Could not use the store " + path + ": ") ? 0 : 5);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(found(*store, "A"), "n:old");
}

}  // namespace
}  // namespace bunraku::store
