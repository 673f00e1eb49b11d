// What lies under HTTP: connections as streams of bytes with somebody at the other end, and where
// they come from. In production sockets, TLS and threads; in tests a network in memory
// (memory_network.h). Requests, limits and time-outs are above it, and the same for both.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/sys/executor.h"
#include "net/http/client.h"
#include "net/http/message.h"
#include "net/http/server.h"
#include "net/http/url.h"

namespace bunraku::http {

/// A thread that connections of a server live on: each is touched by its own loop alone.
class Loop {
public:
    using Task = sys::Executor::Task;
    virtual ~Loop() = default;
    virtual sys::TimePoint now() = 0;
    virtual std::int64_t now_ns() = 0;  ///< since the epoch
    /// By any thread.
    virtual void post(Task task) = 0;
    virtual void post_after(sys::Duration delay, Task task) = 0;
};

/// Told what has become of what it asked a Stream for; on the stream's loop. Errors are errno's.
class StreamUser {
public:
    static constexpr int kEnd = -1;  ///< the other side has ended in an orderly way
    virtual ~StreamUser() = default;
    virtual void on_open(int error) = 0;
    virtual void on_read(int error, std::size_t n) = 0;
    virtual void on_written(int error, std::size_t n) = 0;
    virtual void on_writable(int error) = 0;
    virtual void on_ended() = 0;
};

/// The server's end of a connection. One read and one write may be under way at a time; what is
/// under way keeps its user alive.
class Stream {
public:
    using User = std::shared_ptr<StreamUser>;
    using Pieces = std::array<std::string_view, 3>;
    virtual ~Stream() = default;
    /// The handshake, if there is one.
    virtual void open(User user) = 0;
    /// Why the handshake failed, in words for the log; empty if it did not, or if the other side
    /// only went away.
    virtual std::string refusal() { return {}; }
    /// As of now: lists of authorities and revocations may have been read anew.
    virtual const Peer& peer() = 0;
    /// Some bytes, at least one.
    virtual void read(char* into, std::size_t size, User user) = 0;
    virtual void write(const Pieces& pieces, User user) = 0;
    /// Bytes of a file, as many as go without waiting, at most `most`. Nullopt: it must be read and
    /// written; 0: nothing goes now; negative: it failed.
    virtual std::optional<std::int64_t> send_file(int, std::uint64_t, std::uint64_t) {
        return std::nullopt;
    }
    virtual void when_writable(User) {}
    /// Sent only if that can be done at once and in the clear.
    virtual void last_word(std::string_view) {}
    /// Tells the other side that nothing more comes. False: what it still sends has to be read
    /// until it ends too.
    virtual bool end(User user) = 0;
    /// Returns whether the other side has ended the connection, as far as that is known without
    /// reading.
    virtual bool peer_ended() { return false; }
    /// What is under way fails.
    virtual void close() = 0;
};

/// The listening side of one server.
class Listening {
public:
    /// Called on the loop that is to have the stream.
    using Accept = std::function<void(std::size_t loop, std::unique_ptr<Stream>)>;
    virtual ~Listening() = default;  ///< the loops end
    virtual std::vector<std::string> urls() const = 0;
    virtual std::size_t loops() const = 0;
    virtual Loop& loop(std::size_t i) = 0;
    virtual void start(Accept accept) = 0;
    /// Nobody new comes once it returns. Not to be called on a loop.
    virtual void close() = 0;
    virtual base::Result<void> reload_tls(const TlsFiles& files) = 0;
};

/// The client's end of a connection. Its calls wait.
class Link {
public:
    virtual ~Link() = default;
    virtual base::Result<void> write(std::string_view bytes) = 0;
    /// 0: the other side ended.
    virtual base::Result<std::size_t> read(char* buffer, std::size_t size) = 0;
    /// Nothing has come since the last answer, an end included.
    virtual bool quiet() = 0;
    /// A whole answer has come.
    virtual void exchanged() {}

    std::string rest;  ///< read, and not used yet
};

/// What one client connects with.
class Connector {
public:
    virtual ~Connector() = default;
    virtual base::Result<std::unique_ptr<Link>> connect(const Url& url) = 0;
};

class Network {
public:
    virtual ~Network() = default;
    virtual sys::Runtime& runtime() = 0;
    /// Fails with the address in the message.
    virtual base::Result<std::unique_ptr<Listening>> listen(const ServerOptions& options) = 0;
    /// `options` outlive what comes.
    virtual std::unique_ptr<Connector> connector(const ClientOptions& options) = 0;
};

/// The machine's.
Network& sockets();

}  // namespace bunraku::http
