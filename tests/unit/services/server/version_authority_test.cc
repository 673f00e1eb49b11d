// SPDX-License-Identifier: Apache-2.0
// Tests the rules by which a node gets another version of an environment, for one server.
#include "services/server/version_authority.h"

#include <gtest/gtest.h>

namespace bunraku::server {
namespace {

using namespace std::chrono_literals;

class MemoryVersionsTest : public testing::Test {
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
    std::shared_ptr<VersionAuthority> versions_ = make_memory_versions([this] { return now_; });
};

TEST_F(MemoryVersionsTest, TargetIsTheBase) {
    EXPECT_EQ(versions_->target("production", "n1"), std::nullopt);
}

TEST_F(MemoryVersionsTest, RunKeepsItsVersion) {
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

TEST_F(MemoryVersionsTest, KnownTransactionBeginsNoRun) {
    EXPECT_EQ(begin("t1", "v1"), "v1");
    EXPECT_EQ(begin("t1", "v2"), "v1");
    EXPECT_EQ(begin("", "v2"), "v2");  // the search of plugins after the request for the node
    EXPECT_EQ(begin("t1", "v3"), "v2");
    EXPECT_EQ(begin("t2", "v3"), "v3");
    EXPECT_EQ(begin("t1", "v4"), "v3");  // late
}

TEST_F(MemoryVersionsTest, CatalogNamesTheTransaction) {
    begin("", "v1");
    catalog("t1");
    EXPECT_EQ(begin("t1", "v2"), "v1");
    idle("t1");
    EXPECT_EQ(current(), "none");
}

TEST_F(MemoryVersionsTest, OnlyTheReportOfTheRunEndsIt) {
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

TEST_F(MemoryVersionsTest, LateReportDoesNotEndARunWithoutTransaction) {
    begin("t1", "v1");
    begin("", "v2");  // the next run, which names no transaction yet
    idle("t1");
    EXPECT_EQ(current(), "v2");
}

TEST_F(MemoryVersionsTest, RunWithoutReportEnds) {
    begin("t1", "v1");
    now_ += kLongestRun - 1s;
    EXPECT_EQ(current(), "v1");
    EXPECT_EQ(begin("t1", "v2"), "v1");
    now_ += 1s;
    EXPECT_EQ(current(), "none");
    EXPECT_EQ(begin("t1", "v2"), "v2");
}

TEST_F(MemoryVersionsTest, ImpliedRunEndsSoon) {
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

}  // namespace
}  // namespace bunraku::server
