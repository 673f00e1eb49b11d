// SPDX-License-Identifier: Apache-2.0
// Finds this machine's name without the DNS, because a compile must not wait for the network.
#include <array>
#include <cctype>
#include <unistd.h>

#include "core/base/text.h"
#include "core/config/settings.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"

namespace bunraku::config {

namespace {

/// Returns the words of each line, without comments.
std::vector<std::vector<std::string_view>> entries(std::string_view text) {
    std::vector<std::vector<std::string_view>> out;
    for (std::string_view line : base::lines(text)) {
        out.push_back(base::words(line.substr(0, line.find('#'))));
    }
    return out;
}

/// Returns the canonical name that /etc/hosts has for `host`.
std::string domain_from_hosts(std::string_view hosts, std::string_view host) {
    for (const auto& parts : entries(hosts)) {
        for (std::size_t i = 1; i < parts.size(); ++i) {
            std::string_view name = parts[i];
            if (name.size() > host.size() + 1 && name.starts_with(host) &&
                name[host.size()] == '.') {
                return std::string(name.substr(host.size() + 1));
            }
        }
    }
    return {};
}

/// Returns `domain` or the first name of `search`, whichever resolv.conf contains, as Facter reads
/// it.
std::string domain_from_resolver(std::string_view text) {
    std::string domain, search;
    for (const auto& parts : entries(text)) {
        if (parts.size() >= 2 && parts[0] == "domain" && domain.empty()) domain = parts[1];
        if (parts.size() >= 2 && parts[0] == "search" && search.empty()) search = parts[1];
    }
    std::string found = domain.empty() ? search : domain;
    while (!found.empty() && found.back() == '.') found.pop_back();
    return found;
}

}  // namespace

HostName host_name() {
    std::array<char, 256> buffer{};
    HostName name;
    if (gethostname(buffer.data(), buffer.size() - 1) != 0) return {"localhost", ""};
    name.host = buffer.data();
    if (std::size_t dot = name.host.find('.'); dot != std::string::npos) {
        name.domain = name.host.substr(dot + 1);
        name.host.resize(dot);
        return name;
    }
    auto& files = sys::disk();
    if (auto hosts = files.read("/etc/hosts")) name.domain = domain_from_hosts(*hosts, name.host);
    if (name.domain.empty()) {
        if (auto conf = files.read("/etc/resolv.conf")) name.domain = domain_from_resolver(*conf);
    }
    return name;
}

std::string default_certname() {
    // Computed once per process, as in Puppet. A dozen settings contain it.
    static const std::string certname = [] {
        std::string name = host_name().fqdn();
        base::make_lower(name);
        return name;
    }();
    return certname;
}

}  // namespace bunraku::config
