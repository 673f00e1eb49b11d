// SPDX-License-Identifier: Apache-2.0
// Compares two catalogs of each node, which are read from files or compiled (`bunraku diff`).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "compile/insight/node_identity.h"
#include "compile/site/node_arguments.h"
#include "compile/site/site.h"
#include "core/base/arena.h"
#include "core/base/diagnostic.h"
#include "core/config/settings.h"
#include "resources/catalog/diff_filter.h"

namespace bunraku::insight {

/// One of the two catalogs to compare, and its source.
struct DiffSide {
    std::string file;  ///< path of a catalog; if empty, the catalog is compiled
    std::string environment, path, revision, modulepath = site::NodeArguments::kNotGiven,
                                             hiera_config;
    std::vector<std::string> fact_overrides;

    bool compiled() const { return file.empty(); }
    bool placed() const { return !environment.empty() || !path.empty(); }
    std::string label() const {
        if (!file.empty()) return file;
        const std::string& folder = !path.empty() ? path : environment;
        return revision.empty() ? folder : folder + "@" + revision;
    }
};

/// What to compare, and the format of the result. The members are named after the options.
struct DiffRequest {
    DiffSide from, to;
    site::NodeArguments compile;
    std::vector<std::string> nodes, ignore, ignore_attributes, ignore_tags, fact_overrides;
    std::string facts_directory, facts_from, manifest;
    bool json = false, detail_add = false, truncate = true, tags = false, places = false;
    bool classes = false, relationships = false, file_text = true, data_types = true;
    bool containment = false, color = false;
    std::string context = "3", jobs;
    std::vector<catalog::IgnorePattern> patterns;
};

/// The result for one node.
struct DiffOutcome {
    std::string node, text, json, error;
    std::string alike;  ///< text or error without the node's own name, to group nodes
    NodeIdentity identity = {};
    bool same = true;
};

/// Called while nodes are compared. `all` is 0 when everything is done.
using DiffProgress = std::function<void(std::size_t done, std::size_t all)>;

/// Parses the patterns of --ignore and --ignore-attr into `patterns`. Throws on errors.
void parse_ignores(DiffRequest& request);

/// Compares the catalogs of all nodes that the request selects. The facts are in `arena`. Throws
/// base::PuppetError if the request is invalid; errors of single nodes are in their outcomes.
std::vector<DiffOutcome> compare_catalogs(const config::Settings& settings, site::Options site,
                                          DiffRequest request, base::Arena& arena,
                                          const DiffProgress& progress, base::LogSink& log);

}  // namespace bunraku::insight
