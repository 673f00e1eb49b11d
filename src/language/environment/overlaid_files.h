// SPDX-License-Identifier: Apache-2.0
// Files that appear under other paths than their own, and files that are partly replaced by those
// of another state. They serve to compare two states of an environment.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "language/environment/files.h"

namespace bunraku::environment {

/// Returns a view of `files` that shows the content of the folder `place` at the path `known`. Both
/// paths are absolute. moment() and version() are those of `files`.
std::shared_ptr<const Files> mapped_files(std::shared_ptr<const Files> files, std::string known,
                                          std::string place);

/// The files to replace by those of another state.
struct FileOverlay {
    std::vector<std::string> paths;            ///< Files, or folders with everything below.
    std::map<std::string, std::string> texts;  ///< Files with this content.
};
/// Returns a view of `files` in which the paths of `exchanged` have the content that they have in
/// `others`, or are absent if they are absent there. Programs see only `files`.
std::shared_ptr<const Files> overlaid_files(std::shared_ptr<const Files> files,
                                            std::shared_ptr<const Files> others,
                                            FileOverlay exchanged);

}  // namespace bunraku::environment
