// SPDX-License-Identifier: Apache-2.0
// The inputs of compiles in the form that users see, and undoing the change of one input.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "language/environment/environment.h"
#include "language/environment/overlaid_files.h"
#include "language/environment/trace.h"

namespace bunraku::insight {

/// One changed input: a file, a key of a data file, or a definition in a manifest.
struct Input {
    std::string path;    ///< absolute; empty if it is not a file
    std::string detail;  ///< a key, or "class a::b"; empty for the whole file
    environment::Read kind = environment::Read::File;
    std::vector<environment::ReadTable::Item> reads;  ///< the reads of this input

    /// Returns a name such as "data/common.yaml#ntp::servers", "manifests/site.pp" or "fact
    /// os.family". Paths below `root` are relative to it.
    std::string name(std::string_view root) const;
};

/// Returns the path relative to `root` if it is below it, or else the path itself.
std::string below(std::string_view path, std::string_view root);

/// Converts changed reads into inputs, ordered by path. Combines reads of the same part of a file,
/// or of a whole file if its parts cannot be separated. `before` and `after` provide the listings
/// of folders.
std::vector<Input> inputs_of(const std::vector<environment::ReadTable::Item>& reads,
                             const environment::Environment& before,
                             const environment::Environment& after);

/// Returns the files of `after` with one input as in `before`. Returns null if the input cannot be
/// undone (facts, settings).
std::shared_ptr<const environment::Files> undone(const Input& input,
                                                 const environment::Environment& before,
                                                 const environment::Environment& after);

/// Returns `text`, a YAML file, with the lines of the root key taken from `other`. Returns nullopt
/// if the result is not certain to be right.
std::optional<std::string> with_root_key_of(const std::string& text, const std::string& other,
                                            std::string_view key);

/// Appends all files below a folder to `out`, except hidden ones. `depth` is the depth of the
/// folder.
void files_below(const environment::Files& files, const std::string& folder,
                 std::vector<std::string>& out, int depth = 0);

/// Returns the first line of an input in `after` that differs from `before`. Returns 0 if the file
/// is not in both states or does not differ.
int changed_line(const Input& input, const environment::Environment& before,
                 const environment::Environment& after);

/// Returns the line on which the entry of a root key in a data file starts, or 0 if it is not
/// found.
int line_of_key(std::string_view path, std::string_view text, std::string_view key);

}  // namespace bunraku::insight
