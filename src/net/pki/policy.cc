#include "net/pki/policy.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/text.h"

namespace bunraku::pki {

namespace {

bool is_alphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

constexpr std::string_view kCliAuth = "1.3.6.1.4.1.34380.1.3.39";

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
    auto labels = base::split(subject, '.');
    // Java's split drops what is empty at the end.
    while (labels.size() > 1 && labels.back().empty()) labels.pop_back();
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

std::optional<std::string> signing_problem(const Request& request, const SigningRules& rules) {
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
    // puppetserver looks at these only for its own certificate.
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
        const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
            return is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
        });
        if (!plain) return "Cert subjectAltName contains a name that is no host name";
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
