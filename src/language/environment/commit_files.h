// SPDX-License-Identifier: Apache-2.0
// The files of a commit of a git repository, read without a checkout.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "language/environment/files.h"

namespace bunraku::environment {

/// The files of a commit, at the paths of the repository's folder on the disk. Paths inside that
/// folder resolve to the commit only, all other paths to the disk. Contents are the stored blobs:
/// no filter (LFS, line ends) is applied. Following a link that leads out of the repository is an
/// error, because it may lead anywhere on another machine; `read` returns it as its result, other
/// functions throw base::PuppetError. The files of a submodule are read from its repository if the
/// working folder has it and it contains the commit; otherwise the submodule is an empty folder. If
/// the commit has no content for the folder `modules` next to a Puppetfile, that folder is read
/// from the disk, because an installer fills it.
class CommitFiles : public Files {
public:
    /// Opens the commit that `revision` (a branch, tag or id) names in the repository that holds
    /// `folder`. `folder` is an absolute path and may be a bare repository.
    static base::Result<std::shared_ptr<const CommitFiles>> open(const std::string& folder,
                                                                 const std::string& revision);

    /// Returns the folder that represents the top of the commit.
    virtual const std::string& root() const = 0;
    /// Returns the paths of the submodules whose files the commit does not contain.
    virtual std::vector<std::string> submodules() const = 0;
    /// Returns the paths of the folders that are read from the disk.
    virtual std::vector<std::string> installed() const = 0;
};

}  // namespace bunraku::environment
