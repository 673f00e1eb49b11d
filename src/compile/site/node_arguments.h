// SPDX-License-Identifier: Apache-2.0
// A node and its environment, as users describe them on a command line: names and paths of files.
#pragma once

#include <string>

#include "compile/site/site.h"

namespace bunraku::site {

/// The members are named after the options of the commands that compile.
struct NodeArguments {
    static constexpr const char* kNotGiven = "\1";

    std::string node, facts, enc, trusted, server_facts, vars, environment, environmentpath;
    std::string modulepath = kNotGiven;
    std::string hiera_config, code_id, puppetdb_url;
    std::string revision;  ///< only for commands that support it
    bool storeconfigs = false;

    /// Returns the request that the arguments describe, after reading the files they name. Throws
    /// on errors.
    NodeRequest request() const;
};

/// Reads a JSON file that contains an object. Throws on errors.
value::Value read_json_object(base::Arena& arena, const std::string& path);

}  // namespace bunraku::site
