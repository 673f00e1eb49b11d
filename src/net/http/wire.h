// SPDX-License-Identifier: Apache-2.0
// The bytes of HTTP/1.1: heads and chunked bodies, parsed strictly (RFC 9112). Ambiguous input is
// refused, because request smuggling depends on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http/message.h"

namespace bunraku::http {

/// Finds the end of a head in data that arrives in pieces. Checks every byte only once.
class HeadScanner {
public:
    enum class State { More, Found, Bad };
    /// `data` is the head as received so far. Returns Bad for a line end without CR.
    State scan(std::string_view data);
    /// After Found: the length of the head, including its empty line.
    std::size_t size() const { return position_; }
    void reset() { position_ = 0; }

private:
    std::size_t position_ = 0;
};

/// The properties of the connection and the body that a head specifies.
struct Framing {
    bool http11 = true;
    bool keep_alive = true;
    bool chunked = false;
    std::optional<std::uint64_t> content_length;
    bool expects_continue = false;
};

/// An error in a head; status 0 means none.
struct Fault {
    int status = 0;
    std::string message;
    explicit operator bool() const { return status != 0; }
};

/// Parses a complete request head into method, target, path, query and headers. Refuses more than
/// `max_fields` header fields.
Fault parse_request_head(std::string_view head, Request& request, Framing& framing,
                         std::size_t max_fields = 200);
/// Parses a response head in the same way.
Fault parse_response_head(std::string_view head, int& status, Headers& headers, Framing& framing);

/// Decodes a chunked body. Trailers are read and dropped.
class ChunkedDecoder {
public:
    enum class State { More, Done, Bad, TooLong };
    /// Removes bytes from the front of `in` and appends the content to `out`, until the body ends
    /// or `in` is empty. `limit` applies to all content since the start.
    State feed(std::string_view& in, std::string& out, std::uint64_t limit);

private:
    enum class Phase { Size, Extension, SizeEnd, Data, DataCr, DataLf, Trailer, Done };
    Phase phase_ = Phase::Size;
    std::uint64_t left_ = 0, total_ = 0;
    int digits_ = 0;
    std::uint32_t overhead_ = 0;  ///< bytes of extensions and trailers
    std::string line_;            ///< current line of the trailer
};

/// Does decoded_body; `encoding` is the value of Content-Encoding.
DecodedBody decode_content(std::string_view encoding, const std::string& body, std::uint64_t limit);

/// Reports whether an Accept-Encoding value contains "gzip" without q=0.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace bunraku::http
