// SPDX-License-Identifier: Apache-2.0
#include "services/server/ca_status.h"

#include <fmt/format.h>

#include "core/base/arena.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/value/rich_data.h"

namespace bunraku::server {

using codec::DigestKind;
using codec::json_string;
using State = pki::CertificateStatus::State;

namespace {

std::string json_list(const std::vector<std::string>& texts) {
    std::string out = "[";
    for (const auto& text : texts) out += (out.size() > 1 ? "," : "") + json_string(text);
    return out + "]";
}

std::string media_type(std::string_view header) {
    return base::lower(base::trim(header.substr(0, header.find(';')), " "));
}

}  // namespace

std::string_view state_name(State state) {
    return state == State::Requested ? "requested" : state == State::Signed ? "signed" : "revoked";
}

pki::AuthorityFolder::Listed listed_in(std::string_view state) {
    using Listed = pki::AuthorityFolder::Listed;
    if (state.empty()) return Listed::Both;
    return state == state_name(State::Requested) ? Listed::Requests : Listed::Certificates;
}

std::string status_json(const pki::CertificateStatus& status) {
    std::vector<std::string> names, dns, addresses;
    std::string extensions;
    const auto add_extension = [&](std::string_view oid, std::string_view name,
                                   std::string_view value) {
        if (!pki::in_puppet_tree(oid, 3)) return;
        extensions += fmt::format("{}{}:{}", extensions.empty() ? "" : ",", json_string(name),
                                  json_string(value));
    };
    if (status.certificate) {
        names = status.certificate->alternative_names();
        for (const auto& e : status.certificate->puppet_extensions())
            add_extension(e.oid, e.name, e.value);
    } else {
        names = status.request->alternative_names();
        for (const auto& e : status.request->extensions()) add_extension(e.oid, e.name, e.value);
    }
    for (auto& name : names) (name.starts_with("DNS:") ? dns : addresses).push_back(name);
    auto all = addresses;
    all.insert(all.end(), dns.begin(), dns.end());
    const auto print = [&](DigestKind kind) {
        return status.certificate ? status.certificate->fingerprint(kind)
                                  : status.request->fingerprint(kind);
    };
    const auto sha256 = print(DigestKind::Sha256);
    const auto prints =
        fmt::format("{{\"SHA1\":\"{}\",\"SHA256\":\"{}\",\"SHA512\":\"{}\",\"default\":\"{}\"}}",
                    print(DigestKind::Sha1), sha256, print(DigestKind::Sha512), sha256);
    if (!status.certificate) {
        return fmt::format(
            "{{\"name\":{},\"state\":\"requested\",\"dns_alt_names\":{},\"subject_alt_names\":{},"
            "\"authorization_extensions\":{{{}}},\"fingerprint\":\"{}\",\"fingerprints\":{}}}",
            json_string(status.name), json_list(dns), json_list(all), extensions, sha256, prints);
    }
    const auto& certificate = *status.certificate;
    return fmt::format(
        "{{\"name\":{},\"dns_alt_names\":{},\"state\":\"{}\",\"authorization_extensions\":{{{}}},"
        "\"subject_alt_names\":{},\"not_before\":\"{}\",\"fingerprints\":{},\"not_after\":\"{}\","
        "\"serial_number\":{},\"fingerprint\":\"{}\"}}",
        json_string(status.name), json_list(dns), state_name(status.state), extensions,
        json_list(all), pki::puppet_time(certificate.not_before()), prints,
        pki::puppet_time(certificate.not_after()), certificate.serial_decimal(), sha256);
}

std::optional<http::Response> refused_accept(const http::Request& request) {
    const auto accept = request.headers.get("Accept");
    if (accept.empty()) return std::nullopt;
    for (auto range : base::split(accept, ',')) {
        const auto type = media_type(range);
        for (const char* good :
             {"*/*", "application/*", "application/json", "text/*", "text/pson", "pson"})
            if (type == good) return std::nullopt;
    }
    return http::Response::text(406, "No acceptable resource available.");
}

http::Response status_answer(const http::Request& request, std::string json) {
    auto out = http::Response::json(200, std::move(json));
    if (media_type(request.headers.get("Accept")) == "text/pson")
        out.headers.set("Content-Type", "text/pson;charset=UTF-8");
    return out;
}

StatusRequest read_status_request(const http::Request& request, const std::string& name) {
    const auto refuse = [](int status, std::string message) {
        return StatusRequest{status, std::move(message)};
    };
    const auto type = media_type(request.headers.get("Content-Type"));
    if (!type.empty() && type != "application/json" && type != "text/pson" && type != "pson")
        return refuse(415, "Unsupported media type.");
    base::Arena arena;
    auto document = value::parse_json(arena, request.body);
    if (!document) return refuse(400, "Request body is not JSON.");
    const value::Value* state =
        document->is_hash() ? document->as_hash().find("desired_state") : nullptr;
    if (!state || !state->is_string())
        return refuse(400, "Missing required parameter \"desired_state\"");
    StatusRequest out;
    const auto wanted = state->as_string();
    if (wanted != "signed" && wanted != "revoked") {
        return refuse(400, fmt::format("State {} invalid; Must specify desired state of 'signed' "
                                       "or 'revoked' for host {}.",
                                       wanted, name));
    }
    out.revoke = wanted == "revoked";
    const auto* ttl = document->as_hash().find("cert_ttl");
    if (!ttl || ttl->is_undef()) return out;
    if (!ttl->is_integer()) {
        return refuse(400, fmt::format("cert_ttl specified for host {} must be an integer, not "
                                       "\"{}\"",
                                       name,
                                       ttl->is_string() ? std::string(ttl->as_string())
                                                        : value::to_json(*ttl)));
    }
    out.ttl = ttl->as_integer();
    if (*out.ttl <= 0 || *out.ttl > pki::kLongestTtl) {
        return refuse(400, fmt::format("cert_ttl specified for host {} must be between 1 and {}",
                                       name, pki::kLongestTtl));
    }
    return out;
}

}  // namespace bunraku::server
