// Certificate requests (PKCS #10), as Puppet's agents make and its authority reads them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/codec/digest.h"
#include "net/pki/certificate.h"

struct X509_req_st;

namespace bunraku::pki {

/// An extension that a request asks for.
struct RequestedExtension {
    std::string oid;
    std::string name;   ///< Puppet's short name; the OID where it has none
    std::string value;  ///< the text of a string, else the bytes as they are
    bool critical = false;
};

/// Copies share it.
class Request {
public:
    /// The first request of a PEM text; `name` is for messages.
    static base::Result<Request> from_pem(std::string_view pem, const std::string& name);
    static Request adopt(X509_req_st* request);

    std::string common_name() const;  ///< empty: none
    std::string subject_utf8() const;
    std::vector<std::string> alternative_names() const;  ///< "DNS:x", "IP:127.0.0.1"
    /// Asks for alternative names of other kinds.
    bool has_other_names() const;
    /// Of extReq, or of Microsoft's where there is none, in the request's order.
    std::vector<RequestedExtension> extensions() const;
    /// All attributes but requested extensions: OID and text.
    std::vector<std::pair<std::string, std::string>> attributes() const;
    /// It was signed with the private key of its public key.
    bool is_signed() const;
    bool belongs_to(const PrivateKey& key) const;
    evp_pkey_st* public_key() const;  ///< lives as long as the request; null: none that is known
    std::string fingerprint(codec::DigestKind kind = codec::DigestKind::Sha256) const;
    std::string pem() const;
    X509_req_st* native() const { return request_.get(); }

private:
    explicit Request(std::shared_ptr<X509_req_st> request) : request_(std::move(request)) {}
    std::shared_ptr<X509_req_st> request_;
};

/// csr_attributes.yaml: names or OIDs, and texts.
struct RequestAttributes {
    std::vector<std::pair<std::string, std::string>> custom_attributes;
    std::vector<std::pair<std::string, std::string>> extension_requests;
};

/// The text of csr_attributes.yaml; errors are Puppet's, `path` is for them.
base::Result<RequestAttributes> parse_request_attributes(std::string_view yaml,
                                                         const std::string& path);

struct RequestContent {
    std::string common_name;
    /// "a,IP:10.0.0.1": DNS where nothing is said. The common name is added where there is any.
    std::string alternative_names;
    RequestAttributes attributes;
    /// Names of OIDs beyond Puppet's: OID and name.
    std::vector<std::pair<std::string, std::string>> oid_names;
};

/// Signed with SHA-256. Errors are Puppet's.
base::Result<Request> make_request(const PrivateKey& key, const RequestContent& content);

/// Names as settings list them, with "DNS:" where nothing is said, sorted, each once.
std::vector<std::string> alternative_name_list(std::string_view names);

}  // namespace bunraku::pki
