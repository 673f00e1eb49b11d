// SPDX-License-Identifier: Apache-2.0
// A server connection: reads requests, writes responses, and enforces limits and timeouts. It uses
// streams, not sockets. Internal to this folder.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "net/http/network.h"
#include "net/http/outgoing.h"
#include "net/http/wire.h"

namespace bunraku::http {

/// State shared by all connections of a server.
struct Shared {
    Router router;
    ServerOptions options;
    std::unique_ptr<sys::Executor> pool;
    std::unique_ptr<sys::Executor> waiters;  ///< pool for requests that wait for other servers
    std::atomic<std::uint32_t> connections{0};
    std::atomic<std::uint64_t> requests{0};
    std::atomic<std::uint64_t> buffered{0};  ///< bytes of request bodies in memory
    std::atomic<bool> stopping{false};
    std::atomic<bool> abandoned{false};  ///< true if waiting tasks should no longer run

    void log_error(const std::string& text) const {
        if (options.error_log) options.error_log(text);
    }
};

class Connection;

/// All connections of one loop. Only that loop's thread accesses it.
struct ConnectionGroup {
    ConnectionGroup(Shared& s, Loop& l, std::function<void()> e)
        : shared(s), loop(l), on_end(std::move(e)) {}
    Shared& shared;
    Loop& loop;
    std::function<void()> on_end;  ///< called once, when the server stops and no connection is left
    std::unordered_set<Connection*> connections;
    bool ended = false, sweeping = false;
    std::size_t most = 0;  ///< peak of the number of connections since memory was last released

    void take(std::unique_ptr<Stream> stream);
    /// Closes connections that exceed their time. Runs four times a second while there are
    /// connections, and during shutdown until all are closed.
    void sweep();
    /// Closes all connections, including those with a running handler.
    void close_all();
};

class Connection final : public StreamUser, public std::enable_shared_from_this<Connection> {
public:
    Connection(ConnectionGroup& group, std::unique_ptr<Stream> stream);
    ~Connection() override;
    void start();
    /// Called by sweep(): closes the connection if its time is over.
    void check(sys::TimePoint now);
    /// Closes the connection if it is idle, and ends its stream, because the server is stopping.
    void wind_down();
    void close();

    void on_open(int error) override;
    void on_read(int error, std::size_t n) override;
    void on_written(int error, std::size_t n) override;
    void on_writable(int error) override;
    void on_ended() override { close(); }

private:
    enum class Phase { Handshake, Idle, Head, Body, Handling, Writing, Streaming, Closing, Closed };
    /// The next step after all collected output is written.
    enum class After { Read, Handle, Answer, Close };

    void read();
    std::size_t wanted_of_body() const;
    /// Processes the buffer until more input is needed or the connection is busy.
    void process();
    bool process_head();  ///< returns false if more bytes are needed
    bool process_body();  ///< returns false if more bytes are needed
    void handle();        ///< handles a complete request
    void handle_on_pool();
    void prepare_on_pool(Response response);
    void on_prepared(Outgoing out);
    void refuse(int status, std::string_view message);
    void refuse(Response response);
    void begin_answer(Outgoing out);
    void flush(After after);
    void write_pieces();
    void go_on_answering();
    void pull_more();
    void on_piece(std::string piece, bool more);
    void stream_more();
    void on_stream_read(int error, std::size_t n);
    void end_stream();
    void record_stream();
    void send_file();
    void finish_answer();
    void finish();  ///< closes in an orderly way
    void drain();
    void on_drained(int error, std::size_t n);
    bool take_budget(std::size_t bytes);
    void give_back_budget();
    AnswerTo answer_to() const;
    std::string_view buffered() const {
        return std::string_view(in_.data() + begin_, end_ - begin_);
    }
    std::size_t left_to_write() const {
        return pending_.size() - pending_at_ + body_left_ + tail_.size();
    }

    ConnectionGroup& group_;
    Shared& shared_;
    std::unique_ptr<Stream> stream_;
    Phase phase_ = Phase::Idle;
    sys::TimePoint deadline_;
    sys::TimePoint began_;     ///< arrival of the first byte of the request
    sys::TimePoint ready_;     ///< arrival of the complete request
    sys::TimePoint answered_;  ///< the time at which a stream began

    std::vector<char> in_;
    std::size_t begin_ = 0, end_ = 0;
    HeadScanner scanner_;
    ChunkedDecoder chunks_;

    Request request_;
    Framing framing_;
    Router::Match match_;
    std::uint64_t body_received_ = 0;  ///< bytes received, including the framing
    std::uint64_t budget_ = 0;         ///< this connection's part of Shared::buffered
    std::uint64_t drained_ = 0;
    bool unread_ = false;             ///< part of the request has not been read
    bool watching_ = false;           ///< a read is pending that detects the end of the client
    bool waits_ = false;              ///< waits for other servers; see RouteOptions::may_wait
    std::atomic<bool> gone_ = false;  ///< the client no longer waits for the response

    // The output, in this order: pending_, the body of out_, tail_.
    Outgoing out_;
    std::string pending_, tail_;
    std::size_t pending_at_ = 0, body_at_ = 0, body_left_ = 0;
    After after_ = After::Read;
    Phase resume_ = Phase::Idle;
    std::uint64_t sent_ = 0;
};

}  // namespace bunraku::http
