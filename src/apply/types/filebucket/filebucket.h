// The type filebucket, as files look at it.
#pragma once

#include <string>

#include "apply/resource.h"

namespace bunraku::apply {

/// The folder of a local bucket.
std::string filebucket_path(const Resource& filebucket);

}  // namespace bunraku::apply
