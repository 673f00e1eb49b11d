// SPDX-License-Identifier: Apache-2.0
// The part of the type filebucket that the type file uses.
#pragma once

#include <memory>
#include <string>

#include "resources/apply/resource.h"
#include "resources/apply/types/file/bucket.h"

namespace bunraku::apply {

/// Returns the bucket of the resource: a local folder, or a server if `path` is false.
std::unique_ptr<Bucket> bucket_of(const Resource& filebucket, const std::string& name);

}  // namespace bunraku::apply
