// SPDX-License-Identifier: Apache-2.0
// Shared functions of the routes of /puppet/v3: errors with puppetserver's text, accepted formats,
// the environment, and the client's identity.
#pragma once

#include <exception>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "core/base/diagnostic.h"
#include "core/value/value.h"
#include "net/http/access.h"
#include "net/http/auth_conf.h"
#include "net/http/message.h"

namespace bunraku::server {

/// The format of agents whose preferred_serialization_format is msgpack.
inline constexpr std::string_view kMsgpack = "application/x-msgpack";
inline constexpr std::string_view kRichMsgpack = "application/vnd.puppet.rich+msgpack";

/// An exception that ends a request with {"message": .., "issue_kind": ..} (Puppet 8.11,
/// network/http/error.rb).
class ApiError : public std::exception {
public:
    /// `message` is appended to the text of the status, such as "Not Found: ".
    ApiError(int status, std::string message, std::string issue = "RUNTIME_ERROR");
    const char* what() const noexcept override { return message_.c_str(); }
    http::Response response() const;
    /// Returns the message alone, as in the routes that puppetserver serves without Ruby.
    http::Response plain() const { return http::Response::text(status_, bare_); }

private:
    int status_;
    std::string bare_, message_, issue_;
};

/// An exception for too many concurrent requests. The response is 503 with Retry-After.
class Overloaded : public std::exception {
public:
    http::Response response() const;
};

/// An exception for a request that cannot be answered now, but perhaps later. The response is 503
/// with Retry-After.
class Unavailable : public std::exception {
public:
    explicit Unavailable(std::string message) : message_(std::move(message)) {}
    const char* what() const noexcept override { return message_.c_str(); }
    http::Response response() const;

private:
    std::string message_;
};

/// Returns the error "Could not find INDIRECTION KEY".
ApiError not_found(std::string_view indirection, std::string_view key);

/// Calls `work` for `request` and converts exceptions to responses. Exceptions other than ApiError
/// become 500 "Server Error: .." and are logged with the client.
http::Response answered(base::LogSink& log, const http::Request& request,
                        const std::function<http::Response()>& work);

/// Returns the client of a request for the log: "web1.example.org (192.0.2.7)".
std::string client_text(const http::Request& request);

/// Returns the first media type of `offered` that the Accept header allows, in the order of the
/// header. Throws 400 without such a header, and 406 without a match.
std::string_view accepted(const http::Request& request, std::span<const std::string_view> offered);
inline std::string_view accepted(const http::Request& request,
                                 std::initializer_list<std::string_view> offered) {
    return accepted(request, std::span<const std::string_view>(offered.begin(), offered.size()));
}
/// Does the same for a request that saves data, where a missing header means JSON.
std::string_view accepted_or_json(const http::Request& request,
                                  std::span<const std::string_view> offered);
/// Returns data, given as JSON, in the client's format: JSON under either of its names, or
/// MessagePack.
http::Response plain_data(const http::Request& request, std::string json);
/// Does the same for the `type` that accepted() returned.
http::Response json_as(std::string_view type, std::string json);
/// Marks the body as already compressed with gzip. The client must accept gzip.
void mark_packed(http::Response& response);
/// Returns the formats of plain_data().
std::span<const std::string_view> data_formats();
/// Returns the media type of a body, which is one of `known`. Throws 400 without a Content-Type,
/// and 415 for other types.
std::string_view body_format(const http::Request& request,
                             std::initializer_list<std::string_view> known);
/// Parses a body of that type.
base::Result<value::Value> parsed_body(base::Arena& arena, std::string_view type,
                                       std::string_view body);

/// Returns the error for a request that names several environments (puppetserver 7.9.5).
std::optional<std::string> several_environments(const http::Request& request);
/// Returns the parameter `environment`, which may contain letters, digits and underscores.
std::string environment_name(const http::Request& request);

/// Returns $trusted of a client (Puppet::Context::TrustedInformation.remote), without external
/// data. `client` may be null. `names` contains the names of extensions that Puppet does not
/// define.
value::Value trusted_data(base::Arena& arena, const http::ClientCertificate* client,
                          const http::OidNames& names = {});

/// Returns access for clients that auth.conf allows and for certificates with the extension
/// pp_cli_auth, because those can already sign certificates. Over plain HTTP, only this machine has
/// access.
http::Access administrators(http::Authorization& authorization);

}  // namespace bunraku::server
