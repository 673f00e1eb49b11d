// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "compile/migration/findings.h"

namespace bunraku::migration {
namespace {

// If the code reads one of these settings, the setting has an effect and must leave the list.
TEST(Migration, CodeDoesNotReadSettingsWithoutEffect) {
    const auto source = std::filesystem::path(BUNRAKU_TEST_DATA) / "../src";
    ASSERT_GT(settings_without_effect().size(), 10U);
    for (const auto& file : std::filesystem::recursive_directory_iterator(source)) {
        const auto name = file.path().filename().string();
        if (!file.is_regular_file() || name == "settings_table.h" || name == "known_settings.cc" ||
            name == "findings.cc")
            continue;
        std::ifstream in(file.path());
        std::ostringstream text;
        text << in.rdbuf();
        for (const auto setting : settings_without_effect())
            EXPECT_EQ(text.str().find('"' + std::string(setting) + '"'), std::string::npos)
                << setting << " in " << name;
    }
}

}  // namespace
}  // namespace bunraku::migration
