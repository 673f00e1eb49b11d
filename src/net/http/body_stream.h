// SPDX-License-Identifier: Apache-2.0
// The body of a response that is sent while it comes into being, for example server-sent events. An
// open stream occupies a connection, but no thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "net/http/message.h"

namespace bunraku::http {

/// A queue of bytes between any threads that write a body and the connection that sends it.
/// Thread-safe.
///
///     auto stream = std::make_shared<BodyStream>();
///     set_stream(response, stream);       // The handler returns.
///     stream->push("data: 1\n\n");        // Later, on any thread; false if the client has gone.
///
/// Writers may keep the stream longer than the connection and the server exist.
class BodyStream {
public:
    static constexpr std::size_t kLimit = 256 << 10;
    /// `limit` is the maximum number of bytes that wait because the client reads slowly.
    explicit BodyStream(std::size_t limit = kLimit) : limit_(limit) {}
    BodyStream(const BodyStream&) = delete;
    BodyStream& operator=(const BodyStream&) = delete;

    /// Appends to the body. Returns false if the stream has ended, or if more than the limit would
    /// wait. In the second case the stream ends, and the client sees an incomplete body.
    bool push(std::string_view bytes);
    /// Ends the body after the bytes that were pushed.
    void finish();
    /// Reports whether further bytes are useless: the stream was finished, or the client has gone.
    bool ended() const;
    /// Returns the number of bytes that wait.
    std::size_t waiting() const;

    // For the connection.

    enum class Taken { Bytes, Nothing, End, Overflow };
    /// Moves the waiting bytes to `out`, which must be empty. If there are none, `wake` is called
    /// once, on a writer's thread, when something can be taken. It must not use the stream.
    Taken take(std::string& out, std::function<void()> wake);
    /// Ends the stream from the connection's side. After it returns, no `wake` is running or will
    /// run.
    void detach();

private:
    void wake_up();
    const std::size_t limit_;
    mutable std::mutex mutex_;
    std::string waiting_;
    std::function<void()> wake_;
    bool finished_ = false, detached_ = false, overflow_ = false;
};

/// Makes a stream the body of a response. The connection is closed afterwards.
void set_stream(Response& response, std::shared_ptr<BodyStream> stream);
/// Returns the stream of a response, or null if it has another body.
std::shared_ptr<BodyStream> stream_of(const Response& response);

}  // namespace bunraku::http
