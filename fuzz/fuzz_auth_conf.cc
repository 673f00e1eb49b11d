// SPDX-License-Identifier: Apache-2.0
// Reads auth.conf: the result is a set of usable rules or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "net/http/auth_conf.h"

using namespace bunraku;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    // This target does not test the inclusion of other files.
    if (text.find("file") != std::string_view::npos) return 0;
    auto conf = http::AuthConf::parse(text, "auth.conf");
    if (!conf) return 0;
    http::Request request;
    request.method = "GET";
    request.path = "/puppet/v3/catalog/a.example";
    // A client without a certificate is allowed only if a rule names `unauthenticated`.
    if (conf->decide(request).allowed && text.find("unauthenticated") == std::string_view::npos)
        std::abort();
    auto certificate = std::make_shared<http::ClientCertificate>();
    certificate->trust = http::ClientCertificate::Trust::Verified;
    certificate->name = "a.example";
    request.peer.certificate = certificate;
    (void)conf->decide(request);
    return 0;
}
