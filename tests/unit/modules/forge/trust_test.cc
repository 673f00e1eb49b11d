// Tests attacks on clients of a forge, in the order of TUF's list. The client must refuse each one
// and report the reason.
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <map>

#include "core/base/civil_time.h"
#include "core/codec/digest.h"
#include "core/codec/ed25519.h"
#include "core/sys/file_system.h"
#include "core/value/rich_data.h"
#include "modules/forge/bundle.h"
#include "modules/forge/forge_store.h"
#include "modules/module/signature.h"
#include "modules/module/tuf.h"
#include "unit/modules/module/support.h"

namespace bunraku::forge {
namespace {

namespace fs = std::filesystem;
using codec::SigningKey;
using module::PublicKey;
using Files = std::map<std::string, std::string>;

std::string slurp(const std::string& path) {
    return sys::make_real_file_system()->read(path).value_or(std::string());
}

TEST(Signature, Table) {
    const auto ours = *SigningKey::generate(), other = *SigningKey::generate();
    const std::string bytes = "these bytes";
    const module::ReleaseName release = *module::parse_release_name("acme-web-1.0.0");
    const std::string good = module::sign_minisign(ours, bytes, "file:acme-web-1.0.0.tar.gz");
    const std::string by_other = module::sign_minisign(other, bytes, "x");
    std::string comment = good;
    comment.replace(comment.find("1.0.0"), 5, "1.0.1");
    std::string moved = good;
    // The ID of an authorized key with the signature of another key.
    moved.replace(moved.find('\n') + 1, 16, by_other.substr(by_other.find('\n') + 1, 16));
    using Rules = std::vector<std::string>;
    const std::string signer = "signer\t*\t" + PublicKey::of(ours).text(),
                      of_acme = "signer\tacme\t" + PublicKey::of(ours).text(),
                      of_web = "signer acme-web " + PublicKey::of(ours).text(),
                      of_else = "signer\televen\t" + PublicKey::of(ours).text(),
                      second = "signer\t*\t" + PublicKey::of(other).text();
    struct Case {
        Rules rules;
        std::string signature;
        const char* why;  ///< empty if the release is accepted
        std::string content = "these bytes";
    };
    const std::vector<Case> cases = {
        {{}, "", ""},
        {{}, "nonsense", "is not a minisign signature"},
        {{signer}, "", ""},
        {{signer}, good, ""},
        {{signer}, good, "does not match its signature", "other bytes"},
        {{signer}, comment, "does not match its signature"},
        {{signer}, by_other, ""},
        {{signer, "require_signed\tacme"}, "", "acme-web-1.0.0 is not signed"},
        {{signer, "require_signed\tacme"}, good, ""},
        {{of_acme, "require_signed\tacme"}, good, ""},
        {{of_web, "require_signed\t*"}, good, ""},
        {{of_else, "require_signed\tacme"}, good, "which may not sign for acme-web"},
        {{signer, "require_signed\tacme"}, by_other, "which may not sign for acme-web"},
        {{signer, "require_signed\tacme"}, moved, "which may not sign for acme-web"},
        {{signer, second, "require_signed\tacme"}, moved, "does not match its signature"},
        {{signer, "require_signed\televen"}, "", ""},
        {{"require_signed\tacme-web"}, "", "'require_signed acme-web' wants that"},
        {{"require_signed\tacme"}, good, "which may not sign"},
        {{signer}, good.substr(0, good.size() - 20), "a line is not base64"},
        {{signer}, good + "more\n", "is not a minisign signature"},
        {{signer}, std::string(20000, 'x'), "too long"},
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
        module::SignatureRules rules;
        for (const std::string& line : cases[i].rules) EXPECT_TRUE(rules.read_line(line)) << line;
        const auto said = rules.check(release, cases[i].content, cases[i].signature);
        const std::string why = cases[i].why;
        EXPECT_EQ(said.has_value(), why.empty())
            << "case " << i << (said ? "" : said.error().message);
        if (!said) {
            EXPECT_NE(said.error().message.find(why), std::string::npos)
                << "case " << i << ": " << said.error().message;
        }
        module::SignatureRules again;
        std::string text = rules.text();
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = text.find('\n', at);
            EXPECT_TRUE(again.read_line(text.substr(at, end - at)));
            at = end + 1;
        }
        EXPECT_EQ(again.text(), rules.text());
    }
    module::SignatureRules rules;
    for (const char* line : {"signer acme", "signer acme RWx", "signer a/b/c RW", "require_signed",
                             "require_signed a b", "require_signed ../x", "other"}) {
        EXPECT_FALSE(rules.read_line(line)) << line;
    }
}

TEST(Signature, OfMinisign) {
    // Created by minisign 0.11; the signed content is "test\n".
    const auto key = PublicKey::parse(
        "untrusted comment: minisign public "
        "key\nRWQ6hCz3x+TvwCeOIiAhA9JSXaxF9l9/bEjoUO8iMFLA+2jA9mGZjSpo\n");
    const std::string hashed = R"(untrusted comment: signature from minisign secret key
RUQ6hCz3x+TvwP8co8SASntNd3d5/HvY0VvvTDr8iIVtLrc+EKRLMECtyijjQSj5vC7QfuNmCaUvjFTsorIhA9b7an4I209SVA4=
trusted comment: timestamp:1795631784	file:t	hashed
sOAE58RZCwWLYYogeDguYxfrdvVvQQDeQWg+roJAvjuEJNq+SuA/1TcwztSIiGCPBirhDnzQqc1oyPkXTPE/DA==
)",
                      legacy = R"(untrusted comment: signature from minisign secret key
RWQ6hCz3x+TvwNP7dWBMldNh6MuYxF8JRj1k5iYs5NWyNJeb5BJzIAN6bXmonUWZh+9cJImjGmT+wNloOFOPolK0jQrVAIZ4SwM=
trusted comment: timestamp:1795631784	file:t
WzQeRw5KeRa5rXCU0YG0pkUl/krk3VnOyxUvV2B7V3M6tytIN4yLAi41LUPmbPONF/eVNM5v035ki6opad6WCg==
)";
    ASSERT_TRUE(key) << key.error().message;
    for (const std::string& text : {hashed, legacy}) {
        auto file = module::Minisign::parse(text);
        ASSERT_TRUE(file) << file.error().message;
        EXPECT_TRUE(file->verifies(*key, "test\n"));
        EXPECT_FALSE(file->verifies(*key, "test"));
        EXPECT_EQ(file->hashed, text == hashed);
    }
    const auto pem = SigningKey::parse(SigningKey::generate()->pem());
    EXPECT_TRUE(pem);
    for (const char* text :
         {"", "x", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"}) {
        EXPECT_FALSE(SigningKey::parse(text)) << text;
    }
}

/// A repository with signed metadata, and an attacker between it and its client.
class Attack : public testing::Test {
protected:
    Attack() : forge_store(scratch.path + "/forge") {
        EXPECT_TRUE(forge_store.create("site"));
        auto made = forge_store.metadata("site").init("", now);
        EXPECT_TRUE(made) << made.error().message;
        put("a-b", "1.0.0");
        root = served["root.json"];
    }
    void put(const std::string& name, const std::string& version) {
        ASSERT_TRUE(forge_store.upload("site", module::test::release(name, version)));
        auto done = forge_store.publish("site");
        ASSERT_TRUE(done) << done.error().message;
        served = published();
    }
    Files published() {
        Files out;
        for (const auto& e :
             fs::directory_iterator(scratch.path + "/forge/published/site/metadata")) {
            out[e.path().filename()] = slurp(e.path());
        }
        return out;
    }
    /// Returns the client's error for the served files, or "good" if it accepts them.
    std::string client_result() {
        client = std::make_unique<module::TufClient>(module::TufClient::Options{
            .root = root,
            .state = scratch.path + "/seen",
            .fetch = [this](const std::string& name,
                            std::uint64_t limit) -> base::Result<std::string> {
                if (endless && endless(name)) return base::failure("too much", EFBIG);
                const auto found = served.find(name);
                if (found == served.end()) return base::failure("none", 404);
                if (found->second.size() > limit) return base::failure("too much", EFBIG);
                return found->second;
            },
            .now = [this] { return now; }});
        auto done = client->refresh();
        return done ? "good" : done.error().message;
    }
    SigningKey key(const std::string& role) {
        return *SigningKey::parse(
            slurp(scratch.path + "/forge/repos/site/metadata/keys/" + role + ".pem"));
    }
    /// Returns a changed metadata file of the repository, as an attacker with the keys `signers`
    /// can create it.
    static std::string forged(std::string text, const std::vector<SigningKey>& signers,
                              const std::function<void(std::string&)>& change,
                              const std::string& number = {}) {
        std::string part = text.substr(text.find("\"signed\":") + 9);
        part.resize(part.rfind('}'));
        change(part);
        base::Arena arena;
        if (auto parsed = value::parse_json(arena, part)) part = module::canonical_json(*parsed);
        std::string out;
        for (const SigningKey& k : signers) {
            out += fmt::format(R"({}{{"keyid":"{}","sig":"{}"}})", out.empty() ? "" : ",",
                               number.empty() ? number_of(k) : number, hex(k.sign(part)));
        }
        return fmt::format(R"({{"signatures":[{}],"signed":{}}})", out, part);
    }
    static std::string hex(const std::string& bytes) {
        std::string out;
        for (char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
        return out;
    }
    static std::string number_of(const SigningKey& k) {
        return codec::hex_digest(
            codec::DigestKind::Sha256,
            fmt::format(R"({{"keytype":"ed25519","keyval":{{"public":"{}"}},"scheme":"ed25519"}})",
                        hex(k.public_key())));
    }
    static std::function<void(std::string&)> swap(std::string from, std::string to) {
        return [=](std::string& part) {
            const std::size_t at = part.find(from);
            ASSERT_NE(at, std::string::npos) << from << " in " << part;
            part.replace(at, from.size(), to);
        };
    }
    static std::string sum(const std::string& text) {
        return codec::hex_digest(codec::DigestKind::Sha256, text);
    }
    /// Returns a timestamp.json with version `own` that names `snapshot` with version `version`.
    std::string timestamp_for(const std::string& snapshot, int version, int own) {
        return forged(served["timestamp.json"], {key("timestamp")}, [&](std::string& part) {
            const std::size_t at = part.find("\"meta\":");
            const std::size_t end = part.find("\"spec_version\"");
            part.replace(at, end - at,
                         fmt::format(R"("meta":{{"snapshot.json":{{"hashes":{{"sha256":"{}"}},)"
                                     R"("length":{},"version":{}}}}},)",
                                     sum(snapshot), snapshot.size(), version));
            part.replace(part.rfind(':') + 1, std::string::npos, fmt::format("{}}}", own));
        });
    }
    void is(const std::string& said, std::string_view begin) {
        EXPECT_TRUE(said.starts_with(begin)) << said;
    }

    module::test::Scratch scratch;
    ForgeStore forge_store;
    std::int64_t now = std::time(nullptr);
    std::string root;
    Files served;
    std::function<bool(const std::string&)> endless;
    std::unique_ptr<module::TufClient> client;
    const std::string path = "system/releases/a/a/a-b-1.0.0.tar.gz";
};

TEST_F(Attack, ArbitrarySoftware) {
    ASSERT_EQ(client_result(), "good");
    const std::string bytes = module::test::release("a-b", "1.0.0");
    EXPECT_TRUE(client->check(path, bytes));
    std::string changed = bytes;
    changed[100] = static_cast<char>(changed[100] + 1);
    for (const std::string& other : {changed, bytes + "x", std::string()}) {
        auto said = client->check(path, other);
        ASSERT_FALSE(said);
        is(said.error().message,
           "arbitrary software: system/releases/a/a/a-b-1.0.0.tar.gz is not the file");
    }
    auto said = client->check("system/releases/a/a/a-b-1.0.1.tar.gz", bytes);
    ASSERT_FALSE(said);
    is(said.error().message, "arbitrary software: system/releases/a/a/a-b-1.0.1.tar.gz is not in");
    fs::remove_all(scratch.path + "/seen");
    // An additional release in the list requires the signature of the targets key.
    served["targets.json"] =
        forged(served["targets.json"], {*SigningKey::generate()}, swap("a-b-1.0.0", "a-b-6.6.6"));
    is(client_result(), "mix and match: targets.json");
}

TEST_F(Attack, Rollback) {
    const Files first = served;
    put("a-b", "1.1.0");
    ASSERT_EQ(client_result(), "good");
    const Files second = served;
    served = first;
    is(client_result(), "rollback: timestamp.json is of version 1, and version 2 was seen before");
    // An attacker with the timestamp key names an older snapshot, or one built from old parts.
    served = first;
    served["timestamp.json"] = timestamp_for(first.at("snapshot.json"), 1, 9);
    is(client_result(), "rollback: timestamp.json names version 1 of snapshot.json");
    served = first;
    served["snapshot.json"] = forged(
        first.at("snapshot.json"), {key("snapshot")},
        [](std::string& part) { part.replace(part.rfind(':') + 1, std::string::npos, "7}"); });
    served["timestamp.json"] = timestamp_for(served["snapshot.json"], 7, 9);
    is(client_result(),
       "rollback: snapshot.json names version 1 of targets.json, and version 2 was");
    // None of the attacks has damaged the cached metadata.
    served = second;
    put("a-b", "1.2.0");
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(forge_store.publish("site"));
    served = published();
    EXPECT_EQ(client_result(), "good");
}

TEST_F(Attack, Freeze) {
    ASSERT_EQ(client_result(), "good");
    now += (kTimestampDays + 1) * 86400;
    is(client_result(), "freeze: timestamp.json expired on 2");
    ASSERT_TRUE(forge_store.metadata("site").renew(scratch.path + "/forge/published/site", now));
    served = published();
    EXPECT_EQ(client_result(), "good");
    // A new timestamp alone does not extend the validity of the other files.
    now += kTargetsDays * 86400;
    served["timestamp.json"] =
        forged(served["timestamp.json"], {key("timestamp")}, [&](std::string& part) {
            const std::size_t at = part.find("\"expires\":\"") + 11;
            part.replace(at, 4, "2999");
            part.replace(part.rfind(':') + 1, std::string::npos, "9}");
        });
    is(client_result(), "freeze: snapshot.json expired on 2");
    ASSERT_TRUE(forge_store.metadata("site").renew(scratch.path + "/forge/published/site", now));
    served = published();
    // The new version is lower than the attacker's, so the client reports a rollback until the key
    // is rotated.
    is(client_result(), "rollback: timestamp.json");
    ASSERT_TRUE(forge_store.metadata("site").rotate("timestamp", "", now));
    ASSERT_TRUE(forge_store.metadata("site").renew(scratch.path + "/forge/published/site", now));
    served = published();
    EXPECT_EQ(client_result(), "good");
    now += kRootDays * 86400;
    is(client_result(), "freeze: root.json expired on 2");
}

TEST_F(Attack, MixAndMatch) {
    const Files first = served;
    put("a-b", "1.1.0");
    const Files second = served;
    for (const char* name : {"snapshot.json", "targets.json"}) {
        served = second;
        served[name] = first.at(name);
        is(client_result(), fmt::format("mix and match: {} is not the file", name));
    }
    // The digest matches, but the version does not.
    served = second;
    served["timestamp.json"] = timestamp_for(second.at("snapshot.json"), 5, 9);
    is(client_result(), "mix and match: snapshot.json is of version 2, and version 5 is signed");
}

TEST_F(Attack, WrongKeys) {
    const auto stranger = *SigningKey::generate();
    const auto nothing = [](std::string&) {};
    const Files good = served;
    const auto with = [&](const std::string& name, const std::string& text) {
        served = good;
        served[name] = text;
        return client_result();
    };
    const std::string& timestamp = good.at("timestamp.json");
    is(with("timestamp.json", forged(timestamp, {stranger}, nothing)),
       "wrong keys: timestamp.json has 0 of the 1 signatures");
    is(with("timestamp.json", forged(timestamp, {key("targets")}, nothing)),
       "wrong keys: timestamp");
    // With the key ID of an authorized key.
    is(with("timestamp.json", forged(timestamp, {stranger}, nothing, number_of(key("timestamp")))),
       "wrong keys: timestamp");
    is(with("timestamp.json", forged(timestamp, {}, nothing)), "wrong keys: timestamp");
    std::string edited = timestamp;
    edited.replace(edited.find("\"expires\":\"20"), 13, "\"expires\":\"29");
    is(with("timestamp.json", edited), "wrong keys: timestamp");
    is(with("timestamp.json", good.at("snapshot.json")),
       "wrong keys: timestamp.json is of the role");
    for (const char* text : {"", "[]", "{}", R"({"signed":[],"signatures":[]})", "{\"signed\":"}) {
        EXPECT_NE(with("timestamp.json", text), "good") << text;
    }
    std::string deep(15000, '[');
    EXPECT_NE(with("timestamp.json", deep), "good");
    // Root files that the previous root has not signed, that are not self-signed, or that skip a
    // version.
    const std::string& one = good.at("1.root.json");
    const auto next = [](std::string& part) {
        part.replace(part.rfind(':') + 1, std::string::npos, "2}");
    };
    is(with("2.root.json", forged(one, {stranger}, next)), "wrong keys: root.json has 0 of the 1");
    is(with("2.root.json", forged(one, {key("root")}, nothing)),
       "rollback: 2.root.json is of version 1");
    const auto takes_over = [&](std::string& part) {
        next(part);
        const std::string old = number_of(key("root")), fresh = number_of(stranger);
        for (std::size_t at = 0; (at = part.find(old, at)) != std::string::npos;) {
            part.replace(at, old.size(), fresh);
        }
        const std::string from = hex(key("root").public_key()), to = hex(stranger.public_key());
        part.replace(part.find(from), from.size(), to);
    };
    is(with("2.root.json", forged(one, {stranger}, takes_over)), "wrong keys: root.json");
    is(with("2.root.json", forged(one, {key("root")}, takes_over)), "wrong keys: root.json");
    // Two signatures are required, and one key provides both.
    const auto two = [&](std::string& part) {
        next(part);
        const std::string id = number_of(key("timestamp"));
        swap(fmt::format(R"("timestamp":{{"keyids":["{}"],"threshold":1}})", id),
             fmt::format(R"("timestamp":{{"keyids":["{0}"],"threshold":2}})", id))(part);
    };
    served = good;
    served["2.root.json"] = forged(one, {key("root")}, two);
    served["timestamp.json"] = forged(timestamp, {key("timestamp"), key("timestamp")}, nothing);
    is(client_result(), "wrong keys: timestamp.json has 1 of the 2 signatures");
    // With the correct files, the client works. It also accepts a very old initial root.
    fs::remove_all(scratch.path + "/seen");
    served = good;
    EXPECT_EQ(client_result(), "good");
    const std::string tree = scratch.path + "/forge/published/site";
    for (const char* role : {"root", "targets", "snapshot", "timestamp", "root"}) {
        ASSERT_TRUE(forge_store.metadata("site").rotate(role, "", now)) << role;
    }
    ASSERT_TRUE(forge_store.metadata("site").renew(tree, now));
    served = published();
    EXPECT_TRUE(served.contains("6.root.json"));
    EXPECT_EQ(client_result(), "good");
    fs::remove_all(scratch.path + "/seen");
    EXPECT_EQ(client_result(), "good");
    // Signatures of revoked keys do not count.
    served["timestamp.json"] = timestamp;
    is(client_result(), "wrong keys: timestamp");
    EXPECT_FALSE(forge_store.metadata("site").rotate("nonsense", "", now));
    EXPECT_FALSE(forge_store.metadata("site").rotate("targets", scratch.path + "/no.pem", now));
    fs::rename(scratch.path + "/forge/repos/site/metadata/keys/root.pem",
               scratch.path + "/root.pem");
    EXPECT_FALSE(forge_store.metadata("site").rotate("targets", "", now));
    EXPECT_TRUE(forge_store.metadata("site").rotate("targets", scratch.path + "/root.pem", now));
}

TEST_F(Attack, EndlessData) {
    for (const char* name : {"timestamp.json", "snapshot.json", "targets.json"}) {
        endless = [&](const std::string& asked) { return asked == name; };
        is(client_result(), fmt::format("endless data: {}", name));
    }
    endless = [](const std::string& asked) { return asked == "2.root.json"; };
    EXPECT_NE(client_result(), "good");
    endless = nullptr;
    const Files good = served;
    served["timestamp.json"] += std::string(20000, ' ');
    is(client_result(), "endless data: timestamp.json is longer than 16384 bytes");
    fs::remove_all(scratch.path + "/seen");
    served = good;
    served["snapshot.json"] += " ";
    is(client_result(), "endless data: snapshot.json is longer than the");
    // An endless sequence of valid root files.
    served = good;
    const auto signer = key("root");
    for (int n = 2; n <= 300; ++n) {
        served[fmt::format("{}.root.json", n)] =
            forged(good.at("1.root.json"), {signer}, [&](std::string& part) {
                part.replace(part.rfind(':') + 1, std::string::npos, fmt::format("{}}}", n));
            });
    }
    is(client_result(), "endless data: the roots do not end");
}

TEST_F(Attack, MissingFilesAreRefused) {
    for (const char* name : {"timestamp.json", "snapshot.json", "targets.json"}) {
        const Files good = served;
        served.erase(name);
        EXPECT_NE(client_result(), "good") << name;
        served = good;
    }
    root = "nonsense";
    EXPECT_NE(client_result(), "good");
    // The root file of another repository.
    ASSERT_TRUE(forge_store.create("other"));
    ASSERT_TRUE(forge_store.metadata("other").init("", now));
    root = slurp(scratch.path + "/forge/repos/other/metadata/1.root.json");
    is(client_result(), "wrong keys: ");
}

/// Tests a repository with so many archives that targets.json delegates them to parts.
class AttackOnParts : public Attack {
protected:
    AttackOnParts() {
        fs::create_directories(tree);
        write();
    }
    void write() {
        std::ofstream(tree + "/PULP_MANIFEST") << manifest();
        auto done = forge_store.metadata("site").write(tree, now);
        ASSERT_TRUE(done) << done.error().message;
        for (const auto& e : fs::directory_iterator(tree + "/metadata")) {
            served[e.path().filename()] = slurp(e.path());
        }
    }
    std::string manifest() const {
        std::string out;
        for (std::size_t i = 0; i < kTargetsInOne; ++i) {
            out += fmt::format("{},{},5\n", path_of(i), sum("bytes"));
        }
        return out;
    }
    static std::string path_of(std::size_t i) {
        return fmt::format("system/releases/a/a/a-b-1.0.{}.tar.gz", i);
    }
    static std::string part_of(const std::string& path) {
        return "part-" + sum(path).substr(0, 2) + ".json";
    }
    /// Serves a part as `signers` can create it, and signs all files above it to match.
    void forge_part(const std::string& name, const std::vector<SigningKey>& signers,
                    const std::function<void(std::string&)>& change) {
        const std::string before = sum(served[name]);
        const std::string length = fmt::format("\"length\":{}", served[name].size());
        served[name] = forged(served[name], signers, change);
        served["snapshot.json"] =
            forged(served["snapshot.json"], {key("snapshot")}, [&](std::string& part) {
                const std::size_t at = part.find(before);
                ASSERT_NE(at, std::string::npos);
                part.replace(at, before.size(), sum(served[name]));
                part.replace(part.find(length, at), length.size(),
                             fmt::format("\"length\":{}", served[name].size()));
            });
        served["timestamp.json"] = timestamp_for(served["snapshot.json"], 2, 9);
    }
    /// Returns the client's result for these bytes of `target`.
    std::string check(const std::string& target, const std::string& bytes = "bytes") {
        if (std::string said = client_result(); said != "good") return said;
        auto done = client->check(target, bytes);
        return done ? "good" : done.error().message;
    }
    const std::string tree = scratch.path + "/tree";
    const std::string one = path_of(7), part = part_of(one);
};

TEST_F(AttackOnParts, RefusesEachAttack) {
    ASSERT_EQ(check(one), "good");
    is(check(one, "bytez"), "arbitrary software: " + one + " is not the file");
    is(check(path_of(kTargetsInOne)), "arbitrary software: ");
    const Files good = served;
    const auto again = [&] {
        served = good;
        fs::remove_all(scratch.path + "/seen");
    };
    again();
    forge_part(part, {*SigningKey::generate()}, swap(sum("bytes"), sum("bytez")));
    is(check(one, "bytez"), "wrong keys: " + part + " has 0 of the 1 signatures");
    // The snapshot key cannot sign a part.
    again();
    forge_part(part, {key("snapshot")}, swap(sum("bytes"), sum("bytez")));
    is(check(one, "bytez"), "wrong keys: " + part);
    // A part cannot describe files that belong to another part.
    again();
    std::size_t other = 0;
    while (part_of(path_of(other)) == part) ++other;
    forge_part(part, {key("targets")}, swap(one, path_of(kTargetsInOne + 5)));
    is(check(path_of(kTargetsInOne + 5)), "arbitrary software: ");
    // Another part under this part's name, and a part that is too large, missing or expired.
    again();
    served[part] = good.at(part_of(path_of(other)));
    is(check(one), "mix and match: " + part);
    again();
    served[part] += std::string(4000, ' ');
    is(check(one), "endless data: " + part);
    again();
    endless = [&](const std::string& asked) { return asked == part; };
    is(check(one), "endless data: " + part);
    endless = nullptr;
    again();
    served.erase(part);
    EXPECT_NE(check(one), "good");
    again();
    forge_part(part, {key("targets")}, [](std::string& text) {
        const std::size_t at = text.find("\"expires\":\"") + 11;
        text.replace(at, 4, "2001");
    });
    is(check(one), "freeze: " + part + " expired");
    again();
    EXPECT_EQ(check(one), "good");
    // A newer snapshot must not name older versions of the list or of its parts.
    write();
    ASSERT_EQ(check(one), "good");
    served["snapshot.json"] = forged(
        good.at("snapshot.json"), {key("snapshot")},
        [](std::string& text) { text.replace(text.rfind(':') + 1, std::string::npos, "70}"); });
    served["timestamp.json"] = timestamp_for(served["snapshot.json"], 70, 90);
    is(check(one), "rollback: snapshot.json names version ");
}

TEST_F(Attack, CanonicalJson) {
    base::Arena arena;
    auto v = value::parse_json(arena, R"({"b":[1,true,null,"é\n\"\\"],"a":{"z":-5,"A":""}})");
    ASSERT_TRUE(v);
    EXPECT_EQ(module::canonical_json(*v),
              "{\"a\":{\"A\":\"\",\"z\":-5},\"b\":[1,true,null,\"é\n\\\"\\\\\"]}");
    // The served files are already in canonical form.
    for (const auto& [name, text] : served) {
        auto file = value::parse_json(arena, text);
        ASSERT_TRUE(file) << name;
        const std::string part = module::canonical_json(*file->as_hash().find("signed"));
        EXPECT_NE(text.find("\"signed\":" + part + "}"), std::string::npos) << name << text;
    }
}

/// Repository "one" has three releases, a deprecation and a signature; "two" is empty.
class Bundles : public testing::Test {
protected:
    Bundles() : forge_store(scratch.path + "/forge"), key(*SigningKey::generate()) {
        EXPECT_TRUE(forge_store.create("one"));
        EXPECT_TRUE(forge_store.create("two"));
        for (const char* v : {"1.0.0", "1.1.0"}) {
            EXPECT_TRUE(forge_store.upload("one", module::test::release("a-b", v)));
        }
        const std::string bytes = module::test::release("c-d", "1.0.0");
        auto batch = forge_store.begin("one");
        EXPECT_TRUE(
            (*batch)->upload(bytes, {}, false, 1500000000, module::sign_minisign(key, bytes, "x")));
        EXPECT_TRUE((*batch)->finish());
        batch->reset();
        EXPECT_TRUE(forge_store.change_flags("one", [](Flags& f) -> base::Result<void> {
            f.deprecated.push_back({"a-b", "2020-01-01 00:00:00 +0000", "old", "c-d"});
            return {};
        }));
        EXPECT_TRUE(forge_store.publish("one"));
    }
    std::string made(const std::string& name, bool with_key = true,
                     const std::string& without = {}) {
        BundleExport options{
            .file = scratch.path + "/" + name, .without = without, .key = std::nullopt};
        if (with_key) options.key = key;
        auto done = export_bundle(forge_store, "one", options);
        EXPECT_TRUE(done) << done.error().message;
        count = done ? *done : 0;
        return options.file;
    }
    std::string taken(const std::string& file, const std::optional<PublicKey>& by) {
        auto done = import_bundle(forge_store, "two", file, by);
        if (!done) return done.error().message;
        return fmt::format("{} {}", done->stored, done->present);
    }
    std::string two() {
        std::string out;
        for (const Unit& u : forge_store.units("two"))
            out += (out.empty() ? "" : " ") + u.name.slug();
        return out;
    }
    module::test::Scratch scratch;
    ForgeStore forge_store;
    SigningKey key;
    std::uint64_t count = 0;
};

TEST_F(Bundles, ExportAndImport) {
    const std::string file = made("all.tar");
    EXPECT_EQ(count, 3U);
    EXPECT_FALSE(fs::exists(file + ".part"));
    EXPECT_EQ(taken(file, PublicKey::of(key)), "3 0");
    EXPECT_EQ(two(), "a-b-1.0.0 a-b-1.1.0 c-d-1.0.0");
    EXPECT_EQ(forge_store.signature("two", "c-d-1.0.0"), forge_store.signature("one", "c-d-1.0.0"));
    EXPECT_FALSE(forge_store.signature("two", "c-d-1.0.0").empty());
    const auto* gone = forge_store.flags("two").deprecation("a-b");
    EXPECT_TRUE(gone != nullptr);
    auto record = forge_store.record("two", "c-d-1.0.0");
    std::string_view rest = *record;
    EXPECT_EQ(read_record(&rest)->created, 1500000000);
    EXPECT_EQ(taken(file, PublicKey::of(key)), "0 3");
    // Contains only the new releases.
    ASSERT_TRUE(forge_store.upload("one", module::test::release("a-b", "2.0.0")));
    ASSERT_TRUE(forge_store.publish("one"));
    const std::string more = made("more.tar", true, file);
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(taken(more, PublicKey::of(key)), "1 0");
}

TEST_F(Bundles, FailedImportLeavesNothing) {
    const std::string file = made("all.tar"), text = slurp(file);
    const std::string plain = made("plain.tar", false);
    const auto other = PublicKey::of(*SigningKey::generate());
    const std::string bad = scratch.path + "/bad.tar";
    const auto with = [&](std::string bytes) {
        std::ofstream(bad, std::ios::binary) << bytes;
        return bad;
    };
    const auto changed = [&](std::string_view from, std::string_view to) {
        std::string out = text;
        const std::size_t at = out.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        return out.replace(at, from.size(), to);
    };
    const std::size_t last = text.rfind("\x1f\x8b");
    std::string bit = text;
    bit[last + 50] = static_cast<char>(bit[last + 50] ^ 1);
    EXPECT_NE(taken(plain, PublicKey::of(key)).find("is not signed"), std::string::npos);
    EXPECT_NE(taken(file, other).find("is signed with the key"), std::string::npos);
    const std::vector<std::pair<std::string, const char*>> files = {
        {changed("\"slug\":\"a-b-1.0.0\"", "\"slug\":\"a-x-1.0.0\""),
         "does not match its signature"},
        {bit, "does not match its digest in bundle.json"},
        {text.substr(0, last + 50), ""},
        {text.substr(0, text.size() / 2), ""},
        {text.substr(0, 400), ""},
        {"", ""},
        {"nonsense", ""},
        {module::test::tar({{"x", "y"}}), "is not a bundle: bundle.json is missing"},
        {module::test::tar({{"bundle.json", "{}"}}), ""},
    };
    for (const auto& [bytes, why] : files) {
        const std::string said = taken(with(bytes), PublicKey::of(key));
        EXPECT_NE(said.find(why), std::string::npos) << said;
        EXPECT_EQ(two(), "") << said;
    }
    // Without a key, the digests are still checked.
    EXPECT_NE(taken(with(bit), std::nullopt).find("does not match its digest"), std::string::npos);
    EXPECT_EQ(two(), "");
    // An unsigned list is not trusted: its entries must be releases, and each must appear once.
    const std::string list =
        R"({"format":"bunraku-bundle-1","releases":[{"slug":"../../e-vil-1.0.0","sha256":")" +
        std::string(64, '0') + R"(","size":1}]})";
    EXPECT_NE(taken(with(module::test::tar({{"bundle.json", list}})), std::nullopt)
                  .find("is not a release"),
              std::string::npos);
    // Different bytes for an existing version.
    ASSERT_TRUE(
        forge_store.upload("two", module::test::release("a-b", "1.1.0", "[]", R"(,"x":1)")));
    EXPECT_NE(taken(plain, std::nullopt).find("a-b-1.1.0 is in 'two' already"), std::string::npos);
    EXPECT_EQ(two(), "a-b-1.1.0");
    // The repository's rules for uploads also apply to bundles.
    ASSERT_TRUE(forge_store.create("three"));
    RepositoryConfig config;
    config.signatures.required = {"c"};
    config.signatures.signers.push_back({"*", other});
    ASSERT_TRUE(forge_store.configure("three", config));
    auto refused = import_bundle(forge_store, "three", plain, std::nullopt);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("may not sign for c-d"), std::string::npos);
    EXPECT_TRUE(forge_store.units("three").empty());
}

TEST_F(Bundles, RulesApplyToBundles) {
    RepositoryConfig config;
    config.signatures.required = {"a"};
    config.signatures.signers.push_back({"a", PublicKey::of(key)});
    ASSERT_TRUE(forge_store.configure("two", config));
    const std::string bytes = module::test::release("a-b", "1.0.0");
    auto refused = forge_store.upload("two", bytes);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, 400);
    EXPECT_NE(refused.error().message.find("is not signed"), std::string::npos);
    auto copied = forge_store.copy("one", "two", module::parse_module_name("a-b"), "");
    EXPECT_FALSE(copied);
    EXPECT_TRUE(forge_store.copy("one", "two", module::parse_module_name("c-d"), ""));
    {
        auto batch = forge_store.begin("two");
        EXPECT_FALSE((*batch)->upload(bytes, {}, false, 0,
                                      module::sign_minisign(*SigningKey::generate(), bytes, "")));
        EXPECT_TRUE((*batch)->upload(bytes, {}, false, 0, module::sign_minisign(key, bytes, "")));
        EXPECT_TRUE((*batch)->finish());
    }
    ASSERT_TRUE(forge_store.publish("two"));
    EXPECT_EQ(
        slurp(scratch.path + "/forge/published/two/system/releases/a/a/a-b-1.0.0.tar.gz.minisig"),
        forge_store.signature("two", "a-b-1.0.0"));
    ASSERT_TRUE(forge_store.remove("two", *module::parse_module_name("a-b"), "1.0.0"));
    EXPECT_EQ(forge_store.signature("two", "a-b-1.0.0"), "");
}

}  // namespace
}  // namespace bunraku::forge
