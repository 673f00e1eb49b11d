// SPDX-License-Identifier: Apache-2.0
#include "services/agent/ssl.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <limits>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/sys/lock.h"
#include "services/agent/ssl_store.h"

namespace bunraku::agent {

using base::failure;
using base::Level;
using base::Result;

void SslFiles::use(http::ClientOptions& options) const {
    options.ca_file = ca_file;
    options.crl_file = crl_file;
    options.crl_leaf_only = crl_leaf_only;
    options.certificate_file = certificate_file;
    options.private_key_file = private_key_file;
    options.verify = true;
}

namespace {

constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kSecond = 1'000'000'000;

/// Returns "2031-11-22 22:51:57 UTC", the format in which Ruby prints the times of certificates.
std::string utc_text(std::int64_t seconds) {
    auto text = sys::iso8601_utc(seconds * kSecond, 0);
    text[10] = ' ';
    text.pop_back();
    return text + " UTC";
}

/// The states and their order are those of Puppet.
class SslMachine {
public:
    SslMachine(const SslOptions& options, bool authorities_only)
        : options_(options),
          settings_(options.settings),
          log_(options.log),
          store_(options.settings, options.log, options.system),
          client_(options.settings, options.log, store_, options.authority, options.network,
                  options.stopped),
          lock_(options.settings.text("ssl_lockfile")),
          authorities_only_(authorities_only) {
        wait_ = options.waitforcert_seconds.value_or(settings_.integer("waitforcert"));
        wait_until_ = until("maxwaitforcert");
        lock_until_ = until("maxwaitforlock");
    }
    Result<SslFiles> run();

private:
    enum class State : std::uint8_t { Lock, Authorities, Lists, Key, Submit, Fetch, Renew, Done };
    /// Runs a state and returns the next one. Errors have Puppet's text.
    Result<State> step(State state);
    Result<State> lock();
    Result<State> authorities();
    Result<State> lists();
    Result<State> key();
    Result<State> submit();
    Result<State> fetch();
    Result<State> renew();
    enum class Renewal : std::uint8_t { None, Early, Due };
    Renewal renewal_of(const pki::Certificate& certificate);
    /// Waits for the next attempt. Returns an error if waiting is not allowed or the time limit is
    /// exceeded.
    Result<void> wait();
    Result<void> sleep(std::int64_t seconds);

    std::int64_t now() { return options_.system.clock.now_ns() / kSecond; }
    std::int64_t until(config::SettingName setting) {
        const auto seconds = base::parse_integer<std::int64_t>(settings_.text(setting));
        return seconds && *seconds >= 0 ? now() + *seconds : kForever;
    }
    void info(const std::string& text) { log_.log(Level::Info, text); }
    void print(const std::string& line) {
        if (options_.print) {
            options_.print(line);
        } else {
            log_.log(Level::Notice, line);
        }
    }
    /// A daemonized agent has no standard output, so the line is logged.
    Result<void> give_up(const std::string& line) {
        if (settings_.boolean("daemonize") || !options_.print) {
            log_.log(Level::Err, line);
        } else {
            options_.print(line);
        }
        return failure(line, kGaveUpWaiting);
    }
    bool is_old(const std::string& path, config::SettingName interval) {
        const auto changed = store_.changed(path);
        return changed == 0 || now() > changed + settings_.integer(interval);
    }

    const SslOptions& options_;
    const config::Settings& settings_;
    base::LogSink& log_;
    SslStore store_;
    AuthorityClient client_;
    sys::PidLock lock_;
    bool authorities_only_;
    Renewal renewal_ = Renewal::None;
    bool locked_ = false, refresh_lists_ = false, not_signed_ = false;
    std::int64_t wait_ = 0, wait_until_ = 0, lock_until_ = 0;
    std::vector<pki::Certificate> trusted_;
    std::vector<pki::Crl> crls_;
    std::optional<pki::PrivateKey> private_key_;
};

Result<SslFiles> SslMachine::run() {
    const bool onetime = options_.onetime.value_or(settings_.boolean("onetime"));
    State state = State::Lock;
    while (state != State::Done) {
        if (authorities_only_ && state == State::Key) break;
        if (options_.stopped && options_.stopped()) return failure("Stopped", ECANCELED);
        not_signed_ = false;
        auto next = step(state);
        if (next && !not_signed_) {
            BUNRAKU_ASSERT(*next > state);
            state = *next;
            continue;
        }
        if (!next) {
            if (next.error().code == ECANCELED) return std::unexpected(next.error());
            if (state == State::Lock) return std::unexpected(next.error());
            log_.log(Level::Err, next.error().message);
            if (onetime) return std::unexpected(next.error());
        }
        BUNRAKU_TRY_VOID(wait());
        state = State::Lock;
    }
    lock_.release();
    SslFiles out = store_.files();
    if (authorities_only_) {
        out.certificate_file.clear();
        out.private_key_file.clear();
    }
    return out;
}

Result<SslMachine::State> SslMachine::step(State state) {
    BUNRAKU_ASSERT(state == State::Lock || locked_);
    switch (state) {
        case State::Lock: return lock();
        case State::Authorities: return authorities();
        case State::Lists: return lists();
        case State::Key: return key();
        case State::Submit: return submit();
        case State::Fetch: return fetch();
        case State::Renew: return renew();
        case State::Done: break;
    }
    return State::Done;
}

Result<void> SslMachine::sleep(std::int64_t seconds) {
    BUNRAKU_ASSERT(seconds >= 0);
    const auto end = options_.system.clock.monotonic_ns() + seconds * kSecond;
    while (true) {
        if (options_.stopped && options_.stopped()) return failure("Stopped", ECANCELED);
        const auto left = end - options_.system.clock.monotonic_ns();
        if (left <= 0) return {};
        options_.system.clock.sleep_ns(std::min<std::int64_t>(left, kSecond / 5));
    }
}

Result<void> SslMachine::wait() {
    if (wait_ < 1) return give_up("Exiting now because the waitforcert setting is set to 0.");
    if (now() > wait_until_) {
        return give_up(fmt::format(
            "Couldn't fetch certificate from CA server; you might still need to sign this agent's "
            "certificate ({}). Exiting now because the maxwaitforcert timeout has been exceeded.",
            store_.certname()));
    }
    BUNRAKU_ASSERT(locked_ && wait_ >= 1);
    info(fmt::format("Will try again in {} seconds.", wait_));
    client_.disconnect();
    lock_.release();
    locked_ = false;
    return sleep(wait_);
}

Result<SslMachine::State> SslMachine::lock() {
    if (locked_) return State::Authorities;
    const std::string folder(sys::directory_name(settings_.text("ssl_lockfile")));
    if (!options_.system.files.exists(folder))
        BUNRAKU_TRY_VOID(options_.system.files.make_directories(folder, 0771));
    const auto pause = settings_.integer("waitforlock");
    const auto product = config::product(settings_.compatibility(), "puppet");
    while (!BUNRAKU_TRY(lock_.acquire())) {
        if (pause < 1) {
            return failure(
                fmt::format("Another {} instance is already running and the waitforlock setting is "
                            "set to 0; exiting",
                            product));
        }
        if (now() >= lock_until_) {
            return failure(
                fmt::format("Another {} instance is already running and the maxwaitforlock timeout "
                            "has been exceeded; exiting",
                            product));
        }
        info(fmt::format("Another {} instance is already running; waiting for it to finish",
                         product));
        info(fmt::format("Will try again in {} seconds.", pause));
        BUNRAKU_TRY_VOID(sleep(pause));
    }
    locked_ = true;
    return State::Authorities;
}

Result<SslMachine::State> SslMachine::authorities() {
    log_.log(Level::Debug, "Loading CA certs");
    refresh_lists_ = false;
    if (auto there = BUNRAKU_TRY(store_.authorities())) {
        trusted_ = std::move(*there);
        if (!is_old(store_.ca_path(), "ca_refresh_interval")) return State::Lists;
        info("Refreshing CA certificate");
        auto answer =
            client_.get("/certificate/ca", Trust::Authorities, store_.changed(store_.ca_path()));
        if (!answer) {
            if (answer.error().code == ECANCELED) return std::unexpected(answer.error());
            log_.log(Level::Warning,
                     fmt::format("Failed to refresh CA certificate, using existing CA certificate: "
                                 "{}",
                                 answer.error().message));
        } else if (answer->status == 304) {
            info("CA certificate is unmodified, using existing CA certificate");
            store_.touch(store_.ca_path());  // counts as a refresh
        } else if (!answer->good()) {
            info(fmt::format("Failed to refresh CA certificate, using existing CA certificate: {}",
                             answer->reason));
        } else {
            trusted_ = BUNRAKU_TRY(parse_authorities(answer->body));
            BUNRAKU_TRY_VOID(store_.save_authorities(trusted_));
            info("Refreshed CA certificate: " + digest_hex(answer->body));
            // The revocation list of a new authority is not yet stored here.
            refresh_lists_ = true;
        }
        return State::Lists;
    }
    auto answer = BUNRAKU_TRY(client_.get("/certificate/ca", Trust::Unverified));
    if (answer.status == 404) return failure("CA certificate is missing from the server");
    if (!answer.good())
        return failure(fmt::format("Could not download CA certificate: {}", answer.reason));
    if (auto wanted = settings_.text("ca_fingerprint"); !wanted.empty()) {
        std::erase(wanted, ':');
        std::string expected;
        for (std::size_t i = 0; i + 1 < wanted.size(); i += 2)
            expected += (expected.empty() ? "" : ":") + base::upper(wanted.substr(i, 2));
        const auto actual = digest_hex(answer.body);
        if (actual != expected) {
            return failure(
                fmt::format("CA bundle with digest (SHA256) {} did not match expected digest {}",
                            actual, expected));
        }
        info(fmt::format("Verified CA bundle with digest (SHA256) {}", actual));
    }
    trusted_ = BUNRAKU_TRY(parse_authorities(answer.body));
    BUNRAKU_TRY_VOID(store_.save_authorities(trusted_));
    return State::Lists;
}

Result<SslMachine::State> SslMachine::lists() {
    log_.log(Level::Debug, "Loading CRLs");
    crls_.clear();
    if (store_.revocation() == pki::RevocationCheck::None) {
        info("Certificate revocation is disabled, skipping CRL download");
        return State::Key;
    }
    const char* path = "/certificate_revocation_list/ca";
    const auto take = [&](const std::string& body) -> Result<void> {
        crls_ = BUNRAKU_TRY(parse_lists(body));
        BUNRAKU_TRY_VOID(store_.save_crls(crls_));
        client_.disconnect();
        info("Refreshed CRL: " + digest_hex(body));
        return {};
    };
    auto there = BUNRAKU_TRY(store_.crls());
    if (!there) {
        auto answer = BUNRAKU_TRY(client_.get(path, Trust::Authorities));
        if (answer.status == 404) return failure("CRL is missing from the server");
        if (!answer.good())
            return failure(fmt::format("Could not download CRLs: {}", answer.reason));
        BUNRAKU_TRY_VOID(take(answer.body));
        return State::Key;
    }
    crls_ = std::move(*there);
    if (!refresh_lists_ && !is_old(store_.crl_path(), "crl_refresh_interval")) return State::Key;
    info("Refreshing CRL");
    // After a change of authority, the stored lists do not cover the new one.
    auto answer = client_.get(path, refresh_lists_ ? Trust::Authorities : Trust::Lists,
                              store_.changed(store_.crl_path()));
    if (!answer) {
        if (answer.error().code == ECANCELED) return std::unexpected(answer.error());
        log_.log(Level::Warning, fmt::format("Failed to refresh CRL, using existing CRL: {}",
                                             answer.error().message));
    } else if (answer->status == 304) {
        info("CRL is unmodified, using existing CRL");
        store_.touch(store_.crl_path());
    } else if (!answer->good()) {
        info(fmt::format("Failed to refresh CRL, using existing CRL: {}", answer->reason));
    } else {
        BUNRAKU_TRY_VOID(take(answer->body));
    }
    return State::Key;
}

Result<SslMachine::State> SslMachine::key() {
    log_.log(Level::Debug, "Loading/generating private key");
    private_key_ = BUNRAKU_TRY(store_.key());
    if (!private_key_) {
        private_key_ = BUNRAKU_TRY(store_.make_key());
        BUNRAKU_TRY_VOID(store_.save_key(*private_key_));
        return State::Submit;
    }
    auto certificate = BUNRAKU_TRY(store_.certificate());
    if (!certificate) return State::Submit;
    auto chain = BUNRAKU_TRY(store_.check(trusted_, crls_, *private_key_, *certificate));
    if (log_.enabled(Level::Debug)) {
        for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
            log_.log(Level::Debug, fmt::format("Verified {} certificate '{}' fingerprint {}",
                                               it + 1 == chain.rend() ? "client" : "CA",
                                               it->subject_utf8(), digest_text(*it)));
        }
    }
    renewal_ = renewal_of(*certificate);
    return renewal_ == Renewal::None ? State::Done : State::Renew;
}

SslMachine::Renewal SslMachine::renewal_of(const pki::Certificate& certificate) {
    const auto interval = settings_.integer("hostcert_renewal_interval");
    if (interval <= 0) return Renewal::None;
    const auto life = certificate.not_after() - certificate.not_before();
    const auto left = certificate.not_after() - now();
    // A certificate with a short lifetime is not renewed in its first third. Otherwise each run
    // would renew it.
    if (left <= std::min<std::int64_t>(interval, life - life / 3)) return Renewal::Due;
    // If the interval is not set explicitly, renew early, to leave time to notice failures.
    if (!settings_.is_set("hostcert_renewal_interval") && left <= life / 3) return Renewal::Early;
    return Renewal::None;
}

Result<SslMachine::State> SslMachine::submit() {
    BUNRAKU_ASSERT(private_key_.has_value() && !authorities_only_);
    log_.log(Level::Debug, "Generating and submitting a CSR");
    auto request = BUNRAKU_TRY(store_.make_request(*private_key_));
    auto answer = BUNRAKU_TRY(
        client_.put("/certificate_request/" + store_.certname(), request.pem(), Trust::Lists));
    // The server already has a certificate for this name. The next state checks whether it belongs
    // to this key.
    if (answer.status == 400) return State::Fetch;
    if (!answer.good()) {
        return failure(
            fmt::format("Failed to submit the CSR, HTTP response was {}", answer.status));
    }
    BUNRAKU_TRY_VOID(store_.save_request(request));
    return State::Fetch;
}

Result<SslMachine::State> SslMachine::fetch() {
    BUNRAKU_ASSERT(private_key_.has_value() && !authorities_only_);
    log_.log(Level::Debug, "Downloading client certificate");
    const auto& name = store_.certname();
    auto answer = BUNRAKU_TRY(client_.get("/certificate/" + name, Trust::Lists));
    if (answer.status == 404) {
        info(fmt::format("Certificate for {} has not been signed yet", name));
        print(
            fmt::format("Couldn't fetch certificate from CA server; you might still need to sign "
                        "this agent's certificate ({}).",
                        name));
        not_signed_ = true;
        return State::Lock;
    }
    if (!answer.good()) {
        return failure(
            fmt::format("Failed to retrieve certificate for {}: {}", name, answer.reason));
    }
    auto certificate = pki::Certificate::from_pem(answer.body, "The answer");
    if (!certificate) {
        return failure(fmt::format("Failed to parse certificate: {}", certificate.error().message));
    }
    info(fmt::format("Downloaded certificate for {} from {}", name, client_.url()));
    (void)BUNRAKU_TRY(store_.check(trusted_, crls_, *private_key_, *certificate));
    BUNRAKU_TRY_VOID(store_.save_certificate(*certificate));
    store_.delete_request();
    return State::Done;
}

Result<SslMachine::State> SslMachine::renew() {
    BUNRAKU_ASSERT(private_key_.has_value() && renewal_ != Renewal::None);
    log_.log(Level::Debug, "Renewing client certificate");
    // Puppet's agent would not renew yet, so a server that does not support renewal is not worth a
    // warning.
    const bool early = renewal_ == Renewal::Early;
    const auto report = [&](Level level, const std::string& text) {
        log_.log(early ? Level::Debug : level, text);
        return State::Done;
    };
    const auto unable = [&](const std::string& why) {
        return report(Level::Warning, "Unable to automatically renew certificate: " + why);
    };
    if (early) client_.unreachable = Level::Debug;
    auto answer = client_.post("/certificate_renewal", Trust::Mutual);
    if (!answer) {
        if (answer.error().code == ECANCELED) return std::unexpected(answer.error());
        return unable(answer.error().message);
    }
    if (answer->status == 404) {
        return report(Level::Info, "Certificate autorenewal has not been enabled on the server.");
    }
    if (!answer->good()) {
        return report(Level::Warning,
                      fmt::format("Failed to automatically renew certificate: {} {}",
                                  answer->status, answer->reason));
    }
    auto fresh = pki::Certificate::from_pem(answer->body, "The answer");
    if (!fresh) return unable(fresh.error().message);
    if (auto good = store_.check(trusted_, crls_, *private_key_, *fresh); !good)
        return unable(good.error().message);
    if (auto saved = store_.save_certificate(*fresh); !saved) return unable(saved.error().message);
    info(fmt::format("Renewed client certificate: {}, not before '{}', not after '{}'",
                     digest_hex(fresh->pem()), utc_text(fresh->not_before()),
                     utc_text(fresh->not_after())));
    return State::Done;
}

}  // namespace

Result<SslFiles> ensure_ssl(const SslOptions& options) { return SslMachine(options, false).run(); }

Result<SslFiles> ensure_authorities(const SslOptions& options) {
    return SslMachine(options, true).run();
}

}  // namespace bunraku::agent
