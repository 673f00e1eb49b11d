// SPDX-License-Identifier: Apache-2.0
// Conversions, string formats and objects, with the results of Puppet 8.11. Each line contains an
// expression, a tab, and the value formatted with '%p', or "!!" and the error ("\n" represents line
// breaks).
#include <fstream>
#include <gtest/gtest.h>

#include "core/value/rich_data.h"
#include "language.h"
#include "language/types/rich_data.h"

namespace bunraku::types {
namespace {

class Answers : public testing::TestWithParam<const char*> {};

TEST_P(Answers, MatchPuppet) {
    std::ifstream file(std::string(BUNRAKU_TEST_DATA "/unit/language/types/") + GetParam());
    ASSERT_TRUE(file.is_open());
    int asked = 0;
    for (std::string line; std::getline(file, line);) {
        const auto tab = line.find('\t');
        if (line.empty() || line[0] == '#' || tab == std::string::npos) continue;
        const std::string question = line.substr(0, tab);
        Language language;
        std::string got = language.run(question);
        for (std::size_t at; (at = got.find('\n')) != std::string::npos;) got.replace(at, 1, "\\n");
        EXPECT_EQ(got, line.substr(tab + 1)) << question;
        ++asked;
    }
    EXPECT_GT(asked, 10);
}

INSTANTIATE_TEST_SUITE_P(Types, Answers,
                         testing::Values("conversions.txt", "formats.txt", "objects.txt"));

TEST(RichData, OfTypesMatchesPuppet) {
    std::ifstream file(BUNRAKU_TEST_DATA "/unit/language/types/rich_data.txt");
    ASSERT_TRUE(file.is_open());
    for (std::string line; std::getline(file, line);) {
        const auto tab = line.find('\t');
        if (line.empty() || line[0] == '#' || tab == std::string::npos) continue;
        Language language;
        const Value v = language.statement(line.substr(0, tab));
        const value::RichDataOptions options{.references_as_strings = false};
        const Value data = value::to_rich_data(language.arena, v, options);
        EXPECT_EQ(value::to_json(data), line.substr(tab + 1));
        const Value back =
            value::from_rich_data(language.arena, data, rich_data_factory(language.ctx));
        EXPECT_TRUE(value::equal(back, v)) << line << " came back as " << value::to_text(back);
    }
}

}  // namespace
}  // namespace bunraku::types
