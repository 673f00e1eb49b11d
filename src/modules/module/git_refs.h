// SPDX-License-Identifier: Apache-2.0
// Reads the references of a bare repository from its files, without starting a git process.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/sys/file_system.h"

namespace bunraku::module {

/// The target of a reference: the object itself and, for an annotated tag, the tagged object.
struct GitRef {
    std::string object;
    /// The tagged object. Equal to `object` if it is not an annotated tag; empty if unknown.
    std::string peeled;
};
using GitRefs = std::map<std::string, GitRef>;

/// Returns all packed and loose references, such as "refs/heads/main". Returns nullopt if the
/// storage format is not supported.
std::optional<GitRefs> read_git_refs(sys::FileSystem& files, const std::string& repository);
/// Parses the output of `git ls-remote`. Omits HEAD, because the HEAD of a mirror refers to a name.
GitRefs parse_remote_refs(std::string_view text);

}  // namespace bunraku::module
