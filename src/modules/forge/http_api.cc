// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/http_api.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <sys/stat.h>

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/sys/file_system.h"
#include "modules/forge/api.h"
#include "modules/forge/downloads.h"
#include "modules/forge/pages.h"
#include "modules/forge/pull.h"

namespace bunraku::forge {

using http::Request;
using http::Response;

namespace {

/// The repository or consumer that a request addresses, derived from its path and credentials
/// alone.
struct Address {
    enum class Form { None, Root, Repository, Consumer, Wrong } form = Form::None;
    std::string path;  ///< decoded path after the prefix: "/v3/..."
    std::string id;    ///< from the prefix
};

constexpr std::string_view kPrefix = "/pulp_puppet/forge/", kPages = "/forge/";

Address address_of(const Request& request) {
    Address out;
    auto decoded = http::percent_decode(request.path);
    if (!decoded || decoded->find('\0') != std::string::npos) return out;
    out.path = std::move(*decoded);
    out.form = Address::Form::Root;
    if (!out.path.starts_with(kPrefix)) return out;
    std::string_view rest = std::string_view(out.path).substr(kPrefix.size());
    const std::size_t first = rest.find('/');
    const std::size_t second = first == std::string_view::npos ? first : rest.find('/', first + 1);
    if (second == std::string_view::npos) {
        out.form = Address::Form::Wrong;
        return out;
    }
    const std::string_view kind = rest.substr(0, first);
    out.form = kind == "repository" ? Address::Form::Repository
               : kind == "consumer" ? Address::Form::Consumer
                                    : Address::Form::Wrong;
    out.id = rest.substr(first + 1, second - first - 1);
    out.path = std::string(rest.substr(second));
    return out;
}

bool is_api(std::string_view path) {
    return path.starts_with("/api/v1/") || path.starts_with("/v3/") || path == "/modules.json";
}

/// The repository or the consumer that a request addresses. If both are empty, it addresses
/// neither.
struct Named {
    std::string repository, consumer;
};

Named named_by(ForgeService& service, const Request& request, const Address& address) {
    if (address.form == Address::Form::Repository) return {address.id, {}};
    if (address.form == Address::Form::Consumer) return {{}, address.id};
    const std::string_view authorization = request.headers.get("Authorization");
    if (!authorization.empty()) {
        // An authenticated client cannot select a repository by name. A token for a single
        // repository selects that repository.
        const Requester requester = service.requester_of(request);
        if (requester.token_repositories.size() == 1 && requester.token_repositories[0] != "*") {
            return {requester.token_repositories[0], {}};
        }
        if (!requester.user.empty() || !requester.token.empty()) {
            return {service.options().default_repository, {}};
        }
    }
    if (base::lower(authorization.substr(0, authorization.find(' '))) != "basic") {
        return {service.options().default_repository, {}};
    }
    // USER is a consumer, PASSWORD a repository. "." marks the one that is not given.
    auto pair = http::basic_credentials(request);
    if (!pair) return {};
    if (pair->second != "." && !pair->second.empty()) return {pair->second, {}};
    if (pair->first != "." && !pair->first.empty()) return {{}, pair->first};
    return {};
}

/// Returns the pull-through repositories that contribute to the answer of a request.
std::vector<std::string> pulling(ForgeService& service, const Named& named) {
    std::vector<std::string> out;
    if (!named.repository.empty()) out.push_back(named.repository);
    if (!named.consumer.empty()) out = service.bound_to(named.consumer);
    std::erase_if(out, [&](const std::string& r) { return !service.pulls(r); });
    return out;
}

/// Returns what a request for `path` needs from upstream, if anything.
Wanted wanted_from_upstream(const Request& request, std::string_view path, bool* closure) {
    *closure = path == "/api/v1/releases.json";
    if (path.starts_with("/v3/")) return wanted_by_v3(request, path.substr(4));
    Wanted wanted;
    if (*closure) {
        if (const std::string* name = request.query_value("module")) {
            wanted.module = module::parse_v1_module_name(*name);
        }
    }
    return wanted;
}

Selection selected(ForgeService& service, const Named& named) {
    return named.consumer.empty() ? service.repository(named.repository)
                                  : service.consumer(named.consumer);
}

/// Returns the first snapshot that has a release and offers it to the client.
std::pair<SnapshotPtr, const forge::Release*> holder_of(const Selection& selection,
                                                        const module::ReleaseName& name) {
    for (std::size_t i = 0; i < selection.snapshots.size(); ++i) {
        const SnapshotPtr& s = selection.snapshots[i];
        const forge::Release* r = s->release(name.slug());
        if (r && !r->deleted && selection.shows(i, name.module.slug())) return {s, r};
    }
    return {};
}

/// Fetches what the request needs from upstream. Returns an error response if that fails and the
/// local data cannot answer the request.
std::optional<Response> pull(ForgeService& service, const Request& request, const Named& named,
                             std::string_view path) {
    const std::vector<std::string> from = pulling(service, named);
    if (from.empty()) return std::nullopt;
    bool closure = false;
    const Wanted wanted = wanted_from_upstream(request, path, &closure);
    if (!wanted.module) return std::nullopt;
    const Selection before = selected(service, named);
    const auto ours = [&](const module::ModuleName& m) { return before.owns(m); };
    const bool here = wanted.release && holder_of(before, *wanted.release).second;
    // A known release does not need a listing. A module that this server owns is never requested
    // from an upstream, but its dependencies may be.
    if (!here && (!ours(*wanted.module) || closure)) {
        PullRequest requested{.module = *wanted.module,
                              .closure = closure,
                              .insist = wanted.release.has_value(),
                              .ours = ours};
        std::optional<base::Error> failed;
        for (const std::string& repository : from) {
            auto done = service.pull_module(repository, requested);
            // The order of the upstream repositories is the order of trust. The next one is asked
            // only if this one reports that it does not have the module.
            if (!done) failed = done.error();
            if (!done || service.knows(repository, *wanted.module)) break;
        }
        const Selection there = selected(service, named);
        bool known = wanted.release && holder_of(there, *wanted.release).second;
        if (!wanted.release) {
            for (const SnapshotPtr& s : there.snapshots) {
                known |= s->module(wanted.module->slug()) != nullptr;
            }
        }
        // A response that lacks some dependencies because an upstream failed would be wrong.
        const bool half = closure && there.snapshots.size() == 1;
        if (failed && (!known || half)) return upstream_failed(*failed);
    }
    if (!wanted.file) return std::nullopt;
    const auto [s, release] = holder_of(selected(service, named), *wanted.file);
    if (!release || !service.pulls(s->repository())) return std::nullopt;
    if (auto got = service.pull_file(s->repository(), *release); !got) {
        return upstream_failed(got.error());
    }
    return std::nullopt;
}

/// Returns the repositories that contribute to the answer of a read request.
std::vector<std::string> repositories_of(ForgeService& service, const Request& request) {
    const Address address = address_of(request);
    if (address.form == Address::Form::None || address.form == Address::Form::Wrong) return {};
    for (std::string_view tree : {"/pulp/puppet/", "/pulp/puppet_files/"}) {
        if (!address.path.starts_with(tree)) continue;
        const std::string_view rest = std::string_view(address.path).substr(tree.size());
        return {std::string(rest.substr(0, rest.find('/')))};
    }
    if (address.path.starts_with(kPages)) {
        return {repository_of_page(std::string_view(address.path).substr(kPages.size()))};
    }
    const Named named = named_by(service, request, address);
    if (!named.repository.empty()) return {named.repository};
    return named.consumer.empty() ? std::vector<std::string>{} : service.bound_to(named.consumer);
}

void note_access(ForgeService& service, const Request& request, const Requester& requester,
                 std::string_view outcome) {
    std::string target = request.target.substr(0, 500);
    std::erase_if(target, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    service.forge_store().audit(fmt::format("{}\t{}\t{} {}\t{}", request.peer.address,
                                            requester.text(), request.method, target, outcome));
}

/// Returns an error response if the request may not read a private repository.
std::optional<Response> refuse_read(ForgeService& service, const Request& request) {
    bool some = false;
    const std::vector<std::string> wanted = repositories_of(service, request);
    for (const std::string& repository : wanted) some |= service.closed(repository);
    if (!some) return std::nullopt;
    const Requester requester = service.requester_of(request);
    for (const std::string& repository : wanted) {
        if (service.may_read(repository, requester)) continue;
        note_access(service, request, requester, "refused");
        if (requester.known()) return error_response(403, "you may not read this repository");
        Response r = error_response(401, "this repository is private: authentication is required");
        r.headers.set("WWW-Authenticate", "Basic realm=\"forge\"");
        return r;
    }
    if (request.path.ends_with(".tar.gz")) note_access(service, request, requester, "read");
    return std::nullopt;
}

/// Marks the response of a private repository, so that shared caches do not store it.
Response for_this_reader(ForgeService& service, const Request& request, Response response) {
    for (const std::string& repository : repositories_of(service, request)) {
        if (!service.closed(repository)) continue;
        response.headers.set("Cache-Control", "private");
        response.headers.set("Vary", "Authorization");
        break;
    }
    return response;
}

Response read(ForgeService& service, const Request& request) {
    Address address = address_of(request);
    if (address.form == Address::Form::None) return error_response(400, "bad path");
    if (address.form == Address::Form::Wrong) return not_found();
    std::string_view path = address.path;
    if (path.starts_with("/pulp/puppet/")) {
        return answer_tree(service, request, path.substr(13));
    }
    if (path.starts_with("/pulp/puppet_files/")) {
        return answer_flat_tree(service, request, path.substr(19));
    }
    if (!is_api(path)) return not_found();
    if (path == "/v3/openapi.json") return Response::json(200, openapi_json());
    const Named named = named_by(service, request, address);
    if (named.repository.empty() && named.consumer.empty()) {
        return address.form == Address::Form::Root ? credentials_required() : not_found();
    }
    if (auto failed = pull(service, request, named, path)) return std::move(*failed);
    Call call{request, service, selected(service, named)};
    if (path == "/api/v1/releases.json") return answer_v1(call);
    if (path == "/modules.json" || path == "/api/v1/modules.json") return search_v1(call);
    if (path.starts_with("/v3/")) return answer_v3(call, path.substr(4));
    return not_found();
}

/// Reports whether the file of a published tree may still be upstream, which is possible in a
/// pull-through repository.
bool tree_may_wait(ForgeService& service, std::string_view path) {
    const std::string repository(path.substr(0, path.find('/')));
    auto name = module::parse_file_name(sys::base_name(path));
    if (!name || !service.pulls(repository)) return false;
    SnapshotPtr s = service.snapshot(repository);
    const forge::Release* r = s ? s->release(name->slug()) : nullptr;
    return r && !service.has_file(repository, *r);
}

/// Reports whether a request may have to wait for an upstream. Only such requests run on the pool
/// of waiting threads; all others are answered directly.
bool may_wait(ForgeService& service, const Request& request) {
    // The handler runs right afterwards and must reach the same decision.
    constexpr std::chrono::seconds kMargin{5};
    const Address address = address_of(request);
    if (address.form == Address::Form::None || address.form == Address::Form::Wrong) return false;
    for (std::string_view tree : {"/pulp/puppet/", "/pulp/puppet_files/"}) {
        if (address.path.starts_with(tree)) {
            return tree_may_wait(service, std::string_view(address.path).substr(tree.size()));
        }
    }
    const Named named = named_by(service, request, address);
    const std::vector<std::string> from = pulling(service, named);
    if (from.empty()) return false;
    bool closure = false;
    const Wanted wanted = wanted_from_upstream(request, address.path, &closure);
    if (!wanted.module) return false;
    if (wanted.file) {
        const auto [s, release] = holder_of(selected(service, named), *wanted.file);
        if (release) return !service.has_file(s->repository(), *release);
    }
    const Selection now = selected(service, named);
    if (closure) return true;
    if (now.owns(*wanted.module)) return false;
    if (wanted.release && holder_of(now, *wanted.release).second) return false;
    for (const std::string& repository : from) {
        if (!service.is_current(repository, *wanted.module, wanted.release.has_value(), kMargin)) {
            return true;
        }
        if (service.knows(repository, *wanted.module)) return false;
    }
    return false;
}

/// If empty, the default repository is used.
std::string repository_to_write(ForgeService& service, const Request& request,
                                const Address& address) {
    if (address.form == Address::Form::Repository) return address.id;
    // A token for a single repository selects that repository.
    const Requester requester = service.requester_of(request);
    const bool one =
        requester.token_repositories.size() == 1 && requester.token_repositories[0] != "*";
    return one ? requester.token_repositories[0] : std::string();
}

/// Returns an error response for a request other than GET and HEAD that is not an authorized
/// change. Called before the body is read, so that no body is read needlessly.
std::optional<Response> refuse_change(ForgeService& service, const Request& request) {
    const Address address = address_of(request);
    if (address.form == Address::Form::None) return error_response(400, "bad path");
    if (address.form == Address::Form::Wrong) return not_found();
    const std::string_view path = address.path;
    if (path.starts_with("/v3/") && (request.method == "POST" || request.method == "DELETE" ||
                                     request.method == "PATCH" || request.method == "PUT")) {
        return refuse_write(service, request, repository_to_write(service, request, address));
    }
    if (is_api(path) || path.starts_with("/pulp/")) return method_not_allowed("GET, HEAD");
    return not_found();
}

Response change(ForgeService& service, Request& request) {
    const Address address = address_of(request);
    return answer_write(service, request, address.path,
                        repository_to_write(service, request, address));
}

}  // namespace

const std::string* Call::query(std::string_view name) const {
    const std::string* found = nullptr;
    for (const auto& [key, value] : request.query) {
        if (key == name) found = &value;
    }
    return found;
}

bool Call::flag(std::string_view name) const {
    const std::string* value = query(name);
    if (!value) return false;
    const std::string text = base::lower(*value);
    return text != "false" && text != "0" && text != "no";
}

Response error_response(int status, std::string_view detail) {
    std::string body =
        fmt::format("{{\"message\":\"{} {}\",\"errors\":[", status, http::reason(status));
    codec::append_json_string(body, detail.empty() ? http::reason(status) : detail);
    return Response::json(status, body + "]}");
}

Response not_found() { return error_response(404, "The requested resource could not be found"); }

Response upstream_failed(const base::Error& error) {
    if (error.code == static_cast<int>(PullFailure::NotThere)) return not_found();
    const bool known = error.code >= 500 && error.code <= 504;
    Response r = error_response(known ? error.code : 500, error.message);
    if (error.code != static_cast<int>(PullFailure::Bad)) r.headers.set("Retry-After", "15");
    return r;
}

Response method_not_allowed(std::string_view allow) {
    Response r = error_response(405, "method not allowed");
    r.headers.set("Allow", allow);
    return r;
}

Response credentials_required() {
    Response r = error_response(401, "a consumer ID or a repository ID is needed");
    r.headers.set("WWW-Authenticate", "Basic realm=\"forge\"");
    return r;
}

std::string entity_tag(const Call& call) {
    // The response depends only on the state of the repositories and on the request target.
    std::uint64_t hash = call.selection.version;
    for (char c : call.request.target) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    }
    return fmt::format("\"{:016x}{:08x}\"", hash, call.request.target.size());
}

bool unchanged(const Request& request, std::string_view tag, std::int64_t modified) {
    if (request.method != "GET" && request.method != "HEAD") return false;
    if (request.headers.has("If-None-Match")) {
        std::string_view list = request.headers.get("If-None-Match");
        while (!list.empty()) {
            const std::size_t comma = list.find(',');
            std::string_view one = list.substr(0, comma);
            list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
            while (one.starts_with(' ')) one.remove_prefix(1);
            while (one.ends_with(' ')) one.remove_suffix(1);
            if (one == "*") return true;
            if (one.starts_with("W/")) one.remove_prefix(2);
            if (one == tag) return true;
            // A proxy or this server appends "-gzip" to the tag of a compressed response.
            if (one.ends_with("-gzip\"") && tag.size() > 1 &&
                one.substr(0, one.size() - 6) == tag.substr(0, tag.size() - 1)) {
                return true;
            }
        }
        return false;
    }
    const std::string_view since = request.headers.get("If-Modified-Since");
    if (since.empty()) return false;
    auto when = http::parse_http_date(since);
    return when && *when >= modified;
}

void add_validators(Response& response, std::string_view tag, std::int64_t modified) {
    response.headers.set("ETag", tag);
    response.headers.set("Last-Modified", http::http_date(modified));
}

Response not_modified(std::string_view tag, std::int64_t modified) {
    Response r;
    r.status = 304;
    add_validators(r, tag, modified);
    return r;
}

Response file_response(const Request& request, const std::string& path, std::string_view tag,
                       std::string_view content_type) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return not_found();
    const std::string quoted = tag.empty() ? fmt::format("\"{}.{}.{}\"", status.st_mtim.tv_sec,
                                                         status.st_mtim.tv_nsec, status.st_size)
                                           : fmt::format("\"{}\"", tag);
    const std::int64_t modified = status.st_mtim.tv_sec;
    if (unchanged(request, quoted, modified)) return not_modified(quoted, modified);
    const auto size = static_cast<std::uint64_t>(status.st_size);
    Response r;
    r.compressible = false;
    r.headers.set("Content-Type", content_type);
    r.headers.set("Accept-Ranges", "bytes");
    add_validators(r, quoted, modified);
    std::uint64_t from = 0, to = size;
    std::string_view range = request.headers.get("Range");
    // If-Range names another version of the file, so the client needs the whole file.
    if (const std::string_view only = request.headers.get("If-Range"); !only.empty()) {
        auto date = http::parse_http_date(only);
        if (only != quoted && !(date && *date == modified)) range = {};
    }
    if (range.starts_with("bytes=") && range.find(',') == std::string_view::npos) {
        range.remove_prefix(6);
        const std::size_t dash = range.find('-');
        std::uint64_t a = 0, b = 0;
        const std::string_view left = range.substr(0, dash);
        const std::string_view right =
            dash == std::string_view::npos ? std::string_view{} : range.substr(dash + 1);
        const bool has_a = base::read_integer(left, a), has_b = base::read_integer(right, b);
        const bool valid = dash != std::string_view::npos && (left.empty() || has_a) &&
                           (right.empty() || has_b) && (has_a || has_b) &&
                           !(has_a && has_b && a > b);
        if (valid) {
            if (has_a) {
                from = a;
                to = has_b ? std::min(b, size ? size - 1 : 0) + 1 : size;
            } else {
                from = b >= size ? 0 : size - b;
            }
            if (from >= size || (!has_a && b == 0)) {
                Response bad = error_response(416, "the range begins after the end of the file");
                bad.headers.set("Content-Range", fmt::format("bytes */{}", size));
                bad.headers.set("Accept-Ranges", "bytes");
                return bad;
            }
            r.status = 206;
            r.headers.set("Content-Range", fmt::format("bytes {}-{}/{}", from, to - 1, size));
        }
    }
    r.file = Response::File{path, from, to - from};
    return r;
}

Response archive_response(ForgeService& service, const Request& request, const Snapshot& snapshot,
                          const Release& release) {
    Response r = file_response(
        request, snapshot.path() + "/" + module::release_path(release.author, release.slug),
        release.sha256.empty() ? release.md5 : release.sha256, "application/octet-stream");
    const bool sent = r.status == 200 || r.status == 206;
    if (sent && r.file && r.file->offset == 0 && request.method == "GET") {
        service.downloads().count(snapshot.repository(), release.slug);
    }
    return r;
}

void mount(http::Router& router, ForgeService& service) {
    const http::Handler reader = [&service](Request& request) {
        return for_this_reader(service, request, read(service, request));
    };
    const http::Handler writer = [&service](Request& request) {
        Response response = change(service, request);
        note_access(service, request, service.requester_of(request),
                    fmt::format("{}", response.status));
        return response;
    };
    http::RouteOptions reading;
    reading.max_body = 64 << 10;
    reading.immediate = true;
    reading.may_wait = [&service](const Request& request) { return may_wait(service, request); };
    // Among the other bodies, a deprecation with its reason is the longest.
    http::RouteOptions writing;
    writing.max_body = 64 << 10;
    http::RouteOptions uploading;
    // Enough for an archive of the maximum size, as base64 with line breaks, and its envelope.
    uploading.max_body = module::TarballLimits{}.packed / 57 * 78 + (1 << 20);
    // A repository that is not private can be read by every client of the server. Names in basic
    // credentials select a repository but do not grant access.
    const auto readers = http::Access::rule(
        [&service](const Request& request) { return refuse_read(service, request); });
    const auto writers = http::Access::rule(
        [&service](const Request& request) { return refuse_change(service, request); });
    const auto holders = http::Access::rule(
        [&service](const Request& request) { return refuse_search_filters(service, request); });
    const http::Handler filters = [&service](Request& request) {
        return answer_search_filters(service, request, request.param("filter"));
    };
    // Pages search a whole repository and unpack archives, so they run on the pool.
    const http::Handler pages = [&service](Request& request) {
        const auto decoded = http::percent_decode(request.path);
        if (!decoded) return error_response(400, "bad path");
        return for_this_reader(service, request,
                               answer_page(service, request,
                                           std::string_view(*decoded).substr(
                                               std::min(kPages.size(), decoded->size()))));
    };
    for (std::string_view pattern : {"/forge", "/forge/{rest*}"}) {
        router.add("GET", pattern, readers, pages, writing);
        router.add("HEAD", pattern, readers, pages, writing);
    }
    for (std::string_view root : {"", "/pulp_puppet/forge/{kind}/{id}"}) {
        router.add("POST", fmt::format("{}/v3/releases", root), writers, writer, uploading);
        router.add("*", fmt::format("{}/v3/search_filters", root), holders, filters, writing);
        router.add("*", fmt::format("{}/v3/search_filters/{{filter}}", root), holders, filters,
                   writing);
    }
    for (std::string_view pattern : {"/v3/{rest*}", "/api/v1/{rest*}", "/modules.json",
                                     "/pulp/{rest*}", "/pulp_puppet/{rest*}"}) {
        router.add("GET", pattern, readers, reader, reading);
        router.add("HEAD", pattern, readers, reader, reading);
        router.add("*", pattern, writers, writer, writing);
    }
}

}  // namespace bunraku::forge
