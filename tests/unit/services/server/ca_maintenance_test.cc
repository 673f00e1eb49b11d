// SPDX-License-Identifier: Apache-2.0
// Simulates years of a CA without manual work, with a rollover in the middle.
#include "services/server/ca_maintenance.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

#include "net/pki/authority.h"
#include "net/pki/crl.h"

namespace bunraku::server {
namespace {

constexpr std::int64_t kUpkeepDay = 86400;

config::Settings upkeep_settings(const std::string& path) {
    auto settings = config::Settings::defaults();
    for (auto [setting, value] : std::initializer_list<std::pair<const char*, const char*>>{
             {"confdir", "/conf"}, {"ssldir", "/ssl"}, {"vardir", "/var"}, {"cadir", "/ca"}}) {
        settings.set(setting, path + value);
    }
    settings.set("certname", "localhost");
    return settings;
}

TEST(CaMaintenance, RenewsEverythingForTenYears) {
    char name[] = "/tmp/bunraku-upkeep-XXXXXX";
    const std::string path = ::mkdtemp(name);
    auto settings = upkeep_settings(path);
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
        auto kept = maintain(settings, ca, authority, now);
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

// A site that migrated from puppetserver can go back: the successor of an RSA CA is RSA. The server
// may have a second certificate.
TEST(CaMaintenance, PreservesRsaKeys) {
    char name[] = "/tmp/bunraku-upkeep-XXXXXX";
    const std::string path = ::mkdtemp(name);
    auto settings = upkeep_settings(path);
    settings.set("server-ec-certificate", "true");
    const auto ca = read_ca_settings(settings).value();
    std::int64_t now = std::time(nullptr);
    auto authority =
        pki::AuthorityFolder::create(
            ca.paths,
            {.name = "One", .ttl = ca.ca_ttl, .key = [] { return pki::make_rsa_key(2048); }},
            [&] { return now; })
            .value();
    ASSERT_TRUE(publish_authority(settings, ca.paths));
    ASSERT_TRUE(ensure_server_certificate(settings, authority, ca.ca_ttl).value());
    EXPECT_TRUE(pki::read_private_key(settings.text("hostprivkey")).value().is_rsa());
    EXPECT_TRUE(maintain(settings, ca, authority, now).value().server_certificate);
    const auto second = pki::read_certificates(second_certificate_path(settings)).value().at(0);
    const auto key = pki::read_private_key(second_key_path(settings)).value();
    EXPECT_TRUE(key.is_ec() && key.belongs_to(second));
    EXPECT_TRUE(second.puppet_extensions().empty());
    EXPECT_FALSE(maintain(settings, ca, authority, now).value().server_certificate);
    // The second certificate is renewed in time too, and the next CA key is RSA.
    now += 4 * 365 * kUpkeepDay + 30 * kUpkeepDay;
    ASSERT_TRUE(maintain(settings, ca, authority, now));
    EXPECT_GT(pki::read_certificates(second_certificate_path(settings)).value().at(0).not_after(),
              now + 100 * kUpkeepDay);
    EXPECT_TRUE(pki::read_private_key(ca.paths.next_key()).value().is_rsa());
    settings.set("ca_key_type", "ec");
    EXPECT_TRUE(make_ca_key(settings, &authority.key()).value().is_ec());
    std::filesystem::remove_all(path);
}

// By default, a CA is valid for five years. A node that renews in the last third of its
// certificate's lifetime always gets the next CA certificate in time.
TEST(CaMaintenance, CaCertificatesOverlap) {
    char name[] = "/tmp/bunraku-upkeep-XXXXXX";
    const std::string path = ::mkdtemp(name);
    auto settings = upkeep_settings(path);
    auto ca = read_ca_settings(settings).value();
    std::int64_t now = std::time(nullptr);
    const auto clock = [&] { return now; };
    auto authority =
        pki::AuthorityFolder::create(ca.paths, {.name = "One", .ttl = ca.ca_ttl}, clock).value();
    ASSERT_TRUE(publish_authority(settings, ca.paths));
    ASSERT_TRUE(ensure_server_certificate(settings, authority, ca.ca_ttl).value());
    const auto key = pki::make_key().value();
    auto node = authority.sign("node", key.native(), {}).value();
    std::vector<std::string> lines;
    for (const auto end = now + 12 * 365 * kUpkeepDay; now < end; now += 7 * kUpkeepDay) {
        const auto known = authority.bundle();
        auto kept = maintain(settings, ca, authority, now);
        ASSERT_TRUE(kept) << kept.error().message;
        EXPECT_TRUE(kept->warnings.empty()) << kept->warnings[0];
        lines.insert(lines.end(), kept->done.begin(), kept->done.end());
        if (kept->rolled) authority = pki::AuthorityFolder::open(ca.paths, clock).value();
        ASSERT_GT(authority.certificate().not_after(), now + 170 * kUpkeepDay);
        if (node.not_after() - now <= (node.not_after() - node.not_before()) / 3)
            node = authority.renew(node, ca.ca_ttl).value();
        for (const auto& each :
             {node, pki::read_certificates(settings.text("hostcert")).value().at(0)}) {
            ASSERT_GT(each.not_after(), now + 30 * kUpkeepDay);
            const auto signer = std::ranges::find_if(
                known, [&](const auto& a) { return a.subject() == each.issuer(); });
            ASSERT_NE(signer, known.end()) << each.issuer();
            EXPECT_LE(each.not_after(), signer->not_after());
        }
    }
    EXPECT_EQ(std::ranges::count_if(
                  lines, [](const auto& l) { return l.find("signs from now on") != l.npos; }),
              2);
    EXPECT_EQ(std::ranges::count_if(lines, [](const auto& l) { return l.starts_with("Dropped"); }),
              2);
    EXPECT_EQ(authority.bundle().size(), 1U);

    // With automatic rollover disabled, nothing happens.
    ca.allow_auto_rollover = false;
    now = authority.certificate().not_after() - 7 * kUpkeepDay;
    auto kept = maintain(settings, ca, authority, now);
    ASSERT_TRUE(kept);
    EXPECT_FALSE(kept->rolled);
    EXPECT_FALSE(kept->warnings.empty());
    std::filesystem::remove_all(path);
}

TEST(CaMaintenance, RollsOverToNextCa) {
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
    // In both CRLs.
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
