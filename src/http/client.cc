#include "http/client.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
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

#include "codec/base64.h"
#include "http/tls.h"
#include "http/url.h"
#include "http/wire.h"
#include "pki/certificate.h"

namespace bunraku::http {

using base::failure;
using base::Result;
using std::chrono::milliseconds;

namespace {

using Stopped = std::function<bool()>;

/// Waits until the socket is ready: 0, or ETIMEDOUT, or ECANCELED where `stopped` says so.
int wait_for(int fd, short events, milliseconds timeout, const Stopped& stopped = {}) {
    constexpr milliseconds kLook{200}, kLongest{1 << 30};
    const auto end = std::chrono::steady_clock::now() + std::min(timeout, kLongest);
    while (true) {
        if (stopped && stopped()) return ECANCELED;
        auto left = std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now());
        if (left < milliseconds(0)) left = milliseconds(0);
        const auto now = stopped ? std::min(left, kLook) : left;
        pollfd p{fd, events, 0};
        const int n = ::poll(&p, 1, static_cast<int>(now.count()));
        if (n > 0) return 0;
        if (n == 0 && now == left) return ETIMEDOUT;
    }
}

base::Error wait_failure(int code) {
    return {code == ECANCELED ? "stopped" : "the time is over", code};
}

/// One connection: bytes in and out, encrypted or not. OpenSSL works on memory, so that the socket
/// is written with MSG_NOSIGNAL alone.
class Link {
public:
    Link(int fd, milliseconds timeout, const Stopped& stopped)
        : fd_(fd), timeout_(timeout), stopped_(stopped) {}
    ~Link() {
        if (ssl_) SSL_free(ssl_);
        ::close(fd_);
    }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    Result<void> start_tls(SSL_CTX* context, const Url& url, SSL_SESSION* session, bool verify);
    Result<void> write(std::string_view bytes);
    /// 0: the other side ended.
    Result<std::size_t> read(char* buffer, std::size_t size);
    /// Nothing has come since the last answer, an end included.
    bool quiet() const { return rest.empty() && wait_for(fd_, POLLIN, milliseconds(0)) != 0; }
    SSL* ssl() const { return ssl_; }

    std::string rest;  ///< read, and not used yet

private:
    Result<void> send_all(std::string_view bytes);
    Result<std::size_t> receive(char* buffer, std::size_t size);
    Result<void> flush_tls();
    /// Feeds OpenSSL from the socket; false: the other side ended.
    Result<bool> fill_tls();

    int fd_;
    milliseconds timeout_;
    const Stopped& stopped_;
    SSL* ssl_ = nullptr;
    BIO* in_ = nullptr;
    BIO* out_ = nullptr;
};

Result<void> Link::send_all(std::string_view bytes) {
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

Result<std::size_t> Link::receive(char* buffer, std::size_t size) {
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

Result<void> Link::flush_tls() {
    char* data = nullptr;
    long size = BIO_get_mem_data(out_, &data);
    if (size <= 0) return {};
    auto sent = send_all(std::string_view(data, static_cast<std::size_t>(size)));
    (void)BIO_reset(out_);
    return sent;
}

Result<bool> Link::fill_tls() {
    char buffer[16384];
    auto n = BUNRAKU_TRY(receive(buffer, sizeof buffer));
    if (n == 0) return false;
    BIO_write(in_, buffer, static_cast<int>(n));
    return true;
}

Result<void> Link::start_tls(SSL_CTX* context, const Url& url, SSL_SESSION* session, bool verify) {
    ssl_ = SSL_new(context);
    in_ = BIO_new(BIO_s_mem());
    out_ = BIO_new(BIO_s_mem());
    if (!ssl_ || !in_ || !out_) return failure("out of memory");
    SSL_set_bio(ssl_, in_, out_);
    SSL_set_connect_state(ssl_);
    if (session) SSL_set_session(ssl_, session);
    unsigned char address[16];
    bool is_address = ::inet_pton(AF_INET, url.host.c_str(), address) == 1 ||
                      ::inet_pton(AF_INET6, url.host.c_str(), address) == 1;
    if (!is_address) SSL_set_tlsext_host_name(ssl_, url.host.c_str());
    if (verify) {
        if (is_address) {
            X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), url.host.c_str());
        } else {
            SSL_set1_host(ssl_, url.host.c_str());
        }
    }
    while (true) {
        int n = SSL_do_handshake(ssl_);
        // An alert that says why goes out even when it failed.
        auto flushed = flush_tls();
        if (n == 1) return flushed;
        if (SSL_get_error(ssl_, n) != SSL_ERROR_WANT_READ) {
            long verdict = SSL_get_verify_result(ssl_);
            if (verify && verdict != X509_V_OK) {
                ERR_clear_error();
                return failure(fmt::format("certificate verify failed [{}]",
                                           X509_verify_cert_error_string(verdict)));
            }
            return failure("TLS failed: " + pki::openssl_error());
        }
        BUNRAKU_TRY_VOID(flushed);
        if (!BUNRAKU_TRY(fill_tls())) return failure("the other side ended the TLS handshake");
    }
}

Result<void> Link::write(std::string_view bytes) {
    if (!ssl_) return send_all(bytes);
    while (!bytes.empty()) {
        std::size_t n = 0;
        // In pieces, so that a long body is never held twice.
        if (SSL_write_ex(ssl_, bytes.data(), std::min<std::size_t>(bytes.size(), 64 << 10), &n) !=
            1) {
            return failure("TLS failed: " + pki::openssl_error());
        }
        bytes.remove_prefix(n);
        BUNRAKU_TRY_VOID(flush_tls());
    }
    return {};
}

Result<std::size_t> Link::read(char* buffer, std::size_t size) {
    if (!ssl_) return receive(buffer, size);
    while (true) {
        std::size_t n = 0;
        int result = SSL_read_ex(ssl_, buffer, size, &n);
        auto flushed = flush_tls();
        if (result == 1) return n;
        switch (SSL_get_error(ssl_, result)) {
            case SSL_ERROR_ZERO_RETURN: return std::size_t{0};
            case SSL_ERROR_WANT_READ: break;
            default: return failure("TLS failed: " + pki::openssl_error());
        }
        BUNRAKU_TRY_VOID(flushed);
        if (!BUNRAKU_TRY(fill_tls())) return std::size_t{0};
    }
}

Result<int> connect_to(const Url& url, milliseconds timeout, const Stopped& stopped) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    auto port = std::to_string(url.port);
    if (int error = ::getaddrinfo(url.host.c_str(), port.c_str(), &hints, &found))
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

struct FreeSession {
    void operator()(SSL_SESSION* s) const { SSL_SESSION_free(s); }
};

bool repeats_safely(std::string_view method) {
    return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE";
}

}  // namespace

struct Client::Impl {
    explicit Impl(ClientOptions o) : options(std::move(o)) {}
    ClientOptions options;
    TlsContext tls;
    std::map<std::string, std::unique_ptr<Link>> links;  ///< by origin
    std::map<std::string, std::unique_ptr<SSL_SESSION, FreeSession>> sessions;

    using Sink = std::function<bool(std::string_view)>;
    Result<std::unique_ptr<Link>> connect(const Url& url);
    Result<ClientResponse> follow(const ClientRequest& request, const Sink* sink);
    Result<ClientResponse> exchange(const Url& url, const std::string& head,
                                    const std::string& body, std::string_view method,
                                    const Sink* sink);
    Result<ClientResponse> receive(Link& link, std::string_view method, const Sink* sink,
                                   bool& began, bool& keep);
};

Result<std::unique_ptr<Link>> Client::Impl::connect(const Url& url) {
    int fd = BUNRAKU_TRY(connect_to(url, options.connect_timeout, options.stopped));
    auto link = std::make_unique<Link>(fd, options.timeout, options.stopped);
    if (url.tls) {
        if (!tls) tls = BUNRAKU_TRY(make_client_context(options));
        auto session = sessions.find(url.origin());
        BUNRAKU_TRY_VOID(link->start_tls(
            tls.get(), url, session == sessions.end() ? nullptr : session->second.get(),
            options.verify));
    }
    return link;
}

/// Reads one answer. `began`: some of it came.
Result<ClientResponse> Client::Impl::receive(Link& link, std::string_view method, const Sink* sink,
                                             bool& began, bool& keep) {
    ClientResponse out;
    Framing framing;
    char buffer[32768];
    auto more = [&]() -> Result<bool> {
        auto n = BUNRAKU_TRY(link.read(buffer, sizeof buffer));
        link.rest.append(buffer, n);
        if (n) began = true;
        return n > 0;
    };
    while (true) {
        HeadScanner scanner;
        HeadScanner::State state;
        while ((state = scanner.scan(link.rest)) == HeadScanner::State::More) {
            if (link.rest.size() > (256 << 10)) return failure("the header is too long");
            if (!BUNRAKU_TRY(more())) return failure("the other side ended the connection");
        }
        if (state == HeadScanner::State::Bad) return failure("the answer is not HTTP");
        auto fault = parse_response_head(std::string_view(link.rest).substr(0, scanner.size()),
                                         out.status, out.headers, framing);
        if (fault) return failure(fault.message);
        link.rest.erase(0, scanner.size());
        if (out.status >= 200 || out.status == 101) break;
    }
    keep = framing.keep_alive;
    if (method == "HEAD" || out.status == 204 || out.status == 304) return out;

    // A sink gets the body of a good answer; what an error says is for the caller to read.
    bool to_sink = sink && out.status >= 200 && out.status < 300;
    std::uint64_t received = 0, limit = to_sink ? UINT64_MAX >> 1 : options.max_body;
    auto take = [&](std::string_view bytes) -> Result<void> {
        received += bytes.size();
        if (received > limit)
            return failure(fmt::format("the answer is longer than {} bytes", limit));
        if (to_sink) {
            if (!bytes.empty() && !(*sink)(bytes)) return failure("stopped", ECANCELED);
        } else {
            out.body.append(bytes);
        }
        return {};
    };
    if (framing.chunked) {
        ChunkedDecoder chunks;
        std::string piece;
        while (true) {
            std::string_view in = link.rest;
            piece.clear();
            auto state = chunks.feed(in, piece, limit);
            link.rest.erase(0, link.rest.size() - in.size());
            BUNRAKU_TRY_VOID(take(piece));
            if (state == ChunkedDecoder::State::Done) break;
            if (state == ChunkedDecoder::State::TooLong)
                return failure(fmt::format("the answer is longer than {} bytes", limit));
            if (state == ChunkedDecoder::State::Bad) return failure("the chunked body is broken");
            if (!BUNRAKU_TRY(more())) return failure("the answer is cut short");
        }
    } else if (framing.content_length) {
        std::uint64_t left = *framing.content_length;
        if (left > limit) return failure(fmt::format("the answer is longer than {} bytes", limit));
        if (!to_sink)
            out.body.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(left, 1 << 20)));
        while (true) {
            auto n = static_cast<std::size_t>(std::min<std::uint64_t>(left, link.rest.size()));
            BUNRAKU_TRY_VOID(take(std::string_view(link.rest).substr(0, n)));
            link.rest.erase(0, n);
            left -= n;
            if (left == 0) break;
            if (!BUNRAKU_TRY(more())) return failure("the answer is cut short");
        }
    } else {
        keep = false;
        do {
            BUNRAKU_TRY_VOID(take(link.rest));
            link.rest.clear();
        } while (BUNRAKU_TRY(more()));
    }
    if (!to_sink) {
        auto decoded =
            decode_content(out.headers.get("Content-Encoding"), out.body, options.max_body);
        if (decoded.status == 0) {
            out.body = std::move(decoded.body);
        } else if (decoded.status != 415) {
            return failure(decoded.message);
        }
    }
    return out;
}

Result<ClientResponse> Client::Impl::exchange(const Url& url, const std::string& head,
                                              const std::string& body, std::string_view method,
                                              const Sink* sink) {
    auto origin = url.origin();
    for (int attempt = 0;; attempt++) {
        std::unique_ptr<Link> link;
        bool reused = false;
        if (auto it = links.find(origin); it != links.end() && attempt == 0) {
            link = std::move(it->second);
            links.erase(it);
            reused = link->quiet();
            if (!reused) link.reset();
        }
        if (!link) link = BUNRAKU_TRY(connect(url));
        bool began = false, keep = false;
        auto sent = link->write(head);
        if (sent) sent = link->write(body);
        // A server that refuses a long body answers while it is still being sent.
        auto answer = receive(*link, method, sink, began, keep);
        if (!answer) {
            bool again =
                reused && !began && answer.error().code != ETIMEDOUT && repeats_safely(method);
            if (again) continue;
            if (!sent && !began) return std::unexpected(sent.error());
            return answer;
        }
        if (link->ssl()) {
            if (auto* session = SSL_get1_session(link->ssl())) sessions[origin].reset(session);
        }
        if (keep && sent && link->rest.empty()) links[origin] = std::move(link);
        return answer;
    }
}

Result<ClientResponse> Client::Impl::follow(const ClientRequest& request, const Sink* sink) {
    auto url = BUNRAKU_TRY(parse_url(request.url));
    const auto first = url.origin();
    auto method = request.method;
    bool with_body = true;
    for (int hops = 0;; hops++) {
        bool at_home = url.origin() == first;
        std::string head =
            fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", method, url.target, url.authority());
        bool authorized = false;
        for (const auto& [name, value] : request.headers) {
            Headers one;
            one.add(name, "");
            if (one.has("Host") || one.has("Content-Length") || one.has("Connection") ||
                one.has("Transfer-Encoding")) {
                continue;
            }
            bool secret =
                one.has("Authorization") || one.has("Cookie") || one.has("X-Authentication");
            if (secret && !at_home) continue;
            if (!with_body && (one.has("Content-Type") || one.has("Content-Encoding"))) continue;
            if (one.has("Authorization")) authorized = true;
            if ((name + value).find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos)
                return failure(fmt::format("The header {} holds a line end", name));
            head += fmt::format("{}: {}\r\n", name, value);
        }
        if (!authorized && at_home) {
            if (!options.authorization.empty()) {
                head += fmt::format("Authorization: {}\r\n", options.authorization);
            } else if (url.has_user) {
                head += fmt::format("Authorization: Basic {}\r\n", codec::base64_encode(url.user));
            }
        }
        if (!request.headers.has("User-Agent"))
            head += fmt::format("User-Agent: {}\r\n", options.user_agent);
        if (!request.headers.has("Accept")) head += "Accept: */*\r\n";
        if (!sink && !request.headers.has("Accept-Encoding")) head += "Accept-Encoding: gzip\r\n";
        const std::string empty;
        const auto& body = with_body ? request.body : empty;
        if (!body.empty() || method == "POST" || method == "PUT")
            head += fmt::format("Content-Length: {}\r\n", body.size());
        head += "\r\n";
        auto answer = exchange(url, head, body, method, sink);
        if (!answer) {
            return failure(fmt::format("{} {}: {}", method, url.text(), answer.error().message),
                           answer.error().code);
        }
        answer->url = url.text();
        auto location = answer->headers.get("Location");
        int status = answer->status;
        bool moved =
            status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
        if (!moved || location.empty() || options.max_redirects == 0) return answer;
        if (hops >= options.max_redirects)
            return failure(fmt::format("{} {}: too many redirects", method, request.url));
        auto next = resolve_url(url, location);
        if (!next) {
            return failure(fmt::format("{} {}: {}", method, url.text(), next.error().message));
        }
        if (url.has_user && !next->has_user && next->origin() == first) {
            next->user = url.user;
            next->has_user = true;
        }
        url = std::move(*next);
        if (status <= 303 && method != "GET" && method != "HEAD") {
            method = "GET";
            with_body = false;
        }
    }
}

Client::Client(ClientOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Result<ClientResponse> Client::send(const ClientRequest& request) {
    return impl_->follow(request, nullptr);
}

Result<ClientResponse> Client::get(const std::string& url) {
    ClientRequest request;
    request.url = url;
    return send(request);
}

Result<ClientResponse> Client::download(const ClientRequest& request,
                                        const std::function<bool(std::string_view)>& sink) {
    return impl_->follow(request, &sink);
}

}  // namespace bunraku::http
