// SPDX-License-Identifier: Apache-2.0
// A response in its wire format: status line and fields as bytes, and the body as it will be sent.
// Independent of sockets; internal to this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "net/http/message.h"

namespace bunraku::http {

class BodyStream;

/// Compresses with gzip piece by piece.
class GzipStream {
public:
    GzipStream();
    ~GzipStream();
    GzipStream(const GzipStream&) = delete;
    GzipStream& operator=(const GzipStream&) = delete;
    /// Appends the output for `in`; `last` ends the stream.
    void feed(std::string_view in, bool last, std::string& out);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

struct Outgoing {
    Outgoing() = default;
    Outgoing(Outgoing&& other) noexcept { *this = std::move(other); }
    Outgoing& operator=(Outgoing&& other) noexcept;
    ~Outgoing();

    int status = 200;
    std::string head;
    std::string body;  ///< the body, or a producer's first piece
    bool keep_alive = true;

    BodyProducer producer;               ///< produces the rest of the body
    std::shared_ptr<BodyStream> stream;  ///< follows the head instead of a body
    /// true for chunked framing; otherwise the connection's end is the end of the body
    bool chunked = false;
    std::unique_ptr<GzipStream> compressor;

    int file = -1;  ///< sent after the head
    std::uint64_t file_offset = 0, file_left = 0;

    /// Stores the producer's next piece in `out`, with at least `enough` bytes unless it is the
    /// last. Returns false after the last piece; `out` may still contain bytes then. Passes on the
    /// producer's exceptions.
    bool pull(std::string& out, std::size_t enough);
};

/// Properties of the request and the connection that decide the form of the response.
struct AnswerTo {
    bool head_request = false;
    bool http11 = true;
    bool keep_alive = true;
    bool gzip = false;      ///< the client accepts gzip
    std::int64_t date = 0;  ///< seconds since the epoch
};

/// Pulls a producer's first piece, opens the file, compresses. May be slow, and may throw.
Outgoing prepare(Response&& response, const AnswerTo& to);

/// Returns the value of "Date", computed once a second in each thread.
const std::string& date_text(std::int64_t seconds);

}  // namespace bunraku::http
