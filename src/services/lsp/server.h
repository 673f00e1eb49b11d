// SPDX-License-Identifier: Apache-2.0
// The language server without input and output: it receives the contents of messages and returns
// those to send.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/lsp/state.h"

namespace bunraku::lsp {

class Server {
public:
    /// `node` may be null; then no values of a node are shown.
    explicit Server(std::shared_ptr<const environment::Files> files,
                    std::unique_ptr<NodeValues> node = nullptr);

    /// Handles one message and returns the messages to send, in order. Invalid messages are
    /// answered with an error, as JSON-RPC requires.
    std::vector<std::string> handle(std::string_view content);
    /// Like handle for a request that the client has cancelled: answers with the error
    /// RequestCancelled. `id` is JSON.
    static std::string cancelled(std::string_view id);
    /// Returns the diagnostics that became stale and the responses of finished commands. Call it
    /// when no message waits, so that fast typing does not cause one analysis for each character.
    std::vector<std::string> idle();

    /// True while a thread works whose result idle() will return.
    bool busy() const;
    /// True after the notification `exit`.
    bool ended() const { return ended_; }
    /// Returns the exit code that the protocol prescribes.
    int exit_code() const { return state_.phase == Phase::ShutDown ? 0 : 1; }
    State& state() { return state_; }

private:
    std::vector<std::string> request(const Message& message);
    std::vector<std::string> notify(const Message& message);
    std::vector<std::string> after_initialized();

    State state_;
    bool ended_ = false;
    std::int64_t next_id_ = 1;
};

}  // namespace bunraku::lsp
