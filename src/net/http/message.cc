// SPDX-License-Identifier: Apache-2.0
#include "net/http/message.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <zlib.h>

#include "core/base/civil_time.h"
#include "core/base/text.h"
#include "core/base/text_view.h"
#include "core/codec/base64.h"
#include "core/codec/json_text.h"
#include "net/http/wire.h"

namespace bunraku::http {

namespace {

constexpr auto kHex = [] {
    std::array<signed char, 256> out{};
    out.fill(-1);
    for (int i = 0; i < 10; ++i)
        out[static_cast<std::size_t>('0' + i)] = static_cast<signed char>(i);
    for (int i = 10; i < 16; ++i) {
        out[static_cast<std::size_t>('a' + i - 10)] = static_cast<signed char>(i);
        out[static_cast<std::size_t>('A' + i - 10)] = static_cast<signed char>(i);
    }
    return out;
}();
int hex(char c) { return kHex[static_cast<unsigned char>(c)]; }

}  // namespace

std::string_view Headers::get(std::string_view name) const {
    for (const auto& [n, v] : fields_)
        if (base::same_ignoring_case(n, name)) return v;
    return {};
}

bool Headers::has(std::string_view name) const {
    for (const auto& [n, v] : fields_)
        if (base::same_ignoring_case(n, name)) return true;
    return false;
}

void Headers::set(std::string_view name, std::string_view value) {
    remove(name);
    add(name, value);
}

void Headers::add(std::string_view name, std::string_view value) {
    fields_.emplace_back(name, value);
}

void Headers::remove(std::string_view name) {
    std::erase_if(fields_, [&](const auto& f) { return base::same_ignoring_case(f.first, name); });
}

const std::string* ClientCertificate::extension(std::string_view wanted) const {
    for (const auto& e : extensions)
        if (e.name == wanted || e.oid == wanted) return &e.value;
    return nullptr;
}

std::string_view Peer::name() const {
    if (!certificate || certificate->trust != ClientCertificate::Trust::Verified) return {};
    return certificate->name;
}

const std::string* Request::query_value(std::string_view name) const {
    for (const auto& [n, v] : query)
        if (n == name) return &v;
    return nullptr;
}

std::string_view Request::param(std::string_view name) const {
    for (const auto& [n, v] : params)
        if (n == name) return v;
    return {};
}

Response Response::text(int status, std::string_view body) {
    Response r;
    r.status = status;
    r.headers.add("Content-Type", "text/plain;charset=utf-8");
    r.body = body;
    return r;
}

Response Response::json(int status, std::string body) {
    Response r;
    r.status = status;
    r.headers.add("Content-Type", "application/json;charset=utf-8");
    r.body = std::move(body);
    return r;
}

std::string_view reason(int status) {
    switch (status) {
        case 100: return "Continue";
        case 200: return "OK";
        case 201: return "Created";
        case 202: return "Accepted";
        case 204: return "No Content";
        case 206: return "Partial Content";
        case 301: return "Moved Permanently";
        case 302: return "Found";
        case 303: return "See Other";
        case 304: return "Not Modified";
        case 307: return "Temporary Redirect";
        case 308: return "Permanent Redirect";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 406: return "Not Acceptable";
        case 408: return "Request Timeout";
        case 409: return "Conflict";
        case 410: return "Gone";
        case 411: return "Length Required";
        case 412: return "Precondition Failed";
        case 413: return "Payload Too Large";
        case 414: return "URI Too Long";
        case 415: return "Unsupported Media Type";
        case 416: return "Range Not Satisfiable";
        case 417: return "Expectation Failed";
        case 422: return "Unprocessable Entity";
        case 429: return "Too Many Requests";
        case 431: return "Request Header Fields Too Large";
        case 500: return "Internal Server Error";
        case 501: return "Not Implemented";
        case 502: return "Bad Gateway";
        case 503: return "Service Unavailable";
        case 504: return "Gateway Timeout";
        case 505: return "HTTP Version Not Supported";
        case 507: return "Insufficient Storage";
        default: return "Unknown";
    }
}

std::optional<std::string> percent_decode(std::string_view text, Plus plus) {
    std::string out;
    // A form with all facts contains 50 KB of such text, encoded twice.
    out.resize(text.size());
    char* to = out.data();
    const char* from = text.data();
    for (const char* const end = from + text.size(); from != end; ++from) {
        const char c = *from;
        if (c == '%') {
            if (end - from < 3) return std::nullopt;
            const int high = hex(from[1]), low = hex(from[2]);
            if (high < 0 || low < 0) return std::nullopt;
            *to++ = static_cast<char>(high * 16 + low);
            from += 2;
        } else {
            *to++ = plus == Plus::Blank && c == '+' ? ' ' : c;
        }
    }
    out.resize(static_cast<std::size_t>(to - out.data()));
    if (!codec::is_utf8(out)) return std::nullopt;
    return out;
}

void append_percent_encoded(std::string& out, char c, bool plain) {
    if (plain) {
        out += c;
        return;
    }
    constexpr char kDigits[] = "0123456789ABCDEF";
    out += '%';
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
}

std::string percent_encode(std::string_view text, std::string_view keep) {
    std::string out;
    out.reserve(text.size() + 16);
    for (char c : text) {
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '.' || c == '_' || c == '~';
        append_percent_encoded(out, c, plain || keep.find(c) != std::string_view::npos);
    }
    return out;
}

std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view text) {
    std::vector<std::pair<std::string, std::string>> out;
    while (!text.empty()) {
        auto end = text.find('&');
        auto part = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        if (part.empty()) continue;
        auto equals = part.find('=');
        auto name = percent_decode(part.substr(0, equals), Plus::Blank);
        auto value = equals == std::string_view::npos
                         ? std::optional<std::string>(std::in_place)
                         : percent_decode(part.substr(equals + 1), Plus::Blank);
        if (!name || !value) return std::nullopt;
        out.emplace_back(std::move(*name), std::move(*value));
    }
    return out;
}

namespace {

enum class Inflated : std::uint8_t { Good, Broken, TooLong };

/// Decompresses to `out`, or only counts if `out` is null. `size` is set to the result's size.
/// `window` is the parameter of inflateInit2.
Inflated inflate_all(std::string_view in, int window, std::uint64_t limit, std::string* out,
                     std::uint64_t& size) {
    z_stream z{};
    if (inflateInit2(&z, window) != Z_OK) return Inflated::Broken;
    // One input may contain several gzip members in sequence (RFC 1952, 2.2).
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    std::size_t left = in.size();
    std::string thrown_away;
    if (out == nullptr) thrown_away.resize(std::size_t{64} << 10);
    size = 0;
    auto outcome = Inflated::Broken;
    while (true) {
        if (z.avail_in == 0 && left > 0) {
            z.avail_in = static_cast<uInt>(std::min<std::size_t>(left, 1u << 30));
            left -= z.avail_in;
        }
        const std::uint64_t room = limit - size + 1;
        const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(
            room, std::max<std::uint64_t>(std::uint64_t{64} << 10, out == nullptr ? 0 : size)));
        if (out != nullptr) out->resize(size + step);
        auto* to = out != nullptr ? out->data() + size : thrown_away.data();
        z.next_out = reinterpret_cast<Bytef*>(to);
        z.avail_out = static_cast<uInt>(step);
        const int result = inflate(&z, Z_NO_FLUSH);
        const std::size_t made = step - z.avail_out;
        size += made;
        if (out != nullptr) out->resize(size);
        if (size > limit) {
            outcome = Inflated::TooLong;
            break;
        }
        if (result == Z_STREAM_END) {
            if (z.avail_in == 0 && left == 0) {
                outcome = Inflated::Good;
                break;
            }
            if (window < 16 + 8 || inflateReset(&z) != Z_OK) break;
            continue;
        }
        if (result != Z_OK && result != Z_BUF_ERROR) break;
        if (made == 0 && z.avail_in == 0 && left == 0) break;  // truncated
    }
    inflateEnd(&z);
    return outcome;
}

/// Counts the output of long inputs before storing it, so that a few bytes that decompress to
/// gigabytes use no memory. With the size known, the text also does not need twice its memory while
/// it grows.
Inflated inflate_within(std::string_view in, int window, std::uint64_t limit, std::string& out) {
    constexpr std::uint64_t kCountedFrom = std::uint64_t{16} << 20;
    std::uint64_t size = 0;
    const auto first = inflate_all(in, window, std::min(limit, kCountedFrom), &out, size);
    if (first != Inflated::TooLong || limit <= kCountedFrom) return first;
    out = std::string();
    if (const auto all = inflate_all(in, window, limit, nullptr, size); all != Inflated::Good) {
        return all;
    }
    out.reserve(size + 1);
    return inflate_all(in, window, size, &out, size);
}

}  // namespace

DecodedBody decoded_body(const Request& request, std::uint64_t limit) {
    return decode_content(request.headers.get("Content-Encoding"), request.body, limit);
}

DecodedBody decode_content(std::string_view encoding, const std::string& body,
                           std::uint64_t limit) {
    DecodedBody out;
    encoding = base::trim(encoding, " \t");
    if (encoding.empty() || base::same_ignoring_case(encoding, "identity")) {
        if (body.size() > limit) {
            out.status = 413;
            out.message = fmt::format("The body is longer than {} bytes", limit);
        } else {
            out.body = body;
        }
        return out;
    }
    bool gzipped =
        base::same_ignoring_case(encoding, "gzip") || base::same_ignoring_case(encoding, "x-gzip");
    if (!gzipped && !base::same_ignoring_case(encoding, "deflate")) {
        out.status = 415;
        out.message = fmt::format("content encoding {} not supported", encoding);
        return out;
    }
    auto outcome = inflate_within(body, gzipped ? 15 + 16 : 15, limit, out.body);
    // By the standard, "deflate" is the zlib format, but some programs send raw deflate data.
    if (outcome == Inflated::Broken && !gzipped)
        outcome = inflate_within(body, -15, limit, out.body);
    if (outcome == Inflated::Good) return out;
    const bool too_long = outcome == Inflated::TooLong;
    out.body = std::string();
    out.status = too_long ? 413 : 400;
    out.message = too_long ? fmt::format("The body decompresses to more than {} bytes", limit)
                           : fmt::format("The body is not valid {}", encoding);
    return out;
}

std::string gzip(std::string_view bytes, int level) {
    z_stream z{};
    std::string out;
    if (deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return out;
    out.resize(deflateBound(&z, bytes.size()) + 32);
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    std::size_t room = out.size(), left = bytes.size();
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    int result = Z_OK;
    while (result == Z_OK) {
        uInt give = static_cast<uInt>(std::min<std::size_t>(left, 1u << 30));
        uInt take = static_cast<uInt>(std::min<std::size_t>(room, 1u << 30));
        z.avail_in = give;
        z.avail_out = take;
        result = deflate(&z, left == give ? Z_FINISH : Z_NO_FLUSH);
        left -= give - z.avail_in;
        room -= take - z.avail_out;
    }
    out.resize(out.size() - room);
    deflateEnd(&z);
    return out;
}

std::optional<std::pair<std::string, std::string>> basic_credentials(const Request& request) {
    auto value = request.headers.get("Authorization");
    if (value.size() < 6 || !base::same_ignoring_case(value.substr(0, 6), "Basic "))
        return std::nullopt;
    auto decoded = codec::base64_decode(base::trim(value.substr(6), " \t"));
    if (!decoded) return std::nullopt;
    auto colon = decoded->find(':');
    if (colon == std::string::npos) return std::nullopt;
    return std::pair(decoded->substr(0, colon), decoded->substr(colon + 1));
}

std::string_view bearer_token(const Request& request) {
    auto value = request.headers.get("Authorization");
    if (value.size() < 7 || !base::same_ignoring_case(value.substr(0, 7), "Bearer ")) return {};
    return base::trim(value.substr(7), " \t");
}

std::string http_date(std::int64_t seconds) {
    return base::rfc1123_text(base::civil_time(seconds));
}

// Accepts only the form that all clients have sent for decades (RFC 9110, 5.6.7: IMF-fixdate).
std::optional<std::int64_t> parse_http_date(std::string_view s) {
    if (s.size() != 29 || s.substr(3, 2) != ", " || s[5] == ' ' || s[7] != ' ' || s[19] != ':' ||
        s[22] != ':' || s.substr(25) != " GMT") {
        return std::nullopt;
    }
    const auto time = base::parse_rfc822_time(s);
    if (!time || time->hour > 23) return std::nullopt;
    return time->seconds();
}

}  // namespace bunraku::http
