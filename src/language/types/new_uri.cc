// SPDX-License-Identifier: Apache-2.0
#include "language/types/new_uri.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/diagnostic.h"

namespace bunraku::types {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool is_scheme(std::string_view text) {
    return !text.empty() && is_alpha(text[0]) && std::ranges::all_of(text, [](char c) {
        return is_alpha(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
    });
}

/// Reports whether the text consists of unreserved characters, sub-delims, escapes and the
/// characters in `more`.
bool is_text(std::string_view text, std::string_view more) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (is_alpha(c) || is_digit(c)) continue;
        if (c == '%') {
            if (i + 2 >= text.size() || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) return false;
            i += 2;
            continue;
        }
        if (std::string_view("-._~!$&'()*+,;=").find(c) != std::string_view::npos) continue;
        if (more.find(c) == std::string_view::npos) return false;
    }
    return true;
}

[[noreturn]] void bad(std::string_view text) {
    throw base::PuppetError(fmt::format("bad URI(is not URI?): \"{}\"", text));
}

}  // namespace

UriParts UriParts::parse(std::string_view text) {
    UriParts out;
    std::string_view rest = text;
    if (const auto hash = rest.find('#'); hash != std::string_view::npos) {
        const std::string_view fragment = rest.substr(hash + 1);
        if (!is_text(fragment, ":@/?")) bad(text);
        out.fragment = std::string(fragment);
        rest = rest.substr(0, hash);
    }
    const auto colon = rest.find(':');
    const auto slash = rest.find_first_of("/?");
    if (colon != std::string_view::npos && (slash == std::string_view::npos || colon < slash)) {
        const std::string_view scheme = rest.substr(0, colon);
        if (!is_scheme(scheme)) bad(text);
        out.scheme = std::string(scheme);
        rest = rest.substr(colon + 1);
        // A path that does not start with a slash is opaque and includes its query.
        if (!rest.empty() && rest[0] != '/' && rest[0] != '?') {
            if (!is_text(rest, ":@/?")) bad(text);
            out.opaque = std::string(rest);
            return out;
        }
    }
    if (const auto mark = rest.find('?'); mark != std::string_view::npos) {
        const std::string_view query = rest.substr(mark + 1);
        if (!is_text(query, ":@/?")) bad(text);
        out.query = std::string(query);
        rest = rest.substr(0, mark);
    }
    if (rest.starts_with("//")) {
        rest.remove_prefix(2);
        const auto end = rest.find('/');
        std::string_view authority = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end);
        if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
            if (!is_text(authority.substr(0, at), ":")) bad(text);
            out.userinfo = std::string(authority.substr(0, at));
            authority = authority.substr(at + 1);
        }
        const auto port = authority.rfind(':');
        const auto bracket = authority.rfind(']');
        if (port != std::string_view::npos &&
            (bracket == std::string_view::npos || port > bracket)) {
            const std::string_view number = authority.substr(port + 1);
            if (!std::ranges::all_of(number, is_digit) || number.size() > 9) bad(text);
            if (!number.empty()) out.port = std::string(number);
            authority = authority.substr(0, port);
        }
        if (authority.starts_with('[')) {
            if (!authority.ends_with(']') ||
                !is_text(authority.substr(1, authority.size() - 2), ":")) {
                bad(text);
            }
        } else if (!is_text(authority, "")) {
            bad(text);
        }
        out.host = std::string(authority);
    }
    if (!is_text(rest, ":@/")) bad(text);
    out.path = std::string(rest);
    return out;
}

std::string UriParts::to_string() const {
    std::string out;
    if (scheme) out += *scheme + ":";
    if (opaque) {
        out += *opaque;
    } else {
        if (host) {
            out += "//";
            if (userinfo) out += *userinfo + "@";
            out += *host;
            if (port) out += ":" + *port;
        }
        if (path) {
            if (host && !path->empty() && path->front() != '/') out += '/';
            out += *path;
        }
        if (query) out += "?" + *query;
    }
    if (fragment) out += "#" + *fragment;
    return out;
}

}  // namespace bunraku::types
