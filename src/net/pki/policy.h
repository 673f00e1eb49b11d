// SPDX-License-Identifier: Apache-2.0
// Rules of a Puppet CA for the names and requests that it signs, with puppetserver's messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/pki/request.h"

namespace bunraku::pki {

/// Returns why a request for `subject` is refused under the name `requested`, or nullopt if it is
/// accepted.
std::optional<std::string> name_problem(std::string_view requested, std::string_view subject);

/// Returns why the key of the request is too weak (RSA below 2048 bits, DSA, ..), or nullopt if it
/// is good.
std::optional<std::string> key_problem(const Request& request);

struct SigningRules {
    bool alternative_names = false;         ///< the setting allow-subject-alt-names
    bool authorization_extensions = false;  ///< the setting allow-authorization-extensions
};

/// Returns why the request must not be signed, including problems of its key, or nullopt. The
/// caller must have checked the name.
std::optional<std::string> signing_problem(const Request& request, const SigningRules& rules);

}  // namespace bunraku::pki
