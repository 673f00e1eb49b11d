// SPDX-License-Identifier: Apache-2.0
#include "services/load/timed_network.h"

#include "core/base/assert.h"

namespace bunraku::load {

class TimedNetwork::Counting final : public http::Connector {
public:
    explicit Counting(TimedNetwork& of) : of_(of) {}
    base::Result<std::unique_ptr<http::Link>> connect(const http::Url& url) override {
        const auto begin = of_.runtime().monotonic_ns();
        BUNRAKU_ASSERT(of_.kept_ && of_.kept_->connector);
        auto link = of_.kept_->connector->connect(url);
        // At least one nanosecond, so that a connection is counted even if the clock did not
        // advance.
        of_.connecting_ns_ += std::max<std::int64_t>(1, of_.runtime().monotonic_ns() - begin);
        of_.unreachable_ = !link;
        return link;
    }

private:
    TimedNetwork& of_;
};

std::unique_ptr<http::Connector> TimedNetwork::connector(const http::ClientOptions& options) {
    if (!kept_) {
        kept_ = std::make_unique<Kept>();
        kept_->options = options;
        kept_->connector = below_.connector(kept_->options);
    }
    return std::make_unique<Counting>(*this);
}

}  // namespace bunraku::load
