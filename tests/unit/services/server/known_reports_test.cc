// SPDX-License-Identifier: Apache-2.0
#include "services/server/known_reports.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "core/value/rich_data.h"

namespace bunraku::server {
namespace {

using value::Value;

TEST(KnownReports, AppliesDifferenceToNamedReport) {
    std::string name = "/tmp/bunraku-reports-XXXXXX";
    const std::string folder = ::mkdtemp(name.data());
    base::MemorySink log;
    KnownReports reports(folder + "/reports", log);
    base::Arena arena;
    const auto known = reports.keep(
        "a", R"({"host":"a","time":"1","status":"unchanged","logs":[1],)"
             R"("metrics":{"time":{"x":1},"events":{"total":0}},"resource_statuses":{"F":1}})");
    ASSERT_FALSE(known.empty());
    const auto difference =
        value::parse_json(arena, R"({"host":"a","time":"2","logs":[],"metrics":{"time":{"y":2}}})");
    ASSERT_TRUE(difference);
    const auto whole = reports.find(arena, "a", known, *difference);
    ASSERT_TRUE(whole);
    EXPECT_EQ(value::to_json(*whole), R"({"host":"a","time":"2","status":"unchanged","logs":[],)"
                                      R"("metrics":{"time":{"y":2},"events":{"total":0}},)"
                                      R"("resource_statuses":{"F":1}})");
    EXPECT_FALSE(reports.find(arena, "a", "other", *difference));
    EXPECT_FALSE(reports.find(arena, "b", known, *difference));
    const auto newer = reports.keep("a", R"({"host":"a"})");
    EXPECT_FALSE(reports.find(arena, "a", known, *difference));
    EXPECT_TRUE(reports.find(arena, "a", newer, *difference));
    EXPECT_TRUE(log.records.empty());
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace bunraku::server
