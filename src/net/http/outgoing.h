// A response made ready for the wire: status line and fields as bytes, the body as it will be
// sent. Nothing here knows sockets; inside this folder only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "net/http/message.h"

namespace bunraku::http {

/// gzip piece by piece.
class GzipStream {
public:
    GzipStream();
    ~GzipStream();
    GzipStream(const GzipStream&) = delete;
    GzipStream& operator=(const GzipStream&) = delete;
    /// Appends what comes out for `in`; `last` ends the stream.
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
    std::string body;  ///< or the first piece of a producer
    bool keep_alive = true;

    BodyProducer producer;  ///< there is more to come
    bool chunked = false;   ///< its pieces are framed; else they end with the connection
    std::unique_ptr<GzipStream> compressor;

    int file = -1;  ///< sent behind the head
    std::uint64_t file_offset = 0, file_left = 0;

    /// The next piece of a producer in `out`, at least `enough` bytes unless it is the last. False:
    /// that was the last one (`out` may still hold bytes). May throw what the producer throws.
    bool pull(std::string& out, std::size_t enough);
};

/// What of the request and the connection decides on the form of the answer.
struct AnswerTo {
    bool head_request = false;
    bool http11 = true;
    bool keep_alive = true;
    bool gzip = false;      ///< the client takes it
    std::int64_t date = 0;  ///< seconds since the epoch
};

/// Pulls the first piece of a producer, opens the file, compresses. May take its time; may throw.
Outgoing prepare(Response&& response, const AnswerTo& to);

/// The "Date" value, made once a second and thread.
const std::string& date_text(std::int64_t seconds);

}  // namespace bunraku::http
