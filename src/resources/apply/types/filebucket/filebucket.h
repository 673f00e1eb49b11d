// The type filebucket, as files look at it.
#pragma once

#include <memory>
#include <string>

#include "resources/apply/resource.h"
#include "resources/apply/types/file/bucket.h"

namespace bunraku::apply {

/// What it stands for: a folder of this machine, or where its `path` is false a server.
std::unique_ptr<Bucket> bucket_of(const Resource& filebucket, const std::string& name);

}  // namespace bunraku::apply
