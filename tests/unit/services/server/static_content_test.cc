// SPDX-License-Identifier: Apache-2.0
// Tests static catalogs: the metadata of files, and that the contents remain available.
#include "services/server/static_content.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

#include "core/value/build.h"

namespace bunraku::server {
namespace {

namespace fs = std::filesystem;

class StaticContentTest : public testing::Test {
protected:
    StaticContentTest() {
        write("app/files/one", "first\n");
        write("app/files/tree/leaf", "leaf\n");
        write("app/files/tree/.hidden", "hidden\n");
        open();
        catalog_.name = "n1";
        catalog_.arena = std::make_shared<base::Arena>();
    }
    ~StaticContentTest() override { fs::remove_all(root_); }
    void open() {
        environment::Spec spec;
        spec.name = "production";
        spec.directory = root_ + "/env";
        environment_ = *environment::Environment::open(spec, log_);
    }
    void write(const std::string& path, const std::string& text) {
        const auto full = fs::path(root_) / "env/modules" / path;
        fs::create_directories(full.parent_path());
        std::ofstream(full) << text;
    }
    std::string content(const StaticContent::Inlined& of, const std::string& path) {
        const auto digest = static_.digest_of(of.code_id, StaticContent::address_of(path));
        const auto found = digest ? static_.find(*digest) : std::nullopt;
        return found ? read(*found) : "none";
    }
    static std::string read(const std::string& path) {
        std::ifstream in(path);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void file(const std::string& title,
              std::vector<std::pair<std::string, value::Value>> parameters) {
        catalog::Resource out;
        out.ref = {"File", title};
        for (auto& [name, v] : parameters) out.parameters.push_back({name, v});
        catalog_.resources.push_back(std::move(out));
    }
    value::Value text(std::string_view t) { return value::make_string(*catalog_.arena, t); }
    StaticContent::Inlined inlined(std::string_view checksums = "sha256.md5") {
        return static_.inline_files(catalog_, *environment_, checksums, log_);
    }

    static std::string scratch() {
        char name[] = "/tmp/static_test_XXXXXX";
        return ::mkdtemp(name);
    }

    const std::string root_ = scratch();
    /// The SHA-256 of "first\n".
    const std::string kFirst = "b640e840b19d378660b32fb51ae18d67dccb4a8596a29e7bd72c1b2ae5928f41";
    base::MemorySink log_;
    config::Settings settings_ = config::Settings::defaults();
    FileMounts files_{settings_};
    StaticContent static_{root_ + "/static", files_};
    std::shared_ptr<const environment::Environment> environment_;
    catalog::Catalog catalog_;
};

TEST_F(StaticContentTest, ServesContentsOfTheCompile) {
    file("/a", {{"source", text("puppet:///modules/app/one")}});
    file("/t", {{"source", text("puppet:///modules/app/tree/")},
                {"recurse", value::Value::boolean(true)},
                {"ignore", text(".*")}});
    const auto before = inlined();
    EXPECT_NE(before.json.find(R"("/a":{"path":")" + root_ + "/env/modules/app/files/one\""),
              std::string::npos);
    EXPECT_NE(before.json.find(R"("content_uri":"puppet:///modules/app/files/one~sha256-)" +
                               kFirst + R"(","source":"puppet:///modules/app/one")"),
              std::string::npos)
        << before.json;
    // Folders have no content hash.
    EXPECT_NE(before.json.find(R"("content_uri":"puppet:///modules/app/files/tree")"),
              std::string::npos);
    EXPECT_NE(before.json.find(R"("recursive_metadata":{"/t":{"puppet:///modules/app/tree":[)"),
              std::string::npos);
    EXPECT_EQ(before.json.find("hidden"), std::string::npos);

    EXPECT_EQ(inlined().code_id, before.code_id);
    fs::remove_all(root_ + "/env/modules/app/files/tree");
    write("app/files/one", "second\n");
    const auto after = inlined();
    EXPECT_NE(after.code_id, before.code_id);
    EXPECT_EQ(content(before, "modules/app/files/one"), "first\n");
    EXPECT_EQ(content(before, "modules/app/files/tree/leaf"), "leaf\n");
    EXPECT_EQ(content(after, "modules/app/files/one"), "second\n");
    EXPECT_EQ(content(after, "modules/app/files/tree/leaf"), "none");
    EXPECT_EQ(content(before, "modules/app/files/../../../../etc/passwd"), "none");
    StaticContent::Inlined strange;
    strange.code_id = "../" + before.code_id.substr(3);
    EXPECT_EQ(content(strange, "modules/app/files/one"), "none");
}

// Another server has another cache and no entry for the code id, so the URL contains the digest.
TEST_F(StaticContentTest, OtherServersServeByDigest) {
    file("/a", {{"source", text("puppet:///modules/app/one")}});
    const auto code_id = inlined().code_id;
    const std::string path = "modules/app/files/one~sha256-" + kFirst;
    StaticContent other(root_ + "/other", files_);
    const auto address = StaticContent::address_of(path);
    EXPECT_EQ(address.path, "modules/app/files/one");
    EXPECT_EQ(other.digest_of(code_id, address), kFirst);
    EXPECT_EQ(other.digest_of(code_id, StaticContent::address_of("modules/app/files/one")),
              std::nullopt);
    EXPECT_EQ(other.find(kFirst), std::nullopt);
    const std::string modules = root_ + "/env/modules/";
    const std::vector<std::string> places = {modules + "none", modules + "app/files/one",
                                             modules + "app/files/earlier"};
    write("app/files/one", "second\n");
    EXPECT_EQ(other.find_among(kFirst, places), std::nullopt);
    write("app/files/earlier", "first\n");
    const auto found = other.find_among(kFirst, places);
    ASSERT_TRUE(found);
    // The cache has a copy, so later changes of the file do not matter.
    write("app/files/earlier", "third\n");
    EXPECT_EQ(read(*found), "first\n");
    EXPECT_EQ(other.find(kFirst), found);
    for (const char* odd : {"modules/app/files/one~sha256-", "modules/app/files/one~sha256-08B7",
                            "modules/app/files/one"}) {
        EXPECT_EQ(StaticContent::address_of(odd).path, odd);
        EXPECT_EQ(StaticContent::address_of(odd).digest, "");
    }
}

TEST_F(StaticContentTest, IgnoresFilesOutsideModules) {
    file("/1", {{"content", text("x")}});
    file("/2", {{"source", text("/etc/hosts")}});
    file("/3", {{"source", text("puppet://other/modules/app/one")}});
    file("/4", {{"source", text("puppet:///mount/one")}});
    file("/5", {{"source", text("puppet:///modules/app/missing")}});
    file("/6", {{"source", text("puppet:///modules/app/one")}, {"ensure", text("absent")}});
    file("/7", {{"source", text("puppet:///modules/app/%zz")}});
    file("/8", {{"source", text("puppet:///modules/../app/one")}});
    const auto out = inlined();
    EXPECT_EQ(out.json, "");
    EXPECT_EQ(out.code_id, "");
    EXPECT_TRUE(log_.records.empty());
    EXPECT_THROW(inlined("sha3.blake"), base::PuppetError);
}

// The agent requests the file and gets the error, as without static catalogs.
TEST_F(StaticContentTest, LeavesTreeWithDanglingLinkToAgent) {
    fs::create_symlink("nowhere", root_ + "/env/modules/app/files/tree/link");
    const auto tree = [&](const char* title, const char* links) {
        file(title, {{"source", text("puppet:///modules/app/tree")},
                     {"recurse", value::Value::boolean(true)},
                     {"links", text(links)}});
    };
    tree("/follows", "follow");
    EXPECT_EQ(inlined().json, "");
    const auto seen = inlined().seen;
    EXPECT_TRUE(std::ranges::any_of(
        seen, [](const auto& one) { return one.path.ends_with("files/tree/link"); }));
    tree("/manages", "manage");
    EXPECT_TRUE(inlined().json.contains(R"("destination":"nowhere")"));
}

TEST_F(StaticContentTest, RemovesUnreferencedContent) {
    file("/a", {{"source", text("puppet:///modules/app/one")}});
    const auto before = inlined();
    static_.clean(3600, log_);
    EXPECT_EQ(content(before, "modules/app/files/one"), "first\n");
    write("app/files/one", "second\n");
    const auto after = inlined();
    fs::last_write_time(root_ + "/static/code/" + before.code_id,
                        fs::file_time_type::clock::now() - std::chrono::hours(2));
    static_.clean(3600, log_);
    EXPECT_EQ(content(before, "modules/app/files/one"), "none");
    EXPECT_EQ(content(after, "modules/app/files/one"), "second\n");
    // Content that is needed again is stored again.
    write("app/files/one", "first\n");
    EXPECT_EQ(content(inlined(), "modules/app/files/one"), "first\n");
}

}  // namespace
}  // namespace bunraku::server
