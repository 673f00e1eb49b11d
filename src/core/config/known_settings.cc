// SPDX-License-Identifier: Apache-2.0
#include "core/config/known_settings.h"

#include <algorithm>

#include "core/base/similar.h"
#include "core/config/settings_table.h"

namespace bunraku::config {

namespace {

constexpr IdleSetting kIdle[] = {
    {"catalog_cache_terminus", "catalogs are cached as JSON"},
    {"ciphers", "OpenSSL's choice is offered"},
    {"deviceconfig", "network devices are not managed"},
    {"http_extra_headers", "no additional headers are sent"},
    {"ignoremissingtypes", "missing types are always errors"},
    {"ldapserver", "LDAP cannot classify nodes: use node_terminus = exec"},
    {"location_trusted", "credentials are not sent on to another host"},
    {"node_cache_terminus", "results of a classifier are not cached"},
    {"preferred_serialization_format", "JSON is sent"},
    {"report_port", "reports are sent to the server of the catalogs"},
    {"report_server", "reports are sent to the server of the catalogs"},
    {"sourceaddress", "connections start from any address"},
    {"ssl_client_header", "auth.conf's allow-header-cert-info decides whether headers are trusted"},
    {"ssl_client_verify_header",
     "auth.conf's allow-header-cert-info decides whether headers are trusted"},
    {"use_srv_records", "servers are named by `server` and `server_list`"},
};

constexpr std::string_view kGone[] = {"app_management",
                                      "capass",
                                      "cfacter",
                                      "dynamicfacts",
                                      "hidden_secrets",
                                      "ignorecache",
                                      "legacyssldir",
                                      "manifestdir",
                                      "masterhttplog",
                                      "ordering",
                                      "parser",
                                      "pluginsync",
                                      "stringify_facts",
                                      "templatedir",
                                      "trusted_node_data",
                                      "trusted_server_facts"};

/// Settings of puppetserver, PuppetDB and Bunraku's server, which aliased_setting reads.
constexpr std::string_view kServer[] = {"access-log",
                                        "allow-authorization-extensions",
                                        "allow-auto-renewal",
                                        "allow-auto-rollover",
                                        "allow-subject-alt-names",
                                        "auto-renewal-cert-ttl",
                                        "catalog-history-ttl",
                                        "certificate-allowlist",
                                        "client-auth",
                                        "compile-timeout",
                                        "console",
                                        "enable-infra-crl",
                                        "facts-blocklist",
                                        "facts-blocklist-type",
                                        "facts-interval",
                                        "full-check-interval",
                                        "gc-interval",
                                        "max-active-instances",
                                        "max-command-size",
                                        "max-compile-memory",
                                        "max-queued-requests",
                                        "maximum-pool-size",
                                        "node-purge-ttl",
                                        "node-ttl",
                                        "puppetdb-spool-limit",
                                        "query-timeout-default",
                                        "query-timeout-max",
                                        "read-database",
                                        "read-database-max-lag",
                                        "report-ttl",
                                        "resource-events-ttl",
                                        "server-ec-certificate",
                                        "static-content-peers",
                                        "strict-exports",
                                        "threads",
                                        "undeclared",
                                        "undeclared-types"};

std::string dashed(std::string_view name) {
    std::string out(name);
    std::ranges::replace(out, '_', '-');
    return out;
}

}  // namespace

std::span<const IdleSetting> idle_settings() { return kIdle; }

const IdleSetting* find_idle_setting(std::string_view name) {
    const auto* found = std::ranges::find(kIdle, name, &IdleSetting::name);
    return found == std::end(kIdle) ? nullptr : found;
}

bool is_gone_setting(std::string_view name) {
    return std::ranges::find(kGone, name) != std::end(kGone);
}

bool is_known_setting(std::string_view name) {
    return find_setting(name) != nullptr ||
           std::ranges::find(kOwnSettings, name) != std::end(kOwnSettings) ||
           std::ranges::find(kServer, dashed(name)) != std::end(kServer);
}

std::vector<std::string> similar_settings(std::string_view name) {
    std::vector<std::string> names;
    for (const auto& spec : kSettings) names.emplace_back(spec.name);
    for (const auto own : kOwnSettings) names.emplace_back(own);
    for (const auto server : kServer) names.emplace_back(server);
    return base::similar_names(name, names);
}

}  // namespace bunraku::config
