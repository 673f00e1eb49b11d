// SPDX-License-Identifier: Apache-2.0
// Cryptographically secure random bytes.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/result.h"

namespace bunraku::codec {

/// Returns `bytes` random bytes in hexadecimal.
base::Result<std::string> random_hex(std::size_t bytes);

}  // namespace bunraku::codec
