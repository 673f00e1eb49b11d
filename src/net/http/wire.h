// HTTP/1.1 as bytes: heads and chunked bodies, read strictly (RFC 9112). What two readers might
// understand in two ways is refused, since that is what request smuggling lives on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http/message.h"

namespace bunraku::http {

/// Finds the end of a head in bytes that come bit by bit, looking at every byte once.
class HeadScanner {
public:
    enum class State { More, Found, Bad };
    /// `data` is all that has come of the head so far. Bad: a line end without its CR.
    State scan(std::string_view data);
    /// Found: the length of the head with its empty line.
    std::size_t size() const { return position_; }
    void reset() { position_ = 0; }

private:
    std::size_t position_ = 0;
};

/// What a head says about the connection and the body.
struct Framing {
    bool http11 = true;
    bool keep_alive = true;
    bool chunked = false;
    std::optional<std::uint64_t> content_length;
    bool expects_continue = false;
};

/// What is wrong with a head; status 0: nothing.
struct Fault {
    int status = 0;
    std::string message;
    explicit operator bool() const { return status != 0; }
};

/// Fills method, target, path, query and headers of a request from a whole head. More than
/// `max_fields` header fields are refused.
Fault parse_request_head(std::string_view head, Request& request, Framing& framing,
                         std::size_t max_fields = 200);
/// The same of a response.
Fault parse_response_head(std::string_view head, int& status, Headers& headers, Framing& framing);

/// Takes a chunked body apart. Trailers are read and forgotten.
class ChunkedDecoder {
public:
    enum class State { More, Done, Bad, TooLong };
    /// Takes bytes off the front of `in` and appends content to `out`, until the body ends or `in`
    /// is used up. `limit` bounds all content since the start.
    State feed(std::string_view& in, std::string& out, std::uint64_t limit);

private:
    enum class Phase { Size, Extension, SizeEnd, Data, DataCr, DataLf, Trailer, Done };
    Phase phase_ = Phase::Size;
    std::uint64_t left_ = 0, total_ = 0;
    int digits_ = 0;
    std::uint32_t overhead_ = 0;  ///< bytes of extensions and trailers
    std::string line_;            ///< of the trailer
};

/// See decoded_body; `encoding` is the value of Content-Encoding.
DecodedBody decode_content(std::string_view encoding, const std::string& body, std::uint64_t limit);

/// "gzip" stands in an Accept-Encoding value and is not refused with q=0.
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace bunraku::http
