// SPDX-License-Identifier: Apache-2.0
// Tests the CA over HTTP against recorded responses of puppetserver 7.9.5, and additional features.
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

#include "core/sys/file_system.h"
#include "net/http/client.h"
#include "net/pki/authority.h"
#include "net/pki/authority_folder.h"
#include "net/pki/request.h"
#include "services/server/autosign.h"
#include "services/server/instance.h"

namespace bunraku::server {
namespace {

struct Site {
    std::string path;
    config::Settings settings = config::Settings::defaults();
    base::MemorySink log;
    std::unique_ptr<Instance> instance;

    Site() {
        char name[] = "/tmp/bunraku-ca-role-XXXXXX";
        path = ::mkdtemp(name);
        for (auto [name, value] :
             std::initializer_list<std::pair<const char*, const char*>>{{"confdir", "/conf"},
                                                                        {"ssldir", "/ssl"},
                                                                        {"vardir", "/var"},
                                                                        {"cadir", "/ca"},
                                                                        {"statedir", "/state"}}) {
            settings.set(name, path + value);
        }
        settings.set("certname", "localhost");
        settings.set("autosign", "false");
    }
    ~Site() {
        instance.reset();
        std::filesystem::remove_all(path);
    }
    void start() {
        InstanceOptions options;
        options.roles = {"ca"};
        options.listeners = {{.host = "127.0.0.1", .port = 0, .tls = true}};
        options.version = "1";
        auto started = Instance::start(settings, log, std::move(options));
        ASSERT_TRUE(started) << started.error().message;
        instance = std::move(*started);
    }
    std::string url() const {
        auto text = instance->urls().at(0);
        return "https://localhost" + text.substr(text.rfind(':')) + "/puppet-ca/v1";
    }
    http::ClientOptions tls(const std::string& as) const {
        http::ClientOptions out;
        out.ca_file = path + "/ssl/certs/ca.pem";
        out.crl_file = path + "/ssl/crl.pem";
        if (as == "admin") {
            out.certificate_file = path + "/ssl/certs/localhost.pem";
            out.private_key_file = path + "/ssl/private_keys/localhost.pem";
        } else if (!as.empty()) {
            out.certificate_file = path + "/ca/signed/" + as + ".pem";
            out.private_key_file = path + "/node.key";
        }
        return out;
    }
    /// Returns "STATUS BODY".
    std::string ask(const std::string& as, const std::string& method, const std::string& where,
                    const std::string& body = {}, http::Headers headers = {}) {
        http::Client client(tls(as));
        http::ClientRequest request{method, url() + where, std::move(headers), body};
        if (where.find("request/") != std::string::npos)
            request.headers.set("Content-Type", "text/plain");
        auto answer = client.send(request);
        if (!answer) return answer.error().message;
        return fmt::format("{} {}", answer->status, answer->body);
    }
    /// Returns a request with the key that all nodes of this test share.
    std::string request(const std::string& name, pki::RequestContent content = {}) {
        static const auto key = pki::make_key().value();
        std::ofstream(path + "/node.key") << key.pem();
        content.common_name = name;
        return pki::make_request(key, content).value().pem();
    }
    void submit(const std::string& name) {
        EXPECT_EQ(ask("", "PUT", "/certificate_request/" + name, request(name)), "200 ");
    }
};

const std::string kSign = R"({"desired_state":"signed"})",
                  kRevoke = R"({"desired_state":"revoked"})";

TEST(CaRole, FirstStartCreatesCa) {
    Site site;
    site.start();
    ASSERT_TRUE(site.instance);
    std::vector<std::string> lines;
    for (const auto& record : site.log.records)
        if (record.level == base::Level::Notice) lines.push_back(record.message);
    EXPECT_EQ(lines,
              (std::vector<std::string>{
                  "Created a certificate authority, Puppet CA: localhost, in " + site.path + "/ca",
                  "Created this server's certificate for localhost, puppet: " + site.path +
                      "/ssl/certs/localhost.pem",
                  "On each node: puppet ssl bootstrap --server localhost (or bunraku ssl "
                  "bootstrap)",
                  "Then on this server: bunraku ca list, and bunraku ca sign --certname NAME"}));
    EXPECT_EQ(site.ask("", "GET", "/certificate/ca"),
              "200 " + sys::make_real_file_system()->read(site.path + "/ca/ca_crt.pem").value());
    // The second start uses the existing CA.
    site.instance.reset();
    site.log.records.clear();
    site.start();
    EXPECT_TRUE(site.log.records.empty());
}

TEST(CaRole, CertificateLifecycle) {
    Site site;
    site.start();
    ASSERT_TRUE(site.instance);
    const auto where = std::string("/certificate_request/a.example");
    const auto asked = site.request("a.example");
    struct Step {
        const char *as, *method;
        std::string where, body, answer;
    };
    const auto forbidden = [](const std::string& path, const char* method) {
        return fmt::format(
            "403 Forbidden request: /puppet-ca/v1{} (method :{}). Please see the "
            "server logs for details.",
            path, method);
    };
    const auto status = std::string("/certificate_status/a.example");
    for (const auto& s : std::initializer_list<Step>{
             {"", "GET", "/certificate/a.example", "", "404 Could not find certificate a.example"},
             {"", "GET", where, "", "404 Could not find certificate_request a.example"},
             {"", "PUT", where, "junk",
              "400 The body contains no certificate request in PEM: no start line"},
             {"", "PUT", where, site.request("b.example"),
              "400 Instance name \"b.example\" does not match requested key \"a.example\""},
             {"", "PUT", "/certificate_request/..%2Fa", site.request("../a"),
              "400 The path is not valid percent-encoded UTF-8, or has empty segments, dot "
              "segments, "
              "control characters or encoded slashes where they are not allowed"},
             {"", "PUT", where, asked, "200 "},
             {"", "PUT", where, asked,
              "400 a.example already has a requested certificate; ignoring certificate request"},
             {"", "PUT", where, site.request("a.example"),
              "400 a.example already has a requested certificate; ignoring certificate request"},
             {"", "GET", where, "", "200 " + asked},
             {"", "DELETE", where, "", forbidden(where, "delete")},
             {"", "PUT", status, kSign, forbidden(status, "put")},
             {"", "PUT", "/certificate_request/b.example",
              site.request("b.example") + site.request("b.example"),
              "400 The PEM stream contains more than one object"},
             {"admin", "POST", status, "", forbidden(status, "post")},
             {"admin", "PUT", status, kRevoke,
              "409 Cannot revoke certificate for host a.example without a signed certificate"},
             {"admin", "PUT", status, "{}", "400 Missing required parameter \"desired_state\""},
             {"admin", "PUT", status, "", "400 Request body is not JSON."},
             {"admin", "PUT", status, "[]", "400 Missing required parameter \"desired_state\""},
             {"admin", "PUT", status, R"({"desired_state":"foo"})",
              "400 State foo invalid; Must specify desired state of 'signed' or 'revoked' for host "
              "a.example."},
             {"admin", "PUT", status, R"({"desired_state":"signed","cert_ttl":"12"})",
              "400 cert_ttl specified for host a.example must be an integer, not \"12\""},
             {"admin", "PUT", "/certificate_status/none", kSign,
              "404 Invalid certificate subject."},
             {"admin", "GET", "/certificate_status/none", "", "404 Resource not found."},
             {"admin", "PUT", status, kSign, "204 "},
             {"admin", "PUT", status, kSign,
              "409 Cannot sign certificate for host a.example without a certificate request"},
             {"", "PUT", where, site.request("a.example"),
              "400 a.example already has a signed certificate; ignoring certificate request"},
             {"a.example", "PUT", status, kSign, forbidden(status, "put")},
             {"a.example", "GET", "/certificate_revocation_list/x", "",
              forbidden("/certificate_revocation_list/x", "get")},
             {"admin", "GET", "/certificate_statuses/", "", "400 Missing URL Segment"},
             {"admin", "PUT", "/clean", "x", "400 Request body is not JSON."},
             {"admin", "PUT", "/clean", "{}",
              "400 Missing required key: 'certnames'. Please supply the list of certs you want to "
              "clean."},
             {"admin", "PUT", "/clean", R"({"async":true,"certnames":["x"]})",
              "400 Async mode is not currently supported."},
             {"admin", "PUT", status, kRevoke, "204 "},
             {"admin", "PUT", status, kRevoke, "204 "},
             {"", "PUT", where, site.request("a.example"),
              "400 a.example already has a revoked certificate; ignoring certificate request"},
             {"admin", "PUT", "/clean", R"({"certnames":["a.example","x","y"]})",
              "200 The following certs do not exist and cannot be revoked: [\"x\" \"y\"]"},
             {"admin", "DELETE", status, "", "404 Resource not found."},
             {"admin", "PUT", "/certificate_revocation_list", "x", "400 No valid CRLs submitted."},
             {"", "PUT", where, site.request("a.example"), "200 "},
             {"admin", "DELETE", where, "", "204 "},
             {"admin", "POST", "/sign", R"({"certnames":["x"]})",
              R"(200 {"signed":[],"no-csr":["x"],"signing-errors":[]})"},
         }) {
        EXPECT_EQ(site.ask(s.as, s.method, s.where, s.body), s.answer)
            << s.method << " " << s.where << " " << s.body;
    }
}

TEST(CaRole, StatusDocuments) {
    Site site;
    site.start();
    ASSERT_TRUE(site.instance);
    site.submit("a");
    auto folder = pki::AuthorityFolder::open(pki::AuthorityPaths::in(site.path + "/ca"), [] {
                      return std::time(nullptr);
                  }).value();
    const auto asked = folder.read_request("a").value();
    const auto prints = [](const auto& what) {
        return fmt::format(
            "\"fingerprints\":{{\"SHA1\":\"{}\",\"SHA256\":\"{}\",\"SHA512\":\"{}\","
            "\"default\":\"{}\"}}",
            what.fingerprint(codec::DigestKind::Sha1), what.fingerprint(),
            what.fingerprint(codec::DigestKind::Sha512), what.fingerprint());
    };
    const auto requested =
        fmt::format(R"({{"name":"a","state":"requested","dns_alt_names":[],"subject_alt_names":[],)"
                    R"("authorization_extensions":{{}},"fingerprint":"{}",{}}})",
                    asked.fingerprint(), prints(asked));
    EXPECT_EQ(site.ask("admin", "GET", "/certificate_status/a"), "200 " + requested);
    EXPECT_EQ(site.ask("admin", "GET", "/certificate_statuses/any?state=requested"),
              "200 [" + requested + "]");
    EXPECT_EQ(site.ask("admin", "PUT", "/certificate_status/a",
                       R"({"desired_state":"signed","cert_ttl":3600})"),
              "204 ");
    const auto made = folder.read_certificate("a").value();
    EXPECT_EQ(made.not_after() - made.not_before(), 86400 + 3600);
    const auto document = [&](const char* state) {
        return fmt::format(
            R"({{"name":"a","dns_alt_names":["DNS:a"],"state":"{}","authorization_extensions":{{}},)"
            R"("subject_alt_names":["DNS:a"],"not_before":"{}",{},"not_after":"{}",)"
            R"("serial_number":3,"fingerprint":"{}"}})",
            state, pki::puppet_time(made.not_before()), prints(made),
            pki::puppet_time(made.not_after()), made.fingerprint());
    };
    EXPECT_EQ(site.ask("admin", "GET", "/certificate_status/a"), "200 " + document("signed"));
    EXPECT_EQ(site.ask("admin", "PUT", "/certificate_status/a", kRevoke), "204 ");
    EXPECT_EQ(site.ask("admin", "GET", "/certificate_statuses/any?state=revoked"),
              "200 [" + document("revoked") + "]");
    http::Headers text;
    text.set("Accept", "text/plain");
    EXPECT_EQ(site.ask("admin", "GET", "/certificate_status/a", "", text),
              "406 No acceptable resource available.");
}

TEST(CaRole, SendsOnlyChangedCertificateAndList) {
    Site site;
    site.start();
    ASSERT_TRUE(site.instance);
    for (const auto& [path, file] : {std::pair{"/certificate_revocation_list/ca", "/ca/ca_crl.pem"},
                                     std::pair{"/certificate/ca", "/ca/ca_crt.pem"}}) {
        const auto text = "200 " + sys::make_real_file_system()->read(site.path + file).value();
        for (const auto& [since, answer] :
             std::initializer_list<std::pair<const char*, std::string>>{
                 {"Sat, 01 Jan 2000 00:00:00 GMT", text},
                 {"Fri, 01 Jan 2100 00:00:00 GMT", "304 "},
                 {"nonsense", text}}) {
            http::Headers headers;
            headers.set("If-Modified-Since", since);
            EXPECT_EQ(site.ask("", "GET", path, "", headers), answer) << path << since;
        }
    }
}

TEST(CaRole, RevocationTakesEffectImmediately) {
    Site site;
    site.start();
    ASSERT_TRUE(site.instance);
    site.submit("a");
    EXPECT_EQ(site.ask("admin", "POST", "/sign/all"),
              R"(200 {"signed":["a"],"no-csr":[],"signing-errors":[]})");
    // This also works on an open connection.
    http::Client kept(site.tls("a"));
    EXPECT_EQ(kept.get(site.url() + "/expirations").value().status, 200);
    EXPECT_EQ(site.ask("admin", "PUT", "/certificate_status/a", kRevoke), "204 ");
    EXPECT_EQ(kept.get(site.url() + "/expirations").value().status, 403);
    EXPECT_EQ(site.ask("a", "GET", "/expirations").find("200"), std::string::npos);
    // The CRL in the server's own folder, which agents and other programs use.
    EXPECT_EQ(sys::make_real_file_system()->read(site.path + "/ca/ca_crl.pem").value(),
              sys::make_real_file_system()->read(site.path + "/ssl/crl.pem").value());
}

TEST(CaRole, Renewal) {
    Site site;
    site.settings.set("auto-renewal-cert-ttl", "90d");
    site.start();
    ASSERT_TRUE(site.instance);
    site.submit("a");
    EXPECT_EQ(site.ask("admin", "PUT", "/certificate_status/a", kSign), "204 ");
    auto answer = site.ask("a", "POST", "/certificate_renewal");
    auto fresh = pki::Certificate::from_pem(answer.substr(4), "answer");
    ASSERT_TRUE(fresh) << answer;
    EXPECT_EQ(fresh->common_name(), "a");
    EXPECT_EQ(fresh->not_after() - fresh->not_before(), 91 * 86400);
    // The server stores the new certificate, and a revocation revokes both.
    EXPECT_EQ(site.ask("", "GET", "/certificate/a"), "200 " + fresh->pem());
    EXPECT_EQ(site.ask("", "POST", "/certificate_renewal").substr(0, 3), "403");
    EXPECT_EQ(site.ask("admin", "PUT", "/certificate_status/a", kRevoke), "204 ");
    auto crl = pki::read_crls(site.path + "/ca/ca_crl.pem").value();
    EXPECT_EQ(pki::facts_of(crl[0]).revoked, 2u);
}

TEST(CaRole, RevokedCertificateCannotBeRenewed) {
    for (const std::string how : {"revoke", "clean"}) {
        Site site;
        site.start();
        ASSERT_TRUE(site.instance);
        site.submit("a");
        EXPECT_EQ(site.ask("admin", "PUT", "/certificate_status/a", kSign), "204 ");
        const auto folder =
            pki::AuthorityFolder::open(pki::AuthorityPaths::in(site.path + "/ca"), [] {
                return std::time(nullptr);
            }).value();
        const auto stolen = folder.read_certificate("a").value();
        std::filesystem::copy(site.path + "/ca/signed/a.pem", site.path + "/ca/signed/stolen.pem");
        std::vector<std::thread> threads;
        std::atomic<int> renewed = 0;
        std::atomic<bool> over = false;
        for (int i = 0; i < 3; i++) {
            threads.emplace_back([&] {
                while (!over)
                    renewed +=
                        site.ask("stolen", "POST", "/certificate_renewal").starts_with("200");
            });
        }
        while (renewed < 5) std::this_thread::yield();
        if (how == "clean") {
            EXPECT_EQ(site.ask("admin", "PUT", "/clean", R"({"certnames":["a"]})"),
                      "200 Successfully cleaned all certs.");
        } else {
            EXPECT_EQ(site.ask("admin", "PUT", "/certificate_status/a", kRevoke), "204 ");
        }
        const auto crl = folder.own_crl().value();
        over = true;
        for (auto& t : threads) t.join();
        const auto serials = folder.inventory_serials("a");
        EXPECT_GE(serials.size(), 6u);
        for (const auto& serial : serials) EXPECT_TRUE(pki::is_revoked(crl, serial)) << serial;
        EXPECT_FALSE(folder.renew(stolen, 86400));
    }
}

// The server signs the request that the program approved, even if another request has replaced it.
TEST(CaRole, SignsOnlyApprovedRequest) {
    Site site;
    const auto program = site.path + "/policy";
    // Approves the first request after the second has arrived.
    std::ofstream(program) << "#!/bin/sh\nread x\nif mkdir " << site.path << "/first; then\n"
                           << "while [ ! -e " << site.path << "/second ]; do sleep 0.05; done\n"
                           << "exit 0; fi\ntouch " << site.path << "/second\nexit 1\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    site.settings.set("autosign", program);
    site.settings.set("allow_duplicate_certs", "true");
    site.start();
    ASSERT_TRUE(site.instance);
    const auto good = pki::make_key().value(), bad = pki::make_key().value();
    const auto submit = [&](const pki::PrivateKey& key) {
        return site.ask("", "PUT", "/certificate_request/victim",
                        pki::make_request(key, {.common_name = "victim"}).value().pem());
    };
    std::string first;
    std::thread waiting([&] { first = submit(good); });
    while (!std::filesystem::exists(site.path + "/first")) std::this_thread::yield();
    EXPECT_EQ(submit(bad), "200 ");
    waiting.join();
    EXPECT_EQ(first, "200 ");
    const auto signed_one = pki::read_certificates(site.path + "/ca/signed/victim.pem").value()[0];
    EXPECT_TRUE(good.belongs_to(signed_one));
    // The other request waits for a manual decision.
    EXPECT_TRUE(std::filesystem::exists(site.path + "/ca/requests/victim.pem"));
}

TEST(CaRole, LimitsRequestsOfUnknownClients) {
    Site site;
    site.start();
    ASSERT_TRUE(site.instance);
    http::Headers gzip;
    gzip.set("Content-Encoding", "gzip");
    const auto bomb = http::gzip(std::string(1 << 20, 'x'), 9);
    EXPECT_EQ(site.ask("", "PUT", "/certificate_request/a", bomb, gzip),
              "413 The body decompresses to more than 65536 bytes");
    EXPECT_EQ(site.ask("", "PUT", "/certificate_request/a", http::gzip(site.request("a")), gzip),
              "200 ");
    EXPECT_EQ(site.ask("", "PUT", "/certificate_request/b....", site.request("b....")),
              "400 Subject hostname format is invalid");
}

TEST(CaRole, SettingsOfCaConf) {
    Site site;
    std::filesystem::create_directories(site.path + "/conf/puppetserver/conf.d");
    std::ofstream(site.path + "/conf/puppetserver/conf.d/ca.conf")
        << "certificate-authority: { allow-subject-alt-names: true, allow-auto-renewal: false }";
    site.settings.set("autosign", "true");
    site.start();
    ASSERT_TRUE(site.instance);
    pki::RequestContent names;
    names.alternative_names = "other";
    EXPECT_EQ(site.ask("", "PUT", "/certificate_request/a", site.request("a", names)), "200 ");
    EXPECT_EQ(pki::read_certificates(site.path + "/ca/signed/a.pem").value()[0].alternative_names(),
              (std::vector<std::string>{"DNS:a", "DNS:other"}));
    EXPECT_EQ(site.ask("a", "POST", "/certificate_renewal"), "404 Not Found");
    // A request that is refused during signing is stored for a manual decision.
    pki::RequestContent auth;
    auth.attributes.extension_requests = {{"pp_auth_role", "x"}};
    EXPECT_TRUE(site.ask("", "PUT", "/certificate_request/b", site.request("b", auth))
                    .starts_with("400 CSR 'b' contains an authorization extension"));
    EXPECT_TRUE(std::filesystem::exists(site.path + "/ca/requests/b.pem"));
}

TEST(Autosign, Lists) {
    base::MemorySink log;
    struct Case {
        const char *text, *name;
        bool has;
    };
    for (const auto& c : std::initializer_list<Case>{{"a.example\n", "a.example", true},
                                                     {"a.example", "b.example", false},
                                                     {"*.example", "a.b.example", true},
                                                     {"*.Example", "a.example", true},
                                                     {"*.example", "example", true},
                                                     {"*.example", "aexample", false},
                                                     {"*.b.example", "a.example", false},
                                                     {"*", "anything", true},
                                                     {"#*\n\n", "a", false},
                                                     {"a b", "a", false},
                                                     {"", "a", false}}) {
        EXPECT_EQ(autosign_list_has(c.text, c.name, "/f", log), c.has) << c.text << " " << c.name;
    }
    ASSERT_EQ(log.records.size(), 1u);
    EXPECT_EQ(log.records[0].message, "Invalid pattern 'a b' found in /f");
}

TEST(Autosign, Programs) {
    Site site;
    const auto program = site.path + "/policy";
    std::ofstream(program)
        << "#!/bin/sh\n[ \"$1\" = good ] && grep -q 'BEGIN CERTIFICATE REQUEST'\n";
    base::MemorySink log;
    auto processes = sys::make_real_processes();
    const auto request = pki::Request::from_pem(site.request("good"), "x").value();
    // A file without the executable bit is an allow list.
    EXPECT_FALSE(autosigns(program, "good", request, *processes, log));
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    log.records.clear();
    EXPECT_TRUE(autosigns(program, "good", request, *processes, log));
    EXPECT_FALSE(autosigns(program, "bad", request, *processes, log));
    EXPECT_EQ(log.records.back().message,
              fmt::format("Autosign command '{}' rejected certificate 'bad' because the exit code "
                          "was 1, not zero",
                          program));
    EXPECT_FALSE(autosigns(site.path + "/none", "good", request, *processes, log));
    EXPECT_TRUE(autosigns("true", "good", request, *processes, log));
    EXPECT_FALSE(autosigns("false", "good", request, *processes, log));
}

}  // namespace
}  // namespace bunraku::server
