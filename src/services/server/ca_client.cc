// SPDX-License-Identifier: Apache-2.0
#include "services/server/ca_client.h"

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>

#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/sys/lock.h"
#include "net/http/client.h"
#include "net/pki/verify.h"
#include "services/server/ca_settings.h"
#include "services/server/ca_status.h"

namespace bunraku::server {

using base::failure;
using base::Result;

namespace {

std::string address_of(const config::Settings& settings) {
    const auto host = settings.text("ca_server");
    const bool address = host.find(':') != std::string::npos;
    return fmt::format("https://{}{}{}:{}", address ? "[" : "", host, address ? "]" : "",
                       settings.text("ca_port"));
}

http::ClientOptions client_options(const config::Settings& settings, bool as_ourselves) {
    http::ClientOptions out;
    out.user_agent = "PuppetserverCaCli";
    out.ca_file = settings.text("localcacert");
    out.proxies = http::ProxyRules::of_settings(settings);
    const auto revocation = settings.text("certificate_revocation");
    if (revocation != "false") {
        out.crl_file = settings.text("hostcrl");
        out.crl_leaf_only = revocation == "leaf";
    }
    if (!as_ourselves) return out;
    out.certificate_file = settings.text("hostcert");
    out.private_key_file = settings.text("hostprivkey");
    return out;
}

bool is_unreachable(const base::Error& error) {
    return error.code == ECONNREFUSED || error.code == EHOSTUNREACH;
}

class HttpCaClient final : public CaClient {
public:
    explicit HttpCaClient(const config::Settings& settings)
        : url_(address_of(settings) + "/puppet-ca/v1/"), client_(client_options(settings, true)) {}
    Result<CaAnswer> statuses(const std::string& state) override {
        return send("GET", "certificate_statuses/any_key" +
                               (state.empty() ? std::string() : "?state=" + state));
    }
    Result<CaAnswer> sign(const std::string& name, std::optional<std::int64_t> ttl) override {
        return send("PUT", "certificate_status/" + name,
                    ttl ? fmt::format(R"({{"desired_state":"signed","cert_ttl":{}}})", *ttl)
                        : R"({"desired_state":"signed"})");
    }
    Result<CaAnswer> revoke(const std::string& name) override {
        return send("PUT", "certificate_status/" + name, R"({"desired_state":"revoked"})");
    }
    Result<CaAnswer> remove(const std::string& name) override {
        return send("DELETE", "certificate_status/" + name);
    }
    Result<CaAnswer> submit(const std::string& name, const std::string& pem) override {
        return send("PUT", "certificate_request/" + name, pem, "text/plain");
    }
    Result<CaAnswer> certificate(const std::string& name) override {
        return send("GET", "certificate/" + name, {}, "text/plain");
    }

private:
    Result<CaAnswer> send(const std::string& method, const std::string& where,
                          std::string body = {}, const char* type = "application/json") {
        http::ClientRequest request;
        request.method = method;
        request.url = url_ + where;
        request.body = std::move(body);
        request.headers.set("Content-Type", type);
        request.headers.set("Accept", type);
        auto answer = client_.send(request);
        if (answer) return CaAnswer{answer->status, std::move(answer->body)};
        auto why = answer.error().message;
        const auto prefix = http::error_prefix(method, request.url);
        if (why.starts_with(prefix)) why.erase(0, prefix.size());
        return failure(fmt::format("Failed connecting to {}\n  Root cause: {}", request.url, why),
                       answer.error().code);
    }
    std::string url_;
    http::Client client_;
};

class LocalCaClient final : public CaClient {
public:
    LocalCaClient(server::CaSettings settings, pki::AuthorityFolder folder)
        : settings_(std::move(settings)), folder_(std::move(folder)) {}
    Result<CaAnswer> statuses(const std::string& state) override {
        auto all = BUNRAKU_TRY(folder_.statuses(server::listed_in(state)));
        std::string out = "[";
        for (const auto& status : all) {
            if (!state.empty() && server::state_name(status.state) != state) continue;
            out += (out.size() > 1 ? "," : "") + server::status_json(status);
        }
        return CaAnswer{200, out + "]"};
    }
    Result<CaAnswer> sign(const std::string& name, std::optional<std::int64_t> ttl) override {
        if (!has_any(name)) return CaAnswer{404, "Invalid certificate subject."};
        if (!folder_.has_request(name)) {
            return CaAnswer{409, fmt::format("Cannot sign certificate for host {} without a "
                                             "certificate request",
                                             name)};
        }
        auto request = BUNRAKU_TRY(folder_.read_request(name));
        auto problem = pki::name_problem(name, request.common_name());
        if (!problem) problem = pki::signing_problem(request, settings_.rules);
        if (problem) return CaAnswer{409, *problem};
        (void)BUNRAKU_TRY(folder_.sign(name, request, ttl.value_or(settings_.ca_ttl)));
        return CaAnswer{204, {}};
    }
    Result<CaAnswer> revoke(const std::string& name) override {
        if (!has_any(name) && !(is_path_part(name) && folder_.can_revoke(name)))
            return CaAnswer{404, "Invalid certificate subject."};
        if (!folder_.can_revoke(name)) {
            return CaAnswer{409, fmt::format("Cannot revoke certificate for host {} without a "
                                             "signed certificate",
                                             name)};
        }
        (void)BUNRAKU_TRY(folder_.revoke({name}));
        return CaAnswer{204, {}};
    }
    Result<CaAnswer> remove(const std::string& name) override {
        if (!has_any(name)) return CaAnswer{404, "Resource not found."};
        (void)BUNRAKU_TRY(folder_.delete_certificate(name));
        (void)BUNRAKU_TRY(folder_.delete_request(name));
        return CaAnswer{204, {}};
    }
    Result<CaAnswer> submit(const std::string& name, const std::string& pem) override {
        auto request = pki::Request::from_pem(pem, "The request");
        if (!request) return CaAnswer{400, request.error().message};
        if (auto problem = pki::name_problem(name, request->common_name()))
            return CaAnswer{400, *problem};
        if (has_any(name)) {
            return CaAnswer{
                400, fmt::format("{} already has a {} certificate; ignoring "
                                 "certificate request",
                                 name, folder_.has_certificate(name) ? "signed" : "requested")};
        }
        BUNRAKU_TRY_VOID(folder_.save_request(name, *request));
        return CaAnswer{200, {}};
    }
    Result<CaAnswer> certificate(const std::string& name) override {
        if (!is_path_part(name) || !folder_.has_certificate(name))
            return CaAnswer{404, "Could not find certificate " + name};
        return CaAnswer{200, BUNRAKU_TRY(folder_.certificate_text(name))};
    }

private:
    static bool is_path_part(const std::string& name) {
        return !name.empty() && name[0] != '.' && name.find('/') == std::string::npos;
    }
    bool has_any(const std::string& name) const {
        return is_path_part(name) && (folder_.has_certificate(name) || folder_.has_request(name));
    }
    server::CaSettings settings_;
    pki::AuthorityFolder folder_;
};

}  // namespace

std::int64_t ca_now() { return std::time(nullptr); }

Result<std::unique_ptr<CaClient>> open_ca_client(const config::Settings& settings) {
    auto& files = sys::disk();
    const bool here = files.exists(settings.text("cakey"));
    std::string why;
    for (const char* part : {"localcacert", "hostcert", "hostprivkey"}) {
        const auto path = settings.text(std::string_view(part));
        if (!files.exists(path) && why.empty())
            why = fmt::format("Could not find '{}' at '{}'", part, path);
    }
    if (why.empty()) {
        http::Client probe(client_options(settings, false));
        auto answer = probe.get(address_of(settings) + "/status/v1/simple/ca");
        if (answer || !here || !is_unreachable(answer.error()))
            return std::unique_ptr<CaClient>(new HttpCaClient(settings));
        why = fmt::format("No server answers at {}", address_of(settings));
    }
    if (!here) return failure(why);
    auto ca = BUNRAKU_TRY(server::read_ca_settings(settings));
    auto folder = BUNRAKU_TRY(pki::AuthorityFolder::open(ca.paths, ca_now));
    fmt::print(stderr, "{}: working in {}\n", why, ca.paths.cadir);
    return std::unique_ptr<CaClient>(new LocalCaClient(std::move(ca), std::move(folder)));
}

Result<CaServer> ca_server_running(const config::Settings& settings) {
    const auto state = settings.text("statedir") + "/server.pid";
    if (sys::disk().exists(state)) {
        sys::PidLock pid(state);
        auto free = pid.acquire();
        if (free && !*free) return CaServer::Ours;
    }
    http::ClientOptions options = client_options(settings, false);
    auto& files = sys::disk();
    // This machine may not have the authorities or revocation lists yet.
    if (!files.exists(options.ca_file)) options.verify = false;
    if (!files.exists(options.crl_file)) options.crl_file.clear();
    auto answer =
        http::Client(std::move(options)).get(address_of(settings) + "/status/v1/simple/ca");
    if (answer) return answer->body == "running" ? CaServer::Foreign : CaServer::Away;
    if (is_unreachable(answer.error())) return CaServer::Away;
    return std::unexpected(answer.error());
}

}  // namespace bunraku::server
