// SPDX-License-Identifier: Apache-2.0
#include "testing/memory_network.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>

#include "net/http/tls.h"
#include "testing/memory_handshakes.h"

namespace bunraku::http {

using base::failure;
using base::Result;

namespace {

/// Maximum number of bytes in transit or unread in one direction.
constexpr std::size_t kWindow = 64 << 10;

class Pipe;
class MemoryListening;

std::pair<std::string, std::string> pair_of(const std::string& one, const std::string& other) {
    return std::minmax(one, other);
}

}  // namespace

struct MemoryNetwork::Impl {
    Impl(MemoryNetwork& n, sys::Simulation& w) : network(n), world(w), wire(w.executor({})) {}
    MemoryNetwork& network;
    sys::Simulation& world;
    std::map<std::string, std::unique_ptr<Network>> hosts;
    std::map<std::pair<std::string, std::uint16_t>, MemoryListening*> listening;
    std::set<std::pair<std::string, std::string>> parted;
    std::vector<std::pair<std::pair<std::string, std::string>, sys::Executor::Task>> held;
    std::vector<std::weak_ptr<Pipe>> pipes;
    std::uint64_t next_pipe = 1;
    std::uint16_t next_port = 40000;
    std::unique_ptr<sys::Executor> wire;  ///< delivers what was sent
    MemoryHandshakes handshakes;

    sys::Duration delay() {
        const Faults& f = network.faults;
        auto range = static_cast<std::uint64_t>((f.most_delay - f.least_delay).count());
        return f.least_delay + sys::Duration(world.random(range + 1));
    }
    /// Delivers between two hosts at the given time, or when the hosts are connected again.
    void deliver_later(const std::string& from, const std::string& to, sys::TimePoint at,
                       sys::Executor::Task task) {
        auto deliver = [this, ends = pair_of(from, to), task = std::move(task)]() mutable {
            if (!parted.contains(ends)) return task();
            held.emplace_back(ends, std::move(task));
        };
        (void)wire->post_after(at - world.now(), std::move(deliver));
    }
};

namespace {

class MemoryLoop final : public Loop {
public:
    explicit MemoryLoop(sys::Simulation& world, const ServerOptions& options)
        : world_(world),
          thread_(world.executor({.threads = 1, .error = [log = options.error_log](auto& what) {
                                      if (log) log(fmt::format("A connection failed: {}", what));
                                  }})) {}
    sys::TimePoint now() override { return world_.now(); }
    std::int64_t now_ns() override { return world_.now_ns(); }
    void post(Task task) override { (void)thread_->post(std::move(task)); }
    void post_after(sys::Duration delay, Task task) override {
        (void)thread_->post_after(delay, std::move(task));
    }

private:
    sys::Simulation& world_;
    std::unique_ptr<sys::Executor> thread_;
};

/// A connection. The client's end waits for `changed`, and the server's end is notified on its
/// loop.
class Pipe : public std::enable_shared_from_this<Pipe> {
public:
    using Net = MemoryNetwork::Impl;
    Pipe(Net& net, std::string client, std::string server)
        : net_(net),
          name_(fmt::format("#{} {}-{}", net.next_pipe++, client, server)),
          ends_{std::move(client), std::move(server)},
          changed(net.world) {}

    enum Side { kClient, kServer };
    struct End {
        std::string arrived;
        std::size_t in_transit = 0;  ///< bytes in transit to this end
        sys::TimePoint last_arrival{};
        bool end_sent = false;     ///< true once this end has sent its end
        bool end_arrived = false;  ///< true once the other side's end has arrived
        bool closed = false;
    };

    bool broken() const { return broken_; }
    bool touches(const std::string& host) const { return ends_[0] == host || ends_[1] == host; }
    End& end(Side side) { return sides_[side]; }
    bool readable(Side side) {
        return !end(side).arrived.empty() || end(side).end_arrived || broken_;
    }

    /// Returns 0 for a small remainder. Otherwise long transfers would degrade to single bytes.
    std::size_t free_space(Side from) {
        End& to = end(other(from));
        std::size_t free_space = kWindow - std::min(kWindow, to.arrived.size() + to.in_transit);
        return free_space < kWindow / 4 ? 0 : free_space;
    }
    /// Returns the number of bytes accepted, or 0 if there is no space.
    std::size_t send(Side from, std::string_view bytes) {
        End& to = end(other(from));
        std::size_t n = std::min(free_space(from), bytes.size());
        const Faults& faults = net_.network.faults;
        if (n > 1 && net_.world.chance(faults.short_writes)) n = 1 + net_.world.random(n - 1);
        if (n == 0) return 0;
        to.in_transit += n;
        deliver_later(from,
                      [self = shared_from_this(), from, text = std::string(bytes.substr(0, n))] {
                          self->arrive(other(from), text);
                      });
        return n;
    }
    void send_end(Side from) {
        if (std::exchange(end(from).end_sent, true)) return;
        deliver_later(from, [self = shared_from_this(), from] {
            self->end(other(from)).end_arrived = true;
            self->notify_ends();
        });
    }
    std::size_t take(Side side, char* into, std::size_t size) {
        std::string& from = end(side).arrived;
        std::size_t n = std::min(size, from.size());
        if (n > 1 && net_.world.chance(net_.network.faults.short_reads))
            n = 1 + net_.world.random(n - 1);
        std::memcpy(into, from.data(), n);
        from.erase(0, n);
        notify_ends();  // there is space again
        return n;
    }
    void close(Side side) {
        if (std::exchange(end(side).closed, true)) return;
        send_end(side);
    }
    void break_off(std::string_view why) {
        if (std::exchange(broken_, true)) return;
        note(why);
        for (End& e : sides_) e.arrived.clear();
        notify_ends();
    }
    void note(std::string_view what) { net_.world.note(fmt::format("{} {}", name_, what)); }
    void notify_ends() {
        changed.notify_all();
        if (on_change) on_change();
    }

private:
    static Side other(Side side) { return side == kClient ? kServer : kClient; }
    void deliver_later(Side from, sys::Executor::Task task) {
        End& to = end(other(from));
        to.last_arrival = std::max(to.last_arrival, net_.world.now() + net_.delay());
        net_.deliver_later(ends_[from], ends_[other(from)], to.last_arrival, std::move(task));
    }
    void arrive(Side side, std::string_view bytes) {
        End& to = end(side);
        to.in_transit -= bytes.size();
        if (broken_) return;
        if (to.closed) return break_off("reset: the reader has closed");
        if (net_.world.chance(net_.network.faults.resets)) return break_off("reset");
        note(fmt::format("{} {} bytes", side == kServer ? ">" : "<", bytes.size()));
        to.arrived += bytes;
        notify_ends();
    }

    Net& net_;
    std::string name_;
    std::string ends_[2];
    End sides_[2];
    bool broken_ = false;

public:
    std::mutex mutex;  ///< required by the condition; never contended
    sys::Condition changed;
    std::function<void()> on_change;  ///< of the server's end
};

class MemoryStream final : public Stream {
public:
    MemoryStream(std::shared_ptr<Pipe> pipe, Loop& loop, Peer peer)
        : pipe_(std::move(pipe)), loop_(loop), peer_(std::move(peer)) {
        pipe_->on_change = [this] { complete_pending(); };
    }
    ~MemoryStream() override {
        close();
        pipe_->on_change = nullptr;
    }
    void open(User user) override { user->on_open(0); }
    const Peer& peer() override { return peer_; }
    void read(char* into, std::size_t size, User user) override {
        into_ = into;
        size_ = size;
        reader_ = std::move(user);
        complete_pending();
    }
    void write(const Pieces& pieces, User user) override {
        pieces_ = pieces;
        writer_ = std::move(user);
        complete_pending();
    }
    void try_send(std::string_view text) override {
        if (!peer_.tls) pipe_->send(Pipe::kServer, text);
    }
    bool end(User) override {
        pipe_->send_end(Pipe::kServer);
        return false;
    }
    void close() override {
        if (std::exchange(closed_, true)) return;
        pipe_->close(Pipe::kServer);
        complete_pending();
    }

private:
    /// Completes the requested reads and writes that are possible, on the loop.
    void complete_pending() {
        const int error = closed_ ? ECANCELED : pipe_->broken() ? ECONNRESET : 0;
        if (reader_ && (error || pipe_->readable(Pipe::kServer))) {
            User user = std::move(reader_);
            std::size_t n = error ? 0 : pipe_->take(Pipe::kServer, into_, size_);
            int code = error ? error : n == 0 ? StreamUser::kEnd : 0;
            loop_.post([user = std::move(user), code, n] { user->on_read(code, n); });
        }
        if (!writer_) return;
        std::size_t n = 0;
        for (std::size_t i = 0; !error && n == 0 && i < pieces_.size(); ++i)
            n = pipe_->send(Pipe::kServer, pieces_[i]);
        bool nothing = pieces_[0].empty() && pieces_[1].empty() && pieces_[2].empty();
        if (n == 0 && !error && !nothing) return;
        User user = std::move(writer_);
        loop_.post([user = std::move(user), error, n] { user->on_written(error, n); });
    }

    std::shared_ptr<Pipe> pipe_;
    Loop& loop_;
    Peer peer_;
    char* into_ = nullptr;
    std::size_t size_ = 0;
    Pieces pieces_;
    User reader_, writer_;
    bool closed_ = false;
};

class MemoryListening final : public Listening {
public:
    using Net = MemoryNetwork::Impl;
    MemoryListening(Net& net, std::string host, const ServerOptions& options)
        : net_(net), host_(std::move(host)), tls_(options.tls) {
        for (int i = 0; i < std::max(1, options.io_threads); ++i)
            loops_.push_back(std::make_unique<MemoryLoop>(net.world, options));
    }
    ~MemoryListening() override { unlist(); }
    Result<void> add(const Listener& listener) {
        std::uint16_t port = listener.port ? listener.port : net_.next_port++;
        auto url = fmt::format("{}://{}:{}", listener.tls ? "https" : "http", host_, port);
        if (!net_.listening.emplace(std::pair(host_, port), this).second) {
            return failure(fmt::format("Could not listen on {}: {}", url, strerror(EADDRINUSE)),
                           EADDRINUSE);
        }
        if (listener.tls && net_.network.handshakes && !side_.context)
            side_ = BUNRAKU_TRY(MemoryServer::read(tls_));
        ports_[port] = listener.tls;
        urls_.push_back(std::move(url));
        return {};
    }
    std::vector<std::string> urls() const override { return urls_; }
    std::size_t loops() const override { return loops_.size(); }
    Loop& loop(std::size_t i) override { return *loops_[i]; }
    void start(Accept accept) override { accept_ = std::move(accept); }
    void close() override { unlist(); }
    Result<void> reload_tls(const TlsFiles& files) override {
        tls_ = files;
        if (side_.context) side_ = BUNRAKU_TRY(MemoryServer::read(tls_));
        return {};
    }
    const MemoryServer& side() const { return side_; }

    bool tls(std::uint16_t port) const { return ports_.at(port); }
    void connected(const std::shared_ptr<Pipe>& pipe, const Peer& peer) {
        std::size_t which = next_loop_++ % loops_.size();
        Loop* loop = loops_[which].get();
        loop->post([this, which, loop, pipe, peer] {
            accept_(which, std::make_unique<MemoryStream>(pipe, *loop, peer));
        });
    }

private:
    void unlist() {
        std::erase_if(net_.listening, [this](const auto& entry) { return entry.second == this; });
    }
    Net& net_;
    std::string host_;
    TlsFiles tls_;
    MemoryServer side_;
    Accept accept_;
    std::vector<std::string> urls_;
    std::map<std::uint16_t, bool> ports_;  ///< the value is true for TLS
    std::size_t next_loop_ = 0;
    std::vector<std::unique_ptr<MemoryLoop>> loops_;
};

class MemoryLink final : public Link {
public:
    MemoryLink(std::shared_ptr<Pipe> pipe, sys::Runtime& runtime, const ClientOptions& options)
        : pipe_(std::move(pipe)), runtime_(runtime), options_(options) {}
    ~MemoryLink() override { pipe_->close(Pipe::kClient); }

    Result<void> write(std::string_view bytes) override {
        while (!bytes.empty()) {
            BUNRAKU_TRY_VOID(complete_pending());
            std::size_t n = pipe_->send(Pipe::kClient, bytes);
            bytes.remove_prefix(n);
            if (n > 0) continue;
            BUNRAKU_TRY_VOID(
                wait([&] { return pipe_->free_space(Pipe::kClient) > 0 || pipe_->broken(); }));
        }
        return {};
    }
    Result<std::size_t> read(char* buffer, std::size_t size) override {
        BUNRAKU_TRY_VOID(wait([&] { return pipe_->readable(Pipe::kClient); }));
        BUNRAKU_TRY_VOID(complete_pending());
        return pipe_->take(Pipe::kClient, buffer, size);
    }
    bool quiet() override { return rest.empty() && !pipe_->readable(Pipe::kClient); }

private:
    Result<void> complete_pending() {
        if (pipe_->broken()) return failure(strerror(ECONNRESET), ECONNRESET);
        return {};
    }
    Result<void> wait(const std::function<bool()>& ready) {
        constexpr std::chrono::milliseconds kLook{200};
        std::unique_lock lock(pipe_->mutex);
        auto end = runtime_.now() + options_.timeout;
        while (!ready()) {
            if (options_.stopped && options_.stopped()) return failure("stopped", ECANCELED);
            if (runtime_.now() >= end) return failure("timed out", ETIMEDOUT);
            auto until = options_.stopped ? std::min(end, runtime_.now() + kLook) : end;
            (void)pipe_->changed.wait_once(lock, until);
        }
        return {};
    }
    std::shared_ptr<Pipe> pipe_;
    sys::Runtime& runtime_;
    const ClientOptions& options_;
};

/// A machine of the network.
class Host final : public Network {
public:
    using Net = MemoryNetwork::Impl;
    Host(Net& net, std::string name, std::shared_ptr<const ClientCertificate> certificate)
        : net_(net), name_(std::move(name)), certificate_(std::move(certificate)) {}
    sys::Runtime& runtime() override { return net_.world; }
    Result<std::unique_ptr<Listening>> listen(const ServerOptions& options) override {
        auto out = std::make_unique<MemoryListening>(net_, name_, options);
        for (const auto& listener : options.listeners) BUNRAKU_TRY_VOID(out->add(listener));
        return out;
    }
    std::unique_ptr<Connector> connector(const ClientOptions& options) override;
    /// `context` belongs to the client's connector and is made if necessary.
    Result<std::unique_ptr<Link>> connect(const Url& url, const ClientOptions& options,
                                          TlsContext& context);

private:
    Net& net_;
    std::string name_;
    std::shared_ptr<const ClientCertificate> certificate_;
};

class MemoryConnector final : public Connector {
public:
    MemoryConnector(Host& host, const ClientOptions& options) : host_(host), options_(options) {}
    Result<std::unique_ptr<Link>> connect(const Url& url) override {
        return host_.connect(url, options_, context_);
    }

private:
    Host& host_;
    const ClientOptions& options_;
    TlsContext context_;
};

std::unique_ptr<Connector> Host::connector(const ClientOptions& options) {
    return std::make_unique<MemoryConnector>(*this, options);
}

Result<std::unique_ptr<Link>> Host::connect(const Url& url, const ClientOptions& options,
                                            TlsContext& context) {
    auto refused = [] { return failure(strerror(ECONNREFUSED), ECONNREFUSED); };
    if (net_.parted.contains(pair_of(name_, url.host))) {
        net_.world.sleep(options.connect_timeout);
        return failure("timed out", ETIMEDOUT);
    }
    net_.world.sleep(net_.delay() + net_.delay());
    auto at = net_.listening.find({url.host, url.port});
    if (at == net_.listening.end() || net_.world.chance(net_.network.faults.refusals)) {
        net_.world.note(fmt::format("{}-{} refused", name_, url.host));
        return refused();
    }
    const bool tls = at->second->tls(url.port);
    if (tls != url.tls) return failure("TLS failed: only one side uses TLS");
    auto certificate = certificate_;
    if (tls && at->second->side().context) {
        certificate =
            BUNRAKU_TRY(net_.handshakes.between(options, url, context, at->second->side()));
    }
    auto pipe = std::make_shared<Pipe>(net_, name_, url.host);
    std::erase_if(net_.pipes, [](const auto& p) { return p.expired(); });
    net_.pipes.push_back(pipe);
    pipe->note("connected");
    Peer peer;
    peer.address = name_;
    peer.loopback = name_ == url.host;
    peer.tls = tls;
    if (tls) peer.certificate = std::move(certificate);
    at->second->connected(pipe, peer);
    return std::make_unique<MemoryLink>(std::move(pipe), net_.world, options);
}

}  // namespace

std::shared_ptr<const ClientCertificate> identity_of(std::string_view certname) {
    auto out = std::make_shared<ClientCertificate>();
    out->trust = ClientCertificate::Trust::Verified;
    out->name = certname;
    out->subject = fmt::format("/CN={}", certname);
    out->issuer = "/CN=Puppet CA: memory";
    out->serial = "0x0001";
    return out;
}

MemoryNetwork::MemoryNetwork(sys::Simulation& world)
    : impl_(std::make_unique<Impl>(*this, world)) {}
MemoryNetwork::~MemoryNetwork() = default;

Network& MemoryNetwork::host(const std::string& name,
                             std::shared_ptr<const ClientCertificate> certificate) {
    auto& host = impl_->hosts[name];
    if (!host) host = std::make_unique<Host>(*impl_, name, std::move(certificate));
    return *host;
}

void MemoryNetwork::part(const std::string& one, const std::string& other) {
    impl_->world.note(fmt::format("{} and {} are parted", one, other));
    impl_->parted.insert(pair_of(one, other));
}

void MemoryNetwork::join(const std::string& one, const std::string& other) {
    impl_->world.note(fmt::format("{} and {} are joined", one, other));
    auto ends = pair_of(one, other);
    impl_->parted.erase(ends);
    for (auto& [between, task] : impl_->held) {
        if (between == ends) (void)impl_->wire->post(std::move(task));
    }
    std::erase_if(impl_->held, [&](const auto& h) { return h.first == ends; });
}

void MemoryNetwork::cut(const std::string& host) {
    impl_->world.note(fmt::format("{} is cut off", host));
    std::erase_if(impl_->listening, [&](const auto& entry) { return entry.first.first == host; });
    const auto pipes = impl_->pipes;
    for (const auto& weak : pipes) {
        const auto pipe = weak.lock();
        if (pipe && pipe->touches(host)) pipe->break_off("the machine is down");
    }
}

}  // namespace bunraku::http
