// SPDX-License-Identifier: Apache-2.0
// Reads and checks hiera.yaml of versions 5, 4 and 3.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/arena.h"
#include "core/config/compatibility.h"
#include "core/value/value.h"
#include "language/types/type.h"

namespace bunraku::hiera {

using value::Value;

/// The layer that a configuration belongs to.
enum class Layer { Global, Environment, Module };

/// The way an entry of the hierarchy gets its data.
enum class Access { DataHash, LookupKey, DataDig, Hiera3Backend, V4DataHash };

enum class LocationKind { None, Paths, Globs, Uris, MappedPaths };

/// One entry of a hierarchy before interpolation.
struct Entry {
    std::string name;
    Access access = Access::DataHash;
    /// Name of the kind in messages: "v3_data_hash", "lookup_key", and so on.
    std::string tag = "data_hash";
    std::string function;  ///< "yaml_data", "mymod::data", ...
    std::string datadir;   ///< As written, or the default.
    LocationKind kind = LocationKind::None;
    std::vector<std::string> locations;
    Value options;          ///< A hash, or undef.
    std::string extension;  ///< Appended to paths that lack it (versions 3 and 4).
};

struct Config {
    std::shared_ptr<base::Arena> arena = std::make_shared<base::Arena>(2048);  ///< Owns the values.
    int version = 5;
    Layer layer = Layer::Global;
    std::string path;  ///< Path of the file; empty for the built-in default.
    std::string root;  ///< Folder that relative datadirs refer to.
    std::vector<Entry> hierarchy;
    std::vector<Entry> default_hierarchy;
    bool has_default_hierarchy = false;
    Value raw;  ///< Version 3: the content as written in the file, for its backends.
    /// Version 3: behaviour of hash merges of the hiera functions; undef means native.
    Value merge_behavior;

    /// Error in the hierarchy, reported when the hierarchy is used; empty if there is none.
    std::string fault, fault_issue;
    int fault_line = 0;
    bool legacy = false;  ///< True for a legacy data function without a hiera.yaml.
    bool is_default() const { return path.empty() && !legacy; }
    /// "hiera configuration version 5"
    std::string name() const { return "hiera configuration version " + std::to_string(version); }
};

/// Returns the number of the first line of a hiera.yaml, from `start` on, that matches; 0 if none
/// does. Comments are ignored.
int line_matching(std::string_view text, const std::string& pattern, int start = 1);

/// Returns the configuration of a layer that has a legacy data function but no hiera.yaml
/// (HieraConfig.v4_function_config).
Config legacy_function_config(Layer layer, std::string root, const std::string& function);

/// Checks `data` (the parsed file, or undef for the built-in default) and converts it to a Config.
/// Throws base::PuppetError with Puppet's text, located in the file if a line is known. `text` is
/// the file's text and serves to find those lines. `codedir` is the setting; it contains the
/// default datadir of version 3. `level` selects the name of the product in messages.
Config make_config(Layer layer, std::string path, std::string root, const Value& data,
                   std::string_view text, std::string_view codedir,
                   config::Compatibility level = config::kDefaultLevel);

}  // namespace bunraku::hiera
