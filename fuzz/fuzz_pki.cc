// SPDX-License-Identifier: Apache-2.0
// Certificate requests and their attributes: they are read, checked against the policy and written,
// or refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "net/pki/crl.h"
#include "net/pki/policy.h"
#include "net/pki/request.h"

using namespace bunraku;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (auto request = pki::Request::from_pem(text, "input")) {
        const auto name = request->common_name();
        (void)pki::name_problem(name, name);
        (void)pki::signing_problem(*request, {});
        (void)pki::signing_problem(*request, {true, true});
        (void)request->attributes();
        (void)request->fingerprint();
        if (!pki::Request::from_pem(request->pem(), "again")) std::abort();
    }
    if (auto crls = pki::parse_crls(text, "input"))
        for (const auto& crl : *crls) (void)pki::facts_of(crl);
    if (auto certificates = pki::parse_certificates(text, "input"))
        for (const auto& c : *certificates) (void)c.puppet_extensions();
    (void)pki::parse_request_attributes(text, "input");
    return 0;
}
