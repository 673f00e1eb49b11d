// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/uri.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "language/environment/conf.h"

namespace bunraku::lsp {

namespace {

int hex_digit_of_uri(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool is_unescaped_in_uri(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._~/").find(c) != std::string_view::npos;
}

}  // namespace

std::optional<std::string> path_of_uri(std::string_view uri) {
    constexpr std::string_view kScheme = "file:", kHost = "//localhost/";
    if (!base::same_ignoring_case(uri.substr(0, kScheme.size()), kScheme)) return std::nullopt;
    uri.remove_prefix(kScheme.size());
    if (uri.starts_with("///")) {
        uri.remove_prefix(2);
    } else if (uri.starts_with(kHost)) {
        uri.remove_prefix(kHost.size() - 1);
    }
    if (!uri.starts_with('/') || uri.starts_with("//")) return std::nullopt;
    std::string path;
    for (std::size_t i = 0; i < uri.size(); ++i) {
        if (uri[i] == '?' || uri[i] == '#') break;
        if (uri[i] != '%') {
            path += uri[i];
            continue;
        }
        if (i + 2 >= uri.size()) return std::nullopt;
        const int high = hex_digit_of_uri(uri[i + 1]), low = hex_digit_of_uri(uri[i + 2]);
        if (high < 0 || low < 0 || high + low == 0) return std::nullopt;
        path += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return environment::expand_path(path, "/");
}

std::string uri_of_path(std::string_view path) {
    std::string uri = "file://";
    for (const char c : path) {
        if (is_unescaped_in_uri(c)) {
            uri += c;
        } else {
            uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return uri;
}

}  // namespace bunraku::lsp
