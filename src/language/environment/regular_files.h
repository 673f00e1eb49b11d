// SPDX-License-Identifier: Apache-2.0
// Files for code that reads folders of unknown content, such as the workspace of an editor.
#pragma once

#include <cstdint>
#include <memory>

#include "language/environment/files.h"

namespace bunraku::environment {

/// What a path looks like that cannot be examined, for example because of missing permissions.
enum class Unreadable : std::uint8_t { Error, Absent };

/// read() returns EFBIG for larger files.
constexpr std::uint64_t kMaxRegularFile = std::uint64_t{32} << 20;

/// Returns the machine's files. read() returns the error ENXIO for devices and pipes, which might
/// never end. With Unreadable::Absent, no function throws.
std::shared_ptr<const Files> regular_files(Unreadable unreadable);

}  // namespace bunraku::environment
