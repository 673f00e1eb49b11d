// SPDX-License-Identifier: Apache-2.0
// Handles paths that none of puppetserver's routes matches. Under /puppet, every client gets 404.
// Under /status/v1 and /puppet-admin-api, clients that auth.conf refuses get 403 instead (responses
// of puppetserver 7.9.5).
#include <fmt/format.h>

#include "core/codec/json_text.h"
#include "services/server/compiler.h"
#include "services/server/puppet_api.h"

namespace bunraku::server {

using http::Request;
using http::Response;

namespace {

Response unknown_route(const Request& request) {
    // POST and GET get a JSON body, other methods an empty one.
    if (request.method != "GET" && request.method != "POST") return Response::text(404, "");
    Response out = Response::json(
        404,
        fmt::format("{{\n\"message\":\"Not Found\",\n\"url\":{},\n\"status\":\"404\"\n}}",
                    codec::json_string(http::percent_decode(request.path).value_or(request.path))));
    out.headers.set("Content-Type", "application/json");
    return out;
}

/// Handles paths of routes for one node that contain no name or more than one segment. auth.conf is
/// checked first.
Response no_node(const Request& request) {
    if (request.param("rest").empty())
        return ApiError(400, fmt::format("No request key specified in {}", request.path)).plain();
    return unknown_route(request);
}

Response not_found_text(const Request&) { return Response::text(404, "Not Found"); }

Response other_method(const Request&) {
    Response out = Response::text(405, "Method not allowed.");
    out.headers.set("Allow", "DELETE");
    return out;
}

}  // namespace

void mount_fallback(http::Router& router, Compiler& compiler) {
    const http::RouteOptions options{.max_body = 64 << 20};
    for (const char* pattern : {"/puppet", "/puppet/{rest*}"})
        router.add("*", pattern, http::Access::anyone(), unknown_route, options);
    for (const auto& [method, family] : {std::pair("GET", "catalog"),
                                         {"POST", "catalog"},
                                         {"GET", "node"},
                                         {"PUT", "facts"},
                                         {"PUT", "report"}}) {
        router.add(method, fmt::format("/puppet/v3/{}/{{rest*}}", family),
                   compiler.authorization().access(), no_node, options);
    }
    // puppetserver has no HEAD route for these.
    for (const char* pattern :
         {"/puppet/v3/catalog/{node}", "/puppet/v3/node/{node}", "/puppet/v3/environments",
          "/puppet/v3/environment_classes", "/puppet/v3/environment_modules",
          "/puppet/v3/environment_transports", "/puppet/v3/file_metadata/{key*}",
          "/puppet/v3/file_metadatas/{key*}", "/puppet/v3/file_content/{key*}",
          "/puppet/v3/static_file_content/{key*}", "/puppet/v3/tasks", "/puppet/v3/plans",
          "/puppet/v3/tasks/{module}/{name}", "/puppet/v3/plans/{module}/{name}"}) {
        router.add("HEAD", pattern, http::Access::anyone(), unknown_route, options);
    }
    for (const char* pattern : {"/status", "/status/{rest*}", "/metrics/v2/{rest*}"}) {
        router.add("*", pattern, compiler.authorization().access(), not_found_text, options);
    }
    for (const char* pattern : {"/puppet-admin-api", "/puppet-admin-api/{rest*}"}) {
        router.add("*", pattern, administrators(compiler.authorization()), not_found_text, options);
    }
    router.add("*", "/puppet-admin-api/v1/environment-cache",
               administrators(compiler.authorization()), other_method, options);
}

}  // namespace bunraku::server
