// SPDX-License-Identifier: Apache-2.0
// Errors that are printed without any addition.
#pragma once

#include <string>
#include <utility>

#include "core/base/diagnostic.h"

namespace bunraku::base {

/// Returns an error without prefix, location or code.
inline PuppetError plain_error(std::string message) {
    return PuppetError(std::move(message), {}, PuppetError::Class::Plain);
}

}  // namespace bunraku::base
