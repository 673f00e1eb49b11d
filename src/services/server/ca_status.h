// What /certificate_status(es) say and are told; inside this folder only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http/message.h"
#include "net/pki/authority_folder.h"

namespace bunraku::server {

/// "requested", "signed", "revoked".
std::string_view state_name(pki::CertificateStatus::State state);
/// puppetserver's members, in its order.
std::string status_json(const pki::CertificateStatus& status);

/// 406 for who takes neither JSON nor PSON.
std::optional<http::Response> refused_accept(const http::Request& request);
http::Response status_answer(const http::Request& request, std::string json);

/// What a PUT asks for.
struct StatusRequest {
    int status = 0;  ///< 0: fine; else how it is refused
    std::string message;
    bool revoke = false;  ///< else: sign
    std::optional<std::int64_t> ttl;
};
StatusRequest read_status_request(const http::Request& request, const std::string& name);

}  // namespace bunraku::server
