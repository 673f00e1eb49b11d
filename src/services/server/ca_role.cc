// SPDX-License-Identifier: Apache-2.0
// The role of the certificate authority: puppetserver's /puppet-ca/v1. Responses were compared with
// puppetserver 7.9.5. Renewal and the signing of several requests follow puppetserver 8.
#include <cerrno>
#include <chrono>
#include <fmt/format.h>
#include <mutex>
#include <openssl/evp.h>
#include <set>

#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/config/compatibility.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/sys/process.h"
#include "net/pki/verify.h"
#include "services/server/autosign.h"
#include "services/server/ca_access.h"
#include "services/server/ca_maintenance.h"
#include "services/server/ca_names.h"
#include "services/server/ca_settings.h"
#include "services/server/ca_status.h"
#include "services/server/role.h"

namespace bunraku::server {

using base::Level;
using base::Result;
using http::Request;
using http::Response;

namespace {

constexpr std::uint64_t kMaxRequestBody = 64 << 10;
constexpr std::uint64_t kMaxListBody = 4 << 20;
constexpr std::uint64_t kMaxCrlBody = 64 << 20;
constexpr auto kMaintenanceInterval = std::chrono::hours(12);

Response plain(int status, std::string_view text) {
    auto out = Response::text(status, text);
    out.headers.set("Content-Type", "text/plain");
    return out;
}

/// Returns a response if the list cannot be used to `verb` the named certificates, else nullopt.
std::optional<Response> refusal(const CaNameList& list, std::string_view verb) {
    if (!list.is_json) return plain(400, "Request body is not JSON.");
    if (list.async) return plain(400, "Async mode is not currently supported.");
    if (list.given) return std::nullopt;
    return plain(400, fmt::format("Missing required key: 'certnames'. Please supply the list of "
                                  "certs you want to {}.",
                                  verb));
}

class CaRole final : public Role, public CaAccess {
public:
    CaRole(const Context& context, CaSettings settings, pki::AuthorityFolder authority)
        : context_(context),
          log_(context.log),
          settings_(std::move(settings)),
          authority_(std::make_shared<const pki::AuthorityFolder>(std::move(authority))),
          processes_(sys::make_real_processes()) {
        auto& counters = context.counters;
        signed_ = &counters.counter("bunraku_ca_signed_total", "Certificates that were signed.");
        revoked_ = &counters.counter("bunraku_ca_revoked_total", "Certificates that were revoked.");
        watch_ = context_.runtime.watch(
            {settings_.paths.cacrl, settings_.paths.cacert, settings_.paths.cakey},
            [this] { (void)context_.aside.post([this] { look_for_changes(); }); });
        {
            std::lock_guard lock(crl_mutex_);
            last_crl_ = crl_stamp();
        }
        (void)context_.aside.post_after(kMaintenanceInterval, [this] { maintain_now(); });
    }
    std::string_view name() const override { return "ca"; }
    void stop() override { watch_.reset(); }
    void mount(http::Router& router) override;
    std::vector<ServiceStatus> status() override {
        return {{"ca", context_.version, "running", "{}"}};
    }
    Result<std::vector<pki::CertificateStatus>> waiting() override {
        return authority()->statuses(pki::AuthorityFolder::Listed::Requests);
    }
    Result<std::vector<pki::CertificateStatus>> issued() override {
        return authority()->statuses(pki::AuthorityFolder::Listed::Certificates);
    }
    Result<std::optional<pki::CertificateStatus>> find(const std::string& name) override;
    Result<void> sign_one(const std::string& name, const std::string& fingerprint) override;
    Result<void> revoke_one(const std::string& name) override;
    Result<void> clean_one(const std::string& name) override;

private:
    using Handler = Response (CaRole::*)(Request&);
    void add(http::Router& router, std::string_view methods, const std::string& pattern,
             Handler handler, http::RouteOptions options = {});

    Response certificate(Request& request);
    /// Returns the text of a file, or 304 if it has not changed since the time in the request.
    Response file_if_modified(Request& request, const std::string& path);
    Response get_request(Request& request);
    Response put_request(Request& request);
    Response delete_request(Request& request);
    Response get_status(Request& request);
    Response put_status(Request& request);
    Response delete_status(Request& request);
    Response statuses(Request& request);
    Response get_crl(Request& request);
    Response put_crl(Request& request);
    Response expirations(Request& request);
    Response clean(Request& request);
    Response renew(Request& request);
    Response sign_some(Request& request);
    Response sign_all(Request& request);
    Response unknown_route(Request&) { return Response::text(404, "Not Found"); }
    Response other_method(Request&) { return Response::text(405, "Method not allowed."); }

    /// Signs the waiting request. Returns the reason if it cannot be signed, else nullopt.
    std::optional<std::string> sign_waiting(const std::string& name, std::int64_t ttl);
    /// Signs this request. Returns the reason if it cannot be signed, else nullopt.
    std::optional<std::string> sign_request(const std::string& name, const pki::Request& request,
                                            std::int64_t ttl);
    Response sign_names(const std::vector<std::string>& names);
    Result<std::size_t> revoke(
        const std::vector<std::string>& names,
        pki::AuthorityFolder::Files files = pki::AuthorityFolder::Files::Keep);
    void crl_changed();
    /// Returns the folder as it was opened last. It stays valid as long as a handler holds it.
    std::shared_ptr<const pki::AuthorityFolder> authority() const {
        std::lock_guard lock(authority_mutex_);
        return authority_;
    }
    std::int64_t crl_stamp() const;
    void look_for_changes();
    /// Reopens the folder after a rollover has changed the signing authority.
    void open_again();
    void maintain_now();
    Response wrong(const base::Error& error) {
        log_.log(Level::Err, error.message);
        return Response::text(500, "Internal Server Error: " + error.message);
    }

    const Context& context_;
    base::LogSink& log_;
    CaSettings settings_;
    std::shared_ptr<const pki::AuthorityFolder> authority_;
    mutable std::mutex authority_mutex_;
    std::unique_ptr<sys::Processes> processes_;
    base::Counter* signed_;
    base::Counter* revoked_;
    std::mutex mutex_;  ///< held from the check that a name is free until it is taken
    std::mutex crl_mutex_;
    std::int64_t last_crl_ = 0;
    std::unique_ptr<sys::Watch> watch_;  ///< for changes by other processes
};

void CaRole::add(http::Router& router, std::string_view methods, const std::string& pattern,
                 Handler handler, http::RouteOptions options) {
    auto serve = [this, handler, limit = options.max_body](Request& request) {
        Response out;
        const auto encoding = request.headers.get("Content-Encoding");
        if (!encoding.empty()) {
            auto decoded = http::decoded_body(request, limit);
            if (decoded.status != 0) return Response::text(decoded.status, decoded.message);
            request.body = std::move(decoded.body);
        }
        out = (this->*handler)(request);
        out.headers.set("X-Puppet-Version",
                        config::puppet_version(context_.settings.compatibility()));
        return out;
    };
    for (auto method : base::words(methods)) {
        router.add(method, "/puppet-ca/v1" + pattern, context_.authorization->access(), serve,
                   options);
    }
}

void CaRole::mount(http::Router& router) {
    http::RouteOptions some{.max_body = kMaxRequestBody};
    http::RouteOptions submission{.max_body = kMaxRequestBody};
    submission.may_wait = [this](const Request&) {
        return autosign_is_program(settings_.autosign);
    };
    http::RouteOptions many{.max_body = kMaxListBody};
    http::RouteOptions lists{.max_body = kMaxCrlBody};
    add(router, "GET", "/certificate/{name}", &CaRole::certificate);
    add(router, "GET", "/certificate_request/{name}", &CaRole::get_request);
    add(router, "PUT", "/certificate_request/{name}", &CaRole::put_request, submission);
    add(router, "DELETE", "/certificate_request/{name}", &CaRole::delete_request);
    add(router, "GET", "/certificate_status/{name}", &CaRole::get_status);
    add(router, "PUT", "/certificate_status/{name}", &CaRole::put_status, some);
    add(router, "DELETE", "/certificate_status/{name}", &CaRole::delete_status);
    add(router, "GET", "/certificate_statuses/{any}", &CaRole::statuses);
    add(router, "GET", "/certificate_statuses/", &CaRole::statuses);
    add(router, "GET", "/certificate_revocation_list/{any}", &CaRole::get_crl);
    add(router, "PUT", "/certificate_revocation_list", &CaRole::put_crl, lists);
    add(router, "GET", "/expirations", &CaRole::expirations);
    add(router, "PUT", "/clean", &CaRole::clean, many);
    add(router, "POST", "/certificate_renewal", &CaRole::renew, some);
    add(router, "POST", "/sign", &CaRole::sign_some, many);
    add(router, "POST", "/sign/all", &CaRole::sign_all, many);
    // For other methods, clients without permission get 403, and not 404 or 405.
    for (const char* pattern :
         {"/certificate_statuses/", "/certificate/{name}", "/certificate_request/{name}",
          "/certificate_revocation_list/{any}", "/certificate_revocation_list", "/expirations",
          "/clean", "/certificate_renewal", "/sign", "/sign/all", "/{rest*}"}) {
        add(router, "*", pattern, &CaRole::unknown_route);
    }
    for (const char* pattern : {"/certificate_status/{name}", "/certificate_statuses/{any}"})
        add(router, "*", pattern, &CaRole::other_method);
    for (const char* path : {"/puppet-ca", "/puppet-ca/{rest*}"}) {
        router.add("*", path, context_.authorization->access(),
                   [](Request&) { return Response::text(404, "Not Found"); });
    }
}

Response CaRole::file_if_modified(Request& request, const std::string& path) {
    auto& files = sys::disk();
    auto status = files.stat(path);
    auto text = status ? files.read(path) : Result<std::string>(std::unexpected(status.error()));
    if (!text) return wrong(text.error());
    const auto changed = status->mtime_ns / 1'000'000'000;
    const auto known = http::parse_http_date(request.headers.get("If-Modified-Since"));
    if (known && changed <= *known) return plain(304, "");
    auto out = plain(200, *text);
    out.headers.set("Last-Modified", http::http_date(changed));
    return out;
}

Response CaRole::certificate(Request& request) {
    const std::string name(request.param("name"));
    if (name == "ca" && sys::disk().exists(settings_.paths.cacert))
        return file_if_modified(request, settings_.paths.cacert);
    Result<std::string> text = base::failure("", ENOENT);
    if (name != "ca" && is_file_name(name)) {
        text = authority()->certificate_text(name);
    }
    if (!text && text.error().code != ENOENT) return wrong(text.error());
    if (!text) return plain(404, "Could not find certificate " + name);
    return plain(200, *text);
}

Response CaRole::get_request(Request& request) {
    const std::string name(request.param("name"));
    Result<std::string> text = base::failure("", ENOENT);
    if (is_file_name(name)) text = authority()->request_text(name);
    if (!text && text.error().code != ENOENT) return wrong(text.error());
    if (!text) return plain(404, "Could not find certificate_request " + name);
    return plain(200, *text);
}

Response CaRole::put_request(Request& request) {
    const std::string name(request.param("name"));
    const auto refuse = [&](const std::string& why) {
        log_.log(Level::Err, why);
        return Response::text(400, why);
    };
    if (!one_object(request.body)) return refuse("The PEM stream contains more than one object");
    auto asked = pki::Request::from_pem(request.body, "The body");
    if (!asked) return refuse(asked.error().message);
    const auto subject = asked->common_name();
    std::string waits;  // Reason for a refusal, unless the request is signed automatically.
    {
        std::lock_guard lock(mutex_);
        // Like puppetserver, reports that a name is taken before it checks whether the name is
        // valid.
        if (!pki::name_problem(subject, subject)) {
            const bool has_certificate = authority()->has_certificate(subject);
            if (has_certificate || authority()->has_request(subject)) {
                std::string state = "requested";
                if (has_certificate) {
                    auto status = authority()->status(subject);
                    if (!status) return wrong(status.error());
                    state = state_name(status->state);
                }
                const bool allowed = settings_.allow_duplicate_certs;
                const auto known = fmt::format(
                    "{} already has a {} certificate; {}", subject, state,
                    allowed ? "new certificate will overwrite it" : "ignoring certificate request");
                if (allowed) {
                    log_.log(Level::Info, known);
                } else if (auto kept = authority()->read_request(subject);
                           !has_certificate && kept && asked->is_signed() &&
                           EVP_PKEY_eq(kept->public_key(), asked->public_key()) == 1) {
                    // The same key was submitted again. The server may have stopped before it
                    // signed the first request.
                    waits = known;
                    asked = std::move(kept);
                } else {
                    return refuse(known);
                }
            }
        }
        if (auto problem = pki::name_problem(name, subject)) return refuse(*problem);
        if (!asked->is_signed()) {
            return refuse("CSR contains a public key that does not correspond to the signing key");
        }
        if (auto problem = pki::key_problem(*asked)) return refuse(*problem);
        if (waits.empty()) {
            if (auto saved = authority()->save_request(subject, *asked); !saved)
                return wrong(saved.error());
        }
    }
    if (waits.empty())
        log_.log(Level::Notice, fmt::format("{} has a waiting certificate request", subject));
    if (autosigns(settings_.autosign, subject, *asked, *processes_, log_)) {
        // Signs exactly the approved request, because another one may be waiting under the name by
        // now.
        if (auto problem = sign_request(subject, *asked, settings_.ca_ttl)) return refuse(*problem);
    } else if (!waits.empty()) {
        return refuse(waits);
    }
    return plain(200, "");
}

std::optional<std::string> CaRole::sign_waiting(const std::string& name, std::int64_t ttl) {
    auto request = authority()->read_request(name);
    if (!request) return request.error().message;
    return sign_request(name, *request, ttl);
}

std::optional<std::string> CaRole::sign_request(const std::string& name,
                                                const pki::Request& request, std::int64_t ttl) {
    if (auto problem = pki::name_problem(name, request.common_name())) return problem;
    if (auto problem = pki::signing_problem(request, settings_.rules)) return problem;
    std::lock_guard lock(mutex_);
    auto made = authority()->sign(name, request, ttl);
    if (!made) return made.error().message;
    signed_->add();
    log_.log(Level::Notice, fmt::format("Signed certificate request for {}", name));
    return std::nullopt;
}

Response CaRole::delete_request(Request& request) {
    const std::string name(request.param("name"));
    auto gone = is_file_name(name) ? authority()->delete_request(name) : Result<bool>(false);
    if (!gone) return wrong(gone.error());
    if (*gone) {
        auto out = plain(204, "");
        return out;
    }
    const auto text = fmt::format("No certificate request for {} at expected path {}", name,
                                  settings_.paths.request_of(name));
    log_.log(Level::Warning, text);
    return plain(404, text);
}

Response CaRole::get_status(Request& request) {
    const std::string name(request.param("name"));
    if (auto refused = refused_accept(request)) return std::move(*refused);
    if (!is_file_name(name) ||
        !(authority()->has_certificate(name) || authority()->has_request(name))) {
        return plain(404, "Resource not found.");
    }
    auto status = authority()->status(name);
    if (!status) return wrong(status.error());
    return status_answer(request, status_json(*status));
}

Response CaRole::put_status(Request& request) {
    const std::string name(request.param("name"));
    auto status_request = read_status_request(request, name);
    if (status_request.status != 0)
        return Response::text(status_request.status, status_request.message);
    const bool can_revoke = is_file_name(name) && authority()->can_revoke(name);
    if (!is_file_name(name) || !(can_revoke || authority()->has_request(name)))
        return Response::text(404, "Invalid certificate subject.");
    if (status_request.revoke) {
        if (!can_revoke) {
            return Response::text(
                409,
                fmt::format("Cannot revoke certificate for host {} without a signed certificate",
                            name));
        }
        if (auto done = revoke({name}); !done) return wrong(done.error());
        return plain(204, "");
    }
    if (!authority()->has_request(name)) {
        return Response::text(
            409,
            fmt::format("Cannot sign certificate for host {} without a certificate request", name));
    }
    if (auto problem = sign_waiting(name, status_request.ttl.value_or(settings_.ca_ttl)))
        return Response::text(409, *problem);
    return plain(204, "");
}

Response CaRole::delete_status(Request& request) {
    const std::string name(request.param("name"));
    if (!is_file_name(name)) return plain(404, "Resource not found.");
    auto certificate = authority()->delete_certificate(name);
    auto asked = authority()->delete_request(name);
    if (!certificate || !asked) return wrong(certificate ? asked.error() : certificate.error());
    if (!*certificate && !*asked) return plain(404, "Resource not found.");
    log_.log(Level::Info, fmt::format("Deleted all files of {}", name));
    return plain(204, "");
}

Response CaRole::statuses(Request& request) {
    if (request.param("any").empty()) return Response::text(400, "Missing URL Segment");
    if (auto refused = refused_accept(request)) return std::move(*refused);
    const auto* state = request.query_value("state");
    const bool known =
        state && (*state == "requested" || *state == "signed" || *state == "revoked");
    auto all = authority()->statuses(listed_in(known ? std::string_view(*state) : ""));
    if (!all) return wrong(all.error());
    std::string out = "[";
    for (const auto& status : *all) {
        if (known && state_name(status.state) != *state) continue;
        out += (out.size() > 1 ? "," : "") + status_json(status);
    }
    return status_answer(request, out + "]");
}

Response CaRole::get_crl(Request& request) {
    return file_if_modified(request, settings_.served_crl());
}

Response CaRole::put_crl(Request& request) {
    auto lists = pki::parse_crls(request.body, "The body");
    if (!lists) {
        log_.log(Level::Info, "No valid CRLs submitted, nothing will be updated.");
        return Response::text(400, "No valid CRLs submitted.");
    }
    if (auto done = authority()->update_crls(*lists); !done) {
        log_.log(Level::Err, done.error().message);
        return Response::text(400, done.error().message);
    }
    crl_changed();
    return Response::text(200, "Successfully updated CRLs.");
}

Response CaRole::expirations(Request&) {
    std::string certificates, lists;
    std::set<std::string> seen;
    const auto ca = authority();
    for (const auto& c : ca->bundle()) {
        if (!seen.insert(c.common_name()).second) continue;
        certificates +=
            fmt::format("{}{}:\"{}\"", certificates.empty() ? "" : ",",
                        codec::json_string(c.common_name()), pki::puppet_time(c.not_after()));
    }
    auto all = ca->crls();
    if (!all) return wrong(all.error());
    seen.clear();
    for (const auto& crl : *all) {
        const auto facts = pki::facts_of(crl);
        if (!seen.insert(facts.issuer_name).second) continue;
        lists +=
            fmt::format("{}{}:\"{}\"", lists.empty() ? "" : ",",
                        codec::json_string(facts.issuer_name), pki::puppet_time(facts.next_update));
    }
    auto out = Response::json(
        200, fmt::format("{{\"ca-certs\":{{{}}},\"crls\":{{{}}}}}", certificates, lists));
    out.headers.set("Content-Type", "application/json");
    return out;
}

Response CaRole::clean(Request& request) {
    auto list = read_ca_names(request.body);
    if (auto bad = refusal(list, "clean")) return std::move(*bad);
    std::vector<std::string> there;
    std::string missing;
    for (const auto& name : list.names) {
        if (is_file_name(name) && authority()->can_revoke(name)) {
            there.push_back(name);
        } else {
            // A vector in Clojure's notation.
            missing += (missing.empty() ? "" : " ") + codec::json_string(name);
        }
    }
    const auto failed = [&](const base::Error& error) {
        log_.log(Level::Err, error.message);
        return plain(500, "Error while cleaning certs: " + error.message);
    };
    if (!there.empty()) {
        if (auto done = revoke(there, pki::AuthorityFolder::Files::Delete); !done)
            return failed(done.error());
    }
    if (missing.empty()) return plain(200, "Successfully cleaned all certs.");
    return plain(
        200, fmt::format("The following certs do not exist and cannot be revoked: [{}]", missing));
}

Response CaRole::renew(Request& request) {
    if (!settings_.allow_auto_renewal) return plain(404, "Not Found");
    const auto who = context_.authorization->current()->caller(request);
    if (!who || !who->itself) return plain(400, "No certificate found in renewal request");
    const auto& old = *who->itself;
    auto lists = authority()->crls();
    if (!lists) return wrong(lists.error());
    const auto verified =
        pki::verify(old, authority()->bundle(), *lists, pki::RevocationCheck::Chain);
    const bool ours =
        verified.good() && verified.chain.size() > 1 && authority()->is_ours(verified.chain[1]);
    if (!ours) {
        log_.log(Level::Info, "Certificate present, but does not match signature");
        return plain(403, "Certificate present, but does not match signature");
    }
    const auto name = old.common_name();
    if (pki::name_problem(name, name)) return plain(400, "Subject hostname format is invalid");
    std::lock_guard lock(mutex_);
    auto made = authority()->renew(old, settings_.auto_renewal_ttl.value_or(settings_.ca_ttl));
    if (!made && made.error().code == EACCES) {
        log_.log(Level::Info, made.error().message);
        return plain(403, made.error().message);
    }
    if (!made) return wrong(made.error());
    signed_->add();
    log_.log(Level::Notice, fmt::format("Renewed certificate for \"{}\" with new expiration of "
                                        "\"{}\"",
                                        name, pki::puppet_time(made->not_after())));
    return plain(200, made->pem());
}

Response CaRole::sign_names(const std::vector<std::string>& names) {
    std::string done, missing, failed;
    const auto note = [](std::string& list, const std::string& name) {
        list += (list.empty() ? "" : ",") + codec::json_string(name);
    };
    for (const auto& name : names) {
        if (!is_file_name(name) || !authority()->has_request(name)) {
            note(missing, name);
        } else if (auto problem = sign_waiting(name, settings_.ca_ttl)) {
            log_.log(Level::Err, *problem);
            note(failed, name);
        } else {
            note(done, name);
        }
    }
    return Response::json(
        200, fmt::format("{{\"signed\":[{}],\"no-csr\":[{}],\"signing-errors\":[{}]}}", done,
                         missing, failed));
}

Response CaRole::sign_some(Request& request) {
    auto list = read_ca_names(request.body);
    if (auto bad = refusal(list, "sign")) return std::move(*bad);
    return sign_names(list.names);
}

Response CaRole::sign_all(Request&) {
    auto waiting = authority()->statuses(pki::AuthorityFolder::Listed::Requests);
    if (!waiting) return wrong(waiting.error());
    std::vector<std::string> names;
    for (const auto& status : *waiting) names.push_back(status.name);
    return sign_names(names);
}

Result<std::size_t> CaRole::revoke(const std::vector<std::string>& names,
                                   pki::AuthorityFolder::Files files) {
    auto count = BUNRAKU_TRY(authority()->revoke(names, files));
    if (count == 0) {
        log_.log(Level::Info, "No revoke action needed. The certs are already in the CRL.");
        return count;
    }
    revoked_->add(count);
    std::string list;
    for (const auto& name : names) list += (list.empty() ? "" : ", ") + name;
    log_.log(Level::Notice,
             fmt::format("Revoked {} certificate{}: {}", count, count == 1 ? "" : "s", list));
    crl_changed();
    return count;
}

Result<std::optional<pki::CertificateStatus>> CaRole::find(const std::string& name) {
    const auto ca = authority();
    if (!is_file_name(name) || !(ca->has_certificate(name) || ca->has_request(name)))
        return std::nullopt;
    return BUNRAKU_TRY(ca->status(name));
}

Result<void> CaRole::sign_one(const std::string& name, const std::string& fingerprint) {
    if (!is_file_name(name) || !authority()->has_request(name))
        return base::failure(fmt::format("No request of {} is waiting", name), ENOENT);
    const auto request = BUNRAKU_TRY(authority()->read_request(name));
    if (request.fingerprint() != fingerprint)
        return base::failure(fmt::format("Another request of {} is waiting now", name), ENOENT);
    if (auto problem = sign_request(name, request, settings_.ca_ttl))
        return base::failure(*problem);
    return {};
}

Result<void> CaRole::revoke_one(const std::string& name) {
    if (!is_file_name(name) || !authority()->can_revoke(name))
        return base::failure(fmt::format("{} has no certificate to revoke", name), ENOENT);
    BUNRAKU_TRY(revoke({name}));
    return {};
}

Result<void> CaRole::clean_one(const std::string& name) {
    if (!is_file_name(name)) return base::failure("Invalid name", ENOENT);
    if (authority()->can_revoke(name)) {
        BUNRAKU_TRY(revoke({name}, pki::AuthorityFolder::Files::Delete));
        return {};
    }
    // Only a request is waiting, or there is nothing.
    if (BUNRAKU_TRY(authority()->delete_request(name))) return {};
    return base::failure(fmt::format("{} has neither a certificate nor a request", name), ENOENT);
}

std::int64_t CaRole::crl_stamp() const {
    auto& files = sys::disk();
    std::uint64_t out = 0;
    for (const auto* path :
         {&settings_.paths.cacrl, &settings_.paths.cacert, &settings_.paths.cakey}) {
        auto status = files.stat(*path);
        out = out * 31 + (status ? static_cast<std::uint64_t>(status->mtime_ns) : 0);
    }
    return static_cast<std::int64_t>(out);
}

void CaRole::open_again() {
    auto* runtime = &context_.runtime;
    auto opened = pki::AuthorityFolder::open(
        settings_.paths, [runtime] { return runtime->now_ns() / 1'000'000'000; });
    if (!opened) {
        log_.log(Level::Err, fmt::format("The certificate authority was changed and cannot be "
                                         "used as it is: {}",
                                         opened.error().message));
        return;
    }
    auto fresh = std::make_shared<const pki::AuthorityFolder>(std::move(*opened));
    std::lock_guard lock(authority_mutex_);
    if (!(fresh->certificate() == authority_->certificate())) {
        log_.log(Level::Notice, fmt::format("Certificates are signed by {} now",
                                            fresh->certificate().common_name()));
    }
    authority_ = std::move(fresh);
}

void CaRole::crl_changed() {
    std::lock_guard lock(crl_mutex_);
    last_crl_ = crl_stamp();
    auto published = publish_authority(context_.settings, settings_.paths);
    Result<void> reloaded;
    if (published && context_.reload_certificates) reloaded = context_.reload_certificates();
    if (published && reloaded) return;
    log_.log(Level::Err, fmt::format("Recent changes to the CRL may not have taken effect: {}",
                                     (published ? reloaded.error() : published.error()).message));
}

void CaRole::look_for_changes() {
    bool changed = false;
    {
        std::lock_guard lock(crl_mutex_);
        changed = crl_stamp() != last_crl_;
    }
    // Another process has changed it: `bunraku ca` or puppetserver's.
    if (changed) {
        open_again();
        crl_changed();
    }
}

void CaRole::maintain_now() {
    auto kept = maintain(context_.settings, settings_, *authority(),
                         context_.runtime.now_ns() / 1'000'000'000);
    if (!kept) {
        log_.log(Level::Err, fmt::format("The maintenance of the certificate authority failed: {}",
                                         kept.error().message));
    } else {
        for (const auto& line : kept->done) log_.log(Level::Notice, line);
        for (const auto& line : kept->warnings) log_.log(Level::Warning, line);
        if (kept->rolled) open_again();
        if (kept->lists > 0 || kept->server_certificate || kept->rolled) crl_changed();
    }
    if (settings_.enable_infra_crl) (void)authority()->write_infra_serials();
    (void)context_.aside.post_after(kMaintenanceInterval, [this] { maintain_now(); });
}

}  // namespace

Result<std::unique_ptr<Role>> make_ca_role(Context& context) {
    auto settings = BUNRAKU_TRY(read_ca_settings(context.settings));
    auto* runtime = &context.runtime;
    auto* log = &context.log;
    auto authority = BUNRAKU_TRY(ensure_authority(
        context.settings, settings, [runtime] { return runtime->now_ns() / 1'000'000'000; },
        [log](const std::string& line) { log->log(Level::Notice, line); }));
    // Maintenance runs before the files are used.
    if (auto kept =
            maintain(context.settings, settings, authority, runtime->now_ns() / 1'000'000'000);
        !kept) {
        log->log(Level::Err, kept.error().message);
    } else {
        for (const auto& line : kept->done) log->log(Level::Notice, line);
        for (const auto& line : kept->warnings) log->log(Level::Warning, line);
        if (kept->rolled) {
            authority = BUNRAKU_TRY(pki::AuthorityFolder::open(
                settings.paths, [runtime] { return runtime->now_ns() / 1'000'000'000; }));
        }
        (void)BUNRAKU_TRY(publish_authority(context.settings, settings.paths));
    }
    if (settings.enable_infra_crl) (void)BUNRAKU_TRY(authority.write_infra_serials());
    auto role = std::make_unique<CaRole>(context, std::move(settings), std::move(authority));
    context.ca = role.get();
    return std::unique_ptr<Role>(std::move(role));
}

}  // namespace bunraku::server
