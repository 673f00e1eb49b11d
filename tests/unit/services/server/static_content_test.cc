// Static catalogs: what is said of files, and that their contents stay.
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
        const auto found = static_.find(of.code_id, path);
        if (!found) return "none";
        std::ifstream in(*found);
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
    base::MemorySink log_;
    config::Settings settings_ = config::Settings::defaults();
    FileMounts files_{settings_};
    StaticContent static_{root_ + "/static", files_};
    std::shared_ptr<const environment::Environment> environment_;
    catalog::Catalog catalog_;
};

TEST_F(StaticContentTest, ContentsAreThoseOfTheCompile) {
    file("/a", {{"source", text("puppet:///modules/app/one")}});
    file("/t", {{"source", text("puppet:///modules/app/tree/")},
                {"recurse", value::Value::boolean(true)},
                {"ignore", text(".*")}});
    const auto before = inlined();
    EXPECT_NE(before.json.find(R"("/a":{"path":")" + root_ + "/env/modules/app/files/one\""),
              std::string::npos);
    EXPECT_NE(
        before.json.find(
            R"("content_uri":"puppet:///modules/app/files/one","source":"puppet:///modules/app/one")"),
        std::string::npos)
        << before.json;
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

TEST_F(StaticContentTest, WhatIsNoFileOfAModuleIsLeftAlone) {
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

// The agent asks for it and is told, as without static catalogs.
TEST_F(StaticContentTest, ATreeWithALinkToNothingIsLeftToTheAgent) {
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

TEST_F(StaticContentTest, WhatNobodyNamesIsForgotten) {
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
    // What is needed again is kept again.
    write("app/files/one", "first\n");
    EXPECT_EQ(content(inlined(), "modules/app/files/one"), "first\n");
}

}  // namespace
}  // namespace bunraku::server
