// SPDX-License-Identifier: Apache-2.0
#include "net/http/connection.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <unistd.h>
#include <utility>

#include "core/base/assert.h"
#include "core/base/work_limit.h"
#include "net/http/body_stream.h"

namespace bunraku::http {

namespace {

constexpr std::size_t kReadStep = 16 << 10;
constexpr std::size_t kSmallRead = 512;
/// The size of an idle connection's buffer, which holds a usual head.
constexpr std::size_t kIdleRead = 2 << 10;
/// Responses to pipelined requests are collected up to this size.
constexpr std::size_t kCollect = 256 << 10;
/// Bodies up to this size are copied after their heads instead of being written separately.
constexpr std::size_t kSmallBody = 16 << 10;
constexpr std::size_t kPiece = 64 << 10;
/// Lowest rate of a body, in bytes a second, beyond the request timeout.
constexpr std::uint64_t kSlowestBody = 16 << 10;
constexpr std::uint64_t kMostDrained = 64 << 20;
/// A client may send this much while it receives a stream. The bytes are ignored.
constexpr std::uint64_t kMostDuringStream = 64 << 10;
/// Time for the rest of a stream when the server stops.
constexpr std::chrono::seconds kStreamEnd{2};
constexpr std::chrono::milliseconds kSweepPause{250};
/// The end of this many connections leaves enough memory to return it to the system.
constexpr std::size_t kManyConnections = 64;

std::string chunk_head(std::size_t size) { return fmt::format("{:x}\r\n", size); }

Outgoing failed(const Shared& shared, const AnswerTo& to, const char* what) {
    shared.log_error(fmt::format("A request failed: {}", what));
    return prepare(Response::text(500, "Internal Server Error"), to);
}

/// Runs the handler and prepares its response. Never throws.
Outgoing answer(const Shared& shared, const Handler& handler, Request& request, AnswerTo to) {
    try {
        Response response = handler(request);
        // The server may have started to stop meanwhile.
        if (shared.stopping) to.keep_alive = false;
        return prepare(std::move(response), to);
    } catch (const std::exception& error) {
        return failed(shared, to, error.what());
    } catch (...) {
        return failed(shared, to, "unknown exception");
    }
}

}  // namespace

Connection::Connection(ConnectionGroup& group, std::unique_ptr<Stream> stream)
    : group_(group), shared_(group.shared), stream_(std::move(stream)) {
    shared_.connections.fetch_add(1);
    group_.connections.insert(this);
    deadline_ = group_.loop.now() + shared_.options.request_timeout;
}

Connection::~Connection() {
    give_back_budget();
    const std::size_t erased = group_.connections.erase(this);
    BUNRAKU_ASSERT(erased == 1);
    const std::uint32_t before = shared_.connections.fetch_sub(1);
    BUNRAKU_ASSERT(before > 0);
}

void Connection::start() {
    BUNRAKU_ASSERT(phase_ == Phase::Idle && group_.connections.contains(this));
    phase_ = Phase::Handshake;
    stream_->open(shared_from_this());
}

void Connection::on_open(int error) {
    BUNRAKU_ASSERT(phase_ == Phase::Handshake || phase_ == Phase::Closed);
    if (error) {
        if (const auto why = stream_->refusal(); !why.empty() && shared_.options.refusal_log) {
            shared_.options.refusal_log(
                fmt::format("Refused a TLS connection from {}: {}", stream_->peer().address, why));
        }
    }
    if (error || phase_ == Phase::Closed) return close();
    phase_ = Phase::Idle;
    if (stream_->peer().tls) deadline_ = group_.loop.now() + shared_.options.idle_timeout;
    read();
}

void Connection::close() {
    if (phase_ == Phase::Closed) return;
    phase_ = Phase::Closed;
    gone_ = true;
    record_stream();
    stream_->close();
}

void Connection::check(sys::TimePoint now) {
    if (phase_ == Phase::Handling && match_.options->ends_with_client && stream_->peer_ended())
        gone_ = true;
    if (now < deadline_ || phase_ == Phase::Handling || phase_ == Phase::Streaming ||
        phase_ == Phase::Closed)
        return;
    if (phase_ == Phase::Head || phase_ == Phase::Body) {
        stream_->try_send(
            "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
    close();
}

void Connection::wind_down() {
    if (phase_ == Phase::Idle || phase_ == Phase::Handshake) return close();
    if (!out_.stream) return;
    if (phase_ == Phase::Streaming) return end_stream();
    // A client that does not read its stream must not delay the stop.
    deadline_ = std::min(deadline_, group_.loop.now() + kStreamEnd);
}

AnswerTo Connection::answer_to() const {
    return {.head_request = request_.method == "HEAD",
            .http11 = framing_.http11,
            .keep_alive = framing_.keep_alive && !shared_.stopping.load(std::memory_order_relaxed),
            .gzip = accepts_gzip(request_.headers.get("Accept-Encoding")),
            .date = group_.loop.now_ns() / 1'000'000'000};
}

// ---- reading

void Connection::read() {
    BUNRAKU_ASSERT(phase_ == Phase::Idle || phase_ == Phase::Head || phase_ == Phase::Body);
    BUNRAKU_ASSERT(begin_ <= end_ && end_ <= in_.size());
    if (begin_ == end_) begin_ = end_ = 0;
    if (phase_ == Phase::Idle) {
        BUNRAKU_ASSERT(end_ == 0);
        if (in_.size() != kIdleRead) in_ = std::vector<char>(kIdleRead);
    } else if (in_.size() - end_ < kReadStep / 2) {
        if (begin_ > 0) {
            std::copy(in_.begin() + static_cast<std::ptrdiff_t>(begin_),
                      in_.begin() + static_cast<std::ptrdiff_t>(end_), in_.begin());
            end_ -= begin_;
            begin_ = 0;
        }
        // Bodies are removed from the buffer at once. Only a head makes it grow, up to its limit.
        if (in_.size() - end_ < kReadStep / 2) in_.resize(in_.size() + kReadStep);
    }
    if (phase_ == Phase::Body) in_.resize(std::max(in_.size(), wanted_of_body()));
    BUNRAKU_ASSERT(end_ < in_.size());
    stream_->read(in_.data() + end_, in_.size() - end_, shared_from_this());
}

/// Returns the size of a buffer for the rest of the body.
std::size_t Connection::wanted_of_body() const {
    if (!framing_.content_length) return kPiece;
    return static_cast<std::size_t>(
        std::min<std::uint64_t>(*framing_.content_length - request_.body.size(), kPiece));
}

void Connection::on_read(int error, std::size_t n) {
    if (std::exchange(watching_, false)) return on_stream_read(error, n);
    if (phase_ == Phase::Closed) return;
    if (phase_ == Phase::Closing) return on_drained(error, n);
    if (error) {
        if (phase_ == Phase::Idle && error == kEnd && stream_->peer().tls) return finish();
        return close();
    }
    BUNRAKU_ASSERT(phase_ == Phase::Idle || phase_ == Phase::Head || phase_ == Phase::Body);
    BUNRAKU_ASSERT(n <= in_.size() - end_);
    end_ += n;
    process();
}

void Connection::process() {
    while (true) {
        bool go_on = false;
        if (phase_ == Phase::Idle || phase_ == Phase::Head) {
            go_on = process_head();
        } else if (phase_ == Phase::Body) {
            go_on = process_body();
        } else {
            return;
        }
        if (go_on) continue;
        if (pending_.empty()) {
            read();
        } else {
            flush(After::Read);
        }
        return;
    }
}

bool Connection::process_head() {
    // Ignores an empty line before a request (RFC 9112, 2.2).
    while (phase_ == Phase::Idle && end_ - begin_ >= 2 && in_[begin_] == '\r' &&
           in_[begin_ + 1] == '\n') {
        begin_ += 2;
    }
    auto data = buffered();
    if (data.empty()) return false;
    if (phase_ == Phase::Idle) {
        phase_ = Phase::Head;
        began_ = group_.loop.now();
        deadline_ = began_ + shared_.options.request_timeout;
        scanner_.reset();
        unread_ = false;
    }
    auto state = scanner_.scan(data);
    std::size_t limit = shared_.options.max_header_bytes;
    if (state == HeadScanner::State::Bad) {
        refuse(400, "Lines must end with CR LF");
        return true;
    }
    if (scanner_.size() > limit || (state == HeadScanner::State::More && data.size() > limit)) {
        bool first_line = data.substr(0, limit).find('\n') == std::string_view::npos;
        refuse(first_line ? 414 : 431,
               first_line ? "The request target is too long" : "The request header is too long");
        return true;
    }
    if (state == HeadScanner::State::More) return false;
    auto head = data.substr(0, scanner_.size());
    // A request is parsed only when its head is complete, so that slow clients cost nothing.
    request_.body.clear();
    request_.params.clear();
    request_.route = {};
    request_.peer = stream_->peer();
    auto fault = parse_request_head(head, request_, framing_);
    begin_ += scanner_.size();
    BUNRAKU_ASSERT(begin_ <= end_);
    if (fault) {
        refuse(fault.status, fault.message);
        return true;
    }
    bool has_body = framing_.chunked || framing_.content_length.value_or(0) > 0;
    match_ = shared_.router.match(request_);
    BUNRAKU_ASSERT(match_.handler && match_.options && match_.access);
    BUNRAKU_ASSERT(budget_ == 0);
    unread_ = has_body;
    std::optional<Response> refused;
    try {
        refused = shared_.router.refusal(match_, request_);
    } catch (const std::exception& error) {
        shared_.log_error(fmt::format("A request failed: {}", error.what()));
        refused = Response::text(500, "Internal Server Error");
    }
    if (refused) {
        refuse(std::move(*refused));
        return true;
    }
    if (framing_.content_length.value_or(0) > match_.options->max_body) {
        refuse(413, "The body is too long");
        return true;
    }
    if (!has_body) {
        handle();
        return true;
    }
    chunks_ = {};
    body_received_ = 0;
    if (framing_.content_length) {
        request_.body.reserve(
            static_cast<std::size_t>(std::min<std::uint64_t>(*framing_.content_length, 256 << 10)));
    }
    if (framing_.expects_continue && framing_.http11 && buffered().empty())
        pending_ += "HTTP/1.1 100 Continue\r\n\r\n";
    phase_ = Phase::Body;
    return true;
}

bool Connection::take_budget(std::size_t bytes) {
    budget_ += bytes;
    return shared_.buffered.fetch_add(bytes) + bytes <= shared_.options.max_buffered;
}

void Connection::give_back_budget() {
    if (budget_) {
        const std::uint64_t before = shared_.buffered.fetch_sub(budget_);
        BUNRAKU_ASSERT(before >= budget_);
    }
    budget_ = 0;
}

bool Connection::process_body() {
    BUNRAKU_ASSERT(phase_ == Phase::Body && unread_);
    BUNRAKU_ASSERT(framing_.chunked != framing_.content_length.has_value());
    auto data = buffered();
    std::size_t had = request_.body.size();
    auto state = ChunkedDecoder::State::More;
    if (framing_.chunked) {
        auto rest = data;
        state = chunks_.feed(rest, request_.body, match_.options->max_body);
        begin_ += data.size() - rest.size();
        body_received_ += data.size() - rest.size();
    } else {
        auto n = static_cast<std::size_t>(
            std::min<std::uint64_t>(*framing_.content_length - had, data.size()));
        BUNRAKU_ASSERT(had < *framing_.content_length);
        // Once an eighth of the body has arrived, the whole size is reserved, so that the rest is
        // not copied again.
        if (had + n > request_.body.capacity()) {
            request_.body.reserve(static_cast<std::size_t>(
                std::min<std::uint64_t>(*framing_.content_length, (had + n) * 8)));
        }
        request_.body.append(data.data(), n);
        begin_ += n;
        body_received_ += n;
        if (request_.body.size() == *framing_.content_length) state = ChunkedDecoder::State::Done;
    }
    if (!take_budget(request_.body.size() - had)) {
        auto busy = Response::text(503, "The server is handling too many requests");
        busy.headers.add("Retry-After", "5");
        refuse(std::move(busy));
        return true;
    }
    BUNRAKU_ASSERT(begin_ <= end_);
    BUNRAKU_ASSERT(budget_ == request_.body.size());
    switch (state) {
        case ChunkedDecoder::State::Done:
            unread_ = false;
            handle();
            return true;
        case ChunkedDecoder::State::Bad: refuse(400, "The chunked body is malformed"); return true;
        case ChunkedDecoder::State::TooLong: refuse(413, "The body is too long"); return true;
        case ChunkedDecoder::State::More: break;
    }
    deadline_ = began_ + shared_.options.request_timeout +
                std::chrono::seconds(body_received_ / kSlowestBody);
    return false;
}

// ---- answering

void Connection::handle() {
    BUNRAKU_ASSERT(phase_ == Phase::Head || phase_ == Phase::Body);
    BUNRAKU_ASSERT(!unread_ && match_.handler);
    ready_ = group_.loop.now();
    const RouteOptions& route = *match_.options;
    waits_ = route.may_wait && route.may_wait(request_);
    if (!route.immediate || waits_) {
        if (pending_.empty()) {
            handle_on_pool();
        } else {
            phase_ = Phase::Writing;
            flush(After::Handle);
        }
        return;
    }
    auto to = answer_to();
    try {
        Response response = (*match_.handler)(request_);
        if (response.producer && !stream_of(response)) return prepare_on_pool(std::move(response));
        begin_answer(prepare(std::move(response), to));
    } catch (const std::exception& error) {
        begin_answer(failed(shared_, to, error.what()));
    }
}

void Connection::handle_on_pool() {
    BUNRAKU_ASSERT(phase_ == Phase::Head || phase_ == Phase::Body || phase_ == Phase::Writing);
    BUNRAKU_ASSERT(pending_.empty());
    phase_ = Phase::Handling;
    // Many requests may wait at once, so they need little memory.
    if (begin_ == end_) {
        in_ = {};
        begin_ = end_ = 0;
    }
    // The task passes `self` on, because a connection may be destroyed only on the loop's thread.
    auto task = [self = shared_from_this()]() mutable {
        auto out = std::make_shared<Outgoing>();
        if (!self->shared_.abandoned) {
            std::optional<base::WorkLimit> limit;
            if (self->match_.options->ends_with_client)
                limit.emplace(base::WorkLimits{.cancelled = [raw = self.get()] {
                    return raw->gone_.load(std::memory_order_relaxed);
                }});
            *out = answer(self->shared_, *self->match_.handler, self->request_, self->answer_to());
        }
        Loop& loop = self->group_.loop;
        loop.post(
            [self = std::move(self), out = std::move(out)] { self->on_prepared(std::move(*out)); });
    };
    // Requests that wait for another server use separate threads, so that they do not block
    // computations.
    sys::Executor& pool = waits_ ? *shared_.waiters : *shared_.pool;
    if (pool.post(std::move(task))) return;
    auto busy = Response::text(503, "The server is handling too many requests");
    busy.headers.add("Retry-After", "5");
    begin_answer(prepare(std::move(busy), answer_to()));
}

void Connection::prepare_on_pool(Response response) {
    BUNRAKU_ASSERT(phase_ == Phase::Head || phase_ == Phase::Body);
    phase_ = Phase::Handling;
    auto task = [self = shared_from_this(),
                 response = std::make_shared<Response>(std::move(response))]() mutable {
        Handler give = [&](Request&) { return std::move(*response); };
        auto out = std::make_shared<Outgoing>(
            answer(self->shared_, give, self->request_, self->answer_to()));
        response.reset();
        Loop& loop = self->group_.loop;
        loop.post(
            [self = std::move(self), out = std::move(out)] { self->on_prepared(std::move(*out)); });
    };
    if (!shared_.pool->post_more(std::move(task))) close();
}

void Connection::on_prepared(Outgoing out) {
    BUNRAKU_ASSERT(phase_ == Phase::Handling || phase_ == Phase::Closed);
    if (phase_ != Phase::Handling) return;
    begin_answer(std::move(out));
    if (phase_ == Phase::Idle) process();
}

void Connection::refuse(int status, std::string_view message) {
    unread_ = true;
    framing_.keep_alive = false;
    refuse(Response::text(status, message));
}

void Connection::refuse(Response response) {
    ready_ = group_.loop.now();
    // The bytes after an unread body are not a request.
    if (unread_) framing_.keep_alive = false;
    begin_answer(prepare(std::move(response), answer_to()));
}

void Connection::begin_answer(Outgoing out) {
    BUNRAKU_ASSERT(phase_ == Phase::Head || phase_ == Phase::Body || phase_ == Phase::Handling);
    BUNRAKU_ASSERT(pending_at_ == 0 && body_left_ == 0 && tail_.empty());
    out_ = std::move(out);
    answered_ = group_.loop.now();
    phase_ = Phase::Writing;
    sent_ = out_.head.size() + out_.body.size();
    body_at_ = body_left_ = 0;
    if (pending_.empty()) {
        pending_ = std::move(out_.head);
    } else {
        pending_ += out_.head;
    }
    if (out_.producer && out_.chunked && out_.body.empty()) {
        // The compressor still holds all output. An empty chunk would end the body.
    } else if (out_.producer && out_.chunked) {
        pending_ += chunk_head(out_.body.size());
        body_left_ = out_.body.size();
        tail_ = "\r\n";
    } else if (out_.body.size() <= kSmallBody) {
        pending_ += out_.body;
        // If more requests are in the buffer, their responses are sent together.
        if (!out_.producer && !out_.stream && out_.file < 0 && out_.keep_alive && begin_ < end_ &&
            pending_.size() < kCollect) {
            finish_answer();
            return;
        }
    } else {
        body_left_ = out_.body.size();
    }
    flush(After::Answer);
}

void Connection::flush(After after) {
    BUNRAKU_ASSERT(phase_ != Phase::Closing && phase_ != Phase::Closed);
    // The answer of an abandoned request is empty.
    BUNRAKU_ASSERT(left_to_write() > 0 || shared_.abandoned);
    after_ = after;
    resume_ = phase_;
    phase_ = Phase::Writing;
    deadline_ = group_.loop.now() + shared_.options.idle_timeout;
    write_pieces();
}

void Connection::write_pieces() {
    BUNRAKU_ASSERT(pending_at_ <= pending_.size() && body_at_ + body_left_ <= out_.body.size());
    stream_->write({std::string_view(pending_).substr(pending_at_),
                    std::string_view(out_.body).substr(body_at_, body_left_), tail_},
                   shared_from_this());
}

void Connection::on_written(int error, std::size_t n) {
    if (phase_ == Phase::Closed) return;
    if (error) return close();
    BUNRAKU_ASSERT(phase_ == Phase::Writing);
    BUNRAKU_ASSERT(n <= left_to_write());
    std::size_t part = std::min(n, pending_.size() - pending_at_);
    pending_at_ += part;
    n -= part;
    part = std::min(n, body_left_);
    body_at_ += part;
    body_left_ -= part;
    n -= part;
    BUNRAKU_ASSERT(n <= tail_.size());
    tail_.erase(0, n);
    if (left_to_write() > 0) {
        deadline_ = group_.loop.now() + shared_.options.idle_timeout;
        return write_pieces();
    }
    if (pending_.capacity() > kPiece) {
        pending_ = {};
    } else {
        pending_.clear();
    }
    pending_at_ = body_at_ = 0;
    switch (after_) {
        case After::Read:
            phase_ = resume_;
            deadline_ = phase_ == Phase::Idle ? group_.loop.now() + shared_.options.idle_timeout
                                              : began_ + shared_.options.request_timeout;
            return read();
        case After::Handle: return handle_on_pool();
        case After::Close: return close();
        case After::Answer: return go_on_answering();
    }
}

void Connection::go_on_answering() {
    BUNRAKU_ASSERT(phase_ == Phase::Writing && left_to_write() == 0);
    if (out_.stream) return stream_more();
    if (out_.producer) return pull_more();
    if (out_.file_left > 0) return send_file();
    finish_answer();
    if (phase_ == Phase::Idle) process();
}

void Connection::pull_more() {
    BUNRAKU_ASSERT(out_.producer && out_.file < 0);
    phase_ = Phase::Handling;
    auto task = [self = shared_from_this()]() mutable {
        auto piece = std::make_shared<std::string>();
        bool more = false, good = true;
        try {
            if (self->shared_.abandoned) throw std::runtime_error("the server is stopping");
            more = self->out_.pull(*piece, kPiece);
        } catch (const std::exception& error) {
            good = false;
            self->shared_.log_error(fmt::format("A response was interrupted: {}", error.what()));
        } catch (...) {
            good = false;
        }
        Loop& loop = self->group_.loop;
        loop.post([self = std::move(self), piece, more, good] {
            if (self->phase_ != Phase::Handling) return;
            if (!good) return self->close();
            self->on_piece(std::move(*piece), more);
        });
    };
    if (!shared_.pool->post_more(std::move(task))) close();
}

void Connection::on_piece(std::string piece, bool more) {
    BUNRAKU_ASSERT(phase_ == Phase::Handling && left_to_write() == 0);
    out_.body = std::move(piece);
    body_at_ = 0;
    body_left_ = out_.body.size();
    sent_ += body_left_;
    if (out_.chunked) {
        if (body_left_) {
            pending_ = chunk_head(body_left_);
            tail_ = "\r\n";
        }
        if (!more) tail_ += "0\r\n\r\n";
    }
    phase_ = Phase::Writing;
    if (left_to_write() == 0) return go_on_answering();
    flush(After::Answer);
}

/// Sends the bytes that the stream has, or waits until it has some. A read is always pending. It
/// detects at once that the client has disconnected, and keeps this object alive.
void Connection::stream_more() {
    // A writer may have woken a stream that has ended meanwhile.
    if (!out_.stream || (phase_ != Phase::Writing && phase_ != Phase::Streaming)) return;
    BUNRAKU_ASSERT(out_.file < 0 && left_to_write() == 0);
    if (shared_.stopping) return end_stream();
    if (!watching_) {
        // The client's further bytes are not needed, so a stream needs little memory.
        if (in_.size() != kSmallRead) in_ = std::vector<char>(kSmallRead);
        begin_ = end_ = 0;
        watching_ = true;
        stream_->read(in_.data(), in_.size(), shared_from_this());
    }
    out_.body.clear();
    // The last reference to a connection must not end on a writer's thread.
    auto wake = [&loop = group_.loop, self = weak_from_this()] {
        loop.post([self] {
            if (const auto connection = self.lock()) connection->stream_more();
        });
    };
    switch (out_.stream->take(out_.body, std::move(wake))) {
        case BodyStream::Taken::Nothing: phase_ = Phase::Streaming; return;
        case BodyStream::Taken::End: return end_stream();
        case BodyStream::Taken::Overflow: return close();
        case BodyStream::Taken::Bytes: break;
    }
    body_at_ = 0;
    body_left_ = out_.body.size();
    sent_ += body_left_;
    if (out_.chunked) {
        pending_ = chunk_head(body_left_);
        tail_ = "\r\n";
    }
    flush(After::Answer);
}

void Connection::on_stream_read(int error, std::size_t n) {
    if (phase_ == Phase::Closed) return;
    drained_ += n;
    if (error || drained_ > kMostDuringStream) return close();
    watching_ = true;
    stream_->read(in_.data(), in_.size(), shared_from_this());
}

/// Ends the body in an orderly way and closes the connection.
void Connection::end_stream() {
    BUNRAKU_ASSERT(phase_ == Phase::Writing || phase_ == Phase::Streaming);
    record_stream();
    if (!out_.chunked) return close();
    tail_ = "0\r\n\r\n";
    flush(After::Close);
    deadline_ = group_.loop.now() + kStreamEnd;
}

/// Counts and logs the request of a stream when the stream ends. The logged duration ends at the
/// start of the response.
void Connection::record_stream() {
    if (!out_.stream) return;
    out_.stream->detach();
    out_.stream = nullptr;
    shared_.requests.fetch_add(1, std::memory_order_relaxed);
    if (!shared_.options.access_log) return;
    shared_.options.access_log(
        request_, out_.status, sent_,
        std::chrono::duration_cast<std::chrono::microseconds>(answered_ - ready_).count());
}

void Connection::send_file() {
    BUNRAKU_ASSERT(out_.file >= 0 && out_.file_left > 0 && left_to_write() == 0);
    phase_ = Phase::Writing;
    deadline_ = group_.loop.now() + shared_.options.idle_timeout;
    auto sent = stream_->send_file(out_.file, out_.file_offset, out_.file_left);
    if (!sent) {
        out_.body.resize(static_cast<std::size_t>(std::min<std::uint64_t>(out_.file_left, kPiece)));
        auto n = ::pread(out_.file, out_.body.data(), out_.body.size(),
                         static_cast<off_t>(out_.file_offset));
        if (n <= 0) return close();
        out_.body.resize(static_cast<std::size_t>(n));
        out_.file_offset += static_cast<std::uint64_t>(n);
        out_.file_left -= static_cast<std::uint64_t>(n);
        sent_ += static_cast<std::uint64_t>(n);
        body_at_ = 0;
        body_left_ = out_.body.size();
        return flush(After::Answer);
    }
    if (*sent < 0) return close();
    BUNRAKU_ASSERT(static_cast<std::uint64_t>(*sent) <= out_.file_left);
    out_.file_offset += static_cast<std::uint64_t>(*sent);
    out_.file_left -= static_cast<std::uint64_t>(*sent);
    sent_ += static_cast<std::uint64_t>(*sent);
    if (out_.file_left == 0) return go_on_answering();
    stream_->when_writable(shared_from_this());
}

void Connection::on_writable(int error) {
    if (phase_ == Phase::Closed) return;
    if (error) return close();
    send_file();
}

void Connection::finish_answer() {
    BUNRAKU_ASSERT(phase_ == Phase::Writing && !out_.producer && !out_.stream);
    BUNRAKU_ASSERT(out_.file_left == 0);
    BUNRAKU_ASSERT(body_left_ == 0 && tail_.empty());
    auto now = group_.loop.now();
    shared_.requests.fetch_add(1, std::memory_order_relaxed);
    if (shared_.options.access_log) {
        shared_.options.access_log(
            request_, out_.status, sent_,
            std::chrono::duration_cast<std::chrono::microseconds>(now - ready_).count());
    }
    bool keep_alive = out_.keep_alive;
    out_ = {};
    body_at_ = body_left_ = 0;
    give_back_budget();
    if (request_.body.capacity() > kPiece) request_.body = {};
    if (!keep_alive) return finish();
    phase_ = Phase::Idle;
    deadline_ = now + shared_.options.idle_timeout;
}

void Connection::finish() {
    BUNRAKU_ASSERT(phase_ == Phase::Writing || phase_ == Phase::Idle);
    phase_ = Phase::Closing;
    deadline_ = group_.loop.now() + std::chrono::seconds(2);
    // If the client is still sending, closing a connection with unread input can discard the
    // response before the client has read it. This also applies to plain connections.
    if (unread_ && stream_->peer().tls) return drain();
    if (!stream_->end(shared_from_this())) drain();
}

void Connection::drain() {
    BUNRAKU_ASSERT(phase_ == Phase::Closing);
    if (in_.size() < kReadStep) in_.resize(kReadStep);
    stream_->read(in_.data(), in_.size(), shared_from_this());
}

void Connection::on_drained(int error, std::size_t n) {
    drained_ += n;
    if (error || drained_ > kMostDrained) return close();
    drain();
}

// ---- the loop

void ConnectionGroup::take(std::unique_ptr<Stream> stream) {
    if (ended) return;
    if (shared.connections.load() >= shared.options.max_connections) {
        stream->try_send(
            "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 5\r\n"
            "Connection: close\r\n\r\n");
        return;
    }
    std::make_shared<Connection>(*this, std::move(stream))->start();
    if (std::exchange(sweeping, true)) return;
    loop.post_after(kSweepPause, [this] { sweep(); });
}

void ConnectionGroup::sweep() {
    if (ended) return;
    BUNRAKU_ASSERT(connections.size() <= shared.connections.load());
    auto now = loop.now();
    // A connection leaves the set when its last handler has run, not when it is closed here.
    for (auto* c : connections) c->check(now);
    if (shared.stopping.load()) {
        for (auto* c : connections) c->wind_down();
        if (connections.empty()) {
            ended = true;
            return on_end();
        }
        return loop.post_after(std::chrono::milliseconds(20), [this] { sweep(); });
    }
    most = std::max(most, connections.size());
    if (connections.size() < most / 4 && most >= kManyConnections) {
        base::release_memory();
        most = connections.size();
    }
    sweeping = !connections.empty();
    if (sweeping) loop.post_after(kSweepPause, [this] { sweep(); });
}

void ConnectionGroup::close_all() {
    for (auto* c : connections) c->close();
}

}  // namespace bunraku::http
