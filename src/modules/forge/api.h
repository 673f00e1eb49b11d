// What the files of the HTTP side share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modules/forge/service.h"
#include "net/http/message.h"

namespace bunraku::forge {

/// One request to an API, with the repositories it means.
struct Call {
    const http::Request& request;
    ForgeService& service;
    Selection selection;

    /// The last query parameter of that name.
    const std::string* query(std::string_view name) const;
    /// Present and neither "false", "0" nor "no".
    bool flag(std::string_view name) const;
    bool reading() const { return request.method == "GET" || request.method == "HEAD"; }
};

/// The Forge's error body: {"message":"404 Not Found","errors":["..."]}.
http::Response error_response(int status, std::string_view detail = {});
http::Response not_found();
http::Response method_not_allowed(std::string_view allow);
/// Nothing came from an upstream; `error.code` as PullFailure.
http::Response upstream_failed(const base::Error& error);
/// 401 that asks for basic credentials.
http::Response who_are_you();

/// A JSON answer that changes with the selection alone: entity tag, Last-Modified and 304.
/// `body` is only called where an answer is needed.
template <class F>
http::Response cacheable(const Call& call, F body);
std::string entity_tag(const Call& call);
/// Does the request's condition hold, so that 304 answers it?
bool unchanged(const http::Request& request, std::string_view tag, std::int64_t modified);
void add_validators(http::Response& response, std::string_view tag, std::int64_t modified);
/// 304 with the validators.
http::Response not_modified(std::string_view tag, std::int64_t modified);

template <class F>
http::Response cacheable(const Call& call, F body) {
    const std::string tag = entity_tag(call);
    if (unchanged(call.request, tag, call.selection.modified)) {
        return not_modified(tag, call.selection.modified);
    }
    http::Response response = http::Response::json(200, body());
    add_validators(response, tag, call.selection.modified);
    return response;
}

/// A file of a snapshot, with ranges and conditions. `tag` without quotes; empty: of the file's
/// date and size.
http::Response file_response(const http::Request& request, const std::string& path,
                             std::string_view tag, std::string_view content_type);

/// The same for the archive of a release, which is counted where its beginning is sent.
http::Response archive_response(ForgeService& service, const http::Request& request,
                                const Snapshot& snapshot, const Release& release);
/// The API's description.
std::string openapi_json();

/// `path` begins behind "/v3/" and is decoded.
http::Response answer_v3(const Call& call, std::string_view path);
/// What `path` behind "/v3/" needs from upstream first: a module, one release of it, and that
/// release's file.
struct Wanted {
    std::optional<module::ModuleName> module;
    std::optional<module::ReleaseName> release, file;
};
Wanted wanted_by_v3(const http::Request& request, std::string_view path);
http::Response answer_v1(const Call& call);
http::Response search_v1(const Call& call);
/// May the bearer of this token write to `repository` (named by the path; empty: the default one)?
/// Asked before the body is read.
std::optional<http::Response> refuse_write(ForgeService& service, const http::Request& request,
                                           std::string_view repository);
/// POST, DELETE and PATCH below /v3/, once that has been asked. Takes the body of an upload apart
/// where it stands.
http::Response answer_write(ForgeService& service, http::Request& request, std::string_view path,
                            std::string_view repository);
http::Response answer_tree(ForgeService& service, const http::Request& request,
                           std::string_view path);
http::Response answer_flat_tree(ForgeService& service, const http::Request& request,
                                std::string_view path);
/// Is this a token of somebody? Asked before the body is read.
std::optional<http::Response> refuse_search_filters(ForgeService& service,
                                                    const http::Request& request);
/// GET, POST and DELETE of a token holder's saved filters, once that has been asked. `id`: of one
/// of them; empty: all.
http::Response answer_search_filters(ForgeService& service, const http::Request& request,
                                     std::string_view id);

}  // namespace bunraku::forge
