// SPDX-License-Identifier: Apache-2.0
#include "net/pki/policy.h"

#include <algorithm>
#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>

#include "core/base/text.h"

namespace bunraku::pki {

namespace {

bool is_alphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

constexpr std::string_view kCliAuth = "1.3.6.1.4.1.34380.1.3.39";

/// OpenSSL's default minimum for TLS certificates on Debian (security level 2): RSA-2048, P-224.
constexpr int kSecurityBits = 112;

/// Returns false for an RSA key with public exponent 1, whose signatures anyone can forge.
bool exponent_is_good(EVP_PKEY* key) {
    BIGNUM* exponent = nullptr;
    if (EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) != 1) return true;
    const bool good = BN_is_odd(exponent) && !BN_is_one(exponent);
    BN_free(exponent);
    return good;
}

/// Reports whether an alternative name is a host name without empty labels.
bool is_host_name(std::string_view name) {
    for (std::string_view label : base::split(name, '.')) {
        if (label.empty()) return false;
        for (char c : label)
            if (!is_alphanumeric(c) && c != '-' && c != '_') return false;
    }
    return true;
}

}  // namespace

std::optional<std::string> name_problem(std::string_view requested, std::string_view subject) {
    if (requested != subject) {
        return fmt::format("Instance name \"{}\" does not match requested key \"{}\"", subject,
                           requested);
    }
    if (base::lower(subject) != subject) return "Certificate names must be lower case.";
    if (subject.find('*') != std::string_view::npos)
        return fmt::format("Subject contains a wildcard, which is not allowed: {}", subject);
    const std::string bad = "Subject hostname format is invalid";
    if (subject.empty() || subject.ends_with('-')) return bad;
    // Also refuses dots at the end, which puppetserver accepts: "web1." is not the same name as
    // "web1".
    const auto labels = base::split(subject, '.');
    if (labels[0].empty() || labels[0][0] == '-') return bad;
    for (auto label : labels) {
        const bool good = !label.empty() && label.back() != '-' &&
                          std::all_of(label.begin(), label.end(), [](char c) {
                              return is_alphanumeric(c) || c == '-' || c == '_';
                          });
        if (!good) return bad;
    }
    return std::nullopt;
}

std::optional<std::string> key_problem(const Request& request) {
    EVP_PKEY* key = request.public_key();
    if (!key) return "CSR contains a public key of an unknown kind";
    const int kind = EVP_PKEY_get_base_id(key);
    const bool known = kind == EVP_PKEY_RSA || kind == EVP_PKEY_RSA_PSS || kind == EVP_PKEY_EC ||
                       kind == EVP_PKEY_ED25519 || kind == EVP_PKEY_ED448;
    if (known && EVP_PKEY_get_security_bits(key) >= kSecurityBits && exponent_is_good(key))
        return std::nullopt;
    const char* name = EVP_PKEY_get0_type_name(key);
    return fmt::format(
        "CSR '{}' contains a weak public key ({}, {} bits). Use an RSA key with "
        "at least 2048 bits, an elliptic curve key with at least 224 bits, or "
        "Ed25519.",
        request.common_name(), name ? name : "unknown", EVP_PKEY_get_bits(key));
}

std::optional<std::string> signing_problem(const Request& request, const SigningRules& rules) {
    if (auto problem = key_problem(request)) return problem;
    const auto subject = request.common_name();
    const auto extensions = request.extensions();
    const auto own = "DNS:" + subject;
    auto names = request.alternative_names();
    if (!rules.alternative_names) {
        std::string others;
        for (const auto& name : names)
            if (name != own) others += (others.empty() ? "" : ", ") + name;
        if (!others.empty()) {
            return fmt::format(
                "CSR '{}' contains extra subject alternative names ({}), which are disallowed. To "
                "allow subject alternative names, set allow-subject-alt-names to true in your "
                "ca.conf file. Then restart the puppetserver and try signing this certificate "
                "again.",
                subject, others);
        }
    }
    // puppetserver checks these only for its own certificate.
    if (request.has_other_names()) {
        return "Only DNS and IP names are allowed in the Subject Alternative Names extension";
    }
    for (std::string_view name : names) {
        if (!name.starts_with("DNS:")) continue;
        name.remove_prefix(4);
        if (name.find('*') != std::string_view::npos) {
            return fmt::format("Cert subjectAltName contains a wildcard, which is not allowed: {}",
                               name);
        }
        if (!is_host_name(name))
            return "Cert subjectAltName contains a name that is not a host name";
    }
    std::string refused;
    for (const auto& extension : extensions) {
        const auto& oid = extension.oid;
        if (in_puppet_tree(oid, 3) && !rules.authorization_extensions) {
            return fmt::format(
                "CSR '{}' contains an authorization extension, which is disallowed. To allow "
                "authorization extensions, set allow-authorization-extensions to true in your "
                "ca.conf file. Then restart the puppetserver and try signing this certificate "
                "again.",
                subject);
        }
        const bool allowed = oid == "2.5.29.17" || in_puppet_tree(oid, 1) ||
                             in_puppet_tree(oid, 2) || (in_puppet_tree(oid, 3) && oid != kCliAuth);
        if (!allowed) refused += (refused.empty() ? "" : ", ") + oid;
    }
    if (!refused.empty())
        return fmt::format("Found extensions that are not permitted: {}", refused);
    if (!request.is_signed())
        return "CSR contains a public key that does not correspond to the signing key";
    return std::nullopt;
}

}  // namespace bunraku::pki
