// SPDX-License-Identifier: Apache-2.0
// The pages and actions for certificates, with a fake authority.
#include <cerrno>
#include <fstream>

#include "fixture.h"
#include "net/pki/authority.h"
#include "net/pki/request.h"
#include "services/server/ca_access.h"

namespace bunraku::console {
namespace {

using base::Result;
using pki::CertificateStatus;

/// An authority with one waiting request. It records the actions that are called.
class FakeAuthority final : public server::CaAccess {
public:
    explicit FakeAuthority(pki::Request request) : request_(std::move(request)) {}
    Result<std::vector<CertificateStatus>> waiting() override { return std::vector{status()}; }
    Result<std::vector<CertificateStatus>> issued() override {
        return std::vector<CertificateStatus>();
    }
    Result<std::optional<CertificateStatus>> find(const std::string& name) override {
        if (name != request_.common_name()) return std::nullopt;
        return status();
    }
    Result<void> sign_one(const std::string& name, const std::string& fingerprint) override {
        if (fingerprint != request_.fingerprint())
            return base::failure("Another request of " + name + " is waiting now", ENOENT);
        done += "sign " + name + "\n";
        return {};
    }
    Result<void> revoke_one(const std::string& name) override {
        done += "revoke " + name + "\n";
        return {};
    }
    Result<void> clean_one(const std::string& name) override {
        done += "clean " + name + "\n";
        return {};
    }
    std::string done;

private:
    CertificateStatus status() const {
        return {.name = request_.common_name(), .request = request_};
    }
    pki::Request request_;
};

class ConsoleCertificates : public ConsoleTest {
protected:
    void SetUp() override {
        ConsoleTest::SetUp();
        const auto key = pki::make_key().value();
        pki::RequestContent content{.common_name = "new.test"};
        content.attributes.extension_requests = {{"pp_role", "<img src=x onerror=alert(1)>"}};
        request_ = pki::make_request(key, content).value();
        authority_ = std::make_unique<FakeAuthority>(*request_);
        context_->ca = authority_.get();
    }
    std::string fingerprint() const { return http::percent_encode(request_->fingerprint()); }
    int act(const Headers& session, const std::string& action, const std::string& fields = {}) {
        return ask("POST", "/console/certificates/new.test/" + action, session,
                   fmt::format("csrf={}{}", csrf(session), fields))
            .status;
    }
    std::optional<pki::Request> request_;
    std::unique_ptr<FakeAuthority> authority_;
};

TEST_F(ConsoleCertificates, ShowsRequestsWithTheirExtensions) {
    facts("web1.test", R"({"role":"web"})");
    const auto session = sign_in_as("viewer");
    const auto list = get("/certificates", session).body;
    EXPECT_NE(list.find("Waiting requests (1)"), std::string::npos);
    const auto fleet = get("/", session).body;
    EXPECT_NE(fleet.find("<a href=\"/console/certificates\">Certificate requests</a>"),
              std::string::npos)
        << fleet;
    const auto limited = get("/", sign_in_as("viewer", {"production"})).body;
    EXPECT_EQ(limited.find("Certificate requests"), std::string::npos) << limited;
    EXPECT_NE(list.find(request_->fingerprint()), std::string::npos);
    const auto page = get("/certificates/new.test", session).body;
    EXPECT_NE(page.find("<dt>pp_role</dt>"), std::string::npos) << page;
    EXPECT_NE(page.find("&lt;img src=x onerror=alert(1)&gt;"), std::string::npos);
    EXPECT_EQ(page.find("<img"), std::string::npos);
    EXPECT_EQ(page.find(">Sign<"), std::string::npos);
    EXPECT_NE(get("/certificates/new.test", sign_in_as("operator")).body.find(">Sign<"),
              std::string::npos);
    EXPECT_EQ(get("/certificates/none.test", session).status, 404);
    EXPECT_EQ(get("/certificates", sign_in_as("viewer", {"production"})).status, 403);
}

TEST_F(ConsoleCertificates, SignsOnlyTheRequestThatWasShown) {
    const auto session = sign_in_as("operator");
    const auto confirm = get("/certificates/new.test?confirm=sign", session).body;
    EXPECT_NE(confirm.find("Sign the certificate of new.test?"), std::string::npos);
    EXPECT_NE(confirm.find("name=\"fingerprint\" value=\"" + request_->fingerprint()),
              std::string::npos);
    EXPECT_EQ(act(session, "sign"), 404);
    EXPECT_EQ(act(session, "sign", "&fingerprint=00:11"), 404);
    EXPECT_EQ(authority_->done, "");
    EXPECT_EQ(act(session, "sign", "&fingerprint=" + fingerprint()), 303);
    EXPECT_EQ(authority_->done, "sign new.test\n");
}

TEST_F(ConsoleCertificates, ActionsNeedTheRoleOperator) {
    const auto viewer = sign_in_as("viewer");
    for (const char* action : {"sign", "revoke", "clean"}) EXPECT_EQ(act(viewer, action), 403);
    EXPECT_EQ(act(sign_in_as("operator", {"production"}), "clean"), 403);
    EXPECT_EQ(authority_->done, "");
    const auto session = sign_in_as("operator");
    EXPECT_EQ(act(session, "none"), 404);
    EXPECT_EQ(act(session, "revoke"), 303);
    EXPECT_EQ(act(session, "clean"), 303);
    EXPECT_EQ(authority_->done, "revoke new.test\nclean new.test\n");
}

TEST_F(ConsoleCertificates, ActionsAreAudited) {
    const auto session = sign_in_as("operator");
    EXPECT_EQ(act(session, "revoke"), 303);
    std::ifstream file(folder_ + "/console-audit.jsonl");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(text.find(R"("action":"certificate.revoke","target":"new.test","result":"begun")"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find(R"("action":"certificate.revoke","target":"new.test","result":"done")"),
              std::string::npos);
    // An action whose entry cannot be written does not happen.
    std::filesystem::remove(folder_ + "/console-audit.jsonl");
    std::filesystem::create_directory(folder_ + "/console-audit.jsonl");
    EXPECT_EQ(act(session, "clean"), 500);
    EXPECT_EQ(authority_->done, "revoke new.test\n");
}

TEST_F(ConsoleCertificates, WithoutAnAuthority) {
    context_->ca = nullptr;
    EXPECT_EQ(get("/certificates", sign_in_as("admin")).status, 404);
}

}  // namespace
}  // namespace bunraku::console
