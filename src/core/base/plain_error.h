// Errors that are told as they are.
#pragma once

#include <string>
#include <utility>

#include "core/base/diagnostic.h"

namespace bunraku::base {

/// One without prefix, place or code.
inline PuppetError plain_error(std::string message) {
    return PuppetError(std::move(message), {}, PuppetError::Class::Plain);
}

}  // namespace bunraku::base
