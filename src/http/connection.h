// One connection of the server, and the thread it lives on. The only header with Asio in it; for
// the files of this folder only.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "http/outgoing.h"
#include "http/pool.h"
#include "http/server.h"
#include "http/tls.h"
#include "http/wire.h"

namespace bunraku::http {

namespace asio = boost::asio;
using boost::system::error_code;
using SteadyClock = std::chrono::steady_clock;

/// What all connections of a server share.
struct Shared {
    Router router;
    ServerOptions options;
    Pool pool;
    Pool waiters;  ///< for requests that wait for other servers
    std::atomic<std::uint32_t> connections{0};
    std::atomic<std::uint64_t> requests{0};
    std::atomic<std::uint64_t> buffered{0};  ///< bytes of request bodies in memory
    std::atomic<bool> stopping{false};
    std::atomic<bool> abandoned{false};  ///< what waits for a worker is not worth doing any more
    mutable std::mutex tls_mutex;
    TlsContext tls;  ///< of new connections
    /// Changes whenever `tls` does.
    std::atomic<std::uint32_t> tls_generation{0};

    TlsContext current_tls(std::uint32_t& generation) const {
        std::lock_guard lock(tls_mutex);
        generation = tls_generation.load();
        return tls;
    }
    void replace_tls(TlsContext with) {
        std::lock_guard lock(tls_mutex);
        tls = std::move(with);
        tls_generation.fetch_add(1);
    }

    void log_error(const std::string& text) const {
        if (options.error_log) options.error_log(text);
    }
};

class Connection;

/// One thread that waits for sockets. All its connections are touched by it alone.
struct Loop {
    explicit Loop(Shared& s) : shared(s) {}
    Shared& shared;
    std::unordered_set<Connection*> connections;
    // Behind the set: what it destroys may still leave the set.
    asio::io_context context{1};
    asio::steady_timer sweeper{context};

    /// Ends what takes too long, four times a second; while stopping, lets the thread end.
    void sweep();
    /// Also those that are at work.
    void close_all();
};

class Connection : public std::enable_shared_from_this<Connection> {
public:
    Connection(Loop& loop, asio::ip::tcp::socket socket, bool tls);
    ~Connection();
    void start();
    /// Called by the sweeper: ends the connection where its time is over.
    void check(SteadyClock::time_point now);
    /// The server ends: idle connections too.
    void wind_down();
    void close();

private:
    enum class Phase { Handshake, Idle, Head, Body, Handling, Writing, Closing, Closed };
    /// What comes when all that is collected has been written.
    enum class After { Read, Handle, Answer };

    void read();
    void on_read(error_code error, std::size_t n);
    /// Goes on with what is in the buffer, until more is needed or the connection is busy.
    void process();
    bool process_head();  ///< false: more bytes are needed
    bool process_body();  ///< false: more bytes are needed
    void handle();        ///< the request is whole
    void handle_on_pool();
    void prepare_on_pool(Response response);
    void on_prepared(Outgoing out);
    void refuse(int status, std::string_view message);
    void refuse(Response response);
    void begin_answer(Outgoing out);
    void flush(After after);
    void write_pieces();
    void on_written(error_code error, std::size_t n);
    void go_on_answering();
    void pull_more();
    void on_piece(std::string piece, bool more);
    void send_file();
    void finish_answer();
    void finish();  ///< closes in an orderly way
    void drain();
    /// The server has read its lists of authorities and revocations anew.
    void verify_client_again();
    bool take_budget(std::size_t bytes);
    void give_back_budget();
    AnswerTo answer_to() const;
    std::string_view buffered() const {
        return std::string_view(in_.data() + begin_, end_ - begin_);
    }
    std::size_t left_to_write() const {
        return pending_.size() - pending_at_ + body_left_ + tail_.size();
    }

    Loop& loop_;
    Shared& shared_;
    asio::ip::tcp::socket socket_;
    TlsContext tls_context_;
    std::uint32_t tls_generation_ = 0;  ///< of the lists that peer_ was verified with
    std::optional<asio::ssl::stream<asio::ip::tcp::socket&>> tls_;
    Phase phase_ = Phase::Idle;
    SteadyClock::time_point deadline_;
    SteadyClock::time_point began_;  ///< the first byte of the request
    SteadyClock::time_point ready_;  ///< the request was whole

    std::vector<char> in_;
    std::size_t begin_ = 0, end_ = 0;
    HeadScanner scanner_;
    ChunkedDecoder chunks_;

    Request request_;
    Framing framing_;
    Peer peer_;
    Router::Match match_;
    std::uint64_t body_received_ = 0;  ///< on the wire, framing included
    std::uint64_t budget_ = 0;         ///< what this one took of Shared::buffered
    std::uint64_t drained_ = 0;
    bool unread_ = false;  ///< something was left on the wire
    bool waits_ = false;   ///< for other servers, see RouteOptions::may_wait

    // What is written, in this order: pending_, the body of out_, tail_.
    Outgoing out_;
    std::string pending_, tail_;
    std::size_t pending_at_ = 0, body_at_ = 0, body_left_ = 0;
    After after_ = After::Read;
    Phase resume_ = Phase::Idle;
    std::uint64_t sent_ = 0;
};

}  // namespace bunraku::http
