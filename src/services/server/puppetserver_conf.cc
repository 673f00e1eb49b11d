// SPDX-License-Identifier: Apache-2.0
#include "services/server/puppetserver_conf.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>

#include "core/config/known_settings.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "net/http/conf_files.h"
#include "services/server/instance.h"

namespace bunraku::server {

using base::failure;
using base::Level;
using base::Result;
using codec::YamlNode;
using Kind = YamlNode::Kind;

namespace {

/// Returns the text of a scalar. Empty if the node is not a scalar.
std::string scalar(const YamlNode* node) {
    if (!node) return {};
    switch (node->kind) {
        case Kind::String: return node->text;
        case Kind::Integer: return std::to_string(node->integer);
        case Kind::Boolean: return node->boolean ? "true" : "false";
        default: return {};
    }
}

/// Returns the document of a file, or an empty one if the file does not exist.
Result<YamlNode> read_conf(const std::string& path) {
    const auto text = sys::disk().read(path);
    if (!text) return YamlNode{};
    auto document = codec::parse_hocon(*text, http::hocon_context(path));
    if (!document) return failure(fmt::format("{}: {}", path, document.error().message));
    return document;
}

/// A section of puppetserver's configuration and the file that contains it.
struct Section {
    std::string path;
    YamlNode node;  ///< of the kind Null if there is no such section
};
Result<Section> read_section(const config::Settings& settings, std::string_view name,
                             const std::string& usual) {
    Section out;
    out.path = BUNRAKU_TRY(http::puppetserver_section_file(settings, name, usual));
    const auto document = BUNRAKU_TRY(read_conf(out.path));
    if (const auto* node = codec::find_member(&document, name)) out.node = *node;
    return out;
}

/// An entry that has no effect, unless its value equals the server's behaviour anyway.
struct Entry {
    std::string_view name;
    std::string_view same_as;  ///< setting whose value it may equal; may be empty
    std::string_view instead;  ///< description of the actual behaviour
};
constexpr Entry kWebserver[] = {
    {"access-log-config", "", "the setting access-log names the file of the access log"},
    {"cipher-suites", "", "OpenSSL's default ciphers are used"},
    {"default-server", "", "there is one web server"},
    {"gzip-enable", "", "responses are compressed if the client accepts it"},
    {"max-threads", "", "the number of threads depends on the number of processors"},
    {"post-config-script", "", "it is for Jetty"},
    {"request-header-max-size", "", "the limit is built in"},
    {"ssl-ca-cert", "localcacert", "the setting localcacert is used"},
    {"ssl-cert", "hostcert", "the setting hostcert is used"},
    {"ssl-cert-chain", "", "put the chain into the file of hostcert"},
    {"ssl-crl-path", "hostcrl", "the setting hostcrl is used"},
    {"ssl-key", "hostprivkey", "the setting hostprivkey is used"},
    {"ssl-protocols", "", "TLS 1.2 and 1.3 are offered"},
    {"static-content", "", "no static content is served"},
};
constexpr Entry kJruby[] = {
    {"server-code-dir", "codedir", "the setting codedir is used"},
    {"server-conf-dir", "confdir", "the setting confdir is used"},
    {"server-log-dir", "logdir", "the setting logdir is used"},
    {"server-run-dir", "rundir", "the setting rundir is used"},
    {"server-var-dir", "vardir", "the setting vardir is used"},
};
/// puppetserver ignores these as well if auth.conf has a rule for the path.
constexpr Entry kLegacyAccess[] = {
    {"authorization-required", "", "auth.conf decides"},
    {"client-allowlist", "", "auth.conf decides; add the names to a rule there"},
    {"client-whitelist", "", "auth.conf decides; add the names to a rule there"},
};
constexpr Entry kVersionedCode[] = {
    {"code-content-command", "", "`bunraku deploy` stores versions of files"},
    {"code-id-command", "", "the server finds the version of an environment itself"},
};

class Report {
public:
    Report(const config::Settings& settings, base::LogSink& log) : settings_(settings), log_(log) {}

    void puppet_conf() {
        for (const auto& name : settings_.names()) {
            if (!settings_.is_set(name)) continue;
            if (const auto* idle = config::find_idle_setting(name)) {
                warn(fmt::format("The setting {} has no effect: {}", name, idle->instead));
            } else if (config::is_gone_setting(name)) {
                warn(fmt::format("The setting {} has no effect: Puppet 8 does not have it", name));
            } else if (!config::is_known_setting(name)) {
                unknown(name);
            }
        }
    }

    /// Puppet Server 8 does not read this file either, which older versions used.
    void old_auth_conf() {
        const auto path = settings_.text("confdir") + "/auth.conf";
        if (settings_.text("auth_config") == path || !sys::disk().exists(path)) return;
        warn(
            fmt::format("{} is not read: move its rules to {}, or name it in the setting "
                        "auth_config",
                        path, http::puppetserver_conf(settings_, "auth.conf")));
    }

    void webserver() {
        const auto section = read_section(settings_, "webserver", "webserver.conf");
        if (!section) return;  // webserver_listeners() reports the error
        const auto& path = section->path;
        entries(path, &section->node, kWebserver);
        const auto clients = scalar(codec::find_member(&section->node, "client-auth"));
        if (clients == "need" || clients == "none") {
            warn(
                fmt::format("client-auth = {} in {} has no effect: certificates are requested, and "
                            "auth.conf decides",
                            clients, path));
        }
    }

    void puppetserver() {
        section("jruby-puppet", "puppetserver.conf", kJruby);
        section("versioned-code", "puppetserver.conf", kVersionedCode);
        section("puppet-admin", "puppetserver.conf", kLegacyAccess);
        const auto ca = read_section(settings_, "certificate-authority", "ca.conf");
        if (!ca) return;  // read_ca_settings() reports the error
        entries(ca->path, codec::find_member(&ca->node, "certificate-status"), kLegacyAccess);
    }

private:
    void section(std::string_view name, const std::string& usual, std::span<const Entry> known) {
        const auto found = read_section(settings_, name, usual);
        if (!found) return warn(found.error().message);
        entries(found->path, &found->node, known);
    }

    void warn(const std::string& text) { log_.log(Level::Warning, text); }

    void unknown(const std::string& name) {
        const auto near = config::similar_settings(name);
        if (near.empty()) {
            log_.log(Level::Notice,
                     fmt::format("{} is not a setting of Puppet or Bunraku; only code that reads "
                                 "$settings::{} sees it",
                                 name, name));
        } else {
            warn(
                fmt::format("Unknown setting {}: did you mean {}?", name, fmt::join(near, " or ")));
        }
    }

    void entries(const std::string& path, const YamlNode* section, std::span<const Entry> known) {
        for (const auto& entry : known) {
            const auto* value = codec::find_member(section, entry.name);
            if (!value) continue;
            if (!entry.same_as.empty() && scalar(value) == settings_.text(entry.same_as)) continue;
            const auto used = entry.same_as.empty()
                                  ? std::string()
                                  : fmt::format(" ({})", settings_.text(entry.same_as));
            warn(
                fmt::format("{} in {} has no effect: {}{}", entry.name, path, entry.instead, used));
        }
    }

    const config::Settings& settings_;
    base::LogSink& log_;
};

/// Returns a listener of webserver.conf. Returns nullopt if the section contains neither a host nor
/// a port of that kind.
Result<std::optional<http::Listener>> listener_of(const YamlNode* section, bool tls) {
    auto host = scalar(codec::find_member(section, tls ? "ssl-host" : "host"));
    auto port = scalar(codec::find_member(section, tls ? "ssl-port" : "port"));
    if (host.empty() && port.empty()) return std::nullopt;
    // The defaults of trapperkeeper-webserver-jetty9.
    if (host.empty() || host == "localhost") host = "127.0.0.1";
    if (port.empty()) port = tls ? "8081" : "8080";
    return BUNRAKU_TRY(parse_listener(port, tls, host));
}

}  // namespace

Result<std::vector<http::Listener>> webserver_listeners(const config::Settings& settings) {
    const auto section = BUNRAKU_TRY(read_section(settings, "webserver", "webserver.conf"));
    std::vector<http::Listener> out;
    for (const bool tls : {true, false}) {
        auto listener = listener_of(&section.node, tls);
        if (!listener) {
            return failure(fmt::format("{}: {}", section.path, listener.error().message));
        }
        if (*listener) out.push_back(std::move(**listener));
    }
    return out;
}

std::string jruby_setting(const config::Settings& settings, const std::string& name) {
    const auto section = read_section(settings, "jruby-puppet", "puppetserver.conf");
    return section ? scalar(codec::find_member(&section->node, name)) : std::string();
}

void report_unhonoured(const config::Settings& settings, base::LogSink& log) {
    Report report(settings, log);
    report.puppet_conf();
    report.old_auth_conf();
    report.webserver();
    report.puppetserver();
}

}  // namespace bunraku::server
