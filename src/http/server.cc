#include "http/server.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <csignal>
#include <fmt/format.h>
#include <mutex>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "http/connection.h"

namespace bunraku::http {

using asio::ip::tcp;
using base::failure;
using base::Result;

namespace {

/// Threads for requests that wait for other servers: enough that a few that hang leave some.
constexpr int kMostWaiters = 64;

struct Acceptor {
    explicit Acceptor(asio::io_context& context) : acceptor(context), pause(context) {}
    tcp::acceptor acceptor;
    tcp protocol = tcp::v4();
    asio::steady_timer pause;  ///< after a failure that will last (no more file descriptors)
    bool tls = false;
    std::string url;
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
    // IPv4 first: "localhost" is 127.0.0.1 to most clients' configuration.
    for (const auto& entry : found)
        if (entry.endpoint().address().is_v4())
            return tcp::endpoint(entry.endpoint().address(), listener.port);
    return tcp::endpoint(found.begin()->endpoint().address(), listener.port);
}

}  // namespace

struct Server::Impl {
    Shared shared;
    std::vector<std::unique_ptr<Loop>> loops;
    std::vector<std::unique_ptr<Acceptor>> acceptors;
    std::vector<std::thread> threads;
    using Guard = asio::executor_work_guard<asio::io_context::executor_type>;
    std::vector<Guard> guards;
    std::mutex mutex;  ///< of running
    std::condition_variable ended;
    std::size_t running = 0, next_loop = 0;
    bool stopped = false;

    Result<void> listen(const Listener& listener);
    void accept(Acceptor& a);
    void accept_waiting(Acceptor& a);
    void take(Acceptor& a, Loop& loop, tcp::socket socket);
    void run(Loop& loop);
};

Result<void> Server::Impl::listen(const Listener& listener) {
    auto& context = loops.front()->context;
    auto endpoint = BUNRAKU_TRY(resolve(context, listener));
    auto a = std::make_unique<Acceptor>(context);
    error_code error;
    a->tls = listener.tls;
    // Asio marks no socket as closed by exec, neither this one nor those it accepts.
    a->protocol = endpoint.protocol();
    const int fd =
        ::socket(a->protocol.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
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
    a->url = url_of(a->acceptor.local_endpoint(error), listener.tls);
    acceptors.push_back(std::move(a));
    return {};
}

void Server::Impl::accept(Acceptor& a) {
    a.acceptor.async_wait(tcp::acceptor::wait_read, [this, &a](error_code error) {
        if (error == asio::error::operation_aborted || shared.stopping.load()) return;
        accept_waiting(a);
    });
}

/// Takes those who wait, all of them: the next wait is for somebody new.
void Server::Impl::accept_waiting(Acceptor& a) {
    while (!shared.stopping.load() && a.acceptor.is_open()) {
        const int fd =
            ::accept4(a.acceptor.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0) {
            Loop& loop = *loops[next_loop++ % loops.size()];
            tcp::socket socket(loop.context);
            error_code error;
            socket.assign(a.protocol, fd, error);
            if (error) {
                ::close(fd);
            } else {
                take(a, loop, std::move(socket));
            }
            continue;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) return accept(a);
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            error_code error(errno, boost::system::system_category());
            shared.log_error("Could not accept a connection: " + error.message());
            a.pause.expires_after(std::chrono::milliseconds(100));
            a.pause.async_wait([this, &a](error_code stopped_waiting) {
                if (!stopped_waiting) accept_waiting(a);
            });
            return;
        }
        // Of one connection that is gone again: the next one may be there.
    }
}

void Server::Impl::take(Acceptor& a, Loop& loop, tcp::socket socket) {
    if (shared.connections.load() >= shared.options.max_connections) {
        constexpr std::string_view busy =
            "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 5\r\n"
            "Connection: close\r\n\r\n";
        if (!a.tls && ::send(socket.native_handle(), busy.data(), busy.size(),
                             MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        }
        return;
    }
    if (&loop == loops.front().get()) {
        std::make_shared<Connection>(loop, std::move(socket), a.tls)->start();
        return;
    }
    auto holder = std::make_shared<tcp::socket>(std::move(socket));
    asio::post(loop.context, [&loop, holder, tls = a.tls] {
        std::make_shared<Connection>(loop, std::move(*holder), tls)->start();
    });
}

void Server::Impl::run(Loop& loop) {
    // sendfile has no MSG_NOSIGNAL.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    loop.sweep();
    while (true) {
        try {
            loop.context.run();
            break;
        } catch (const std::exception& error) {
            // Memory that could not be had, for example: the connection is lost, not the server.
            shared.log_error(fmt::format("A connection failed: {}", error.what()));
        }
    }
    std::lock_guard lock(mutex);
    running--;
    ended.notify_all();
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() { stop(std::chrono::seconds(0)); }

Result<std::unique_ptr<Server>> Server::start(Router router, ServerOptions options) {
    auto impl = std::make_unique<Impl>();
    impl->shared.router = std::move(router);
    impl->shared.options = std::move(options);
    const auto& o = impl->shared.options;
    for (int i = 0; i < std::max(1, o.io_threads); i++)
        impl->loops.push_back(std::make_unique<Loop>(impl->shared));
    bool any_tls = std::any_of(o.listeners.begin(), o.listeners.end(),
                               [](const Listener& l) { return l.tls; });
    if (any_tls) impl->shared.replace_tls(BUNRAKU_TRY(make_server_context(o.tls)));
    for (const auto& listener : o.listeners) BUNRAKU_TRY_VOID(impl->listen(listener));

    int workers = o.worker_threads;
    if (workers <= 0) workers = static_cast<int>(std::thread::hardware_concurrency());
    impl->shared.pool.start(std::max(2, workers));
    impl->shared.waiters.start_on_demand(kMostWaiters);
    for (auto& a : impl->acceptors) impl->accept(*a);
    impl->running = impl->loops.size();
    for (auto& loop : impl->loops) {
        impl->guards.push_back(asio::make_work_guard(loop->context));
        impl->threads.emplace_back([raw = impl.get(), &loop = *loop] { raw->run(loop); });
    }
    return std::unique_ptr<Server>(new Server(std::move(impl)));
}

std::vector<std::string> Server::urls() const {
    std::vector<std::string> out;
    for (const auto& a : impl_->acceptors) out.push_back(a->url);
    return out;
}

Server::Load Server::load() const {
    return {impl_->shared.requests.load(), impl_->shared.connections.load(),
            impl_->shared.pool.waiting()};
}

Result<void> Server::reload_tls(const TlsFiles& files) {
    impl_->shared.replace_tls(BUNRAKU_TRY(make_server_context(files)));
    return {};
}

void Server::stop(std::chrono::seconds patience) {
    auto& impl = *impl_;
    if (impl.stopped) return;
    impl.stopped = true;
    impl.shared.stopping = true;
    asio::post(impl.loops.front()->context, [&impl] {
        for (auto& a : impl.acceptors) {
            error_code ignored;
            a->acceptor.close(ignored);
            a->pause.cancel();
        }
    });
    for (auto& loop : impl.loops) asio::post(loop->context, [&loop = *loop] { loop.sweep(); });
    {
        std::unique_lock lock(impl.mutex);
        bool done = impl.ended.wait_for(lock, patience, [&] { return impl.running == 0; });
        if (!done) {
            impl.shared.abandoned = true;
            for (auto& loop : impl.loops)
                asio::post(loop->context, [&loop = *loop] { loop.close_all(); });
        }
    }
    // Every task ends by telling its connection's thread: those threads end last.
    impl.shared.pool.stop();
    impl.shared.waiters.stop();
    for (auto& t : impl.threads)
        if (t.joinable()) t.join();
    // A thread that had nothing to do may have ended before it came to closing them.
    for (auto& a : impl.acceptors) {
        error_code ignored;
        a->acceptor.close(ignored);
    }
}

}  // namespace bunraku::http
