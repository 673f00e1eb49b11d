// SPDX-License-Identifier: Apache-2.0
// `ssl`: manages this machine's own key and certificate, like `puppet ssl`. The messages are those
// of Puppet 8.11 and, for renew_cert, OpenVox 8.26 (application/ssl.rb).
#include <cstdio>
#include <fmt/format.h>
#include <optional>
#include <unistd.h>

#include "cli/actions.h"
#include "cli/command.h"
#include "core/base/civil_time.h"
#include "core/base/number.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/config/munge.h"
#include "net/pki/authority_folder.h"
#include "services/agent/ssl.h"
#include "services/agent/ssl_store.h"

namespace bunraku::cli {

namespace {

using agent::SslStore;
using agent::Trust;
using base::failure;
using base::Level;
using base::Result;

std::string described(const pki::Certificate& certificate) {
    const auto text = [](const std::string& t) { return codec::json_string(t); };
    std::string names;
    for (const auto& name : certificate.alternative_names())
        names += (names.empty() ? "" : ", ") + text(name);
    return fmt::format(
        "{{\n  \"name\": {},\n  \"subject\": {},\n  \"issuer\": {},\n  \"serial_number\": {},\n"
        "  \"not_before\": \"{}\",\n  \"not_after\": \"{}\",\n  \"fingerprints\": {{\"SHA256\": "
        "\"{}\"}},\n  \"subject_alt_names\": [{}]\n}}\n",
        text(certificate.common_name()), text(certificate.subject_utf8()),
        text(certificate.issuer_utf8()), certificate.serial_decimal(),
        pki::puppet_time(certificate.not_before()), pki::puppet_time(certificate.not_after()),
        certificate.fingerprint(), names);
}

/// One run of an action.
class SslAction {
public:
    SslAction(const config::Settings& settings, base::LogSink& log, sys::System& system)
        : settings_(settings),
          log_(log),
          system_(system),
          store_(settings, log, system),
          client_(settings, log, store_, "", nullptr, {}) {}
    Result<void> bootstrap();
    Result<void> submit();
    Result<void> download();
    Result<void> generate();
    /// Renews the certificate. With `within`, only if it expires within that number of seconds.
    Result<void> renew(std::optional<std::int64_t> within);
    Result<void> verify();
    Result<void> clean(bool authorities);
    Result<void> show(bool json);

private:
    const std::string& name() const { return store_.certname(); }
    agent::SslOptions options() {
        agent::SslOptions out{settings_, log_, system_};
        out.print = [](const std::string& line) {
            fmt::print("{}\n", line);
            std::fflush(stdout);
        };
        return out;
    }
    Result<pki::PrivateKey> key();
    Result<pki::Request> request();
    /// Returns false if the certificate is not signed yet.
    Result<bool> fetch();
    Result<bool> try_fetch();
    Result<void> check_cleaned();
    Result<void> try_renew(std::optional<std::int64_t> within);
    /// Verifies a new certificate, saves it and deletes its request.
    Result<void> accept(const pki::PrivateKey& key, const pki::Certificate& certificate);

    const config::Settings& settings_;
    base::LogSink& log_;
    sys::System& system_;
    SslStore store_;
    agent::AuthorityClient client_;
};

Result<void> SslAction::bootstrap() {
    (void)BUNRAKU_TRY(agent::ensure_ssl(options()));
    log_.log(Level::Notice, "Completed SSL initialization");
    return {};
}

Result<pki::PrivateKey> SslAction::key() {
    if (auto there = BUNRAKU_TRY(store_.key())) return std::move(*there);
    auto fresh = BUNRAKU_TRY(store_.make_key("SSL"));
    BUNRAKU_TRY_VOID(store_.save_key(fresh));
    return fresh;
}

Result<pki::Request> SslAction::request() { return store_.make_request(BUNRAKU_TRY(key())); }

Result<void> SslAction::submit() {
    (void)BUNRAKU_TRY(agent::ensure_authorities(options()));
    const auto send = [&]() -> Result<int> {
        auto asked = BUNRAKU_TRY(request());
        auto answer =
            BUNRAKU_TRY(client_.put("/certificate_request/" + name(), asked.pem(), Trust::Lists));
        if (answer.status == 400) return 400;
        if (!answer.good()) return failure(answer.reason);
        BUNRAKU_TRY_VOID(store_.save_request(asked));
        return answer.status;
    };
    auto sent = send();
    if (!sent) return failure("Failed to submit certificate request: " + sent.error().message);
    if (*sent == 400) {
        return failure(
            fmt::format("Could not submit certificate request for '{}' to {} due to a "
                        "conflict on the server",
                        name(), client_.url()));
    }
    log_.log(Level::Notice,
             fmt::format("Submitted certificate request for '{}' to {}", name(), client_.url()));
    if (!BUNRAKU_TRY(fetch())) {
        log_.log(Level::Info,
                 fmt::format("The certificate for '{}' has not yet been signed", name()));
    }
    return {};
}

Result<void> SslAction::download() {
    (void)BUNRAKU_TRY(agent::ensure_authorities(options()));
    if (BUNRAKU_TRY(fetch())) return {};
    return failure(fmt::format("The certificate for '{}' has not yet been signed", name()));
}

Result<bool> SslAction::fetch() {
    auto done = try_fetch();
    if (!done) return failure("Failed to download certificate: " + done.error().message);
    return done;
}

Result<bool> SslAction::try_fetch() {
    auto own = BUNRAKU_TRY(store_.key());
    log_.log(Level::Info,
             fmt::format("Downloading certificate '{}' from {}", name(), client_.url()));
    auto answer = BUNRAKU_TRY(client_.get("/certificate/" + name(), Trust::Lists));
    if (answer.status == 404) return false;
    if (!answer.good()) return failure(answer.reason);
    auto certificate = BUNRAKU_TRY(pki::Certificate::from_pem(answer.body, "The answer"));
    log_.log(Level::Notice, fmt::format("Downloaded certificate '{}' with fingerprint {}", name(),
                                        agent::digest_text(certificate)));
    if (!own) return failure("Private key is missing");
    BUNRAKU_TRY_VOID(accept(*own, certificate));
    return true;
}

Result<void> SslAction::accept(const pki::PrivateKey& key, const pki::Certificate& certificate) {
    std::vector<pki::Crl> lists;
    if (store_.revocation() != pki::RevocationCheck::None) {
        if (auto there = BUNRAKU_TRY(store_.crls())) lists = std::move(*there);
    }
    auto trusted = BUNRAKU_TRY(store_.authorities());
    if (!trusted) return failure("CA certs are missing");
    (void)BUNRAKU_TRY(store_.check(*trusted, lists, key, certificate));
    BUNRAKU_TRY_VOID(store_.save_certificate(certificate));
    store_.delete_request();
    return {};
}

Result<void> SslAction::renew(std::optional<std::int64_t> within) {
    if (auto done = try_renew(within); !done)
        return failure("Failed to renew certificate: " + done.error().message);
    return {};
}

Result<void> SslAction::try_renew(std::optional<std::int64_t> within) {
    const auto chain = BUNRAKU_TRY(store_.check_all());
    const std::int64_t ends = chain.front().not_after();
    const std::int64_t now = system_.clock.now_ns() / 1'000'000'000;
    if (within && ends - now > *within) {
        log_.log(Level::Info, fmt::format("Certificate '{}' is still valid until {}", name(),
                                          base::iso_text(base::civil_time(ends), 0, " UTC", ' ')));
        return {};
    }
    log_.log(Level::Debug, fmt::format("Renewing certificate '{}'", name()));
    auto answer = BUNRAKU_TRY(client_.post("/certificate_renewal", Trust::Mutual));
    if (!answer.good()) {
        const std::string_view body = base::trim(answer.body);
        return failure(
            fmt::format("{} {}{}{}", answer.status, answer.reason, body.empty() ? "" : ": ", body));
    }
    auto certificate = BUNRAKU_TRY(pki::Certificate::from_pem(answer.body, "The answer"));
    log_.log(Level::Notice, fmt::format("Downloaded certificate '{}' with fingerprint {}", name(),
                                        agent::digest_text(certificate)));
    auto key = BUNRAKU_TRY(store_.key());
    if (!key) return failure("Private key is missing");
    return accept(*key, certificate);
}

Result<void> SslAction::generate() {
    const auto make = [&]() -> Result<void> { return store_.save_request(BUNRAKU_TRY(request())); };
    if (auto made = make(); !made)
        return failure("Failed to generate certificate request: " + made.error().message);
    log_.log(Level::Notice,
             fmt::format("Generated certificate request in '{}'", store_.request_path()));
    return {};
}

Result<void> SslAction::verify() {
    auto chain = BUNRAKU_TRY(store_.check_all());
    for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
        log_.log(Level::Notice, fmt::format("Verified {} certificate '{}' fingerprint {}",
                                            it + 1 == chain.rend() ? "client" : "CA",
                                            it->subject_utf8(), agent::digest_text(*it)));
    }
    return {};
}

Result<void> SslAction::show(bool json) {
    (void)BUNRAKU_TRY(store_.check_all());
    auto certificate = BUNRAKU_TRY(store_.certificate());
    if (certificate) fmt::print("{}", json ? described(*certificate) : certificate->text());
    return {};
}

/// Fails if this machine is the CA server and its certificate has not been cleaned, because it
/// would get the old certificate again.
Result<void> SslAction::check_cleaned() {
    if (name() != settings_.text("ca_server")) return {};
    const auto unknown = [&] {
        return failure(
            fmt::format("Failed to connect to the CA to determine if certificate {} "
                        "has been cleaned",
                        name()));
    };
    if (!agent::ensure_authorities(options())) return unknown();
    auto answer = client_.get("/certificate/" + name(), Trust::Lists);
    if (!answer || (answer->status != 404 && !answer->good())) return unknown();
    if (answer->status == 404) return {};
    return failure(
        fmt::format("The certificate {0} must be cleaned from the CA first. To fix this,\n"
                    "run the following commands on the CA:\n"
                    "  puppetserver ca clean --certname {0}\n"
                    "  puppet ssl clean\n",
                    name()));
}

Result<void> SslAction::clean(bool authorities) {
    BUNRAKU_TRY_VOID(check_cleaned());
    struct Part {
        const char *what, *setting;
        bool authority = false;
    };
    constexpr Part kParts[] = {{"private key", "hostprivkey"},
                               {"public key", "hostpubkey"},
                               {"certificate request", "hostcsr"},
                               {"certificate", "hostcert"},
                               {"private key password file", "passfile"},
                               {"local CA certificate", "localcacert", true},
                               {"local CRL", "hostcrl", true}};
    for (const auto& part : kParts) {
        if (part.authority && !authorities) continue;
        const auto path = settings_.text(std::string_view(part.setting));
        if (path.empty() || !system_.files.exists(path)) continue;
        BUNRAKU_TRY_VOID(system_.files.remove(path));
        log_.log(Level::Notice, fmt::format("Removed {} {}", part.what, path));
    }
    return {};
}

/// The options of the actions.
struct SslFlags {
    bool authorities = false, json = false;
    std::optional<std::int64_t> expiring_in;  ///< seconds
};

Result<void> run_ssl_action(SslAction& ssl, const std::vector<std::string>& words,
                            const SslFlags& flags) {
    std::vector<std::string> rest;
    const auto action = take_action(words, rest);
    if (words.empty()) return failure("An action must be specified.");
    if (action == "bootstrap") return ssl.bootstrap();
    if (action == "submit_request") return ssl.submit();
    if (action == "download_cert") return ssl.download();
    if (action == "generate_request") return ssl.generate();
    if (action == "verify") return ssl.verify();
    if (action == "show") return ssl.show(flags.json);
    if (action == "renew_cert") return ssl.renew(flags.expiring_in);
    if (action != "clean") return failure(fmt::format("Unknown action '{}'", action));
    if (!rest.empty()) {
        return failure(
            fmt::format("Extra arguments detected: {}\n"
                        "Did you mean to run:\n"
                        "  puppetserver ca clean --certname <name>\n"
                        "Or:\n"
                        "  puppet ssl clean --target <name>\n",
                        fmt::join(rest, " ")));
    }
    return ssl.clean(flags.authorities);
}

int run_ssl(Invocation& invocation) {
    OptionParser options(invocation);
    std::string target, expiring_in;
    SslFlags flags;
    options.flag("json", &flags.json);
    options.value("target", &target);
    options.flag("localca", &flags.authorities);
    options.value("if-expiring-in", &expiring_in);
    std::vector<std::string> words;
    if (!options.parse(&words)) return options.exit_code();
    auto& settings = invocation.settings;
    if (!target.empty()) {
        const auto folder = settings.text("devicedir") + "/" + target;
        settings.set("certname", target);
        settings.set("confdir", folder);
        settings.set("vardir", folder);
    }
    if (!words.empty() && words[0] == "bootstrap" && options.log_level != Level::Debug)
        options.log_level = Level::Info;
    auto sink = make_console_sink(options, Streams::Puppet);
    if (!expiring_in.empty()) {
        const auto seconds = config::duration_seconds(expiring_in);
        if (!seconds) {
            report_error(*sink,
                         base::plain_error("Could not parse application options: Invalid duration "
                                           "format: " +
                                           expiring_in),
                         "");
            return 1;
        }
        flags.expiring_in = base::parse_integer<std::int64_t>(*seconds);
    }
    sys::RealSystem real;
    SslAction ssl(settings, *sink, real.system());
    auto done = run_ssl_action(ssl, words, flags);
    if (done) return 0;
    if (done.error().code != agent::kGaveUpWaiting)
        report_error(*sink, base::plain_error("Could not run: " + done.error().message), "");
    return 1;
}

}  // namespace

BUNRAKU_COMMAND(ssl){.name = "ssl",
                     .summary = "Get, check, show and remove this machine's certificate.",
                     .run = run_ssl,
                     .run_mode = "agent",
                     .system_errors = SystemErrors::Puppet};

}  // namespace bunraku::cli
