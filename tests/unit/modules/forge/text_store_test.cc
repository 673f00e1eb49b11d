// Tests the texts of releases. Each text is stored once, even if the index is damaged, power is
// lost or the store is copied.
#include "modules/forge/text_store.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "modules/forge/service.h"
#include "unit/modules/module/support.h"

namespace bunraku::forge {
namespace {

namespace fs = std::filesystem;

class Texts : public testing::Test {
protected:
    Texts() : forge_store(scratch.path + "/forge") { EXPECT_TRUE(forge_store.create("r")); }
    static std::string archive(const std::string& version, const std::string& readme) {
        const std::string top = "m-web-" + version;
        return http::gzip(module::test::tar(
            {{top + "/", "", '5'},
             {top + "/metadata.json", module::test::metadata("m-web", version, "[]", "")},
             {top + "/README.md", readme}}));
    }
    void upload(const std::string& version, const std::string& readme) {
        auto done = forge_store.upload("r", archive(version, readme));
        ASSERT_TRUE(done) << done.error().message;
    }
    /// Returns the published README.
    std::string readme(const std::string& version) {
        auto snapshot = Snapshot::load(forge_store, forge_store.published("r"));
        if (!snapshot) return snapshot.error().message;
        const Release* r = (*snapshot)->release("m-web-" + version);
        return r ? std::string(r->fragment(Fragment::Readme)) : "none";
    }
    std::string folder() const { return forge_store.root() + "/repos/r"; }
    std::string store(int n) const { return fmt::format("{}/texts.{}", folder(), n); }
    std::string record(const std::string& version) const {
        return folder() + "/units/m-web-" + version + ".rec";
    }
    static void put(const std::string& path, const std::string& text) {
        std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    }
    const std::string long_text = std::string(20000, 'x');
    module::test::Scratch scratch;
    ForgeStore forge_store;
};

TEST_F(Texts, AreStoredOnce) {
    upload("1.0.0", long_text);
    const auto first = fs::file_size(store(1));
    EXPECT_GT(first, long_text.size());
    upload("1.1.0", long_text);
    EXPECT_LT(fs::file_size(store(1)) - first, 1000U);
    upload("1.2.0", long_text + "y");
    EXPECT_GT(fs::file_size(store(1)), 2 * long_text.size());
    EXPECT_LT(fs::file_size(record("1.0.0")), 1000U);
    ASSERT_TRUE(forge_store.publish("r"));
    ASSERT_TRUE(forge_store.publish("r"));
    // A publish does not copy the text store.
    EXPECT_TRUE(fs::equivalent(forge_store.snapshot_path("r@2") + "/.texts", store(1)));
    for (const char* version : {"1.0.0", "1.1.0"}) {
        EXPECT_EQ(readme(version), '"' + long_text + '"');
    }
    EXPECT_EQ(readme("1.2.0"), '"' + long_text + "y\"");
    // A copy to another repository includes the texts.
    ASSERT_TRUE(forge_store.create("other"));
    ASSERT_TRUE(forge_store.copy("r", "other", std::nullopt, ""));
    ASSERT_TRUE(forge_store.publish("other"));
    EXPECT_EQ(forge_store.record("other", "m-web-1.2.0").value_or(""),
              forge_store.record("r", "m-web-1.2.0").value_or("none"));
}

TEST_F(Texts, StoresManyTexts) {
    auto files = TextStore::open(folder());
    ASSERT_TRUE(files);
    // More texts than the initial index can hold.
    std::string last;
    for (int i = 0; i < 1500; ++i) {
        const auto tarball =
            module::inspect_tarball(archive("1.0.0", fmt::format("text {}", i % 1400)));
        ASSERT_TRUE(tarball);
        const std::string whole = make_record(*tarball, 1, "m", fmt::format("s{}", i), 1);
        auto head = (*files)->apart(whole);
        ASSERT_TRUE(head);
        std::string_view rest = *head;
        auto view = read_record(&rest);
        ASSERT_TRUE(view && view->apart && rest.empty());
        auto texts = TextStore::read(folder(), *view);
        ASSERT_TRUE(texts);
        EXPECT_EQ(record_whole(*head, *texts), whole);
    }
}

TEST_F(Texts, VerifiesIndexEntries) {
    upload("1.0.0", long_text);
    for (const std::string& garbage :
         {std::string(), std::string("short"), std::string((4096 + 1) * 16, '\x07'),
          std::string(1000, '\xff')}) {
        put(store(1) + ".index", garbage);
        const std::string version = fmt::format("2.0.{}", garbage.size());
        upload(version, "text of " + version);
        ASSERT_TRUE(forge_store.publish("r"));
        EXPECT_EQ(readme(version), "\"text of " + version + '"');
        EXPECT_EQ(readme("1.0.0"), '"' + long_text + '"');
    }
}

TEST_F(Texts, MigratesOldTexts) {
    upload("1.0.0", "one");
    const std::string whole = *forge_store.record("r", "m-web-1.0.0");
    for (const char* end : {"", ".index", ".boot"}) fs::remove(store(1) + end);
    put(record("1.0.0"), whole);
    ASSERT_TRUE(forge_store.publish("r"));
    EXPECT_EQ(readme("1.0.0"), "\"one\"");
    EXPECT_NE(*sys::make_real_file_system()->read(record("1.0.0")), whole);
    EXPECT_EQ(*forge_store.record("r", "m-web-1.0.0"), whole);
    // A published tree of an older version is readable without changes.
    const std::string tree = forge_store.snapshot_path("r@1");
    std::string_view texts = whole;
    ASSERT_TRUE(read_record(&texts));
    fs::remove(tree + "/.texts");
    put(tree + "/.texts", std::string(texts));
    put(tree + "/.records", whole.substr(0, whole.size() - texts.size()));
    put(tree + "/.meta",
        fmt::format("1\n{}\n{}\n1\n0\n\n\n", whole.size() - texts.size(), texts.size()));
    EXPECT_EQ(readme("1.0.0"), "\"one\"");
}

TEST_F(Texts, DropsUnreferencedTexts) {
    upload("1.0.0", "one");
    upload("1.1.0", long_text);
    ASSERT_TRUE(forge_store.publish("r"));
    auto reader = Snapshot::load(forge_store, "r@1");
    ASSERT_TRUE(reader);
    ASSERT_TRUE(forge_store.remove("r", {"m", "web"}, "1.1.0"));
    ASSERT_TRUE(TextStore::begin_next(folder()));
    upload("1.2.0", "two");
    ASSERT_TRUE(forge_store.publish("r"));
    EXPECT_FALSE(fs::exists(store(1)));
    EXPECT_LT(fs::file_size(store(2)), 5000U);
    EXPECT_EQ(readme("1.0.0"), "\"one\"");
    EXPECT_EQ(readme("1.2.0"), "\"two\"");
    EXPECT_EQ((*reader)->release("m-web-1.1.0")->fragment(Fragment::Readme), '"' + long_text + '"');
}

TEST_F(Texts, RestoresTextsLostInPowerFailure) {
    upload("1.0.0", "one");
    ASSERT_TRUE(forge_store.publish("r"));
    const auto published = fs::file_size(store(1));
    upload("1.1.0", "two");
    // The text was lost before it was synced, and other bytes are in its place.
    fs::resize_file(store(1), published);
    put(store(1) + ".boot", "of yesterday");
    std::ofstream(store(1), std::ios::app) << std::string(5000, '!');
    ASSERT_TRUE(forge_store.publish("r"));
    EXPECT_EQ(readme("1.0.0"), "\"one\"");
    EXPECT_EQ(readme("1.1.0"), "\"two\"");
}

}  // namespace
}  // namespace bunraku::forge
