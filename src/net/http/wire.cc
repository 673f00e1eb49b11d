// SPDX-License-Identifier: Apache-2.0
#include "net/http/wire.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/base/text_view.h"
#include "net/http/path.h"

namespace bunraku::http {

namespace {

/// Characters of tokens (RFC 9110, 5.6.2).
constexpr std::array<bool, 256> token_table() {
    std::array<bool, 256> table{};
    for (char c = 'a'; c <= 'z'; c++) table[static_cast<unsigned char>(c)] = true;
    for (char c = 'A'; c <= 'Z'; c++) table[static_cast<unsigned char>(c)] = true;
    for (char c = '0'; c <= '9'; c++) table[static_cast<unsigned char>(c)] = true;
    for (char c : std::string_view("!#$%&'*+-.^_`|~")) table[static_cast<unsigned char>(c)] = true;
    return table;
}
constexpr auto kToken = token_table();

bool is_token(std::string_view s) {
    for (char c : s)
        if (!kToken[static_cast<unsigned char>(c)]) return false;
    return !s.empty();
}

Fault bad(std::string message, int status = 400) { return {status, std::move(message)}; }

/// Calls `each` for every trimmed, non-empty element of a comma-separated list.
template <class F>
void each_member(std::string_view list, F each) {
    while (!list.empty()) {
        auto comma = list.find(',');
        if (auto member = base::trim(list.substr(0, comma), " \t"); !member.empty()) each(member);
        list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    }
}

/// Removes one line with its CRLF from the front.
std::string_view take_line(std::string_view& head) {
    auto end = head.find("\r\n");
    auto line = head.substr(0, end);
    head = end == std::string_view::npos ? std::string_view() : head.substr(end + 2);
    return line;
}

/// Parses the fields of a head after its first line.
Fault parse_fields(std::string_view head, Headers& headers, Framing& framing, bool request,
                   std::size_t max_fields) {
    std::size_t hosts = 0;
    bool transfer_encoding = false, close = false, keep = false;
    while (true) {
        auto line = take_line(head);
        if (line.empty()) break;
        if (line.front() == ' ' || line.front() == '\t')
            return bad("Folded header lines are not accepted");
        auto colon = line.find(':');
        if (colon == std::string_view::npos) return bad("A header line has no colon");
        auto name = line.substr(0, colon);
        if (!is_token(name)) return bad("A header name contains invalid characters");
        auto value = base::trim(line.substr(colon + 1), " \t");
        for (char c : value) {
            auto u = static_cast<unsigned char>(c);
            if ((u < 0x20 && c != '\t') || u == 0x7f)
                return bad("A header value contains control characters");
        }
        if (headers.size() >= max_fields) return bad("Too many header fields", 431);
        // The few relevant names are distinguished by their lengths first.
        switch (name.size()) {
            case 4:
                if (base::same_ignoring_case(name, "Host")) hosts++;
                break;
            case 6:
                if (request && base::same_ignoring_case(name, "Expect")) {
                    if (!base::same_ignoring_case(value, "100-continue"))
                        return bad("This expectation cannot be met", 417);
                    framing.expects_continue = true;
                }
                break;
            case 10:
                if (base::same_ignoring_case(name, "Connection")) {
                    each_member(value, [&](std::string_view m) {
                        if (base::same_ignoring_case(m, "close")) close = true;
                        if (base::same_ignoring_case(m, "keep-alive")) keep = true;
                    });
                }
                break;
            case 14:
                if (base::same_ignoring_case(name, "Content-Length")) {
                    if (framing.content_length) return bad("Content-Length is given twice");
                    std::uint64_t length = 0;
                    if (value.empty() || value.size() > 18) return bad("Bad Content-Length");
                    for (char c : value) {
                        if (c < '0' || c > '9') return bad("Bad Content-Length");
                        length = length * 10 + static_cast<std::uint64_t>(c - '0');
                    }
                    framing.content_length = length;
                }
                break;
            case 17:
                if (base::same_ignoring_case(name, "Transfer-Encoding")) {
                    if (transfer_encoding) return bad("Transfer-Encoding is given twice");
                    transfer_encoding = true;
                    if (!base::same_ignoring_case(value, "chunked"))
                        return bad("This Transfer-Encoding is not supported", request ? 501 : 400);
                    framing.chunked = true;
                }
                break;
            default: break;
        }
        headers.add(name, value);
    }
    if (transfer_encoding && framing.content_length)
        return bad("Both Content-Length and Transfer-Encoding are given");
    if (transfer_encoding && !framing.http11)
        return bad("Transfer-Encoding is not allowed in HTTP/1.0");
    if (request && (hosts > 1 || (hosts == 0 && framing.http11)))
        return bad("Exactly one Host header is required");
    BUNRAKU_ASSERT(!framing.chunked || (framing.http11 && !framing.content_length));
    framing.keep_alive = !close && (framing.http11 || keep);
    return {};
}

/// Parses "HTTP/1.1". The status is 0 on success.
Fault parse_version(std::string_view text, Framing& framing) {
    if (text.size() != 8 || !text.starts_with("HTTP/") || text[6] != '.')
        return bad("This is not HTTP");
    if (text[5] != '1') return bad("Only HTTP/1.0 and HTTP/1.1 are supported", 505);
    if (text[7] < '0' || text[7] > '9') return bad("This is not HTTP");
    framing.http11 = text[7] != '0';
    return {};
}

}  // namespace

HeadScanner::State HeadScanner::scan(std::string_view data) {
    BUNRAKU_ASSERT(position_ <= data.size());
    while (position_ < data.size()) {
        const void* found = std::memchr(data.data() + position_, '\n', data.size() - position_);
        if (!found) {
            position_ = data.size();
            return State::More;
        }
        BUNRAKU_ASSERT(found >= data.data() + position_);
        auto at = static_cast<std::size_t>(static_cast<const char*>(found) - data.data());
        if (at == 0 || data[at - 1] != '\r') return State::Bad;
        position_ = at + 1;
        if (at >= 3 && data[at - 2] == '\n') return State::Found;
    }
    return State::More;
}

Fault parse_request_head(std::string_view head, Request& request, Framing& framing,
                         std::size_t max_fields) {
    request.method.clear();
    request.target.clear();
    request.path.clear();
    request.query.clear();
    request.headers = {};
    framing = {};
    auto line = take_line(head);
    auto first = line.find(' '), last = line.rfind(' ');
    if (first == std::string_view::npos || first == last) return bad("This is not HTTP");
    auto method = line.substr(0, first);
    auto target = line.substr(first + 1, last - first - 1);
    if (!is_token(method) || method.size() > 32) return bad("Bad method");
    if (auto fault = parse_version(line.substr(last + 1), framing)) return fault;
    for (char c : target) {
        auto u = static_cast<unsigned char>(c);
        if (u <= 0x20 || u == 0x7f) return bad("Invalid characters in the request target");
    }
    request.method = method;
    request.target = target;
    if (auto fault = parse_fields(head, request.headers, framing, true, max_fields)) return fault;
    // Clients send the absolute form to proxies, but every server must accept it.
    for (std::string_view scheme : {"http://", "https://"}) {
        if (!target.starts_with(scheme)) continue;
        auto slash = target.find_first_of("/?", scheme.size());
        // RFC 9110, 4.2.4: userinfo is an error.
        if (target.substr(0, slash).find('@') != std::string_view::npos)
            return bad("Invalid request target");
        if (slash == std::string_view::npos) {
            target = "/";
        } else if (target[slash] == '?') {
            return bad("Invalid request target");
        } else {
            target = target.substr(slash);
        }
        break;
    }
    if (auto hash = target.find('#'); hash != std::string_view::npos)
        target = target.substr(0, hash);
    if (!target.starts_with('/')) return bad("Invalid request target");
    auto mark = target.find('?');
    auto path = canonical_path(target.substr(0, mark));
    if (!path) return bad(std::string(kBadPath));
    BUNRAKU_ASSERT(path->starts_with('/'));
    request.path = std::move(*path);
    if (mark != std::string_view::npos) {
        auto query = parse_query(target.substr(mark + 1));
        if (!query) return bad("The query is not valid percent-encoded UTF-8");
        request.query = std::move(*query);
    }
    return {};
}

Fault parse_response_head(std::string_view head, int& status, Headers& headers, Framing& framing) {
    headers = {};
    framing = {};
    auto line = take_line(head);
    if (line.size() < 12 || line[8] != ' ' || (line.size() > 12 && line[12] != ' '))
        return bad("the response is not HTTP");
    if (parse_version(line.substr(0, 8), framing)) return bad("the response is not HTTP/1.1");
    status = 0;
    for (char c : line.substr(9, 3)) {
        if (c < '0' || c > '9') return bad("the response is not HTTP");
        status = status * 10 + (c - '0');
    }
    if (status < 100) return bad("the response is not HTTP");
    return parse_fields(head, headers, framing, false, 1000);
}

ChunkedDecoder::State ChunkedDecoder::feed(std::string_view& in, std::string& out,
                                           std::uint64_t limit) {
    constexpr std::uint32_t kMaxOverhead = 16 << 10;
    while (!in.empty() && phase_ != Phase::Done) {
        char c = in.front();
        switch (phase_) {
            case Phase::Size: {
                int digit = c >= '0' && c <= '9'   ? c - '0'
                            : c >= 'a' && c <= 'f' ? c - 'a' + 10
                            : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                   : -1;
                if (digit >= 0) {
                    if (++digits_ > 15) return State::Bad;
                    left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
                    break;
                }
                if (digits_ == 0) return State::Bad;
                if (left_ > limit || total_ > limit - left_) return State::TooLong;
                if (c == ';') {
                    phase_ = Phase::Extension;
                } else if (c == '\r') {
                    phase_ = Phase::SizeEnd;
                } else {
                    return State::Bad;
                }
                break;
            }
            case Phase::Extension:
                if (c == '\r') {
                    phase_ = Phase::SizeEnd;
                } else if (static_cast<unsigned char>(c) < 0x20 && c != '\t') {
                    return State::Bad;
                } else if (++overhead_ > kMaxOverhead) {
                    return State::Bad;
                }
                break;
            case Phase::SizeEnd:
                if (c != '\n') return State::Bad;
                phase_ = left_ ? Phase::Data : Phase::Trailer;
                break;
            case Phase::Data: {
                BUNRAKU_ASSERT(left_ > 0);
                auto n = static_cast<std::size_t>(std::min<std::uint64_t>(left_, in.size()));
                out.append(in.data(), n);
                in.remove_prefix(n);
                left_ -= n;
                total_ += n;
                BUNRAKU_ASSERT(total_ + left_ <= limit);
                if (left_ == 0) phase_ = Phase::DataCr;
                continue;
            }
            case Phase::DataCr:
                if (c != '\r') return State::Bad;
                phase_ = Phase::DataLf;
                break;
            case Phase::DataLf:
                if (c != '\n') return State::Bad;
                BUNRAKU_ASSERT(left_ == 0);
                phase_ = Phase::Size;
                digits_ = 0;
                break;
            case Phase::Trailer:
                if (++overhead_ > kMaxOverhead) return State::Bad;
                if (c == '\n') {
                    if (line_.empty() || line_.back() != '\r') return State::Bad;
                    if (line_.size() == 1) phase_ = Phase::Done;
                    line_.clear();
                } else {
                    if (!line_.empty() && line_.back() == '\r') return State::Bad;
                    line_ += c;
                }
                break;
            case Phase::Done: break;
        }
        BUNRAKU_ASSERT(!in.empty());
        in.remove_prefix(1);
    }
    return phase_ == Phase::Done ? State::Done : State::More;
}

bool accepts_gzip(std::string_view accept_encoding) {
    bool accepted = false;
    each_member(accept_encoding, [&](std::string_view member) {
        auto semicolon = member.find(';');
        auto name = base::trim(member.substr(0, semicolon), " \t");
        if (!base::same_ignoring_case(name, "gzip") && !base::same_ignoring_case(name, "x-gzip") &&
            name != "*")
            return;
        bool wanted = true;
        if (semicolon != std::string_view::npos) {
            auto q = base::trim(member.substr(semicolon + 1), " \t");
            // "q=0", "q=0.000"
            if (q.starts_with("q=0") && q.find_first_not_of("0.", 2) == std::string_view::npos)
                wanted = false;
        }
        if (name != "*")
            accepted = wanted;
        else if (wanted)
            accepted = true;
    });
    return accepted;
}

}  // namespace bunraku::http
