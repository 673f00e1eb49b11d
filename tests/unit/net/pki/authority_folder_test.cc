// SPDX-License-Identifier: Apache-2.0
// Tests the authority on disk: certificates, inventory, serials and CRLs must stay consistent in
// all cases.
#include "net/pki/authority_folder.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "net/pki/verify.h"

namespace bunraku::pki {
namespace {

constexpr std::int64_t kYear = 365 * 86400;

struct Place {
    std::string path;
    std::int64_t time = std::time(nullptr);
    Place() {
        char name[] = "/tmp/bunraku-ca-XXXXXX";
        path = ::mkdtemp(name);
    }
    ~Place() { std::filesystem::remove_all(path); }
    AuthorityPaths paths() const { return AuthorityPaths::in(path + "/ca"); }
    AuthorityFolder::Now now() {
        return [this] { return time; };
    }
    AuthorityFolder make(const std::string& root = {}) {
        auto out =
            AuthorityFolder::create(paths(), {.name = "Puppet CA: test", .root_name = root}, now());
        EXPECT_TRUE(out) << out.error().message;
        return *out;
    }
    std::string read(const std::string& name) const {
        std::ifstream in(path + "/ca/" + name);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void put(const std::string& name, const std::string& text) const {
        std::ofstream(path + "/ca/" + name) << text;
    }
    unsigned mode(const std::string& name) const {
        struct stat s{};
        ::stat((path + "/ca/" + name).c_str(), &s);
        return s.st_mode & 07777;
    }
};

Certificate sign(const AuthorityFolder& folder, const std::string& name, std::int64_t ttl = kYear) {
    static const auto key = make_key().value();
    auto out = folder.sign(name, key.native(), {.ttl = ttl});
    EXPECT_TRUE(out) << out.error().message;
    return *out;
}

TEST(AuthorityFolder, UsesPuppetserverLayout) {
    for (const char* root : {"", "Puppet Root CA: 1"}) {
        Place place;
        place.make(root);
        auto folder = AuthorityFolder::open(place.paths(), place.now()).value();
        EXPECT_EQ(folder.certificate().subject(), "/CN=Puppet CA: test");
        EXPECT_TRUE(folder.certificate().is_authority());
        EXPECT_EQ(folder.bundle().size(), *root ? 2u : 1u);
        EXPECT_EQ(folder.crls().value().size(), *root ? 2u : 1u);
        EXPECT_EQ(place.mode("ca_key.pem"), 0640u);
        EXPECT_EQ(place.mode("ca_crt.pem"), 0644u);
        EXPECT_EQ(place.mode("root_key.pem"), *root ? 0640u : 0u);
        for (const char* name : {"ca_pub.pem", "infra_crl.pem", "infra_inventory.txt",
                                 "infra_serials", "requests", "signed"})
            EXPECT_TRUE(std::filesystem::exists(place.path + "/ca/" + name)) << name;
        // A self-signed authority has used the first serial itself.
        EXPECT_EQ(place.read("serial"), *root ? "0001" : "0002");
        auto one = sign(folder, "a.example");
        EXPECT_EQ(one.serial(), *root ? "0x0001" : "0x0002");
        EXPECT_EQ(one.alternative_names(), std::vector<std::string>{"DNS:a.example"});
        EXPECT_EQ(one.not_before(), place.time - 86400);
        EXPECT_EQ(one.not_after(), place.time + kYear);
        EXPECT_TRUE(place.read("inventory.txt")
                        .ends_with(fmt::format("{} {} {} /CN=a.example\n", one.serial(),
                                               puppet_time(one.not_before()),
                                               puppet_time(one.not_after()))));
        EXPECT_EQ(place.read("signed/a.example.pem"), one.pem());
        auto good = verify(one, folder.bundle(), folder.crls().value(), RevocationCheck::Chain);
        EXPECT_EQ(good.message, "");
        EXPECT_EQ(good.chain.size(), *root ? 3u : 2u);
        // A second authority is not created in the same folder.
        auto again = AuthorityFolder::create(place.paths(), {.name = "x"}, place.now());
        ASSERT_FALSE(again);
        EXPECT_EQ(again.error().code, EEXIST);
    }
}

TEST(AuthorityFolder, ReportsMissingFiles) {
    for (const char* name : {"ca_crt.pem", "ca_crl.pem", "ca_key.pem", "inventory.txt", "serial"}) {
        Place place;
        place.make();
        std::filesystem::remove(place.path + "/ca/" + name);
        auto open = AuthorityFolder::open(place.paths(), place.now());
        ASSERT_FALSE(open) << name;
        EXPECT_TRUE(open.error().message.starts_with(
            "Cannot initialize CA with partial state; need all files or none.\nFound:\n"));
        EXPECT_TRUE(
            open.error().message.ends_with(fmt::format("Missing:\n{}/ca/{}\n", place.path, name)));
    }
    Place place, other;
    place.make();
    other.make();
    place.put("ca_key.pem", other.read("ca_key.pem"));
    EXPECT_NE(AuthorityFolder::open(place.paths(), place.now())
                  .error()
                  .message.find("does not belong to any certificate"),
              std::string::npos);
}

TEST(AuthorityFolder, Revocations) {
    Place place;
    auto folder = place.make("Root");
    auto a = sign(folder, "a"), b = sign(folder, "b");
    EXPECT_EQ(facts_of(folder.own_crl().value()).number, 0);
    EXPECT_EQ(folder.revoke({"a"}), 1u);
    EXPECT_EQ(folder.revoke({"a"}), 0u);
    auto crl = folder.own_crl().value();
    EXPECT_TRUE(is_revoked(crl, a));
    EXPECT_FALSE(is_revoked(crl, b));
    auto facts = facts_of(crl);
    EXPECT_EQ(facts.number, 1);
    EXPECT_EQ(facts.issuer, "CN=Puppet CA: test");
    EXPECT_EQ(facts.authority_key, folder.certificate().subject_key_id());
    EXPECT_EQ(facts.next_update, place.time + kCrlLifetime);
    EXPECT_EQ(folder.crls().value().size(), 2u);
    EXPECT_EQ(folder.revoke({"nobody"}).error().code, ENOENT);
    EXPECT_EQ(verify(a, folder.bundle(), folder.crls().value(), RevocationCheck::Leaf).message,
              "Certificate 'CN=a' is revoked");
    using State = CertificateStatus::State;
    EXPECT_EQ(folder.status("a").value().state, State::Revoked);
    EXPECT_EQ(folder.status("b").value().state, State::Signed);
    EXPECT_EQ(folder.statuses(AuthorityFolder::Listed::Both).value().size(), 2u);
    // The file is removed; the revocation remains.
    EXPECT_EQ(folder.delete_certificate("a"), true);
    EXPECT_EQ(folder.delete_certificate("a"), false);
    EXPECT_TRUE(is_revoked(folder.own_crl().value(), a));
}

TEST(AuthorityFolder, RevokesRenewedCertificates) {
    Place place;
    auto folder = place.make();
    auto key = make_key().value();
    auto old = folder
                   .sign("a", key.native(),
                         {.ttl = kYear,
                          .alternative_names = {"DNS:other", "IP:10.0.0.1"},
                          .extensions = {{"1.3.6.1.4.1.34380.1.1.13", "web"}}})
                   .value();
    auto expired = sign(folder, "b", 100);
    auto next = folder.renew(old, 2 * kYear).value();
    EXPECT_TRUE(key.belongs_to(next));
    EXPECT_NE(next.serial(), old.serial());
    EXPECT_EQ(next.alternative_names(), old.alternative_names());
    EXPECT_EQ(next.puppet_extensions().at(0).name, "pp_role");
    EXPECT_EQ(next.not_after(), place.time + 2 * kYear);
    EXPECT_FALSE(is_revoked(folder.own_crl().value(), old));
    EXPECT_EQ(folder.revoke({"a"}), 2u);
    EXPECT_TRUE(is_revoked(folder.own_crl().value(), old));
    EXPECT_TRUE(is_revoked(folder.own_crl().value(), next));
}

Request request_of(const PrivateKey& key, const std::string& name) {
    return make_request(key, {.common_name = name}).value();
}

// A revoked node cannot renew, neither with that certificate nor with another one with the same
// name and key that the inventory no longer contains.
TEST(AuthorityFolder, RefusesRenewalAfterRevocation) {
    Place place;
    auto folder = place.make();
    const auto key = make_key().value();
    const auto lost = folder.sign("a", key.native(), {}).value();
    const auto other_name = folder.sign("b", key.native(), {}).value();
    place.put("inventory.txt", "");
    const auto known = folder.renew(lost, kYear).value();
    EXPECT_EQ(folder.revoke({"a"}), 1u);
    EXPECT_FALSE(is_revoked(folder.own_crl().value(), lost));
    for (const auto& c : {lost, known}) {
        EXPECT_EQ(folder.renew(c, kYear).error().code, EACCES);
        EXPECT_EQ(folder.renew(c, kYear).error().message,
                  fmt::format("The certificate {} of a, or its key, is revoked", c.serial()));
    }
    EXPECT_TRUE(folder.renew(other_name, kYear));
    // Signing the key again is a new decision.
    const auto again = folder.sign("a", request_of(key, "a"), kYear).value();
    EXPECT_TRUE(folder.renew(again, kYear));
    EXPECT_EQ(folder.renew(known, kYear).error().code, EACCES);
}

// Revocation does not depend on the file in signed/. It revokes all certificates in the inventory.
TEST(AuthorityFolder, RevocationIsByName) {
    Place place;
    auto folder = place.make();
    const auto first = sign(folder, "a"), second = sign(folder, "a");
    ASSERT_EQ(folder.delete_certificate("a"), true);
    EXPECT_TRUE(folder.can_revoke("a"));
    EXPECT_EQ(folder.revoke({"a"}), 2u);
    EXPECT_TRUE(is_revoked(folder.own_crl().value(), first));
    EXPECT_TRUE(is_revoked(folder.own_crl().value(), second));
    EXPECT_FALSE(folder.can_revoke("a"));
    EXPECT_FALSE(folder.can_revoke("nobody"));
    const auto third = sign(folder, "a");
    EXPECT_EQ(folder.revoke({"a"}, AuthorityFolder::Files::Delete), 1u);
    EXPECT_TRUE(is_revoked(folder.own_crl().value(), third));
    EXPECT_FALSE(folder.has_certificate("a"));
}

// Other processes and threads renew a certificate with a stolen key while the name is revoked. None
// of the new certificates may stay valid.
TEST(AuthorityFolder, ConcurrentRevocationWinsOverRenewal) {
    for (const auto files : {AuthorityFolder::Files::Keep, AuthorityFolder::Files::Delete}) {
        Place place;
        auto folder = place.make();
        const auto stolen = sign(folder, "stolen");
        const auto renew_until_refused = [&](const AuthorityFolder& own) {
            auto last = stolen;
            while (true) {
                auto next = own.renew(last, kYear);
                if (!next) return next.error().code == EACCES;
                last = std::move(*next);
            }
        };
        std::vector<pid_t> children;
        for (int i = 0; i < 3; i++) {
            const pid_t child = ::fork();
            if (child == 0) {
                auto own = AuthorityFolder::open(place.paths(), place.now());
                ::_exit(own && renew_until_refused(*own) ? 0 : 1);
            }
            children.push_back(child);
        }
        std::atomic<int> refused = 0;
        std::vector<std::thread> threads;
        for (int i = 0; i < 2; i++)
            threads.emplace_back([&] { refused += renew_until_refused(folder); });
        // Waits until all of them are renewing.
        while (folder.inventory_serials("stolen").size() < 30) ::usleep(1000);
        EXPECT_TRUE(folder.revoke({"stolen"}, files));
        for (auto& t : threads) t.join();
        EXPECT_EQ(refused, 2);
        for (const pid_t child : children) {
            int status = 0;
            ::waitpid(child, &status, 0);
            EXPECT_EQ(status, 0);
        }
        const auto crl = folder.own_crl().value();
        for (const auto& serial : folder.inventory_serials("stolen"))
            EXPECT_TRUE(is_revoked(crl, serial)) << serial;
        EXPECT_FALSE(folder.renew(stolen, kYear));
    }
}

TEST(AuthorityFolder, SignsTheGivenRequest) {
    Place place;
    auto folder = place.make();
    const auto approved = make_key().value(), other = make_key().value();
    const auto first = request_of(approved, "a"), second = request_of(other, "a");
    ASSERT_TRUE(folder.save_request("a", first));
    ASSERT_TRUE(folder.save_request("a", second));
    EXPECT_TRUE(approved.belongs_to(folder.sign("a", first, kYear).value()));
    // The other request is still waiting.
    EXPECT_TRUE(
        other.belongs_to(folder.sign("a", folder.read_request("a").value(), kYear).value()));
    EXPECT_FALSE(folder.has_request("a"));
}

TEST(AuthorityFolder, InfrastructureHasItsOwnList) {
    Place place;
    auto folder = place.make("Root");
    sign(folder, "infra");
    sign(folder, "node");
    place.put("infra_inventory.txt", "infra\nmissing\n");
    EXPECT_EQ(folder.write_infra_serials().value(), std::vector<std::string>{"missing"});
    EXPECT_EQ(place.read("infra_serials"), "1\n");
    EXPECT_EQ(folder.revoke({"node"}), 1u);
    auto infra = [&] { return read_crls(place.paths().infra_crl()).value(); };
    EXPECT_EQ(facts_of(infra()[0]).revoked, 0u);
    EXPECT_EQ(folder.revoke({"infra"}), 1u);
    EXPECT_EQ(facts_of(infra()[0]).revoked, 1u);
    EXPECT_EQ(facts_of(folder.own_crl().value()).revoked, 2u);
    ASSERT_TRUE(folder.make_infra_crl());
    EXPECT_EQ(facts_of(infra()[0]).revoked, 0u);
    EXPECT_EQ(infra().size(), 2u);
}

TEST(AuthorityFolder, ListsAreRefreshedInTime) {
    Place place;
    auto folder = place.make("Root");
    sign(folder, "a");
    ASSERT_EQ(folder.revoke({"a"}), 1u);
    EXPECT_EQ(folder.refresh_crls(), 0u);
    place.time += 3 * kYear;
    // The CRL of this CA and, because its key is here, that of the root, in both files.
    EXPECT_EQ(folder.refresh_crls(), 4u);
    EXPECT_EQ(folder.refresh_crls(), 0u);
    const auto lists = folder.crls().value();
    for (const auto& crl : lists) EXPECT_EQ(facts_of(crl).next_update, place.time + kCrlLifetime);
    EXPECT_EQ(facts_of(folder.own_crl().value()).revoked, 1u);
    EXPECT_EQ(facts_of(folder.own_crl().value()).number, 2);
    // Without its key, the root's CRL cannot be renewed.
    std::filesystem::remove(place.paths().root_key());
    EXPECT_EQ(folder.refresh_crls(true), 2u);
}

TEST(AuthorityFolder, UpdatesListsOfParentAuthorities) {
    Place place;
    auto folder = place.make("Root");
    auto root_key = read_private_key(place.paths().root_key()).value();
    auto lists = folder.crls().value();
    auto newer = next_crl(lists[1], folder.bundle()[1], root_key, {}, place.time).value();
    ASSERT_TRUE(folder.update_crls({newer}));
    EXPECT_EQ(facts_of(folder.crls().value()[1]).number, 1);
    // The same list again, an older one, and one of this CA: nothing changes.
    ASSERT_TRUE(folder.update_crls({newer, lists[1], lists[0]}));
    EXPECT_EQ(facts_of(folder.crls().value()[1]).number, 1);
    auto twin = next_crl(lists[1], folder.bundle()[1], root_key, {"AB"}, place.time).value();
    EXPECT_EQ(folder.update_crls({twin}).error().message, "Could not determine newest CRL.");
    // A CRL that revokes the issuing CA is refused.
    auto fatal = next_crl(newer, folder.bundle()[1], root_key,
                          {folder.certificate().serial().substr(2)}, place.time)
                     .value();
    EXPECT_EQ(folder.update_crls({fatal}).error().message,
              "Invalid certs and/or CRLs: Certificate 'CN=Puppet CA: test' is revoked");
}

TEST(AuthorityFolder, OldAndIncompleteFiles) {
    Place place;
    auto folder = place.make();
    EXPECT_EQ(sign(folder, "a").serial(), "0x0002");
    // An old serial from a backup, and a line truncated by a crash.
    place.put("serial", "0001\n");
    place.put("inventory.txt", place.read("inventory.txt") + "0x00");
    EXPECT_EQ(sign(folder, "b").serial(), "0x0003");
    EXPECT_NE(place.read("inventory.txt").find("\n0x00\n0x0003 "), std::string::npos);
    place.put("serial", "nonsense");
    EXPECT_FALSE(folder.sign("c", folder.key().native(), {}));
    EXPECT_EQ(folder.sign("c", folder.key().native(), {.ttl = kLongestTtl + 1}).error().message,
              "Config setting ca_ttl must have a value below 1576800000");
}

std::set<std::string> serials_in(const Place& place) {
    std::set<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(place.path + "/ca/signed")) {
        if (entry.path().extension() != ".pem" || entry.path().filename().string()[0] == '.')
            continue;
        auto read = read_certificates(entry.path());
        EXPECT_TRUE(read) << entry.path();
        if (!read) continue;
        EXPECT_TRUE(out.insert((*read)[0].serial()).second) << entry.path();
    }
    return out;
}

TEST(AuthorityFolder, SupportsConcurrentThreadsAndProcesses) {
    Place place;
    place.make();
    constexpr int kEach = 10;
    std::vector<pid_t> children;
    for (int process = 0; process < 3; process++) {
        pid_t child = ::fork();
        if (child == 0) {
            auto folder = AuthorityFolder::open(place.paths(), place.now());
            for (int i = 0; folder && i < kEach; i++)
                (void)folder->sign(fmt::format("p{}-{}", process, i), folder->key().native(), {});
            ::_exit(folder ? 0 : 1);
        }
        children.push_back(child);
    }
    auto folder = AuthorityFolder::open(place.paths(), place.now()).value();
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; t++) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < kEach; i++)
                EXPECT_TRUE(folder.sign(fmt::format("t{}-{}", t, i), folder.key().native(), {}));
        });
    }
    for (auto& t : threads) t.join();
    for (pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(serials_in(place).size(), 5u * kEach);
    EXPECT_EQ(place.read("serial"), fmt::format("{:04X}", 5 * kEach + 2));
}

TEST(AuthorityFolder, KilledAtAnyMoment) {
    Place place;
    place.make();
    for (int round = 0; round < 20; round++) {
        pid_t child = ::fork();
        if (child == 0) {
            auto folder = AuthorityFolder::open(place.paths(), place.now());
            for (int i = 0; folder; i++)
                (void)folder->sign(fmt::format("r{}-{}", round, i), folder->key().native(), {});
            ::_exit(1);
        }
        ::usleep(static_cast<useconds_t>(3000 + round * 1700));
        ::kill(child, SIGKILL);
        int status = 0;
        ::waitpid(child, &status, 0);
        // The next process continues, with an unused serial.
        auto folder = AuthorityFolder::open(place.paths(), place.now());
        ASSERT_TRUE(folder) << folder.error().message;
        ASSERT_TRUE(folder->sign(fmt::format("after{}", round), folder->key().native(), {}));
    }
    const auto inventory = place.read("inventory.txt");
    for (const auto& serial : serials_in(place))
        EXPECT_NE(inventory.find("\n" + serial + " "), std::string::npos) << serial;
}

}  // namespace
}  // namespace bunraku::pki
