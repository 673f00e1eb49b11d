// SPDX-License-Identifier: Apache-2.0
// Tests the rules by which a node gets another version of an environment, for one server.
#include "services/server/version_authority.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace bunraku::server {
namespace {

using namespace std::chrono_literals;

class LocalVersionsTest : public testing::Test {
protected:
    std::string begin(std::string_view transaction, std::string_view version,
                      bool implied = false) {
        return *versions_->begin({.environment = "production",
                                  .node = "n1",
                                  .transaction = transaction,
                                  .implied = implied},
                                 version);
    }
    std::string current(std::string_view node = "n1") {
        return versions_->current("production", node)->value_or("none");
    }
    void catalog(std::string_view transaction) {
        versions_->catalog({.environment = "production", .node = "n1", .transaction = transaction});
    }
    void idle(std::string_view transaction) {
        versions_->idle({.environment = "production", .node = "n1", .transaction = transaction});
    }

    std::chrono::steady_clock::time_point now_{1h};
    base::MemorySink log_;
    std::shared_ptr<VersionAuthority> versions_ =
        make_local_versions("", log_, [this] { return now_; });
};

TEST_F(LocalVersionsTest, TargetIsTheBase) {
    EXPECT_EQ(versions_->target("production", "n1"), std::nullopt);
}

TEST_F(LocalVersionsTest, RunKeepsItsVersion) {
    EXPECT_EQ(current(), "none");
    EXPECT_EQ(begin("", "v1"), "v1");
    EXPECT_EQ(current(), "v1");
    catalog("t1");
    EXPECT_EQ(current(), "v1");
    EXPECT_EQ(begin("", "v2"), "v2");
    EXPECT_EQ(current(), "v2");
    EXPECT_EQ(current("n2"), "none");
    EXPECT_EQ(*versions_->current("other", "n1"), std::nullopt);
}

TEST_F(LocalVersionsTest, KnownTransactionBeginsNoRun) {
    EXPECT_EQ(begin("t1", "v1"), "v1");
    EXPECT_EQ(begin("t1", "v2"), "v1");
    EXPECT_EQ(begin("", "v2"), "v2");  // the search of plugins after the request for the node
    EXPECT_EQ(begin("t1", "v3"), "v2");
    EXPECT_EQ(begin("t2", "v3"), "v3");
    EXPECT_EQ(begin("t1", "v4"), "v3");  // late
}

TEST_F(LocalVersionsTest, CatalogNamesTheTransaction) {
    begin("", "v1");
    catalog("t1");
    EXPECT_EQ(begin("t1", "v2"), "v1");
    idle("t1");
    EXPECT_EQ(current(), "none");
}

TEST_F(LocalVersionsTest, OnlyTheReportOfTheRunEndsIt) {
    begin("t1", "v1");
    begin("", "v1");
    catalog("t1");
    idle("t0");
    idle("");
    EXPECT_EQ(current(), "v1");
    idle("t1");
    EXPECT_EQ(current(), "none");
    idle("t1");
    begin("t2", "v2");
    idle("t1");  // twice
    EXPECT_EQ(current(), "v2");
}

TEST_F(LocalVersionsTest, LateReportDoesNotEndARunWithoutTransaction) {
    begin("t1", "v1");
    begin("", "v2");  // the next run, which names no transaction yet
    idle("t1");
    EXPECT_EQ(current(), "v2");
}

TEST_F(LocalVersionsTest, RunWithoutReportEnds) {
    begin("t1", "v1");
    now_ += kLongestRun - 1s;
    EXPECT_EQ(current(), "v1");
    EXPECT_EQ(begin("t1", "v2"), "v1");
    now_ += 1s;
    EXPECT_EQ(current(), "none");
    EXPECT_EQ(begin("t1", "v2"), "v2");
}

TEST_F(LocalVersionsTest, ImpliedRunEndsSoon) {
    begin("", "v1", true);
    now_ += kLongestImpliedRun - 1s;
    EXPECT_EQ(current(), "v1");
    now_ += 1s;
    EXPECT_EQ(current(), "none");
    // The request for a catalog shows that it is a run.
    begin("", "v1", true);
    catalog("t1");
    now_ += kLongestImpliedRun;
    EXPECT_EQ(current(), "v1");
}

/// Restarts of the server in the middle of runs.
class RestartedVersionsTest : public LocalVersionsTest {
protected:
    RestartedVersionsTest() { start(); }
    ~RestartedVersionsTest() override { std::filesystem::remove_all(folder_); }
    void start() {
        versions_ = make_local_versions(folder_ + "/versions", log_, [this] { return now_; });
    }
    void base(std::string_view version) { versions_->base("production", version); }
    static std::string scratch() {
        char name[] = "/tmp/version_authority_test_XXXXXX";
        return ::mkdtemp(name);
    }
    const std::string folder_ = scratch();
};

TEST_F(RestartedVersionsTest, RunKeepsItsVersion) {
    base("v1");
    begin("t1", "v1");
    base("v2");
    start();
    base("v2");
    EXPECT_EQ(current(), "v1");
    EXPECT_EQ(begin("t1", "v2", true), "v1");
    EXPECT_EQ(begin("t2", "v2"), "v2");
    start();
    base("v2");
    EXPECT_EQ(current(), "none");  // the run of the base is not written
    EXPECT_EQ(begin("t2", "v2", true), "v2");
    EXPECT_TRUE(log_.records.empty());
}

TEST_F(RestartedVersionsTest, ReportEndsAWrittenRun) {
    base("v1");
    begin("t1", "v1");
    base("v2");
    idle("t1");
    start();
    base("v2");
    EXPECT_EQ(current(), "none");
}

TEST_F(RestartedVersionsTest, LinkMovedWhileTheServerWasStopped) {
    base("v1");
    begin("t1", "v1");
    start();
    base("v2");
    // The run is not known, but it began when the base was v1.
    EXPECT_EQ(begin("t1", "v2", true), "v1");
    EXPECT_EQ(current(), "v1");
    EXPECT_EQ(begin("t2", "v2"), "v2");
    idle("t2");
    EXPECT_EQ(begin("", "v2", true), "v2");
    start();
    base("v2");
    EXPECT_EQ(begin("t3", "v2", true), "v2");
}

TEST_F(RestartedVersionsTest, RecordedVersionIsNotTheEarlierBase) {
    base("v1");
    start();
    base("v2");
    const NodeRun run{.environment = "production", .node = "n1", .implied = true, .recorded = true};
    EXPECT_EQ(*versions_->begin(run, "v2"), "v2");
}

TEST_F(RestartedVersionsTest, RolloutMovedTheLinkBeforeTheServerStopped) {
    base("v1");
    begin("t1", "v1");
    ASSERT_TRUE(versions_->move_base("production", "v2"));
    start();
    base("v2");
    EXPECT_EQ(current(), "v1");
    EXPECT_EQ(begin("t2", "v2", true), "v2");
    idle("t2");
    EXPECT_EQ(begin("", "v2", true), "v2");
}

TEST_F(RestartedVersionsTest, EarlierBaseIsForgottenAfterTheLongestRun) {
    base("v1");
    start();
    base("v2");
    now_ += kLongestRun;
    EXPECT_EQ(begin("t1", "v2", true), "v2");
}

TEST_F(RestartedVersionsTest, TornLinesAreIgnored) {
    base("v1");
    begin("t1", "v1");
    base("v2");
    {
        std::ofstream out(folder_ + "/versions", std::ios::app);
        out << "ended\tproduction\tn1";
    }
    start();
    base("v2");
    EXPECT_EQ(current(), "v1");
    idle("t1");
    start();
    base("v2");
    EXPECT_EQ(current(), "none");
}

TEST_F(RestartedVersionsTest, DiskErrorIsLogged) {
    std::filesystem::remove_all(folder_);
    base("v1");
    ASSERT_EQ(log_.records.size(), 1U);
    EXPECT_TRUE(log_.records[0].message.starts_with("Could not record the versions of runs: "));
    EXPECT_EQ(begin("t1", "v1"), "v1");
    // A rollout must not move the link then.
    EXPECT_FALSE(versions_->move_base("production", "v2"));
}

}  // namespace
}  // namespace bunraku::server
