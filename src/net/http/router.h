// SPDX-License-Identifier: Apache-2.0
// Selects the handler for a request.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http/access.h"
#include "net/http/message.h"

namespace bunraku::http {

using Handler = std::function<Response(Request&)>;

struct RouteOptions {
    /// Longer bodies are refused with 413 before they are read.
    std::uint64_t max_body = 1 << 20;
    /// True for a handler that never blocks (memory only). It runs on the thread that reads the
    /// socket; other handlers run on the pool.
    bool immediate = false;
    /// If set and true for a request, the handler will wait for another server, so it runs on
    /// separate threads and does not block other requests. Called right before the handler; must
    /// not block.
    std::function<bool(const Request&)> may_wait;
    /// If true, the handler's work fails once the client disconnects or the server stops waiting
    /// for it (base::WorkLimit).
    bool ends_with_client = false;
};

/// A table of routes.
///
/// In a pattern such as "/a/{name}/b", "{name}" matches one segment (decoded) and "{rest*}" matches
/// the whole rest (decoded). A literal segment has priority over a placeholder, and a more specific
/// pattern over "{rest*}", whatever the order of addition. Paths are matched in their canonical
/// spelling (see path.h). Every route declares its access.
class Router {
public:
    Router();
    ~Router();
    Router(Router&&) noexcept;
    Router& operator=(Router&&) noexcept;

    /// The method "*" matches every method for which the pattern has no other route.
    void add(std::string_view method, std::string_view pattern, Access access, Handler handler,
             RouteOptions options = {});
    /// Sets the handler for unmatched requests. Without one, the response is 404, or 405 if only
    /// the method differs.
    void otherwise(Access access, Handler handler, RouteOptions options = {});
    void set_policy(AccessPolicy policy);

    struct Match {
        const Handler* handler = nullptr;
        const RouteOptions* options = nullptr;
        const Access* access = nullptr;
    };
    /// Sets request.params and makes request.path canonical. Always returns a handler.
    Match match(Request& request) const;
    /// Checks the access of the matched route. Returns a response to refuse the request.
    std::optional<Response> refusal(const Match& found, const Request& request) const;
    /// Does match, refusal and the call of the handler. For tests and calls within the process.
    Response handle(Request& request) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::http
