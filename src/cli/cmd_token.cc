// SPDX-License-Identifier: Apache-2.0
// `token`: manages access to a server's APIs without a certificate.
#include <cstdio>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/usage.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/sys/clock.h"
#include "language/environment/conf.h"
#include "resources/catalog/wire_time.h"
#include "services/server/tokens.h"

namespace bunraku::cli {

namespace {

using server::ApiToken;

struct TokenOptions {
    std::string name, expires = "90d", role;
    std::vector<std::string> scopes, environments;
    bool json = false;
};

template <class T>
T good(base::Result<T> result) {
    if (!result) throw base::plain_error(result.error().message);
    return std::move(*result);
}

std::string time_text(std::int64_t seconds) {
    return seconds == 0 ? "never" : catalog::format_wire_time(seconds * 1000);
}

int create(server::ApiTokens& tokens, const TokenOptions& o) {
    ApiToken token{
        .name = o.name, .scopes = o.scopes, .role = o.role, .environments = o.environments};
    token.created_s = sys::make_real_clock()->now_ns() / 1'000'000'000;
    if (o.expires != "never") {
        const auto seconds = good(environment::parse_ttl(o.expires, "expires"));
        if (!seconds || *seconds <= 0)
            throw base::plain_error("--expires takes a time such as 30d or 12h, or never");
        token.expires_s = token.created_s + *seconds;
    }
    const auto until = token.expires_s;
    const auto text = good(tokens.create(std::move(token)));
    fmt::print(stderr, "Token '{}', good {}. It is shown this once:\n", o.name,
               until == 0 ? "until it is revoked" : "until " + time_text(until));
    fmt::print("{}\n", text);
    return 0;
}

std::string json_texts(const std::vector<std::string>& texts) {
    std::string out;
    for (const auto& text : texts) out += (out.empty() ? "" : ",") + codec::json_string(text);
    return out;
}

/// Returns the scopes and the role in the console, as one list.
std::string rights_text(const ApiToken& token) {
    std::string out;
    for (const auto& scope : token.scopes) out += (out.empty() ? "" : ", ") + scope;
    if (token.role.empty()) return out;
    out += fmt::format("{}console {}", out.empty() ? "" : ", ", token.role);
    for (const auto& environment : token.environments)
        out +=
            fmt::format("{}{}", &environment == &token.environments[0] ? " in " : "+", environment);
    return out;
}

int list(const server::ApiTokens& tokens, const TokenOptions& o) {
    const auto all = good(tokens.list());
    const auto now = sys::make_real_clock()->now_ns() / 1'000'000'000;
    if (o.json) {
        std::string out;
        for (const auto& t : all) {
            out += fmt::format(
                R"({}{{"name":{},"scopes":[{}],"role":{},"environments":[{}],"created":"{}",)"
                R"("expires":{},"expired":{}}})",
                out.empty() ? "" : ",\n ", codec::json_string(t.name), json_texts(t.scopes),
                t.role.empty() ? "null" : codec::json_string(t.role), json_texts(t.environments),
                time_text(t.created_s),
                t.expires_s == 0 ? "null" : codec::json_string(time_text(t.expires_s)),
                t.expires_s != 0 && t.expires_s <= now);
        }
        fmt::print("[{}]\n", out);
        return 0;
    }
    for (const auto& t : all) {
        fmt::print("{}\t{}{}\t{}\n", t.name,
                   t.expires_s != 0 && t.expires_s <= now ? "expired " : "", time_text(t.expires_s),
                   rights_text(t));
    }
    return 0;
}

int run_token(Invocation& invocation) {
    OptionParser parser(invocation);
    TokenOptions o;
    std::vector<std::string> words;
    parser.value("name", &o.name);
    parser.list("scope", &o.scopes);
    parser.value("role", &o.role);
    parser.list("environments", &o.environments);
    parser.value("expires", &o.expires);
    parser.flag("json", &o.json);
    if (!parser.parse(&words)) return parser.exit_code();
    auto sink = make_console_sink(parser);
    const std::string action = words.empty() ? "" : words[0];
    try {
        if (action == "scopes" && words.size() == 1) {
            for (const auto& w : server::scope_words()) {
                std::string routes;
                for (const auto route : base::split(w.routes, ','))
                    routes += (routes.empty() ? "" : ", ") + std::string(route);
                fmt::print("{:<13} {}\n              {}\n", w.word, w.about, routes);
            }
            return 0;
        }
        server::ApiTokens tokens(invocation.settings.text("statedir") + "/tokens.json");
        if (action == "create" && words.size() == 1) return create(tokens, o);
        if (action == "list" && words.size() == 1) return list(tokens, o);
        if (action == "revoke" && words.size() == 2) {
            if (good(tokens.revoke(words[1]))) return 0;
            throw base::plain_error(
                fmt::format("There is no token {}", codec::json_string(words[1])));
        }
        throw usage_error("token",
                          "usage: token (create --name NAME (--scope SCOPE.. | --role ROLE) "
                          "[--expires 90d] | list [--json] | "
                          "revoke NAME | scopes)");
    } catch (const base::PuppetError& error) {
        report_error(*sink, error, "");
        return 1;
    }
}

}  // namespace

BUNRAKU_COMMAND(token){.name = "token",
                       .summary = "Tokens for programs that use a server's APIs.",
                       .run = run_token,
                       .run_mode = "server"};

}  // namespace bunraku::cli
