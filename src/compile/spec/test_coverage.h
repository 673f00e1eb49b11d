// SPDX-License-Identifier: Apache-2.0
// The part of an environment's code that `bunraku test` covers.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compile/spec/expectations.h"
#include "resources/catalog/catalog.h"

namespace bunraku::spec {

/// Coverage counters. A class is covered if it is in a catalog. Its parameter is covered if it had
/// two values or an expectation names it. A resource is covered if an expectation names it.
class Coverage {
public:
    /// Adds a class that tests can cover.
    void add_class(const std::string& name, const std::vector<std::string>& parameters);
    void record(const catalog::Catalog& catalog);
    void record(const Expected& expected);
    void add(Coverage&& other);

    /// Returns one line; with `whole`, also lists everything that is not covered.
    std::string text(bool whole) const;

private:
    struct Parameter {
        std::string value;
        bool varied = false;
    };
    struct Class {
        bool known = false;  ///< True for classes of the environment itself.
        bool compiled = false;
        std::map<std::string, Parameter> parameters;
    };
    std::map<std::string, Class> classes_;
    std::map<std::string, std::string> resources_;  ///< displayed names by key
    std::set<std::string> expected_, expected_parameters_;
};

}  // namespace bunraku::spec
