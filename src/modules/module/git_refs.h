// The references of a bare repository, read from its own files: no git is started to be told what
// stands there.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/sys/file_system.h"

namespace bunraku::module {

/// What a name leads to: the object itself, and of a tag with a text what that is put on.
struct GitRef {
    std::string object;
    /// Empty: nobody has said whether there is one; equal to `object`: there is none.
    std::string peeled;
};
using GitRefs = std::map<std::string, GitRef>;

/// "refs/heads/main", ..: packed and loose ones. nullopt: they are kept in a way that is not known
/// here.
std::optional<GitRefs> read_git_refs(sys::FileSystem& files, const std::string& repository);
/// What `git ls-remote` says; HEAD is left out, since a mirror's own leads to a name.
GitRefs parse_remote_refs(std::string_view text);

}  // namespace bunraku::module
