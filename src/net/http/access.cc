// SPDX-License-Identifier: Apache-2.0
#include "net/http/access.h"

namespace bunraku::http {

namespace {

using Trust = ClientCertificate::Trust;

/// A bad certificate is refused even on routes that require none.
std::optional<Response> refuse_bad_certificate(const Peer& peer) {
    if (!peer.certificate || peer.certificate->trust == Trust::Verified) return std::nullopt;
    return Response::text(403, peer.certificate->trust == Trust::Revoked
                                   ? "The client certificate is revoked"
                                   : "The client certificate is not trusted");
}

}  // namespace

Access Access::rule(Question question) {
    Access out(Kind::Rule);
    out.question_ = std::move(question);
    return out;
}

std::optional<Response> Access::refusal(const Request& request, const AccessPolicy& policy) const {
    const Peer& peer = request.peer;
    if (kind_ != Kind::Anyone && kind_ != Kind::LocalOnly && policy.bearer &&
        policy.bearer(request))
        return std::nullopt;
    switch (kind_) {
        case Kind::Anyone: return std::nullopt;
        case Kind::LocalOnly:
            if (peer.loopback) return std::nullopt;
            return Response::text(403, "This path is only available from the server's own machine");
        case Kind::Certificate:
        case Kind::Listed:
            if (!peer.tls && policy.plain_is_trusted) return std::nullopt;
            if (auto bad = refuse_bad_certificate(peer)) return bad;
            if (kind_ == Kind::Listed && policy.allow_list) return policy.allow_list(request);
            if (peer.certificate || !policy.certificate_needed) return std::nullopt;
            return Response::text(403,
                                  "A client certificate signed by this server's certificate "
                                  "authority is needed (see the setting client-auth)");
        case Kind::Rule: return question_(request);
    }
    return Response::text(403, "Forbidden");
}

}  // namespace bunraku::http
