// What the commands that compile have in common: the options that describe a node and its
// environment.
#pragma once

#include <string>

#include "cli/command.h"
#include "compile/site/site.h"

namespace bunraku::cli {

/// The fields are the options' names.
struct NodeOptions {
    static constexpr const char* kNotGiven = "\1";

    std::string node, facts, enc, trusted, server_facts, vars, environment, environmentpath;
    std::string modulepath = kNotGiven;
    std::string hiera_config, code_id, puppetdb_url;
    std::string revision;  ///< of the commands that say so
    bool storeconfigs = false;

    void add_to(OptionParser& parser);
    /// What they ask for; the files they name are read. Throws.
    site::NodeRequest request() const;
};

/// A process that answers one question and ends: what is odd about an environment goes to `log`.
site::Options site_options(base::LogSink& log);

/// A file of JSON that holds an object. Throws.
value::Value read_json_object(base::Arena& arena, const std::string& path);

}  // namespace bunraku::cli
