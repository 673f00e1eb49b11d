// Requests and responses as handlers see them; nothing here knows sockets.
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

/// Header fields in their order; names are compared without regard to case.
class Headers {
public:
    /// The first field of that name; empty where there is none.
    std::string_view get(std::string_view name) const BUNRAKU_LIFETIMEBOUND;
    bool has(std::string_view name) const;
    /// Replaces every field of that name.
    void set(std::string_view name, std::string_view value);
    void add(std::string_view name, std::string_view value);
    void remove(std::string_view name);
    auto begin() const { return fields_.begin(); }
    auto end() const { return fields_.end(); }
    std::size_t size() const { return fields_.size(); }

private:
    std::vector<std::pair<std::string, std::string>> fields_;
};

/// The certificate that a client showed: who it says it is, and whether that is to be believed.
struct ClientCertificate {
    /// The handshake lets only verified ones in; lists that are read anew may change that.
    enum class Trust { Verified, Revoked, Untrusted } trust = Trust::Untrusted;
    std::string name;                            ///< the subject's common name; empty: none
    std::string subject, issuer;                 ///< "/CN=x"
    std::string serial;                          ///< "0x0001"
    std::vector<std::string> alternative_names;  ///< "DNS:x"
    std::vector<pki::Extension> extensions;      ///< Puppet's own
    std::optional<pki::Certificate> itself;      ///< nullopt: only described (proxies, tests)
    /// The value of an extension by short name ("pp_cli_auth") or OID; null: it has none.
    const std::string* extension(std::string_view name) const;
};

/// Who is at the other end.
struct Peer {
    std::string address;    ///< "127.0.0.1"
    bool loopback = false;  ///< the address is of this machine
    bool tls = false;
    std::shared_ptr<const ClientCertificate> certificate;  ///< null: none was shown
    /// The common name of a verified certificate; empty: nobody we know.
    std::string_view name() const;
};

struct Request {
    std::string method;  ///< upper case
    std::string target;  ///< as sent: path and query
    std::string path;    ///< without the query, still encoded: as canonical_path writes it
    /// Decoded names and values ("+" is a blank), in order.
    std::vector<std::pair<std::string, std::string>> query;
    Headers headers;
    std::string body;  ///< whole, as sent (see decoded_body)
    Peer peer;
    /// What the pattern of the route matched, decoded: "{name}" -> value. "{rest*}" takes slashes.
    std::vector<std::pair<std::string, std::string>> params;
    /// The pattern of the route that was taken; empty: none. As long-lived as the router.
    std::string_view route;

    /// The first query parameter of that name.
    const std::string* query_value(std::string_view name) const BUNRAKU_LIFETIMEBOUND;
    /// A pattern's value; empty where the pattern has none of that name.
    std::string_view param(std::string_view name) const BUNRAKU_LIFETIMEBOUND;
};

/// Gives the next piece of a long body in `out` (cleared before); false: there is none any more.
/// Throwing ends the connection, so that the client sees that the answer is cut.
using BodyProducer = std::function<bool(std::string& out)>;

struct Response {
    int status = 200;
    Headers headers;  ///< Date, Content-Length, Connection are the server's to write
    std::string body;
    BodyProducer producer;  ///< where set: a chunked body instead of `body`
    /// Where set: bytes of a file instead of `body`.
    struct File {
        std::string path;
        std::uint64_t offset = 0;
        std::uint64_t length = 0;
    };
    std::optional<File> file;
    /// The server may compress the body when the client asks (never tarballs).
    bool compressible = true;

    static Response text(int status, std::string_view body);  ///< text/plain;charset=utf-8
    static Response json(int status, std::string body);       ///< application/json;charset=utf-8
};

/// "Not Found" of 404.
std::string_view reason(int status);

/// Percent-decodes; with `plus`, "+" is a blank. nullopt: broken escapes, or what they give is no
/// UTF-8.
std::optional<std::string> percent_decode(std::string_view text, bool plus = false);
/// Encodes all but unreserved characters (RFC 3986); `keep` are let through too.
std::string percent_encode(std::string_view text, std::string_view keep = "");
/// One character, as it is where it is `plain`.
void append_percent_encoded(std::string& out, char c, bool plain);
/// "a=1&b=2" decoded; nullopt as above.
std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view text);

/// The body without its Content-Encoding (gzip, deflate, identity). Fails on unknown encodings,
/// broken data, or more than `limit` bytes.
struct DecodedBody {
    std::string body;
    int status = 0;       ///< 0: fine; else 400 (broken), 413 (too long), 415 (unknown encoding)
    std::string message;  ///< what is wrong
};
DecodedBody decoded_body(const Request& request, std::uint64_t limit);
std::string gzip(std::string_view bytes, int level = 1);

/// User and password of "Authorization: Basic"; nullopt: none, or not decodable.
std::optional<std::pair<std::string, std::string>> basic_credentials(const Request& request);
/// The token of "Authorization: Bearer"; empty: none.
std::string_view bearer_token(const Request& request);
/// "Tue, 15 Nov 1994 08:12:31 GMT" of seconds since the epoch, and back.
std::string http_date(std::int64_t seconds);
std::optional<std::int64_t> parse_http_date(std::string_view text);

}  // namespace bunraku::http
