// SPDX-License-Identifier: Apache-2.0
// The modules and releases that a forge offers, for the completion of Puppetfiles.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::lsp {

/// A module of a forge, or one of its releases.
struct OfferedModule {
    std::string name;     ///< "puppetlabs-stdlib"
    std::string version;  ///< of a module: its current release
    std::string summary;
};

/// What is known now. The answer is complete later if `pending`.
struct Offer {
    std::vector<OfferedModule> modules;
    bool pending = false;
};

/// Asks a forge. The server calls it on its own thread only, and it waits only briefly.
class ModuleSource {
public:
    virtual ~ModuleSource() = default;
    /// Returns modules for the beginning of a name, "puppetlabs-st" or "std".
    virtual Offer modules(std::string_view prefix) = 0;
    /// Returns all releases of a module, newest first.
    virtual Offer releases(std::string_view name) = 0;
};

}  // namespace bunraku::lsp
