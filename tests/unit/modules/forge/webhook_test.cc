#include "modules/forge/webhook.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

#include "core/base/diagnostic.h"
#include "core/config/settings.h"
#include "modules/forge/deploy_hook.h"
#include "unit/modules/module/support.h"

namespace bunraku::forge {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

http::Request hook(const std::string& body, const Fields& fields) {
    http::Request r;
    r.method = "POST";
    r.path = r.target = "/deploy/webhook";
    r.body = body;
    for (const auto& [name, value] : fields) r.headers.set(name, value);
    return r;
}

constexpr const char* kSecret = "It's a Secret to Everybody";
// The example in GitHub's documentation: body, secret and signatures.
constexpr const char* kHello = "Hello, World!";
constexpr const char* kGood = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

TEST(Webhook, VerifiesSignature) {
    const std::string good = kGood, prefixed = "sha256=" + good;
    std::string wrong = prefixed;
    wrong.back() = '8';
    struct Case {
        Fields fields;
        int code;  ///< 0 if the request is accepted
        const char* secret = kSecret;
        const char* body = kHello;
    };
    const std::vector<Case> cases = {
        // GitHub sends both signatures; Bitbucket sends its SHA-256 in the header that GitHub uses
        // for SHA-1.
        {{{"X-Hub-Signature-256", prefixed}}, 0},
        {{{"X-Hub-Signature-256", prefixed}, {"X-Hub-Signature", "sha1=0123"}}, 0},
        {{{"X-Hub-Signature-256", "sha256=" + std::string(64, 'A')}}, 403},
        {{{"X-Hub-Signature-256", wrong}}, 403},
        {{{"X-Hub-Signature-256", prefixed.substr(0, 40)}}, 403},
        {{{"X-Hub-Signature-256", prefixed}}, 403, "another secret"},
        {{{"X-Hub-Signature-256", prefixed}}, 403, kSecret, "Hello, World?"},
        {{{"X-Hub-Signature", prefixed}}, 0},
        {{{"X-Hub-Signature", wrong}}, 403},
        // A correct SHA-1 alone does not count as a signature.
        {{{"X-Hub-Signature", "sha1=01dc10d0c83e72ed246219cdd91669667fe2ca59"}}, 401},
        // A wrong signature fails even if another one is correct.
        {{{"X-Hub-Signature-256", wrong}, {"X-Gitea-Signature", good}}, 403},
        {{{"X-Gitea-Signature", good}}, 0},
        {{{"X-Gitea-Signature", good.substr(1)}}, 403},
        {{{"X-Forgejo-Signature", good}}, 0},
        {{{"X-Gogs-Signature", good}}, 0},
        {{{"X-Gitlab-Token", kSecret}}, 0},
        {{{"X-Gitlab-Token", "It's a Secret to Everybod"}}, 403},
        {{{"X-Gitlab-Token", good}}, 403},
        {{{"X-Gitlab-Token", "wrong"}, {"X-Hub-Signature-256", prefixed}}, 403},
        {{}, 401},
        {{{"Authorization", "Bearer " + std::string(kSecret)}}, 401},
        {{{"X-Hub-Signature-256", prefixed}}, 500, ""},
        {{{"X-Gitlab-Token", ""}}, 500, ""},
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case& c = cases[i];
        auto said = verify_webhook(hook(c.body, c.fields), c.secret);
        EXPECT_EQ(said ? 0 : said.error().code, c.code) << "case " << i;
    }
}

TEST(Webhook, ParsesPushes) {
    struct Case {
        const char* body;
        Fields fields;
        const char* branches;  ///< expected branches; "!" for an error, "ping" for a ping
        const char* name = "";
        const char* url = nullptr;  ///< one of the repository's URLs
    };
    const std::vector<Case> cases = {
        {R"({"ref":"refs/heads/feature/x","repository":{"name":"control","full_name":"acme/control",
            "clone_url":"https://git.example.org/acme/control.git","ssh_url":"git@git.example.org:acme/control.git"}})",
         {{"X-GitHub-Event", "push"}},
         "feature/x",
         "control",
         "git@git.example.org:acme/control.git"},
        {R"({"ref":"old","ref_type":"branch","repository":{"name":"control"}})",
         {{"X-GitHub-Event", "delete"}},
         "old",
         "control"},
        {R"({"ref":"v1","ref_type":"tag","repository":{"name":"control"}})",
         {{"X-GitHub-Event", "create"}},
         "",
         "control"},
        {R"({"ref":"refs/tags/v1","repository":{"name":"control"}})", {}, "", "control"},
        {R"({"zen":"x"})", {{"X-GitHub-Event", "ping"}}, "ping"},
        {"payload=%7B%22ref%22%3A%22refs%2Fheads%2Fmain%22%7D",
         {{"X-GitHub-Event", "push"}},
         "main"},
        // GitLab
        {R"({"object_kind":"push","ref":"refs/heads/main","project":{"name":"Control repo",
            "git_http_url":"https://lab.example.org/acme/control.git"}})",
         {{"X-Gitlab-Event", "Push Hook"}},
         "main",
         "Control repo",
         "https://lab.example.org/acme/control.git"},
        // Gitea
        {R"({"ref":"refs/heads/main","repository":{"full_name":"acme/puppet-ntp","html_url":"https://tea.example.org/acme/puppet-ntp"}})",
         {{"X-Gitea-Event", "push"}, {"X-GitHub-Event", "ping"}},
         "main",
         "puppet-ntp",
         "https://tea.example.org/acme/puppet-ntp"},
        // Bitbucket Cloud: several changes, one of which deletes a branch.
        {R"({"push":{"changes":[{"new":{"type":"branch","name":"a"},"old":{"type":"branch","name":"a"}},
            {"new":null,"old":{"type":"branch","name":"b"}},{"new":{"type":"tag","name":"c"},"old":null}]},
            "repository":{"full_name":"acme/control","links":{"html":{"href":"https://bitbucket.org/acme/control"}}}})",
         {{"X-Event-Key", "repo:push"}},
         "a b",
         "control",
         "https://bitbucket.org/acme/control"},
        // Bitbucket Server
        {R"({"changes":[{"ref":{"id":"refs/heads/main","displayId":"main","type":"BRANCH"}}],
            "repository":{"name":"control","links":{"clone":[{"href":"ssh://git@bb.example.org:7999/ac/control.git"}]}}})",
         {{"X-Event-Key", "repo:refs_changed"}},
         "main",
         "control",
         "ssh://git@bb.example.org:7999/ac/control.git"},
        {R"({"test":true})", {{"X-Event-Key", "diagnostics:ping"}}, "ping"},
        // Invalid requests.
        {"", {}, "!"},
        {"[]", {}, "!"},
        {R"({"ref":)", {}, "!"},
        {"payload=%", {}, "!"},
        {R"({"ref":"refs/heads/--upload-pack=x"})", {}, "!"},
        {R"({"ref":"refs/heads/../../etc"})", {}, "!"},
        {R"({"ref":"refs/heads/a b"})", {}, "!"},
        {R"({"ref":"refs/heads/a\u0000b"})", {}, "!"},
        {R"({"ref":7,"repository":[],"project":"x","push":{"changes":[1,{"new":"x"}]}})", {}, ""},
    };
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const Case& c = cases[i];
        auto push = read_webhook(hook(c.body, c.fields));
        const std::string want = c.branches;
        if (want == "!") {
            EXPECT_EQ(push ? 0 : push.error().code, 400) << "case " << i;
            continue;
        }
        ASSERT_TRUE(push) << "case " << i << ": " << push.error().message;
        EXPECT_EQ(push->ping, want == "ping") << "case " << i;
        if (push->ping) continue;
        std::string got;
        for (const std::string& b : push->branches) got += (got.empty() ? "" : " ") + b;
        EXPECT_EQ(got, want) << "case " << i;
        EXPECT_EQ(push->name, c.name) << "case " << i;
        if (!c.url) continue;
        EXPECT_NE(std::find(push->urls.begin(), push->urls.end(), c.url), push->urls.end())
            << "case " << i;
    }
    std::string deep = R"({"ref":)";
    for (int i = 0; i < 100000; ++i) deep += '[';
    EXPECT_FALSE(read_webhook(hook(deep, {})));
}

TEST(Webhook, MatchesUrlsOfOneRepository) {
    const std::vector<std::pair<const char*, const char*>> same = {
        {"git@host:a/b.git", "https://host/a/b"},
        {"ssh://git@Host:22/a/b.git", "https://user:pw@host/a/b/"},
        {"https://host:8443/A/b.git", "git@host:a/b"},
        {"file:///srv/b", "file:///srv/b.git"},
    };
    for (const auto& [a, b] : same) EXPECT_TRUE(same_repository(a, b)) << a << " " << b;
    const std::vector<std::pair<const char*, const char*>> others = {
        {"https://host/a/b", "https://host/a/bc"},
        {"https://host/a/b", "https://other/a/b"},
        {"https://host.evil/a/b", "https://host/a/b"},
        {"", ""},
    };
    for (const auto& [a, b] : others) EXPECT_FALSE(same_repository(a, b)) << a << " " << b;
}

/// A server that deploys a control repository with one branch. While the file "hold" exists, a
/// deploy does not finish.
class Hooked : public testing::Test {
protected:
    Hooked() {
        sh("git init -q -b main control && cd control && git -c user.name=a -c user.email=a@b "
           "commit -q --allow-empty -m one");
        write("r10k.yaml", fmt::format("cachedir: {0}/cache\nsources:\n  site:\n    remote: "
                                       "file://{0}/control\n    basedir: {0}/envs\n    "
                                       "filter_command: 'while [ -e {0}/hold ]; do sleep 0.02; "
                                       "done'\n",
                                       scratch.path));
        write("webhook.conf", fmt::format("# who may\nsecret = 12345678\nr10k = {0}/r10k.yaml\n"
                                          "post_deploy = {0}/tell\n",
                                          scratch.path));
        // The command gets the names of the environments.
        write("tell", fmt::format("#!/bin/sh\nprintf '%s' \"$*\" >{}/told\n", scratch.path));
        std::filesystem::permissions(scratch.path + "/tell", std::filesystem::perms::owner_all);
        std::filesystem::permissions(scratch.path + "/webhook.conf",
                                     std::filesystem::perms::owner_read);
        settings.set("vardir", scratch.path + "/var");
        settings.set("statedir", scratch.path + "/state");
        std::filesystem::create_directories(scratch.path + "/state");
        start();
    }
    void start(const std::string& state = "state") {
        server.reset();
        router = http::Router();
        auto options = DeployHookOptions::read(scratch.path + "/webhook.conf");
        ASSERT_TRUE(options) << options.error().message;
        options->state = scratch.path + "/" + state;
        server = std::make_unique<DeployHook>(std::move(*options), settings, log);
        router.set_policy({.plain_is_trusted = true});
        server->mount(router);
    }
    void sh(const std::string& command) {
        ASSERT_EQ(std::system(("cd " + scratch.path + " && " + command).c_str()), 0) << command;
    }
    void write(const std::string& name, const std::string& text) {
        std::ofstream(scratch.path + "/" + name) << text;
    }
    bool there(const std::string& name) {
        return std::filesystem::exists(scratch.path + "/" + name);
    }
    int push(const std::string& repository, const std::string& more = {},
             const std::string& token = "12345678") {
        http::Request r = hook(
            fmt::format(
                R"({{"ref":"refs/heads/main","repository":{{"name":"{}","url":"file://{}/{}"}}{}}})",
                repository, scratch.path, repository, more),
            {{"X-Gitlab-Token", token}});
        const http::Response answer = router.handle(r);
        said = answer.body;
        retry_after = answer.headers.get("Retry-After");
        return answer.status;
    }
    std::string status() {
        http::Request r;
        r.method = "GET";
        r.path = r.target = "/deploy/status";
        return router.handle(r).body;
    }
    bool soon(const std::function<bool()>& true_) {
        for (int i = 0; i < 500; ++i) {
            if (true_()) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return false;
    }
    module::test::Scratch scratch;
    config::Settings settings = config::Settings::defaults();
    base::NullSink log;
    http::Router router;
    std::unique_ptr<DeployHook> server;
    std::string said, retry_after;
};

TEST_F(Hooked, DeploysOnceForEachBody) {
    EXPECT_EQ(push("control", "", "wrong one"), 403);
    EXPECT_EQ(push("control"), 202) << said;
    ASSERT_TRUE(soon([&] { return there("told"); })) << status();
    EXPECT_TRUE(there("envs/main"));
    ASSERT_TRUE(soon([&] { return status().find(R"("state":"done")") != std::string::npos; }))
        << status();
    EXPECT_NE(status().find(R"("changed":["main"])"), std::string::npos) << status();
    // The same request again is a replay, both now and after a restart.
    EXPECT_EQ(push("control"), 409);
    start();
    EXPECT_EQ(push("control"), 409);
    EXPECT_EQ(push("control", R"(,"after":"2")"), 202) << said;
    // A branch whose name is not a valid environment, and an unknown repository.
    EXPECT_EQ(push("no-modu!e"), 404) << said;
}

TEST_F(Hooked, QueuesRequestsDuringDeploy) {
    write("hold", "");
    EXPECT_EQ(push("control"), 202);
    ASSERT_TRUE(soon([&] { return status().find(R"("state":"running")") != std::string::npos; }));
    // Equal waiting jobs become one deploy.
    EXPECT_EQ(push("control", R"(,"after":"1")"), 202);
    const std::string second = said;
    EXPECT_EQ(push("control", R"(,"after":"2")"), 202);
    EXPECT_EQ(said, second);
    int taken = 1;
    while (push(fmt::format("m{}", taken)) == 202 && taken < 200) ++taken;
    EXPECT_EQ(taken, 100);
    EXPECT_NE(said.find("too many deploys wait already"), std::string::npos) << said;
    EXPECT_EQ(retry_after, "60");
    // A refused request may be sent again: it was not recorded as seen.
    EXPECT_EQ(push("m100"), 503);
    sh("rm hold");
    ASSERT_TRUE(soon([&] { return push("m100") == 202; })) << said;
}

TEST_F(Hooked, AcceptedJobsSurvivePowerFailure) {
    write("hold", "");
    EXPECT_EQ(push("control"), 202) << said;
    ASSERT_TRUE(soon([&] { return status().find(R"("state":"running")") != std::string::npos; }));
    EXPECT_EQ(push("control", R"(,"after":"1")"), 202) << said;
    EXPECT_EQ(push("m1"), 202) << said;
    // The current state of the disk is what a power failure leaves.
    sh("cp -r state cut");
    const auto resumes = [&](const std::string& state) {
        start(state);
        EXPECT_EQ(push("control"), 409) << said;
        EXPECT_EQ(push("control", R"(,"after":"1")"), 409) << said;
        // The resumed deploy may write until it finds the file `hold`.
        sh("until rm -rf envs 2>/dev/null; do :; done; rm -f told && rm hold");
        EXPECT_TRUE(soon([&] {
            const std::string now = status();
            return now.find("waiting") == now.npos && now.find("running") == now.npos;
        })) << status();
        EXPECT_TRUE(there("envs/main") && there("told"));
        EXPECT_NE(status().find(R"("id":3,"state":"done","repository":"m1")"), std::string::npos)
            << status();
    };
    // One stop that waits for the running deploy, and one that does not.
    server.reset();
    resumes("state");
    server.reset();
    write("hold", "");
    resumes("cut");
    // A deploy that finished before the power failure is not repeated, but its hooks run.
    server.reset();
    sh("rm told && sed -i 's/\"state\":\"done\"/\"state\":\"waiting\"/' cut/webhooks");
    start("cut");
    EXPECT_TRUE(soon([&] { return there("told"); })) << status();
}

TEST_F(Hooked, RefusesJobsThatCannotBeRecorded) {
    sh("mkdir state/webhooks");
    EXPECT_EQ(push("control"), 503) << said;
    EXPECT_EQ(status(), R"({"deploys":[]})");
    sh("rmdir state/webhooks");
    EXPECT_EQ(push("control"), 202) << said;
    server.reset();
    // An incomplete record counts neither as a job nor as a seen request.
    sh("printf '%s' \"$(head -c 90 state/webhooks)\" > cut && mv cut state/webhooks");
    start();
    EXPECT_EQ(push("control"), 202) << said;
    EXPECT_EQ(push("control"), 409) << said;
}

TEST_F(Hooked, FailedDeployMayBeRedelivered) {
    sh("mv control away");
    EXPECT_EQ(push("control"), 202) << said;
    ASSERT_TRUE(soon([&] { return status().find(R"("state":"failed")") != std::string::npos; }))
        << status();
    start();
    sh("mv away control");
    EXPECT_EQ(push("control"), 202) << said;
    ASSERT_TRUE(soon([&] {
        return status().find(R"("id":2,"state":"done")") != std::string::npos;
    })) << status();
    EXPECT_EQ(push("control"), 409) << said;
}

TEST(DeployHookOptions, RefusesReadableOrShortSecret) {
    module::test::Scratch scratch;
    const std::string path = scratch.path + "/webhook.conf";
    const auto said = [&](const std::string& text, unsigned mode) {
        std::filesystem::remove(path);
        std::ofstream(path) << text;
        std::filesystem::permissions(path, std::filesystem::perms(mode));
        auto read = DeployHookOptions::read(path);
        return read ? "good" : read.error().message;
    };
    EXPECT_EQ(said("secret = 12345678\n", 0600), "good");
    EXPECT_EQ(said("secret = 12345678\n", 0640), "good");
    EXPECT_NE(said("secret = 12345678\n", 0644).find("is readable by all users"),
              std::string::npos);
    EXPECT_NE(said("secret = 1234567\n", 0600).find("at least 8"), std::string::npos);
    EXPECT_NE(said("modules = false\n", 0600).find("at least 8"), std::string::npos);
    EXPECT_NE(said("secrets = 12345678\n", 0600).find("there is no 'secrets'"), std::string::npos);
    EXPECT_NE(said("secret\n", 0600).find("is not KEY = VALUE"), std::string::npos);
}

}  // namespace
}  // namespace bunraku::forge
