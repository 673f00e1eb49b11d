// SPDX-License-Identifier: Apache-2.0
// The client side of sockets and TLS.
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/base/uninitialized.h"
#include "net/http/local_socket.h"
#include "net/http/network.h"
#include "net/http/session_cache.h"
#include "net/http/socket_network.h"
#include "net/http/tls.h"
#include "net/http/wire.h"
#include "net/pki/certificate.h"

namespace bunraku::http {

using base::failure;
using base::Result;
using std::chrono::milliseconds;

namespace {

using Stopped = std::function<bool()>;

/// Waits until the socket is ready. Returns 0, ETIMEDOUT, or ECANCELED if `stopped` returns true.
int wait_for(int fd, short events, milliseconds timeout, const Stopped& stopped = {}) {
    constexpr milliseconds kPollInterval{200}, kLongest{1 << 30};
    const auto end = std::chrono::steady_clock::now() + std::min(timeout, kLongest);
    while (true) {
        if (stopped && stopped()) return ECANCELED;
        auto left = std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now());
        if (left < milliseconds(0)) left = milliseconds(0);
        const auto now = stopped ? std::min(left, kPollInterval) : left;
        pollfd p{fd, events, 0};
        const int n = ::poll(&p, 1, static_cast<int>(now.count()));
        if (n > 0) return 0;
        if (n == 0 && now == left) return ETIMEDOUT;
    }
}

base::Error wait_failure(int code) { return {code == ECANCELED ? "stopped" : "timed out", code}; }

/// A connection, encrypted or plain. OpenSSL uses memory buffers, so that this class alone writes
/// to the socket, always with MSG_NOSIGNAL.
class SocketLink final : public Link {
public:
    SocketLink(int fd, milliseconds timeout, const Stopped& stopped)
        : fd_(fd), timeout_(timeout), stopped_(stopped) {}
    ~SocketLink() override { ::close(fd_); }
    SocketLink(const SocketLink&) = delete;
    SocketLink& operator=(const SocketLink&) = delete;

    /// Requests a tunnel from a proxy to the host of `url`.
    Result<void> tunnel(const Url& url, const Proxy& proxy);
    /// Starts TLS. Resumes `session`, and stores the new session in it for the next connection.
    Result<void> start_tls(SSL_CTX* context, const Url& url, Session& session, bool verify);
    Result<void> write(std::string_view bytes) override;
    Result<std::size_t> read(char* buffer, std::size_t size) override;
    bool quiet() override { return rest.empty() && wait_for(fd_, POLLIN, milliseconds(0)) != 0; }
    void exchanged() override {
        BUNRAKU_ASSERT(!tls_.ssl() || session_);
        if (tls_.ssl()) session_->reset(SSL_get1_session(tls_.ssl()));
    }
    bool resumed() const { return tls_.ssl() && SSL_session_reused(tls_.ssl()) == 1; }

private:
    Result<void> send_all(std::string_view bytes);
    Result<std::size_t> receive(char* buffer, std::size_t size);
    Result<void> flush_tls();
    /// Passes input from the socket to OpenSSL. Returns false if the other side has ended the
    /// connection.
    Result<bool> fill_tls();

    int fd_;
    milliseconds timeout_;
    const Stopped& stopped_;
    TlsClient tls_;
    Session* session_ = nullptr;  ///< owned by the connector
};

Result<void> SocketLink::send_all(std::string_view bytes) {
    while (!bytes.empty()) {
        auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (n > 0) {
            bytes.remove_prefix(static_cast<std::size_t>(n));
            continue;
        }
        if (errno == EINTR) continue;
        if (errno != EAGAIN) return failure(std::strerror(errno), errno);
        if (const int code = wait_for(fd_, POLLOUT, timeout_, stopped_)) {
            return std::unexpected(wait_failure(code));
        }
    }
    return {};
}

Result<std::size_t> SocketLink::receive(char* buffer, std::size_t size) {
    while (true) {
        auto n = ::recv(fd_, buffer, size, 0);
        if (n >= 0) return static_cast<std::size_t>(n);
        if (errno == EINTR) continue;
        if (errno != EAGAIN) return failure(std::strerror(errno), errno);
        if (const int code = wait_for(fd_, POLLIN, timeout_, stopped_)) {
            return std::unexpected(wait_failure(code));
        }
    }
}

Result<void> SocketLink::flush_tls() {
    char* data = nullptr;
    long size = BIO_get_mem_data(tls_.out(), &data);
    if (size <= 0) return {};
    auto sent = send_all(std::string_view(data, static_cast<std::size_t>(size)));
    (void)BIO_reset(tls_.out());
    return sent;
}

Result<bool> SocketLink::fill_tls() {
    char buffer[16384] BUNRAKU_UNINITIALIZED;
    auto n = BUNRAKU_TRY(receive(buffer, sizeof buffer));
    if (n == 0) return false;
    BIO_write(tls_.in(), buffer, static_cast<int>(n));
    return true;
}

Result<void> SocketLink::tunnel(const Url& url, const Proxy& proxy) {
    constexpr std::size_t kLongest = 64 << 10;
    const bool six = url.host.find(':') != std::string::npos;
    const auto target =
        fmt::format("{}{}{}:{}", six ? "[" : "", url.host, six ? "]" : "", url.port);
    std::string head = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", target);
    if (!proxy.user.empty())
        head += fmt::format("Proxy-Authorization: {}\r\n", proxy.authorization());
    BUNRAKU_TRY_VOID(send_all(head + "\r\n"));
    const auto bad = [&](std::string_view why) {
        return failure(fmt::format("the proxy {}:{} {}", proxy.host, proxy.port, why));
    };
    std::string answer;
    HeadScanner scanner;
    // Do not read beyond the head. After it, the other side waits for our hello.
    for (auto state = HeadScanner::State::More; state != HeadScanner::State::Found;) {
        char buffer[4096] BUNRAKU_UNINITIALIZED;
        const std::size_t n = BUNRAKU_TRY(receive(buffer, sizeof buffer));
        if (n == 0)
            return failure(
                fmt::format("the proxy {}:{} closed the connection", proxy.host, proxy.port),
                ECONNRESET);
        answer.append(buffer, n);
        state = scanner.scan(answer);
        if (state == HeadScanner::State::Bad || answer.size() > kLongest)
            return bad("does not respond like a proxy");
    }
    int status = 0;
    Headers headers;
    Framing framing;
    if (parse_response_head(std::string_view(answer).substr(0, scanner.size()), status, headers,
                            framing)) {
        return bad("does not respond like a proxy");
    }
    if (status < 200 || status > 299) {
        return bad(fmt::format("refuses {}: {} \"{}\"", target, status,
                               status == 407 ? "Proxy Authentication Required" : reason(status)));
    }
    if (answer.size() != scanner.size()) return bad("sent data after its response");
    return {};
}

Result<void> SocketLink::start_tls(SSL_CTX* context, const Url& url, Session& session,
                                   bool verify) {
    BUNRAKU_ASSERT(!session_ && !tls_.ssl());
    session_ = &session;
    BUNRAKU_TRY_VOID(tls_.begin(context, url, session.get(), verify));
    while (true) {
        const auto done = tls_.handshake_step();
        // If the handshake failed, this sends the alert with the reason.
        auto flushed = flush_tls();
        if (!done) return std::unexpected(done.error());
        if (*done || !flushed) return flushed;
        if (!BUNRAKU_TRY(fill_tls()))
            return failure("the server closed the connection during the TLS handshake");
    }
}

Result<void> SocketLink::write(std::string_view bytes) {
    if (!tls_.ssl()) return send_all(bytes);
    while (!bytes.empty()) {
        std::size_t n = 0;
        // Written in pieces, so that a long body is not stored twice.
        if (SSL_write_ex(tls_.ssl(), bytes.data(), std::min<std::size_t>(bytes.size(), 64 << 10),
                         &n) != 1) {
            return failure(tls_failure());
        }
        bytes.remove_prefix(n);
        BUNRAKU_TRY_VOID(flush_tls());
    }
    return {};
}

Result<std::size_t> SocketLink::read(char* buffer, std::size_t size) {
    if (!tls_.ssl()) return receive(buffer, size);
    while (true) {
        std::size_t n = 0;
        int result = SSL_read_ex(tls_.ssl(), buffer, size, &n);
        auto flushed = flush_tls();
        if (result == 1) return n;
        switch (SSL_get_error(tls_.ssl(), result)) {
            case SSL_ERROR_ZERO_RETURN: return std::size_t{0};
            case SSL_ERROR_WANT_READ: break;
            default: return failure(tls_failure());
        }
        BUNRAKU_TRY_VOID(flushed);
        if (!BUNRAKU_TRY(fill_tls())) return std::size_t{0};
    }
}

Result<int> connect_to(const std::string& host, std::uint16_t port_number, milliseconds timeout,
                       const Stopped& stopped) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    auto port = std::to_string(port_number);
    if (int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found))
        return failure(::gai_strerror(error), EHOSTUNREACH);
    std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> guard(found, ::freeaddrinfo);
    int last = ECONNREFUSED;
    for (auto* a = found; a; a = a->ai_next) {
        int fd = ::socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0) {
            last = errno;
            continue;
        }
        int one = 1;
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (::connect(fd, a->ai_addr, a->ai_addrlen) == 0) return fd;
        int error = errno;
        if (error == EINPROGRESS) {
            socklen_t size = sizeof error;
            error = wait_for(fd, POLLOUT, timeout, stopped);
            if (error == 0) ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
        }
        if (error == 0) return fd;
        last = error;
        ::close(fd);
    }
    return failure(std::strerror(last), last);
}

class SocketConnector final : public Connector {
public:
    SocketConnector(const ClientOptions& options, std::string session_file)
        : options_(options), session_file_(std::move(session_file)) {}
    ~SocketConnector() override {
        if (first_) first_->stored_session.save(first_->session.get(), first_->resumed);
    }
    Result<std::unique_ptr<Link>> connect(const Url& url) override {
        if (!url.tls) return connect_with(url, nullptr);
        auto& known = known_[url.origin()];
        if (!known) {
            known = std::make_unique<Known>(
                SessionCache(session_file_, options_, url, sys::machine().now_ns()));
            known->session = known->stored_session.load();
            if (!first_) first_ = known.get();
        }
        const bool has_session = known->session != nullptr;
        BUNRAKU_ASSERT(first_);
        known->failed = false;
        auto link = connect_with(url, known.get());
        if (link || !has_session || !known->failed) return link;
        // The stored session may be damaged, for example.
        known->session.reset();
        return connect_with(url, known.get());
    }

private:
    /// The state of one origin.
    struct Known {
        explicit Known(SessionCache of) : stored_session(std::move(of)) {}
        SessionCache stored_session;
        Session session;
        bool resumed = true;  ///< true if every session since the loaded one was resumed
        bool failed = false;  ///< result of the last handshake
    };

    /// `known` is null without TLS.
    Result<std::unique_ptr<Link>> connect_with(const Url& url, Known* known) {
        const Proxy* proxy = options_.proxies.of(url);
        int fd =
            BUNRAKU_TRY(connect_to(proxy ? proxy->host : url.host, proxy ? proxy->port : url.port,
                                   options_.connect_timeout, options_.stopped));
        auto link = std::make_unique<SocketLink>(fd, options_.timeout, options_.stopped);
        if (!known) return link;
        if (!tls_) tls_ = BUNRAKU_TRY(make_client_context(options_));
        if (proxy) BUNRAKU_TRY_VOID(link->tunnel(url, *proxy));
        BUNRAKU_ASSERT(url.tls && tls_);
        known->failed = true;
        BUNRAKU_TRY_VOID(link->start_tls(tls_.get(), url, known->session, options_.verify));
        known->failed = false;
        known->resumed = link->resumed() && known->resumed;
        return link;
    }

    const ClientOptions& options_;
    std::string session_file_;
    TlsContext tls_;
    std::map<std::string, std::unique_ptr<Known>> known_;
    Known* first_ = nullptr;  ///< the origin whose session is stored in the file
};

class LocalNetwork final : public Network {
public:
    explicit LocalNetwork(std::string path) : path_(std::move(path)) {}
    sys::Runtime& runtime() override { return sys::machine(); }
    Result<std::unique_ptr<Listening>> listen(const ServerOptions&) override {
        return failure("A local network supports only clients");
    }
    std::unique_ptr<Connector> connector(const ClientOptions& options) override {
        return std::make_unique<LocalConnector>(path_, options);
    }

private:
    struct LocalConnector final : Connector {
        LocalConnector(const std::string& to, const ClientOptions& with)
            : path(to), options(with) {}
        Result<std::unique_ptr<Link>> connect(const Url&) override {
            const int fd = BUNRAKU_TRY(connect_local(path));
            return std::make_unique<SocketLink>(fd, options.timeout, options.stopped);
        }
        const std::string& path;
        const ClientOptions& options;
    };
    std::string path_;
};

}  // namespace

std::unique_ptr<Network> local_network(std::string path) {
    return std::make_unique<LocalNetwork>(std::move(path));
}

std::unique_ptr<Connector> make_socket_connector(const ClientOptions& options,
                                                 std::string session_file) {
    return std::make_unique<SocketConnector>(options, std::move(session_file));
}

}  // namespace bunraku::http
