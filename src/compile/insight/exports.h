// What nodes export in a state that no store has seen, for those who collect it
// (docs/design/0192-second-runs.md).
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

/// One exported resource, in texts: it belongs to no compile.
struct Export {
    std::string type, title, file;
    int line = 0;
    std::vector<std::string> tags;
    std::vector<std::pair<std::string, std::string>> parameters;  ///< values in rich data's JSON

    std::string reference() const { return type + "[" + title + "]"; }
    /// Where it was written is no part of what it is.
    bool operator==(const Export& other) const {
        return type == other.type && title == other.title && tags == other.tags &&
               parameters == other.parameters;
    }
};
/// In the order of their references.
std::vector<Export> exports_of(const catalog::Catalog& catalog);

/// By certname.
using Exports = std::map<std::string, std::vector<Export>>;

/// Answers collectors with what `exports` has of its nodes, and with the store's answer for all
/// others.
site::CollectorAnswer answered_with(std::shared_ptr<const Exports> exports);

}  // namespace bunraku::insight
