// SPDX-License-Identifier: Apache-2.0
// Tests which resources the setting `undeclared = remove` removes, and which ones it must not
// touch.
#include "services/agent/undeclared.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/codec/digest.h"
#include "core/sys/real_file_system.h"
#include "resources/catalog/agent_json.h"

namespace bunraku::agent {
namespace {

catalog::Catalog catalog_of(std::string_view resources) {
    auto out = catalog::read_agent_json(fmt::format(
        R"({{"name":"n","version":1,"environment":"production","resources":[{}]}})", resources));
    EXPECT_TRUE(out) << out.error().message;
    return out ? std::move(*out) : catalog::Catalog{};
}

std::string resource(std::string_view type, std::string_view title, std::string_view parameters) {
    return fmt::format(
        R"({{"type":"{}","title":"{}","tags":[],"exported":false,"parameters":{{{}}}}})", type,
        title, parameters);
}

class UndeclaredTest : public testing::Test {
protected:
    void SetUp() override {
        std::string name = std::filesystem::temp_directory_path() / "bunraku-undeclared-XXXXXX";
        folder_ = mkdtemp(name.data());
        ASSERT_TRUE(files_.write(folder_ + "/a", "text", 0644));
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    Leftover file(std::string content = "text") {
        const std::string path = folder_ + "/a";
        return {.type = "File",
                .title = "made",
                .name = path,
                .parameters = {{"path", path}},
                .sha256 = codec::hex_digest(codec::DigestKind::Sha256, content)};
    }
    /// Returns the reason to keep the file, with the folder as DIR.
    std::string reason(std::string_view resources, const Leftover& leftover) {
        std::string out = reason_to_keep(leftover, catalog_of(resources), files_);
        for (std::size_t at; (at = out.find(folder_)) != std::string::npos;) {
            out.replace(at, folder_.size(), "DIR");
        }
        return out;
    }
    std::string reason(std::string_view resources) { return reason(resources, file()); }

    std::string folder_;
    sys::RealFileSystem real_;
    sys::FileSystem& files_ = real_;
};

TEST_F(UndeclaredTest, RemovesFilesThatNobodyManages) {
    EXPECT_EQ(reason(""), "");
    EXPECT_EQ(reason(resource("File", folder_, R"("ensure":"directory")")), "");
    EXPECT_EQ(reason(resource("File", folder_, R"("ensure":"directory","recurse":false)")), "");
    EXPECT_EQ(reason(resource("File", folder_ + "/other", R"("recurse":true)")), "");
}

TEST_F(UndeclaredTest, KeepsFilesThatTheCatalogMentions) {
    const std::string path = folder_ + "/a";
    EXPECT_EQ(reason(resource("File", path, "")), "File[DIR/a] mentions it");
    EXPECT_EQ(reason(resource("File", "t", fmt::format(R"("path":"{}/")", path))),
              "File[t] mentions it");
    EXPECT_EQ(reason(resource("File_line", "t", fmt::format(R"("path":"{}")", path))),
              "File_line[t] mentions it");
    EXPECT_EQ(reason(resource("Exec", "e", fmt::format(R"("command":["cat","{}"])", path))),
              "Exec[e] mentions it");
    EXPECT_EQ(reason(resource("File", "/l", fmt::format(R"("content":"include {}\n")", path))),
              "File[/l] mentions it");
    EXPECT_EQ(reason(resource("Thing", "t", fmt::format(R"("a":{{"b":[{{"c":"{}"}}]}})", path))),
              "Thing[t] mentions it");
    EXPECT_EQ(reason(resource("File", "made", R"("path":"/else")")),
              "another File[made] has its title");
}

TEST_F(UndeclaredTest, KeepsFilesBelowRecursiveFolders) {
    EXPECT_EQ(reason(resource("File", folder_, R"("ensure":"directory","recurse":true)")),
              "File[DIR] manages its folder");
    EXPECT_EQ(
        reason(resource("File", "t", fmt::format(R"("path":"{}/","recurse":"remote")", folder_))),
        "File[t] manages its folder");
    EXPECT_EQ(reason(resource("File", "/", R"("recurse":true)")), "File[/] manages its folder");
    EXPECT_EQ(reason(resource("Tidy", folder_, R"("recurse":2)")), "Tidy[DIR] manages its folder");
}

TEST_F(UndeclaredTest, KeepsFilesThatAreNotAsTheyWereDeclared) {
    EXPECT_EQ(reason("", file("other")), "its content has changed");
    ASSERT_TRUE(files_.remove(folder_ + "/a"));
    EXPECT_EQ(reason(""), "");
    ASSERT_TRUE(files_.make_directory(folder_ + "/a", 0755));
    EXPECT_EQ(reason(""), "it is no longer a regular file");
    ASSERT_TRUE(files_.remove_directory(folder_ + "/a"));
    ASSERT_TRUE(files_.write(folder_ + "/b", "text", 0644));
    ASSERT_TRUE(files_.make_link(folder_ + "/b", folder_ + "/a"));
    EXPECT_EQ(reason(""), "it is no longer a regular file");
}

TEST_F(UndeclaredTest, KeepsWhatOthersName) {
    const Leftover package{
        .type = "Package", .title = "web", .name = "nginx", .parameters = {{"name", "nginx"}}};
    EXPECT_EQ(reason(resource("File", "/x", R"("content":"nginx is gone")"), package), "");
    EXPECT_EQ(reason(resource("Service", "nginx", ""), package), "Service[nginx] mentions it");
    EXPECT_EQ(reason(resource("Package", "p", R"("name":["nginx"])"), package),
              "Package[p] mentions it");
    const Leftover user{
        .type = "User", .title = "bob", .name = "bob", .parameters = {{"name", "bob"}}};
    EXPECT_EQ(reason(resource("File", "/x", R"("owner":"bob")"), user), "File[/x] mentions it");
}

TEST_F(UndeclaredTest, AddsRemovalsToTheCatalog) {
    auto catalog = catalog_of(R"({"type":"Stage","title":"main","tags":[],"exported":false})");
    base::MemorySink log;
    add_removals(catalog,
                 {{.type = "Package", .title = "p", .name = "p", .parameters = {{"name", "p"}}},
                  file("changed"),
                  // Both lists of the server may have it.
                  {.type = "Package", .title = "p", .name = "p", .parameters = {{"name", "p"}}},
                  {.type = "Service", .title = "s", .name = "s", .parameters = {{"name", "s"}}}},
                 files_, log);
    ASSERT_EQ(catalog.resources.size(), 3U);
    EXPECT_EQ(catalog.resources[1].ref.to_string(), "Service[s]");
    EXPECT_FALSE(catalog.resources[1].parameter("enable")->truthy());
    EXPECT_EQ(catalog.resources[1].parameter("ensure"), nullptr);
    EXPECT_EQ(catalog.resources[2].ref.to_string(), "Package[p]");
    EXPECT_EQ(catalog.resources[2].parameter("ensure")->as_string(), "absent");
    EXPECT_EQ(catalog.resources[2].tags, std::vector<std::string>{"undeclared"});
    ASSERT_EQ(catalog.edges.size(), 2U);
    EXPECT_EQ(catalog.edges[1].source, 0U);
    EXPECT_EQ(catalog.edges[1].target, 2U);
    ASSERT_EQ(log.records.size(), 1U);
    EXPECT_EQ(log.records[0].message,
              "Not removing File[made], which is no longer declared: its content has changed");
}

TEST(UndeclaredList, HasOnlyWhatTheAgentCreatedAndMayRemove) {
    const auto row = [](std::string_view type, std::string_view created, std::string_view removal) {
        return fmt::format(R"({{"type":"{}","title":"t","created_by_us":{},"removal":{}}})", type,
                           created, removal);
    };
    const std::vector<std::string> types{"File", "Service"};
    const auto count = [&](const std::string& one) {
        const auto found = read_leftovers("[" + one + "]", types);
        return found ? static_cast<int>(found->size()) : -1;
    };
    constexpr std::string_view kFile = R"({"path":"/a","sha256":"00"})";
    EXPECT_EQ(count(row("File", "true", kFile)), 1);
    EXPECT_EQ(count(row("File", "false", kFile)), 0);
    EXPECT_EQ(count(row("File", "true", "null")), 0);
    EXPECT_EQ(count(row("File", "true", R"({"path":"/a"})")), 0);
    EXPECT_EQ(count(row("File", "true", R"({"path":"a","sha256":"00"})")), 0);
    EXPECT_EQ(count(row("Package", "true", R"({"name":"p"})")), 0);
    EXPECT_EQ(count(row("Service", "true", R"({"name":"s","provider":"systemd"})")), 1);
    EXPECT_EQ(count("1"), 0);
    EXPECT_FALSE(read_leftovers("{}", types));
    EXPECT_FALSE(read_leftovers("[", types));
    const auto found = read_leftovers("[" + row("File", "true", kFile) + "]", types);
    EXPECT_EQ(found->front().name, "/a");
    EXPECT_EQ(found->front().sha256, "00");
    EXPECT_EQ(found->front().parameters.size(), 1U);
}

TEST(UndeclaredList, OfARolloutMayHaveAllTypes) {
    const auto all = read_leftovers(
        R"([{"type":"Package","title":"p","created_by_us":true,"removal":{"name":"p"}},)"
        R"({"type":"Exec","title":"e","created_by_us":true,"removal":{"name":"e"}}])",
        removable_types());
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), 1U);
    EXPECT_EQ(all->front().ref(), "Package[p]");
}

TEST(UndeclaredOptions, ReadsTheSettings) {
    config::Settings settings = config::Settings::defaults();
    const auto read = [&] {
        const auto options = UndeclaredOptions::read(settings);
        if (!options) return options.error().message;
        std::string out = options->remove ? "remove" : "report";
        for (const auto& type : options->types) out += " " + type;
        return out;
    };
    EXPECT_EQ(read(), "report File Service Cron");
    settings.set("undeclared", "remove");
    settings.set("undeclared_types", "Package,user");
    EXPECT_EQ(read(), "remove Package User");
    settings.set("undeclared_types", "exec");
    EXPECT_EQ(read(),
              "Invalid type 'exec' in the setting undeclared_types: expected file, service, cron, "
              "user or package");
    settings.set("undeclared", "yes");
    EXPECT_EQ(read(), "Invalid value 'yes' for the setting undeclared: expected report or remove");
}

}  // namespace
}  // namespace bunraku::agent
