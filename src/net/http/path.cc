#include "net/http/path.h"

#include <algorithm>
#include <array>
#include <iterator>

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

/// Behind these segments may be empty, since who may use what is the same for all of them. Keys of
/// a file bucket end with an absolute path, "sha256/SUM//etc/hosts", as Puppet's agents send them;
/// and manifests say "puppet:///modules/ntp//ntp.conf".
constexpr std::string_view kMayBeEmpty[] = {
    "/puppet/v3/file_bucket_file/", "/puppet/v3/file_metadata/", "/puppet/v3/file_metadatas/",
    "/puppet/v3/file_content/"};

/// No empty segment but the last, none of dots.
bool good_segments(std::string_view path) {
    const bool may_be_empty =
        std::any_of(std::begin(kMayBeEmpty), std::end(kMayBeEmpty),
                    [&](std::string_view prefix) { return path.starts_with(prefix); });
    while (true) {
        path.remove_prefix(1);
        auto end = path.find('/');
        auto segment = path.substr(0, end);
        if (segment == "." || segment == "..") return false;
        if (end == std::string_view::npos) return true;
        if (segment.empty() && !may_be_empty) return false;
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
        // Checks the escapes and the encoding.
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
    if (!good_segments(out)) return std::nullopt;
    return out;
}

}  // namespace bunraku::http
