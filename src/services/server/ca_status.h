// SPDX-License-Identifier: Apache-2.0
// The JSON of responses and requests of /certificate_status(es). For use inside this folder only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http/message.h"
#include "net/pki/authority_folder.h"

namespace bunraku::server {

/// Returns "requested", "signed" or "revoked".
std::string_view state_name(pki::CertificateStatus::State state);
/// Returns what to read in order to list this state; empty means all states.
pki::AuthorityFolder::Listed listed_in(std::string_view state);
/// Returns the members in puppetserver's order.
std::string status_json(const pki::CertificateStatus& status);

/// Returns a response with status 406 if the client accepts neither JSON nor PSON.
std::optional<http::Response> refused_accept(const http::Request& request);
http::Response status_answer(const http::Request& request, std::string json);

/// The operation that a PUT requests.
struct StatusRequest {
    int status = 0;  ///< 0 if the request is valid, otherwise the HTTP status of the refusal
    std::string message;
    bool revoke = false;  ///< revoke if true, otherwise sign
    std::optional<std::int64_t> ttl;
};
StatusRequest read_status_request(const http::Request& request, const std::string& name);

}  // namespace bunraku::server
