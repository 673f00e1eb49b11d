// The files of a commit of a git repository, without a checkout: what a control repository was, or
// will be.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "language/environment/files.h"

namespace bunraku::environment {

/// The commit's files stand where the repository's folder is on the disk: what lies in that folder
/// is the commit's alone, what lies elsewhere the disk's. Contents are as git keeps them: no filter
/// (LFS, line ends) is applied. A link that leads out of the repository is an error of who comes by
/// it (base::PuppetError, of `read` the result): it may lead anywhere on another machine. A
/// submodule's files are those of its own repository where that lies in the working folder and has
/// the commit; else it is an empty folder. The folder `modules` beside a Puppetfile of which the
/// commit has nothing is the disk's: what was installed there.
class CommitFiles : public Files {
public:
    /// Of the repository that holds `folder` (or is it, for a bare one), the commit that `revision`
    /// names: a branch, a tag, an id. `folder` is absolute.
    static base::Result<std::shared_ptr<const CommitFiles>> open(const std::string& folder,
                                                                 const std::string& revision);

    /// The folder that stands for the top of the commit.
    virtual const std::string& root() const = 0;
    /// Paths of what the commit names but does not hold.
    virtual std::vector<std::string> submodules() const = 0;
    /// Paths of the folders that are the disk's.
    virtual std::vector<std::string> installed() const = 0;
};

}  // namespace bunraku::environment
