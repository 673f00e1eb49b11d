// SPDX-License-Identifier: Apache-2.0
// Serves published trees as static files: /pulp/puppet/ID/... and the flat
// /pulp/puppet_files/ID/...
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <sys/stat.h>

#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "modules/forge/api.h"
#include "modules/forge/html_page.h"

namespace bunraku::forge {

using http::Request;
using http::Response;

namespace {

/// Returns the segments of a path. Returns nullopt if a segment is hidden, is "..", or is empty in
/// the middle of the path.
std::optional<std::vector<std::string>> visible(std::string_view path) {
    std::vector<std::string> out;
    while (!path.empty()) {
        const std::size_t slash = path.find('/');
        const std::string_view part = path.substr(0, slash);
        path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
        if (part.empty()) continue;
        // The server never serves names that begin with a dot, which includes "..".
        if (part[0] == '.') return std::nullopt;
        out.emplace_back(part);
    }
    return out;
}

Response listing(std::string_view title, const std::vector<std::string>& names) {
    std::string body = fmt::format(
        "<!DOCTYPE html>\n<html><head><title>Index of {0}</title></head><body><h1>Index of "
        "{0}</h1><ul>\n",
        html_text(title));
    for (const std::string& name : names) {
        body += fmt::format("<li><a href=\"{0}\">{0}</a></li>\n", html_text(name));
    }
    Response r;
    r.headers.set("Content-Type", "text/html;charset=utf-8");
    r.body = body + "</ul></body></html>\n";
    return r;
}

/// Answers modules.json with ?q=. Pulp uses this parameter to request part of a feed.
Response filtered_list(const Request& request, const Snapshot& s, const std::string& q) {
    const std::string want = base::lower(q);
    std::string out = "[";
    for (const SnapshotModule& m : s.modules()) {
        for (auto it = m.releases.rbegin(); it != m.releases.rend(); ++it) {
            const forge::Release& r = s.releases()[*it];
            if (r.deleted || r.line(Index::Words).find(want) == std::string_view::npos) continue;
            if (out.size() > 1) out += ",\n ";
            out +=
                fmt::format(R"({{"name": "{}", "author": "{}", "version": {}, "tag_list": {}}})",
                            r.name, r.author, codec::json_string(r.version), r.line(Index::Tags));
        }
    }
    (void)request;
    return Response::json(200, out + "]\n");
}

std::string_view content_type(std::string_view path) {
    if (path.ends_with(".json")) return "application/json";
    if (path.ends_with("PULP_MANIFEST") || path.ends_with(module::kSignatureSuffix))
        return "text/plain;charset=utf-8";
    return "application/octet-stream";
}

/// Fetches a file whose release is known to a pull-through repository but whose archive is still
/// upstream.
std::optional<Response> fill(ForgeService& service, std::string_view repository,
                             const Snapshot& snapshot, std::string_view file) {
    auto name = module::parse_file_name(file);
    if (!name || !service.pulls(repository)) return std::nullopt;
    const forge::Release* r = snapshot.release(name->slug());
    if (!r || r->deleted) return std::nullopt;
    auto got = service.pull_file(repository, *r);
    if (!got) return upstream_failed(got.error());
    return std::nullopt;
}

}  // namespace

Response answer_tree(ForgeService& service, const Request& request, std::string_view path) {
    auto parts = visible(path);
    if (!parts || parts->empty()) return not_found();
    const std::string repository = (*parts)[0];
    SnapshotPtr s = service.snapshot(repository);
    if (!s) return not_found();
    std::string full = s->path();
    for (std::size_t i = 1; i < parts->size(); ++i) full += "/" + (*parts)[i];
    struct stat status{};
    if (::stat(full.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
        auto& files = sys::disk();
        auto names = files.list(full);
        if (!names) return not_found();
        std::vector<std::string> shown;
        for (const std::string& name : *names) {
            if (name.starts_with('.')) continue;
            shown.push_back(files.is_directory(full + "/" + name) ? name + "/" : name);
        }
        return listing("/pulp/puppet/" + std::string(path), shown);
    }
    if (parts->size() == 2 && (*parts)[1] == "modules.json") {
        if (const std::string* q = request.query_value("q"); q && !q->empty()) {
            return filtered_list(request, *s, *q);
        }
    }
    const std::string& file = parts->back();
    if (file.ends_with(".tar.gz")) {
        if (auto bad = fill(service, repository, *s, file)) return *bad;
        if (auto name = module::parse_file_name(file)) {
            const forge::Release* r = s->release(name->slug());
            if (r && !r->deleted &&
                full == s->path() + "/" + module::release_path(r->author, r->slug)) {
                return archive_response(service, request, *s, *r);
            }
        }
        return not_found();
    }
    // Signed metadata is replaced within a snapshot, so the snapshot's name is not a valid entity
    // tag.
    if (parts->size() == 3 && (*parts)[1] == "metadata") {
        Response r = file_response(request, full, {}, "application/json");
        if (file == "timestamp.json") r.headers.set("Cache-Control", "no-cache");
        return r;
    }
    return file_response(request, full, fmt::format("{}-{}", s->name(), file), content_type(full));
}

Response answer_flat_tree(ForgeService& service, const Request& request, std::string_view path) {
    auto parts = visible(path);
    if (!parts || parts->empty() || parts->size() > 2) return not_found();
    SnapshotPtr s = service.snapshot((*parts)[0]);
    if (!s) return not_found();
    std::map<std::string, const forge::Release*> files;
    if (parts->size() == 2 && (*parts)[1] != "PULP_MANIFEST") {
        const std::string& file = (*parts)[1];
        auto name = module::parse_file_name(file);
        const forge::Release* r = name ? s->release(name->slug()) : nullptr;
        if (!r || r->deleted) return not_found();
        if (auto bad = fill(service, (*parts)[0], *s, file)) return *bad;
        return archive_response(service, request, *s, *r);
    }
    for (const forge::Release& r : s->releases()) {
        if (!r.deleted) files[std::string(r.slug) + ".tar.gz"] = &r;
    }
    if (parts->size() == 1) {
        std::vector<std::string> names{"PULP_MANIFEST"};
        for (const auto& [name, r] : files) names.push_back(name);
        return listing("/pulp/puppet_files/" + std::string(path), names);
    }
    const std::string tag = fmt::format("\"{}-manifest\"", s->name());
    if (unchanged(request, tag, s->published_at())) return not_modified(tag, s->published_at());
    std::string body;
    for (const auto& [name, r] : files) {
        if ((r->flags & kRemote) != 0) continue;
        body += fmt::format("{},{},{}\n", name, r->sha256, r->size);
    }
    Response response;
    response.headers.set("Content-Type", "text/plain;charset=utf-8");
    response.body = std::move(body);
    add_validators(response, tag, s->published_at());
    return response;
}

}  // namespace bunraku::forge
