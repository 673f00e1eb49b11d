// SPDX-License-Identifier: Apache-2.0
#include "services/console/rules.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>

#include "core/base/text.h"
#include "core/sys/disk.h"

namespace bunraku::console {

using base::failure;
using base::Result;

namespace {

std::vector<std::string> names_in(std::string_view text) {
    return base::texts(base::words(text, ", \t"));
}

/// A line `NAME = VALUE` of the file. Names may contain any characters but "=", so that they can be
/// mail addresses.
struct RuleLine {
    std::string section, name, value;
    int line = 0;
};

constexpr std::string_view kCommit = "{commit}";

/// Returns the value of a header that is present exactly once, or an empty text: a proxy that
/// appends its header would otherwise let the client choose the value.
std::string_view only_header(const http::Request& request, std::string_view name) {
    std::string_view out;
    std::size_t count = 0;
    for (const auto& [field, value] : request.headers) {
        if (!base::same_ignoring_case(field, name)) continue;
        out = value;
        ++count;
    }
    return count == 1 ? out : std::string_view();
}

base::Error at_line(const std::string& path, int line, std::string_view message) {
    return {fmt::format("{}:{}: {}", path, line, message)};
}

Result<std::vector<RuleLine>> rule_lines(std::string_view text, const std::string& path) {
    std::vector<RuleLine> out;
    std::string section;
    int number = 0;
    for (const auto raw : base::lines(text)) {
        ++number;
        const auto line = base::trim(raw);
        if (line.empty() || line[0] == '#') continue;
        if (line[0] == '[' && line.back() == ']') {
            section = line.substr(1, line.size() - 2);
            if (section == "certificates" || section == "proxy" || section == "users" ||
                section == "links")
                continue;
            return std::unexpected(at_line(
                path, number,
                fmt::format("unknown section [{}]: expected [certificates], [proxy], [users] or "
                            "[links]",
                            section)));
        }
        const auto equals = line.find('=');
        if (equals == std::string_view::npos || equals == 0 || section.empty()) {
            return std::unexpected(
                at_line(path, number, "expected a section or a line of the form NAME = VALUE"));
        }
        out.push_back({section, std::string(base::trim(line.substr(0, equals))),
                       std::string(base::trim(line.substr(equals + 1))), number});
    }
    return out;
}

}  // namespace

Result<AccessRules::Grant> AccessRules::parse_grant(std::string_view text) {
    auto words = names_in(text);
    const auto right = words.empty() ? std::nullopt : right_of_role(words[0]);
    if (!right) {
        return failure(
            fmt::format("expected viewer, operator or admin and, if needed, a list of "
                        "environments, not '{}'",
                        text));
    }
    words.erase(words.begin());
    return Grant{*right, std::move(words)};
}

Result<AccessRules> AccessRules::parse(std::string_view text, const std::string& path) {
    AccessRules out;
    for (auto& entry : BUNRAKU_TRY(rule_lines(text, path))) {
        if (entry.section == "links") {
            const auto& url = entry.value;
            const bool http = url.starts_with("https://") || url.starts_with("http://");
            if (entry.name != "commit" || !http || url.find(kCommit) == std::string::npos) {
                return std::unexpected(
                    at_line(path, entry.line, "expected commit = https://... with {commit} in it"));
            }
            out.commit_url_ = url;
        } else if (entry.section != "proxy") {
            auto grant = parse_grant(entry.value);
            if (!grant) return std::unexpected(at_line(path, entry.line, grant.error().message));
            (entry.section == "certificates" ? out.certificates_ : out.users_)
                .insert_or_assign(std::move(entry.name), std::move(*grant));
        } else if (entry.name == "addresses") {
            out.proxies_ = names_in(entry.value);
        } else if (entry.name == "header") {
            out.header_ = entry.value;
        } else if (entry.name == "scheme_header") {
            out.scheme_header_ = entry.value;
        } else {
            return std::unexpected(at_line(
                path, entry.line,
                fmt::format("unknown setting '{}': expected addresses, header or scheme_header",
                            entry.name)));
        }
    }
    // Without a header for names, the proxy only ends TLS.
    if (out.proxies_.empty() && !out.header_.empty())
        return failure(fmt::format("{}: [proxy] needs addresses", path));
    if (!out.users_.empty() && out.header_.empty())
        return failure(fmt::format("{}: [users] has no effect without [proxy]", path));
    return out;
}

Result<AccessRules> AccessRules::read(const std::string& path) {
    const auto text = sys::disk().read(path);
    if (!text && text.error().code == ENOENT) return AccessRules();
    if (!text) return std::unexpected(text.error());
    return parse(*text, path);
}

std::optional<Viewer> AccessRules::viewer_of(const Grants& grants, std::string_view name,
                                             Viewer::Via via) {
    const auto it = grants.find(name);
    if (name.empty() || it == grants.end()) return std::nullopt;
    return Viewer{std::string(name), it->second.right, it->second.environments, via};
}

std::string AccessRules::commit_url(std::string_view code) const {
    const bool is_id = code.size() >= 7 && code.size() <= 64 &&
                       code.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    if (commit_url_.empty() || !is_id) return {};
    auto out = commit_url_;
    for (auto at = out.find(kCommit); at != std::string::npos; at = out.find(kCommit, at))
        out.replace(at, kCommit.size(), code);
    return out;
}

bool AccessRules::is_from_proxy(const http::Request& request) const {
    return std::ranges::find(proxies_, request.peer.address) != proxies_.end();
}

bool AccessRules::is_https(const http::Request& request) const {
    if (request.peer.tls) return true;
    return is_from_proxy(request) &&
           base::same_ignoring_case(only_header(request, scheme_header_), "https");
}

std::optional<Viewer> AccessRules::identify(const http::Request& request) const {
    if (is_from_proxy(request))
        return viewer_of(users_, only_header(request, header_), Viewer::Via::Proxy);
    return viewer_of(certificates_, request.peer.name(), Viewer::Via::Certificate);
}

}  // namespace bunraku::console
