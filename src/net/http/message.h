// SPDX-License-Identifier: Apache-2.0
// Requests and responses for handlers; independent of sockets.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/lifetime.h"
#include "net/pki/certificate.h"

namespace bunraku::http {

/// Header fields in order. Names are compared without case.
class Headers {
public:
    /// Returns the first field of that name, or an empty text.
    std::string_view get(std::string_view name) const BUNRAKU_LIFETIMEBOUND;
    bool has(std::string_view name) const;
    /// Replaces all fields of that name.
    void set(std::string_view name, std::string_view value);
    void add(std::string_view name, std::string_view value);
    void remove(std::string_view name);
    auto begin() const { return fields_.begin(); }
    auto end() const { return fields_.end(); }
    std::size_t size() const { return fields_.size(); }

private:
    std::vector<std::pair<std::string, std::string>> fields_;
};

/// A client's certificate: its identity, and whether it is trusted.
struct ClientCertificate {
    /// The handshake accepts only verified certificates, but a reload of the revocation lists may
    /// change the verdict.
    enum class Trust { Verified, Revoked, Untrusted } trust = Trust::Untrusted;
    std::string name;                            ///< the subject's common name; may be empty
    std::string subject, issuer;                 ///< "/CN=x"
    std::string serial;                          ///< "0x0001"
    std::vector<std::string> alternative_names;  ///< "DNS:x"
    std::vector<pki::Extension> extensions;      ///< Puppet's extensions only
    /// nullopt if only the description is known (proxies, tests)
    std::optional<pki::Certificate> itself;
    /// Returns the value of an extension by short name ("pp_cli_auth") or OID, or null if there is
    /// none.
    const std::string* extension(std::string_view name) const;
};

/// The other end of the connection.
struct Peer {
    std::string address;    ///< "127.0.0.1"
    bool loopback = false;  ///< true if the address belongs to this machine
    bool tls = false;
    std::shared_ptr<const ClientCertificate> certificate;  ///< null if the client sent none
    /// Returns the common name of a verified certificate, or an empty text.
    std::string_view name() const;
};

struct Request {
    std::string method;  ///< upper case
    std::string target;  ///< path and query as sent
    std::string path;    ///< without the query, encoded, as canonical_path writes it
    /// Decoded names and values in order; "+" is decoded to a blank.
    std::vector<std::pair<std::string, std::string>> query;
    Headers headers;
    std::string body;  ///< complete, as sent (see decoded_body)
    Peer peer;
    /// Decoded values of the route's placeholders: "{name}" -> value. "{rest*}" may contain
    /// slashes.
    std::vector<std::pair<std::string, std::string>> params;
    /// The pattern of the matched route; may be empty. Valid as long as the router exists.
    std::string_view route;

    /// Returns the first query parameter of that name.
    const std::string* query_value(std::string_view name) const BUNRAKU_LIFETIMEBOUND;
    /// Returns the value of a placeholder, or an empty text if the pattern does not contain it.
    std::string_view param(std::string_view name) const BUNRAKU_LIFETIMEBOUND;
};

/// Stores the next piece of a long body in `out`, which is cleared before. Returns false if there
/// are no more pieces. An exception closes the connection, so that the client sees that the
/// response is incomplete.
using BodyProducer = std::function<bool(std::string& out)>;

struct Response {
    int status = 200;
    /// Handlers must not set Date, Content-Length or Connection; the server writes them.
    Headers headers;
    std::string body;
    BodyProducer producer;  ///< If set, the response has a chunked body instead of `body`.
    /// If set, the body is part of a file instead of `body`.
    struct File {
        std::string path;
        std::uint64_t offset = 0;
        std::uint64_t length = 0;
    };
    std::optional<File> file;
    /// False if the server must not compress the body (such as tarballs).
    bool compressible = true;

    static Response text(int status, std::string_view body);  ///< text/plain;charset=utf-8
    static Response json(int status, std::string body);       ///< application/json;charset=utf-8
};

/// Returns "Not Found" for 404.
std::string_view reason(int status);

/// What "+" means: itself in a path, a blank in a query or form.
enum class Plus : std::uint8_t { Literal, Blank };
/// Percent-decodes. Returns nullopt if an escape is not valid or the result is not UTF-8.
std::optional<std::string> percent_decode(std::string_view text, Plus plus = Plus::Literal);
/// Encodes all but unreserved characters (RFC 3986) and those in `keep`.
std::string percent_encode(std::string_view text, std::string_view keep = "");
/// Appends one character, unchanged if `plain` is true.
void append_percent_encoded(std::string& out, char c, bool plain);
/// Decodes "a=1&b=2". Returns nullopt as above.
std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view text);

/// The body after removing its Content-Encoding (gzip, deflate, identity). Fails on unknown
/// encodings, corrupt data, and more than `limit` bytes.
struct DecodedBody {
    std::string body;
    /// 0 on success, otherwise 400 (corrupt), 413 (too long) or 415 (unknown encoding)
    int status = 0;
    std::string message;  ///< the error message
};
DecodedBody decoded_body(const Request& request, std::uint64_t limit);
std::string gzip(std::string_view bytes, int level = 1);

/// Returns the user and password of "Authorization: Basic", or nullopt if there are none or they
/// cannot be decoded.
std::optional<std::pair<std::string, std::string>> basic_credentials(const Request& request);
/// Returns the token of "Authorization: Bearer", or an empty text.
std::string_view bearer_token(const Request& request);
/// Converts seconds since the epoch to "Tue, 15 Nov 1994 08:12:31 GMT", and back.
std::string http_date(std::int64_t seconds);
std::optional<std::int64_t> parse_http_date(std::string_view text);

}  // namespace bunraku::http
