// What an authority of Puppet's kind signs: rules for names and requests, in puppetserver's words.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/pki/request.h"

namespace bunraku::pki {

/// Why a request for `subject` is not taken under the name `requested`; nullopt: it is.
std::optional<std::string> name_problem(std::string_view requested, std::string_view subject);

/// Returns why a certificate for the key of the request would protect nobody (RSA below 2048 bits,
/// DSA, ..); nullopt if the key is good.
std::optional<std::string> key_problem(const Request& request);

struct SigningRules {
    bool alternative_names = false;         ///< allow-subject-alt-names
    bool authorization_extensions = false;  ///< allow-authorization-extensions
};

/// Returns why the request is not signed, its key included; nullopt if it may be. The caller has
/// checked the name.
std::optional<std::string> signing_problem(const Request& request, const SigningRules& rules);

}  // namespace bunraku::pki
