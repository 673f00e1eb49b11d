// SPDX-License-Identifier: Apache-2.0
#include "services/agent/fact_limits.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/arena.h"
#include "core/value/rich_data.h"
#include "testing/fake.h"

namespace bunraku::agent {
namespace {

using Limits = std::vector<std::pair<std::string, std::string>>;

config::Settings settings_with(const std::string& level, const Limits& limits) {
    auto settings = config::Settings::defaults(std::make_shared<sys::MemoryFileSystem>(), true);
    settings.set("compatibility", level);
    for (const auto& [name, value] : limits) settings.set(name, value);
    return settings;
}

LogMessage into(std::string& out) {
    return [&out](base::Level level, const std::string& text) {
        out += (level == base::Level::Warning ? "W " : "D ") + text + "\n";
    };
}

std::string check(const std::string& level, const std::string& facts, const Limits& limits) {
    base::Arena arena;
    std::string out;
    check_fact_limits(settings_with(level, limits), *value::parse_json(arena, facts), into(out));
    return out;
}

std::string payload(const std::string& level, std::size_t size, const std::string& limit) {
    std::string out;
    check_payload_size(settings_with(level, {{"payload_soft_limit", limit}}), size, into(out));
    return out;
}

constexpr const char* kFacts =
    R"({"a": {"bc": ["x", "longer"], "empty": {}, "none": []}, "n": 12345, "t": true})";

// The texts are those of Puppet 8.11 and of OpenVox 8.28.
TEST(FactLimits, NamesAndValues) {
    EXPECT_EQ(check("openvox8", kFacts,
                    {{"fact_name_length_soft_limit", "17"}, {"fact_value_length_soft_limit", "5"}}),
              "W Fact a.bc.0 with length: 18 exceeds the fact name length limit: 17\n"
              "W Fact a.bc.1 with length: 18 exceeds the fact name length limit: 17\n"
              "W Fact a.bc.1 with value longer with the value length: 6 exceeds the value length "
              "limit: 5\n"
              "D The total number of facts registered is 4\n");
    EXPECT_EQ(check("puppet8", kFacts,
                    {{"fact_name_length_soft_limit", "17"}, {"fact_value_length_soft_limit", "5"}}),
              "W Fact abc0 with length: '4' exceeds the length limit: 17\n"
              "W Fact abc1 with length: '4' exceeds the length limit: 17\n"
              "W Fact value 'longer' with the value length: '6' exceeds the value length limit: 5\n"
              "D The total number of facts registered is 4\n");
}

TEST(FactLimits, Counts) {
    EXPECT_EQ(check("openvox9", kFacts,
                    {{"top_level_facts_soft_limit", "2"}, {"number_of_facts_soft_limit", "3"}}),
              "W The current number of top level facts: 3 exceeds the top facts limit: 2\n"
              "W The current total number of fact values: 4 exceeds the fact values limit: 3\n"
              "D The total number of facts registered is 4\n");
    EXPECT_EQ(check("openvox9", kFacts,
                    {{"top_level_facts_soft_limit", "3"}, {"number_of_facts_soft_limit", "4"}}),
              "D The total number of facts registered is 4\n");
}

TEST(FactLimits, ZeroIsUnlimited) {
    EXPECT_EQ(check("openvox8", kFacts,
                    {{"fact_name_length_soft_limit", "0"},
                     {"fact_value_length_soft_limit", "0"},
                     {"top_level_facts_soft_limit", "0"},
                     {"number_of_facts_soft_limit", "0"}}),
              "D The total number of facts registered is 4\n");
    EXPECT_EQ(payload("openvox8", 17, "0"), "");
}

TEST(FactLimits, Payload) {
    EXPECT_EQ(payload("openvox8", 17, "16"),
              "W Payload with the current size of: 17 exceeds the payload size limit: 16\n"
              "D The size of the payload is 17\n");
    EXPECT_EQ(payload("puppet8", 17, "16"),
              "W Payload with the current size of: '17' exceeds the payload size limit: 16\n"
              "D The size of the payload is 17\n");
    EXPECT_EQ(payload("openvox8", 16, "16"), "D The size of the payload is 16\n");
}

}  // namespace
}  // namespace bunraku::agent
