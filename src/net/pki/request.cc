// SPDX-License-Identifier: Apache-2.0
#include "net/pki/request.h"

#include <algorithm>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "core/base/text.h"
#include "core/codec/pem.h"
#include "core/codec/yaml.h"
#include "net/pki/native.h"

namespace bunraku::pki {

using base::failure;
using base::Result;

namespace {

struct FreeExtensions {
    void operator()(STACK_OF(X509_EXTENSION) * stack) const {
        sk_X509_EXTENSION_pop_free(stack, X509_EXTENSION_free);
    }
};
using Extensions = std::unique_ptr<STACK_OF(X509_EXTENSION), FreeExtensions>;

Extensions requested(const X509_REQ* request) {
    Extensions out(X509_REQ_get_extensions(const_cast<X509_REQ*>(request)));
    ERR_clear_error();
    return out;
}

GENERAL_NAMES* requested_names(const X509_REQ* request) {
    auto extensions = requested(request);
    auto* names = extensions ? static_cast<GENERAL_NAMES*>(X509V3_get_d2i(
                                   extensions.get(), NID_subject_alt_name, nullptr, nullptr))
                             : nullptr;
    ERR_clear_error();
    return names;
}

/// Returns the text of a YAML scalar like Ruby's to_s, or nullopt if the node is not a scalar.
std::optional<std::string> plain_text(const codec::YamlNode& node) {
    using Kind = codec::YamlNode::Kind;
    switch (node.kind) {
        case Kind::Null: return "";
        case Kind::Boolean: return node.boolean ? "true" : "false";
        case Kind::Integer: return std::to_string(node.integer);
        case Kind::Float: return fmt::format("{}", node.number);
        case Kind::String:
            return node.text.starts_with(':') && node.symbol ? node.text.substr(1) : node.text;
        default: return std::nullopt;
    }
}

/// Returns the object for an OID, or for a name known to Puppet, OpenSSL or `names`. Returns null
/// for other texts.
ASN1_OBJECT* object_of(const std::string& text,
                       const std::vector<std::pair<std::string, std::string>>& names) {
    std::string oid = puppet_oid(text);
    for (const auto& [other, name] : names)
        if (oid.empty() && name == text) oid = other;
    ASN1_OBJECT* object = OBJ_txt2obj((oid.empty() ? text : oid).c_str(), 0);
    ERR_clear_error();
    return object;
}

constexpr std::string_view kOwnAttributes[] = {"extReq", "1.2.840.113549.1.9.14", "msExtReq",
                                               "1.3.6.1.4.1.311.2.1.14"};
constexpr std::string_view kOwnExtensions[] = {"subjectAltName", "2.5.29.17"};

template <std::size_t N>
bool is_one_of(const std::string_view (&list)[N], std::string_view text) {
    return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

}  // namespace

Request Request::adopt(X509_REQ* request) {
    return Request(std::shared_ptr<X509_REQ>(request, X509_REQ_free));
}

Result<Request> Request::from_pem(std::string_view pem, const std::string& name) {
    auto bio = memory(pem);
    X509_REQ* request = PEM_read_bio_X509_REQ(bio.get(), nullptr, codec::no_passphrase, nullptr);
    if (!request) {
        return failure(
            fmt::format("{} contains no certificate request in PEM: {}", name, openssl_error()));
    }
    return adopt(request);
}

std::string Request::common_name() const {
    return common_name_of(X509_REQ_get_subject_name(request_.get()));
}

std::string Request::subject_utf8() const {
    return name_utf8(X509_REQ_get_subject_name(request_.get()));
}

std::vector<std::string> Request::alternative_names() const {
    auto* names = requested_names(request_.get());
    auto out = names_of(names, nullptr);
    GENERAL_NAMES_free(names);
    return out;
}

bool Request::has_other_names() const {
    auto* names = requested_names(request_.get());
    bool others = false;
    names_of(names, &others);
    GENERAL_NAMES_free(names);
    return others;
}

std::vector<RequestedExtension> Request::extensions() const {
    std::vector<RequestedExtension> out;
    auto extensions = requested(request_.get());
    for (int i = 0; extensions && i < sk_X509_EXTENSION_num(extensions.get()); i++) {
        X509_EXTENSION* extension = sk_X509_EXTENSION_value(extensions.get(), i);
        RequestedExtension one;
        one.oid = oid_text(X509_EXTENSION_get_object(extension));
        one.name = puppet_name(one.oid);
        one.value = text_value(bytes_of(X509_EXTENSION_get_data(extension)));
        one.critical = X509_EXTENSION_get_critical(extension) == 1;
        out.push_back(std::move(one));
    }
    return out;
}

std::vector<std::pair<std::string, std::string>> Request::attributes() const {
    std::vector<std::pair<std::string, std::string>> out;
    for (int i = 0; i < X509_REQ_get_attr_count(request_.get()); i++) {
        X509_ATTRIBUTE* attribute = X509_REQ_get_attr(request_.get(), i);
        auto oid = oid_text(X509_ATTRIBUTE_get0_object(attribute));
        if (is_one_of(kOwnAttributes, oid)) continue;
        ASN1_TYPE* value = X509_ATTRIBUTE_get0_type(attribute, 0);
        std::string text;
        if (value) {
            unsigned char* der = nullptr;
            int size = i2d_ASN1_TYPE(value, &der);
            if (size > 0) {
                text = text_value(
                    std::string(reinterpret_cast<char*>(der), static_cast<std::size_t>(size)));
            }
            OPENSSL_free(der);
        }
        out.emplace_back(std::move(oid), std::move(text));
    }
    ERR_clear_error();
    return out;
}

bool Request::is_signed() const {
    EVP_PKEY* key = X509_REQ_get0_pubkey(request_.get());
    const bool good = key && X509_REQ_verify(request_.get(), key) == 1;
    ERR_clear_error();
    return good;
}

bool Request::belongs_to(const PrivateKey& key) const {
    EVP_PKEY* own = X509_REQ_get0_pubkey(request_.get());
    const bool same = own && EVP_PKEY_eq(own, key.native()) == 1;
    ERR_clear_error();
    return same;
}

EVP_PKEY* Request::public_key() const { return X509_REQ_get0_pubkey(request_.get()); }

std::string Request::fingerprint(codec::DigestKind kind) const {
    unsigned char* der = nullptr;
    int size = i2d_X509_REQ(request_.get(), &der);
    if (size < 0) return {};
    auto hex = codec::hex_digest(
        kind, std::string_view(reinterpret_cast<char*>(der), static_cast<std::size_t>(size)));
    OPENSSL_free(der);
    return with_colons(hex);
}

std::string Request::pem() const {
    auto bio = memory();
    PEM_write_bio_X509_REQ(bio.get(), request_.get());
    return text_of(bio.get());
}

Result<RequestAttributes> parse_request_attributes(std::string_view yaml, const std::string& path) {
    using Kind = codec::YamlNode::Kind;
    auto document = codec::parse_yaml(yaml, path);
    if (!document) return failure(document.error().message);
    RequestAttributes out;
    if (document->kind == Kind::Null) return out;
    if (document->kind != Kind::Mapping) {
        const char* kind = document->kind == Kind::Sequence  ? "Array"
                           : document->kind == Kind::String  ? "String"
                           : document->kind == Kind::Integer ? "Integer"
                           : document->kind == Kind::Float   ? "Float"
                           : document->boolean               ? "TrueClass"
                                                             : "FalseClass";
        return failure(fmt::format(
            "invalid CSR attributes, expected instance of Hash, received instance of {}", kind));
    }
    std::string unknown;
    for (const auto& [key, value] : document->entries) {
        auto* into = key.text == "custom_attributes"    ? &out.custom_attributes
                     : key.text == "extension_requests" ? &out.extension_requests
                                                        : nullptr;
        if (!into) {
            unknown += fmt::format("{}\"{}\"", unknown.empty() ? "" : ", ", key.text);
            continue;
        }
        if (value.kind == Kind::Null) continue;
        if (value.kind != Kind::Mapping)
            return failure(fmt::format("{} in \"{}\" is not a hash", key.text, path));
        for (const auto& [name, text] : value.entries) {
            auto plain = plain_text(text);
            auto plain_name = plain_text(name);
            if (!plain || !plain_name) {
                return failure(fmt::format("{} of {} in \"{}\" is not a plain value",
                                           plain_name.value_or("a key"), key.text, path));
            }
            into->emplace_back(std::move(*plain_name), std::move(*plain));
        }
    }
    if (!unknown.empty())
        return failure(fmt::format("unexpected attributes [{}] in \"{}\"", unknown, path));
    return out;
}

std::vector<std::string> alternative_name_list(std::string_view names) {
    std::vector<std::string> out;
    for (auto part : base::split(names, ',')) {
        part = base::trim(part);
        if (part.empty()) continue;
        const bool tagged = part.starts_with("DNS:") || part.starts_with("IP:");
        out.push_back((tagged ? "" : "DNS:") + std::string(part));
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

Result<Request> make_request(const PrivateKey& key, const RequestContent& content) {
    auto request = Request::adopt(X509_REQ_new());
    X509_REQ* native = request.native();
    const auto failed = [&] {
        return failure(fmt::format("Could not make a certificate request for {}: {}",
                                   content.common_name, openssl_error()));
    };
    if (!native || X509_REQ_set_version(native, 0) != 1 ||
        X509_NAME_add_entry_by_NID(
            X509_REQ_get_subject_name(native), NID_commonName, MBSTRING_UTF8,
            reinterpret_cast<const unsigned char*>(content.common_name.data()),
            static_cast<int>(content.common_name.size()), -1, 0) != 1 ||
        X509_REQ_set_pubkey(native, key.native()) != 1) {
        return failed();
    }
    for (const auto& [name, text] : content.attributes.custom_attributes) {
        if (is_one_of(kOwnAttributes, name)) {
            return failure(
                fmt::format("Cannot specify CSR attribute {}: conflicts with internally "
                            "used CSR attribute",
                            name));
        }
        ASN1_OBJECT* object = object_of(name, content.oid_names);
        const bool good =
            object && X509_REQ_add1_attr_by_OBJ(native, object, V_ASN1_PRINTABLESTRING,
                                                reinterpret_cast<const unsigned char*>(text.data()),
                                                static_cast<int>(text.size())) == 1;
        ASN1_OBJECT_free(object);
        if (!good) {
            ERR_clear_error();
            return failure(
                fmt::format("Cannot create CSR with attribute {}: no such name or OID", name));
        }
    }
    Extensions extensions(sk_X509_EXTENSION_new_null());
    for (const auto& [name, text] : content.attributes.extension_requests) {
        if (is_one_of(kOwnExtensions, name)) {
            return failure(
                fmt::format("Cannot specify CSR extension request {}: conflicts with "
                            "internally used extension request",
                            name));
        }
        ASN1_OBJECT* object = object_of(name, content.oid_names);
        X509_EXTENSION* extension = object ? make_text_extension(oid_text(object), text) : nullptr;
        ASN1_OBJECT_free(object);
        if (!extension || sk_X509_EXTENSION_push(extensions.get(), extension) <= 0) {
            ERR_clear_error();
            return failure(fmt::format(
                "Cannot create CSR with extension request {}: no such name or OID", name));
        }
    }
    if (!content.alternative_names.empty()) {
        X509_EXTENSION* extension = make_names_extension(
            alternative_name_list(content.alternative_names + "," + content.common_name));
        if (!extension || sk_X509_EXTENSION_push(extensions.get(), extension) <= 0) {
            ERR_clear_error();
            return failure(
                fmt::format("The alternative names {} cannot be used: one of them is "
                            "neither a name nor an address",
                            content.alternative_names));
        }
    }
    if (sk_X509_EXTENSION_num(extensions.get()) > 0 &&
        X509_REQ_add_extensions(native, extensions.get()) != 1) {
        return failed();
    }
    if (X509_REQ_sign(native, key.native(), digest_for(key.native())) <= 0) return failed();
    return request;
}

}  // namespace bunraku::pki
