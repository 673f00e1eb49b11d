// SPDX-License-Identifier: Apache-2.0
// The server side of sockets and TLS. Only this file uses Asio.
#include <algorithm>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <future>
#include <limits>
#include <mutex>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/base/uninitialized.h"
#include "net/http/local_socket.h"
#include "net/http/socket_network.h"
#include "net/http/tls.h"

namespace bunraku::http {

namespace asio = boost::asio;
using asio::ip::tcp;
using Protocol = asio::generic::stream_protocol;  // TCP, or a Unix socket
using Socket = Protocol::socket;
using base::failure;
using base::Result;
using boost::system::error_code;

namespace {

/// The current certificates, shared by all connections.
struct Tls {
    mutable std::mutex mutex;
    TlsContext context;                        ///< for new connections
    std::atomic<std::uint32_t> generation{0};  ///< changes together with `context`

    TlsContext current(std::uint32_t& of) const {
        std::lock_guard lock(mutex);
        of = generation.load();
        return context;
    }
    void replace(TlsContext with) {
        std::lock_guard lock(mutex);
        BUNRAKU_ASSERT(with);
        context = std::move(with);
        generation.fetch_add(1);
    }
};

using ErrorLog = std::function<void(const std::string&)>;

/// A thread that waits for sockets during its lifetime.
class SocketLoop final : public Loop {
public:
    explicit SocketLoop(const ErrorLog& log)
        : log_(log),
          guard_(asio::make_work_guard(context)),
          thread_(sys::machine().executor({.threads = 1, .name = "sockets"})) {}
    ~SocketLoop() override {
        context.stop();
        thread_->stop();
    }
    sys::TimePoint now() override { return std::chrono::steady_clock::now(); }
    std::int64_t now_ns() override { return sys::machine().now_ns(); }
    void post(Task task) override {
        asio::post(context, [task = std::move(task)]() mutable { task(); });
    }
    void post_after(sys::Duration delay, Task task) override {
        auto timer = std::make_shared<asio::steady_timer>(context, delay);
        timer->async_wait([timer, task = std::move(task)](error_code error) mutable {
            if (!error) task();
        });
    }
    bool start() {
        return thread_->post([this] { run(); });
    }

    asio::io_context context{1};

private:
    void run() {
        // sendfile has no flag like MSG_NOSIGNAL.
        sigset_t pipe;
        sigemptyset(&pipe);
        sigaddset(&pipe, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
        while (true) {
            try {
                context.run();
                return;
            } catch (const std::exception& error) {
                // For example, an allocation failed. Only the connection is lost, not the server.
                if (log_) log_(fmt::format("A connection failed: {}", error.what()));
            }
        }
    }

    const ErrorLog& log_;
    asio::executor_work_guard<asio::io_context::executor_type> guard_;
    std::unique_ptr<sys::Executor> thread_;
};

int code_of(const error_code& error) {
    if (!error) return 0;
    return error == asio::error::eof ? StreamUser::kEnd : error.value();
}

std::string text_of_tls_error(unsigned long code) {
    const char* reason = ERR_reason_error_string(code);
    const char* library = ERR_lib_error_string(code);
    if (!reason) return {};
    return library ? fmt::format("{} ({})", reason, library) : reason;
}

tcp::endpoint as_tcp(const Protocol::endpoint& endpoint) {
    BUNRAKU_ASSERT(endpoint.protocol().family() != AF_UNIX);
    tcp::endpoint out;
    out.resize(endpoint.size());
    std::memcpy(out.data(), endpoint.data(), endpoint.size());
    return out;
}

class SocketStream final : public Stream {
public:
    SocketStream(Socket socket, const Tls* tls) : socket_(std::move(socket)), certificates_(tls) {
        error_code ignored;
        socket_.set_option(tcp::no_delay(true), ignored);
        socket_.native_non_blocking(true, ignored);
        const auto endpoint = socket_.remote_endpoint(ignored);
        if (endpoint.protocol().family() == AF_UNIX) {
            peer_.address = kLocalPeer;
            peer_.loopback = true;
            return;
        }
        auto remote = as_tcp(endpoint).address();
        if (remote.is_v6() && remote.to_v6().is_v4_mapped())
            remote = asio::ip::make_address_v4(asio::ip::v4_mapped, remote.to_v6());
        peer_.address = remote.to_string();
        peer_.loopback = remote.is_loopback();
    }
    ~SocketStream() override {
        if (tls_) allow_resumption(tls_.get());
    }

    void open(User user) override {
        BUNRAKU_ASSERT(!tls_);
        if (!certificates_) return user->on_open(0);
        context_ = certificates_->current(generation_);
        tls_.reset(context_ ? SSL_new(context_.get()) : nullptr);
        if (!tls_ || SSL_set_fd(tls_.get(), socket_.native_handle()) != 1)
            return user->on_open(ENOMEM);
        SSL_set_accept_state(tls_.get());
        encrypted(&SSL_do_handshake, [this, user = std::move(user)](int error, std::size_t) {
            if (error) {
                refusal_ = refusal_of(tls_.get());
                if (refusal_.empty()) refusal_ = std::exchange(tls_error_, {});
            } else {
                peer_.tls = true;
                peer_.certificate = peer_certificate(tls_.get());
            }
            user->on_open(error);
        });
    }

    std::string refusal() override { return refusal_; }

    const Peer& peer() override {
        bool old = tls_ && generation_ != certificates_->generation.load(std::memory_order_relaxed);
        if (!old) return peer_;
        auto context = certificates_->current(generation_);
        if (peer_.certificate) peer_.certificate = verify_again(tls_.get(), context.get());
        return peer_;
    }

    void read(char* into, std::size_t size, User user) override {
        if (!tls_) {
            socket_.async_read_some(asio::buffer(into, size),
                                    [user = std::move(user)](error_code error, std::size_t n) {
                                        user->on_read(code_of(error), n);
                                    });
            return;
        }
        const auto step = [into, size](SSL* ssl) { return SSL_read(ssl, into, int_of(size)); };
        encrypted(step,
                  [user = std::move(user)](int error, std::size_t n) { user->on_read(error, n); });
    }

    void write(const Pieces& pieces, User user) override {
        if (!tls_) {
            std::array<asio::const_buffer, 3> buffers = {
                asio::buffer(pieces[0]), asio::buffer(pieces[1]), asio::buffer(pieces[2])};
            socket_.async_write_some(buffers,
                                     [user = std::move(user)](error_code error, std::size_t n) {
                                         user->on_written(code_of(error), n);
                                     });
            return;
        }
        // The pieces stay valid until the user is called.
        const auto step = [this, pieces](SSL* ssl) {
            // The session and the first response leave in one packet.
            const bool first = !std::exchange(session_offered_, true);
            if (first) {
                cork(1);
                offer_session(ssl);
            }
            const int n = write_record(ssl, pieces);
            if (first) cork(0);
            return n;
        };
        encrypted(step, [user = std::move(user)](int error, std::size_t n) {
            user->on_written(error, n);
        });
    }

    std::optional<std::int64_t> send_file(int file, std::uint64_t from,
                                          std::uint64_t most) override {
        if (tls_) return std::nullopt;
        auto offset = static_cast<off_t>(from);
        auto n = ::sendfile(socket_.native_handle(), file, &offset,
                            static_cast<std::size_t>(std::min<std::uint64_t>(most, 1 << 20)));
        if (n > 0) return n;
        return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
    }

    void when_writable(User user) override {
        socket_.async_wait(Socket::wait_write, [user = std::move(user)](error_code error) {
            user->on_writable(code_of(error));
        });
    }

    void try_send(std::string_view text) override {
        if (certificates_) return;
        if (::send(socket_.native_handle(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL) <
            0) {
        }
    }

    bool end(User user) override {
        if (tls_) {
            // The first call sends the alert, the second one waits for that of the other side.
            const auto step = [](SSL* ssl) {
                const int n = SSL_shutdown(ssl);
                return n == 0 ? SSL_shutdown(ssl) : n;
            };
            encrypted(step, [user = std::move(user)](int, std::size_t) { user->on_ended(); });
            return true;
        }
        error_code ignored;
        socket_.shutdown(tcp::socket::shutdown_send, ignored);
        return false;
    }

    bool peer_ended() override {
        pollfd descriptor{socket_.native_handle(), POLLRDHUP, 0};
        return ::poll(&descriptor, 1, 0) > 0;
    }
    void close() override {
        error_code ignored;
        socket_.close(ignored);
    }

private:
    static constexpr std::size_t kMostInRecord = SSL3_RT_MAX_PLAIN_LENGTH;

    static int int_of(std::size_t size) {
        return static_cast<int>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
    }

    /// Writes one record. Small pieces share it, because each record is a packet.
    static int write_record(SSL* ssl, const Pieces& pieces) {
        const auto rest = pieces[1].size() + pieces[2].size();
        if (rest == 0 || pieces[0].size() >= kMostInRecord)
            return SSL_write(ssl, pieces[0].data(), int_of(pieces[0].size()));
        if (pieces[0].empty() && (pieces[2].empty() || pieces[1].size() >= kMostInRecord))
            return SSL_write(ssl, pieces[1].data(), int_of(pieces[1].size()));
        char record[kMostInRecord] BUNRAKU_UNINITIALIZED;
        std::size_t size = 0;
        for (const std::string_view piece : pieces)
            size += piece.copy(record + size, kMostInRecord - size);
        BUNRAKU_ASSERT(size > 0 && size <= kMostInRecord);
        return SSL_write(ssl, record, int_of(size));
    }

    void cork(int on) {
        ::setsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_CORK, &on, sizeof on);
    }

    struct Performed {
        int error = 0;
        std::size_t size = 0;
    };
    /// Performs an operation of OpenSSL. Returns nullopt if the socket is not ready, and sets
    /// `wanted` to what is needed.
    template <class Step>
    std::optional<Performed> perform(const Step& step, Socket::wait_type& wanted) {
        if (!socket_.is_open()) return Performed{EBADF};
        ERR_clear_error();
        errno = 0;
        const int n = step(tls_.get());
        if (n > 0) return Performed{.size = static_cast<std::size_t>(n)};
        const int system = errno;
        const int why = SSL_get_error(tls_.get(), n);
        if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) {
            wanted = why == SSL_ERROR_WANT_READ ? Socket::wait_read : Socket::wait_write;
            return std::nullopt;
        }
        if (why == SSL_ERROR_ZERO_RETURN) return Performed{StreamUser::kEnd};
        if (why == SSL_ERROR_SSL) tls_error_ = text_of_tls_error(ERR_peek_error());
        ERR_clear_error();
        return Performed{why == SSL_ERROR_SYSCALL && system != 0 ? system : EPROTO};
    }
    template <class Step, class Done>
    void repeat_when_ready(Socket::wait_type wanted, Step step, Done done) {
        socket_.async_wait(wanted, [this, step = std::move(step),
                                    done = std::move(done)](error_code error) mutable {
            if (error) return done(code_of(error), 0);
            auto next = Socket::wait_read;
            if (const auto result = perform(step, next)) return done(result->error, result->size);
            repeat_when_ready(next, std::move(step), std::move(done));
        });
    }
    /// Performs an operation of OpenSSL, if necessary after the socket has become ready, and passes
    /// its result to `done`, but never before this function returns.
    ///
    /// OpenSSL uses the socket itself. An idle connection therefore has no buffers.
    template <class Step, class Done>
    void encrypted(Step step, Done done) {
        auto wanted = Socket::wait_read;
        const auto result = perform(step, wanted);
        if (!result) return repeat_when_ready(wanted, std::move(step), std::move(done));
        asio::post(socket_.get_executor(), [done = std::move(done), result = *result]() mutable {
            done(result.error, result.size);
        });
    }

    Socket socket_;
    const Tls* certificates_;  ///< null without TLS
    TlsContext context_;
    std::uint32_t generation_ = 0;  ///< generation of the lists that verified peer_
    std::unique_ptr<SSL, decltype(&SSL_free)> tls_{nullptr, &SSL_free};
    bool session_offered_ = false;
    std::string tls_error_;  ///< the last error of OpenSSL
    std::string refusal_;
    Peer peer_;
};

struct Acceptor {
    explicit Acceptor(asio::io_context& context) : acceptor(context), pause(context) {}
    ~Acceptor() { remove_path(); }
    Acceptor(const Acceptor&) = delete;
    Acceptor& operator=(const Acceptor&) = delete;
    void remove_path() {
        if (!path.empty()) ::unlink(std::exchange(path, {}).c_str());
    }
    asio::basic_socket_acceptor<Protocol> acceptor;
    Protocol protocol = tcp::v4();
    asio::steady_timer pause;  ///< used after persistent failures (no more file descriptors)
    bool tls = false;
    std::string url;
    std::string path;  ///< path of a Unix socket, which has no URL
};

std::string url_of(const tcp::endpoint& endpoint, bool tls) {
    auto host = endpoint.address().to_string();
    if (endpoint.address().is_v6()) host = "[" + host + "]";
    return fmt::format("{}://{}:{}", tls ? "https" : "http", host, endpoint.port());
}

Result<tcp::endpoint> resolve(asio::io_context& context, const Listener& listener) {
    error_code error;
    std::string host = listener.host;
    if (host.empty() || host == "*") host = "0.0.0.0";
    auto address = asio::ip::make_address(host, error);
    if (!error) return tcp::endpoint(address, listener.port);
    tcp::resolver resolver(context);
    auto found = resolver.resolve(host, "", error);
    if (error || found.empty())
        return failure(fmt::format("Could not find the address {}: {}", host, error.message()));
    // IPv4 first, because most clients resolve "localhost" to 127.0.0.1.
    for (const auto& entry : found)
        if (entry.endpoint().address().is_v4())
            return tcp::endpoint(entry.endpoint().address(), listener.port);
    return tcp::endpoint(found.begin()->endpoint().address(), listener.port);
}

class SocketListening final : public Listening {
public:
    static Result<std::unique_ptr<Listening>> start_on(const ServerOptions& options) {
        auto out = std::make_unique<SocketListening>(options.error_log);
        for (int i = 0; i < std::max(1, options.io_threads); i++)
            if (!out->loops_.emplace_back(std::make_unique<SocketLoop>(out->log_))->start())
                return failure("Could not start a thread");
        bool any_tls = std::any_of(options.listeners.begin(), options.listeners.end(),
                                   [](const Listener& l) { return l.tls; });
        if (any_tls) BUNRAKU_TRY_VOID(out->reload_tls(options.tls));
        for (const auto& listener : options.listeners) BUNRAKU_TRY_VOID(out->listen(listener));
        return out;
    }

    explicit SocketListening(ErrorLog log) : log_(std::move(log)) {}
    ~SocketListening() override {
        closed_ = true;
        for (auto& loop : loops_) loop->context.stop();
    }
    std::vector<std::string> urls() const override {
        std::vector<std::string> out;
        for (const auto& a : acceptors_)
            if (!a->url.empty()) out.push_back(a->url);
        return out;
    }
    std::size_t loops() const override { return loops_.size(); }
    Loop& loop(std::size_t i) override {
        BUNRAKU_ASSERT(i < loops_.size());
        return *loops_[i];
    }
    void start(Accept accept) override {
        accept_ = std::move(accept);
        BUNRAKU_ASSERT(accept_);
        for (auto& a : acceptors_) wait(*a);
    }
    void close() override {
        closed_ = true;
        // Wait for the close. Otherwise the kernel could accept connections after the server has
        // reported its stop, and reset them. A new process could also find the address in use.
        std::promise<void> done;
        loops_.front()->post([this, &done] {
            for (auto& a : acceptors_) {
                error_code ignored;
                a->remove_path();
                a->acceptor.close(ignored);
                a->pause.cancel();
            }
            done.set_value();
        });
        done.get_future().wait();
    }
    Result<void> reload_tls(const TlsFiles& files) override {
        tls_.replace(BUNRAKU_TRY(make_server_context(files)));
        return {};
    }

private:
    Result<void> listen(const Listener& listener);
    void listen_on_path(const std::string& path);
    void wait(Acceptor& a);
    void accept_waiting(Acceptor& a);
    void hand_over(Acceptor& a, int fd);
    void log(const std::string& text) const {
        if (log_) log_(text);
    }

    ErrorLog log_;
    Tls tls_;
    Accept accept_;
    std::atomic<bool> closed_{false};
    std::size_t next_loop_ = 0;
    std::vector<std::unique_ptr<SocketLoop>> loops_;
    std::vector<std::unique_ptr<Acceptor>> acceptors_;
};

/// If the folder does not support sockets (some network file systems), the server still serves the
/// other addresses.
void SocketListening::listen_on_path(const std::string& path) {
    const auto fd = listen_local(path);
    if (!fd) return log(fd.error().message);
    auto a = std::make_unique<Acceptor>(loops_.front()->context);
    a->path = path;
    a->protocol = Protocol(AF_UNIX, 0);
    error_code error;
    a->acceptor.assign(a->protocol, *fd, error);
    if (error) {
        ::close(*fd);
        return log(fmt::format("Could not listen on {}: {}", path, error.message()));
    }
    acceptors_.push_back(std::move(a));
}

Result<void> SocketListening::listen(const Listener& listener) {
    if (!listener.path.empty()) {
        listen_on_path(listener.path);
        return {};
    }
    auto& context = loops_.front()->context;
    auto endpoint = BUNRAKU_TRY(resolve(context, listener));
    auto a = std::make_unique<Acceptor>(context);
    error_code error;
    a->tls = listener.tls;
    // Asio does not set close-on-exec, neither on this socket nor on accepted ones.
    a->protocol = endpoint.protocol();
    const int fd = ::socket(endpoint.protocol().family(),
                            SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    if (fd < 0) {
        error.assign(errno, boost::system::system_category());
    } else {
        a->acceptor.assign(a->protocol, fd, error);
    }
    if (!error) a->acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) a->acceptor.bind(endpoint, error);
    if (!error) a->acceptor.listen(4096, error);
    if (error) {
        return failure(fmt::format("Could not listen on {}: {}", url_of(endpoint, listener.tls),
                                   error.message()),
                       error.value());
    }
    a->url = url_of(as_tcp(a->acceptor.local_endpoint(error)), listener.tls);
    acceptors_.push_back(std::move(a));
    return {};
}

void SocketListening::wait(Acceptor& a) {
    a.acceptor.async_wait(asio::socket_base::wait_read, [this, &a](error_code error) {
        if (error == asio::error::operation_aborted || closed_.load()) return;
        accept_waiting(a);
    });
}

/// Accepts all waiting connections, so that the next wait is for a new one.
void SocketListening::accept_waiting(Acceptor& a) {
    while (!closed_.load() && a.acceptor.is_open()) {
        const int fd =
            ::accept4(a.acceptor.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            hand_over(a, fd);
            continue;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) return wait(a);
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            error_code error(errno, boost::system::system_category());
            log("Could not accept a connection: " + error.message());
            a.pause.expires_after(std::chrono::milliseconds(100));
            a.pause.async_wait([this, &a](error_code stopped_waiting) {
                if (!stopped_waiting) accept_waiting(a);
            });
            return;
        }
        // This connection has already ended; the next one may be valid.
    }
}

void SocketListening::hand_over(Acceptor& a, int fd) {
    BUNRAKU_ASSERT(fd >= 0 && !loops_.empty() && accept_);
    std::size_t which = next_loop_++ % loops_.size();
    SocketLoop& loop = *loops_[which];
    Socket socket(loop.context);
    error_code error;
    socket.assign(a.protocol, fd, error);
    if (error) {
        ::close(fd);
        return;
    }
    auto stream = std::make_unique<SocketStream>(std::move(socket), a.tls ? &tls_ : nullptr);
    if (which == 0) return accept_(0, std::move(stream));
    loop.post(
        [this, which, stream = std::move(stream)]() mutable { accept_(which, std::move(stream)); });
}

class Sockets final : public Network {
public:
    sys::Runtime& runtime() override { return sys::machine(); }
    Result<std::unique_ptr<Listening>> listen(const ServerOptions& options) override {
        return SocketListening::start_on(options);
    }
    std::unique_ptr<Connector> connector(const ClientOptions& options) override {
        return make_socket_connector(options);
    }
};

}  // namespace

Network& sockets() {
    static Sockets network;
    return network;
}

}  // namespace bunraku::http
