// SPDX-License-Identifier: Apache-2.0
// Access control for routes. Each route declares its access when it is added (see Router::add). The
// check runs after the route is found and before the body is read.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "net/http/message.h"

namespace bunraku::http {

/// Checks a request without its body. Returns a response to refuse it.
using Question = std::function<std::optional<Response>(const Request&)>;

/// The server's settings for the kinds of access. A router without a policy authenticates no
/// client.
struct AccessPolicy {
    /// True if plain HTTP is trusted, because it listens on this machine only or was enabled
    /// explicitly. It then satisfies Certificate and Listed, although clients cannot send a
    /// certificate.
    bool plain_is_trusted = false;
    /// If false, Certificate is satisfied without a certificate.
    bool certificate_needed = true;
    /// Decides about Listed over TLS. If empty, Listed is the same as Certificate.
    Question allow_list;
    /// Returns true if the request has a valid token for it; the client then needs no other
    /// credentials. If empty, there are no tokens.
    std::function<bool(const Request&)> bearer;
};

class Access {
public:
    static Access anyone() { return Access(Kind::Anyone); }
    /// Clients on this machine.
    static Access local_only() { return Access(Kind::LocalOnly); }
    /// Clients with a trusted certificate.
    static Access certificate() { return Access(Kind::Certificate); }
    /// Clients with a trusted certificate that are on the allow list, if there is one.
    static Access listed() { return Access(Kind::Listed); }
    /// `question` alone decides. It runs on the thread that reads sockets, so it must not block.
    static Access rule(Question question);

    /// Returns a response to refuse the request, or nullopt to allow it.
    std::optional<Response> refusal(const Request& request, const AccessPolicy& policy) const;

private:
    enum class Kind { Anyone, LocalOnly, Certificate, Listed, Rule };
    explicit Access(Kind kind) : kind_(kind) {}
    Kind kind_;
    Question question_;
};

}  // namespace bunraku::http
