// SPDX-License-Identifier: Apache-2.0
#include "net/http/resuming_network.h"

#include <utility>

#include "net/http/network.h"
#include "net/http/socket_network.h"

namespace bunraku::http {

namespace {

class ResumingSockets final : public Network {
public:
    explicit ResumingSockets(std::string session_file) : session_file_(std::move(session_file)) {}
    sys::Runtime& runtime() override { return sockets().runtime(); }
    base::Result<std::unique_ptr<Listening>> listen(const ServerOptions& options) override {
        return sockets().listen(options);
    }
    std::unique_ptr<Connector> connector(const ClientOptions& options) override {
        return make_socket_connector(options, session_file_);
    }

private:
    std::string session_file_;
};

}  // namespace

std::unique_ptr<Network> resuming_sockets(std::string session_file) {
    return std::make_unique<ResumingSockets>(std::move(session_file));
}

}  // namespace bunraku::http
