// Tests publishing into a large repository: a publish writes only the additions. The served content
// must equal that of a complete publish.
#include <fstream>
#include <gdbm.h>
#include <gtest/gtest.h>

#include "core/codec/digest.h"
#include "core/sys/file_system.h"
#include "modules/forge/http_api.h"
#include "modules/forge/service.h"
#include "modules/module/names.h"
#include "modules/module/tuf.h"
#include "unit/modules/module/support.h"

namespace bunraku::forge {
namespace {

class LargeRepository : public testing::Test {
protected:
    /// Creates kManyReleases of 100 modules. It copies records instead of creating 1000 real
    /// archives.
    LargeRepository() : service({.root = scratch.path + "/forge"}) {
        ForgeStore& forge_store = service.forge_store();
        EXPECT_TRUE(forge_store.create("r"));
        auto batch = forge_store.begin("r");
        EXPECT_TRUE(batch);
        for (std::uint64_t i = 0; i < kManyReleases; ++i) {
            EXPECT_TRUE((*batch)->upload(
                module::test::release(fmt::format("m-m{}", i % 100), fmt::format("1.{}.0", i / 100),
                                      i % 2 ? R"([{"name":"n/late"},{"name":"m/m0"}])" : "[]")));
        }
        EXPECT_TRUE((*batch)->finish());
        batch->reset();
        EXPECT_TRUE(forge_store.publish("r"));
        mount(router, service);
    }
    std::string get(const std::string& path, int want = 200) {
        http::Request request;
        request.method = "GET";
        const std::size_t mark = path.find('?');
        request.target = "/pulp_puppet/forge/repository/r" + path;
        request.path = request.target.substr(0, request.target.find('?'));
        if (mark != std::string::npos) request.query = *http::parse_query(path.substr(mark + 1));
        auto response = router.handle(request);
        EXPECT_EQ(response.status, want) << path;
        return response.body;
    }
    std::map<std::string, std::string> all_answers() {
        std::map<std::string, std::string> out;
        for (const std::string path :
             {"/v3/releases?limit=100", "/v3/releases?limit=100&offset=950", "/v3/modules/m-m1",
              "/v3/modules/n-late", "/v3/modules?limit=100&exclude_fields=current_release",
              "/v3/modules?query=late", "/v3/releases/m-m1-3.0.0", "/v3/users",
              "/api/v1/releases.json?module=m/m1", "/api/v1/releases.json?module=m/m3",
              "/api/v1/releases.json?module=n/late", "/modules.json?q=late"}) {
            std::string text = get(path);
            // Only the upload time may differ.
            out[path] = text;
        }
        for (const char* file : {"modules.json", "PULP_MANIFEST"}) {
            std::ifstream in(tree() + "/" + file);
            std::vector<std::string> lines;
            for (std::string line; std::getline(in, line);) {
                while (!line.empty() && (line.back() == ',' || line.back() == ']')) line.pop_back();
                while (line.starts_with(' ') || line.starts_with('[')) line.erase(0, 1);
                if (!line.empty()) lines.push_back(line);
            }
            std::sort(lines.begin(), lines.end());
            out[file] = fmt::format("{}", fmt::join(lines, "\n"));
        }
        for (const char* key : {"m/m1", "n/late"}) out[key] = dependencies(key);
        return out;
    }
    std::string dependencies(const std::string& key) {
        GDBM_FILE db = gdbm_open((tree() + "/.dependency_db").c_str(), 0, GDBM_READER, 0, nullptr);
        EXPECT_TRUE(db);
        datum value = gdbm_fetch(db, {const_cast<char*>(key.data()), static_cast<int>(key.size())});
        std::string out(value.dptr ? value.dptr : "", static_cast<std::size_t>(value.dsize));
        std::free(value.dptr);
        gdbm_close(db);
        return out;
    }
    std::string tree() { return service.forge_store().published_folder() + "/r"; }
    module::test::Scratch scratch;
    ForgeService service;
    http::Router router;
};

TEST_F(LargeRepository, PublishWritesOnlyAdditions) {
    ForgeStore& forge_store = service.forge_store();
    const std::string first = forge_store.published("r");
    EXPECT_NE(get("/api/v1/releases.json?module=m/m1").find(R"("n/late":[])"), std::string::npos);
    SnapshotPtr before = service.snapshot("r");
    const auto post = [&](const std::string& name, const std::string& version) {
        auto done = service.post("r", module::test::release(name, version));
        EXPECT_TRUE(done) << done.error().message;
        get("/v3/releases/" + name + "-" + version);
    };
    post("m-m1", "3.0.0");
    post("n-late", "0.9.0-rc1");
    post("n-late", "1.0.0");
    EXPECT_EQ(forge_store.published("r"), "r@4");
    char target[64] = {};
    EXPECT_GT(::readlink((scratch.path + "/forge/snapshots/r@4").c_str(), target, 63), 0);
    EXPECT_EQ(std::string(target), first);
    EXPECT_EQ(service.snapshot("r")->added(), 3U);
    // A client of the previous snapshot does not see the additions.
    EXPECT_EQ(before->release("m-m1-3.0.0"), nullptr);
    EXPECT_EQ(before->module("n-late"), nullptr);
    const auto grown = all_answers();
    EXPECT_NE(grown.at("/api/v1/releases.json?module=m/m3").find(R"("n/late":[{)"),
              std::string::npos);
    // Another process reads the same content from the disk, and so does a complete publish.
    ForgeService again({.root = scratch.path + "/forge"});
    EXPECT_EQ(again.snapshot("r")->releases().size(), kManyReleases + 3);
    EXPECT_EQ(again.snapshot("r")->added(), 0U);
    ASSERT_TRUE(forge_store.publish("r"));
    const auto whole = all_answers();
    for (const auto& [path, text] : grown) EXPECT_EQ(text, whole.at(path)) << path;
}

TEST_F(LargeRepository, SignsOnlyAdditions) {
    using Files = std::map<std::string, std::string>;
    ForgeStore& forge_store = service.forge_store();
    const std::int64_t now = std::time(nullptr);
    ASSERT_TRUE(forge_store.metadata("r").init("", now));
    ASSERT_TRUE(forge_store.publish("r"));
    ASSERT_TRUE(service.snapshot("r"));
    const auto published = [&] {
        Files out;
        auto files = sys::make_real_file_system();
        const std::string folder = tree() + "/metadata";
        const auto names = files->list(folder);
        EXPECT_TRUE(names);
        for (const std::string& name : names.value_or(std::vector<std::string>())) {
            out[name] = *files->read(folder + "/" + name);
        }
        return out;
    };
    Files served = published();
    int asked = 0;
    const std::string root = served["root.json"];
    const auto make_client = [&] {
        return std::make_unique<module::TufClient>(module::TufClient::Options{
            .root = root,
            .state = scratch.path + "/seen",
            .fetch = [&](const std::string& name, std::uint64_t) -> base::Result<std::string> {
                ++asked;
                const auto found = served.find(name);
                if (found == served.end()) return base::failure("none", 404);
                return found->second;
            },
            .now = [&] { return now; }});
    };
    const auto path = [](const std::string& slug) {
        return module::release_path(slug.substr(0, slug.find('-')), slug);
    };
    auto early = make_client();
    auto fresh = early->refresh();
    ASSERT_TRUE(fresh) << fresh.error().message;
    const std::string bytes = module::test::release("m-m0", "1.0.0");
    asked = 0;
    EXPECT_TRUE(early->check(path("m-m0-1.0.0"), bytes));
    EXPECT_TRUE(early->check(path("m-m0-1.0.0"), bytes));
    EXPECT_EQ(asked, 1);

    const std::string late = module::test::release("n-late", "1.0.0");
    const Files before = served;
    auto posted = service.post("r", late);
    ASSERT_TRUE(posted) << posted.error().message;
    EXPECT_EQ(forge_store.published("r"), "r@3");
    get("/v3/releases/n-late-1.0.0");
    EXPECT_EQ(service.snapshot("r")->added(), 1U);
    served = published();
    ASSERT_EQ(served.size(), before.size());
    std::vector<std::string> changed;
    for (const auto& [name, text] : served) {
        if (before.at(name) != text) changed.push_back(name);
    }
    const std::string digest =
        codec::hex_digest(codec::DigestKind::Sha256, path("n-late-1.0.0")).substr(0, 2);
    EXPECT_EQ(changed, (std::vector<std::string>{"part-" + digest + ".json", "snapshot.json",
                                                 "timestamp.json"}));
    // A client that started before the publish detects the change and fetches the metadata again.
    auto good = early->check(path("n-late-1.0.0"), late);
    EXPECT_TRUE(good) << good.error().message;
    auto said = early->check(path("n-late-1.0.1"), late);
    ASSERT_FALSE(said);
    EXPECT_TRUE(said.error().message.starts_with("arbitrary software: ")) << said.error().message;
    // A part of the previous publish.
    std::filesystem::remove_all(scratch.path + "/seen");
    served["part-" + digest + ".json"] = before.at("part-" + digest + ".json");
    auto other = make_client();
    ASSERT_TRUE(other->refresh());
    said = other->check(path("n-late-1.0.0"), late);
    ASSERT_FALSE(said);
    EXPECT_TRUE(said.error().message.starts_with("mix and match: part-")) << said.error().message;
    // Files of a publish that was killed do not disturb the next one.
    ASSERT_TRUE(std::filesystem::create_directory(tree() + "/.metadata.new"));
    ASSERT_TRUE(service.post("r", module::test::release("n-late", "1.1.0")));
    EXPECT_EQ(service.snapshot("r")->added(), 2U);
    served = published();
    EXPECT_TRUE(make_client()->refresh());
}

TEST_F(LargeRepository, PublishesEverythingAfterOtherChanges) {
    ForgeStore& forge_store = service.forge_store();
    ASSERT_TRUE(forge_store.upload("r", module::test::release("p-ending", "1.0.0")));
    ASSERT_TRUE(service.post("r", module::test::release("q-posted", "1.0.0")));
    get("/v3/releases/p-ending-1.0.0");
    get("/v3/releases/q-posted-1.0.0");
    EXPECT_EQ(service.snapshot("r")->added(), 0U);
    ASSERT_TRUE(service.delete_release("r", *module::parse_release_name("q-posted-1.0.0"), "x"));
    get("/v3/releases/q-posted-1.0.0", 404);
    EXPECT_FALSE(service.post("r", module::test::release("q-posted", "1.0.0")));
    ASSERT_TRUE(service.post("r", module::test::release("q-posted", "1.0.1")));
    get("/v3/releases/q-posted-1.0.1");
    // A repository that is removed and created again shares nothing with the old one.
    ASSERT_TRUE(forge_store.remove_repository("r"));
    ASSERT_TRUE(forge_store.create("r"));
    ASSERT_TRUE(forge_store.publish("r"));
    EXPECT_GT(ForgeStore::published_number(forge_store.published("r")), 4U);
    get("/v3/modules/m-m1", 404);
}

}  // namespace
}  // namespace bunraku::forge
