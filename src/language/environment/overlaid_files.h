// Files that stand elsewhere than where they are known, and files some of which are another
// state's: what two states of an environment are compared by.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "language/environment/files.h"

namespace bunraku::environment {

/// What lies in the folder `place` is shown in the folder `known`; all else is as `files` has it.
/// Both are absolute.
std::shared_ptr<const Files> mapped_files(std::shared_ptr<const Files> files, std::string known,
                                          std::string place);

/// What of one state is to be as in another.
struct FileOverlay {
    std::vector<std::string> paths;            ///< files, or folders with all that is below
    std::map<std::string, std::string> texts;  ///< files with this content
};
/// `files`, with what `exchanged` names as `others` has it: there or not there. Programs see
/// `files` alone.
std::shared_ptr<const Files> overlaid_files(std::shared_ptr<const Files> files,
                                            std::shared_ptr<const Files> others,
                                            FileOverlay exchanged);

}  // namespace bunraku::environment
