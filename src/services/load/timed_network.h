// SPDX-License-Identifier: Apache-2.0
// A network that measures how long connections take. It reuses one connector, so that TLS sessions
// outlive a client.
#pragma once

#include <cstdint>
#include <memory>

#include "net/http/network.h"

namespace bunraku::load {

/// The network of one agent. Only one thread at a time may use it.
class TimedNetwork final : public http::Network {
public:
    explicit TimedNetwork(http::Network& below) : below_(below) {}

    sys::Runtime& runtime() override { return below_.runtime(); }
    base::Result<std::unique_ptr<http::Listening>> listen(
        const http::ServerOptions& options) override {
        return below_.listen(options);
    }
    std::unique_ptr<http::Connector> connector(const http::ClientOptions& options) override;

    /// Discards the connector and its TLS sessions.
    void forget() { kept_.reset(); }
    /// Returns the nanoseconds spent on connecting since the last call. Returns 0 if no connection
    /// was made.
    std::int64_t take_connecting() { return std::exchange(connecting_ns_, 0); }
    /// Reports whether the last attempt failed.
    bool unreachable() const { return unreachable_; }

private:
    struct Kept {
        http::ClientOptions options;
        std::unique_ptr<http::Connector> connector;
    };
    class Counting;
    http::Network& below_;
    std::unique_ptr<Kept> kept_;
    std::int64_t connecting_ns_ = 0;
    bool unreachable_ = false;
};

}  // namespace bunraku::load
