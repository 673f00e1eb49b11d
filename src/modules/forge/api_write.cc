// SPDX-License-Identifier: Apache-2.0
// Changes over HTTP: uploads, deletions, deprecations and saved search filters. All of them need a
// bearer token.
#include <algorithm>
#include <charconv>
#include <ctime>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/base/text_view.h"
#include "core/codec/digest.h"
#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "core/value/rich_data.h"
#include "modules/forge/api.h"
#include "modules/forge/json_upload.h"

namespace bunraku::forge {

using http::Request;
using http::Response;

namespace {

std::string repository_of(ForgeService& service, std::string_view named) {
    return named.empty() ? service.options().default_repository : std::string(named);
}

/// Returns the value of the parameter `name` of a header field.
std::string parameter(std::string_view field, std::string_view name) {
    std::size_t at = 0;
    while ((at = field.find(';', at)) != std::string_view::npos) {
        ++at;
        while (at < field.size() && field[at] == ' ') ++at;
        if (base::lower(field.substr(at, name.size())) != name ||
            field.size() <= at + name.size() || field[at + name.size()] != '=') {
            continue;
        }
        std::string_view value = field.substr(at + name.size() + 1);
        if (value.starts_with('"')) {
            value.remove_prefix(1);
            return std::string(value.substr(0, value.find('"')));
        }
        value = value.substr(0, value.find(';'));
        while (value.ends_with(' ')) value.remove_suffix(1);
        return std::string(value);
    }
    return {};
}

/// Returns the part called `name` of a multipart body (RFC 7578).
std::optional<std::string_view> body_part(base::TextView body BUNRAKU_LIFETIMEBOUND,
                                          std::string_view boundary, std::string_view name) {
    if (boundary.empty() || boundary.size() > 200) return std::nullopt;
    const std::string mark = "--" + std::string(boundary);
    std::size_t at = body.find(mark);
    while (at != std::string_view::npos) {
        at += mark.size();
        if (body.substr(at, 2) == "--") return std::nullopt;
        const std::size_t line = body.find("\r\n", at);
        if (line == std::string_view::npos) return std::nullopt;
        const std::size_t head_end = body.find("\r\n\r\n", line);
        if (head_end == std::string_view::npos) return std::nullopt;
        std::string_view head = body.substr(line + 2, head_end - line);
        const std::size_t end = body.find("\r\n" + mark, head_end + 2);
        if (end == std::string_view::npos) return std::nullopt;
        while (!head.empty()) {
            const std::size_t eol = head.find("\r\n");
            const std::string_view field = head.substr(0, eol);
            head = eol == std::string_view::npos ? std::string_view{} : head.substr(eol + 2);
            if (base::lower(field.substr(0, 20)) == "content-disposition:" &&
                parameter(field, "name") == name) {
                const std::size_t from = head_end + 4;
                return end >= from ? body.substr(from, end - from) : std::string_view{};
            }
        }
        at = end + 2;
    }
    return std::nullopt;
}

Response failed(const base::Error& error) {
    switch (error.code) {
        case 400:
        case 409: return error_response(error.code, error.message);
        case 404: return not_found();
        default: return error_response(500, "the state could not be changed");
    }
}

Response post_release(ForgeService& service, Request& request, const std::string& repository) {
    const std::string type(request.headers.get("Content-Type"));
    const std::string kind = base::lower(type.substr(0, type.find(';')));
    std::string_view bytes, signature;
    if (kind == "application/json") {
        auto file = unpack_json_upload(request.body);
        if (!file) return error_response(400, "Cannot parse request body as JSON");
        bytes = *file;
    } else if (kind == "multipart/form-data") {
        const std::string boundary = parameter(type, "boundary");
        auto part = body_part(request.body, boundary, "file");
        if (!part) return error_response(400, "there is no part named file");
        bytes = *part;
        signature = body_part(request.body, boundary, "signature").value_or(std::string_view{});
    } else {
        return error_response(400, "a JSON or multipart/form-data body is needed");
    }
    auto slug = service.post(repository, bytes, signature);
    if (!slug) return failed(slug.error());
    Response r = Response::json(
        201, fmt::format(
                 R"({{"uri":"/v3/releases/{0}","slug":"{0}","file_uri":"/v3/files/{0}.tar.gz"}})",
                 *slug));
    r.headers.set("Location", "/v3/releases/" + *slug);
    return r;
}

Response done(const base::Result<void>& result) {
    if (!result) return failed(result.error());
    Response r;
    r.status = 204;
    return r;
}

Response deprecate(ForgeService& service, const Request& request, const std::string& repository,
                   const module::ModuleName& module) {
    base::Arena arena;
    auto json = value::parse_json(arena, request.body);
    const value::Value* action = json && json->is_hash() ? json->as_hash().find("action") : nullptr;
    if (!action || !action->is_string() || action->as_string() != "deprecate") {
        return error_response(400, "the only action is deprecate");
    }
    std::string reason, replacement;
    if (const value::Value* params = json->as_hash().find("params"); params && params->is_hash()) {
        for (const auto& [name, to] : {std::pair<std::string_view, std::string*>{"reason", &reason},
                                       {"replacement_slug", &replacement}}) {
            const value::Value* v = params->as_hash().find(name);
            if (!v || v->is_undef()) continue;
            if (!v->is_string()) {
                return error_response(400, fmt::format("{} must be a string", name));
            }
            *to = v->as_string();
        }
    }
    if (!replacement.empty()) {
        auto name = module::parse_module_name(replacement);
        if (!name) {
            return error_response(400, fmt::format("'{}' is not a valid module slug", replacement));
        }
        replacement = name->slug();
    }
    return done(service.deprecate(repository, module, reason, replacement));
}

/// A saved filter of a token's owner, stored as "ID\tactive\ttime\twords".
struct SavedFilter {
    std::uint64_t id = 0;
    std::string created, words;
    std::string json() const {
        return fmt::format(
            R"({{"id":{},"filter":{{"keyword":{}}},"active":false,"created_at":{}}})", id,
            codec::json_string(words), codec::json_string(created));
    }
};

}  // namespace

std::optional<Response> refuse_write(ForgeService& service, const Request& request,
                                     std::string_view named) {
    const std::string_view token = http::bearer_token(request);
    if (token.empty()) {
        Response r = error_response(401, "This endpoint requires a valid Authorization header");
        r.headers.set("WWW-Authenticate", "Bearer");
        return r;
    }
    const std::string repository = repository_of(service, named);
    if (service.may_write(token, repository) != ForgeService::Access::Granted) {
        return error_response(403,
                              "The provided API key is invalid or has insufficient permissions "
                              "for the requested operation");
    }
    if (repository.empty()) {
        return error_response(400,
                              "no repository named: use /pulp_puppet/forge/repository/ID/v3/...");
    }
    return std::nullopt;
}

Response answer_write(ForgeService& service, Request& request, std::string_view path,
                      std::string_view named) {
    const std::string repository = repository_of(service, named);
    if (!service.forge_store().exists(repository)) return not_found();
    if (path == "/v3/releases" && request.method == "POST") {
        return post_release(service, request, repository);
    }
    const std::string* reason = request.query_value("reason");
    const bool reasoned = reason && !reason->empty();
    if (path.starts_with("/v3/releases/") && request.method == "DELETE") {
        const std::string_view slug = path.substr(13);
        auto name = module::parse_release_name(slug);
        if (!name) {
            return error_response(400, fmt::format("'{}' is not a valid release slug", slug));
        }
        if (!reasoned) return error_response(400, "a reason is needed");
        return done(service.delete_release(repository, *name, *reason));
    }
    if (path.starts_with("/v3/modules/") &&
        (request.method == "DELETE" || request.method == "PATCH")) {
        const std::string_view slug = path.substr(12);
        auto name = module::parse_module_name(slug);
        if (!name) {
            return error_response(400, fmt::format("'{}' is not a valid module slug", slug));
        }
        if (request.method == "PATCH") return deprecate(service, request, repository, *name);
        if (!reasoned) return error_response(400, "a reason is needed");
        return done(service.delete_module(repository, *name, *reason));
    }
    return method_not_allowed(path == "/v3/releases" ? "GET, HEAD, POST" : "GET, HEAD");
}

std::optional<Response> refuse_search_filters(ForgeService& service, const Request& request) {
    const std::string_view token = http::bearer_token(request);
    if (token.empty()) return error_response(401, "This endpoint requires an Authorization header");
    if (!service.known_token(token)) return error_response(403, "The provided API key is invalid");
    return std::nullopt;
}

Response answer_search_filters(ForgeService& service, const Request& request, std::string_view id) {
    const std::string_view token = http::bearer_token(request);
    auto& files = sys::disk();
    const std::string folder = service.forge_store().root() + "/search_filters";
    const std::string file =
        folder + "/" + codec::hex_digest(codec::DigestKind::Sha256, token).substr(0, 32);
    if (auto made = files.make_directories(folder, 0700); !made) return failed(made.error());
    auto lock = sys::FileLock::acquire(file + ".lock");
    if (!lock) return failed(lock.error());
    std::vector<SavedFilter> all;
    if (auto text = files.read(file)) {
        std::string_view rest = *text;
        while (!rest.empty()) {
            const std::size_t eol = rest.find('\n');
            const std::string_view row = rest.substr(0, eol);
            rest = eol == std::string_view::npos ? std::string_view{} : rest.substr(eol + 1);
            const std::size_t a = row.find('\t'), b = row.find('\t', a + 1);
            if (a == std::string_view::npos || b == std::string_view::npos) continue;
            SavedFilter f;
            std::from_chars(row.data(), row.data() + a, f.id);
            f.created = row.substr(a + 1, b - a - 1);
            f.words = row.substr(b + 1);
            all.push_back(std::move(f));
        }
    }
    const auto save = [&] {
        std::string text;
        for (const SavedFilter& f : all) {
            text += fmt::format("{}\t{}\t{}\n", f.id, f.created, f.words);
        }
        return files.replace(file, text, {.mode = 0600, .sync = true});
    };
    if (id.empty() && (request.method == "GET" || request.method == "HEAD")) {
        std::string out = "{\"user_search_filters\":[";
        for (std::size_t i = 0; i < all.size(); ++i) out += (i ? "," : "") + all[i].json();
        return Response::json(200, out + "]}");
    }
    if (id.empty() && request.method == "POST") {
        const std::string* words = request.query_value("search_filter_slug");
        if (!words || words->empty() || words->size() > 500) {
            return error_response(400, "search_filter_slug is needed");
        }
        for (char c : *words) {
            if (static_cast<unsigned char>(c) < 0x20) {
                return error_response(400, "search_filter_slug is not valid");
            }
        }
        std::uint64_t next = 1;
        for (const SavedFilter& f : all) {
            next = std::max(next, f.id + 1);
            if (f.words == *words) return error_response(409, "this filter is saved already");
        }
        if (all.size() >= 100) return error_response(400, "there are 100 saved filters already");
        all.push_back({next, module::forge_time(std::time(nullptr)), *words});
        if (auto saved = save(); !saved) return failed(saved.error());
        return Response::json(200, all.back().json());
    }
    if (!id.empty() && request.method == "DELETE") {
        const std::size_t before = all.size();
        std::erase_if(all, [&](const SavedFilter& f) { return std::to_string(f.id) == id; });
        if (all.size() == before) return not_found();
        return done(save());
    }
    return method_not_allowed("GET, HEAD, POST, DELETE");
}

}  // namespace bunraku::forge
