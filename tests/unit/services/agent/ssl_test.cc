// SPDX-License-Identifier: Apache-2.0
// Tests the agent's certificate against a Bunraku CA over real sockets. The messages are those of
// Puppet 8.11.
#include "services/agent/ssl.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/sys/file_system.h"
#include "core/sys/lock.h"
#include "net/pki/authority.h"
#include "net/pki/authority_folder.h"
#include "net/pki/crl.h"
#include "services/agent/ssl_store.h"
#include "services/server/instance.h"

namespace bunraku::agent {
namespace {

/// A clock with an offset to the machine's clock; its sleeps return immediately.
class SkewedClock final : public sys::Clock {
public:
    std::int64_t now_ns() override { return real_->now_ns() + skew; }
    std::int64_t monotonic_ns() override { return real_->monotonic_ns() + skew; }
    void sleep_ns(std::int64_t ns) override { skew += ns; }
    std::int64_t skew = 0;

private:
    std::unique_ptr<sys::Clock> real_ = sys::make_real_clock();
};

/// A CA on a port, and a node.
struct Site {
    std::string path;
    config::Settings server_settings = config::Settings::defaults();
    config::Settings settings = config::Settings::defaults();
    base::MemorySink server_log, log;
    std::unique_ptr<server::Instance> instance;
    sys::RealSystem real;
    SkewedClock clock;
    sys::System system{real.system().files, real.system().processes, clock, real.system().users};
    std::vector<std::string> printed;

    Site() {
        char name[] = "/tmp/bunraku-ssl-XXXXXX";
        path = ::mkdtemp(name);
        for (auto [setting, value] :
             std::initializer_list<std::pair<const char*, const char*>>{{"confdir", "/conf"},
                                                                        {"ssldir", "/ssl"},
                                                                        {"vardir", "/var"},
                                                                        {"cadir", "/ca"},
                                                                        {"statedir", "/state"}}) {
            server_settings.set(setting, path + "/server" + value);
            settings.set(setting, path + "/node" + value);
        }
        server_settings.set("certname", "localhost");
        server_settings.set("autosign", "true");
        settings.set("server", "localhost");
        settings.set("certname", "a.example");
        settings.set("waitforcert", "0");
        settings.set("daemonize", "false");
        settings.set("key_type", "ec");
    }
    ~Site() {
        instance.reset();
        std::filesystem::remove_all(path);
    }
    void start() {
        server::InstanceOptions options;
        options.roles = {"ca"};
        options.listeners = {{.host = "127.0.0.1", .port = 0, .tls = true}};
        options.version = "1";
        auto started = server::Instance::start(server_settings, server_log, std::move(options));
        ASSERT_TRUE(started) << started.error().message;
        instance = std::move(*started);
        auto url = instance->urls().at(0);
        settings.set("serverport", url.substr(url.rfind(':') + 1));
    }
    base::Result<SslFiles> run(bool authorities = false) {
        log.records.clear();
        printed.clear();
        SslOptions options{settings, log, system};
        options.print = [this](const std::string& line) { printed.push_back(line); };
        return authorities ? ensure_authorities(options) : ensure_ssl(options);
    }
    /// Returns lines like "Error: ...", without debug messages.
    std::vector<std::string> lines() const {
        std::vector<std::string> out;
        for (const auto& record : log.records) {
            if (record.level == base::Level::Debug) continue;
            out.push_back(fmt::format("{}: {}", base::level_name(record.level), record.message));
        }
        return out;
    }
    std::string url() const {
        return fmt::format("https://localhost:{}/puppet-ca/v1", settings.text("serverport"));
    }
    std::string node(const std::string& name) const { return path + "/node/ssl/" + name; }
    std::string read(const std::string& file) const {
        return sys::make_real_file_system()->read(file).value();
    }
    void write(const std::string& file, const std::string& text) const {
        std::filesystem::create_directories(std::filesystem::path(file).parent_path());
        std::ofstream(file) << text;
    }
    pki::AuthorityFolder authority() const {
        return pki::AuthorityFolder::open(pki::AuthorityPaths::in(path + "/server/ca"),
                                          [] { return std::time(nullptr); })
            .value();
    }
    pki::Certificate certificate() const {
        return pki::Certificate::from_pem(read(node("certs/a.example.pem")), "x").value();
    }
    unsigned mode(const std::string& name) const {
        struct stat status{};
        ::stat(node(name).c_str(), &status);
        return status.st_mode & 0777;
    }
    void age(const std::string& name, int seconds) const {
        const auto now = std::time(nullptr);
        ASSERT_TRUE(sys::make_real_file_system()->set_mtime(
            node(name), (now - seconds) * std::int64_t{1'000'000'000}));
    }
    std::string digest_of(const std::string& name) const { return digest_hex(read(node(name))); }
};

using Lines = std::vector<std::string>;

TEST(AgentSsl, CreatesMissingFiles) {
    Site site;
    site.start();
    auto files = site.run();
    ASSERT_TRUE(files) << files.error().message;
    EXPECT_EQ(files->certname, "a.example");
    EXPECT_EQ(files->ca_file, site.node("certs/ca.pem"));
    EXPECT_EQ(files->crl_file, site.node("crl.pem"));
    EXPECT_FALSE(files->crl_leaf_only);
    EXPECT_EQ(files->certificate_file, site.node("certs/a.example.pem"));
    EXPECT_EQ(files->private_key_file, site.node("private_keys/a.example.pem"));
    auto lines = site.lines();
    ASSERT_EQ(lines.size(), 6u);
    lines[4].resize(std::string("info: Certificate Request fingerprint (SHA256): ").size());
    EXPECT_EQ(lines, (Lines{"info: Refreshed CRL: " +
                                digest_hex(site.read(site.path + "/server/ca/ca_crl.pem")),
                            "info: Creating a new EC SSL key for a.example using curve prime256v1",
                            "info: csr_attributes file loading from " + site.path +
                                "/node/conf/csr_attributes.yaml",
                            "info: Creating a new SSL certificate request for a.example",
                            "info: Certificate Request fingerprint (SHA256): ",
                            "info: Downloaded certificate for a.example from " + site.url()}));
    EXPECT_TRUE(site.printed.empty());
    EXPECT_EQ(site.mode("private_keys/a.example.pem"), 0600u);
    EXPECT_EQ(site.mode("certs/a.example.pem"), 0644u);
    EXPECT_EQ(site.read(site.node("certs/ca.pem")), site.read(site.path + "/server/ca/ca_crt.pem"));
    // The request and the lock are removed after use.
    EXPECT_FALSE(std::filesystem::exists(site.node("certificate_requests/a.example.pem")));
    EXPECT_TRUE(sys::PidLock(site.settings.text("ssl_lockfile")).acquire().value());
    // The next run needs no request to the server.
    site.instance.reset();
    files = site.run();
    ASSERT_TRUE(files) << files.error().message;
    EXPECT_EQ(site.lines(), Lines{});
}

TEST(AgentSsl, FetchesOnlyCaCertificates) {
    Site site;
    site.start();
    auto files = site.run(true);
    ASSERT_TRUE(files) << files.error().message;
    EXPECT_EQ(files->certificate_file, "");
    EXPECT_EQ(files->crl_file, site.node("crl.pem"));
    EXPECT_FALSE(std::filesystem::exists(site.node("private_keys/a.example.pem")));
}

TEST(AgentSsl, WaitsForSignature) {
    Site site;
    site.server_settings.set("autosign", "false");
    site.start();
    const std::string unsigned_yet =
        "Couldn't fetch certificate from CA server; you might still need to sign this agent's "
        "certificate (a.example).";
    auto files = site.run();
    ASSERT_FALSE(files);
    EXPECT_EQ(files.error().code, kGaveUpWaiting);
    EXPECT_EQ(site.printed,
              (Lines{unsigned_yet, "Exiting now because the waitforcert setting is set to 0."}));
    EXPECT_EQ(site.lines().back(), "info: Certificate for a.example has not been signed yet");
    EXPECT_TRUE(std::filesystem::exists(site.node("certificate_requests/a.example.pem")));
    // In the background, standard output is not visible.
    site.settings.set("daemonize", "true");
    files = site.run();
    EXPECT_EQ(site.lines().back(), "err: Exiting now because the waitforcert setting is set to 0.");
    // Waits as long as maxwaitforcert allows; each sleep advances the clock.
    site.settings.set("daemonize", "false");
    site.settings.set("waitforcert", "60");
    site.settings.set("maxwaitforcert", "100");
    files = site.run();
    ASSERT_FALSE(files);
    EXPECT_EQ(site.printed,
              (Lines{unsigned_yet, unsigned_yet, unsigned_yet,
                     unsigned_yet + " Exiting now because the maxwaitforcert timeout has been "
                                    "exceeded."}));
    EXPECT_EQ(site.lines().back(), "info: Certificate for a.example has not been signed yet");
    // A stop request arrives.
    {
        SslOptions options{site.settings, site.log, site.system};
        int asked = 0;
        options.stopped = [&] { return ++asked > 50; };
        auto stopped = ensure_ssl(options);
        ASSERT_FALSE(stopped);
        EXPECT_EQ(stopped.error().code, ECANCELED);
    }
    auto authority = site.authority();
    auto asked = authority.read_request("a.example").value();
    ASSERT_TRUE(authority.sign("a.example", asked.public_key(), {}));
    files = site.run();
    ASSERT_TRUE(files) << files.error().message;
    EXPECT_EQ(site.lines().back(), "info: Downloaded certificate for a.example from " + site.url());
}

TEST(AgentSsl, Fingerprints) {
    Site site;
    site.start();
    const auto actual = digest_hex(site.read(site.path + "/server/ca/ca_crt.pem"));
    site.settings.set("ca_fingerprint", std::string(64, 'a'));
    auto files = site.run();
    ASSERT_FALSE(files);
    std::string expected;
    for (int i = 0; i < 32; i++) expected += i ? ":AA" : "AA";
    EXPECT_EQ(site.lines(),
              Lines{fmt::format("err: CA bundle with digest (SHA256) {} did not match expected "
                                "digest {}",
                                actual, expected)});
    EXPECT_FALSE(std::filesystem::exists(site.node("certs/ca.pem")));
    site.settings.set("ca_fingerprint", actual);
    ASSERT_TRUE(site.run());
    EXPECT_EQ(site.lines().front(), "info: Verified CA bundle with digest (SHA256) " + actual);
}

TEST(AgentSsl, RefusesMismatchedFiles) {
    Site site;
    site.start();
    ASSERT_TRUE(site.run());
    const auto refusal = [&] {
        auto files = site.run();
        return files ? std::string("fine") : site.lines().empty() ? "" : site.lines().back();
    };
    const auto key = site.read(site.node("private_keys/a.example.pem"));
    const auto lists = site.read(site.node("crl.pem"));
    site.write(site.node("private_keys/a.example.pem"), pki::make_key().value().pem());
    EXPECT_EQ(refusal(), "err: The certificate for 'CN=a.example' does not match its private key");
    site.write(site.node("private_keys/a.example.pem"), "junk");
    EXPECT_EQ(refusal().substr(0, 54), "err: Failed to load private key for host 'a.example': ");
    site.write(site.node("private_keys/a.example.pem"), key);
    site.write(site.node("certs/ca.pem"), "");
    EXPECT_EQ(refusal(), "err: Failed to parse CA certificates as PEM");
    std::filesystem::remove(site.node("certs/ca.pem"));
    site.write(site.node("crl.pem"), "x");
    EXPECT_EQ(refusal(), "err: Failed to parse CRLs as PEM");
    // The certificate is revoked in the local CRL.
    std::filesystem::remove(site.node("crl.pem"));
    ASSERT_TRUE(site.authority().revoke({"a.example"}));
    EXPECT_EQ(refusal(), "err: Certificate 'CN=a.example' is revoked");
    site.settings.set("certificate_revocation", "false");
    EXPECT_EQ(refusal(), "fine");
    EXPECT_EQ(site.lines(),
              Lines{"info: Certificate revocation is disabled, skipping CRL download"});
    auto other = pki::Authority::create("Other").value();
    site.settings.set("certificate_revocation", "leaf");
    site.write(site.node("crl.pem"), other.crl_pem().value());
    EXPECT_EQ(refusal(), "err: The CRL issued by 'CN=Puppet CA: localhost' is missing");
    // An issuer that is unknown to the agent may be known to the server.
    site.settings.set("certificate_revocation", "false");
    site.write(site.node("certs/ca.pem"), other.certificate().pem());
    EXPECT_EQ(refusal(), "fine");
    EXPECT_EQ(site.lines().back(),
              "warning: The issuer 'CN=Puppet CA: localhost' of certificate 'CN=a.example' "
              "cannot be found locally");
    // A server with a certificate of another CA.
    std::filesystem::remove(site.node("certs/a.example.pem"));
    EXPECT_EQ(refusal().substr(0, 32), "err: certificate verify failed [");
    // A server with another name.
    site.settings.set("server", "127.0.0.1");
    site.write(site.node("certs/ca.pem"), site.read(site.path + "/server/ca/ca_crt.pem"));
    EXPECT_EQ(refusal(),
              "err: Server hostname '127.0.0.1' did not match server certificate; expected one of "
              "localhost, DNS:localhost, DNS:puppet");
    // No server. With `onetime`, the agent ends with the error.
    site.settings.set("server", "localhost");
    site.settings.set("onetime", "true");
    site.instance.reset();
    auto files = site.run();
    ASSERT_FALSE(files);
    EXPECT_EQ(files.error().message, "No more routes to ca");
    EXPECT_EQ(site.lines().at(site.lines().size() - 2),
              fmt::format("err: Connection to {} failed, trying next route: Request to "
                          "{}/certificate_request/a.example failed: Connection refused",
                          site.url(), site.url()));
}

// A file that has not changed on the server counts as refreshed, so the next run sends
// no request for it.
TEST(AgentSsl, UnmodifiedFileCountsAsRefreshed) {
    Site site;
    site.start();
    ASSERT_TRUE(site.run());
    const auto files = sys::make_real_file_system();
    for (const char* name : {"ca_crl.pem", "ca_crt.pem", "infra_crl.pem"})
        (void)files->set_mtime(site.path + "/server/ca/" + name, 1'000'000'000'000'000'000);
    site.age("crl.pem", 86400 + 10);
    site.age("certs/ca.pem", 86400 + 10);
    ASSERT_TRUE(site.run());
    EXPECT_EQ(site.lines(),
              (Lines{"info: Refreshing CA certificate",
                     "info: CA certificate is unmodified, using existing CA certificate",
                     "info: Refreshing CRL", "info: CRL is unmodified, using existing CRL"}));
    ASSERT_TRUE(site.run());
    EXPECT_EQ(site.lines(), Lines{});
}

TEST(AgentSsl, RefreshesOldFiles) {
    Site site;
    site.start();
    ASSERT_TRUE(site.run());
    // The server has nothing new.
    site.age("crl.pem", 86400 + 10);
    ASSERT_TRUE(site.run());
    EXPECT_EQ(site.lines()[0], "info: Refreshing CRL");
    site.settings.set("crl_refresh_interval", "2d");
    ASSERT_TRUE(site.run());
    EXPECT_EQ(site.lines(), Lines{});
    // The server has a new CRL. The agent stores and uses it.
    site.settings.set("crl_refresh_interval", "1d");
    site.age("crl.pem", 86400 + 10);
    ASSERT_TRUE(site.authority().revoke({"a.example"}));
    EXPECT_FALSE(site.run());
    EXPECT_EQ(site.lines(),
              (Lines{"info: Refreshing CRL", "info: Refreshed CRL: " + site.digest_of("crl.pem"),
                     "err: Certificate 'CN=a.example' is revoked"}));
    // If the CA certificates are new, the agent fetches new CRLs too.
    site.settings.set("certificate_revocation", "leaf");
    site.age("certs/ca.pem", 86400 + 10);
    EXPECT_FALSE(site.run());
    EXPECT_EQ(site.lines()[0], "info: Refreshing CA certificate");
    // The server is unreachable, so the agent uses its local files.
    site.age("certs/ca.pem", 86400 + 10);
    site.instance.reset();
    EXPECT_FALSE(site.run());
    EXPECT_EQ(site.lines()[2],
              "warning: Failed to refresh CA certificate, using existing CA certificate: No more "
              "routes to ca");
}

TEST(AgentSsl, RequestsContainSettings) {
    Site site;
    site.server_settings.set("autosign", "false");
    site.start();
    site.settings.set("dns_alt_names", "b,IP:10.0.0.1");
    site.settings.set("key_type", "rsa");
    site.settings.set("keylength", "2048");
    site.write(site.path + "/node/conf/csr_attributes.yaml",
               "extension_requests:\n  pp_role: web\ncustom_attributes:\n"
               "  1.2.840.113549.1.9.7: secret\n");
    EXPECT_FALSE(site.run());
    const auto asked = site.authority().read_request("a.example").value();
    EXPECT_EQ(asked.alternative_names(), (Lines{"DNS:a.example", "DNS:b", "IP:10.0.0.1"}));
    bool role = false;
    for (const auto& e : asked.extensions()) role |= e.name == "pp_role" && e.value == "web";
    EXPECT_TRUE(role);
    bool secret = false;
    for (const auto& [oid, text] : asked.attributes())
        secret |= oid == "1.2.840.113549.1.9.7" && text == "secret";
    EXPECT_TRUE(secret);
    EXPECT_EQ(asked.pem(), site.read(site.node("certificate_requests/a.example.pem")));
    site.write(site.path + "/node/conf/csr_attributes.yaml", "[]");
    EXPECT_FALSE(site.run());
    EXPECT_EQ(site.lines().back().substr(0, 5), "err: ");
}

TEST(AgentSsl, RenewsInTime) {
    // Lifetime and remaining time in days; a certificate is valid from one day before its creation.
    struct Case {
        int life, left;
        const char* interval;  // empty if not set
        bool renewed;
    };
    for (const auto& c : std::initializer_list<Case>{{1825, 700, "", false},
                                                     {1825, 600, "", true},
                                                     {1825, 600, "30d", false},
                                                     {1825, 29, "30d", true},
                                                     {90, 31, "", false},
                                                     {90, 29, "", true},
                                                     {90, 29, "0", false},
                                                     {10, 8, "30d", false},
                                                     {10, 6, "30d", true}}) {
        Site site;
        site.start();
        ASSERT_TRUE(site.run());
        const auto now = std::time(nullptr);
        const auto paths = pki::AuthorityPaths::in(site.path + "/server/ca");
        const auto signer = pki::read_private_key(paths.cakey).value();
        const auto key = pki::read_private_key(site.node("private_keys/a.example.pem")).value();
        pki::Draft draft;
        draft.common_name = "a.example";
        draft.serial = "77";
        draft.not_after = now + c.left * 86400;
        draft.not_before = draft.not_after - c.life * std::int64_t{86400};
        const auto old =
            pki::make_certificate(draft, key.native(), &site.authority().certificate(), signer)
                .value();
        site.write(site.node("certs/a.example.pem"), old.pem());
        if (*c.interval) site.settings.set("hostcert_renewal_interval", c.interval);
        ASSERT_TRUE(site.run());
        const auto kept = site.certificate();
        EXPECT_EQ(!(kept == old), c.renewed) << c.life << " " << c.left << " " << c.interval;
        if (!c.renewed) continue;
        EXPECT_EQ(kept.common_name(), "a.example");
        EXPECT_TRUE(site.lines().back().starts_with(
            "info: Renewed client certificate: " + digest_hex(kept.pem()) + ", not before '"));
    }
}

TEST(AgentSsl, HandlesServersWithoutRenewal) {
    Site site;
    site.server_settings.set("allow-auto-renewal", "false");
    site.server_settings.set("ca_ttl", "20d");
    site.start();
    ASSERT_TRUE(site.run());
    // The lifetime is 21 days: seven days are too early, but the configured interval makes renewal
    // due.
    ASSERT_TRUE(site.run());
    EXPECT_EQ(site.lines(), Lines{});
    site.settings.set("hostcert_renewal_interval", "30d");
    site.clock.skew = std::int64_t{15} * 86400 * 1'000'000'000;
    ASSERT_TRUE(site.run());
    EXPECT_EQ(site.lines().back(),
              "info: Certificate autorenewal has not been enabled on the server.");
}

TEST(AgentSsl, OneAtATime) {
    Site site;
    site.start();
    std::filesystem::create_directories(site.node(""));
    sys::PidLock held(site.settings.text("ssl_lockfile"));
    ASSERT_TRUE(held.acquire().value());
    auto files = site.run();
    ASSERT_FALSE(files);
    EXPECT_EQ(files.error().message,
              "Another puppet instance is already running and the waitforlock setting is set to "
              "0; exiting");
    site.settings.set("waitforlock", "10");
    site.settings.set("maxwaitforlock", "15");
    files = site.run();
    ASSERT_FALSE(files);
    EXPECT_EQ(files.error().message,
              "Another puppet instance is already running and the maxwaitforlock timeout has been "
              "exceeded; exiting");
    EXPECT_EQ(site.lines(),
              (Lines{"info: Another puppet instance is already running; waiting for it to finish",
                     "info: Will try again in 10 seconds.",
                     "info: Another puppet instance is already running; waiting for it to finish",
                     "info: Will try again in 10 seconds."}));
}

}  // namespace
}  // namespace bunraku::agent
