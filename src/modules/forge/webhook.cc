// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/webhook.h"

#include <algorithm>
#include <openssl/crypto.h>

#include "core/base/diagnostic.h"
#include "core/base/text.h"
#include "core/codec/hex.h"
#include "core/codec/seal.h"
#include "core/value/rich_data.h"
#include "modules/module/feed.h"

namespace bunraku::forge {

namespace {

using base::failure;
using base::Result;
using module::text_at;
using value::Value;

std::string hex_mac(std::string_view key, std::string_view bytes) {
    return codec::to_hex(codec::bytes_of(codec::hmac_sha256(key, bytes)));
}

bool same(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

const Value* at(const Value* object, std::string_view key) {
    return object && object->is_hash() ? object->as_hash().find(key) : nullptr;
}

std::string text(const Value* object, std::string_view key) {
    return object ? std::string(text_at(*object, key)) : std::string();
}

void add(std::vector<std::string>& to, std::string what) {
    if (!what.empty() && std::find(to.begin(), to.end(), what) == to.end()) {
        to.push_back(std::move(what));
    }
}

/// Converts "refs/heads/x" to "x". Returns an empty string if the ref is not a branch.
std::string branch_of(std::string_view ref) {
    constexpr std::string_view kHeads = "refs/heads/";
    return ref.starts_with(kHeads) ? std::string(ref.substr(kHeads.size())) : std::string();
}

bool hostile(std::string_view branch) {
    return branch.empty() || branch.size() > 250 || branch[0] == '-' ||
           branch.find("..") != std::string_view::npos ||
           std::any_of(branch.begin(), branch.end(),
                       [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; });
}

/// Returns "host/path" in lower case, as far as the address contains them.
std::string essence(std::string_view url) {
    std::string s = base::lower(url);
    if (const std::size_t scheme = s.find("://"); scheme != std::string::npos) {
        s = s.substr(scheme + 3);
        const std::size_t slash = s.find('/');
        std::string host = s.substr(0, slash);
        if (const std::size_t user = host.rfind('@'); user != std::string::npos) {
            host = host.substr(user + 1);
        }
        if (const std::size_t port = host.find(':'); port != std::string::npos) {
            host = host.substr(0, port);
        }
        s = host + (slash == std::string::npos ? "" : s.substr(slash));
    } else if (const std::size_t colon = s.find(':');
               colon != std::string::npos && s.find('/') > colon) {
        // scp's form: user@host:path
        std::string host = s.substr(0, colon), path = s.substr(colon + 1);
        if (const std::size_t user = host.rfind('@'); user != std::string::npos) {
            host = host.substr(user + 1);
        }
        s = host + (path.starts_with('/') ? "" : "/") + path;
    }
    while (s.ends_with('/')) s.pop_back();
    if (s.ends_with(".git")) s.resize(s.size() - 4);
    return s;
}

}  // namespace

Result<void> verify_webhook(const http::Request& request, std::string_view secret) {
    if (secret.empty()) return failure("there is no secret", 500);
    const std::string_view token = request.headers.get("X-Gitlab-Token");
    if (!token.empty()) {
        if (same(token, secret)) return {};
        return failure("the token is wrong", 403);
    }
    for (const char* name : {"X-Hub-Signature-256", "X-Hub-Signature", "X-Gitea-Signature",
                             "X-Forgejo-Signature", "X-Gogs-Signature"}) {
        std::string given = base::lower(request.headers.get(name));
        if (given.empty()) continue;
        if (given.starts_with("sha256=")) given = given.substr(7);
        if (given.starts_with("sha1=")) continue;  // GitHub sends SHA-1 and SHA-256 signatures
        if (same(given, hex_mac(secret, request.body))) return {};
        return failure("the signature is wrong", 403);
    }
    return failure("there is no signature", 401);
}

Result<Push> read_webhook(const http::Request& request) {
    base::Arena arena;
    Result<Value> parsed = failure("no JSON");
    std::string form;
    std::string_view body = request.body;
    // GitHub's other format: payload=... as in a form submission.
    if (body.starts_with("payload=")) {
        auto fields = http::parse_query(body);
        if (!fields || fields->empty()) return failure("the form is broken", 400);
        form = (*fields)[0].second;
        body = form;
    }
    try {
        auto read = value::parse_json(arena, body);
        if (!read || !read->is_hash()) return failure("the body is not a JSON object", 400);
        parsed = *read;
    } catch (const base::PuppetError& e) {
        return failure(e.message(), 400);
    }
    const Value* top = &*parsed;
    Push out;
    const auto event = [&](const char* name) { return base::lower(request.headers.get(name)); };
    const std::string kind = !event("X-Gitea-Event").empty()    ? event("X-Gitea-Event")
                             : !event("X-GitHub-Event").empty() ? event("X-GitHub-Event")
                                                                : std::string();
    if (kind == "ping" || event("X-Event-Key") == "diagnostics:ping") {
        out.ping = true;
        return out;
    }
    const Value* repository = at(top, "repository");
    const Value* project = at(top, "project");
    for (const Value* of : {repository, project}) {
        for (const char* key : {"clone_url", "ssh_url", "git_url", "git_http_url", "git_ssh_url",
                                "http_url", "html_url", "web_url", "url"}) {
            add(out.urls, text(of, key));
        }
        if (out.name.empty()) out.name = text(of, "name");
    }
    const Value* links = at(repository, "links");
    add(out.urls, text(at(links, "html"), "href"));
    if (const Value* clones = at(links, "clone"); clones && clones->is_array()) {
        for (const Value& c : clones->as_array()) add(out.urls, text(&c, "href"));
    }
    if (const std::string full = text(repository, "full_name"); !full.empty()) {
        out.name = full.substr(full.rfind('/') + 1);
    }
    add(out.branches, branch_of(text(top, "ref")));
    // GitHub and Gitea report created and deleted branches by their short names.
    if ((kind == "create" || kind == "delete") && text(top, "ref_type") == "branch") {
        add(out.branches, text(top, "ref"));
    }
    const Value* push = at(top, "push");
    for (const Value* changes : {at(push, "changes"), at(top, "changes")}) {
        if (!changes || !changes->is_array()) continue;
        for (const Value& change : changes->as_array()) {
            for (const char* side : {"new", "old"}) {
                const Value* ref = at(&change, side);
                if (text(ref, "type") == "branch") add(out.branches, text(ref, "name"));
            }
            const Value* ref = at(&change, "ref");
            if (text(ref, "type") == "BRANCH") add(out.branches, text(ref, "displayId"));
        }
    }
    for (const std::string& branch : out.branches) {
        if (hostile(branch)) return failure("the branch has a name that is not acceptable", 400);
    }
    return out;
}

bool same_repository(std::string_view a, std::string_view b) {
    return !a.empty() && essence(a) == essence(b);
}

}  // namespace bunraku::forge
