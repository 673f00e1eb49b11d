// SPDX-License-Identifier: Apache-2.0
#include "language/environment/snapshots.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

#include "language/environment/conf.h"
#include "language/environment/overlaid_files.h"

namespace bunraku::environment {
namespace {

namespace fs = std::filesystem;

class SnapshotsTest : public testing::Test {
protected:
    SnapshotsTest() {
        char name[] = "/tmp/snapshots_test_XXXXXX";
        root_ = ::mkdtemp(name);
        write("envs/production/manifests/site.pp", "include foo");
        write("envs/production/modules/foo/manifests/init.pp", "class foo { }");
        write("envs/testing/manifests/site.pp", "include foo");
    }
    ~SnapshotsTest() override { fs::remove_all(root_); }

    // Sets an old modification time, so that a later write changes it.
    void write(const std::string& path, const std::string& text) {
        auto full = fs::path(root_) / path;
        fs::create_directories(full.parent_path());
        std::ofstream(full) << text;
        age();
    }
    void age() {
        ++age_;
        for (const auto& item : fs::recursive_directory_iterator(root_)) {
            auto& known = ages_[item.path()];
            auto now = fs::last_write_time(item.path());
            if (known.first == now) continue;
            known.first = fs::file_time_type::clock::now() - std::chrono::hours(100) +
                          std::chrono::seconds(age_);
            fs::last_write_time(item.path(), known.first);
        }
    }
    Snapshots::Options options() {
        Snapshots::Options out;
        out.spec.environmentpath = {root_ + "/envs"};
        out.now_seconds = [this] { return now_; };
        return out;
    }
    std::shared_ptr<const Environment> get(Snapshots& all, std::string_view name) {
        auto found = all.get(name, log_);
        EXPECT_TRUE(found) << found.error().message;
        return found ? *found : nullptr;
    }

    std::string root_;
    int age_ = 0;
    std::map<fs::path, std::pair<fs::file_time_type, int>> ages_;
    std::int64_t now_ = 1000;
    base::MemorySink log_;
};

TEST_F(SnapshotsTest, NoticesChanges) {
    Snapshots all(options());
    auto first = get(all, "production");
    auto init = first->manifest_candidates("foo").at(0).second;
    auto parsed = first->parse_file(init);
    auto site = first->main_manifests().at(0);
    EXPECT_TRUE(first->manifest_candidates("foo::bar").size() == 2);  // init.pp, twice
    EXPECT_EQ(get(all, "production"), first);
    auto testing = get(all, "testing");

    // After a file changes, a new snapshot shares the unchanged parts. The old snapshot does not
    // change.
    write("envs/production/modules/foo/manifests/init.pp", "class foo { notify { x: } }");
    auto second = get(all, "production");
    EXPECT_NE(second, first);
    EXPECT_NE(second->parse_file(init), parsed);
    EXPECT_EQ(second->main_manifests().at(0), site);
    EXPECT_EQ(first->parse_file(init), parsed);
    EXPECT_EQ(get(all, "testing"), testing);
    EXPECT_EQ(get(all, "production"), second);

    // A new file in a known folder, a new module, a new main manifest, a removed file.
    EXPECT_EQ(second->manifest_candidates("foo::bar").size(), 2U);
    write("envs/production/modules/foo/manifests/bar.pp", "class foo::bar { }");
    auto third = get(all, "production");
    EXPECT_NE(third, second);
    EXPECT_EQ(third->manifest_candidates("foo::bar").size(), 3U);
    write("envs/production/modules/new/manifests/init.pp", "class new { }");
    auto fourth = get(all, "production");
    EXPECT_NE(fourth->module("new"), nullptr);
    EXPECT_EQ(third->module("new"), nullptr);
    EXPECT_EQ(fourth->main_manifests().size(), 1U);
    write("envs/production/manifests/z.pp", "");
    EXPECT_EQ(get(all, "production")->main_manifests().size(), 2U);
    fs::remove(root_ + "/envs/production/manifests/z.pp");
    age();
    EXPECT_EQ(get(all, "production")->main_manifests().size(), 1U);
    write("envs/production/environment.conf", "modulepath = none");
    EXPECT_EQ(get(all, "production")->modules().size(), 0U);
    EXPECT_EQ(all.list(), (std::vector<std::string>{"production", "testing"}));
}

TEST_F(SnapshotsTest, LinksToVersions) {
    write("versions/one/manifests/site.pp", "");
    write("versions/two/manifests/site.pp", "");
    const auto link = root_ + "/envs/live";
    fs::create_directory_symlink("../versions/one", link);
    auto plain = options();
    auto versioned = options();
    versioned.spec.setting = [](std::string_view name) -> std::optional<std::string> {
        if (name == "versioned_environment_dirs") return "true";
        return std::nullopt;
    };
    Snapshots by_link(plain), by_version(versioned);
    EXPECT_EQ(get(by_link, "live")->directory(), link);
    EXPECT_EQ(get(by_version, "live")->directory(), root_ + "/versions/one");
    fs::remove(link);
    fs::create_directory_symlink("../versions/two", link);
    EXPECT_EQ(get(by_version, "live")->directory(), root_ + "/versions/two");
}

TEST_F(SnapshotsTest, Missing) {
    Snapshots all(options());
    auto none = all.get("none", log_);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, 404);
    EXPECT_EQ(none.error().message,
              "Could not find a directory environment named 'none' anywhere in the path: " + root_ +
                  "/envs. Does the directory exist?");
    EXPECT_FALSE(all.get("../x", log_));
    write("envs/none/manifests/site.pp", "");
    EXPECT_TRUE(all.get("none", log_));
    fs::remove_all(root_ + "/envs/none");
    age();
    EXPECT_FALSE(all.get("none", log_));
}

TEST_F(SnapshotsTest, Timeouts) {
    write("envs/production/environment.conf", "environment_timeout = unlimited\nnonsense = 1\n");
    write("envs/testing/environment.conf", "environment_timeout = 1m\n");
    Snapshots all(options());
    auto production = get(all, "production"), testing = get(all, "testing");
    production->main_manifests();
    testing->main_manifests();
    write("envs/production/manifests/site.pp", "include bar");
    write("envs/testing/manifests/site.pp", "include bar");
    now_ += 60;
    EXPECT_EQ(get(all, "production"), production);
    EXPECT_EQ(get(all, "testing"), testing);  // within the timeout, which starts again
    now_ += 60;
    EXPECT_EQ(get(all, "testing"), testing);
    now_ += 61;
    EXPECT_NE(get(all, "testing"), testing);
    all.clear("production");
    EXPECT_NE(get(all, "production"), production);
    // the warning is logged once, however often the environment is opened
    EXPECT_EQ(log_.records.size(), 1U);
}

TEST_F(SnapshotsTest, ManyThreads) {
    Snapshots all(options());
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            base::NullSink log;
            for (int i = 0; i < 200; ++i) {
                auto env = all.get(t % 2 ? "production" : "testing", log);
                if (!env || (*env)->main_manifests().size() != 1) std::abort();
                if (i % 50 == 0) all.clear();
            }
        });
    }
    for (auto& t : threads) t.join();
}

TEST(Conf, TimeToLive) {
    EXPECT_TRUE(*parse_ttl("0", "x") == std::optional<std::int64_t>(0));
    EXPECT_TRUE(*parse_ttl("unlimited", "x") == std::optional<std::int64_t>());
    EXPECT_TRUE(*parse_ttl("3m", "x") == std::optional<std::int64_t>(180));
    EXPECT_TRUE(*parse_ttl("1y", "x") == std::optional<std::int64_t>(31536000));
    EXPECT_EQ(parse_ttl("soon", "environment_timeout").error().message,
              "Invalid 'time to live' format '\"soon\"' for parameter: environment_timeout");
    EXPECT_FALSE(parse_ttl("-1", "x"));
    EXPECT_FALSE(parse_ttl("", "x"));
}

TEST_F(SnapshotsTest, VersionsShareParsedFilesAndReads) {
    write("versions/a/modules/foo/manifests/init.pp", "class foo { }");
    write("versions/a/modules/foo/manifests/bar.pp", "class foo::bar { }");
    fs::create_directories(root_ + "/versions/b/modules/foo/manifests");
    fs::create_hard_link(root_ + "/versions/a/modules/foo/manifests/init.pp",
                         root_ + "/versions/b/modules/foo/manifests/init.pp");
    write("versions/b/modules/foo/manifests/bar.pp", "class foo::bar { notify { b: } }");
    const auto shown = root_ + "/envs/production";
    const auto reads = std::make_shared<ReadTable>();
    const auto options_of = [&](const std::string& version) {
        auto out = options();
        out.spec.reads = reads;
        out.spec.files = mapped_files(disk_files(), shown, root_ + "/versions/" + version);
        return out;
    };
    Snapshots first(options_of("a"));
    EXPECT_EQ(first.known("production"), nullptr);
    const auto a = get(first, "production");
    EXPECT_EQ(first.known("production"), a);
    const auto init = shown + "/modules/foo/manifests/init.pp",
               bar = shown + "/modules/foo/manifests/bar.pp";
    const auto parsed = a->parse_file(init), other = a->parse_file(bar);
    auto next = options_of("b");
    next.previous = [&](std::string_view name) { return first.known(name); };
    Snapshots second(std::move(next));
    const auto b = get(second, "production");
    EXPECT_EQ(b->directory(), shown);
    EXPECT_EQ(b->reads(), a->reads());
    EXPECT_EQ(b->parse_file(init), parsed);
    EXPECT_NE(b->parse_file(bar), other);
}

TEST(Conf, Interpolation) {
    auto setting = [](std::string_view name) -> std::optional<std::string> {
        if (name == "codedir") return "/code";
        return std::nullopt;
    };
    EXPECT_EQ(interpolate("$codedir/a:${codedir}b:$", setting), "/code/a:/codeb:$");
    EXPECT_EQ(interpolate("${nope}/x", setting).error().message,
              "Could not find value for ${nope}");
    EXPECT_EQ(expand_modulepath("site:$basemodulepath:/abs/../x", "/e", *disk_files()),
              (std::vector<std::string>{"/e/site", "$basemodulepath", "/x"}));
}

}  // namespace
}  // namespace bunraku::environment
