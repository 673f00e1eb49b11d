// Who may use a route. Every route says so where it is added (see Router::add); it is asked once
// the route is known and before the body is read.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "net/http/message.h"

namespace bunraku::http {

/// Looks at a request without its body; a response refuses it.
using Question = std::function<std::optional<Response>(const Request&)>;

/// What a server's settings make of the kinds of access. Routers without one take nobody for known.
struct AccessPolicy {
    /// Plain HTTP, where nobody can show a certificate, is bound to this machine or was asked for:
    /// Certificate and Listed are met there.
    bool plain_is_trusted = false;
    /// False: Certificate is met without one.
    bool certificate_needed = true;
    /// Decides for Listed over TLS; unset: Listed is the same as Certificate.
    Question allow_list;
    /// True: the request bears a token that is good for it, and its sender need show nothing else.
    /// Unset: there are none.
    std::function<bool(const Request&)> bearer;
};

class Access {
public:
    static Access anyone() { return Access(Kind::Anyone); }
    /// From this machine.
    static Access local_only() { return Access(Kind::LocalOnly); }
    /// Whoever shows a certificate that is trusted.
    static Access certificate() { return Access(Kind::Certificate); }
    /// Those of them that are on the allow list, where there is one.
    static Access listed() { return Access(Kind::Listed); }
    /// `question` decides alone. It runs on the thread that reads sockets: it must not wait.
    static Access rule(Question question);

    /// A response refuses the request.
    std::optional<Response> refusal(const Request& request, const AccessPolicy& policy) const;

private:
    enum class Kind { Anyone, LocalOnly, Certificate, Listed, Rule };
    explicit Access(Kind kind) : kind_(kind) {}
    Kind kind_;
    Question question_;
};

}  // namespace bunraku::http
