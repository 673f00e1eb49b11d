// SPDX-License-Identifier: Apache-2.0
#include "net/http/server.h"

#include <algorithm>
#include <mutex>

#include "core/base/assert.h"
#include "net/http/connection.h"

namespace bunraku::http {

using base::Result;

namespace {

/// Threads for requests that wait for other servers. There are many, so that a few hanging ones do
/// not block the others.
constexpr int kMostWaiters = 64;
/// Number of these threads that start at once. A compile leaves memory in its thread.
constexpr int kEagerWaiters = 16;

}  // namespace

struct Server::Impl {
    explicit Impl(Network& n) : network(n), ended(n.runtime()) {}
    Network& network;
    Shared shared;
    std::mutex mutex;  ///< protects `running`
    sys::Condition ended;
    std::size_t running = 0;
    bool stopped = false;
    std::vector<std::unique_ptr<ConnectionGroup>> groups;
    std::unique_ptr<Listening> listening;  ///< its loops end before the objects that they use

    void group_ended();
};

void Server::Impl::group_ended() {
    std::lock_guard lock(mutex);
    BUNRAKU_ASSERT(running > 0 && running <= groups.size());
    running--;
    ended.notify_all();
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() { stop(std::chrono::seconds(0)); }

Result<std::unique_ptr<Server>> Server::start(Router router, ServerOptions options) {
    auto impl = std::make_unique<Impl>(options.network ? *options.network : sockets());
    impl->shared.router = std::move(router);
    impl->shared.options = std::move(options);
    const auto& o = impl->shared.options;
    impl->listening = BUNRAKU_TRY(impl->network.listen(o));
    int workers = o.worker_threads > 0 ? o.worker_threads : impl->network.runtime().cores();
    auto failed = [raw = impl.get()](const std::string& what) {
        raw->shared.log_error("A request failed: " + what);
    };
    auto& runtime = impl->network.runtime();
    impl->shared.pool = runtime.executor({.threads = std::max(2, workers),
                                          .limit = o.max_queue,
                                          .name = "requests",
                                          .error = failed});
    impl->shared.waiters = runtime.executor({.threads = kMostWaiters,
                                             .limit = o.max_queue,
                                             .name = "requests that wait",
                                             .error = failed,
                                             .eager = kEagerWaiters});
    impl->running = impl->listening->loops();
    for (std::size_t i = 0; i < impl->listening->loops(); ++i) {
        impl->groups.push_back(std::make_unique<ConnectionGroup>(
            impl->shared, impl->listening->loop(i), [raw = impl.get()] { raw->group_ended(); }));
    }
    BUNRAKU_ASSERT(!impl->groups.empty() && impl->running == impl->groups.size());
    impl->listening->start([raw = impl.get()](std::size_t loop, std::unique_ptr<Stream> stream) {
        BUNRAKU_ASSERT(loop < raw->groups.size());
        raw->groups[loop]->take(std::move(stream));
    });
    return std::unique_ptr<Server>(new Server(std::move(impl)));
}

std::vector<std::string> Server::urls() const { return impl_->listening->urls(); }

Server::Load Server::load() const {
    return {impl_->shared.requests.load(), impl_->shared.connections.load(),
            static_cast<std::uint32_t>(impl_->shared.pool->waiting())};
}

Result<void> Server::reload_tls(const TlsFiles& files) {
    return impl_->listening->reload_tls(files);
}

void Server::stop(std::chrono::seconds timeout) {
    auto& impl = *impl_;
    if (impl.stopped) return;
    impl.stopped = true;
    impl.shared.stopping = true;
    impl.listening->close();
    for (auto& group : impl.groups) group->loop.post([group = group.get()] { group->sweep(); });
    auto none_left = [&] { return impl.running == 0; };
    {
        std::unique_lock lock(impl.mutex);
        if (!impl.ended.wait_for(lock, timeout, none_left)) {
            impl.shared.abandoned = true;
            for (auto& group : impl.groups)
                group->loop.post([group = group.get()] { group->close_all(); });
        }
    }
    // Every task ends with a post to its connection's loop, so the loops end last.
    impl.shared.pool->stop();
    impl.shared.waiters->stop();
    std::unique_lock lock(impl.mutex);
    impl.ended.wait(lock, none_left);
    BUNRAKU_ASSERT(impl.running == 0);
}

}  // namespace bunraku::http
