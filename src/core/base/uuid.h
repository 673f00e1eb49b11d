// SPDX-License-Identifier: Apache-2.0
// Random UUIDs.
#pragma once

#include <string>

namespace bunraku::base {

/// Returns a UUID of version 4: "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".
std::string random_uuid();

}  // namespace bunraku::base
