// SPDX-License-Identifier: Apache-2.0
#include "net/http/outgoing.h"

#include <array>
#include <charconv>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "net/http/body_stream.h"

namespace bunraku::http {

namespace {

/// Shorter bodies fit in one packet anyway.
constexpr std::size_t kWorthCompressing = 1400;
constexpr std::size_t kPiece = 64 << 10;

/// Reports whether only the server may write the field.
bool is_servers_own(std::string_view name) {
    return base::same_ignoring_case(name, "Date") ||
           base::same_ignoring_case(name, "Content-Length") ||
           base::same_ignoring_case(name, "Connection") ||
           base::same_ignoring_case(name, "Transfer-Encoding");
}

/// Reports whether a media type is worth compressing.
bool shrinks(std::string_view type) {
    for (std::string_view part : {"json", "text", "xml", "javascript", "yaml", "pson"})
        if (type.find(part) != std::string_view::npos) return true;
    return false;
}

/// Appends a field value without characters that could end its line.
void append_safely(std::string& out, std::string_view text) {
    if (text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos) {
        out += text;
        return;
    }
    for (char c : text) out += c == '\r' || c == '\n' || c == '\0' ? ' ' : c;
}

void append_number(std::string& out, std::uint64_t n) {
    char buffer[24];
    auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, n);
    out.append(buffer, static_cast<std::size_t>(end - buffer));
}

}  // namespace

struct GzipStream::Impl {
    z_stream z{};
};

GzipStream::GzipStream() : impl_(std::make_unique<Impl>()) {
    deflateInit2(&impl_->z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

GzipStream::~GzipStream() { deflateEnd(&impl_->z); }

void GzipStream::feed(std::string_view in, bool last, std::string& out) {
    BUNRAKU_ASSERT(in.size() <= UINT_MAX);
    auto& z = impl_->z;
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    z.avail_in = static_cast<uInt>(in.size());
    while (true) {
        std::size_t had = out.size();
        constexpr std::size_t kStep = 32 << 10;
        out.resize(had + kStep);
        z.next_out = reinterpret_cast<Bytef*>(out.data() + had);
        z.avail_out = kStep;
        int result = deflate(&z, last ? Z_FINISH : Z_NO_FLUSH);
        out.resize(had + kStep - z.avail_out);
        if (z.avail_out != 0 || (result != Z_OK && result != Z_BUF_ERROR)) return;
    }
}

Outgoing& Outgoing::operator=(Outgoing&& other) noexcept {
    if (this == &other) return *this;
    if (file >= 0) ::close(file);
    if (stream) stream->detach();
    status = other.status;
    head = std::move(other.head);
    body = std::move(other.body);
    keep_alive = other.keep_alive;
    producer = std::move(other.producer);
    other.producer = nullptr;
    stream = std::exchange(other.stream, nullptr);
    chunked = other.chunked;
    compressor = std::move(other.compressor);
    file = std::exchange(other.file, -1);
    file_offset = other.file_offset;
    file_left = std::exchange(other.file_left, 0);
    BUNRAKU_ASSERT(file >= 0 || file_left == 0);
    return *this;
}

Outgoing::~Outgoing() {
    if (stream) stream->detach();
    if (file >= 0) ::close(file);
}

bool Outgoing::pull(std::string& out, std::size_t enough) {
    out.clear();
    std::string piece;
    while (out.size() < enough) {
        piece.clear();
        bool more = producer && producer(piece);
        if (compressor) {
            compressor->feed(piece, !more, out);
        } else if (out.empty()) {
            out = std::move(piece);
        } else {
            out += piece;
        }
        if (!more) {
            producer = nullptr;
            return false;
        }
    }
    BUNRAKU_ASSERT(out.size() >= enough && producer);
    return true;
}

const std::string& date_text(std::int64_t seconds) {
    thread_local std::int64_t second = -1;
    thread_local std::string text;
    if (seconds != second) {
        second = seconds;
        text = http_date(seconds);
    }
    return text;
}

/// Opens the file of a response. If that fails, replaces the response by an error.
static void open_file(Response& response, Outgoing& out) {
    if (!response.file) return;
    out.file = ::open(response.file->path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status{};
    const bool good = out.file >= 0 && ::fstat(out.file, &status) == 0 && S_ISREG(status.st_mode);
    const auto size = good ? static_cast<std::uint64_t>(status.st_size) : 0;
    if (good && response.file->offset <= size &&
        response.file->length <= size - response.file->offset) {
        out.file_offset = response.file->offset;
        out.file_left = response.file->length;
        return;
    }
    // The file no longer exists, or is shorter than the handler expected.
    response = Response::text(good ? 500 : 404, reason(good ? 500 : 404));
    if (out.file >= 0) ::close(out.file);
    out.file = -1;
}

/// Writes the status line, the date and the headers of the response.
static void begin_head(int status, std::int64_t date, const Response& response, std::string& head) {
    head.reserve(256);
    head = "HTTP/1.1 ";
    append_number(head, static_cast<std::uint64_t>(status));
    head += ' ';
    head += reason(status);
    head += "\r\nDate: ";
    head += date_text(date);
    for (const auto& [name, value] : response.headers) {
        if (is_servers_own(name)) continue;
        head += "\r\n";
        append_safely(head, name);
        head += ": ";
        append_safely(head, value);
    }
}

Outgoing prepare(Response&& response, const AnswerTo& to) {
    Outgoing out;
    out.keep_alive =
        to.keep_alive && !base::same_ignoring_case(response.headers.get("Connection"), "close");
    open_file(response, out);
    out.status = response.status < 200 || response.status > 999 ? 500 : response.status;
    bool no_body = out.status == 204 || out.status == 304;
    bool compress = to.gzip && response.compressible && !response.file && !no_body &&
                    !response.headers.has("Content-Encoding") && out.status != 206 &&
                    shrinks(response.headers.get("Content-Type"));
    bool streams = false;
    const auto stream = stream_of(response);
    if (stream) {
        // Other requests on this connection would have to wait for the end of the stream.
        out.keep_alive = false;
        streams = !no_body && !to.head_request;
        out.chunked = streams && to.http11;
        if (streams) {
            out.stream = stream;
        } else {
            stream->detach();
        }
        compress = false;
    } else if (response.producer && !no_body && !to.head_request) {
        out.producer = std::move(response.producer);
        // A short stream becomes an ordinary body.
        streams = out.pull(out.body, kPiece);
        if (streams) {
            out.chunked = to.http11;
            if (!to.http11) out.keep_alive = false;
            if (compress) {
                out.compressor = std::make_unique<GzipStream>();
                std::string packed;
                out.compressor->feed(out.body, false, packed);
                out.body = std::move(packed);
            }
        }
    } else if (!response.producer) {
        out.body = std::move(response.body);
    }
    bool compressed = streams && compress;
    if (!streams && compress && out.body.size() >= kWorthCompressing) {
        out.body = gzip(out.body, 1);
        compressed = true;
    }

    BUNRAKU_ASSERT(out.status >= 200 && out.status <= 999);
    BUNRAKU_ASSERT(streams == (out.producer || out.stream));
    BUNRAKU_ASSERT(!out.compressor || (streams && compress));
    BUNRAKU_ASSERT(!out.chunked || (streams && to.http11));
    auto& head = out.head;
    begin_head(out.status, to.date, response, head);
    if (compressed) head += "\r\nContent-Encoding: gzip";
    if (compress && !response.headers.has("Vary")) head += "\r\nVary: Accept-Encoding";
    if (streams) {
        if (out.chunked) head += "\r\nTransfer-Encoding: chunked";
    } else if (!no_body && !(response.producer && to.head_request)) {
        head += "\r\nContent-Length: ";
        append_number(head, out.file >= 0 ? out.file_left : out.body.size());
    }
    if (!out.keep_alive) {
        head += "\r\nConnection: close";
    } else if (!to.http11) {
        head += "\r\nConnection: keep-alive";
    }
    head += "\r\n\r\n";
    if (to.head_request || no_body) {
        out.body.clear();
        out.file_left = 0;
        if (out.file >= 0) ::close(out.file);
        out.file = -1;
    }
    BUNRAKU_ASSERT(out.file >= 0 || out.file_left == 0);
    BUNRAKU_ASSERT(out.head.ends_with("\r\n\r\n"));
    return out;
}

}  // namespace bunraku::http
