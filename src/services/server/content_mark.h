// SPDX-License-Identifier: Apache-2.0
// Compares files of two versions of an environment, whose stamps always differ.
#pragma once

#include <string>

namespace bunraku::server {

class Digests;

/// Returns a text that is equal for two paths if the metadata and contents that agents receive are
/// equal: kind, mode, owner, target of a link, digest of a file, names in a folder. Times are not
/// compared. Returns an empty text if the path cannot be read.
std::string content_mark(Digests& digests, const std::string& path);

}  // namespace bunraku::server
