// SPDX-License-Identifier: Apache-2.0
// The transport below HTTP: connections as byte streams, and how they are made. In production it
// uses sockets, TLS and threads; in tests, a network in memory (testing/memory_network.h). The code
// above it for requests, limits and timeouts is the same for both.
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

/// A thread that serves connections. Only its own loop accesses a connection.
class Loop {
public:
    using Task = sys::Executor::Task;
    virtual ~Loop() = default;
    virtual sys::TimePoint now() = 0;
    virtual std::int64_t now_ns() = 0;  ///< since the epoch
    /// May be called on any thread.
    virtual void post(Task task) = 0;
    virtual void post_after(sys::Duration delay, Task task) = 0;
};

/// Receives the results of a Stream's operations, on the stream's loop. Errors are errno values.
class StreamUser {
public:
    static constexpr int kEnd = -1;  ///< the other side has closed in an orderly way
    virtual ~StreamUser() = default;
    virtual void on_open(int error) = 0;
    virtual void on_read(int error, std::size_t n) = 0;
    virtual void on_written(int error, std::size_t n) = 0;
    virtual void on_writable(int error) = 0;
    virtual void on_ended() = 0;
};

/// The server's end of a connection. One read and one write may be pending at a time. A pending
/// operation holds a reference to its user.
class Stream {
public:
    using User = std::shared_ptr<StreamUser>;
    using Pieces = std::array<std::string_view, 3>;
    virtual ~Stream() = default;
    /// Performs the handshake, if there is one.
    virtual void open(User user) = 0;
    /// Returns the reason of a failed handshake for the log. Returns an empty text if it did not
    /// fail, or if the other side only disconnected.
    virtual std::string refusal() { return {}; }
    /// Returns the current state of the peer, which may change when the authorities and revocation
    /// lists are reloaded.
    virtual const Peer& peer() = 0;
    /// Reads at least one byte.
    virtual void read(char* into, std::size_t size, User user) = 0;
    virtual void write(const Pieces& pieces, User user) = 0;
    /// Sends at most `most` bytes of a file, as many as possible without blocking. Returns nullopt
    /// if the caller must read and write instead, 0 if nothing can be sent now, and a negative
    /// number on failure.
    virtual std::optional<std::int64_t> send_file(int, std::uint64_t, std::uint64_t) {
        return std::nullopt;
    }
    virtual void when_writable(User) {}
    /// Sends a text, but only if that is possible at once and without encryption.
    virtual void try_send(std::string_view) {}
    /// Closes the sending direction. Returns false if the caller must also read until the other
    /// side closes.
    virtual bool end(User user) = 0;
    /// Reports whether the other side has ended the connection, as far as known without reading.
    virtual bool peer_ended() { return false; }
    /// Closes the stream. Pending operations fail.
    virtual void close() = 0;
};

/// The listening side of a server.
class Listening {
public:
    /// Called on the loop that will own the stream.
    using Accept = std::function<void(std::size_t loop, std::unique_ptr<Stream>)>;
    virtual ~Listening() = default;  ///< ends the loops
    virtual std::vector<std::string> urls() const = 0;
    virtual std::size_t loops() const = 0;
    virtual Loop& loop(std::size_t i) = 0;
    virtual void start(Accept accept) = 0;
    /// Stops accepting; after it returns, there are no new connections. Must not be called on a
    /// loop.
    virtual void close() = 0;
    virtual base::Result<void> reload_tls(const TlsFiles& files) = 0;
};

/// The client's end of a connection. Its calls block.
class Link {
public:
    virtual ~Link() = default;
    virtual base::Result<void> write(std::string_view bytes) = 0;
    /// Returns 0 if the other side has ended the connection.
    virtual base::Result<std::size_t> read(char* buffer, std::size_t size) = 0;
    /// Reports whether nothing has arrived since the last response, not even an end.
    virtual bool quiet() = 0;
    /// Called after a complete response.
    virtual void exchanged() {}

    std::string rest;  ///< data read but not used yet
};

/// Opens the connections of one client.
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
    /// `options` must outlive the result.
    virtual std::unique_ptr<Connector> connector(const ClientOptions& options) = 0;
};

/// Returns the machine's network.
Network& sockets();

}  // namespace bunraku::http
