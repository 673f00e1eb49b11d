// A network whose connections are counted: how long each took to be there, and one connector for as
// long as its owner likes, so that TLS sessions outlive a client.
#pragma once

#include <cstdint>
#include <memory>

#include "net/http/network.h"

namespace bunraku::load {

/// Of one agent; used by one thread at a time.
class TimedNetwork final : public http::Network {
public:
    explicit TimedNetwork(http::Network& below) : below_(below) {}

    sys::Runtime& runtime() override { return below_.runtime(); }
    base::Result<std::unique_ptr<http::Listening>> listen(
        const http::ServerOptions& options) override {
        return below_.listen(options);
    }
    std::unique_ptr<http::Connector> connector(const http::ClientOptions& options) override;

    /// The connector is made anew, without the sessions it knew.
    void forget() { kept_.reset(); }
    /// Nanoseconds since the last call that went into connections; 0: none was made.
    std::int64_t take_connecting() { return std::exchange(connecting_ns_, 0); }
    /// Whether the last attempt failed.
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
