// Overrides of resources that are not there yet: they wait for their resource, and what still
// waits at the end is an error.
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
    /// `with` has the type and title of the resource that it is for.
    void add(Resource& with);
    /// Takes those that wait for a resource, in the order of the manifest.
    std::vector<Resource*> take(const Resource& resource);
    /// What is waited for, a reference for each override.
    std::vector<std::string> waiting() const;

private:
    std::vector<std::pair<std::string, std::vector<Resource*>>> lists_;  ///< in order of arrival
    std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace bunraku::compiler
