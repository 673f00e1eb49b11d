// SPDX-License-Identifier: Apache-2.0
#include "services/load/certificates.h"

#include <fmt/format.h>

#include "net/pki/authority.h"
#include "services/agent/ssl_store.h"

namespace bunraku::load {

using agent::SslFiles;
using base::failure;
using base::Result;

namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
/// Certificates are backdated like puppetserver's, because the clocks of servers may lag.
constexpr std::int64_t kDay = 86'400;

/// Stores the first error, which contains the cause. The other messages about a thousand
/// certificates are discarded.
class FirstError final : public base::LogSink {
public:
    void log(const base::Diagnostic& d) override {
        if (text.empty()) text = d.message;
    }
    bool enabled(base::Level level) const override { return level >= base::Level::Err; }
    std::string text;
};

}  // namespace

config::Settings Certificates::settings_for(const std::string& name) const {
    config::Settings out = w_.settings;
    out.set("certname", name);
    out.set("ssldir", w_.folder);
    out.set("ssl_lockfile", fmt::format("{}/{}.lock", w_.folder, name));
    out.set("csr_attributes", w_.folder + "/csr_attributes.yaml");
    out.set("dns_alt_names", "");
    if (!out.is_set("key_type")) out.set("key_type", "ec");
    return out;
}

Result<void> Certificates::prepare(const std::string& first_name) {
    const auto settings = settings_for(first_name);
    FirstError log;
    if (!w_.sign) {
        // Creates the shared files before several threads need them.
        const auto done = agent::ensure_authorities({.settings = settings,
                                                     .log = log,
                                                     .system = w_.system,
                                                     .print = {},
                                                     .stopped = w_.stopped,
                                                     .network = w_.network,
                                                     .authority = {},
                                                     .waitforcert_seconds = 0,
                                                     .onetime = true});
        if (!done) return failure(log.text.empty() ? done.error().message : log.text);
        return {};
    }
    agent::SslStore store(settings, log, w_.system);
    const auto bundle = BUNRAKU_TRY(pki::read_certificates(settings.text("cacert")));
    BUNRAKU_TRY_VOID(pki::read_private_key(settings.text("cakey")));
    BUNRAKU_TRY_VOID(store.save_authorities(bundle));
    if (const auto path = settings.text("cacrl"); w_.system.files.exists(path)) {
        const auto crls = BUNRAKU_TRY(pki::read_crls(path));
        BUNRAKU_TRY_VOID(store.save_crls(crls));
    }
    return {};
}

Result<SslFiles> Certificates::of(const std::string& name, bool* made) const {
    return w_.sign ? sign(name, made) : ask(name, made);
}

Result<SslFiles> Certificates::ask(const std::string& name, bool* made) const {
    const auto settings = settings_for(name);
    *made = !w_.system.files.exists(settings.text("hostcert"));
    FirstError log;
    auto files = agent::ensure_ssl({.settings = settings,
                                    .log = log,
                                    .system = w_.system,
                                    .print = [](const std::string&) {},
                                    .stopped = w_.stopped,
                                    .network = w_.network,
                                    .authority = {},
                                    .waitforcert_seconds = 0,
                                    .onetime = true});
    if (files || files.error().code == ECANCELED) return files;
    if (files.error().code == agent::kGaveUpWaiting)
        return failure("the authority has the request and has not signed it");
    return failure(log.text.empty() ? files.error().message : log.text);
}

Result<SslFiles> Certificates::sign(const std::string& name, bool* made) const {
    const auto settings = settings_for(name);
    FirstError log;
    agent::SslStore store(settings, log, w_.system);
    const auto authority = BUNRAKU_TRY(pki::read_certificates(settings.text("cacert")));
    const auto now = w_.system.clock.now_ns() / kNsPerSecond;
    *made = false;
    const auto known = BUNRAKU_TRY(store.certificate());
    const auto known_key = BUNRAKU_TRY(store.key());
    if (known && known_key && known->not_after() > now + kDay && known_key->belongs_to(*known) &&
        known->issuer() == authority.front().subject())
        return store.files();
    const auto signer = BUNRAKU_TRY(pki::read_private_key(settings.text("cakey")));
    const auto key = BUNRAKU_TRY(store.make_key());
    const auto certificate =
        BUNRAKU_TRY(pki::make_certificate({.common_name = name,
                                           .serial = {},
                                           .not_before = now - kDay,
                                           .not_after = now + w_.sign_seconds,
                                           .authority = false,
                                           .alternative_names = {"DNS:" + name},
                                           .extensions = {}},
                                          key.native(), &authority.front(), signer));
    BUNRAKU_TRY_VOID(store.save_key(key));
    BUNRAKU_TRY_VOID(store.save_certificate(certificate));
    *made = true;
    return store.files();
}

}  // namespace bunraku::load
