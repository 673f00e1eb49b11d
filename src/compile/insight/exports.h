// SPDX-License-Identifier: Apache-2.0
// The resources that nodes export in a state that no store contains, for the nodes that collect
// them (docs/design/0192).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compile/site/request.h"
#include "resources/catalog/catalog.h"

namespace bunraku::insight {

/// An exported resource as text, independent of any compile.
struct Export {
    std::string type, title, file;
    int line = 0;
    std::vector<std::string> tags;
    std::vector<std::pair<std::string, std::string>> parameters;  ///< values as JSON with rich data

    std::string reference() const { return type + "[" + title + "]"; }
    /// Ignores the location.
    bool operator==(const Export& other) const {
        return type == other.type && title == other.title && tags == other.tags &&
               parameters == other.parameters;
    }
};
/// Returns the exported resources, ordered by reference.
std::vector<Export> exports_of(const catalog::Catalog& catalog);

/// The exported resources by certname.
using Exports = std::map<std::string, std::vector<Export>>;

/// Returns a collector answer that uses `exports` for the nodes in it, and the store for all
/// others.
site::CollectorAnswer answered_with(std::shared_ptr<const Exports> exports);

}  // namespace bunraku::insight
