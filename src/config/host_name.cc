// What this machine is called. The DNS is not asked: a compile must not wait for a network.
#include <array>
#include <cctype>
#include <unistd.h>

#include "base/words.h"
#include "config/settings.h"
#include "sys/file_system.h"

namespace bunraku::config {

namespace {

template <class F>
void each_line(std::string_view text, F f) {
    while (!text.empty()) {
        std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        line = line.substr(0, line.find('#'));
        if (!f(line)) return;
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
}

/// The canonical name that /etc/hosts gives for `host`.
std::string domain_from_hosts(std::string_view hosts, std::string_view host) {
    std::string domain;
    each_line(hosts, [&](std::string_view line) {
        auto parts = base::words(line);
        for (std::size_t i = 1; i < parts.size(); ++i) {
            std::string_view name = parts[i];
            if (name.size() > host.size() + 1 && name.starts_with(host) &&
                name[host.size()] == '.') {
                domain = name.substr(host.size() + 1);
                return false;
            }
        }
        return true;
    });
    return domain;
}

/// `domain` or the first of `search`, whichever is there, as Facter reads resolv.conf.
std::string domain_from_resolver(std::string_view text) {
    std::string domain, search;
    each_line(text, [&](std::string_view line) {
        auto parts = base::words(line);
        if (parts.size() >= 2 && parts[0] == "domain" && domain.empty()) domain = parts[1];
        if (parts.size() >= 2 && parts[0] == "search" && search.empty()) search = parts[1];
        return true;
    });
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
    auto files = sys::make_real_file_system();
    if (auto hosts = files->read("/etc/hosts")) name.domain = domain_from_hosts(*hosts, name.host);
    if (name.domain.empty()) {
        if (auto conf = files->read("/etc/resolv.conf")) name.domain = domain_from_resolver(*conf);
    }
    return name;
}

std::string default_certname() {
    // As in Puppet, once for a process: a dozen settings hold it.
    static const std::string certname = [] {
        std::string name = host_name().fqdn();
        for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        return name;
    }();
    return certname;
}

}  // namespace bunraku::config
