// SPDX-License-Identifier: Apache-2.0
// Declarations shared by the files of the forge's HTTP API.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modules/forge/service.h"
#include "net/http/message.h"

namespace bunraku::forge {

/// A request to an API, together with the repositories that it addresses.
struct Call {
    const http::Request& request;
    ForgeService& service;
    Selection selection;

    /// Returns the last query parameter called `name`, or null.
    const std::string* query(std::string_view name) const;
    /// Reports whether the parameter is present and is not "false", "0" or "no".
    bool flag(std::string_view name) const;
    bool reading() const { return request.method == "GET" || request.method == "HEAD"; }
};

/// Returns an error response with the Forge's body: {"message":"404 Not Found","errors":["..."]}.
http::Response error_response(int status, std::string_view detail = {});
http::Response not_found();
http::Response method_not_allowed(std::string_view allow);
/// Returns the response for a failed upstream request. `error.code` is a PullFailure.
http::Response upstream_failed(const base::Error& error);
/// Returns a 401 response that requests basic credentials.
http::Response credentials_required();

/// Returns a JSON response that depends only on the selection, with an entity tag, Last-Modified,
/// and status 304 where possible. `body` is called only if the response needs a body.
template <class F>
http::Response cacheable(const Call& call, F body);
std::string entity_tag(const Call& call);
/// Reports whether the conditional request can be answered with 304.
bool unchanged(const http::Request& request, std::string_view tag, std::int64_t modified);
void add_validators(http::Response& response, std::string_view tag, std::int64_t modified);
/// Returns a 304 response with its validators.
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

/// Returns a file of a snapshot, with support for ranges and conditional requests. `tag` has no
/// quotes. If it is empty, the tag is derived from the date and size of the file.
http::Response file_response(const http::Request& request, const std::string& path,
                             std::string_view tag, std::string_view content_type);

/// Returns the archive of a release in the same way. Counts a download if the response includes the
/// first byte.
http::Response archive_response(ForgeService& service, const http::Request& request,
                                const Snapshot& snapshot, const Release& release);
/// Returns the OpenAPI description of the API.
std::string openapi_json();

/// Answers a GET of API v3. `path` is the decoded path after "/v3/".
http::Response answer_v3(const Call& call, std::string_view path);
/// The data that a request needs from an upstream first: a module, one of its releases, or the file
/// of a release. `path` is the path after "/v3/".
struct Wanted {
    std::optional<module::ModuleName> module;
    std::optional<module::ReleaseName> release, file;
};
Wanted wanted_by_v3(const http::Request& request, std::string_view path);
http::Response answer_v1(const Call& call);
http::Response search_v1(const Call& call);
/// Returns an error response if the bearer of the token may not write to `repository`. `repository`
/// is the one in the path; if it is empty, the default repository is used. Called before the body
/// is read.
std::optional<http::Response> refuse_write(ForgeService& service, const http::Request& request,
                                           std::string_view repository);
/// Answers POST, DELETE and PATCH below /v3/, after refuse_write() has allowed the request. Decodes
/// the body of an upload in place.
http::Response answer_write(ForgeService& service, http::Request& request, std::string_view path,
                            std::string_view repository);
http::Response answer_tree(ForgeService& service, const http::Request& request,
                           std::string_view path);
http::Response answer_flat_tree(ForgeService& service, const http::Request& request,
                                std::string_view path);
/// Returns an error response if the request has no valid token. Called before the body is read.
std::optional<http::Response> refuse_search_filters(ForgeService& service,
                                                    const http::Request& request);
/// Answers GET, POST and DELETE for the saved filters of a token's owner, after
/// refuse_search_filters() has allowed the request. `id` selects one filter; if it is empty, all
/// are selected.
http::Response answer_search_filters(ForgeService& service, const http::Request& request,
                                     std::string_view id);

}  // namespace bunraku::forge
