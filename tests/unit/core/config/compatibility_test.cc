// SPDX-License-Identifier: Apache-2.0
#include "core/config/compatibility.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <set>

#include "core/config/settings.h"
#include "testing/fake.h"

namespace bunraku::config {
namespace {

using enum Compatibility;

Settings settings_at(Compatibility level, bool root = true) {
    Settings s = Settings::defaults(std::make_shared<sys::MemoryFileSystem>(), root);
    s.set("compatibility", std::string(level_name(level)));
    return s;
}

TEST(Compatibility, TableIsConsistent) {
    std::set<std::string_view> names;
    for (const LevelChange& row : level_changes()) {
        EXPECT_EQ(&level_change(row.change), &row) << row.name;
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_FALSE(row.source.empty()) << row.name;
        // Before its level, a row has the old behaviour, and from then on another one.
        EXPECT_GT(row.since, Puppet8) << row.name;
        const auto since = static_cast<std::size_t>(row.since);
        EXPECT_NE(row.values[since], row.values[0]) << row.name;
        if (row.kind != LevelChange::Kind::Behavior) {
            EXPECT_NE(find_setting(row.name), nullptr) << row.name;
        }
    }
}

TEST(Compatibility, Names) {
    for (const Compatibility level : kLevels) EXPECT_EQ(level_from_name(level_name(level)), level);
    EXPECT_FALSE(level_from_name("puppet9"));
    Settings s = Settings::defaults(std::make_shared<sys::MemoryFileSystem>(), true);
    EXPECT_EQ(s.compatibility(), OpenVox8);
    EXPECT_EQ(s.text("compatibility"), "openvox8");
    s.set("compatibility", "puppet9");
    EXPECT_EQ(s.compatibility(), kDefaultLevel);
    EXPECT_EQ(s.problem("compatibility"),
              "Invalid value 'puppet9' for parameter compatibility. Allowed values are 'puppet8', "
              "'openvox8', 'openvox9'");
}

TEST(Compatibility, Defaults) {
    struct Row {
        const char* setting;
        std::array<const char*, 3> values;  // by level
    };
    for (const Row& row : {Row{"reports", {"store", "store", "none"}},
                           Row{"preprocess_deferred", {"false", "false", "true"}},
                           Row{"server", {"puppet", "puppet", "puppet"}},
                           Row{"ca_server", {"puppet", "puppet", "puppet"}}}) {
        for (const Compatibility level : kLevels) {
            Settings s = settings_at(level);
            EXPECT_EQ(s.text(std::string_view(row.setting)),
                      row.values[static_cast<std::size_t>(level)])
                << row.setting << level_name(level);
            s.set(row.setting, "x");
            EXPECT_EQ(s.text(std::string_view(row.setting)), "x");
        }
    }
    EXPECT_EQ(settings_at(OpenVox8, false).text("server"), "puppet");
    EXPECT_EQ(settings_at(OpenVox9, false).text("server"), "");
}

TEST(Compatibility, RemovedSettings) {
    for (const char* name :
         {"pluginsync", "configprint", "data_binding_terminus", "environment_data_provider"}) {
        for (const Compatibility level : kLevels) {
            const Settings s = settings_at(level);
            const auto names = s.names();
            const bool there = level != OpenVox9;
            EXPECT_EQ(s.get(std::string_view(name)).has_value(), there) << name;
            EXPECT_EQ(std::ranges::find(names, name) != names.end(), there) << name;
            EXPECT_EQ(removed_setting(level, name), !there) << name;
        }
    }
    EXPECT_FALSE(removed_setting(OpenVox9, "reports"));
}

TEST(Compatibility, WhatCodeSees) {
    EXPECT_EQ(puppet_version(Puppet8), "8.11.0");
    EXPECT_EQ(puppet_version(OpenVox8), "8.28.1");
    EXPECT_EQ(puppet_version(OpenVox9), "9.0.0");
    EXPECT_EQ(implementation(Puppet8), "");
    EXPECT_EQ(implementation(OpenVox8), "openvox");
    EXPECT_EQ(product(OpenVox8, "puppet"), "puppet");
    EXPECT_EQ(product(OpenVox9, "puppet"), "OpenVox");
}

TEST(Compatibility, RuntimeDirectoryOfSystemd) {
    const auto rundir = [](const char* value) {
        ::setenv("RUNTIME_DIRECTORY", value, 1);
        const Settings s = Settings::defaults(std::make_shared<sys::MemoryFileSystem>(), true);
        auto out = s.text("rundir");
        ::unsetenv("RUNTIME_DIRECTORY");
        return out;
    };
    EXPECT_EQ(rundir("/run/mine"), "/run/mine");
    EXPECT_EQ(rundir("/run/mine:/run/other"), "/run/mine");
    EXPECT_EQ(rundir(""), "/var/run/puppetlabs");
}

}  // namespace
}  // namespace bunraku::config
