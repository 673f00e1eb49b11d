// SPDX-License-Identifier: Apache-2.0
// The client of a server's rollouts API.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/arena.h"
#include "core/config/settings.h"
#include "core/value/value.h"
#include "net/http/client.h"

namespace bunraku::cli {

/// The answer of the API.
struct RolloutAnswer {
    int status = 0;
    std::string body;
    value::Value data;  ///< the body; allocated in the client
    /// Returns the member "error" of a refusal, or the status.
    std::string error() const;
};

class RolloutClient {
public:
    /// `url` is the address of the server; if it is empty, the settings `server` and `serverport`
    /// are used. The client sends the certificate of this machine, and the token in the variable
    /// BUNRAKU_TOKEN, if there is one.
    RolloutClient(const config::Settings& settings, std::string url);

    /// Sends a request for a path below /bunraku/v1. Throws base::PuppetError if no server answers
    /// or the answer is not JSON.
    RolloutAnswer send(std::string_view method, std::string_view path, std::string body = {});
    /// Does the same, and throws if the answer is not a success.
    RolloutAnswer get(std::string_view path);

private:
    std::string url_;
    http::Client client_;
    base::Arena arena_;
};

}  // namespace bunraku::cli
