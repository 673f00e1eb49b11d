// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/serve.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <vector>

#include "core/base/uninitialized.h"
#include "core/value/hash_access.h"
#include "services/lsp/framing.h"
#include "services/lsp/message.h"

namespace bunraku::lsp {

namespace {

constexpr std::size_t kReadSize = 64 * 1024;
/// Limits of messages that wait: their number, and their bytes.
constexpr std::size_t kMaxPending = 1000, kMaxPendingBytes = std::size_t{128} << 20;
/// How often the end of a command is checked, in milliseconds.
constexpr int kCommandPoll = 50;

/// The messages between the input and the server.
class MessageLoop {
public:
    MessageLoop(Server& server, int in, int out) : server_(server), in_(in), out_(out) {}

    base::Result<int> run() {
        while (!server_.ended()) {
            // Reads all available messages first, so that a cancellation finds its request. The
            // limits ensure that a client that never pauses gets answers, too.
            while (open_ && pending_.size() < kMaxPending && pending_bytes_ < kMaxPendingBytes &&
                   readable(wait()))
                BUNRAKU_TRY_VOID(read_some());
            if (!pending_.empty()) {
                const std::string content = std::move(pending_.front());
                pending_.pop_front();
                pending_bytes_ -= content.size();
                BUNRAKU_TRY_VOID(send(server_.handle(content)));
                stale_ = true;
            } else if (stale_) {
                stale_ = false;
                BUNRAKU_TRY_VOID(send(server_.idle()));
            } else if (server_.busy()) {
                BUNRAKU_TRY_VOID(send(server_.idle()));
                if (!open_) return 1;
            } else if (!open_) {
                return 1;  // the client is gone without `exit`
            }
        }
        return server_.exit_code();
    }

private:
    /// Returns how long to wait for input, in milliseconds; -1 means without limit.
    int wait() const {
        if (!pending_.empty() || stale_) return 0;
        return server_.busy() ? kCommandPoll : -1;
    }
    bool readable(int timeout) const {
        pollfd poll{in_, POLLIN, 0};
        return sys::retrying([&] { return ::poll(&poll, 1, timeout); }) > 0;
    }
    base::Result<void> read_some() {
        char bytes[kReadSize] BUNRAKU_UNINITIALIZED;
        const ssize_t size = sys::retrying([&] { return ::read(in_, bytes, sizeof bytes); });
        if (size < 0) {
            if (errno == EAGAIN) return {};
            return base::failure(fmt::format("Cannot read: {}", std::strerror(errno)), errno);
        }
        if (size == 0) open_ = false;
        frames_.append({bytes, static_cast<std::size_t>(size)});
        while (true) {
            auto content = BUNRAKU_TRY(frames_.next());
            if (!content) return {};
            if (cancel(*content)) continue;
            pending_bytes_ += content->size();
            pending_.push_back(std::move(*content));
        }
    }
    /// Handles $/cancelRequest: answers a request that still waits. Returns false for other
    /// messages.
    bool cancel(std::string_view content) {
        if (content.size() > 1024 || content.find("$/cancelRequest") == std::string_view::npos)
            return false;
        const auto message = parse_message(content);
        if (!message || message->method != "$/cancelRequest") return false;
        const auto* id = value::at(message->params, "id");
        if (!id) return true;
        const std::string wanted = id_text(*id);
        const auto waiting = std::ranges::find_if(pending_, [&](const std::string& text) {
            const auto request = parse_message(text);
            return request && request->kind == Message::Kind::Request && request->id == wanted;
        });
        if (waiting == pending_.end()) return true;
        write(Server::cancelled(wanted));
        pending_bytes_ -= waiting->size();
        pending_.erase(waiting);
        return true;
    }
    void write(std::string_view content) {
        if (const int error = sys::write_all(out_, framed(content)); error != 0) error_ = error;
    }
    base::Result<void> send(const std::vector<std::string>& messages) {
        for (const std::string& message : messages) write(message);
        if (error_ != 0)
            return base::failure(fmt::format("Cannot write: {}", std::strerror(error_)), error_);
        return {};
    }

    Server& server_;
    int in_, out_;
    bool open_ = true, stale_ = false;
    int error_ = 0;
    FrameReader frames_;
    std::deque<std::string> pending_;
    std::size_t pending_bytes_ = 0;
};

}  // namespace

base::Result<int> serve(Server& server, int in, int out) {
    return MessageLoop(server, in, out).run();
}

base::Result<sys::Descriptor> connect_to_port(const std::string& port) {
    std::uint16_t number = 0;
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error != std::errc() || end != port.data() + port.size() || number == 0)
        return base::failure(fmt::format("Invalid port '{}'", port));
    sys::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(number);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!socket.good() ||
        ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        return base::failure(
            fmt::format("Cannot connect to 127.0.0.1:{}: {}", port, std::strerror(errno)), errno);
    }
    return socket;
}

}  // namespace bunraku::lsp
