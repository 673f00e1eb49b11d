// SPDX-License-Identifier: Apache-2.0
// Certificate requests (PKCS #10), as Puppet's agents make them and its CA reads them.
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

/// An extension requested by a certificate request.
struct RequestedExtension {
    std::string oid;
    std::string name;   ///< Puppet's short name, or the OID if it has none
    std::string value;  ///< the text of a string value, otherwise the raw bytes
    bool critical = false;
};

/// A certificate request. Copies share it.
class Request {
public:
    /// Parses the first request of a PEM text; `name` is for messages.
    static base::Result<Request> from_pem(std::string_view pem, const std::string& name);
    static Request adopt(X509_req_st* request);

    std::string common_name() const;  ///< may be empty
    std::string subject_utf8() const;
    std::vector<std::string> alternative_names() const;  ///< "DNS:x", "IP:127.0.0.1"
    /// Reports whether the request contains alternative names of other kinds.
    bool has_other_names() const;
    /// Returns the extensions that the attribute extReq contains, in order. If the request lacks
    /// extReq, returns those of Microsoft's attribute.
    std::vector<RequestedExtension> extensions() const;
    /// Returns all attributes except requested extensions, as OID and text.
    std::vector<std::pair<std::string, std::string>> attributes() const;
    /// Reports whether the request is signed with the private key of its public key.
    bool is_signed() const;
    bool belongs_to(const PrivateKey& key) const;
    /// valid as long as the request; null if the key type is unknown
    evp_pkey_st* public_key() const;
    std::string fingerprint(codec::DigestKind kind = codec::DigestKind::Sha256) const;
    std::string pem() const;
    X509_req_st* native() const { return request_.get(); }

private:
    explicit Request(std::shared_ptr<X509_req_st> request) : request_(std::move(request)) {}
    std::shared_ptr<X509_req_st> request_;
};

/// The contents of csr_attributes.yaml: names or OIDs, and texts.
struct RequestAttributes {
    std::vector<std::pair<std::string, std::string>> custom_attributes;
    std::vector<std::pair<std::string, std::string>> extension_requests;
};

/// Parses the text of csr_attributes.yaml. Errors are Puppet's; `path` is for messages.
base::Result<RequestAttributes> parse_request_attributes(std::string_view yaml,
                                                         const std::string& path);

struct RequestContent {
    std::string common_name;
    /// A list such as "a,IP:10.0.0.1"; a name without a type is a DNS name. If the list is not
    /// empty, the common name is added.
    std::string alternative_names;
    RequestAttributes attributes;
    /// OIDs and their names, in addition to Puppet's.
    std::vector<std::pair<std::string, std::string>> oid_names;
};

/// Makes a request, signed with SHA-256. Errors are Puppet's.
base::Result<Request> make_request(const PrivateKey& key, const RequestContent& content);

/// Parses a list of names from a setting, adds "DNS:" to names without a type, sorts, and removes
/// duplicates.
std::vector<std::string> alternative_name_list(std::string_view names);

}  // namespace bunraku::pki
