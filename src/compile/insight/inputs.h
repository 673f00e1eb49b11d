// The inputs of compiles, as people name them, and how one of them is undone.
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

/// One thing that a change changed: a file, a key of a data file, a definition of a manifest.
struct Input {
    std::string path;    ///< absolute; empty: no file
    std::string detail;  ///< a key, or "class a::b"; empty: all of the file
    environment::Read kind = environment::Read::File;
    std::vector<environment::ReadTable::Item> reads;  ///< that it is made of

    /// "data/common.yaml#ntp::servers", "manifests/site.pp", "fact os.family": paths below `root`
    /// without it.
    std::string name(std::string_view root) const;
};

/// The path below the folder `root`, else as it is.
std::string below(std::string_view path, std::string_view root);

/// What reads that are answered otherwise mean in files: all that concerns one file in one of its
/// parts is one input, where the parts can be told apart. `before` and `after` say what is in
/// folders. In the order of their paths.
std::vector<Input> inputs_of(const std::vector<environment::ReadTable::Item>& reads,
                             const environment::Environment& before,
                             const environment::Environment& after);

/// The files of `after` with one input as `before` has it; null: it cannot be undone (facts,
/// settings).
std::shared_ptr<const environment::Files> undone(const Input& input,
                                                 const environment::Environment& before,
                                                 const environment::Environment& after);

/// `text`, a YAML file, with the root key as in `other`, by lines; nullopt where the outcome is not
/// surely that.
std::optional<std::string> with_root_key_of(const std::string& text, const std::string& other,
                                            std::string_view key);

/// All files below a folder, hidden ones left out; added to `out`. `depth`: its own.
void files_below(const environment::Files& files, const std::string& folder,
                 std::vector<std::string>& out, int depth = 0);

/// The first line of an input that differs from `before`, counted in `after`; 0: the file is not
/// in both, or nothing of it differs.
int changed_line(const Input& input, const environment::Environment& before,
                 const environment::Environment& after);

/// The line on which the entry of a root key of a data file begins; 0: it was not found.
int line_of_key(std::string_view path, std::string_view text, std::string_view key);

}  // namespace bunraku::insight
