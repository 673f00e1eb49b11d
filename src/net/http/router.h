// Which handler answers a request.
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
    /// The handler never waits (memory only): it runs on the thread that reads the socket. Others
    /// run on the pool.
    bool immediate = false;
    /// Where set and true for a request, the handler is about to wait for another server: it runs
    /// on threads kept for that, and holds up nobody else. Asked right before the handler would
    /// run; must not wait itself.
    std::function<bool(const Request&)> may_wait;
    /// The handler's work ends with an error once the client is gone or the server stops waiting
    /// for it (base::WorkLimit).
    bool ends_with_client = false;
};

/// Patterns: "/a/{name}/b", "{name}" is one segment (decoded), "{rest*}" everything that is left
/// (decoded as a whole). A literal segment goes before a placeholder, the more exact pattern before
/// "{rest*}", whatever the order of adding. Paths are matched in their canonical spelling (see
/// path.h), and every route says who may use it.
class Router {
public:
    Router();
    ~Router();
    Router(Router&&) noexcept;
    Router& operator=(Router&&) noexcept;

    /// `method` "*" takes every method that no other route of the pattern has.
    void add(std::string_view method, std::string_view pattern, Access access, Handler handler,
             RouteOptions options = {});
    /// What answers where nothing matches; without one: 404 (405 where only the method differs).
    void otherwise(Access access, Handler handler, RouteOptions options = {});
    void set_policy(AccessPolicy policy);

    struct Match {
        const Handler* handler = nullptr;
        const RouteOptions* options = nullptr;
        const Access* access = nullptr;
    };
    /// Fills request.params and makes request.path canonical. Always gives a handler.
    Match match(Request& request) const;
    /// Who may use the route that was found? A response refuses the request.
    std::optional<Response> refusal(const Match& found, const Request& request) const;
    /// match, refusal and call: for tests and for calls inside the process.
    Response handle(Request& request) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::http
