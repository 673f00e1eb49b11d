// Bytes that nobody can guess.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/result.h"

namespace bunraku::codec {

/// So many random bytes, two digits each.
base::Result<std::string> random_hex(std::size_t bytes);

}  // namespace bunraku::codec
