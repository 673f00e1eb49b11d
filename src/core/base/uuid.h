// Random UUIDs.
#pragma once

#include <string>

namespace bunraku::base {

/// Of version 4: "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".
std::string random_uuid();

}  // namespace bunraku::base
