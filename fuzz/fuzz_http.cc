// SPDX-License-Identifier: Apache-2.0
// Bytes from a socket: request heads, chunked bodies, queries, URLs, compressed bodies. The first
// byte chooses the kind. Input in several chunks must give the same result as input in one chunk.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "net/http/path.h"
#include "net/http/url.h"
#include "net/http/wire.h"

using namespace bunraku;

static void head(std::string_view text) {
    http::HeadScanner scanner, stepwise;
    auto state = scanner.scan(text);
    auto step_state = http::HeadScanner::State::More;
    for (std::size_t n = 1; n <= text.size() && step_state == http::HeadScanner::State::More; n++)
        step_state = stepwise.scan(text.substr(0, n));
    if (!text.empty() && state != step_state) std::abort();
    if (state != http::HeadScanner::State::Found) return;
    if (scanner.size() != stepwise.size() || scanner.size() > text.size()) std::abort();
    http::Request request;
    http::Framing framing;
    auto fault = http::parse_request_head(text.substr(0, scanner.size()), request, framing);
    if (!fault) {
        if (!request.path.starts_with('/')) std::abort();
        if (framing.chunked && framing.content_length) std::abort();
    }
    int status = 0;
    http::Headers headers;
    http::parse_response_head(text.substr(0, scanner.size()), status, headers, framing);
}

static void chunks(std::string_view text) {
    http::ChunkedDecoder whole, stepwise;
    std::string out, step_out;
    auto rest = text;
    auto state = whole.feed(rest, out, 4096);
    auto step_state = http::ChunkedDecoder::State::More;
    std::size_t used = 0;
    while (used < text.size() && step_state == http::ChunkedDecoder::State::More) {
        auto piece = text.substr(used, 1);
        step_state = stepwise.feed(piece, step_out, 4096);
        if (piece.empty()) used++;
    }
    if (out.size() > 4096) std::abort();
    if (state != step_state || out != step_out) std::abort();
}

static void texts(std::string_view text) {
    if (auto decoded = http::percent_decode(text)) {
        if (http::percent_decode(http::percent_encode(*decoded)) != *decoded) std::abort();
    }
    if (auto path = http::canonical_path(text)) {
        // The canonical path is its own canonical form and decodes to the path in the request.
        if (http::canonical_path(*path) != path) std::abort();
        if (http::decoded_path(*path) != http::decoded_path(text)) std::abort();
        if (path->find("//") != std::string::npos) std::abort();
        if (path->find('\0') != std::string::npos) std::abort();
    }
    http::parse_query(text);
    http::parse_http_date(text);
    http::accepts_gzip(text);
    http::Request request;
    request.headers.add("Authorization", text);
    http::basic_credentials(request);
    http::bearer_token(request);
    if (auto url = http::parse_url(text)) {
        auto again = http::parse_url(url->text());
        if (!again || again->text() != url->text()) std::abort();
        http::resolve_url(*url, text);
    }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0] % 4) {
        case 0: head(text); break;
        case 1: chunks(text); break;
        case 2: texts(text); break;
        default: http::decode_content(data[0] & 4 ? "gzip" : "deflate", std::string(text), 1 << 16);
    }
    return 0;
}
