// SPDX-License-Identifier: Apache-2.0
// Checks of files other than manifests: EPP templates, Hiera data, hiera.yaml, metadata.json,
// Puppetfile and environment.conf.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/checks/code_names.h"
#include "compile/checks/data_checks.h"
#include "language/lint/lint.h"

namespace bunraku::checks {

enum class FileKind : std::uint8_t {
    Other,
    Manifest,
    Epp,
    Yaml,  ///< Hiera data if a hiera.yaml says so
    HieraConfig,
    Metadata,
    Puppetfile,
    EnvironmentConf
};
/// Returns the kind of a file by its name.
FileKind kind_of_file(std::string_view path);

/// Finds the hiera.yaml to which a data file belongs. Results are cached.
class DataFolders {
public:
    /// Returns the place of a data file, or nullopt if no hiera.yaml in a folder around the file
    /// has a datadir that contains it.
    std::optional<DataPlace> place_of(const std::string& path);

private:
    struct Root {
        std::vector<std::string> datadirs;  ///< absolute, with "/" at the end
        std::string module;
    };
    const std::optional<Root>& root(const std::string& folder);

    std::map<std::string, std::optional<Root>> roots_;
};

/// Returns the problems of a file with the absolute path `path`, ordered by place. Style is not
/// checked. `names` may be null; then names and types are not checked.
std::vector<lint::Problem> check_file(std::string_view text, const std::string& path,
                                      const lint::LintOptions& options, CodeNames* names,
                                      DataFolders& folders);

}  // namespace bunraku::checks
