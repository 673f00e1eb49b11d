// Years of an authority without a hand, and a roll-over in the middle of them.
#include "server/ca_upkeep.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

#include "pki/authority.h"
#include "pki/crl.h"

namespace bunraku::server {
namespace {

constexpr std::int64_t kUpkeepDay = 86400;

TEST(CaUpkeep, NothingEndsInTenYears) {
    char name[] = "/tmp/bunraku-upkeep-XXXXXX";
    const std::string path = ::mkdtemp(name);
    auto settings = config::Settings::defaults();
    for (auto [setting, value] : std::initializer_list<std::pair<const char*, const char*>>{
             {"confdir", "/conf"}, {"ssldir", "/ssl"}, {"vardir", "/var"}, {"cadir", "/ca"}}) {
        settings.set(setting, path + value);
    }
    settings.set("certname", "localhost");
    settings.set("ca_ttl", "90d");
    auto ca = read_ca_settings(settings).value();
    std::int64_t now = std::time(nullptr);
    auto authority =
        pki::AuthorityFolder::create(
            ca.paths, {.name = "One", .ttl = 50 * 365 * kUpkeepDay, .root_name = "Top"},
            [&] { return now; })
            .value();
    ASSERT_TRUE(publish_authority(settings, ca.paths));
    ASSERT_TRUE(ensure_server_certificate(settings, authority, ca.ca_ttl).value());
    std::size_t lists = 0, renewed = 0;
    const auto end = now + 10 * 365 * kUpkeepDay;
    for (; now < end; now += 7 * kUpkeepDay) {
        auto kept = keep_up(settings, ca, authority, now);
        ASSERT_TRUE(kept) << kept.error().message;
        lists += kept->lists;
        renewed += kept->server_certificate;
        const auto own = pki::read_certificates(settings.text("hostcert")).value().at(0);
        ASSERT_GT(own.not_after(), now + 22 * kUpkeepDay);
        const auto all = authority.crls().value();
        for (const auto& crl : all)
            ASSERT_GT(pki::facts_of(crl).next_update, now + 365 * kUpkeepDay);
    }
    EXPECT_GT(renewed, 50u);
    EXPECT_GE(lists, 6u);
    std::filesystem::remove_all(path);
}

TEST(CaUpkeep, FromOneAuthorityToTheNext) {
    char name[] = "/tmp/bunraku-upkeep-XXXXXX";
    const std::string path = ::mkdtemp(name);
    const auto paths = pki::AuthorityPaths::in(path);
    const auto now = [] { return std::time(nullptr); };
    auto one = pki::AuthorityFolder::create(paths, {.name = "One"}, now).value();
    const auto key = pki::make_key().value();
    const auto old = one.sign("a", key.native(), {}).value();
    ASSERT_TRUE(one.begin_rollover({.name = "Two"}));
    EXPECT_FALSE(one.begin_rollover({.name = "Three"}));
    auto both = pki::AuthorityFolder::open(paths, now).value();
    EXPECT_EQ(both.certificate().common_name(), "One");
    EXPECT_EQ(both.next_authority()->common_name(), "Two");
    ASSERT_TRUE(both.switch_authority());
    auto two = pki::AuthorityFolder::open(paths, now).value();
    EXPECT_EQ(two.certificate().common_name(), "Two");
    EXPECT_EQ(two.previous_authority()->common_name(), "One");
    EXPECT_EQ(two.holders_of_previous().value(), std::vector<std::string>{"a"});
    // In both lists.
    EXPECT_EQ(two.revoke({"a"}).value(), 1u);
    const auto all = two.crls().value();
    for (const auto& crl : all) EXPECT_TRUE(pki::is_revoked(crl, old));
    EXPECT_TRUE(two.holders_of_previous().value().empty());
    EXPECT_EQ(two.sign("b", key.native(), {}).value().issuer(), "/CN=Two");
    ASSERT_TRUE(two.end_rollover());
    auto last = pki::AuthorityFolder::open(paths, now).value();
    EXPECT_EQ(last.bundle().size(), 1u);
    EXPECT_EQ(last.crls().value().size(), 1u);
    std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace bunraku::server
