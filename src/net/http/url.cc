// SPDX-License-Identifier: Apache-2.0
#include "net/http/url.h"

#include <arpa/inet.h>
#include <cerrno>
#include <fmt/format.h>

#include "net/http/message.h"

namespace bunraku::http {

using base::failure;
using base::Result;

std::string Url::authority() const {
    std::string out = host.find(':') == std::string::npos ? host : "[" + host + "]";
    if (port != (tls ? 443 : 80)) out += fmt::format(":{}", port);
    return out;
}

std::string Url::origin() const {
    return fmt::format("{}://{}", tls ? "https" : "http", authority());
}

bool is_loopback(const std::string& host) {
    if (host == "localhost") return true;
    in_addr v4{};
    if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
    return host == "::1";
}

Result<Url> parse_url(std::string_view text) {
    Url url;
    std::string_view rest = text;
    auto bad = [&](const char* why) {
        return failure(fmt::format("{} is not a usable URL: {}", text, why), EINVAL);
    };
    auto scheme = [&](std::string_view name) {
        if (rest.size() < name.size()) return false;
        for (std::size_t i = 0; i < name.size(); i++)
            if ((rest[i] | 0x20) != name[i] && rest[i] != name[i]) return false;
        rest.remove_prefix(name.size());
        return true;
    };
    if (scheme("https://")) {
        url.tls = true;
    } else if (!scheme("http://")) {
        return bad("http:// or https:// is needed");
    }
    auto end = rest.find_first_of("/?#");
    auto authority = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end);
    if (auto at = authority.rfind('@'); at != std::string_view::npos) {
        auto user = percent_decode(authority.substr(0, at));
        if (!user) return bad("the user is not valid percent-encoded UTF-8");
        url.user = std::move(*user);
        if (url.user.find(':') == std::string::npos) url.user += ':';
        url.has_user = true;
        authority.remove_prefix(at + 1);
    }
    url.port = url.tls ? 443 : 80;
    std::string_view port;
    if (authority.starts_with('[')) {
        auto close = authority.find(']');
        if (close == std::string_view::npos) return bad("the address has no closing bracket");
        url.host = authority.substr(1, close - 1);
        // An address in brackets must contain colons. Without them, it would later be written
        // without its brackets.
        std::string_view digits = std::string_view(url.host).substr(0, url.host.find('%'));
        if (digits.find(':') == std::string_view::npos ||
            digits.find_first_not_of("0123456789abcdefABCDEF:.") != std::string_view::npos) {
            return bad("bad host");
        }
        port = authority.substr(close + 1);
        if (!port.empty() && port[0] != ':') return bad("bad port");
        if (!port.empty()) port.remove_prefix(1);
    } else {
        auto colon = authority.find(':');
        url.host = authority.substr(0, colon);
        if (colon != std::string_view::npos) port = authority.substr(colon + 1);
    }
    if (url.host.empty()) return bad("the host is missing");
    for (char c : url.host)
        if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '[' || c == ']') {
            return bad("bad host");
        }
    if (!port.empty()) {
        unsigned number = 0;
        for (char c : port) {
            if (c < '0' || c > '9' || number > 65535) return bad("bad port");
            number = number * 10 + static_cast<unsigned>(c - '0');
        }
        if (number == 0 || number > 65535) return bad("bad port");
        url.port = static_cast<std::uint16_t>(number);
    }
    url.target = rest.substr(0, rest.find('#'));
    if (!url.target.starts_with('/')) url.target.insert(0, 1, '/');
    for (char c : url.target)
        if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f)
            return bad("blanks and control characters must be percent-encoded");
    return url;
}

Result<Url> resolve_url(const Url& base, std::string_view reference) {
    if (reference.find("://") != std::string_view::npos && reference.find("://") < 8)
        return parse_url(reference);
    if (reference.starts_with("//"))
        return parse_url((base.tls ? "https:" : "http:") + std::string(reference));
    if (reference.starts_with('/')) return parse_url(base.origin() + std::string(reference));
    auto path = base.target.substr(0, base.target.find('?'));
    if (reference.starts_with('?')) return parse_url(base.origin() + path + std::string(reference));
    return parse_url(base.origin() + path.substr(0, path.rfind('/') + 1) + std::string(reference));
}

}  // namespace bunraku::http
