// SPDX-License-Identifier: Apache-2.0
// Tests that Sensitive values are never on a disk in plain text, whatever their path, and tests the
// keys.
#include "store/db/secrets.h"

#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "backends.h"
#include "store/db/queue.h"
#include "store/engine/archive.h"
#include "store/engine/service.h"

namespace bunraku::store {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr const char* kPlanted = "Pl4nted-5ecret";

std::string bytes_in(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, std::string_view text, int mode = 0600) {
    std::ofstream(path, std::ios::binary) << text;
    ::chmod(path.c_str(), static_cast<mode_t>(mode));
}

/// Returns the files below `folder` that contain the planted text.
std::string found_under(const std::string& folder) {
    std::string out;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.is_regular_file()) continue;
        if (bytes_in(entry.path()).find(kPlanted) != std::string::npos)
            out += entry.path().string() + " ";
    }
    return out;
}

TEST(Secrets, CreatesKeyOnceAndOnlyReadableByOwner) {
    TempFolder folder;
    const std::string path = folder / "ssl/store.key";
    // Concurrent callers get the same key.
    std::vector<std::string> sealed(8);
    std::vector<std::thread> threads;
    for (auto& s : sealed) {
        threads.emplace_back([&] {
            auto made = Secrets(path).seal("text", "here");
            if (made) s = *made;
        });
    }
    for (auto& t : threads) t.join();
    Secrets reader(path);
    for (const auto& s : sealed) EXPECT_EQ(reader.open(s, "here").value_or("?"), "text");
    struct stat status{};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600U);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder / "ssl"), {}), 1) << "nothing is left";
    EXPECT_NE(sealed[0], sealed[1]);
}

TEST(Secrets, RejectsModifiedOrMovedCiphertext) {
    TempFolder folder;
    Secrets secrets(folder / "k");
    const std::string sealed = *secrets.seal("a text", "here");
    EXPECT_TRUE(Secrets::is_sealed(sealed));
    EXPECT_EQ(*secrets.open("in clear", "here"), "in clear");
    EXPECT_FALSE(secrets.open(sealed, "there"));
    for (std::size_t i = 7; i < sealed.size(); ++i) {
        std::string changed = sealed;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        EXPECT_FALSE(secrets.open(changed, "here")) << i;
        EXPECT_FALSE(secrets.open(sealed.substr(0, i), "here")) << i;
    }
    EXPECT_EQ(*secrets.digest("x"), *secrets.digest("x"));
    EXPECT_NE(*secrets.digest("x"), sha1("x"));
}

TEST(Secrets, ReportsUnusableKeyFile) {
    TempFolder folder;
    const std::string path = folder / "k";
    auto problem = [&] {
        auto done = Secrets(path).ready();
        return done ? std::string("fine") : done.error().message;
    };
    const std::string key(64, 'a');
    write(path, "# words\n\n" + key + "\n");
    EXPECT_EQ(problem(), "fine");
    write(path, key, 0640);
    EXPECT_EQ(problem(), "fine") << "a group may read it";
    for (int mode : {0644, 0604, 0660}) {
        write(path, key, mode);
        EXPECT_NE(problem().find("other users can read or write it"), std::string::npos) << mode;
    }
    for (const std::string& text : {key.substr(1), key + "0", std::string(64, 'g')}) {
        write(path, key + "\n" + text + "\n");
        EXPECT_NE(problem().find("line 2 is not a key"), std::string::npos) << text;
    }
    write(path, "");
    EXPECT_NE(problem().find("(setting store_key): it contains no key"), std::string::npos);
    fs::remove(path);
    fs::create_directory(path);
    EXPECT_NE(problem().find("it is not a regular file"), std::string::npos);
    write(folder / "file", "");
    EXPECT_NE(Secrets(folder / "file/k").ready().error().message.find("(setting store_key)"),
              std::string::npos);
    EXPECT_FALSE(Secrets("relative").ready());
}

TEST(Secrets, OldKeyDecryptsItsValues) {
    TempFolder folder;
    Secrets first(folder / "k");
    const std::string old = *first.seal("old", "here");
    Secrets other(folder / "k");
    ASSERT_TRUE(other.ready());
    const auto number = Secrets(folder / "k").rotate();
    ASSERT_TRUE(number) << number.error().message;
    EXPECT_EQ(Secrets(folder / "k").numbers()->size(), 2U);
    EXPECT_EQ(Secrets(folder / "k").numbers()->front(), *number);
    const std::string young = *Secrets(folder / "k").seal("young", "here");
    EXPECT_EQ(*other.open(old, "here"), "old");
    EXPECT_EQ(*other.open(young, "here"), "young") << "the file is read again";
    auto lost = Secrets(folder / "k2").open(young, "here");
    ASSERT_FALSE(lost);
    EXPECT_NE(lost.error().message.find(fmt::format("{:016x}", *number)), std::string::npos);
    EXPECT_NE(lost.error().message.find("setting store_key"), std::string::npos);
}

TEST(Secrets, SplitsParametersIntoTwoForms) {
    const std::string rich = R"({"__ptype":"Sensitive","__pvalue":"x"})";
    auto split = [](const std::string& json, const std::vector<std::string>& named = {}) {
        auto parts = split_secrets(json, named);
        return parts.shown + " " + parts.exact;
    };
    EXPECT_EQ(split(R"({"a":1})"), R"({"a":1} )");
    EXPECT_EQ(split(R"({"a":1,"b":)" + rich + "}"), R"({"a":1} {"a":1,"b":)" + rich + "}");
    EXPECT_EQ(split(R"({"a":[{"k":)" + rich + "}]}"),
              R"({"a":[{"k":"Sensitive [value redacted]"}]} {"a":[{"k":)" + rich + "}]}");
    EXPECT_EQ(split(R"({"a":"x","b":null})", {"a", "b"}),
              R"({"b":null} {"a":)" + rich + R"(,"b":null})");
    // A string that contains such JSON, and an incomplete hash, are not secrets.
    EXPECT_EQ(split(R"({"a":"{\"__ptype\":\"Sensitive\",\"__pvalue\":1}"})"),
              R"({"a":"{\"__ptype\":\"Sensitive\",\"__pvalue\":1}"} )");
    EXPECT_EQ(split(R"({"a":{"__ptype":"Sensitive"}})"), R"({"a":{"__ptype":"Sensitive"}} )");
}

TEST(Secrets, QueueAndDeadLettersContainNoPlainSecrets) {
    TempFolder folder;
    QueueOptions options{.folder = folder / "q"};
    options.secrets = std::make_shared<Secrets>(folder / "key");
    CommandHeader header{.kind = CommandKind::ReplaceFacts, .version = 5, .certname = "n"};
    const std::string body = fmt::format("{{\"x\":\"{}\"}}", kPlanted);
    {
        auto q = *Queue::open(options);
        ASSERT_TRUE(q->add(header, body));
        ASSERT_TRUE(q->add(header, body));
        EXPECT_EQ(found_under(folder / "q"), "");
        auto taken = q->take(1, milliseconds(0));
        EXPECT_EQ(*q->body(taken[0].id), body);
        EXPECT_EQ(*q->body(taken[0].id), body) << "from disk";
        q->discard(taken[0].id, "wrong");
    }
    EXPECT_EQ(found_under(folder / "q"), "");
    const std::string name = Queue::dead_letters(folder / "q")->front().name;
    EXPECT_EQ(*Queue::dead_letter_body(folder / "q", name, options.secrets.get()), body);
    ASSERT_TRUE(Queue::resubmit(folder / "q", name));
    auto q = *Queue::open(options);
    EXPECT_EQ(q->import_resubmitted().count, 1U);
    EXPECT_EQ(found_under(folder / "q"), "");
    for (const auto& c : q->take(9, milliseconds(0))) EXPECT_EQ(*q->body(c.id), body);
}

TEST(Secrets, ReadsUnencryptedQueueOfOlderProgram) {
    TempFolder folder;
    CommandHeader header{.kind = CommandKind::ReplaceFacts, .version = 5, .certname = "n"};
    const std::string body = fmt::format("{{\"x\":\"{}\"}}", kPlanted);
    std::string name;
    {
        auto old = *Queue::open({.folder = folder / "q"});
        ASSERT_TRUE(old->add(header, body));
        old->discard(old->take(1, milliseconds(0))[0].id, "wrong");
        ASSERT_TRUE(old->add(header, body));
        name = Queue::dead_letters(folder / "q")->front().name;
    }
    QueueOptions options{.folder = folder / "q"};
    options.secrets = std::make_shared<Secrets>(folder / "key");
    auto q = *Queue::open(options);
    EXPECT_EQ(found_under(folder / "q/dead-letters"), "") << "a dead letter stays for long";
    EXPECT_EQ(*Queue::dead_letter_body(folder / "q", name, options.secrets.get()), body);
    const auto taken = q->take(9, milliseconds(0));
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(*q->body(taken[0].id), body);
    q->finish({taken[0].id});
    EXPECT_EQ(found_under(folder / "q"), "");
}

class SecretsOn : public OnBackend {
protected:
    std::string key_file() { return folder_ / "ssl/store.key"; }
    std::unique_ptr<Service> start(const std::string& key) {
        ServiceOptions options;
        options.database = where_;
        options.queue_folder = folder_ / "queue";
        options.key_file = key;
        options.durable = false;
        auto service = Service::start(std::move(options));
        EXPECT_TRUE(service) << service.error().message;
        return service ? std::move(*service) : nullptr;
    }
    std::unique_ptr<Store> store(const std::string& key) {
        return open_store(where_, {.durable = false, .key_file = key});
    }
    /// Returns all rows of all tables that contain the planted text; for SQLite, also the files.
    std::string found_anywhere() {
        std::string out = found_under(folder_.path());
        auto db = Database::open(where_, Database::Access::ReadWrite, 5000);
        if (!db) return db.error().message;
        const char* tables =
            (*db)->postgresql()
                ? "SELECT table_name FROM information_schema.tables WHERE table_schema ="
                  " current_schema()"
                : "SELECT name FROM sqlite_schema WHERE type = 'table'";
        std::vector<std::string> names;
        {
            auto s = (*db)->prepare_once(tables);
            while (s->step().value_or(false)) names.emplace_back(s->text(0));
        }
        EXPECT_GT(names.size(), 20U);
        for (const std::string& name : names) {
            auto s = (*db)->prepare_once("SELECT * FROM " + name);
            while (s->step().value_or(false)) {
                for (int i = 0; i < s->columns(); ++i) {
                    if (s->is_null(i)) continue;
                    const bool bytes = s->type(i) == Statement::Type::Blob;
                    if ((bytes ? s->blob(i) : s->text(i)).find(kPlanted) != std::string::npos)
                        out += name + "." + std::string(s->name(i)) + " ";
                }
            }
        }
        return out;
    }
    std::string one(std::string_view sql) {
        auto db = Database::open(where_, Database::Access::ReadWrite, 5000);
        auto s = (*db)->prepare_once(sql);
        if (!s) return s.error().message;
        return s->step().value_or(false) && !s->is_null(0) ? std::string(s->text(0)) : "null";
    }
    void execute(const std::string& sql) {
        auto db = Database::open(where_, Database::Access::ReadWrite, 5000);
        auto done = (*db)->execute(sql);
        EXPECT_TRUE(done) << done.error().message;
    }
    static std::string secret_of(Store& store, std::string_view certname, std::string_view title) {
        auto found = store.newest_catalog(certname);
        if (!found) return found.error().message;
        if (!*found) return "no catalog";
        for (const auto& r : (*found)->catalog.resources) {
            if (r.ref.title != title) continue;
            const auto* p = r.parameter("password");
            if (!p) return "no password";
            if (!p->is(value::Kind::Sensitive)) return "in clear";
            return std::string(p->unwrap().as_string());
        }
        return "no resource";
    }
};
BUNRAKU_ON_BACKENDS(SecretsOn);

std::string wire(std::string_view certname, std::string_view resources, int second) {
    return fmt::format(
        R"({{"certname":"{}","version":"1","environment":"e","transaction_uuid":null,)"
        R"("catalog_uuid":null,"code_id":null,"producer":"p","producer_timestamp":)"
        R"("2023-11-14T22:00:{:02}Z","resources":[{}],"edges":[]}})",
        certname, second, resources);
}

std::string user(std::string_view title, std::string_view rest) {
    return fmt::format(
        R"({{"type":"User","title":"{}","exported":true,"tags":["t"],"file":"/x","line":1,{}}})",
        title, rest);
}

TEST_P(SecretsOn, SecretsAreNowhereOnDisk) {
    const std::string rich = fmt::format(R"({{"__pvalue":"{}","__ptype":"Sensitive"}})", kPlanted);
    const std::string resources =
        user("a", R"("parameters":{"uid":1,"password":)" + rich + "}") + "," +
        user("b",
             fmt::format(R"("sensitive_parameters":["password"],"parameters":{{"password":"{}"}})",
                         kPlanted)) +
        "," + user("c", R"("parameters":{"password":"x","deep":[{"k":)" + rich + "}]}");
    auto service = start(key_file());
    ASSERT_TRUE(service);
    auto send = [&](CommandKind kind, int version, std::string body) {
        auto ticket = service->submit(
            {.kind = kind, .version = version, .certname = "n", .received = 1'700'000'000'000},
            std::move(body));
        ASSERT_TRUE(ticket) << ticket.error().message;
    };
    send(CommandKind::ReplaceCatalog, 9, wire("n", resources, 1));
    send(CommandKind::ReplaceFacts, 5,
         R"({"certname":"n","environment":"e","producer":"p","producer_timestamp":)"
         R"("2023-11-14T22:00:00Z","values":{"plain":"x","odd":)" +
             rich + "}}");
    send(CommandKind::StoreReport, 8,
         R"({"certname":"n","puppet_version":"8","report_format":12,"configuration_version":"c",)"
         R"("start_time":"2099-11-14T22:00:00Z","end_time":"2099-11-14T22:00:00Z",)"
         R"("producer_timestamp":"2099-11-14T22:00:00Z","producer":null,"environment":"e",)"
         R"("transaction_uuid":null,"catalog_uuid":null,"code_id":null,)"
         R"("cached_catalog_status":null,"status":"changed","noop":false,"noop_pending":false,)"
         R"("corrective_change":false,"metrics":[],"logs":[],"resources":[{"timestamp":)"
         R"("2099-11-14T22:00:00Z","resource_type":"User","resource_title":"a","skipped":false,)"
         R"("file":null,"line":null,"containment_path":["C"],"corrective_change":null,"events":)"
         R"([{"status":"success","timestamp":"2099-11-14T22:00:00Z","property":"password",)"
         R"("name":null,"new_value":)" +
             rich + R"(,"old_value":"b","message":"m","corrective_change":null}]}]})");
    send(CommandKind::ReplaceCatalog, 9, fmt::format("{{\"x\": {} }}", kPlanted));
    send(CommandKind::ReplaceFacts, 5, fmt::format("{{\"x\": \"{}\" }}", kPlanted));
    ASSERT_TRUE(service->drain(milliseconds(20000)));
    EXPECT_EQ(Queue::count_dead_letters(folder_ / "queue"), 2U);
    // The same catalog again is unchanged.
    auto again = service->submit({.kind = CommandKind::ReplaceCatalog,
                                  .version = 9,
                                  .certname = "n",
                                  .received = 1'700'000'009'000},
                                 wire("n", resources, 9));
    ASSERT_TRUE(again);
    ASSERT_TRUE(service->wait(*again, milliseconds(20000)));
    EXPECT_EQ(one("SELECT count(*) FROM catalog_versions"), "1");
    EXPECT_EQ(one("SELECT count(*) FROM reports"), "1");
    EXPECT_EQ(found_anywhere(), "");
    service.reset();
    {
        auto own = store(key_file());
        auto stored = own->replace_catalog(
            "h", 5,
            catalog_of("h", user("a", R"("sensitive_parameters":["password"],"parameters":)" +
                                          fmt::format("{{\"password\":\"{}\"}}", kPlanted))));
        ASSERT_TRUE(stored) << stored.error().message;
        EXPECT_EQ(secret_of(*own, "h", "a"), kPlanted);
        EXPECT_EQ(secret_of(*own, "n", "a"), kPlanted);
        EXPECT_EQ(secret_of(*own, "n", "b"), kPlanted);
        base::Arena arena;
        auto collected = own->find_exported("User", nullptr, "x", arena);
        ASSERT_TRUE(collected) << collected.error().message;
        EXPECT_EQ(collected->size(), 4U);
    }
    EXPECT_EQ(found_anywhere(), "");
    // Queries return the same value as PuppetDB.
    EXPECT_EQ(one("SELECT p.parameters FROM parameters p JOIN resources r ON r.parameters_id = p.id"
                  " WHERE r.title = 'c'"),
              R"({"deep":[{"k":"Sensitive [value redacted]"}],"password":"x"})");
    EXPECT_EQ(one("SELECT count(*) FROM exported_params WHERE name = 'password'"), "1");
    auto archive = ArchiveExport::start(where_, "");
    ASSERT_TRUE(archive) << archive.error().message;
    std::string packed;
    while ((*archive)->next(packed).value_or(false)) {
    }
    std::size_t commands = 0;
    auto read = import_archive(packed, [&](const CommandHeader&, std::string body) {
        ++commands;
        EXPECT_EQ(body.find(kPlanted), std::string::npos);
        return Result<void>();
    });
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_GE(commands, 4U);
}

TEST_P(SecretsOn, RefusesOtherKeyUntilAdopted) {
    const auto catalog = catalog_of(
        "h",
        user("a",
             fmt::format(R"("sensitive_parameters":["password"],"parameters":{{"password":"{}"}})",
                         kPlanted)));
    ASSERT_TRUE(store(key_file())->replace_catalog("h", 5, catalog));
    // Without a key, or with a wrong key, no value is returned.
    EXPECT_EQ(secret_of(*store(""), "h", "a"), "no password");
    EXPECT_NE(secret_of(*store(folder_ / "other"), "h", "a").find("setting store_key"),
              std::string::npos);
    ServiceOptions options;
    options.database = where_;
    options.queue_folder = folder_ / "queue2";
    options.key_file = folder_ / "other";
    auto refused = Service::start(options);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("setting store_key"), std::string::npos);
    {
        auto writer =
            Writer::open(where_, {.secrets = std::make_shared<Secrets>(folder_ / "other")});
        ASSERT_TRUE(writer);
        EXPECT_EQ(adopt_key(**writer).value_or(99), 1U);
    }
    EXPECT_TRUE(Service::start(options));
    // A value that another program writes to the column is not accepted as a secret.
    execute((is_postgresql_url(where_) ? "UPDATE parameters SET sealed = '\\x0142534541'"
                                       : "UPDATE parameters SET sealed = x'0142534541'"));
    EXPECT_EQ(secret_of(*store(folder_ / "other"), "h", "a").find(kPlanted), std::string::npos);
}

TEST_P(SecretsOn, EncryptsOldPlainValuesOnce) {
    const auto catalog = catalog_of(
        "h",
        user("a",
             fmt::format(R"("sensitive_parameters":["password"],"parameters":{{"password":"{}"}})",
                         kPlanted)));
    ASSERT_TRUE(store(key_file())->replace_catalog("h", 5, catalog));
    const std::string hash = one("SELECT hash FROM parameters WHERE sealed IS NOT NULL");
    // The format of schema 8.
    execute(fmt::format(
        "UPDATE parameters SET exact = '{{\"password\":{{\"__ptype\":\"Sensitive\",\"__pvalue\":"
        "\"{}\"}}}}', hash = {} WHERE sealed IS NOT NULL;"
        " UPDATE parameters SET sealed = NULL; DELETE FROM store_meta WHERE name ="
        " 'secrets_key';"
        " INSERT INTO store_meta (name, value) VALUES ('clear_secrets', 1)",
        kPlanted, is_postgresql_url(where_) ? "'\\x0102'" : "x'0102'"));
    EXPECT_NE(found_anywhere(), "");
    ASSERT_TRUE(store("")) << "whoever has no key leaves it";
    EXPECT_NE(found_anywhere(), "");
    {
        auto own = store(key_file());
        ASSERT_TRUE(own);
        EXPECT_EQ(secret_of(*own, "h", "a"), kPlanted);
        EXPECT_EQ(own->replace_catalog("h", 6, catalog)->outcome, Outcome::Unchanged);
        EXPECT_EQ(found(*own, "User"), "h:a");
    }
    EXPECT_EQ(found_anywhere(), "");
    EXPECT_EQ(one("SELECT hash FROM parameters WHERE sealed IS NOT NULL"), hash);
    EXPECT_EQ(one("SELECT count(*) FROM catalog_versions"), "1");
    EXPECT_EQ(one("SELECT v.hash = c.hash FROM catalog_versions v, catalogs c"),
              is_postgresql_url(where_) ? "t" : "1");
}

}  // namespace
}  // namespace bunraku::store
