// What the routes of /puppet/v3 have in common: errors in puppetserver's words, the formats that a
// client accepts, its environment, who it is.
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

/// What agents send and take whose preferred_serialization_format is msgpack.
inline constexpr std::string_view kMsgpack = "application/x-msgpack";
inline constexpr std::string_view kRichMsgpack = "application/vnd.puppet.rich+msgpack";

/// Ends a request: {"message": .., "issue_kind": ..} (Puppet 8.11, network/http/error.rb).
class ApiError : public std::exception {
public:
    /// `message` goes behind the words of the status: "Not Found: ".
    ApiError(int status, std::string message, std::string issue = "RUNTIME_ERROR");
    const char* what() const noexcept override { return message_.c_str(); }
    http::Response response() const;
    /// The message alone, as those routes have it that puppetserver serves without Ruby.
    http::Response plain() const { return http::Response::text(status_, bare_); }

private:
    int status_;
    std::string bare_, message_, issue_;
};

/// Too much is asked at once: 503, to be tried again after a while (Retry-After).
class Overloaded : public std::exception {
public:
    http::Response response() const;
};

/// "Could not find INDIRECTION KEY".
ApiError not_found(std::string_view indirection, std::string_view key);

/// Calls `work` for `request`. What it throws becomes an answer: 500 "Server Error: .." for what is
/// no ApiError, which is logged with the client.
http::Response answered(base::LogSink& log, const http::Request& request,
                        const std::function<http::Response()>& work);

/// Returns the client of a request for the log: "web1.example.org (192.0.2.7)".
std::string client_text(const http::Request& request);

/// The first media type of `offered` that Accept takes, by its order; without such a header 400,
/// without a match 406.
std::string_view accepted(const http::Request& request, std::span<const std::string_view> offered);
inline std::string_view accepted(const http::Request& request,
                                 std::initializer_list<std::string_view> offered) {
    return accepted(request, std::span<const std::string_view>(offered.begin(), offered.size()));
}
/// The same of a request that saves: those without such a header want JSON.
std::string_view accepted_or_json(const http::Request& request,
                                  std::span<const std::string_view> offered);
/// Data, given as JSON, in the form that the client wants: JSON by either of its names, or
/// MessagePack.
http::Response plain_data(const http::Request& request, std::string json);
/// The same, for `type` that accepted said.
http::Response json_as(std::string_view type, std::string json);
/// The body of an answer to who accepts it is packed by gzip already.
void mark_packed(http::Response& response);
/// The formats of plain_data.
std::span<const std::string_view> data_formats();
/// The media type of a body, one of `known`; 400 without a Content-Type, 415 for others.
std::string_view body_format(const http::Request& request,
                             std::initializer_list<std::string_view> known);
/// A body of that type as data.
base::Result<value::Value> parsed_body(base::Arena& arena, std::string_view type,
                                       std::string_view body);

/// What is said of a request that names more than one (puppetserver 7.9.5).
std::optional<std::string> several_environments(const http::Request& request);
/// The parameter `environment`: letters, digits and underscores.
std::string environment_name(const http::Request& request);

/// $trusted of a client (Puppet::Context::TrustedInformation.remote), without external data;
/// `client` may be null. `names`: of extensions beyond Puppet's own.
value::Value trusted_data(base::Arena& arena, const http::ClientCertificate* client,
                          const http::OidNames& names = {});

/// What auth.conf allows, and certificates with the extension pp_cli_auth: those who may sign
/// certificates may ask for what they protect. Over plain HTTP this machine.
http::Access administrators(http::Authorization& authorization);

}  // namespace bunraku::server
