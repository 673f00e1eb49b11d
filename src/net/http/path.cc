// SPDX-License-Identifier: Apache-2.0
#include "net/http/path.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "core/base/assert.h"
#include "net/http/message.h"

namespace bunraku::http {

namespace {

/// "pchar" of RFC 3986, 3.3.
constexpr std::array<bool, 256> plain_table() {
    std::array<bool, 256> table{};
    for (char c = 'a'; c <= 'z'; c++) table[static_cast<unsigned char>(c)] = true;
    for (char c = 'A'; c <= 'Z'; c++) table[static_cast<unsigned char>(c)] = true;
    for (char c = '0'; c <= '9'; c++) table[static_cast<unsigned char>(c)] = true;
    for (char c : std::string_view("-._~!$&'()*+,;=:@"))
        table[static_cast<unsigned char>(c)] = true;
    return table;
}
constexpr auto kPlain = plain_table();

bool is_plain(char c) { return kPlain[static_cast<unsigned char>(c)]; }

unsigned hex_value(char c) {
    return static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

/// Paths below these end with a file path. In it, an encoded slash is a separator, and repeated
/// slashes count as one. Manifests contain "puppet:///modules/ntp//ntp.conf", and file bucket keys
/// end with an absolute path, "sha256/SUM//etc/hosts".
constexpr std::string_view kFileKeys[] = {
    "/puppet/v3/file_bucket_file/", "/puppet/v3/file_metadata/", "/puppet/v3/file_metadatas/",
    "/puppet/v3/file_content/", "/puppet/v3/static_file_content/"};

bool has_file_key(std::string_view path) {
    return std::any_of(std::begin(kFileKeys), std::end(kFileKeys),
                       [&](std::string_view prefix) { return path.starts_with(prefix); });
}

/// Reports whether auth.conf's rules, which see only decoded paths, guard the path.
bool is_puppets(std::string_view path) { return path.starts_with("/puppet"); }

/// Decodes encoded slashes and merges repeated slashes.
std::string with_plain_slashes(std::string_view path) {
    BUNRAKU_ASSERT(path.starts_with('/'));
    std::string out;
    out.reserve(path.size());
    for (std::size_t i = 0; i < path.size(); i++) {
        char c = path[i];
        if (path.substr(i).starts_with("%2F")) {
            c = '/';
            i += 2;
        }
        if (c != '/' || !out.ends_with('/')) out += c;
    }
    return out;
}

/// Reports whether `path` contains an encoded slash or an encoded control character.
bool has_hidden_separator(std::string_view path) {
    for (std::size_t i = 0; i + 2 < path.size(); i++) {
        if (path[i] != '%') continue;
        const auto value = hex_value(path[i + 1]) * 16 + hex_value(path[i + 2]);
        if (value == '/' || value < 0x20 || value == 0x7f) return true;
        i += 2;
    }
    return false;
}

/// Reports whether only the last segment is empty, and none is "." or "..".
bool good_segments(std::string_view path) {
    while (true) {
        BUNRAKU_ASSERT(path.starts_with('/'));
        path.remove_prefix(1);
        auto end = path.find('/');
        auto segment = path.substr(0, end);
        if (segment == "." || segment == "..") return false;
        if (end == std::string_view::npos) return true;
        if (segment.empty()) return false;
        path.remove_prefix(end);
    }
}

}  // namespace

std::optional<std::string> canonical_path(std::string_view path) {
    if (!path.starts_with('/')) return std::nullopt;
    bool plain = true;
    for (char c : path) plain = plain && (c == '/' || is_plain(c));
    std::string out;
    if (plain) {
        out = path;
    } else {
        // Validates the escapes and the encoding.
        auto decoded = percent_decode(path);
        if (!decoded || decoded->find('\0') != std::string::npos) return std::nullopt;
        out.reserve(path.size());
        for (std::size_t i = 0; i < path.size(); i++) {
            char c = path[i];
            const bool separator = c == '/';
            if (c == '%') {
                c = static_cast<char>(hex_value(path[i + 1]) * 16 + hex_value(path[i + 2]));
                i += 2;
            }
            if (separator) {
                out += c;
            } else {
                append_percent_encoded(out, c, is_plain(c));
            }
        }
    }
    if (has_file_key(out)) out = with_plain_slashes(out);
    if (!good_segments(out)) return std::nullopt;
    if (is_puppets(out) && has_hidden_separator(out)) return std::nullopt;
    BUNRAKU_ASSERT(out.starts_with('/') && out.find('\0') == std::string::npos);
    return out;
}

std::string decoded_path(std::string_view canonical) {
    std::string out;
    for (char c : percent_decode(canonical).value_or(std::string(canonical)))
        if (c != '/' || !out.ends_with('/')) out += c;
    return out;
}

}  // namespace bunraku::http
