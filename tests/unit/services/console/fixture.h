// SPDX-License-Identifier: Apache-2.0
// A console with a store, without sockets.
#pragma once

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/sys/clock.h"
#include "core/sys/executor.h"
#include "net/http/socket_network.h"
#include "services/server/role.h"
#include "services/server/tokens.h"
#include "store/engine/service.h"

namespace bunraku::console {

class ConsoleTest : public testing::Test {
protected:
    void SetUp() override {
        std::string name = std::filesystem::temp_directory_path() / "bunraku-console-XXXXXX";
        folder_ = mkdtemp(name.data());
        settings_.set("confdir", folder_);
        settings_.set("store_key", folder_ + "/store.key");
        start();
    }
    void TearDown() override {
        stop();
        std::filesystem::remove_all(folder_);
    }
    /// Starts the roles, with the files that are in the folder.
    void start() {
        tokens_ = std::make_unique<server::ApiTokens>(folder_ + "/tokens.json");
        aside_ = sys::machine().executor({.threads = 2, .name = "aside"});
        context_ = std::make_unique<server::Context>(
            server::Context{settings_, counters_, log_, sys::machine(), http::sockets(), *aside_,
                            "1.0", folder_, ""});
        context_->tokens = tokens_.get();
        auto store = server::make_store_role(*context_);
        ASSERT_TRUE(store) << store.error().message;
        add_roles();
        auto console = server::make_console_role(*context_);
        ASSERT_TRUE(console) << console.error().message;
        store_ = std::move(*store);
        console_ = std::move(*console);
        router_ = http::Router();
        console_->mount(router_);
    }
    /// Creates roles between the store and the console.
    virtual void add_roles() {}
    void stop() {
        router_ = http::Router();
        if (aside_) aside_->stop();
        console_.reset();
        if (rollouts_) rollouts_->stop();
        rollouts_.reset();
        if (store_) store_->stop();
        store_.reset();
        context_.reset();
    }

    using Headers = std::vector<std::pair<std::string, std::string>>;
    http::Response ask(std::string method, const std::string& target, Headers headers = {},
                       std::string body = {}) {
        http::Request request;
        request.method = std::move(method);
        request.target = target;
        const auto mark = target.find('?');
        request.path = target.substr(0, mark);
        if (mark != std::string::npos)
            request.query = http::parse_query(target.substr(mark + 1)).value();
        request.peer = peer_;
        request.headers.set("Accept", "text/html");
        request.headers.set("Host", "console.test");
        for (const auto& [name, value] : headers) {
            if (name == "Accept") request.headers.remove(name);
            request.headers.add(name, value);
        }
        request.body = std::move(body);
        return router_.handle(request);
    }
    http::Response get(const std::string& path, Headers headers = {}) {
        return ask("GET", "/console" + path, std::move(headers));
    }
    /// Makes a token with a role in the console, and returns its text.
    std::string token(std::string name, std::string role,
                      std::vector<std::string> environments = {}) {
        return tokens_
            ->create({.name = std::move(name),
                      .role = std::move(role),
                      .environments = std::move(environments)})
            .value();
    }
    static std::string cookie_of(const http::Response& response) {
        const std::string text(response.headers.get("Set-Cookie"));
        return text.substr(0, text.find(';'));
    }
    /// Signs in with a token, and returns the header with the session.
    Headers sign_in(const std::string& text) {
        const auto response = ask("POST", "/console/sign-in", {}, "token=" + text + "&to=");
        EXPECT_EQ(response.status, 303) << response.body;
        return {{"Cookie", cookie_of(response)}};
    }
    Headers sign_in_as(const std::string& role, std::vector<std::string> environments = {}) {
        return sign_in(token(fmt::format("{}{}", role, number_++), role, std::move(environments)));
    }
    /// Returns the secret that forms of this session contain.
    std::string csrf(const Headers& session) {
        const auto page = get("/account", session).body;
        const std::string mark = "name=\"csrf\" value=\"";
        const auto at = page.find(mark);
        EXPECT_NE(at, std::string::npos);
        return at == std::string::npos ? "" : page.substr(at + mark.size(), 64);
    }

    /// Sends a command to the store and waits until it is stored.
    void submit(store::CommandKind kind, int version, const std::string& certname,
                const std::string& body) {
        auto ticket = context_->store->submit({kind, version, certname, 0, 0}, body);
        ASSERT_TRUE(ticket) << ticket.error().message;
        ASSERT_TRUE(context_->store->wait(*ticket, std::chrono::seconds(60)));
    }
    struct ReportText {
        std::string status = "unchanged", environment = "production";
        std::string events = "[]";  ///< JSON, of one resource
        std::string type = "File", title = "/tmp/x";
        std::string logs = "[]";
        std::string code = "null";  ///< JSON
        std::string catalog_uuid = {};
        std::int64_t age_ms = 60'000;
        bool corrective = false;
    };
    /// Stores a report of a run that ended `age_ms` ago. Texts are JSON strings without quotes.
    void report(const std::string& certname, const ReportText& r) {
        const auto end = sys::iso8601_utc((sys::machine().now_ms() - r.age_ms) * 1'000'000, 3);
        submit(store::CommandKind::StoreReport, 8, certname,
               fmt::format(
                   R"({{"certname":"{}","puppet_version":"8.11.0","report_format":12,)"
                   R"("configuration_version":"v1","start_time":"{}","end_time":"{}",)"
                   R"("producer_timestamp":"{}","producer":null,"environment":"{}",)"
                   R"("transaction_uuid":null,"catalog_uuid":{},"code_id":{},"status":"{}",)"
                   R"("cached_catalog_status":null,"noop":false,"noop_pending":false,)"
                   R"("corrective_change":{},"metrics":[],"logs":{},"resources":[{{"timestamp":)"
                   R"("{}","resource_type":"{}","resource_title":"{}","skipped":false,"file":)"
                   R"("/m/init.pp","line":7,"containment_path":["Stage[main]","Web"],)"
                   R"("corrective_change":{},"events":{}}}]}})",
                   certname, end, end, end, r.environment,
                   r.catalog_uuid.empty() ? "null" : '"' + r.catalog_uuid + '"', r.code, r.status,
                   r.corrective, r.logs, end, r.type, r.title, r.corrective, r.events));
    }
    static std::string event(const std::string& status, const std::string& message,
                             bool corrective = false) {
        return fmt::format(
            R"([{{"status":"{}","timestamp":"2026-01-01T00:00:00Z","property":"ensure","name":)"
            R"(null,"new_value":"present","old_value":"absent","message":"{}",)"
            R"("corrective_change":{}}}])",
            status, message, corrective);
    }
    void facts(const std::string& certname, const std::string& values,
               const std::string& environment = "production") {
        submit(store::CommandKind::ReplaceFacts, 5, certname,
               fmt::format(R"({{"certname":"{}","environment":"{}","producer":null,)"
                           R"("producer_timestamp":"{}","values":{}}})",
                           certname, environment,
                           sys::iso8601_utc(sys::machine().now_ms() * 1'000'000, 3), values));
    }

    std::string folder_;
    config::Settings settings_ = config::Settings::defaults();
    base::Counters counters_;
    base::MemorySink log_;
    http::Peer peer_{.address = "192.0.2.1"};
    std::unique_ptr<sys::Executor> aside_;
    std::unique_ptr<server::ApiTokens> tokens_;
    std::unique_ptr<server::Context> context_;
    std::unique_ptr<server::Role> store_, rollouts_, console_;
    http::Router router_;
    int number_ = 0;
};

}  // namespace bunraku::console
