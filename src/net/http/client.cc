// SPDX-License-Identifier: Apache-2.0
#include "net/http/client.h"

#include <cerrno>
#include <fmt/format.h>
#include <map>

#include "core/base/assert.h"
#include "core/base/uninitialized.h"
#include "core/codec/base64.h"
#include "net/http/network.h"
#include "net/http/url.h"
#include "net/http/wire.h"

namespace bunraku::http {

using base::failure;
using base::Result;

namespace {

bool repeats_safely(std::string_view method) {
    return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE";
}

}  // namespace

struct Client::Impl {
    explicit Impl(ClientOptions o)
        : options(std::move(o)),
          connector((options.network ? *options.network : sockets()).connector(options)) {}
    ClientOptions options;
    std::unique_ptr<Connector> connector;
    /// by origin; destroyed before the connector
    std::map<std::string, std::unique_ptr<Link>> links;

    using Sink = std::function<bool(std::string_view)>;
    /// callback for the current request
    const std::function<void(int, const Headers&)>* head_callback_ = nullptr;
    Result<ClientResponse> follow(const ClientRequest& request, const Sink* sink);
    Result<ClientResponse> exchange(const Url& url, const std::string& head,
                                    const std::string& body, std::string_view method,
                                    const Sink* sink);
    Result<void> read_head(Link& link, ClientResponse& out, Framing& framing, bool& began);
    Result<void> read_body(Link& link, const Framing& framing, const Sink* sink,
                           ClientResponse& out, bool& began);
    Result<ClientResponse> receive(Link& link, std::string_view method, const Sink* sink,
                                   bool& began, bool& keep);
};

/// Reads more of a response into `link.rest`. Returns false at the end of the connection.
static Result<bool> read_more(Link& link, bool& began) {
    char buffer[32768] BUNRAKU_UNINITIALIZED;
    const auto n = BUNRAKU_TRY(link.read(buffer, sizeof buffer));
    link.rest.append(buffer, n);
    if (n) began = true;
    return n > 0;
}

/// Reads the head of the final response, after any interim ones.
Result<void> Client::Impl::read_head(Link& link, ClientResponse& out, Framing& framing,
                                     bool& began) {
    while (true) {
        HeadScanner scanner;
        HeadScanner::State state;
        while ((state = scanner.scan(link.rest)) == HeadScanner::State::More) {
            if (link.rest.size() > (256 << 10)) return failure("the header is too long");
            if (!BUNRAKU_TRY(read_more(link, began)))
                return failure("the server closed the connection", ECONNRESET);
        }
        if (state == HeadScanner::State::Bad) return failure("the response is not HTTP");
        auto fault = parse_response_head(std::string_view(link.rest).substr(0, scanner.size()),
                                         out.status, out.headers, framing);
        if (fault) return failure(fault.message);
        link.rest.erase(0, scanner.size());
        if (out.status >= 200 || out.status == 101) return {};
    }
}

/// Reads a body into `sink` or, if it is null, into `out.body`.
Result<void> Client::Impl::read_body(Link& link, const Framing& framing, const Sink* sink,
                                     ClientResponse& out, bool& began) {
    std::uint64_t received = 0;
    const std::uint64_t limit = sink ? UINT64_MAX >> 1 : options.max_body;
    auto more = [&] { return read_more(link, began); };
    auto take = [&](std::string_view bytes) -> Result<void> {
        received += bytes.size();
        if (received > limit)
            return failure(fmt::format("the response is longer than {} bytes", limit));
        if (sink) {
            if (!bytes.empty() && !(*sink)(bytes)) return failure("stopped", ECANCELED);
        } else {
            out.body.append(bytes);
        }
        return {};
    };
    if (framing.chunked) {
        ChunkedDecoder chunks;
        std::string piece;
        while (true) {
            std::string_view in = link.rest;
            piece.clear();
            auto state = chunks.feed(in, piece, limit);
            link.rest.erase(0, link.rest.size() - in.size());
            BUNRAKU_TRY_VOID(take(piece));
            if (state == ChunkedDecoder::State::Done) break;
            if (state == ChunkedDecoder::State::TooLong)
                return failure(fmt::format("the response is longer than {} bytes", limit));
            if (state == ChunkedDecoder::State::Bad)
                return failure("the chunked body is malformed");
            if (!BUNRAKU_TRY(more())) return failure("the response is incomplete", ECONNRESET);
        }
    } else if (framing.content_length) {
        std::uint64_t left = *framing.content_length;
        if (left > limit)
            return failure(fmt::format("the response is longer than {} bytes", limit));
        if (!sink)
            out.body.reserve(static_cast<std::size_t>(std::min<std::uint64_t>(left, 1 << 20)));
        while (true) {
            auto n = static_cast<std::size_t>(std::min<std::uint64_t>(left, link.rest.size()));
            BUNRAKU_TRY_VOID(take(std::string_view(link.rest).substr(0, n)));
            link.rest.erase(0, n);
            left -= n;
            if (left == 0) break;
            if (!BUNRAKU_TRY(more())) return failure("the response is incomplete", ECONNRESET);
        }
    } else {
        do {
            BUNRAKU_TRY_VOID(take(link.rest));
            link.rest.clear();
        } while (BUNRAKU_TRY(more()));
    }
    return {};
}

/// Reads one response. Sets `began` once any part of it has arrived.
Result<ClientResponse> Client::Impl::receive(Link& link, std::string_view method, const Sink* sink,
                                             bool& began, bool& keep) {
    ClientResponse out;
    Framing framing;
    BUNRAKU_TRY_VOID(read_head(link, out, framing, began));
    keep = framing.keep_alive;
    if (head_callback_ && *head_callback_) (*head_callback_)(out.status, out.headers);
    if (method == "HEAD" || out.status == 204 || out.status == 304) return out;

    // The sink gets only the body of a successful response. The caller reads the body of an error.
    const bool to_sink = sink && out.status >= 200 && out.status < 300;
    BUNRAKU_TRY_VOID(read_body(link, framing, to_sink ? sink : nullptr, out, began));
    if (!framing.chunked && !framing.content_length) keep = false;
    if (!to_sink) {
        auto decoded =
            decode_content(out.headers.get("Content-Encoding"), out.body, options.max_body);
        if (decoded.status == 0) {
            out.body = std::move(decoded.body);
        } else if (decoded.status != 415) {
            return failure(decoded.message);
        }
    }
    return out;
}

Result<ClientResponse> Client::Impl::exchange(const Url& url, const std::string& head,
                                              const std::string& body, std::string_view method,
                                              const Sink* sink) {
    auto origin = url.origin();
    for (int attempt = 0;; attempt++) {
        BUNRAKU_ASSERT(attempt < 2);
        std::unique_ptr<Link> link;
        bool reused = false;
        if (auto it = links.find(origin); it != links.end() && attempt == 0) {
            link = std::move(it->second);
            links.erase(it);
            reused = link->quiet();
            if (!reused) link.reset();
        }
        if (!link) link = BUNRAKU_TRY(connector->connect(url));
        bool began = false, keep = false;
        auto sent = link->write(head);
        if (sent) sent = link->write(body);
        // A server that refuses a long body responds while the client is still sending it.
        auto answer = receive(*link, method, sink, began, keep);
        if (!answer) {
            bool again =
                reused && !began && answer.error().code != ETIMEDOUT && repeats_safely(method);
            if (again) {
                BUNRAKU_ASSERT(attempt == 0);
                continue;
            }
            if (!sent && !began) return std::unexpected(sent.error());
            return answer;
        }
        link->exchanged();
        if (keep && sent && link->rest.empty()) links[origin] = std::move(link);
        return answer;
    }
}

Result<ClientResponse> Client::Impl::follow(const ClientRequest& request, const Sink* sink) {
    auto url = BUNRAKU_TRY(parse_url(request.url));
    head_callback_ = sink ? &request.head : nullptr;
    const auto first = url.origin();
    auto method = request.method;
    bool with_body = true;
    for (int hops = 0;; hops++) {
        BUNRAKU_ASSERT(with_body || method == "GET");
        BUNRAKU_ASSERT(hops == 0 || hops <= options.max_redirects);
        bool same_origin = url.origin() == first;
        // A proxy needs the whole URL of a plain request. For TLS, it only opens a tunnel
        // (socket_client.cc).
        const Proxy* proxy = url.tls ? nullptr : options.proxies.of(url);
        std::string head = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", method,
                                       proxy ? url.text() : url.target, url.authority());
        if (proxy && !proxy->user.empty())
            head += fmt::format("Proxy-Authorization: {}\r\n", proxy->authorization());
        bool authorized = false;
        for (const auto& [name, value] : request.headers) {
            Headers one;
            one.add(name, "");
            if (one.has("Host") || one.has("Content-Length") || one.has("Connection") ||
                one.has("Transfer-Encoding") || one.has("Proxy-Authorization")) {
                continue;
            }
            bool secret =
                one.has("Authorization") || one.has("Cookie") || one.has("X-Authentication");
            if (secret && !same_origin) continue;
            if (!with_body && (one.has("Content-Type") || one.has("Content-Encoding"))) continue;
            if (one.has("Authorization")) authorized = true;
            if ((name + value).find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos)
                return failure(fmt::format("The header {} contains a line break", name));
            head += fmt::format("{}: {}\r\n", name, value);
        }
        if (!authorized && same_origin) {
            if (!options.authorization.empty()) {
                head += fmt::format("Authorization: {}\r\n", options.authorization);
            } else if (url.has_user) {
                head += fmt::format("Authorization: Basic {}\r\n", codec::base64_encode(url.user));
            }
        }
        if (!request.headers.has("User-Agent"))
            head += fmt::format("User-Agent: {}\r\n", options.user_agent);
        if (!request.headers.has("Accept")) head += "Accept: */*\r\n";
        if (!sink && !request.headers.has("Accept-Encoding")) head += "Accept-Encoding: gzip\r\n";
        const std::string empty;
        const auto& body = with_body ? request.body : empty;
        if (!body.empty() || method == "POST" || method == "PUT")
            head += fmt::format("Content-Length: {}\r\n", body.size());
        head += "\r\n";
        auto answer = exchange(url, head, body, method, sink);
        if (!answer) {
            return failure(error_prefix(method, url.text()) + answer.error().message,
                           answer.error().code);
        }
        answer->url = url.text();
        auto location = answer->headers.get("Location");
        int status = answer->status;
        bool moved =
            status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
        if (!moved || location.empty() || options.max_redirects == 0) return answer;
        if (hops >= options.max_redirects)
            return failure(error_prefix(method, request.url) + "too many redirects");
        auto next = resolve_url(url, location);
        if (!next) {
            return failure(error_prefix(method, url.text()) + next.error().message);
        }
        if (url.has_user && !next->has_user && next->origin() == first) {
            next->user = url.user;
            next->has_user = true;
        }
        url = std::move(*next);
        if (status <= 303 && method != "GET" && method != "HEAD") {
            method = "GET";
            with_body = false;
        }
    }
}

Client::Client(ClientOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Result<ClientResponse> Client::send(const ClientRequest& request) {
    return impl_->follow(request, nullptr);
}

Result<ClientResponse> Client::get(const std::string& url) {
    ClientRequest request;
    request.url = url;
    return send(request);
}

Result<ClientResponse> Client::download(const ClientRequest& request,
                                        const std::function<bool(std::string_view)>& sink) {
    return impl_->follow(request, &sink);
}

std::string error_prefix(std::string_view method, std::string_view url) {
    return fmt::format("{} {}: ", method, url.substr(0, url.find('?')));
}

}  // namespace bunraku::http
