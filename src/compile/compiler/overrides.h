// SPDX-License-Identifier: Apache-2.0
// Overrides of resources that are not declared yet. An override that still has no resource at the
// end of the compile is an error.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compile/compiler/resource.h"

namespace bunraku::compiler {

class Overrides {
public:
    /// `with` has the type and title of the resource to override.
    void add(Resource& with);
    /// Removes and returns the overrides of `resource`, in the order of the manifest.
    std::vector<Resource*> take(const Resource& resource);
    /// Returns one reference to the missing resource for each pending override.
    std::vector<std::string> waiting() const;

private:
    std::vector<std::pair<std::string, std::vector<Resource*>>> lists_;  ///< in order of insertion
    std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace bunraku::compiler
