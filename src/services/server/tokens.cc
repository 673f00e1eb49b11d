// SPDX-License-Identifier: Apache-2.0
#include "services/server/tokens.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>

#include "core/base/arena.h"
#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/codec/random.h"
#include "core/sys/disk.h"
#include "core/sys/lock.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"

namespace bunraku::server {

using base::failure;
using base::Result;

namespace {

constexpr ScopeWord kWords[] = {
    {"cache", "DELETE /puppet-admin-api/v1", "empty the caches of environments"},
    {"ca-read", "GET /puppet-ca/v1", "list certificates and requests"},
    {"ca", "* /puppet-ca/v1", "sign, revoke and clean certificates"},
    {"compile", "POST /puppet/v4/catalog", "compile catalogs of any node"},
    {"environments",
     "GET /puppet/v3/environments,GET /puppet/v3/environment_classes,"
     "GET /puppet/v3/environment_modules,GET /puppet/v3/environment_transports,"
     "GET /puppet/v3/tasks,GET /puppet/v3/plans",
     "read the content of environments"},
    {"metrics", "GET /metrics,POST /metrics/v2", "read the metrics of the server"},
    {"query", "GET /pdb/query/v4,POST /pdb/query/v4,GET /pdb/meta/v1", "query the store"},
    {"command", "POST /pdb/cmd/v1", "send catalogs, facts and reports to the store"},
    {"rollouts",
     "* /bunraku/v1/rollouts,GET /bunraku/v1/versions,GET /bunraku/v1/nodes,"
     "POST /bunraku/v1/rollout-servers",
     "plan, start and control rollouts"},
    {"rollouts-approve", "GET /bunraku/v1/rollouts,POST /bunraku/v1/rollout-approvals",
     "approve waves of rollouts"},
    {"all", "* /", "all routes that an administrator's certificate may use"},
};

constexpr std::string_view kConsoleRoles[] = {"viewer", "operator", "admin"};

/// Reports whether the route, "METHOD /path", includes the path.
bool opens(std::string_view route, std::string_view method, std::string_view path) {
    const auto blank = route.find(' ');
    const auto wanted = route.substr(0, blank);
    const bool head = wanted == "GET" && method == "HEAD";
    if (wanted != "*" && wanted != method && !head) return false;
    auto prefix = route.substr(blank + 1);
    while (prefix.ends_with('/')) prefix.remove_suffix(1);
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

const ScopeWord* word_of(std::string_view scope) {
    const auto it = std::ranges::find(kWords, scope, &ScopeWord::word);
    return it == std::end(kWords) ? nullptr : it;
}

bool good_scope(std::string_view scope) {
    if (word_of(scope)) return true;
    const auto blank = scope.find(' ');
    if (blank == std::string_view::npos || blank == 0) return false;
    const auto method = scope.substr(0, blank), path = scope.substr(blank + 1);
    const bool letters =
        method == "*" || std::ranges::all_of(method, [](char c) { return c >= 'A' && c <= 'Z'; });
    return letters && path.starts_with('/') && path.find_first_of(" ,") == std::string_view::npos;
}

std::vector<std::string> texts_at(const value::Value& hash, std::string_view key) {
    std::vector<std::string> out;
    const auto* list = value::at(hash, key);
    if (!list || !list->is_array()) return out;
    for (const auto& each : list->as_array())
        if (each.is_string()) out.emplace_back(each.as_string());
    return out;
}

std::string json_list(const std::vector<std::string>& texts) {
    std::string out;
    for (const auto& text : texts) out += (out.empty() ? "" : ",") + codec::json_string(text);
    return "[" + out + "]";
}

std::string digest_of(std::string_view token) {
    return codec::hex_digest(codec::DigestKind::Sha256, token);
}

std::string_view borne_by(const http::Request& request) {
    const auto own = request.headers.get("X-Authentication");
    if (!own.empty()) return own;
    const auto standard = request.headers.get("Authorization");
    return standard.size() > 7 && base::same_ignoring_case(standard.substr(0, 7), "Bearer ")
               ? base::trim(standard.substr(7), " ")
               : std::string_view();
}

}  // namespace

std::span<const ScopeWord> scope_words() { return kWords; }
std::span<const std::string_view> console_roles() { return kConsoleRoles; }

bool ApiToken::allows(std::string_view method, std::string_view path) const {
    return std::ranges::any_of(scopes, [&](const std::string& scope) {
        const auto* word = word_of(scope);
        const auto routes = base::split(word ? word->routes : std::string_view(scope), ',');
        return std::ranges::any_of(routes, [&](auto route) { return opens(route, method, path); });
    });
}

Result<std::vector<ApiToken>> ApiTokens::list() const {
    std::vector<ApiToken> out;
    const auto text = sys::disk().read(path_);
    if (!text && text.error().code == ENOENT) return out;
    if (!text) return std::unexpected(text.error());
    base::Arena arena;
    const auto data = value::parse_json(arena, *text);
    if (!data || !data->is_array()) return failure(fmt::format("{} is damaged", path_));
    for (const auto& one : data->as_array()) {
        ApiToken token{.name = text_at(one, "name"), .sha256 = text_at(one, "sha256")};
        const auto number = [&](const char* name) {
            const auto* v = at(one, name);
            return v && v->is_integer() ? v->as_integer() : 0;
        };
        token.created_s = number("created");
        token.expires_s = number("expires");
        token.scopes = texts_at(one, "scopes");
        token.role = text_at(one, "role");
        token.environments = texts_at(one, "environments");
        out.push_back(std::move(token));
    }
    return out;
}

Result<void> ApiTokens::write(const std::vector<ApiToken>& tokens) const {
    std::string out = "[";
    for (const auto& t : tokens) {
        out += fmt::format(
            "{}\n{{\"name\":{},\"sha256\":\"{}\",\"scopes\":{},\"created\":{},\"expires\":{}",
            out.size() > 1 ? "," : "", codec::json_string(t.name), t.sha256, json_list(t.scopes),
            t.created_s, t.expires_s);
        if (!t.role.empty()) {
            out += fmt::format(",\"role\":{},\"environments\":{}", codec::json_string(t.role),
                               json_list(t.environments));
        }
        out += '}';
    }
    return sys::disk().replace(path_, out + "\n]\n", {.mode = 0600, .sync = true});
}

Result<std::string> ApiTokens::create(ApiToken token) {
    if (token.name.empty() || token.name.size() > 100 ||
        !std::ranges::all_of(token.name, [](unsigned char c) { return c > ' ' && c != 127; }))
        return failure(fmt::format("{} is not a name for a token", codec::json_string(token.name)));
    if (token.scopes.empty() && token.role.empty())
        return failure("A token needs at least one scope or a role");
    if (!token.role.empty() &&
        std::ranges::find(kConsoleRoles, token.role) == std::end(kConsoleRoles))
        return failure(fmt::format("Unknown role {}: expected viewer, operator or admin",
                                   codec::json_string(token.role)));
    if (token.role.empty() && !token.environments.empty())
        return failure("Environments apply to a role in the console: give the token a role");
    for (const auto& scope : token.scopes)
        if (!good_scope(scope))
            return failure(fmt::format("Unknown scope {}", codec::json_string(scope)));
    const std::string text = "bnrk_" + BUNRAKU_TRY(codec::random_hex(32));
    token.sha256 = digest_of(text);
    BUNRAKU_ASSERT(token.sha256.size() == 64);
    BUNRAKU_TRY_VOID(sys::disk().make_directories(std::string(sys::directory_name(path_)), 0700));
    const auto held = BUNRAKU_TRY(sys::FileLock::acquire(path_ + ".lock"));
    auto all = BUNRAKU_TRY(list());
    if (std::ranges::find(all, token.name, &ApiToken::name) != all.end())
        return failure(fmt::format("The token '{}' exists already", token.name));
    all.push_back(std::move(token));
    BUNRAKU_TRY_VOID(write(all));
    return text;
}

Result<bool> ApiTokens::revoke(const std::string& name) {
    if (BUNRAKU_TRY(list()).empty()) return false;
    const auto held = BUNRAKU_TRY(sys::FileLock::acquire(path_ + ".lock"));
    auto all = BUNRAKU_TRY(list());
    if (std::erase_if(all, [&](const ApiToken& t) { return t.name == name; }) == 0) return false;
    BUNRAKU_TRY_VOID(write(all));
    return true;
}

void ApiTokens::read_again() {
    const auto status = sys::disk().stat(path_);
    const auto stamp =
        status ? fmt::format("{} {} {}", status->inode, status->mtime_ns, status->size) : "none";
    if (stamp == stamp_) return;
    auto all = list();
    // If the file cannot be read, no token is accepted.
    by_digest_.clear();
    stamp_ = all ? stamp : "";
    if (!all) return;
    for (auto& token : *all) by_digest_.emplace(token.sha256, std::move(token));
}

std::optional<ApiToken> ApiTokens::find_digest(std::string_view sha256, std::int64_t now_s) {
    const std::lock_guard lock(mutex_);
    read_again();
    const auto it = by_digest_.find(sha256);
    if (it == by_digest_.end()) return std::nullopt;
    const auto& token = it->second;
    BUNRAKU_ASSERT(token.sha256 == sha256);
    if (token.expires_s != 0 && now_s >= token.expires_s) return std::nullopt;
    return token;
}

std::optional<ApiToken> ApiTokens::find(std::string_view text, std::int64_t now_s) {
    return text.empty() ? std::nullopt : find_digest(digest_of(text), now_s);
}

std::optional<std::string> ApiTokens::bearer(const http::Request& request, std::int64_t now_s) {
    const auto token = find(borne_by(request), now_s);
    if (!token || !token->allows(request.method, request.path)) return std::nullopt;
    return token->name;
}

}  // namespace bunraku::server
