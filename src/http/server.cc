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
    std::mutex mutex;  ///< of tls, running
    std::condition_variable ended;
    TlsContext tls;
    std::size_t running = 0, next_loop = 0;
    bool stopped = false;

    Result<void> listen(const Listener& listener);
    void accept(Acceptor& a);
    void take(Acceptor& a, Loop& loop, tcp::socket socket);
    void run(Loop& loop);
};

Result<void> Server::Impl::listen(const Listener& listener) {
    auto& context = loops.front()->context;
    auto endpoint = BUNRAKU_TRY(resolve(context, listener));
    auto a = std::make_unique<Acceptor>(context);
    error_code error;
    a->tls = listener.tls;
    a->acceptor.open(endpoint.protocol(), error);
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
    Loop& loop = *loops[next_loop++ % loops.size()];
    a.acceptor.async_accept(loop.context, [this, &a, &loop](error_code error, tcp::socket socket) {
        if (error == asio::error::operation_aborted || shared.stopping.load()) return;
        if (error) {
            if (error == asio::error::no_descriptors || error == asio::error::no_memory ||
                error == boost::system::errc::too_many_files_open_in_system) {
                shared.log_error("Could not accept a connection: " + error.message());
                a.pause.expires_after(std::chrono::milliseconds(100));
                a.pause.async_wait([this, &a](error_code stopped_waiting) {
                    if (!stopped_waiting) accept(a);
                });
                return;
            }
            return accept(a);
        }
        take(a, loop, std::move(socket));
        accept(a);
    });
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
    TlsContext context;
    if (a.tls) {
        std::lock_guard lock(mutex);
        context = tls;
    }
    if (&loop == loops.front().get()) {
        std::make_shared<Connection>(loop, std::move(socket), context)->start();
        return;
    }
    auto holder = std::make_shared<tcp::socket>(std::move(socket));
    asio::post(loop.context, [&loop, holder, context] {
        std::make_shared<Connection>(loop, std::move(*holder), context)->start();
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
    if (any_tls) impl->tls = BUNRAKU_TRY(make_server_context(o.tls));
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
    auto context = BUNRAKU_TRY(make_server_context(files));
    std::lock_guard lock(impl_->mutex);
    impl_->tls = std::move(context);
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
