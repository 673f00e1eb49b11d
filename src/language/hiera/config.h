// hiera.yaml, read and checked: versions 5, 4 and 3.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/arena.h"
#include "core/value/value.h"
#include "language/types/type.h"

namespace bunraku::hiera {

using value::Value;

/// Which layer a configuration belongs to.
enum class Layer { Global, Environment, Module };

/// How an entry of the hierarchy gets its data.
enum class Access { DataHash, LookupKey, DataDig, Hiera3Backend, V4DataHash };

enum class LocationKind { None, Paths, Globs, Uris, MappedPaths };

/// One entry of a hierarchy, not yet interpolated.
struct Entry {
    std::string name;
    Access access = Access::DataHash;
    std::string tag = "data_hash";  ///< what messages call the kind: "v3_data_hash", "lookup_key"..
    std::string function;           ///< "yaml_data", "mymod::data", ...
    std::string datadir;            ///< as written or the default
    LocationKind kind = LocationKind::None;
    std::vector<std::string> locations;
    Value options;          ///< a hash, or undef
    std::string extension;  ///< appended to paths without it (versions 3 and 4)
};

struct Config {
    std::shared_ptr<base::Arena> arena = std::make_shared<base::Arena>(2048);  ///< of the values
    int version = 5;
    Layer layer = Layer::Global;
    std::string path;  ///< of the file; empty: the built-in default
    std::string root;  ///< the folder that relative datadirs belong to
    std::vector<Entry> hierarchy;
    std::vector<Entry> default_hierarchy;
    bool has_default_hierarchy = false;
    Value raw;             ///< version 3: as it stands in the file, for its backends
    Value merge_behavior;  ///< version 3: what hash merges of the hiera functions become; undef:
                           ///< native

    /// What is wrong with the hierarchy, found only when it is used; empty: nothing.
    std::string fault, fault_issue;
    int fault_line = 0;
    bool legacy = false;  ///< of a data function alone
    bool is_default() const { return path.empty() && !legacy; }
    /// "hiera configuration version 5"
    std::string name() const { return "hiera configuration version " + std::to_string(version); }
};

/// The number of the first line of a hiera.yaml, from `start` on, that matches, comments left out;
/// 0: none.
int line_matching(std::string_view text, const std::string& pattern, int start = 1);

/// What stands for a hiera.yaml where a legacy data function is all there is
/// (HieraConfig.v4_function_config).
Config legacy_function_config(Layer layer, std::string root, const std::string& function);

/// Checks `data` (the parsed file; undef: the built-in default) and takes it apart. Throws
/// base::PuppetError in Puppet's words, located in the file where a line is known. `text` is the
/// file's text, for those lines; `codedir` is the setting (version 3's default datadir lies there).
Config make_config(Layer layer, std::string path, std::string root, const Value& data,
                   std::string_view text, std::string_view codedir);

}  // namespace bunraku::hiera
